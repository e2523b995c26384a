// Scores, sums and linear equations. Weights are [b, w1, w2, ...].

/** @param {number[]} weights @param {number[]} x */
export function score(weights, x) {
  let sum = 0;
  for (let j = 0; j < x.length; j += 1) sum += weights[j + 1] * x[j];
  return sum + weights[0];
}

/** @param {number[]} a @param {number[]} b */
export const dot = (a, b) => a.reduce((sum, v, j) => sum + v * b[j], 0);

/** @param {number[][]} X */
export const means = (X) => X[0].map((_, j) => X.reduce((a, x) => a + x[j], 0) / X.length);

/** Columns of mean 0 and standard deviation 1; constant ones are 0. @param {number[][]} X */
export function standardized(X) {
  const mean = means(X);
  const deviation = mean.map((m, j) => Math.sqrt(X.reduce((sum, x) => sum + (x[j] - m) ** 2, 0) / X.length));
  return X.map((x) => x.map((v, j) => (deviation[j] > 0 ? (v - mean[j]) / deviation[j] : 0)));
}

/** X'X. @param {number[][]} X */
export const scatter = (X) => X[0].map((_, j) => X[0].map((__, k) => X.reduce((a, x) => a + x[j] * x[k], 0)));

/** Solve S w = r for a symmetric positive definite S, by Cholesky; null if it is singular: if a pivot is at most `tolerance` times its diagonal.
 * @param {number[][]} S @param {number[]} r @param {number} tolerance @returns {number[] | null} */
export function solve(S, r, tolerance = 1e-12) {
  const d = r.length;
  const L = S.map((row) => row.map(() => 0));
  for (let j = 0; j < d; j += 1)
    for (let i = j; i < d; i += 1) {
      let v = S[i][j];
      for (let k = 0; k < j; k += 1) v -= L[i][k] * L[j][k];
      if (i === j && !(v > tolerance * S[j][j])) return null;
      L[i][j] = i === j ? Math.sqrt(v) : v / L[j][j];
    }
  const w = [...r];
  for (let i = 0; i < d; i += 1) { for (let k = 0; k < i; k += 1) w[i] -= L[i][k] * w[k]; w[i] /= L[i][i]; }
  for (let i = d - 1; i >= 0; i -= 1) { for (let k = i + 1; k < d; k += 1) w[i] -= L[k][i] * w[k]; w[i] /= L[i][i]; }
  return w;
}

/** Solve A z = r by elimination with the largest pivot of all; unknowns without a pivot are 0.
 * @param {number[][]} A @param {number[]} r */
export function eliminate(A, r) {
  const rows = A.map((row, i) => [...row, r[i]]);
  const free = new Set(rows.keys());
  /** @type {[number, number][]} */ const pivots = [];
  const most = Math.max(...A.flat().map(Math.abs));
  while (free.size) {
    let [i, j] = [-1, -1];
    for (const k of free) for (let m = 0; m < A.length; m += 1) if (i < 0 || Math.abs(rows[k][m]) > Math.abs(rows[i][j])) [i, j] = [k, m];
    if (!(Math.abs(rows[i][j]) > 1e-11 * most)) break;
    free.delete(i);
    pivots.push([i, j]);
    rows.forEach((row, k) => {
      const factor = k === i ? 0 : row[j] / rows[i][j];
      if (factor) row.forEach((v, m) => { row[m] = m === j ? 0 : v - factor * rows[i][m]; });
    });
  }
  const z = r.map(() => 0);
  for (const [i, j] of pivots) z[j] = rows[i][A.length] / rows[i][j];
  return z;
}
