// Linear separability, decided exactly: every double is an integer over a power of 2, and the
// simplex method runs on integers (Edmonds' integer pivoting), so no sign is ever rounded.

/** Most numbers (rows times features) for which a verdict is computed. */
export const MAX_NUMBERS = 20_000;
/** Pivots by the largest coefficient before Bland's rule, which cannot cycle. */
const LARGEST_COEFFICIENT_PIVOTS = 200;

/** @typedef {{separable: boolean, weights?: bigint[], rows?: number[], multipliers?: bigint[]}} Verdict */

/** A double as [integer m, exponent e]: m 2^e. @param {number} value @returns {[bigint, number]} */
function split(value) {
  let [m, e] = [value, 0];
  if (m === 0) return [0n, 0];
  while (!Number.isInteger(m)) { m *= 2; e -= 1; }
  return [BigInt(m), e];
}

/** The columns as integers, each scaled by a power of 2. @param {number[][]} X @returns {bigint[][]} one array a column */
export function integerColumns(X) {
  return X[0].map((_, j) => {
    const parts = X.map((x) => split(x[j]));
    const least = Math.min(...parts.map(([, e]) => e));
    return parts.map(([m, e]) => m << BigInt(e - least));
  });
}

/** Decide whether a hyperplane strictly separates the classes. The proof is either integer weights
 * (b, w) of the scaled columns, or positive integer multipliers of rows with sum of y (1, x) = 0.
 * @param {number[][]} X @param {number[]} y
 * @returns {Verdict | null} null: more numbers than are decided here */
export function separability(X, y) {
  const steps = deciding(X, y);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** The same pivot by pivot, for a page that does other things in between. @param {number[][]} X @param {number[]} y
 * @returns {Generator<void, Verdict | null, void>} */
export function* deciding(X, y) {
  if (X.length === 0) return { separable: true, weights: [] };
  if (X.length * X[0].length > MAX_NUMBERS) return null;
  const signs = y.map((v) => BigInt(v));
  const equations = [signs, ...integerColumns(X).map((c) => c.map((v, i) => v * signs[i])), signs.map(() => 1n)];
  const solved = yield* feasible(equations);
  return solved.weights ? { separable: true, weights: solved.weights.slice(0, -1) } : { separable: false, ...solved };
}

/** Phase 1 of the simplex method: sum_i lambda_i a_i = 0, sum_i lambda_i = 1, lambda >= 0.
 * @param {bigint[][]} equations the last one is the sum
 * @returns {Generator<void, {weights?: bigint[], rows?: number[], multipliers?: bigint[]}, void>} */
function* feasible(equations) {
  const [m, n] = [equations.length, equations[0].length];
  const table = equations.map((row, i) => [...row, ...equations.map((_, k) => (k === i ? 1n : 0n)), i === m - 1 ? 1n : 0n]);
  const costs = table[0].map((_, j) => (j >= n && j < n + m ? 0n : -table.reduce((sum, row) => sum + row[j], 0n)));
  table.push(costs);
  const basis = equations.map((_, i) => n + i);
  let denominator = 1n;
  for (let pivots = 0; ; pivots += 1) {
    yield;
    const column = entering(table[m], n, pivots >= LARGEST_COEFFICIENT_PIVOTS);
    if (column < 0) break;
    const row = leaving(table, basis, column, m);
    denominator = pivot(table, row, column, denominator);
    basis[row] = column;
  }
  if (table[m][n + m] !== 0n) return { weights: equations.map((_, i) => table[m][n + i] - denominator) };
  const rows = basis.map((j, i) => [j, table[i][n + m]]).filter(([j, v]) => j < n && v !== 0n);
  const divisor = rows.reduce((g, [, v]) => gcd(g, /** @type {bigint} */ (v)), 0n);
  return { rows: rows.map(([j]) => Number(j)), multipliers: rows.map(([, v]) => /** @type {bigint} */ (v) / divisor) };
}

/** The column that enters, or -1 at the optimum. @param {bigint[]} costs @param {number} n @param {boolean} first */
function entering(costs, n, first) {
  let best = -1;
  for (let j = 0; j < n; j += 1) {
    if (costs[j] >= 0n) continue;
    if (first) return j;
    if (best < 0 || costs[j] < costs[best]) best = j;
  }
  return best;
}

/** The row that leaves: the smallest ratio, of equal ones the smallest variable.
 * @param {bigint[][]} table @param {number[]} basis @param {number} column @param {number} m */
function leaving(table, basis, column, m) {
  const last = table[0].length - 1;
  let best = -1;
  for (let i = 0; i < m; i += 1) {
    if (table[i][column] <= 0n) continue;
    const difference = best < 0 ? -1n : table[i][last] * table[best][column] - table[best][last] * table[i][column];
    if (difference < 0n || (difference === 0n && basis[i] < basis[best])) best = i;
  }
  return best;
}

/** Pivot in place and return the new common denominator; every division is exact.
 * @param {bigint[][]} table @param {number} row @param {number} column @param {bigint} denominator */
function pivot(table, row, column, denominator) {
  const [top, p] = [table[row], table[row][column]];
  table.forEach((line, i) => {
    const factor = line[column];
    if (i !== row) line.forEach((v, j) => { line[j] = (v * p - factor * top[j]) / denominator; });
  });
  return p;
}

/** @param {bigint} a @param {bigint} b @returns {bigint} */
const gcd = (a, b) => (b === 0n ? (a < 0n ? -a : a) : gcd(b, a % b));

/** @typedef {[bigint, bigint]} Point */

/** The corners of the convex hull of rows with two columns, as indices (Andrew's monotone chain).
 * @param {number[][]} X @param {number[]} rows */
export function hull(X, rows) {
  if (rows.length === 0) return [];
  const [first, second] = integerColumns(rows.map((i) => X[i]));
  const points = first.map((v, k) => /** @type {Point} */ ([v, second[k]]));
  const sorted = rows.map((_, k) => k).sort((i, j) => {
    const d = points[i][0] === points[j][0] ? points[i][1] - points[j][1] : points[i][0] - points[j][0];
    return d < 0n ? -1 : d > 0n ? 1 : 0;
  });
  const corners = [...chain(points, sorted), ...chain(points, [...sorted].reverse())];
  return (corners.length > 0 ? corners : sorted.slice(0, 1)).map((k) => rows[k]);
}

/** Half of a hull, without its last corner. @param {Point[]} points @param {number[]} order */
function chain(points, order) {
  const turn = (/** @type {Point} */ a, /** @type {Point} */ b, /** @type {Point} */ c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
  /** @type {number[]} */ const corners = [];
  for (const i of order) {
    while (corners.length > 1 && turn(points[corners[corners.length - 2]], points[corners[corners.length - 1]], points[i]) <= 0n) corners.pop();
    corners.push(i);
  }
  return corners.slice(0, -1);
}

/** The nearest points of two disjoint hulls, for the widest slab. @param {number[][]} one @param {number[][]} other */
export function nearest(one, other) {
  /** @type {{distance: number, from: number[], to: number[]}} */
  let best = { distance: Infinity, from: one[0], to: other[0] };
  const look = (/** @type {number[][]} */ a, /** @type {number[][]} */ b, /** @type {boolean} */ swap) => {
    for (const p of a)
      b.forEach((c, k) => {
        const q = foot(p, c, b[(k + 1) % b.length]);
        const distance = Math.hypot(p[0] - q[0], p[1] - q[1]);
        if (distance < best.distance) best = { distance, from: swap ? q : p, to: swap ? p : q };
      });
  };
  look(one, other, false);
  look(other, one, true);
  return best;
}

/** The point of segment a, b that is nearest to p. @param {number[]} p @param {number[]} a @param {number[]} b */
function foot(p, a, b) {
  const [u, v] = [b[0] - a[0], b[1] - a[1]];
  const length = u * u + v * v;
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((p[0] - a[0]) * u + (p[1] - a[1]) * v) / length));
  return [a[0] + t * u, a[1] + t * v];
}
