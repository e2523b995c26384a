// Beside the plane: the curve of the epochs or the path of the lasso, the update of w, the surface of a loss, a certificate,
// and the errors on held-out rows.
import { score } from "./algebra.mjs";
import { drawNeedle, drawPath, drawSurface, pathRange, provedDigits } from "./charts.mjs";
import { colour, drawArrow, drawCurves, format, frameOf, label, viewOf } from "./drawing.mjs";
import { LOSSES, predictor } from "./kernels.mjs";
import { $, PERCEPTRONS, degree, descends, isCertified, isClosed, once, seed, state, tooWide, weightsAt } from "./page_state.mjs";
import { paddedBox } from "./projection.mjs";
import { errorRate, errorsByDegree, learningCurve, meanErrors, turnsOf, validate } from "./validation.mjs";

/** Most rows that the surface of a loss is computed from, and most points of the path on it. */
const SURFACE_ROWS = 200;
const PATH_POINTS = 1500;
/** Most work, in rows times epochs times fits, that the errors on held-out rows may cost. */
const MAX_VALIDATION = 4_000_000;

export function drawBeside() {
  $("vectorsTitle").textContent = isCertified() ? "Certificate" : descends() ? "Loss and path of w" : isClosed() ? "w" : "Update of w";
  const step = state.steps[state.at - 1];
  if (isCertified()) {
    drawNeedle($("vectors"), step ? step.loss : 1);
    $("update").textContent = step ? `The optimum lies between ${format(step.certificate.dual)} and ${format(step.certificate.primal)}.` : "";
  } else if (descends() && state.steps.length) drawLossSurface(); else drawVectors();
}

/** The two weights that are drawn: of one column b and w1, else w1 and w2. @param {number[]} weights */
const pair = (weights) => (weights.length > 2 ? weights.slice(1, 3) : weights);
const pairNames = () => (state.spec.start.length > 2 ? ["w₁", "w₂"] : ["b", "w₁"]);

function drawLossSurface() {
  const { width, height } = frameOf($("vectors"));
  const path = once("path", () => [state.spec.start, ...state.steps.map((/** @type {any} */ s) => s.weights)].map(pair));
  const view = viewOf(once("pathBox", () => paddedBox(path)), width, height);
  const every = Math.ceil((state.at + 1) / PATH_POINTS);
  const shown = path.filter((_, k) => k < state.at && k % every === 0);
  drawSurface($("vectors"), [...shown, path[state.at]], lossOf(weightsAt(state.at)), view, pairNames());
  const others = state.spec.start.length > 3 ? ", with the present b and other weights" : state.spec.start.length > 2 ? ", with the present b" : "";
  $("update").textContent = `Darker: a smaller mean loss over (${pairNames().join(", ")})${others}. The line: the weights so far.`;
}

/** The sum of the losses over the two drawn weights. @param {number[]} weights the present ones */
function lossOf(weights) {
  const { value } = LOSSES[state.spec.learner === "sgd" ? state.spec.loss : "squared_error"];
  const { X, y } = state.learned;
  const every = Math.ceil(X.length / SURFACE_ROWS);
  const rows = X.map((/** @type {any} */ _, /** @type {number} */ i) => i).filter((/** @type {number} */ i) => i % every === 0);
  const first = weights.length > 2 ? 1 : 0;
  const others = weights.map((w, j) => (j === first || j === first + 1 ? 0 : w));
  const parts = rows.map((/** @type {number} */ i) => [score(others, X[i]), first ? X[i][0] : 1, X[i][first], y[i]]);
  return (/** @type {number[]} */ [u, v]) => {
    let sum = 0;
    for (const [rest, x1, x2, target] of parts) sum += value(rest + u * x1 + v * x2, target);
    return sum;
  };
}

/** The update in the space of two weights: the old w, the step added head to tail, the new w. */
function drawVectors() {
  const { context: c, width, height } = frameOf($("vectors"));
  const [before, after] = [weightsAt(Math.max(0, state.at - 1)), weightsAt(state.at)].map(pair);
  const scale = Math.min(...[0, 1].map((j) => ((j ? height : width) / 2 - 22) / Math.max(...[before, after].map((w) => Math.abs(w[j])), 1e-12)));
  const to = (/** @type {number[]} */ w) => [width / 2 + scale * w[0], height / 2 - scale * w[1]];
  Object.assign(c, { strokeStyle: colour("line"), lineWidth: 1 });
  c.beginPath();
  c.moveTo(0, height / 2); c.lineTo(width, height / 2); c.moveTo(width / 2, 0); c.lineTo(width / 2, height);
  c.stroke();
  label(c, pairNames()[0], width - 6, height / 2 - 5, undefined, undefined, "right");
  label(c, pairNames()[1], width / 2 + 5, 12);
  const origin = to([0, 0]);
  drawArrow(c, origin, to(before), colour("quiet"), [4, 4]);
  drawArrow(c, to(before), to(after), colour("accent"));
  drawArrow(c, origin, to(after), colour("ink"));
  const changed = state.at > 0 && state.steps[state.at - 1].changed;
  const vector = pairNames().join(", ");
  $("update").textContent = isClosed() ? `(${vector}) as an arrow.` : changed ? `(${vector}) before (dashed), the update added to it, after.` : state.at > 0 ? "No update in this step: w stays." : `(${vector}) at the start.`;
}

export function drawCurve() {
  if (state.path) { showPath(); return; }
  const counts = PERCEPTRONS.includes(state.spec.learner);
  const values = once("values", () => epochValues(counts));
  const now = state.at > 0 ? state.steps[state.at - 1].epoch - 1 : 0;
  const name = isCertified() ? "Digits proved" : counts ? "Mistakes" : "Mean loss";
  const unit = isCertified() ? "iteration" : "epoch";
  const held = once("held", () => (state.held.length && state.steps.length && !isCertified() ? heldOutCurves() : []));
  $("curveTitle").textContent = isCertified() ? "Iterations" : "Epochs";
  const text = values.length ? `${name} of each ${unit}: first ${format(values[0])}, last ${format(values[values.length - 1])}.` : "This learner has no epochs: its weights are computed at once.";
  $("measure").textContent = held.length ? `${text} Drawn: the error rates at the end of each epoch.` : text;
  $("curve").hidden = values.length === 0;
  drawCurves($("curve"), held.length ? held : [{ name, values, colour: "accent" }], { now, x: unit });
}

/** The measure of each epoch: mistakes, the mean loss, or the proved digits. @param {boolean} counts @returns {number[]} */
function epochValues(counts) {
  /** @type {number[]} */ const sums = [];
  for (const { epoch, loss } of state.steps) sums[epoch - 1] = (sums[epoch - 1] ?? 0) + loss;
  return isCertified() ? sums.map(provedDigits) : counts ? sums : sums.map((v) => v / state.training.length);
}

/** The error rates of training and held-out rows at the end of each epoch; none if they are too much work. */
function heldOutCurves() {
  const { steps, features, data: { y } } = state;
  const ends = steps.flatMap((/** @type {any} */ s, /** @type {number} */ k) => (steps[k + 1]?.epoch === s.epoch ? [] : [k + 1]));
  if (ends.length * (steps.length + features.length) > MAX_VALIDATION) return [];
  const values = ends.map((/** @type {number} */ t) => predictor(state.spec, steps, t, weightsAt(t)));
  const rates = (/** @type {number[]} */ rows) => values.map((/** @type {any} */ value) => errorRate(value, rows.map((i) => features[i]), rows.map((i) => y[i])));
  return [{ name: "held out", values: rates(state.held), colour: "positive" }, { name: "training", values: rates(state.training), colour: "accent" }];
}

function showPath() {
  $("curveTitle").textContent = "Path";
  $("curve").hidden = false;
  const zero = state.closed ? state.closed.slice(1).filter((/** @type {number} */ w) => w === 0).length : 0;
  $("measure").textContent = `The weights over α, from the α at which all are 0. At this α, ${zero} of ${state.features[0].length} are exactly 0.`;
  drawPath($("curve"), state.path, state.spec.alpha, degree() === 1 ? state.data.columns : []);
}

/** The value of the slider at the present alpha, evenly spaced in its logarithm, and back. */
export const sliderOf = (/** @type {number} */ alpha) => { const [low, high] = pathRange(state.path); return 300 * (Math.log(high / Math.max(alpha, low)) / Math.log(high / low)); };
export const alphaOf = (/** @type {number} */ slider) => { const [low, high] = pathRange(state.path ?? [{ alpha: 1 }]); return Number((high * (low / high) ** (slider / 300)).toPrecision(4)); };

// ------------------------------------------------------------------ errors on held-out rows

export function clearErrors() {
  $("errors").hidden = true;
  $("errorText").textContent = "";
}

/** Draw errors, if the fits are not too much work. @param {number} fits @param {string} x @param {string} by @param {() => any[]} compute */
function showErrors(fits, x, by, compute) {
  const work = fits * state.data.X.length * (isClosed() || isCertified() ? 20 : state.spec.epochs);
  clearErrors();
  if (work > MAX_VALIDATION || tooWide()) { $("errorText").textContent = "Too much work for this page. Take fewer epochs or folds."; return; }
  const errors = compute();
  const at = (/** @type {number} */ k) => errors[k][by] ?? k + 1;
  $("errors").hidden = false;
  drawCurves($("errors"), [{ name: "held out", values: errors.map((e) => e.held), colour: "positive" }, { name: "training", values: errors.map((e) => e.training), colour: "accent" }], { x, ends: [at(0), at(errors.length - 1)] });
  const best = errors.reduce((k, e, i) => (e.held < errors[k].held ? i : k), 0);
  const mean = meanErrors(errors);
  $("errorText").textContent = by === "turn" ? `Mean error: held out ${format(mean.held)}, training ${format(mean.training)}.` : `Smallest held-out error ${format(errors[best].held)} at ${x} ${at(best)}; there the training error is ${format(errors[best].training)}.`;
}

export function listenToErrors() {
  const turns = () => (state.turns.length ? state.turns : turnsOf(state.data.X.length, "folds", seed()));
  $("allTurns").onclick = () => showErrors(turns().length, "turn", "turn", () => validate(state.spec, state.features, state.data.y, turns()));
  $("byRows").onclick = () => showErrors(40, "training rows", "rows", () => learningCurve(state.spec, state.features, state.data.y, seed()));
  $("byDegree").onclick = () => showErrors(5 * turns().length, "degree", "degree", () => errorsByDegree(state.spec, state.data.X, state.data.y, turns()));
}
