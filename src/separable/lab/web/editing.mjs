// Changes of the rows: with the pointer on the plane, and with keys.
import { MAX_ROWS } from "./csv.mjs";
import { $, state } from "./page_state.mjs";

/** Pixels from a row at which the pointer takes it, pixels that it may tremble, and the part of the plane that an arrow key moves a row. */
const NEAR = 12;
const JITTER = 3;
const MOVE = 0.02;

/** @type {{edit: (change: (data: any) => void) => void, show: () => void}} */
let page = { edit: () => {}, show: () => {} };

/** @param {typeof page} actions `edit` changes rows and learns again, `show` draws the page */
export function listenToRows(actions) {
  page = actions;
  $("flip").onclick = flip;
  $("remove").onclick = remove;
  listenToPlane($("plane"));
}

/** @param {PointerEvent} event */
function pointAt(event) {
  const { left, top } = $("plane").getBoundingClientRect();
  const at = [event.clientX - left, event.clientY - top];
  const distance = (/** @type {number} */ i) => Math.hypot(...pixelsOf(i).map((v, j) => v - at[j]));
  let near = -1;
  state.data.X.forEach((/** @type {number[]} */ _, /** @type {number} */ i) => { if (distance(i) < (near < 0 ? NEAR : distance(near))) near = i; });
  return { near, row: rowOf(at) };
}

/** @param {number} i @returns {number[]} */
const pixelsOf = (i) => state.view.to(state.view.flatten.flat(state.data.X[i], state.data.y[i]));
/** The row at a point of the screen. @param {number[]} pixels @returns {number[]} */
const rowOf = (pixels) => state.view.flatten.row(state.view.from(pixels)).map((/** @type {number} */ v) => Number(v.toPrecision(4)));

/** Move a row in the drawn columns, and leave its other columns. @param {number} i @param {number[]} row */
function moveRow(i, row) {
  const [j, k] = state.data.columns.length > 1 ? $("view").value.split(",").map(Number) : [0, 0];
  if ($("view").value !== "w") page.edit((d) => { d.X[i] = d.X[i].map((/** @type {number} */ v, /** @type {number} */ m) => (m === j || m === k ? row[m] : v)); });
}

/** @param {HTMLCanvasElement} plane */
function listenToPlane(plane) {
  let [dragged, frame, moving] = [-1, 0, false];
  /** @type {PointerEvent} */ let down;
  plane.onpointerdown = (event) => {
    const { near, row } = pointAt(event);
    [down, moving] = [event, false];
    if (near >= 0 && event.shiftKey) page.edit((d) => { d.y[near] = -d.y[near]; });
    else if (near >= 0) { dragged = state.selected = near; plane.setPointerCapture(event.pointerId); page.show(); }
    else add(row);
  };
  plane.onpointermove = (event) => {
    moving ||= dragged >= 0 && Math.hypot(event.clientX - down.clientX, event.clientY - down.clientY) > JITTER;
    if (!moving) return;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => { if (dragged >= 0) moveRow(dragged, pointAt(event).row); });
  };
  plane.onpointerup = (event) => {
    cancelAnimationFrame(frame);
    if (moving) moveRow(dragged, pointAt(event).row);
    [dragged, moving] = [-1, false];
  };
  plane.onpointercancel = () => { [dragged, moving] = [-1, false]; };
}

/** @param {number[]} row */
function add(row) {
  if (state.data.X.length < MAX_ROWS) page.edit((d) => { d.X.push(row); d.y.push(Number($("new").value)); });
}

export function flip() {
  const i = state.selected;
  if (i >= 0) page.edit((d) => { d.y[i] = -d.y[i]; });
}

export function remove() {
  const i = state.selected;
  state.selected = -1;
  if (i >= 0 && state.data.X.length > 1) page.edit((d) => { d.X.splice(i, 1); d.y.splice(i, 1); });
}

/** Choose the next row, or the one before. @param {number} by */
export function choose(by) {
  const n = state.data.X.length;
  state.selected = state.selected < 0 ? (by > 0 ? 0 : n - 1) : (state.selected + by + n) % n;
  page.show();
}

/** Add a row in the middle of the plane, and choose it. */
export function addInTheMiddle() {
  const { width, height } = state.view;
  add(rowOf([width / 2, height / 2]));
  state.selected = state.data.X.length - 1;
  page.show();
}

/** Move the chosen row. @param {number} right @param {number} down in steps */
export function nudge(right, down) {
  if (state.selected < 0) return;
  const { width, height } = state.view;
  const [x, y] = pixelsOf(state.selected);
  moveRow(state.selected, rowOf([x + right * MOVE * width, y + down * MOVE * height]));
}
