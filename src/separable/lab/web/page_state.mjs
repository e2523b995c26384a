// What the page shows: rows, settings, steps, and what follows from them.
import { score } from "./algebra.mjs";
import { deciding, separability } from "./exact.mjs";
import { CERTIFIED, CLOSED, initial, meanWeights, permutation, products, run } from "./kernels.mjs";
import { lassoPath } from "./optimum.mjs";
import { turnsOf, without } from "./validation.mjs";
import { advance, tallyOf } from "./votes.mjs";

/** The data sets by name: columns, classes, X, y, and the truth of simulated rows. */
export const EXAMPLES = JSON.parse(/** @type {any} */ (document.getElementById("data")).textContent);
/** The controls whose values make up the address. */
export const SETTINGS = ["example", "units", "degree", "learner", "loss", "ties", "eta", "alpha", "C", "prior", "epochs", "order", "seed", "start", "view", "validation", "turn", "lessonName", "student"];
export const PERCEPTRONS = ["perceptron", "averaged", "voted", "batch"];
/** Most features for which a learner is computed at once or to its optimum. */
export const MAX_FEATURES = 100;
/** Most steps that are kept, and most numbers in their weights. */
const MAX_STEPS = 100_000;
const MAX_WEIGHTS = 2_000_000;
/** Most numbers whose separability is decided before the page is drawn. */
const FEW_NUMBERS = 200;
/** Milliseconds without a change of the rows, before the separability of more numbers is decided. */
const PAUSE = 120;
/** Milliseconds that are computed at a time, and in all before the page gives up. */
const SLICE = 15;
const MAX_DECIDING = 8000;

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/** @type {any} `verdict` is undefined while it is computed, null if this page does not decide it;
 * `memo` holds what follows from the steps, `layers` what is drawn under the moving parts. */
export const state = {
  data: null, edited: false, features: [], verdict: undefined, deciding: 0, hulls: null, path: null,
  turns: [], held: [], training: [], learned: { X: [], y: [] }, spec: null, steps: [], closed: null,
  at: 0, timer: null, selected: -1, view: null, box: null, outside: false, layers: null, memo: new Map(), wanted: null,
};

export const isClosed = () => state.spec.learner in CLOSED;
export const isCertified = () => state.spec.learner in CERTIFIED;
export const isVoting = () => state.spec.learner === "voted" && state.at > 0;
export const descends = () => ["sgd", "widrow_hoff"].includes(state.spec.learner);
export const tooWide = () => (state.features[0]?.length ?? 0) > MAX_FEATURES;
export const seed = () => Math.abs(Math.floor(Number($("seed").value) || 0));
export const isStandard = () => $("units").value === "standard";
export const degree = () => Number($("degree").value);

/** A value that depends on the steps alone, computed once. @template T @param {string} key @param {() => T} compute @returns {T} */
export function once(key, compute) {
  if (!state.memo.has(key)) state.memo.set(key, compute());
  return state.memo.get(key);
}

/** The settings of the learner, as the controls have them. */
function specOf() {
  const number = (/** @type {string} */ id) => Number($(id).value) || 0;
  const most = Math.min(1000, Math.floor(Math.min(MAX_STEPS, MAX_WEIGHTS / ((state.features[0]?.length ?? 0) + 1)) / Math.max(1, state.training.length)));
  return {
    learner: $("learner").value, loss: $("loss").value, ties: $("ties").value, eta: number("eta"), alpha: Math.max(0, number("alpha")), C: Math.max(1e-6, number("C")),
    prior: number("prior") > 0 && number("prior") < 1 ? number("prior") : undefined,
    epochs: Math.max(1, Math.min(most, Math.floor(number("epochs")))),
    start: /** @type {number[]} */ ($("start").value.split(/[,;\s]+/).filter(Boolean).map((/** @type {string} */ v) => Number(v) || 0)),
    order: $("order").value === "random" ? permutation(state.training.length, seed()) : undefined,
  };
}

/** The rows that are held out in the turn that is shown, and those that the learner sees. */
function holdOut() {
  const n = state.data.X.length;
  state.turns = turnsOf(n, $("validation").value, seed());
  const turn = Math.min(state.turns.length, Math.max(1, Math.floor(Number($("turn").value) || 1)));
  state.held = state.turns[turn - 1] ?? [];
  state.training = without(n, state.held);
  state.learned = { X: state.training.map((/** @type {number} */ i) => state.features[i]), y: state.training.map((/** @type {number} */ i) => state.data.y[i]) };
}

/** Compute the features after a change of the rows or of the degree, and their separability.
 * @param {() => void} decided called when the separability of many rows is known */
export function prepare(decided) {
  state.features = state.data.X.map((/** @type {number[]} */ x) => products(x, degree()));
  state.hulls = null;
  clearTimeout(state.deciding);
  if (state.features.length * (state.features[0]?.length ?? 0) <= FEW_NUMBERS) { state.verdict = separability(state.features, state.data.y); return; }
  state.verdict = undefined;
  state.deciding = setTimeout(() => decideInSlices(deciding(state.features, state.data.y), 0, decided), PAUSE);
}

/** Decide separability in slices of time, so that the page stays usable; give up after some seconds.
 * @param {ReturnType<typeof deciding>} steps @param {number} spent milliseconds @param {() => void} decided */
function decideInSlices(steps, spent, decided) {
  const begin = performance.now();
  let step = steps.next();
  while (!step.done && performance.now() < begin + SLICE) step = steps.next();
  const all = spent + performance.now() - begin;
  if (!step.done && all < MAX_DECIDING) { state.deciding = setTimeout(() => decideInSlices(steps, all, decided), 0); return; }
  state.verdict = step.done ? step.value : null;
  decided();
}

/** Compute all steps. @param {{keep?: boolean}} options whether the page stays at its step */
export function learn({ keep = false } = {}) {
  holdOut();
  state.spec = specOf();
  state.memo = new Map();
  const { X, y } = state.learned;
  if (isCertified()) state.spec.start = [];
  if (state.features.length) state.spec.start = initial(state.spec, state.features);
  const computable = y.includes(-1) && y.includes(1) && !tooWide();
  state.path = state.spec.learner === "lasso" && computable ? lassoPath(X, y) : null;
  state.closed = isClosed() && computable ? CLOSED[state.spec.learner](state.spec, X, y) : null;
  state.steps = isClosed() || (isCertified() && !computable) ? [] : run(state.spec, X, y);
  for (const step of state.steps) if (step.row >= 0) step.row = state.training[step.row];
  state.at = keep ? Math.min(state.at, state.steps.length) : 0;
}

/** The weights after step t. @param {number} t @returns {number[]} */
export function weightsAt(t) {
  if (isClosed()) return state.closed ?? state.spec.start.map(() => 0);
  return t > 0 ? state.steps[t - 1].weights : state.spec.start;
}

/** The weights whose boundary is drawn: the mean of an averaged perceptron, else the current ones. */
export const boundary = () => (state.spec.learner === "averaged" && state.at > 0 ? meanWeights(state.steps, state.at) : weightsAt(state.at));

/** The present scores of all rows; of the voted perceptron the votes. @returns {ArrayLike<number>} */
export function rowScores() {
  if (isVoting()) return advance(once("tally", () => tallyOf(state.features)), state.steps, state.at);
  const weights = boundary();
  return state.features.map((/** @type {number[]} */ x) => score(weights, x));
}

/** The number of updates up to step t. @param {number} t */
export function updatesUntil(t) {
  const counts = once("updates", () => {
    let sum = 0;
    return state.steps.map((/** @type {any} */ s) => { sum += s.changed ? 1 : 0; return sum; });
  });
  return t > 0 ? counts[t - 1] : 0;
}
