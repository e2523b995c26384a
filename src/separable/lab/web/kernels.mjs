// The steps of the learners, one row at a time, as separable.learn.plain computes them.
// Weights are [b, w1, w2, ...]; targets are -1 and +1.

/** @typedef {{learner: string, loss?: string, eta: number, ties?: string, alpha?: number,
 *   epochs: number, start?: number[], order?: number[]}} Spec */
/** @typedef {{epoch: number, row: number, score: number, changed: boolean, loss: number,
 *   weights: number[]}} Step */

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

/** @param {number[]} weights @param {number[]} x */
export function score(weights, x) {
  let sum = 0;
  for (let j = 0; j < x.length; j += 1) sum += weights[j + 1] * x[j];
  return sum + weights[0];
}

/** @param {number} margin @param {number} y @param {number} tie */
const isMistake = (margin, y, tie) => margin < 0 || (margin === 0 && y !== tie);

/** Return weights + step (1, x). @param {number[]} weights @param {number} step @param {number[]} x */
const moved = (weights, step, x) => weights.map((w, j) => w + step * (j === 0 ? 1 : x[j - 1]));

/** Return all steps. @param {Spec} spec @param {number[][]} X @param {number[]} y @returns {Step[]} */
export function run(spec, X, y) {
  if (X.length === 0) return [];
  if (spec.learner === "batch") return runBatch(spec, X, y);
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

/** The learners that have no steps: their weights, or null if they are not unique.
 * @type {Record<string, (spec: Spec, X: number[][], y: number[]) => number[] | null>} */
export const CLOSED = {
  least_squares: (_, X, y) => ridge(X, y, 0),
  ridge: (spec, X, y) => ridge(X, y, spec.alpha ?? 1),
  lda: (_, X, y) => lda(X, y),
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

/** The mean of the weights after steps 1 to t. @param {Step[]} steps @param {number} t */
export function meanWeights(steps, t) {
  const sum = steps[0].weights.map(() => 0);
  for (const { weights } of steps.slice(0, t)) weights.forEach((w, j) => { sum[j] += w; });
  return sum.map((s) => s / t);
}

/** The distinct weights of steps 1 to t, with the number of consecutive steps that each lasted.
 * @param {Step[]} steps @param {number} t */
export function voters(steps, t) {
  /** @type {{weights: number[], votes: number}[]} */ const all = [];
  for (let k = 0; k < t; k += 1) {
    if (k === 0 || steps[k].changed) all.push({ weights: steps[k].weights, votes: 0 });
    all[all.length - 1].votes += 1;
  }
  return all;
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

/** LDA of two classes: the log ratio of the posteriors, with the covariance over N - 2.
 * @param {number[][]} X @param {number[]} y */
export function lda(X, y) {
  const parts = [-1, 1].map((c) => X.filter((_, i) => y[i] === c));
  const [low, high] = parts.map(means);
  const S = scatter(X.map((x, i) => x.map((v, j) => v - (y[i] === 1 ? high : low)[j])));
  const covariance = S.map((row) => row.map((v) => v / (X.length - 2)));
  const w = solve(covariance, high.map((v, j) => v - low[j]));
  return through(w, high.map((v, j) => (v + low[j]) / 2), Math.log(parts[1].length / parts[0].length));
}

/** @param {number[][]} X */
const means = (X) => X[0].map((_, j) => X.reduce((a, x) => a + x[j], 0) / X.length);

/** X'X. @param {number[][]} X */
const scatter = (X) => X[0].map((_, j) => X[0].map((__, k) => X.reduce((a, x) => a + x[j] * x[k], 0)));

/** Solve S w = r for a symmetric positive definite S, by Cholesky; null if it is singular to working precision.
 * @param {number[][]} S @param {number[]} r @returns {number[] | null} */
export function solve(S, r) {
  const d = r.length;
  const L = S.map((row) => row.map(() => 0));
  for (let j = 0; j < d; j += 1)
    for (let i = j; i < d; i += 1) {
      let v = S[i][j];
      for (let k = 0; k < j; k += 1) v -= L[i][k] * L[j][k];
      if (i === j && !(v > 1e-12 * S[j][j])) return null;
      L[i][j] = i === j ? Math.sqrt(v) : v / L[j][j];
    }
  const w = [...r];
  for (let i = 0; i < d; i += 1) { for (let k = 0; k < i; k += 1) w[i] -= L[i][k] * w[k]; w[i] /= L[i][i]; }
  for (let i = d - 1; i >= 0; i -= 1) { for (let k = i + 1; k < d; k += 1) w[i] -= L[k][i] * w[k]; w[i] /= L[i][i]; }
  return w;
}

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

/** A permutation of n rows for a seed (SplitMix64 and Fisher-Yates). @param {number} n @param {number} seed */
export function permutation(n, seed) {
  const rows = Array.from({ length: n }, (_, i) => i);
  let state = BigInt(seed);
  for (let left = n; left > 1; left -= 1) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
    let z = state;
    z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
    z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
    const chosen = Number(((z ^ (z >> 31n)) * BigInt(left)) >> 64n);
    [rows[left - 1], rows[chosen]] = [rows[chosen], rows[left - 1]];
  }
  return rows;
}
