// Learners at their optimum: logistic regression and the linear SVM with a certificate at every
// step, and the path of the lasso. Weights are [b, w1, w2, ...]; targets are -1 and +1.
import { dot, eliminate, means, scatter, score, solve } from "./algebra.mjs";

/** @typedef {{primal: number, dual: number}} Certificate the optimum lies between both */
/** @typedef {{weights: number[], certificate: Certificate}} Iterate */

const MAX_ITERATIONS = 60;
/** The relative gap at which the iterations end. */
const GAP = 1e-14;
const sigmoid = (/** @type {number} */ s) => 1 / (1 + Math.exp(-s));
const log1pExp = (/** @type {number} */ s) => Math.max(0, s) + Math.log1p(Math.exp(-Math.abs(s)));
const half = (/** @type {number[]} */ w) => dot(w, w) / 2;

/** @param {Certificate} certificate */
export const relativeGap = ({ primal, dual }) => Math.max(0, (primal - dual) / primal);

// ------------------------------------------------------------------ logistic regression

/** Minimize |w|^2 / 2 + C sum log(1 + exp(-y s)) by Newton's method with backtracking.
 * @param {number[][]} X @param {number[]} y @param {number} C @returns {Iterate[]} */
export function logisticSteps(X, y, C) {
  let weights = withBestIntercept([0, ...X[0].map(() => 0)], X, y);
  const steps = [{ weights, certificate: logisticCertificate(weights, X, y, C) }];
  while (steps.length < MAX_ITERATIONS && relativeGap(steps[steps.length - 1].certificate) > GAP) {
    const next = newtonStep(weights, X, y, C, steps[steps.length - 1].certificate.primal);
    if (next === null) break;
    weights = next;
    steps.push({ weights, certificate: logisticCertificate(weights, X, y, C) });
  }
  const last = newtonDirection(weights, X, y, C); // to the last digit
  if (last) weights = weights.map((w, j) => w + last[j]);
  steps[steps.length - 1] = { ...steps[steps.length - 1], weights };
  return steps;
}

/** @param {number[]} weights @param {number[][]} X @param {number[]} y @param {number} C */
function newtonDirection(weights, X, y, C) {
  const rows = X.map((x) => [1, ...x]);
  const p = X.map((x) => sigmoid(score(weights, x)));
  const H = weights.map((_, j) => weights.map((__, k) => C * rows.reduce((sum, x, i) => sum + p[i] * (1 - p[i]) * x[j] * x[k], 0) + (j === k && j > 0 ? 1 : 0)));
  const gradient = weights.map((w, j) => (j > 0 ? w : 0) + C * rows.reduce((sum, x, i) => sum + (p[i] - (y[i] + 1) / 2) * x[j], 0));
  return solve(H, gradient.map((g) => -g), 1e-15);
}

/** @param {number[]} weights @param {number[][]} X @param {number[]} y @param {number} C @param {number} before the objective */
function newtonStep(weights, X, y, C, before) {
  const direction = newtonDirection(weights, X, y, C);
  for (let size = 1; direction && size > 1e-6; size /= 2) {
    const next = withBestIntercept(weights.map((w, j) => w + size * direction[j]), X, y);
    if (logisticObjective(next, X, y, C) < before) return next;
  }
  return null;
}

/** @param {number[]} weights @param {number[][]} X @param {number[]} y @param {number} C */
const logisticObjective = (weights, X, y, C) => half(weights.slice(1)) + C * X.reduce((sum, x, i) => sum + log1pExp(-y[i] * score(weights, x)), 0);

/** The same w with the intercept of least loss: there the dual point is feasible, sum of a y = 0.
 * @param {number[]} weights @param {number[][]} X @param {number[]} y */
function withBestIntercept([b, ...w], X, y) {
  const scores = X.map((x) => score([0, ...w], x));
  const slope = (/** @type {number} */ v) => scores.reduce((sum, s, i) => sum + sigmoid(s + v) - (y[i] + 1) / 2, 0);
  let [low, high] = [b - 1, b + 1];
  while (slope(low) > 0) low -= 2 * (high - low);
  while (slope(high) < 0) high += 2 * (high - low);
  for (let k = 0; k < 200 && low < (low + high) / 2 && (low + high) / 2 < high; k += 1) {
    const middle = (low + high) / 2;
    if (slope(middle) > 0) high = middle; else low = middle;
  }
  return [low, ...w];
}

/** The dual variables a = C sigma(-y s) bound the optimum from below.
 * @param {number[]} weights @param {number[][]} X @param {number[]} y @param {number} C @returns {Certificate} */
function logisticCertificate(weights, X, y, C) {
  const p = X.map((x, i) => sigmoid(-y[i] * score(weights, x)));
  const w = X[0].map((_, j) => C * X.reduce((sum, x, i) => sum + p[i] * y[i] * x[j], 0));
  const entropy = p.reduce((sum, v) => sum - (v > 0 ? v * Math.log(v) : 0) - (v < 1 ? (1 - v) * Math.log1p(-v) : 0), 0);
  return { primal: logisticObjective(weights, X, y, C), dual: C * entropy - half(w) };
}

// ------------------------------------------------------------------ linear SVM

/** @typedef {{a: number[], u: number[], v: number[], w: number[], b: number}} SvmPoint u, v: multipliers of a >= 0 and a <= C */

/** Minimize |w|^2 / 2 + C sum max(0, 1 - y s): an interior point method on the dual, maximize
 * sum a - |w|^2 / 2 with w = sum a y x, sum a y = 0 and 0 <= a <= C; every step is feasible.
 * @param {number[][]} X @param {number[]} y @param {number} C @returns {Iterate[]} */
export function svmSteps(X, y, C) {
  const rows = X.map((x, i) => [y[i], ...x.map((v) => y[i] * v)]);
  let point = svmStart(X, y, C);
  const steps = [svmIterate(point.w, X, y, C, point.a)];
  while (steps.length < MAX_ITERATIONS && relativeGap(steps[steps.length - 1].certificate) > 1e-11) {
    const next = interiorStep(point, rows, C);
    if (next === null) break;
    point = next;
    steps.push(svmIterate(point.w, X, y, C, point.a));
  }
  const last = activeSetSolution(point, rows, C);
  const exact = svmIterate(last.weights.slice(1), X, y, C, last.a, last.unique ? last.weights[0] : undefined);
  if (relativeGap(exact.certificate) <= relativeGap(steps[steps.length - 1].certificate)) steps.push(exact);
  return steps;
}

/** Equal sums of a in both classes. @param {number[][]} X @param {number[]} y @param {number} C @returns {SvmPoint} */
function svmStart(X, y, C) {
  const count = [-1, 1].map((k) => y.filter((v) => v === k).length);
  const a = y.map((k) => (C / 2) * (Math.min(...count) / count[k > 0 ? 1 : 0]));
  const w = X[0].map((_, j) => X.reduce((sum, x, i) => sum + a[i] * y[i] * x[j], 0));
  const b = hingeIntercept(w, X, y);
  const margins = X.map((x, i) => y[i] * score([b, ...w], x) - 1);
  return { a, w, b, u: margins.map((m) => Math.max(m, 0) + 1), v: margins.map((m) => Math.max(-m, 0) + 1) };
}

/** One Newton step towards a u = (C - a) v = mu / 10. @param {SvmPoint} point
 * @param {number[][]} rows y (1, x) @param {number} C @returns {SvmPoint | null} */
function interiorStep({ a, u, v, w, b }, rows, C) {
  const room = a.map((ai) => C - ai);
  const target = 0.1 * (dot(a, u) + dot(room, v)) / (2 * a.length);
  const D = a.map((ai, i) => u[i] / ai + v[i] / room[i]);
  const h = rows.map((g, i) => 1 - dot(g, [b, ...w]) + target / a[i] - target / room[i]);
  const size = w.length + 1;
  const S = Array.from({ length: size }, (_, j) => Array.from({ length: size }, (__, k) => rows.reduce((sum, g, i) => sum + (g[j] * g[k]) / D[i], 0) + (j === k && j > 0 ? 1 : 0)));
  const right = Array.from({ length: size }, (_, j) => rows.reduce((sum, g, i) => sum + (g[j] * h[i]) / D[i], 0));
  const step = solve(S, right, 0);
  if (step === null) return null;
  const da = rows.map((g, i) => (h[i] - dot(g, step)) / D[i]);
  const du = a.map((ai, i) => (target - u[i] * da[i]) / ai - u[i]);
  const dv = a.map((_, i) => (target + v[i] * da[i]) / room[i] - v[i]);
  const longest = Math.min(1, ...[[a, da], [room, da.map((d) => -d)], [u, du], [v, dv]].map(([value, d]) => 0.99 * stepLimit(value, d)));
  const along = (/** @type {number[]} */ value, /** @type {number[]} */ d) => value.map((x, i) => x + longest * d[i]);
  return { a: along(a, da), u: along(u, du), v: along(v, dv), w: along(w, step.slice(1)), b: b + longest * step[0] };
}

/** The step at which a value reaches 0. @param {number[]} value @param {number[]} d */
const stepLimit = (value, d) => value.reduce((least, x, i) => (d[i] < 0 ? Math.min(least, -x / d[i]) : least), Infinity);

/** The solution with the rows on the margin, at 0 and at C that a point near the optimum shows.
 * @param {SvmPoint} point @param {number[][]} rows @param {number} C */
function activeSetSolution({ a, u, v }, rows, C) {
  const inside = a.map((ai, i) => ai / C >= u[i] && 1 - ai / C >= v[i]);
  const fixed = a.map((ai, i) => (inside[i] ? 0 : ai / C < u[i] ? 0 : C));
  const free = rows.filter((_, i) => inside[i]);
  const d = rows[0].length;
  const known = rows[0].map((_, j) => rows.reduce((sum, g, i) => sum + fixed[i] * g[j], 0));
  const A = [
    ...known.map((_, j) => [...known.map((__, k) => (j === k && j > 0 ? 1 : 0)), ...free.map((g) => -g[j])]),
    ...free.map((g) => [...g, ...free.map(() => 0)]),
  ];
  const z = eliminate(A, [...known, ...free.map(() => 1)]);
  let next = d;
  return { weights: z.slice(0, d), unique: free.length > 0, a: fixed.map((value, i) => (inside[i] ? z[next++] : value)) };
}

/** @param {number[]} w @param {number[][]} X @param {number[]} y @param {number} C @param {number[]} a @param {number} b @returns {Iterate} */
function svmIterate(w, X, y, C, a, b = hingeIntercept(w, X, y)) {
  const primal = half(w) + C * X.reduce((sum, x, i) => sum + Math.max(0, 1 - y[i] * score([b, ...w], x)), 0);
  const off = Math.max(Math.abs(dot(a, y)) / a.length, ...a.map((ai) => Math.max(-ai, ai - C)));
  const v = w.map((_, j) => X.reduce((sum, x, i) => sum + a[i] * y[i] * x[j], 0));
  return { weights: [b, ...w], certificate: { primal, dual: off > 1e-9 * C ? -Infinity : a.reduce((s, ai) => s + ai, 0) - half(v) } };
}

/** The intercept of least hinge loss. The slope begins with -1 for each row of the class +1 and grows by 1 at each b
 * at which a row is on its margin. @param {number[]} w @param {number[][]} X @param {number[]} y */
function hingeIntercept(w, X, y) {
  const kinks = X.map((x, i) => y[i] - score([0, ...w], x)).sort((p, q) => p - q);
  const positive = y.filter((v) => v > 0).length;
  return (kinks[positive - 1] + kinks[positive]) / 2;
}

// ------------------------------------------------------------------ lasso

/** @typedef {{alpha: number, weights: number[]}} Knot */

/** The path of 1/(2 n) sum (y - s)^2 + alpha |w|_1: between two knots every weight is a straight line in alpha.
 * @param {number[][]} X @param {number[]} y @returns {Knot[]} from the alpha at which all weights are 0 to the last */
export function lassoPath(X, y) {
  const [mean, yMean] = [means(X), y.reduce((sum, v) => sum + v, 0) / y.length];
  const centred = X.map((x) => x.map((v, j) => v - mean[j]));
  const G = scatter(centred).map((row) => row.map((v) => v / y.length));
  const c = mean.map((_, j) => centred.reduce((sum, x, i) => sum + x[j] * (y[i] - yMean), 0) / y.length);
  const full = (/** @type {number[]} */ w) => [yMean - dot(w, mean), ...w];
  const first = c.reduce((best, v, j) => (Math.abs(v) > Math.abs(c[best]) ? j : best), 0);
  let [alpha, active] = [Math.abs(c[first]), [first]];
  let signs = [Math.sign(c[first])];
  const knots = [{ alpha, weights: full(c.map(() => 0)) }];
  while (alpha > 0 && knots.length < 20 * c.length + 20) {
    const segment = segmentOf(G, c, active, signs);
    if (segment === null) break;
    const event = nextKnot(segment, active, alpha, knots.length === 1 ? -1 : active[active.length - 1]);
    alpha = event.alpha;
    knots.push({ alpha, weights: full(segment.weights(alpha)) });
    if (event.drop >= 0) { signs = signs.filter((_, k) => active[k] !== event.drop); active = active.filter((j) => j !== event.drop); }
    if (event.join >= 0) { active = [...active, event.join]; signs = [...signs, event.sign]; }
    if (active.length === 0) break;
  }
  return knots;
}

/** Weights p - alpha q of the active columns, and correlations e + alpha f of all.
 * @param {number[][]} G @param {number[]} c @param {number[]} active @param {number[]} signs */
function segmentOf(G, c, active, signs) {
  const part = active.map((j) => active.map((k) => G[j][k]));
  const [p, q] = [solve(part, active.map((j) => c[j])), solve(part, signs)];
  if (p === null || q === null) return null;
  const product = (/** @type {number} */ j, /** @type {number[]} */ w) => active.reduce((sum, k, i) => sum + G[j][k] * w[i], 0);
  return {
    p, q,
    weights: (/** @type {number} */ alpha) => c.map((_, j) => (active.includes(j) ? p[active.indexOf(j)] - alpha * q[active.indexOf(j)] : 0)),
    e: c.map((v, j) => v - product(j, p)), f: c.map((_, j) => product(j, q)),
  };
}

/** The largest alpha below the present one at which a column joins or a weight becomes 0.
 * @param {{p: number[], q: number[], e: number[], f: number[]}} segment @param {number[]} active @param {number} now @param {number} newest */
function nextKnot({ p, q, e, f }, active, now, newest) {
  let best = { alpha: 0, join: -1, sign: 0, drop: -1 };
  const below = (/** @type {number} */ a) => a > best.alpha && a < now * (1 - 1e-12);
  active.forEach((j, k) => { if (j !== newest && below(p[k] / q[k])) best = { alpha: p[k] / q[k], join: -1, sign: 0, drop: j }; });
  e.forEach((_, j) => {
    if (active.includes(j)) return;
    for (const sign of [1, -1]) { const a = (sign * e[j]) / (1 - sign * f[j]); if (below(a)) best = { alpha: a, join: j, sign, drop: -1 }; }
  });
  return best;
}

/** The weights of a path at alpha. @param {Knot[]} knots @param {number} alpha @returns {number[] | null} null: the path ended before */
export function onPath(knots, alpha) {
  if (alpha >= knots[0].alpha) return knots[0].weights;
  const k = knots.findIndex((knot) => knot.alpha <= alpha);
  if (k < 0) return null;
  const [high, low] = [knots[k - 1], knots[k]];
  const t = (high.alpha - alpha) / (high.alpha - low.alpha);
  return high.weights.map((w, j) => w + t * (low.weights[j] - w));
}
