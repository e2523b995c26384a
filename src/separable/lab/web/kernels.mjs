// The steps of the learners, one row at a time, as separable.learn.plain computes them.
// Weights are [b, w1, w2, ...]; targets are -1 and +1.

import { means, scatter, score, solve } from "./algebra.mjs";
import { lassoPath, logisticSteps, onPath, relativeGap, svmSteps } from "./optimum.mjs";

/** @typedef {{learner: string, loss?: string, eta: number, ties?: string, alpha?: number, C?: number, prior?: number,
 *   epochs: number, start?: number[], order?: number[]}} Spec */
/** @typedef {{epoch: number, row: number, score: number, changed: boolean, loss: number,
 *   weights: number[], certificate?: import("./optimum.mjs").Certificate}} Step */

/** @type {Record<string, number>} The target for which a score of 0 is right. */
export const TIES = { mistake: 0, negative: -1, positive: 1 };

const logistic = (/** @type {number} */ s) => 1 / (1 + Math.exp(-s));

/** @type {Record<string, {value: (s: number, y: number) => number, slope: (s: number, y: number) => number}>} */
export const LOSSES = {
  perceptron: { value: (s, y) => Math.max(0, -y * s), slope: (s, y) => (y * s <= 0 ? -y : 0) },
  hinge: { value: (s, y) => Math.max(0, 1 - y * s), slope: (s, y) => (y * s < 1 ? -y : 0) },
  squared_hinge: {
    value: (s, y) => Math.max(0, 1 - y * s) ** 2,
    slope: (s, y) => -2 * y * Math.max(0, 1 - y * s),
  },
  log_loss: {
    value: (s, y) => Math.max(0, -y * s) + Math.log1p(Math.exp(-Math.abs(s))),
    slope: (s, y) => -y / (1 + Math.exp(y * s)),
  },
  sigmoid_mse: {
    value: (s, y) => ((y + 1) / 2 - logistic(s)) ** 2,
    slope: (s, y) => -2 * y * logistic(y * s) * logistic(-y * s) ** 2,
  },
  squared_error: { value: (s, y) => (s - y) ** 2 / 2, slope: (s, y) => s - y },
};

/** @param {number} margin @param {number} y @param {number} tie */
const isMistake = (margin, y, tie) => margin < 0 || (margin === 0 && y !== tie);

/** Return weights + step (1, x). @param {number[]} weights @param {number} step @param {number[]} x */
const moved = (weights, step, x) => weights.map((w, j) => w + step * (j === 0 ? 1 : x[j - 1]));

/** Return all steps. @param {Spec} spec @param {number[][]} X @param {number[]} y @returns {Step[]} */
export function run(spec, X, y) {
  if (X.length === 0) return [];
  if (spec.learner === "batch") return runBatch(spec, X, y);
  if (spec.learner in CERTIFIED) return runCertified(spec, X, y);
  const order = spec.order ?? X.map((_, i) => i);
  const perceptron = ["perceptron", "averaged", "voted"].includes(spec.learner);
  const step = perceptron ? perceptronStep : descentStep;
  const steps = [];
  let weights = initial(spec, X);
  for (let epoch = 1; epoch <= spec.epochs; epoch += 1) {
    let mistakes = 0;
    for (const row of order) {
      const s = score(weights, X[row]);
      const [after, loss] = step(spec, weights, X[row], y[row], s);
      const changed = after.some((w, j) => w !== weights[j]);
      weights = after;
      mistakes += changed ? 1 : 0;
      steps.push({ epoch, row, score: s, changed, loss, weights });
    }
    if (perceptron && mistakes === 0) break;
  }
  return steps;
}

/** The start, filled up with zeros. @param {Spec} spec @param {number[][]} X */
export const initial = (spec, X) => [0, ...X[0]].map((_, j) => spec.start?.[j] ?? 0);

/** The learners whose steps are iterations with a certificate.
 * @type {Record<string, (X: number[][], y: number[], C: number) => import("./optimum.mjs").Iterate[]>} */
export const CERTIFIED = { logistic: logisticSteps, svm: svmSteps };

/** @param {Spec} spec @param {number[][]} X @param {number[]} y @returns {Step[]} */
function runCertified(spec, X, y) {
  if (!y.includes(-1) || !y.includes(1)) return [];
  return CERTIFIED[spec.learner](X, y, spec.C ?? 1).map(({ weights, certificate }, k) => ({
    epoch: k + 1, row: -1, score: NaN, changed: true, loss: relativeGap(certificate), weights, certificate,
  }));
}

/** The learners that have no steps: their weights, or null if they are not unique.
 * @type {Record<string, (spec: Spec, X: number[][], y: number[]) => number[] | null>} */
export const CLOSED = {
  least_squares: (_, X, y) => ridge(X, y, 0),
  ridge: (spec, X, y) => ridge(X, y, spec.alpha ?? 1),
  lasso: (spec, X, y) => onPath(lassoPath(X, y), spec.alpha ?? 1),
  lda: (spec, X, y) => lda(X, y, spec.prior),
  naive_bayes: (spec, X, y) => naiveBayes(X, y, spec.prior),
};

/** The score of a row after step t. @param {Spec} spec @param {Step[]} steps @param {number} t
 * @param {number[]} weights those after step t @returns {(x: number[]) => number} */
export function predictor(spec, steps, t, weights) {
  if (spec.learner === "voted" && t > 0) {
    const all = voters(steps, t);
    return (x) => vote(all, x);
  }
  const used = spec.learner === "averaged" && t > 0 ? meanWeights(steps, t) : weights;
  return (x) => score(used, x);
}

/** w += eta y x on a mistake.
 * @param {Spec} spec @param {number[]} w @param {number[]} x @param {number} y @param {number} s
 * @returns {[number[], number]} */
function perceptronStep(spec, w, x, y, s) {
  const wrong = isMistake(y * s, y, TIES[spec.ties ?? "mistake"]);
  return [wrong ? moved(w, spec.eta * y, x) : w, wrong ? 1 : 0];
}

/** w -= eta loss'(s) x; the Widrow-Hoff rule is this for the squared error.
 * @param {Spec} spec @param {number[]} w @param {number[]} x @param {number} y @param {number} s
 * @returns {[number[], number]} */
function descentStep(spec, w, x, y, s) {
  if (spec.learner === "widrow_hoff") return [moved(w, -spec.eta * (s - y), x), (s - y) ** 2];
  const { value, slope } = LOSSES[spec.loss ?? "log_loss"];
  return [moved(w, -spec.eta * slope(s, y), x), value(s, y)];
}

/** theta += eta (1/n) sum of y (1, x) over the mistakes. @param {Spec} spec @param {number[][]} X
 * @param {number[]} y @returns {Step[]} */
function runBatch(spec, X, y) {
  const tie = TIES[spec.ties ?? "mistake"];
  const steps = [];
  let weights = initial(spec, X);
  for (let epoch = 1; epoch <= spec.epochs; epoch += 1) {
    const before = weights;
    const wrong = X.map((_, i) => i).filter((i) => isMistake(y[i] * score(before, X[i]), y[i], tie));
    let delta = before.map(() => 0);
    for (const i of wrong) delta = moved(delta, y[i], X[i]);
    weights = before.map((w, j) => w + spec.eta * (delta[j] / X.length));
    const changed = weights.some((w, j) => w !== before[j]);
    steps.push({ epoch, row: -1, score: NaN, changed, loss: wrong.length, weights });
    if (wrong.length === 0 || delta.every((d) => d === 0)) break;
  }
  return steps;
}

/** @type {WeakMap<Step[], number[][]>} The sums of the weights after each step. */
const sums = new WeakMap();
/** @type {WeakMap<Step[], {weights: number[], first: number}[]>} */
const allVoters = new WeakMap();

/** The mean of the weights after steps 1 to t. @param {Step[]} steps @param {number} t */
export function meanWeights(steps, t) {
  let all = sums.get(steps);
  if (!all) {
    let sum = steps[0].weights.map(() => 0);
    all = steps.map(({ weights }) => { sum = sum.map((v, j) => v + weights[j]); return sum; });
    sums.set(steps, all);
  }
  return all[t - 1].map((s) => s / t);
}

/** The distinct weights of steps 1 to t, with the number of consecutive steps that each lasted.
 * @param {Step[]} steps @param {number} t @returns {{weights: number[], votes: number}[]} */
export function voters(steps, t) {
  const all = allVoters.get(steps) ?? steps.flatMap(({ weights, changed }, k) => (k === 0 || changed ? [{ weights, first: k }] : []));
  allVoters.set(steps, all);
  const last = all.findLastIndex(({ first }) => first < t);
  return all.slice(0, last + 1).map(({ weights, first }, k) => ({ weights, votes: Math.min(t, all[k + 1]?.first ?? t) - first }));
}

/** The votes for +1 less those for -1. @param {{weights: number[], votes: number}[]} all @param {number[]} x */
export const vote = (all, x) => all.reduce((sum, { weights, votes }) => sum + votes * Math.sign(score(weights, x)), 0);

/** Ridge by centred sums, (S + alpha I) w = S_y; alpha = 0 is least squares. @param {number[][]} X
 * @param {number[]} y @param {number} alpha */
export function ridge(X, y, alpha) {
  const mean = means(X);
  const yMean = y.reduce((a, v) => a + v, 0) / y.length;
  const centred = X.map((x) => x.map((v, j) => v - mean[j]));
  const S = scatter(centred);
  mean.forEach((_, j) => { S[j][j] += alpha; });
  const right = mean.map((_, j) => centred.reduce((a, x, i) => a + x[j] * (y[i] - yMean), 0));
  return through(solve(S, right), mean, yMean);
}

/** Means of both classes, and the covariance within them over N - 2. @param {number[][]} X @param {number[]} y */
export function withinClasses(X, y) {
  const [low, high] = [-1, 1].map((c) => means(X.filter((_, i) => y[i] === c)));
  const S = scatter(X.map((x, i) => x.map((v, j) => v - (y[i] === 1 ? high : low)[j])));
  return { low, high, covariance: S.map((row) => row.map((v) => v / (X.length - 2))) };
}

/** LDA of two classes: the log ratio of the posteriors; `prior` is that of +1, by default its fraction of the rows.
 * @param {number[][]} X @param {number[]} y @param {number} [prior] */
export function lda(X, y, prior = fraction(y)) {
  const { low, high, covariance } = withinClasses(X, y);
  const w = solve(covariance, high.map((v, j) => v - low[j]));
  return through(w, high.map((v, j) => (v + low[j]) / 2), Math.log(prior / (1 - prior)));
}

/** Gaussian naive Bayes with variances shared by both classes: LDA without correlations.
 * @param {number[][]} X @param {number[]} y @param {number} [prior] */
export function naiveBayes(X, y, prior = fraction(y)) {
  const { low, high, covariance } = withinClasses(X, y);
  const w = high.map((v, j) => (covariance[j][j] > 0 ? (v - low[j]) / covariance[j][j] : 0));
  return through(w, high.map((v, j) => (v + low[j]) / 2), Math.log(prior / (1 - prior)));
}

/** The fraction of +1. @param {number[]} y */
const fraction = (y) => y.filter((v) => v === 1).length / y.length;

/** @param {number[] | null} w @param {number[]} point @param {number} value */
const through = (w, point, value) =>
  w === null ? null : [value - w.reduce((a, v, j) => a + v * point[j], 0), ...w];

/** The products of columns up to a degree, by degree and then by columns. @param {number[]} x @param {number} degree */
export function products(x, degree) {
  /** @type {{value: number, last: number}[]} */
  let level = x.map((value, last) => ({ value, last }));
  const all = [...level];
  for (let k = 2; k <= degree; k += 1) {
    level = level.flatMap(({ value, last }) => x.slice(last).map((v, j) => ({ value: value * v, last: last + j })));
    all.push(...level);
  }
  return all.map(({ value }) => value);
}

/** Whole numbers below a bound for a seed (SplitMix64). @param {number} seed @returns {(bound: number) => number} */
export function generator(seed) {
  let state = BigInt(seed);
  return (bound) => {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    return Number(((z ^ (z >> 31n)) * BigInt(bound)) >> 64n);
  };
}

/** A permutation of n rows for a seed (Fisher-Yates). @param {number} n @param {number} seed */
export function permutation(n, seed) {
  const rows = Array.from({ length: n }, (_, i) => i);
  const below = generator(seed);
  for (let left = n; left > 1; left -= 1) {
    const chosen = below(left);
    [rows[left - 1], rows[chosen]] = [rows[chosen], rows[left - 1]];
  }
  return rows;
}
