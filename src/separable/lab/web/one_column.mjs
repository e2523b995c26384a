// One column: the rows at their targets, the score as a curve over x, the boundary where it crosses 0, and Gaussian classes.
import { colour, fillPolygon, label } from "./drawing.mjs";
import { stroked } from "./charts.mjs";
import { products, withinClasses } from "./kernels.mjs";
import { score } from "./algebra.mjs";
import { $, degree, isVoting, state, weightsAt } from "./page_state.mjs";

/** Pixels between two values of a curve. */
const STEP = 2;
/** The height of the highest density, as a part of the plane. */
const DENSITY_HEIGHT = 0.3;

/** The points x at which a value changes its sign. @param {any} view @param {(x: number[]) => number} value @returns {number[]} */
function crossings(view, value) {
  const found = [];
  for (let px = 0; px < view.width; px += STEP) {
    let [low, high] = [px, px + STEP].map((v) => view.from([v, 0])[0]);
    const positive = value([low]) > 0;
    if (value([high]) > 0 === positive) continue;
    for (let k = 0; k < 40; k += 1) { const middle = (low + high) / 2; if (value([middle]) > 0 === positive) low = middle; else high = middle; }
    found.push(low);
  }
  return found;
}

/** Shade x by the sign of its score. @param {CanvasRenderingContext2D} c @param {any} view @param {(x: number[]) => number} value */
export function drawBands(c, view, value) {
  const ends = [view.box[0][0], ...crossings(view, value), view.box[0][1]];
  for (let k = 0; k + 1 < ends.length; k += 1) {
    const s = value([(ends[k] + ends[k + 1]) / 2]);
    if (s === 0) continue;
    const [low, high] = [ends[k], ends[k + 1]].map((x) => view.to([x, 0])[0]);
    fillPolygon(c, [[low, 0], [high, 0], [high, view.height], [low, view.height]], `${colour(s > 0 ? "positive" : "negative")}26`);
  }
}

/** @param {CanvasRenderingContext2D} c @param {any} view @param {number} x @param {string} stroke @param {number} width @param {number[]} dash */
function upright(c, view, x, stroke, width, dash = []) {
  const px = view.to([x, 0])[0];
  c.setLineDash(dash);
  stroked(c, [[px, 0], [px, view.height]], stroke, width);
  c.setLineDash([]);
}

/** The score over x, the boundary, and the boundary before the step. @param {CanvasRenderingContext2D} c @param {any} view @param {(x: number[]) => number} value */
export function drawScores(c, view, value) {
  stroked(c, [[0, view.to([0, 0])[1]], [view.width, view.to([0, 0])[1]]], colour("line"), 1);
  const before = weightsAt(Math.max(0, state.at - 1));
  if (state.at > 0 && !isVoting()) for (const x of crossings(view, (v) => score(before, products(v, degree())))) upright(c, view, x, colour("quiet"), 1.5, [6, 5]);
  const places = crossings(view, value);
  for (const x of places) upright(c, view, x, colour("ink"), 2.5);
  if (places.length === 1) label(c, "boundary", view.to([places[0], 0])[0] + 6, 50, "12px system-ui, sans-serif", "ink");
  if (isVoting()) return;
  const points = Array.from({ length: Math.ceil(view.width / STEP) + 1 }, (_, k) => [k * STEP, view.to([0, value([view.from([k * STEP, 0])[0]])])[1]]);
  const seen = points.map(([x, y]) => [x, Math.max(-50, Math.min(view.height + 50, y))]);
  stroked(c, seen, colour("accent"), 2);
}

/** The range of each class, and the gap between them if there is one. @param {CanvasRenderingContext2D} c @param {any} view */
export function outlineIntervals(c, view) {
  if (!$("proof").checked || !state.verdict) return;
  const ranges = [-1, 1].map((side) => {
    const values = state.data.X.flatMap((/** @type {number[]} */ x, /** @type {number} */ i) => (state.data.y[i] === side ? x : []));
    return [Math.min(...values), Math.max(...values)];
  });
  if (ranges.flat().some((v) => !Number.isFinite(v))) return;
  ranges.forEach((ends, k) => stroked(c, ends.map((x) => view.to([x, 2 * k - 1])), colour(k ? "positive" : "negative"), 1.5));
  const [first, second] = ranges[0][0] < ranges[1][0] ? ranges : [...ranges].reverse();
  if (state.verdict.separable) for (const x of [first[1], second[0]]) upright(c, view, x, colour("good"), 1.5, [3, 3]);
}

/** The densities of Gaussian classes times their priors: the estimated ones and, of simulated rows, the true ones (dashed).
 * @param {CanvasRenderingContext2D} c @param {any} view */
export function drawDensities(c, view) {
  const truth = state.edited ? undefined : state.data.truth;
  const curves = [];
  if (["lda", "naive_bayes"].includes(state.spec.learner) && state.closed && degree() === 1) {
    const { low, high, covariance } = withinClasses(state.learned.X, state.learned.y);
    const prior = state.spec.prior ?? state.learned.y.filter((/** @type {number} */ v) => v === 1).length / state.learned.y.length;
    curves.push({ means: [low[0], high[0]], deviation: Math.sqrt(covariance[0][0]), priors: [1 - prior, prior], dash: [] });
  }
  if (truth) curves.push({ means: truth.means, deviation: truth.deviation, priors: [0.5, 0.5], dash: [5, 4] });
  const most = Math.max(...curves.map(({ deviation, priors }) => Math.max(...priors) / deviation), 1e-300);
  for (const { means, deviation, priors, dash } of curves) means.forEach((/** @type {number} */ mean, /** @type {number} */ k) => {
    c.setLineDash(dash);
    stroked(c, bell(view, mean, deviation, priors[k] / deviation / most), colour(k ? "positive" : "negative"), 1.5);
    c.setLineDash([]);
  });
  if (!truth) return;
  const x = (truth.means[0] + truth.means[1]) / 2;
  upright(c, view, x, colour("good"), 2, [7, 5]);
  label(c, "true boundary", view.to([x, 0])[0] - 6, 32, "12px system-ui, sans-serif", "good", "right");
}

/** @param {any} view @param {number} mean @param {number} deviation @param {number} height */
function bell(view, mean, deviation, height) {
  return Array.from({ length: Math.ceil(view.width / STEP) + 1 }, (_, k) => {
    const z = (view.from([k * STEP, 0])[0] - mean) / deviation;
    return [k * STEP, view.height * (1 - DENSITY_HEIGHT * height * Math.exp(-(z * z) / 2))];
  });
}
