// The plane: rows, boundary, margins, w, and the proof of the verdict. What a step does not change is drawn once, as a layer.
import { score } from "./algebra.mjs";
import { drawEllipse } from "./charts.mjs";
import { hull, nearest } from "./exact.mjs";
import { products, voters, withinClasses } from "./kernels.mjs";
import { colour, drawAxes, drawLevel, drawLine, drawNormal, drawPoint, drawRing, fillPolygon, frameOf, gridOf, label, layerOf, shade, shadeSides, viewOf } from "./drawing.mjs";
import { drawBands, drawDensities, drawScores, outlineIntervals } from "./one_column.mjs";
import { $, boundary, degree, isVoting, state, weightsAt } from "./page_state.mjs";
import { boxOf, currentProjection, isLine } from "./projection.mjs";
import { advance, tallyOf } from "./votes.mjs";

/** Most rows whose numbers are drawn. */
const NUMBERED = 12;
/** Most voters whose boundaries are drawn, and most for which the border of their majority is found to a fraction of a pixel. */
const DRAWN_VOTERS = 40;
const EXACT_VOTERS = 60;
/** Largest number of scores of the shading by all voters. */
const MAX_SCORES = 8_000_000;
/** Learners for which a score of -1 and +1 is the margin. */
const hasMargin = () => state.spec.learner === "svm" || (state.spec.learner === "sgd" && ["hinge", "squared_hinge"].includes(state.spec.loss));

export function drawPlane() {
  const { context: c, width, height } = frameOf($("plane"));
  const flatten = currentProjection();
  const layers = flatten.moving ? {} : (state.layers ??= {});
  layers.points ??= state.data.X.map((/** @type {number[]} */ x, /** @type {number} */ i) => flatten.flat(x, state.data.y[i]));
  if (flatten.moving || state.box === null) state.box = boxOf(layers.points, width, height);
  const view = viewOf(state.box, width, height);
  state.view = { ...view, flatten };
  if (state.data.columns.length === 1) drawBands(c, view, boundaryValue());
  else if (isLine() && !isVoting()) shadeSides(c, view, lineOf(boundary(), flatten));
  else drawGrid(c, view, flatten, layers);
  state.outside = isLine() && !isVoting() && isOutside(view, lineOf(boundary(), flatten));
  if (isLine()) drawLines(c, view, flatten);
  if (state.data.columns.length === 1) drawScores(c, view, boundaryValue());
  layers.fixed ??= layerOf(width, height, (to) => drawFixed(to, view, flatten, layers.points));
  c.drawImage(layers.fixed, 0, 0, width, height);
  const row = state.at > 0 ? state.steps[state.at - 1].row : -1;
  if (row >= 0) drawRing(c, view.to(layers.points[row]));
  if (state.selected >= 0 && state.selected !== row) drawRing(c, view.to(layers.points[state.selected]), [4, 3]);
}

/** What a step does not change. @param {CanvasRenderingContext2D} c @param {any} view @param {any} flatten @param {number[][]} points */
function drawFixed(c, view, flatten, points) {
  const count = state.data.columns.length;
  if (count === 1) { drawDensities(c, view); if (degree() === 1) outlineIntervals(c, view); }
  if (isLine() && count === 2) { drawProof(c, view); drawEllipses(c, view); }
  drawAxes(c, view, flatten.names);
  const held = new Set(state.held);
  points.forEach((p, i) => drawPoint(c, view.to(p), state.data.y[i], held.has(i)));
  if (points.length <= NUMBERED) points.forEach((p, i) => { const [x, y] = view.to(p); label(c, String(i), x + 10, y - 6, "12px system-ui, sans-serif", "ink"); });
}

/** The score of a row at the boundary that is drawn; of the voted perceptron its votes. @returns {(x: number[]) => number} */
function boundaryValue() {
  if (!isVoting()) { const weights = boundary(); return (x) => score(weights, products(x, degree())); }
  const all = voters(state.steps, state.at);
  return (x) => { const z = products(x, degree()); return all.reduce((sum, { weights, votes }) => sum + votes * Math.sign(score(weights, z)), 0); };
}

/** Shade by the scores, or votes, at a grid of points whose features are computed once.
 * @param {CanvasRenderingContext2D} c @param {any} view @param {any} flatten @param {any} layers */
function drawGrid(c, view, flatten, layers) {
  const voting = isVoting();
  const all = voting ? voters(state.steps, state.steps.length).length : 1;
  const cell = Math.max(4, Math.ceil(Math.sqrt((view.width * view.height * all) / MAX_SCORES)));
  const key = voting ? "voted" : "grid";
  layers[key] ??= gridOf(view, cell, (p) => products(flatten.row(p), degree()));
  const grid = layers[key];
  if (voting) grid.values = advance(grid.tally ??= tallyOf(grid.points), state.steps, state.at);
  else { const weights = boundary(); grid.values = Float64Array.from(grid.points, (/** @type {number[]} */ z) => score(weights, z)); }
  shade(c, grid, voting ? state.at : 0);
  const value = boundaryValue();
  const exact = voting && voters(state.steps, state.at).length <= EXACT_VOTERS; // scores are smooth, votes are not
  drawLevel(c, grid, { stroke: colour("ink") }, exact ? (p) => value(flatten.row(view.from(p))) : null);
  if (hasMargin()) for (const level of [-1, 1]) drawLevel(c, grid, { stroke: colour("ink"), level, width: 1.2, dash: [2, 4] });
}

/** The boundary of weights in the plane as [b, w1, w2], for features of degree 1. @param {number[]} weights @param {any} flatten */
function lineOf(weights, flatten) {
  const at = (/** @type {number[]} */ p) => score(weights, flatten.row(p));
  return [at([0, 0]), at([1, 0]) - at([0, 0]), at([0, 1]) - at([0, 0])];
}

/** Whether a line misses the box. @param {any} view @param {number[]} line */
function isOutside({ box: [xs, ys] }, [b, w1, w2]) {
  const scores = xs.flatMap((/** @type {number} */ x) => ys.map((/** @type {number} */ y) => b + w1 * x + w2 * y));
  return (w1 !== 0 || w2 !== 0) && scores.every((/** @type {number} */ s) => s * scores[0] > 0);
}

/** @param {CanvasRenderingContext2D} c @param {any} view @param {any} flatten */
function drawLines(c, view, flatten) {
  if (isVoting()) {
    for (const { weights, votes } of voters(state.steps, state.at).slice(-DRAWN_VOTERS)) {
      c.globalAlpha = 0.15 + (0.6 * votes) / state.at;
      drawLine(c, view, lineOf(weights, flatten), { stroke: colour("quiet"), width: 1 });
    }
    c.globalAlpha = 1;
    return;
  }
  if (state.at > 0) drawLine(c, view, lineOf(weightsAt(state.at - 1), flatten), { stroke: colour("quiet"), dash: [6, 5], width: 1.5 });
  const [b, w1, w2] = lineOf(boundary(), flatten);
  drawLine(c, view, [b, w1, w2], { stroke: colour("ink") });
  drawNormal(c, view, [b, w1, w2]);
  if (hasMargin()) for (const s of [-1, 1]) drawLine(c, view, [b - s, w1, w2], { stroke: colour("ink"), dash: [2, 4], width: 1.2 });
}

/** The proof of the verdict: the widest slab, or the hulls that meet and the rows that cancel. @param {CanvasRenderingContext2D} c @param {any} view */
function drawProof(c, view) {
  const { X, y } = state.data;
  if (!$("proof").checked || !state.verdict || X.length === 0) return;
  const cornersOf = (/** @type {number[]} */ rows) => hull(X, rows).map((i) => X[i]);
  const hulls = state.hulls ??= [-1, 1].map((side) => cornersOf(y.flatMap((/** @type {number} */ v, /** @type {number} */ i) => (v === side ? [i] : []))));
  if (hulls.some((/** @type {number[][]} */ h) => h.length === 0)) return;
  hulls.forEach((/** @type {number[][]} */ h, /** @type {number} */ k) => outline(c, view, h, colour(k ? "positive" : "negative"), 1));
  if (!state.verdict.separable) {
    for (const side of [-1, 1]) outline(c, view, cornersOf(state.verdict.rows.filter((/** @type {number} */ i) => y[i] === side)), colour("ink"), 2);
    return;
  }
  const { from, to } = nearest(hulls[0], hulls[1]);
  const w = [to[0] - from[0], to[1] - from[1]];
  for (const p of [from, to]) drawLine(c, view, [-(w[0] * p[0] + w[1] * p[1]), ...w], { stroke: colour("good"), dash: [3, 3], width: 1.5 });
}

/** @param {CanvasRenderingContext2D} c @param {any} view @param {number[][]} corners @param {string} stroke @param {number} width */
function outline(c, view, corners, stroke, width) {
  fillPolygon(c, corners.map(view.to), "transparent");
  Object.assign(c, { strokeStyle: stroke, lineWidth: width });
  c.stroke();
}

/** One, two and three standard deviations of each Gaussian class. @param {CanvasRenderingContext2D} c @param {any} view */
function drawEllipses(c, view) {
  if (!["lda", "naive_bayes"].includes(state.spec.learner) || !state.closed) return;
  const { low, high, covariance: [[a, b], [, d]] } = withinClasses(state.learned.X, state.learned.y);
  const shared = [[a, state.spec.learner === "lda" ? b : 0], [0, d]];
  for (const sigmas of [1, 2, 3]) {
    drawEllipse(c, view, low, shared, sigmas, colour("negative"));
    drawEllipse(c, view, high, shared, sigmas, colour("positive"));
  }
}
