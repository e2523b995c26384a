// The page: settings, buttons and keys.
import { standardized } from "./algebra.mjs";
import { alphaOf, clearErrors, drawBeside, drawCurve, listenToErrors } from "./beside.mjs";
import { clipped, forgetColours, watchSizes } from "./drawing.mjs";
import { addInTheMiddle, choose, flip, listenToRows, nudge, remove } from "./editing.mjs";
import { firstSettings, openLesson, prepareLessons } from "./lesson_view.mjs";
import { listenToFiles, showChoice } from "./own_file.mjs";
import { $, EXAMPLES, SETTINGS, isClosed, isStandard, learn, prepare, state } from "./page_state.mjs";
import { drawPlane } from "./plane.mjs";
import { cloudsOf } from "./seeded.mjs";
import { address, showMoment, showSettings } from "./words.mjs";

/** Draw everything anew. */
function show() {
  state.layers = null;
  showSettings();
  showStep();
}

/** Draw what a step changes; the pictures first, so that the page is laid out once. */
function showStep() {
  drawPlane();
  drawBeside();
  drawCurve();
  showMoment();
}

/** Learn from changed rows or features. @param {{keep?: boolean}} options */
function learnRows(options) {
  prepare(show);
  relearn(options);
}

/** Learn with changed settings. @param {{keep?: boolean}} [options] */
function relearn(options) {
  learn(options);
  clearErrors();
  show();
}

/** @param {any} data */
function open(data) {
  stop();
  state.data = { ...data, X: data.X.map((/** @type {number[]} */ x) => [...x]), y: [...data.y] };
  if (isStandard()) Object.assign(state.data, { X: standardized(data.X), columns: data.columns.map((/** @type {string} */ name) => `${clipped(name)}, standardized`), truth: undefined });
  Object.assign(state, { selected: -1, edited: false, box: null });
  fillViews();
  showChoice();
  learnRows({});
}

/** The rows that the page starts with: a data set, or those of the student's number. */
const chosenData = () => ($("example").value === "seeded" ? cloudsOf(Math.abs(Math.floor(Number($("student").value) || 0))) : EXAMPLES[$("example").value]);

/** The pairs of columns that can be drawn. */
function fillViews() {
  const { columns } = state.data;
  const before = $("view").value || state.wanted?.get("view");
  const pairs = columns.flatMap((/** @type {string} */ a, /** @type {number} */ j) => columns.slice(j + 1).map((/** @type {string} */ b, /** @type {number} */ k) => new Option(`${clipped(a)}, ${clipped(b)}`, `${j},${j + 1 + k}`)));
  const along = columns.length > 2 && $("degree").value === "1" ? [new Option("the plane that holds w", "w")] : [];
  $("view").replaceChildren(...along, ...pairs);
  $("view").value = [...$("view").options].some((o) => o.value === before) ? before : pairs.length ? "0,1" : "";
  $("view").parentElement.hidden = columns.length <= 2;
}

/** @param {number} t */
function go(t) {
  state.at = Math.min(state.steps.length, Math.max(0, t));
  showStep();
}

/** Go to the last step of the present epoch, or of the next one. */
function epochEnd() {
  const { epoch } = state.steps[state.at] ?? {};
  let end = state.at;
  while (end < state.steps.length && state.steps[end].epoch === epoch) end += 1;
  go(end);
}

function stop() {
  clearInterval(state.timer);
  state.timer = null;
  $("run").textContent = "Run";
}

function toggleRun() {
  if (state.timer !== null) { stop(); return; }
  if (state.at >= state.steps.length) go(0);
  $("run").textContent = "Pause";
  state.timer = setInterval(() => { if (state.at >= state.steps.length) stop(); else go(state.at + 1); }, 1000 / Number($("speed").value));
}

/** @param {(data: any) => void} change */
function edit(change) {
  change(state.data);
  state.edited = true;
  stop();
  learnRows({ keep: true });
}

function listen() {
  for (const id of SETTINGS) $(id).addEventListener("change", () => settingChanged(id));
  $("proof").addEventListener("change", show);
  $("path").oninput = () => { $("alpha").value = String(alphaOf(Number($("path").value))); relearn(); };
  $("step").onclick = () => { stop(); go(state.at + 1); };
  $("back").onclick = () => { stop(); go(state.at - 1); };
  $("epoch").onclick = () => { stop(); epochEnd(); };
  $("run").onclick = toggleRun;
  $("speed").onchange = () => { if (state.timer !== null) { stop(); toggleRun(); } };
  $("reset").onclick = () => open(chosenData());
  $("quadratic").onclick = () => { $("degree").value = "2"; settingChanged("degree"); };
  $("copy").onclick = () => copy($("copy"), $("python").textContent, $("python"));
  $("link").onclick = () => copy($("link"), location.href.split("#")[0] + address(), null);
  $("at").oninput = () => { stop(); go(Number($("at").value)); };
  $("atNumber").onchange = () => { stop(); go(Math.floor(Number($("atNumber").value)) || 0); };
  document.addEventListener("keydown", onKey);
  window.addEventListener("hashchange", openAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { forgetColours(); show(); });
  watchSizes(["plane", "curve", "vectors", "errors"].map($), () => { if (!state.edited) state.box = null; show(); });
}

/** @param {string} id */
function settingChanged(id) {
  stop();
  if (id === "lessonName" || id === "student") { openLesson(); if (id === "student" && $("example").value === "seeded") open(chosenData()); else showStep(); }
  else if (id === "example" || id === "units") open(chosenData());
  else if (id === "view") { state.box = null; show(); }
  else if (id === "degree") { fillViews(); learnRows({}); }
  else relearn();
}

/** @param {KeyboardEvent} event */
function onKey(event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY"].includes(target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = { ArrowRight: $("step").onclick, ArrowLeft: $("back").onclick, e: $("epoch").onclick, " ": toggleRun };
  const moves = { ArrowRight: () => nudge(1, 0), ArrowLeft: () => nudge(-1, 0), ArrowUp: () => nudge(0, -1), ArrowDown: () => nudge(0, 1) };
  const rows = { n: () => choose(1), p: () => choose(-1), a: addInTheMiddle, f: flip, Delete: remove, Backspace: remove, r: $("reset").onclick };
  /** @type {Record<string, () => void>} */ const actions = { ...(isClosed() ? {} : steps), ...rows, ...(event.shiftKey ? moves : {}) };
  const action = actions[event.key];
  if (action) { event.preventDefault(); action(); }
}

/** Copy a text, or select it where the browser does not allow that. @param {HTMLElement} button @param {string} text @param {HTMLElement | null} shown */
async function copy(button, text, shown) {
  const before = button.dataset.name ??= button.textContent ?? "";
  try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    button.textContent = shown ? "Selected: press Ctrl C" : "Copy it from the address bar";
  }
  setTimeout(() => { button.textContent = before; }, 2500);
}

/** Show the state that settings name, as an address holds them. @param {string} settings */
function openSettings(settings) {
  state.wanted = new URLSearchParams(settings);
  for (const id of SETTINGS) {
    const value = state.wanted.get(id);
    if (value !== null && ($(id).tagName !== "SELECT" || [...$(id).options].some((o) => o.value === value))) $(id).value = value;
  }
  open(chosenData());
  const at = Number(state.wanted.get("at"));
  if (Number.isInteger(at)) go(at);
  state.wanted = null;
}

function openAddress() {
  openSettings(location.hash.slice(1) || firstSettings());
  openLesson();
}

for (const name of Object.keys(EXAMPLES)) $("example").append(new Option(EXAMPLES[name].title, name));
$("example").append(new Option("two clouds by the student's number", "seeded"));
$("lessonName").value = prepareLessons({ open: openSettings, state: () => ({ ...state.data, steps: state.steps }) });
listen();
listenToErrors();
listenToRows({ edit, show: showStep });
listenToFiles({ open: (name) => { $("example").value = name; open(EXAMPLES[name]); } });
openAddress();
