// Validation: rows held out in turns, learning curves, and the errors by degree.
import { score } from "./algebra.mjs";
import { CLOSED, permutation, predictor, products, run } from "./kernels.mjs";

/** @typedef {import("./kernels.mjs").Spec} Spec */
/** @typedef {{training: number, held: number}} Errors error rates */

const FOLDS = 5;
const HELD_OUT = 0.3;
/** Runs that a learning curve averages, and its sizes. */
const RUNS = 5;
const SIZES = 8;
const MAX_DEGREE = 5;

/** The rows that are held out, turn by turn. @param {number} n @param {string} kind @param {number} seed @returns {number[][]} */
export function turnsOf(n, kind, seed) {
  const order = permutation(n, seed);
  if (kind === "holdout") return [order.slice(0, Math.max(1, Math.round(HELD_OUT * n)))];
  const count = kind === "loo" ? n : Math.min(n, FOLDS);
  return kind === "" ? [] : Array.from({ length: count }, (_, k) => order.filter((__, i) => i % count === k));
}

/** All rows but some. @param {number} n @param {number[]} held */
export function without(n, held) {
  const out = new Set(held);
  return Array.from({ length: n }, (_, i) => i).filter((i) => !out.has(i));
}

/** The score of a row by the fitted learner; of one class, that class. @param {Spec} spec @param {number[][]} X @param {number[]} y */
export function fitted(spec, X, y) {
  if (!y.includes(-1) || !y.includes(1)) return () => y[0] ?? -1;
  if (spec.learner in CLOSED) {
    const weights = CLOSED[spec.learner](spec, X, y);
    return (/** @type {number[]} */ x) => (weights === null ? NaN : score(weights, x));
  }
  const steps = run({ ...spec, order: undefined }, X, y);
  return predictor(spec, steps, steps.length, steps[steps.length - 1].weights);
}

/** The fraction of rows on the wrong side. @param {(x: number[]) => number} value @param {number[][]} X @param {number[]} y */
export const errorRate = (value, X, y) => X.filter((x, i) => (value(x) > 0 ? 1 : -1) !== y[i]).length / Math.max(1, X.length);

/** @param {Spec} spec @param {number[][]} X @param {number[]} y @param {number[]} train @param {number[]} test @returns {Errors} */
function errorsOf(spec, X, y, train, test) {
  const part = (/** @type {number[]} */ rows) => /** @type {[number[][], number[]]} */ ([rows.map((i) => X[i]), rows.map((i) => y[i])]);
  const value = fitted(spec, ...part(train));
  return { training: errorRate(value, ...part(train)), held: errorRate(value, ...part(test)) };
}

/** The errors of every turn. @param {Spec} spec @param {number[][]} X @param {number[]} y @param {number[][]} turns */
export const validate = (spec, X, y, turns) => turns.map((held) => errorsOf(spec, X, y, without(X.length, held), held));

/** @param {Errors[]} all @returns {Errors} */
export const meanErrors = (all) => ({
  training: all.reduce((sum, e) => sum + e.training, 0) / all.length,
  held: all.reduce((sum, e) => sum + e.held, 0) / all.length,
});

/** Errors against the number of training rows, the mean of some runs; in each run the same rows are held out for all sizes.
 * @param {Spec} spec @param {number[][]} X @param {number[]} y @param {number} seed @returns {(Errors & {rows: number})[]} */
export function learningCurve(spec, X, y, seed) {
  const most = X.length - Math.max(1, Math.round(HELD_OUT * X.length));
  const sizes = [...new Set(Array.from({ length: SIZES }, (_, k) => Math.max(2, Math.round((most * (k + 1)) / SIZES))))].filter((m) => m <= most);
  const orders = Array.from({ length: RUNS }, (_, run_) => permutation(X.length, seed + run_));
  return sizes.map((rows) => ({ rows, ...meanErrors(orders.map((order) => errorsOf(spec, X, y, order.slice(0, rows), order.slice(most)))) }));
}

/** Cross-validated errors with products up to each degree. @param {Spec} spec @param {number[][]} X the columns
 * @param {number[]} y @param {number[][]} turns @returns {(Errors & {degree: number})[]} */
export const errorsByDegree = (spec, X, y, turns) => Array.from({ length: MAX_DEGREE }, (_, k) => ({
  degree: k + 1, ...meanErrors(validate(spec, X.map((x) => products(x, k + 1)), y, turns)),
}));
