// A lesson on the page: one question at a time, answered before the page shows the step, and the results as a file.
import { LESSONS, isRight, keyOf, questionsOf } from "./lessons.mjs";

const byId = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
/** The lesson on the page. `tries` has the wrong replies of each question before the right one. */
const lesson = {
  name: "", student: 1, at: 0, key: false,
  /** @type {import("./lessons.mjs").Question[]} */ questions: [],
  /** @type {{tries: string[], solved: boolean}[]} */ done: [],
  /** @type {{open: (settings: string) => void, state: () => import("./lessons.mjs").Shown}} */ page: { open: () => {}, state: () => ({ X: [], y: [], steps: [] }) },
};

const first = () => JSON.parse(byId("lesson").dataset.first);
/** The settings that the page starts with, if its address has none. @returns {string} */
export const firstSettings = () => first().settings ?? "";

/** Fill the list of lessons and listen. @param {typeof lesson.page} page opens settings, and tells what is shown
 * @returns {string} the lesson that the page starts with */
export function prepareLessons(page) {
  lesson.page = page;
  for (const [each, { title }] of Object.entries(LESSONS)) byId("lessonName").append(new Option(`${each}: ${title}`, each));
  const { lesson: name, seed, key } = first();
  lesson.key = key;
  byId("student").value = String(seed);
  byId("check").onclick = checkReply;
  byId("before").onclick = () => ask(lesson.at - 1);
  byId("next").onclick = () => ask(lesson.at + 1);
  byId("results").onclick = saveResults;
  byId("reply").onkeydown = (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter") checkReply(); };
  return name;
}

/** Begin the lesson that is chosen. */
export function openLesson() {
  const [name, student] = [byId("lessonName").value, Math.abs(Math.floor(Number(byId("student").value) || 0))];
  if (name === lesson.name && student === lesson.student) return;
  Object.assign(lesson, { name, student, questions: name ? questionsOf(name, student) : [] });
  lesson.done = lesson.questions.map(() => ({ tries: [], solved: false }));
  byId("lesson").hidden = !name;
  byId("key").hidden = !lesson.key;
  byId("answers").replaceChildren(...lesson.questions.map((question) => { const item = document.createElement("li"); item.textContent = `${question.ask} ${keyOf(question)}`; return item; }));
  if (name) ask(0);
}

/** Show a question, and the step before its answer. @param {number} at */
function ask(at) {
  lesson.at = at;
  const { ask: text, choices, task, show } = lesson.questions[at];
  byId("progress").textContent = `Question ${at + 1} of ${lesson.questions.length}, ${lesson.done.filter(({ solved }) => solved).length} answered.`;
  byId("ask").textContent = text;
  byId("replyLabel").hidden = Boolean(choices || task);
  byId("reply").value = "";
  byId("choices").replaceChildren(...(choices ?? []).map(choiceOf));
  byId("before").disabled = at === 0;
  byId("next").disabled = at === lesson.questions.length - 1;
  feedback("", "");
  if (show) lesson.page.open(show);
}

/** @param {string} text @param {number} index */
function choiceOf(text, index) {
  const [label, input] = [document.createElement("label"), document.createElement("input")];
  Object.assign(input, { type: "radio", name: "choice", value: String(index) });
  label.append(input, text);
  return label;
}

/** The reply as text: the numbers that were typed, or the index of the choice. */
function reply() {
  const chosen = /** @type {HTMLInputElement | null} */ (document.querySelector("#choices input:checked"));
  return lesson.questions[lesson.at].choices ? (chosen?.value ?? "") : byId("reply").value;
}

function checkReply() {
  const question = lesson.questions[lesson.at];
  const done = lesson.done[lesson.at];
  const text = reply();
  if (!question.task && text.trim() === "") { feedback("Answer first.", "wrong"); return; }
  done.solved ||= isRight(question, text, lesson.page.state());
  if (!done.solved) { done.tries.push(question.task ? "not yet" : text); feedback("Not yet. Try again.", "wrong"); return; }
  feedback(`Right. ${question.why}`, "right");
  if (question.after) lesson.page.open(question.after);
}

/** @param {string} text @param {string} kind */
function feedback(text, kind) {
  byId("feedback").textContent = text;
  byId("feedback").className = kind;
}

/** Save the replies as a JSON file to hand in. */
function saveResults() {
  const answers = lesson.questions.map(({ ask: question }, k) => ({ question, solved: lesson.done[k].solved, wrong_replies: lesson.done[k].tries }));
  const text = JSON.stringify({ lesson: lesson.name, student: lesson.student, solved: lesson.done.filter(({ solved }) => solved).length, of: answers.length, answers }, null, 1);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  link.download = `${lesson.name}_${lesson.student}.json`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
