// The page: data, controls, the plane, the log of steps and the curve of mistakes.
import { dot, score, solve } from "./algebra.mjs";
import { drawEllipse, drawNeedle, drawPath, drawSurface, pathRange, provedDigits } from "./charts.mjs";
import { lassoPath } from "./optimum.mjs";
import { CERTIFIED, CLOSED, LOSSES, initial, meanWeights, permutation, predictor, products, run, voters, withinClasses } from "./kernels.mjs";
import { MAX_NUMBERS, hull, nearest, separability } from "./exact.mjs";
import { MAX_BYTES, MAX_ROWS, dataOf } from "./csv.mjs";
import { firstSettings, openLesson, prepareLessons } from "./lesson_view.mjs";
import { pythonCode } from "./python.mjs";
import { errorRate, errorsByDegree, learningCurve, meanErrors, turnsOf, validate, without } from "./validation.mjs";
import { clipped, colour, drawArrow, drawAxes, drawCurves, drawLine, drawNormal, drawPoint, drawZero, forgetColours, format, frameOf, label, shade, viewOf } from "./drawing.mjs";

const EXAMPLES = JSON.parse(document.getElementById("data").textContent);
/** The controls whose values make up the address. */
const SETTINGS = ["example", "degree", "learner", "loss", "ties", "eta", "alpha", "C", "prior", "epochs", "order", "seed", "start", "view", "validation", "turn", "lessonName", "student"];
const PERCEPTRONS = ["perceptron", "averaged", "voted", "batch"];
/** The learners that each control is for. */
const USED_BY = { loss: ["sgd"], alpha: ["ridge", "lasso"], path: ["lasso"], C: ["logistic", "svm"], prior: ["lda", "naive_bayes"], ties: PERCEPTRONS };
/** The controls of learners that take one row, or all, at a time. */
const STEP_CONTROLS = ["eta", "epochs", "order", "start", "seed"];
/** Most features for which a learner is computed at once or to its optimum. */
const MAX_FEATURES = 100;
/** Most rows that the surface of a loss is computed from. */
const SURFACE_ROWS = 200;
/** Most work, in rows times epochs times fits, that the errors on held-out rows may cost. */
const MAX_VALIDATION = 4_000_000;
/** Largest number of scores that one shading computes. */
const MAX_SCORES = 2_000_000;
const LOG_ROWS = 14;
const $ = (id) => document.getElementById(id);
const state = { hulls: null, path: null, turns: [], held: [], training: [], learned: { X: [], y: [] }, data: null, edited: false, features: [], spec: null, steps: [], closed: null, at: 0, verdict: null, timer: null, selected: -1, view: null, box: null };

const vector = (w) => `(${w.slice(0, 7).map(format).join(", ")}${w.length > 7 ? ", …" : ""})`;
const isClosed = () => state.spec.learner in CLOSED;
const isCertified = () => state.spec.learner in CERTIFIED;
const descends = () => ["sgd", "widrow_hoff"].includes(state.spec.learner);

// ------------------------------------------------------------------ learning

function specOf() {
  const number = (id) => Number($(id).value) || 0;
  return {
    learner: $("learner").value, loss: $("loss").value, ties: $("ties").value, eta: number("eta"), alpha: Math.max(0, number("alpha")), C: Math.max(1e-6, number("C")),
    prior: number("prior") > 0 && number("prior") < 1 ? number("prior") : undefined,
    epochs: Math.min(1000, Math.max(1, Math.floor(number("epochs")))),
    start: $("start").value.split(/[,;\s]+/).filter(Boolean).map((v) => Number(v) || 0),
    order: $("order").value === "random" ? permutation(state.training.length, seed()) : undefined,
  };
}

const seed = () => Math.abs(Math.floor(Number($("seed").value) || 0));

/** The rows that are held out in the turn that is shown, and those that the learner sees. */
function holdOut() {
  const n = state.data.X.length;
  state.turns = turnsOf(n, $("validation").value, seed());
  const turn = Math.min(state.turns.length, Math.max(1, Math.floor(Number($("turn").value) || 1)));
  state.held = state.turns[turn - 1] ?? [];
  state.training = without(n, state.held);
  state.learned = { X: state.training.map((i) => state.features[i]), y: state.training.map((i) => state.data.y[i]) };
}

function learn({ keep = false } = {}) {
  const { X, y } = state.data;
  const degree = Number($("degree").value);
  state.features = X.map((x) => products(x, degree));
  holdOut();
  state.spec = specOf();
  const learned = state.learned;
  if (isCertified()) state.spec.start = [];
  if (X.length) state.spec.start = initial(state.spec, state.features);
  const computable = learned.y.includes(-1) && learned.y.includes(1) && !tooWide();
  state.path = state.spec.learner === "lasso" && computable ? lassoPath(learned.X, learned.y) : null;
  state.closed = isClosed() && computable ? CLOSED[state.spec.learner](state.spec, learned.X, learned.y) : null;
  state.steps = isClosed() || (isCertified() && !computable) ? [] : run(state.spec, learned.X, learned.y);
  for (const step of state.steps) if (step.row >= 0) step.row = state.training[step.row];
  clearErrors();
  state.at = keep ? Math.min(state.at, state.steps.length) : 0;
  state.verdict = separability(state.features, y);
  state.hulls = null;
  show();
}

const tooWide = () => (state.features[0]?.length ?? 0) > MAX_FEATURES;

/** The weights after step t. */
function weightsAt(t) {
  if (isClosed()) return state.closed ?? state.spec.start.map(() => 0);
  return t > 0 ? state.steps[t - 1].weights : state.spec.start;
}

/** The weights whose boundary is drawn: the mean of an averaged perceptron, else the current ones. */
const boundary = () => (state.spec.learner === "averaged" && state.at > 0 ? meanWeights(state.steps, state.at) : weightsAt(state.at));

// ------------------------------------------------------------------ the plane

/** How rows are projected to the plane, and how points of the plane are rows: two columns, the others at their
 * mean; or the plane of w and of the direction in which the rows vary most at a right angle to it. */
function projection() {
  const { X, columns } = state.data;
  if ($("view").value === "w" && Math.hypot(...boundary().slice(1)) > 0) return alongW(boundary());
  const [j, k] = $("view").value.includes(",") ? $("view").value.split(",").map(Number) : [0, 1];
  const middle = columns.map((_, i) => X.reduce((sum, x) => sum + x[i], 0) / Math.max(1, X.length));
  return { names: [columns[j], columns[k]], flat: (x) => [x[j], x[k]], row: (p) => middle.map((m, i) => (i === j ? p[0] : i === k ? p[1] : m)) };
}

function alongW([, ...w]) {
  const length = Math.hypot(...w);
  const u = w.map((v) => v / length);
  const across = (x) => { const s = dot(x, u); return x.map((v, i) => v - s * u[i]); };
  const mean = u.map((_, i) => state.data.X.reduce((sum, x) => sum + x[i], 0) / state.data.X.length);
  const rest = state.data.X.map((x) => across(x.map((v, i) => v - mean[i])));
  let v = across(u.map((_, i) => 1 / (i + 1)));
  for (let k = 0; k < 50; k += 1) { // power iteration
    const next = across(rest.reduce((sum, x) => { const s = dot(x, v); return sum.map((a, i) => a + s * x[i]); }, u.map(() => 0)));
    const size = Math.hypot(...next);
    if (!(size > 0)) break;
    v = next.map((a) => a / size);
  }
  return { names: ["along w", "across"], flat: (x) => [dot(x, u), dot(x, v)], row: (p) => u.map((a, i) => p[0] * a + p[1] * v[i]) };
}

function boxOf(points) {
  return [0, 1].map((j) => {
    const side = points.length ? points.map((p) => p[j]) : [-1, 1];
    const [low, high] = [Math.min(...side), Math.max(...side)];
    const pad = 0.25 * (high - low || 1);
    return [low - pad, high + pad];
  });
}

/** The boundary of weights in the plane as [b, w1, w2], for features of degree 1. */
function lineOf(weights, flatten) {
  const at = (p) => score(weights, flatten.row(p));
  return [at([0, 0]), at([1, 0]) - at([0, 0]), at([0, 1]) - at([0, 0])];
}

function drawPlane() {
  const { context: c, width, height } = frameOf($("plane"));
  const flatten = projection();
  const points = state.data.X.map(flatten.flat);
  if ($("view").value === "w" || state.box === null) state.box = boxOf(points);
  const view = viewOf(state.box, width, height);
  state.view = { ...view, flatten };
  const degree = Number($("degree").value);
  const voting = state.spec.learner === "voted" && state.at > 0;
  shadePlane(c, view, flatten, degree, voting);
  if (degree === 1 && state.data.columns.length === 2) drawProof(c, view);
  if (degree === 1) drawLines(c, view, flatten, voting);
  if (degree === 1 && state.data.columns.length === 2) drawEllipses(c, view);
  drawAxes(c, view, flatten.names);
  const row = state.at > 0 ? state.steps[state.at - 1].row : -1;
  points.forEach((p, i) => drawPoint(c, view.to(p), state.data.y[i], { ring: i === row || i === state.selected, hollow: state.held.includes(i) }));
  $("plane").setAttribute("aria-label", `${points.length} rows. ${$("badge").textContent} ${$("now").textContent}`);
}

function shadePlane(c, view, flatten, degree, voting) {
  const voterCount = voting ? voters(state.steps, state.at).length : 1;
  const cell = Math.max(degree > 1 || voting ? 4 : 3, Math.ceil(Math.sqrt((view.width * view.height * voterCount) / MAX_SCORES)));
  const grid = shade(c, view, cell, plainValue(flatten, degree, voting), voting ? state.at : 0);
  if (degree > 1 || voting) drawZero(c, grid, colour("ink"));
}

/** The score of a point of the plane; a line has three numbers. */
function plainValue(flatten, degree, voting) {
  if (degree === 1 && !voting) {
    const [b, w1, w2] = lineOf(boundary(), flatten);
    return (p) => b + w1 * p[0] + w2 * p[1];
  }
  const value = predictor(state.spec, state.steps, state.at, weightsAt(state.at));
  return (p) => value(products(flatten.row(p), degree));
}

function drawLines(c, view, flatten, voting) {
  if (voting) {
    for (const { weights, votes } of voters(state.steps, state.at).slice(-40)) {
      c.globalAlpha = 0.15 + (0.6 * votes) / state.at;
      drawLine(c, view, lineOf(weights, flatten), { stroke: colour("quiet"), width: 1 });
    }
    c.globalAlpha = 1;
    return;
  }
  if (state.at > 0) drawLine(c, view, lineOf(weightsAt(state.at - 1), flatten), { stroke: colour("quiet"), dash: [6, 5], width: 1.5 });
  const line = lineOf(boundary(), flatten);
  drawLine(c, view, line, { stroke: colour("ink") });
  drawNormal(c, view, line);
}

/** The proof of the verdict: the widest slab, or the hulls that meet and the rows that cancel. */
function drawProof(c, view) {
  const { X, y } = state.data;
  if (!$("proof").checked || !state.verdict || X.length === 0) return;
  const hulls = state.hulls ??= [-1, 1].map((side) => hull(X, X.map((_, i) => i).filter((i) => y[i] === side)).map((i) => X[i]));
  if (hulls.some((h) => h.length === 0)) return;
  hulls.forEach((h, k) => outline(c, view, h, colour(k ? "positive" : "negative"), 1));
  if (!state.verdict.separable) {
    for (const side of [-1, 1]) outline(c, view, hull(X, state.verdict.rows.filter((i) => y[i] === side)).map((i) => X[i]), colour("ink"), 2);
    return;
  }
  const { from, to } = nearest(...hulls);
  const w = [to[0] - from[0], to[1] - from[1]];
  for (const p of [from, to]) drawLine(c, view, [-(w[0] * p[0] + w[1] * p[1]), ...w], { stroke: colour("good"), dash: [3, 3], width: 1.5 });
}

function outline(c, view, corners, stroke, width) {
  c.beginPath();
  corners.forEach((p, i) => c[i ? "lineTo" : "moveTo"](...view.to(p)));
  c.closePath();
  Object.assign(c, { strokeStyle: stroke, lineWidth: width });
  c.stroke();
}

/** One, two and three standard deviations of each Gaussian class. */
function drawEllipses(c, view) {
  if (!["lda", "naive_bayes"].includes(state.spec.learner) || !state.closed) return;
  const { low, high, covariance: [[a, b], [, d]] } = withinClasses(state.learned.X, state.learned.y);
  const shared = [[a, state.spec.learner === "lda" ? b : 0], [0, d]];
  for (const sigmas of [1, 2, 3]) {
    drawEllipse(c, view, low, shared, sigmas, colour("negative"));
    drawEllipse(c, view, high, shared, sigmas, colour("positive"));
  }
}

/** Beside the curve: the certificate, the surface of the loss, or the update of w. */
function drawBeside() {
  $("vectorsTitle").textContent = isCertified() ? "Certificate" : descends() ? "Loss and path of w" : "Update of w";
  const step = state.steps[state.at - 1];
  if (isCertified()) {
    drawNeedle($("vectors"), step ? step.loss : 1);
    $("update").textContent = step ? `The optimum lies between ${format(step.certificate.dual)} and ${format(step.certificate.primal)}.` : "";
  } else if (descends() && state.features[0]?.length > 1) drawLossSurface(); else drawVectors();
}

function drawLossSurface() {
  const { width, height } = $("vectors").getBoundingClientRect();
  const weights = [state.spec.start, ...state.steps.map((s) => s.weights)];
  const view = viewOf(boxOf(weights.map((w) => [w[1], w[2]])), width, height);
  const [b, , , ...rest] = weightsAt(state.at);
  const value = LOSSES[state.spec.learner === "sgd" ? state.spec.loss : "squared_error"].value;
  const every = Math.ceil(state.features.length / SURFACE_ROWS);
  const rows = state.features.map((_, i) => i).filter((i) => i % every === 0);
  const loss = (w) => rows.reduce((sum, i) => sum + value(score([b, w[0], w[1], ...rest], state.features[i]), state.data.y[i]), 0);
  drawSurface($("vectors"), weights.slice(0, state.at + 1).map((w) => [w[1], w[2]]), loss, view);
  $("update").textContent = "Darker: a smaller mean loss over (w₁, w₂), with the present b. The line: the weights so far.";
}

/** The update in the space of (w1, w2): the old w, the step added head to tail, the new w. */
function drawVectors() {
  const { context: c, width, height } = frameOf($("vectors"));
  const [before, after] = [weightsAt(Math.max(0, state.at - 1)), weightsAt(state.at)].map((w) => w.slice(1, 3));
  const scale = Math.min(...[0, 1].map((j) => ((j ? height : width) / 2 - 22) / Math.max(...[before, after].map((w) => Math.abs(w[j])), 1e-12)));
  const to = (w) => [width / 2 + scale * w[0], height / 2 - scale * w[1]];
  Object.assign(c, { strokeStyle: colour("line"), lineWidth: 1 });
  c.beginPath();
  c.moveTo(0, height / 2); c.lineTo(width, height / 2); c.moveTo(width / 2, 0); c.lineTo(width / 2, height);
  c.stroke();
  label(c, "w₁", width - 6, height / 2 - 5, undefined, undefined, "right");
  label(c, "w₂", width / 2 + 5, 12);
  const origin = to([0, 0]);
  drawArrow(c, origin, to(before), colour("quiet"), [4, 4]);
  drawArrow(c, to(before), to(after), colour("accent"));
  drawArrow(c, origin, to(after), colour("ink"));
  const changed = state.at > 0 && state.steps[state.at - 1].changed;
  $("update").textContent = isClosed() ? "w" : changed ? "Before (dashed), the update added to it, after." : "No update in this step: w stays.";
}

function showCurve() {
  if (state.path) { showPath(); return; }
  const counts = PERCEPTRONS.includes(state.spec.learner);
  const values = epochValues(counts);
  const now = state.at > 0 ? state.steps[state.at - 1].epoch - 1 : 0;
  const name = isCertified() ? "Digits proved" : counts ? "Mistakes" : "Mean loss";
  const unit = isCertified() ? "iteration" : "epoch";
  $("curveTitle").textContent = isCertified() ? "Iterations" : "Epochs";
  $("measure").textContent = values.length ? `${name} of each ${unit}: first ${format(values[0])}, last ${format(values[values.length - 1])}.` : "This learner has no epochs: its weights are computed at once.";
  const held = state.held.length && state.steps.length && !isCertified() ? heldOutCurves() : [];
  if (held.length) $("measure").textContent += " Drawn: the error rates at the end of each epoch.";
  drawCurves($("curve"), held.length ? held : [{ name, values, colour: "accent" }], { now, x: unit });
}

/** The error rates of training and held-out rows at the end of each epoch; none if they are too much work. */
function heldOutCurves() {
  const ends = state.steps.flatMap((s, k) => (state.steps[k + 1]?.epoch === s.epoch ? [] : [k + 1]));
  if (ends.length * (state.steps.length + state.data.X.length) > MAX_VALIDATION) return [];
  const values = ends.map((t) => predictor(state.spec, state.steps, t, weightsAt(t)));
  const rates = (rows) => values.map((value) => errorRate(value, rows.map((i) => state.features[i]), rows.map((i) => state.data.y[i])));
  return [{ name: "held out", values: rates(state.held), colour: "positive" }, { name: "training", values: rates(state.training), colour: "accent" }];
}

// ------------------------------------------------------------------ errors on held-out rows

function clearErrors() {
  $("errors").hidden = true;
  $("errorText").textContent = "";
}

/** Draw errors, if the fits are not too much work. @param {number} fits @param {string} x @param {string} by @param {() => object[]} compute */
function showErrors(fits, x, by, compute) {
  const work = fits * state.data.X.length * (isClosed() || isCertified() ? 20 : state.spec.epochs);
  clearErrors();
  if (work > MAX_VALIDATION || tooWide()) { $("errorText").textContent = "Too much work for this page. Take fewer epochs or folds."; return; }
  const errors = compute();
  const at = (k) => errors[k][by] ?? k + 1;
  $("errors").hidden = false;
  drawCurves($("errors"), [{ name: "held out", values: errors.map((e) => e.held), colour: "positive" }, { name: "training", values: errors.map((e) => e.training), colour: "accent" }], { x, ends: [at(0), at(errors.length - 1)] });
  const best = errors.reduce((k, e, i) => (e.held < errors[k].held ? i : k), 0);
  const mean = meanErrors(errors);
  $("errorText").textContent = by === "turn" ? `Mean error: held out ${format(mean.held)}, training ${format(mean.training)}.` : `Smallest held-out error ${format(errors[best].held)} at ${x} ${at(best)}; there the training error is ${format(errors[best].training)}.`;
}

function listenToErrors() {
  const turns = () => (state.turns.length ? state.turns : turnsOf(state.data.X.length, "folds", seed()));
  $("allTurns").onclick = () => showErrors(turns().length, "turn", "turn", () => validate(state.spec, state.features, state.data.y, turns()));
  $("byRows").onclick = () => showErrors(40, "training rows", "rows", () => learningCurve(state.spec, state.features, state.data.y, seed()));
  $("byDegree").onclick = () => showErrors(5 * turns().length, "degree", "degree", () => errorsByDegree(state.spec, state.data.X, state.data.y, turns()));
}

/** The measure of each epoch: mistakes, the mean loss, or the proved digits. */
function epochValues(counts) {
  const sums = [];
  for (const { epoch, loss } of state.steps) sums[epoch - 1] = (sums[epoch - 1] ?? 0) + loss;
  return isCertified() ? sums.map(provedDigits) : counts ? sums : sums.map((v) => v / state.training.length);
}

function showPath() {
  $("curveTitle").textContent = "Path";
  const zero = state.closed ? state.closed.slice(1).filter((w) => w === 0).length : 0;
  $("measure").textContent = `The weights over α, from the α at which all are 0. At this α, ${zero} of ${state.features[0].length} are exactly 0.`;
  drawPath($("curve"), state.path, state.spec.alpha, Number($("degree").value) === 1 ? state.data.columns : []);
}

// ------------------------------------------------------------------ words

function show() {
  showVerdict();
  showControls();
  $("now").textContent = nowText();
  drawPlane();
  drawBeside();
  showCurve();
  showLog();
  showPython();
  history.replaceState(null, "", address());
}

/** The code in two parts: that of the rows, which a step does not change, and that of the learner. */
function showPython() {
  const [rows, learner] = $("python").children;
  const { X, y } = state.data;
  const example = state.edited || $("example").value === "file" ? null : $("example").value;
  const code = X.length ? pythonCode({ spec: state.spec, example, X, y, degree: Number($("degree").value), at: state.at, training: state.held.length ? state.training : undefined }) : "";
  const end = Math.max(code.lastIndexOf("\nlearner ="), code.lastIndexOf("\nfitted ="));
  const first = code.slice(0, end + 1);
  if (rows.textContent !== first) rows.textContent = first;
  learner.textContent = code.slice(end + 1);
}

function showVerdict() {
  const v = state.verdict;
  const badge = $("badge");
  badge.className = v ? (v.separable ? "yes" : "no") : "";
  badge.textContent = !v ? "Not decided here" : v.separable ? "Linearly separable (exact)" : "Not linearly separable (exact)";
  $("quadratic").hidden = !v || v.separable || $("degree").value !== "1";
  $("proofText").textContent = !v ? `More than ${MAX_NUMBERS} numbers. This decides: separable separability FILE --target COLUMN` : v.separable ? "" : cancelling(v);
}

/** The rows whose y (1, x) cancel, with their multipliers. */
function cancelling({ rows, multipliers }) {
  const total = multipliers.reduce((sum, m) => sum + m, 0n);
  const short = multipliers.every((m) => m < 10_000n);
  const part = (m) => (short ? String(m) : format(Number((m * 1_000_000n) / total) / 1e6));
  const side = (y) => rows.map((i, k) => (state.data.y[i] === y ? `${part(multipliers[k])}·(row ${i})` : "")).filter(Boolean).join(" + ");
  return `Proof: ${side(-1)} ${short ? "=" : "≈"} ${side(1)}, a point of both hulls.`;
}

function showControls() {
  const { columns, classes } = state.data;
  $("names").textContent = `● ${clipped(classes[0])} (−1)  ▲ ${clipped(classes[1])} (+1)${columns.length > 2 && $("view").value !== "w" ? ". The line is the boundary where the other columns are at their mean." : ""}`;
  for (const id of ["back", "step", "epoch", "run", "at", "speed"]) $(id).disabled = isClosed();
  $("at").max = String(state.steps.length);
  $("at").value = String(state.at);
  for (const [id, learners] of Object.entries(USED_BY)) $(id).parentElement.hidden = !learners.includes(state.spec.learner);
  for (const id of STEP_CONTROLS) $(id).parentElement.hidden = isClosed() || isCertified();
  if (state.turns.length) $("seed").parentElement.hidden = false;
  $("turn").parentElement.hidden = state.turns.length < 2;
  $("turn").max = String(state.turns.length);
  if (state.path) { const [low, high] = pathRange(state.path); $("path").value = String(300 * (Math.log(high / Math.max(state.spec.alpha, low)) / Math.log(high / low))); }
}

function nowText() {
  const { y } = state.data;
  const value = predictor(state.spec, state.steps, state.at, weightsAt(state.at));
  const wrong = (rows) => `${rows.filter((i) => (value(state.features[i]) > 0 ? 1 : -1) !== y[i]).length} of ${rows.length}`;
  const errors = `${wrong(state.training)} rows wrong${state.held.length ? `, of the held-out rows ${wrong(state.held)}` : ""}.`;
  if (isClosed() || isCertified()) if (tooWide()) return `More than ${MAX_FEATURES} features: not computed on this page. The Python code below computes it.`;
  if (isClosed()) return state.closed ? `(b, w) = ${vector(state.closed)}. ${errors}${discriminants()}` : "No unique solution: two classes and columns that vary independently are needed.";
  if (isCertified()) return state.steps.length ? `Iteration ${state.at} of ${state.steps.length}. (b, w) = ${vector(boundary())}. ${errors}` : "The learner needs rows of two classes.";
  const updates = state.steps.slice(0, state.at).filter((s) => s.changed).length;
  const mean = state.spec.learner === "averaged" && state.at > 0 ? "Mean (b, w)" : "(b, w)";
  return `Step ${state.at} of ${state.steps.length}, ${updates} updates. ${mean} = ${vector(boundary())}. ${errors}${boundText(updates)}`;
}

/** The discriminants of LDA: delta_k(x) = x'S^-1 mu_k - mu_k'S^-1 mu_k / 2 + log pi_k. */
function discriminants() {
  if (state.spec.learner !== "lda") return "";
  const { low, high, covariance } = withinClasses(state.learned.X, state.learned.y);
  const prior = state.spec.prior ?? state.learned.y.filter((v) => v === 1).length / state.learned.y.length;
  const text = [[low, 1 - prior, "−"], [high, prior, "+"]].map(([mean, pi, sign]) => {
    const w = solve(covariance, mean);
    const constant = Math.log(pi) - dot(w, mean) / 2;
    return `δ${sign}(x) = x·${vector(w)} ${constant < 0 ? "−" : "+"} ${format(Math.abs(constant))}`;
  });
  return ` ${text.join(", ")}.`;
}

/** Mistakes left by the bound (R / gamma)^2, with the margin gamma of the last weights of a run that converged. */
function boundText(updates) {
  const last = state.steps[state.steps.length - 1];
  if (state.spec.learner !== "perceptron" || !last || state.spec.start.some((w) => w !== 0)) return "";
  const norm = Math.hypot(...last.weights);
  const gamma = Math.min(...state.learned.X.map((x, i) => state.learned.y[i] * score(last.weights, x))) / norm;
  if (!(gamma > 0)) return "";
  const square = Math.max(...state.learned.X.map((x) => x.reduce((sum, v) => sum + v * v, 1)));
  const bound = Math.floor((square / gamma ** 2) * (1 + 1e-9));
  return ` By the bound at most ${bound} mistakes: ${bound - updates} left.`;
}

function showLog() {
  const first = Math.max(0, state.at - LOG_ROWS);
  const rows = state.steps.slice(first, state.at).map((s, k) => {
    const all = s.row < 0;
    const result = s.certificate ? `gap ${format(s.loss)}` : all ? `${s.loss} wrong` : s.changed ? "✗" : "✓";
    const line = element("tr", [first + k + 1, s.epoch, all ? "all" : s.row, all ? "" : format(state.data.y[s.row]), format(s.score), result].map((v) => element("td", [v])));
    if (s.changed) line.className = "changed";
    const vectors = [element("span", [vector(weightsAt(first + k))])];
    if (s.changed) vectors.push(" ", element("span", [`→ ${vector(s.weights)}`]));
    line.append(element("td", vectors));
    return line;
  });
  $("log").replaceChildren(...rows.reverse());
}

/** An element with text and other elements in it, never HTML. */
function element(tag, children) {
  const made = document.createElement(tag);
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

/** The state as an address; it never holds rows. */
function address() {
  return `#${new URLSearchParams([...SETTINGS.map((id) => [id, $(id).value]), ["at", String(state.at)]])}`;
}

// ------------------------------------------------------------------ actions

function choose(data) {
  stop();
  state.data = { ...data, X: data.X.map((x) => [...x]), y: [...data.y] };
  Object.assign(state, { selected: -1, edited: false, box: null });
  fillViews();
  learn();
}

/** The pairs of columns that can be drawn. */
function fillViews() {
  const { columns } = state.data;
  const before = $("view").value || state.wanted?.get("view");
  const pairs = columns.flatMap((a, j) => columns.slice(j + 1).map((b, k) => new Option(`${clipped(a)}, ${clipped(b)}`, `${j},${j + 1 + k}`)));
  const along = columns.length > 2 && $("degree").value === "1" ? [new Option("the plane that holds w", "w")] : [];
  $("view").replaceChildren(...along, ...pairs);
  $("view").value = [...$("view").options].some((o) => o.value === before) ? before : "0,1";
  $("view").parentElement.hidden = columns.length === 2;
}

function go(t) {
  state.at = Math.min(state.steps.length, Math.max(0, t));
  show();
}

function epochEnd() {
  const now = state.at < state.steps.length ? state.steps[state.at].epoch : 0;
  const end = state.steps.findLastIndex((s) => s.epoch === now);
  go(end < 0 ? state.steps.length : end + 1);
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

function edit(change) {
  change(state.data);
  state.edited = true;
  stop();
  learn({ keep: true });
}

function pointAt(event) {
  const { left, top } = $("plane").getBoundingClientRect();
  const at = [event.clientX - left, event.clientY - top];
  const near = state.data.X.findIndex((x) => { const q = state.view.to(state.view.flatten.flat(x)); return Math.hypot(q[0] - at[0], q[1] - at[1]) < 12; });
  return { near, row: state.view.flatten.row(state.view.from(at)).map((v) => Number(v.toPrecision(4))) };
}

/** Move a row in the drawn columns, and leave its other columns. */
function moveRow(i, row) {
  const [j, k] = $("view").value.split(",").map(Number);
  if ($("view").value !== "w") edit((d) => { d.X[i] = d.X[i].map((v, m) => (m === j || m === k ? row[m] : v)); });
}

function listenToPlane(plane) {
  let dragged = -1;
  plane.onpointerdown = (event) => {
    const { near, row } = pointAt(event);
    if (near >= 0 && event.shiftKey) edit((d) => { d.y[near] = -d.y[near]; });
    else if (near >= 0) { dragged = state.selected = near; plane.setPointerCapture(event.pointerId); show(); }
    else if (state.data.X.length < MAX_ROWS) edit((d) => { d.X.push(row); d.y.push(Number($("new").value)); });
  };
  plane.onpointermove = (event) => { if (dragged >= 0) moveRow(dragged, pointAt(event).row); };
  plane.onpointerup = () => { dragged = -1; };
}

function listen() {
  for (const id of SETTINGS) $(id).addEventListener("change", () => settingChanged(id));
  $("proof").addEventListener("change", show);
  $("path").oninput = slideAlong;
  $("step").onclick = () => { stop(); go(state.at + 1); };
  $("back").onclick = () => { stop(); go(state.at - 1); };
  $("epoch").onclick = () => { stop(); epochEnd(); };
  $("run").onclick = toggleRun;
  $("reset").onclick = () => choose(EXAMPLES[$("example").value]);
  $("quadratic").onclick = () => { $("degree").value = "2"; settingChanged("degree"); };
  $("flip").onclick = () => { if (state.selected >= 0) edit((d) => { d.y[state.selected] = -d.y[state.selected]; }); };
  $("remove").onclick = remove;
  $("copy").onclick = copyPython;
  $("at").oninput = () => { stop(); go(Number($("at").value)); };
  listenToErrors();
  listenToPlane($("plane"));
  document.addEventListener("keydown", onKey);
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", openAddress);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { forgetColours(); show(); });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => { event.preventDefault(); openFile(event.dataTransfer.files[0]); });
  $("file").addEventListener("change", () => openFile($("file").files[0]));
}

/** Take the alpha of the slider, evenly spaced in its logarithm. */
function slideAlong() {
  const [low, high] = pathRange(state.path ?? [{ alpha: 1 }]);
  $("alpha").value = String(Number((high * (low / high) ** (Number($("path").value) / 300)).toPrecision(4)));
  learn();
}

function settingChanged(id) {
  stop();
  if (id === "lessonName" || id === "student") { openLesson(); show(); return; }
  if (id === "example") { choose(EXAMPLES[$("example").value]); return; }
  if (id === "view") state.box = null;
  if (id === "degree") fillViews();
  learn({ keep: id === "view" });
}

function onKey(event) {
  if (["INPUT", "SELECT", "TEXTAREA", "BUTTON", "SUMMARY"].includes(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
  const steps = { ArrowRight: $("step").onclick, ArrowLeft: $("back").onclick, e: $("epoch").onclick, " ": toggleRun };
  const action = { ...(isClosed() ? {} : steps), r: $("reset").onclick, Delete: remove, Backspace: remove }[event.key];
  if (action) { event.preventDefault(); action(); }
}

function remove() {
  const i = state.selected;
  state.selected = -1;
  if (i >= 0 && state.data.X.length > 1) edit((d) => { d.X.splice(i, 1); d.y.splice(i, 1); });
}

async function copyPython() {
  getSelection().selectAllChildren($("python"));
  try { await navigator.clipboard.writeText($("python").textContent); $("copy").textContent = "Copied"; } catch { $("copy").textContent = "Selected: press Ctrl C"; }
}

async function openFile(file) {
  $("message").textContent = "";
  if (!file) return;
  try {
    choose(dataOf(file.size > MAX_BYTES ? " ".repeat(MAX_BYTES + 1) : await file.text()));
    state.edited = true;
    show();
  } catch (error) {
    $("message").textContent = error.message;
  }
}

/** Show the state that settings name, as an address holds them. @param {string} settings */
function openSettings(settings) {
  state.wanted = new URLSearchParams(settings);
  for (const id of SETTINGS) {
    const value = state.wanted.get(id);
    if (value !== null && ($(id).tagName !== "SELECT" || [...$(id).options].some((o) => o.value === value))) $(id).value = value;
  }
  choose(EXAMPLES[$("example").value]);
  const at = Number(state.wanted.get("at"));
  if (Number.isInteger(at)) go(at);
  state.wanted = null;
}

function openAddress() {
  openSettings(location.hash.slice(1) || firstSettings());
  openLesson();
}

for (const name of Object.keys(EXAMPLES)) $("example").append(new Option(EXAMPLES[name].title, name));
$("lessonName").value = prepareLessons({ open: openSettings, state: () => ({ ...state.data, steps: state.steps }) });
listen();
openAddress();
