// What the page says: the verdict, the present step, the log, the same in Python, the address of the moment.
import { dot, score, solve } from "./algebra.mjs";
import { alphaOf, sliderOf } from "./beside.mjs";
import { clipped, format } from "./drawing.mjs";
import { withinClasses } from "./kernels.mjs";
import { pythonCode } from "./python.mjs";
import { $, MAX_FEATURES, SETTINGS, boundary, degree, isCertified, isClosed, isStandard, isVoting, once, rowScores, state, tooWide, updatesUntil, weightsAt } from "./page_state.mjs";
import { equalUnits } from "./projection.mjs";

const PERCEPTRON_LIKE = ["perceptron", "averaged", "voted", "batch"];
/** The learners that each control is for. @type {Record<string, string[]>} */
const USED_BY = { loss: ["sgd"], alpha: ["ridge", "lasso"], path: ["lasso"], C: ["logistic", "svm"], prior: ["lda", "naive_bayes"], ties: PERCEPTRON_LIKE };
/** The controls of learners that take one row, or all, at a time. */
const STEP_CONTROLS = ["eta", "epochs", "order", "start", "seed"];
const LOG_ROWS = 14;
/** Milliseconds between two changes of the address: browsers refuse more than 100 in 30 seconds. */
const ADDRESS_PAUSE = 400;

const vector = (/** @type {number[]} */ w) => `(${w.slice(0, 7).map(format).join(", ")}${w.length > 7 ? ", …" : ""})`;

/** Show the words that a step does not change. */
export function showSettings() {
  showVerdict();
  showControls();
  once("rowCode", () => { $("python").children[0].textContent = pythonParts()[0]; return true; });
}

/** Show the words of a step. */
export function showMoment() {
  $("now").textContent = nowText();
  for (const id of ["at", "atNumber"]) if (document.activeElement !== $(id) || Number($(id).value) !== state.at) $(id).value = String(state.at);
  $("names").replaceChildren(...namesOfClasses(), namesText());
  $("selected").textContent = selectedText();
  $("plane").setAttribute("aria-label", `${state.data.X.length} rows. ${$("badge").textContent} ${$("now").textContent}`);
  showLog();
  $("python").children[1].textContent = pythonParts()[1];
  showAddress();
}

/** The code in two parts: that of the rows, which a step does not change, and that of the learner. */
function pythonParts() {
  const { X, y } = state.data;
  if (X.length === 0) return ["", ""];
  const example = state.edited || ["file", "seeded"].includes($("example").value) ? null : $("example").value;
  const code = (/** @type {number} */ at) => pythonCode({ spec: state.spec, example, X, y, standard: isStandard(), degree: degree(), at, training: state.held.length ? state.training : undefined });
  const cut = (/** @type {string} */ text) => Math.max(text.lastIndexOf("\nlearner ="), text.lastIndexOf("\nfitted =")) + 1;
  const rows = once("code", () => { const text = code(0); return text.slice(0, cut(text)); });
  const tail = pythonCode({ spec: state.spec, example, X: [], y: [], degree: 1, at: state.at });
  return [rows, tail.slice(cut(tail))];
}

// ------------------------------------------------------------------ the verdict

function showVerdict() {
  const v = state.verdict;
  const badge = $("badge");
  const added = degree() > 1 ? `, with products up to degree ${degree()}` : "";
  badge.className = v ? (v.separable ? "yes" : "no") : "";
  badge.textContent = v === undefined ? "Deciding …" : v === null ? "Not decided here" : `${v.separable ? "Linearly separable" : "Not linearly separable"}${added} (exact)`;
  $("quadratic").hidden = !v || v.separable || degree() > 1;
  $("quadratic").textContent = state.data.columns.length === 1 ? "Add x²" : state.data.columns.length === 2 ? "Add x₁², x₁x₂, x₂²" : "Add squares and products";
  $("proofText").textContent = v === null ? "Too many numbers for this page. This decides: separable separability FILE --target COLUMN" : v && !v.separable ? cancelling(v) : "";
}

/** The rows whose y (1, x) cancel, with their multipliers. @param {{rows: number[], multipliers: bigint[]}} verdict */
function cancelling({ rows, multipliers }) {
  const total = multipliers.reduce((sum, m) => sum + m, 0n);
  const short = multipliers.every((m) => m < 10_000n);
  const part = (/** @type {bigint} */ m) => (short ? String(m) : format(Number((m * 2_000_000n) / total) / 1e6));
  const side = (/** @type {number} */ y) => rows.map((i, k) => (state.data.y[i] === y ? `${part(multipliers[k])}·(row ${i})` : "")).filter(Boolean).join(" + ");
  return `Proof: ${side(-1)} ${short ? "=" : "≈"} ${side(1)}, a point of both hulls.`;
}

// ------------------------------------------------------------------ controls

function showControls() {
  $("steps").hidden = isClosed();
  for (const id of ["back", "step", "epoch", "run", "at", "atNumber", "speed"]) $(id).disabled = isClosed();
  $("at").max = String(state.steps.length);
  for (const [id, learners] of Object.entries(USED_BY)) $(id).parentElement.hidden = !learners.includes(state.spec.learner);
  for (const id of STEP_CONTROLS) $(id).parentElement.hidden = isClosed() || isCertified();
  if (state.turns.length) $("seed").parentElement.hidden = false;
  $("turn").parentElement.hidden = state.turns.length < 2;
  $("turn").max = String(state.turns.length);
  $("shared").hidden = !state.edited && $("example").value !== "file";
  if (state.path && alphaOf(Number($("path").value)) !== state.spec.alpha) $("path").value = String(sliderOf(state.spec.alpha));
}

/** The legend: marks in their colours, and the names of the classes. */
function namesOfClasses() {
  const mark = (/** @type {string} */ text, /** @type {string} */ side) => Object.assign(element("span", [text]), { className: side });
  const [low, high] = state.data.classes.map(clipped);
  return [mark("●", "negative"), ` ${low} (−1)  `, mark("▲", "positive"), ` ${high} (+1)`];
}

function namesText() {
  const { columns } = state.data;
  if (state.outside) return `. The boundary is outside of the picture${isStandard() ? "" : "; with standardized units it is nearer"}.`;
  if (columns.length === 1) return ". Upwards: the score; each row is drawn at its target.";
  if (columns.length > 2 && $("view").value !== "w") return ". The line is the boundary where the other columns are at their mean.";
  return degree() === 1 && !isVoting() && state.view && !equalUnits(state.view) ? ". The axes have different scales, so the right angle of w to the boundary is not seen." : "";
}

function selectedText() {
  const i = state.selected;
  if (i < 0) return "";
  const { X, y, columns } = state.data;
  const cells = X[i].map((/** @type {number} */ v, /** @type {number} */ j) => `${clipped(columns[j])} ${format(v)}`).join(", ");
  return `Chosen: row ${i}, ${cells}, y = ${format(y[i])}, score ${format(rowScores()[i])}.`;
}

// ------------------------------------------------------------------ the present step

function nowText() {
  const { y } = state.data;
  const limited = (isClosed() || isCertified()) && tooWide();
  if (limited) return `More than ${MAX_FEATURES} features: not computed on this page. The Python code below computes it.`;
  if (isCertified() && !state.steps.length) return "The learner needs rows of two classes.";
  if (isClosed() && !state.closed) return "No unique solution: two classes and columns that vary independently are needed.";
  const scores = rowScores();
  const wrong = (/** @type {number[]} */ rows) => `${rows.filter((i) => (scores[i] > 0 ? 1 : -1) !== y[i]).length} of ${rows.length}`;
  const errors = `${wrong(state.training)} rows wrong${state.held.length ? `, of the held-out rows ${wrong(state.held)}` : ""}.`;
  if (isClosed()) return `(b, w) = ${vector(state.closed)}. ${errors}${discriminants()}`;
  if (isCertified()) return `Iteration ${state.at} of ${state.steps.length}. (b, w) = ${vector(boundary())}. ${errors}`;
  const updates = updatesUntil(state.at);
  const mean = state.spec.learner === "averaged" && state.at > 0 ? "Mean (b, w)" : "(b, w)";
  const fewer = state.spec.epochs < Number($("epochs").value) ? ` At most ${state.spec.epochs} epochs of these rows fit on this page.` : "";
  return `Step ${state.at} of ${state.steps.length}, ${updates} updates. ${mean} = ${vector(boundary())}. ${errors}${boundText(updates)}${fewer}`;
}

/** The discriminants of LDA: delta_k(x) = x'S^-1 mu_k - mu_k'S^-1 mu_k / 2 + log pi_k. */
function discriminants() {
  if (state.spec.learner !== "lda") return "";
  const { low, high, covariance } = withinClasses(state.learned.X, state.learned.y);
  const prior = state.spec.prior ?? state.learned.y.filter((/** @type {number} */ v) => v === 1).length / state.learned.y.length;
  const parts = /** @type {[number[], number, string][]} */ ([[low, 1 - prior, "−"], [high, prior, "+"]]);
  const text = parts.map(([mean, pi, sign]) => {
    const w = /** @type {number[]} */ (solve(covariance, mean));
    const constant = Math.log(pi) - dot(w, mean) / 2;
    return `δ${sign}(x) = x·${vector(w)} ${constant < 0 ? "−" : "+"} ${format(Math.abs(constant))}`;
  });
  return ` ${text.join(", ")}.`;
}

/** Mistakes left by the bound (R / gamma)^2, with the margin gamma of the last weights of a run that converged. @param {number} updates */
function boundText(updates) {
  const bound = once("bound", mistakeBound);
  return bound === null ? "" : ` By the bound at most ${bound} mistakes: ${bound - updates} left.`;
}

function mistakeBound() {
  const last = state.steps[state.steps.length - 1];
  if (state.spec.learner !== "perceptron" || !last || state.spec.start.some((/** @type {number} */ w) => w !== 0)) return null;
  const { X, y } = state.learned;
  let [margin, square] = [Infinity, 0];
  X.forEach((/** @type {number[]} */ x, /** @type {number} */ i) => { margin = Math.min(margin, y[i] * score(last.weights, x)); square = Math.max(square, x.reduce((sum, v) => sum + v * v, 1)); });
  const gamma = margin / Math.hypot(...last.weights);
  return gamma > 0 ? Math.floor((square / gamma ** 2) * (1 + 1e-9)) : null;
}

// ------------------------------------------------------------------ the log

function showLog() {
  const first = Math.max(0, state.at - LOG_ROWS);
  const rows = state.steps.slice(first, state.at).map((/** @type {any} */ s, /** @type {number} */ k) => {
    const cells = s.row < 0 ? [outcome(s)] : [s.row, format(state.data.y[s.row]), format(s.score), outcome(s)];
    const line = element("tr", [first + k + 1, s.epoch, ...cells].map((v) => element("td", [v])));
    if (s.row < 0) line.lastChild.colSpan = 4;
    if (s.changed) line.className = "changed";
    const vectors = [element("span", [vector(weightsAt(first + k))])];
    if (s.changed) vectors.push(" ", element("span", [`→ ${vector(s.weights)}`]));
    line.append(element("td", vectors));
    return line;
  });
  $("log").replaceChildren(...rows.reverse());
}

/** Whether the row was right before the step: ✓ or ✗; of all rows their number, or the relative gap. @param {any} step */
function outcome({ certificate, row, loss, score: s, changed }) {
  if (certificate) return `gap ${format(loss)}`;
  if (row < 0) return `all rows: ${loss} wrong`;
  return (PERCEPTRON_LIKE.includes(state.spec.learner) ? !changed : s * state.data.y[row] > 0) ? "✓" : "✗";
}

/** An element with text and other elements in it, never HTML. @param {string} tag @param {any[]} children */
function element(tag, children) {
  const made = document.createElement(tag);
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

// ------------------------------------------------------------------ the address

/** The state as an address; it never holds rows. */
export const address = () => `#${new URLSearchParams([...SETTINGS.map((id) => [id, $(id).value]), ["at", String(state.at)]])}`;

const shown = { time: -Infinity, timer: 0 };

function showAddress() {
  clearTimeout(shown.timer);
  const write = () => { shown.time = performance.now(); if (location.hash !== address()) history.replaceState(null, "", address()); };
  const wait = shown.time + ADDRESS_PAUSE - performance.now();
  if (wait <= 0) write(); else shown.timer = setTimeout(write, wait);
}
