// How rows are points of the plane: two columns, the plane that holds w, or one column and its score.
import { dot } from "./algebra.mjs";
import { $, boundary, degree, state } from "./page_state.mjs";

/** Scales of two columns that differ by less than this factor are drawn in equal units, so that w is at a right angle to the boundary. */
const NEAR_UNITS = 2;
/** The scores that one column is drawn with. */
const SCORES = [-2.4, 2.4];

/** @typedef {{names: string[], flat: (x: number[], y?: number) => number[], row: (p: number[]) => number[], moving?: boolean}} Projection
 *   `moving` if it depends on the step */

/** @returns {Projection} */
export function currentProjection() {
  const { X, columns } = state.data;
  if (columns.length === 1) return { names: [columns[0], "score"], flat: (x, y = 0) => [x[0], y], row: (p) => [p[0]] };
  if ($("view").value === "w" && Math.hypot(...boundary().slice(1)) > 0) return alongW(boundary());
  const [j, k] = $("view").value.includes(",") ? $("view").value.split(",").map(Number) : [0, 1];
  const middle = columns.map((/** @type {string} */ _, /** @type {number} */ i) => X.reduce((/** @type {number} */ sum, /** @type {number[]} */ x) => sum + x[i], 0) / Math.max(1, X.length));
  return { names: [columns[j], columns[k]], flat: (x) => [x[j], x[k]], row: (p) => middle.map((/** @type {number} */ m, /** @type {number} */ i) => (i === j ? p[0] : i === k ? p[1] : m)) };
}

/** The plane of w and of the direction in which the rows vary most at a right angle to it.
 * @param {number[]} weights @returns {Projection} */
function alongW([, ...w]) {
  const length = Math.hypot(...w);
  const u = w.map((v) => v / length);
  const across = (/** @type {number[]} */ x) => { const s = dot(x, u); return x.map((v, i) => v - s * u[i]); };
  const S = covariance();
  let v = across(u.map((_, i) => 1 / (i + 1)));
  for (let k = 0; k < 50; k += 1) { // power iteration
    const next = across(S.map((/** @type {number[]} */ row) => dot(row, v)));
    const size = Math.hypot(...next);
    if (!(size > 0)) break;
    v = next.map((a) => a / size);
  }
  return { names: ["along w", "across"], flat: (x) => [dot(x, u), dot(x, v)], row: (p) => u.map((a, i) => p[0] * a + p[1] * v[i]), moving: true };
}

/** @returns {number[][]} */
function covariance() {
  const { X } = state.data;
  const mean = X[0].map((/** @type {any} */ _, /** @type {number} */ j) => X.reduce((/** @type {number} */ sum, /** @type {number[]} */ x) => sum + x[j], 0) / X.length);
  return mean.map((/** @type {number} */ a, /** @type {number} */ j) => mean.map((/** @type {number} */ b, /** @type {number} */ k) => X.reduce((/** @type {number} */ sum, /** @type {number[]} */ x) => sum + (x[j] - a) * (x[k] - b), 0)));
}

/** The part of the plane that is drawn. @param {number[][]} points @param {number} width @param {number} height */
export function boxOf(points, width, height) {
  const box = paddedBox(points);
  if (state.data.columns.length === 1) return [box[0], SCORES];
  const units = [(box[0][1] - box[0][0]) / width, (box[1][1] - box[1][0]) / height];
  const factor = units[0] / units[1];
  if (factor > NEAR_UNITS || factor < 1 / NEAR_UNITS) return box;
  return box.map(([low, high], j) => {
    const grown = (((high - low) * Math.max(...units)) / units[j] - (high - low)) / 2;
    return [low - grown, high + grown];
  });
}

/** Whether both axes have the same scale. @param {any} view */
export function equalUnits({ box, width, height }) {
  const factor = ((box[0][1] - box[0][0]) / width) / ((box[1][1] - box[1][0]) / height);
  return Math.abs(factor - 1) < 1e-6;
}

/** The range of points and a quarter more. @param {number[][]} points */
export function paddedBox(points) {
  return [0, 1].map((j) => {
    let [low, high] = points.length ? [Infinity, -Infinity] : [-1, 1];
    for (const p of points) { low = Math.min(low, p[j]); high = Math.max(high, p[j]); }
    const pad = 0.25 * (high - low || 1);
    return [low - pad, high + pad];
  });
}

/** Whether the boundary is a line of the plane. */
export const isLine = () => degree() === 1 && state.data.columns.length > 1;
