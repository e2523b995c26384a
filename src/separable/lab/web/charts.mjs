// Charts of some learners: the needle of a certificate, the path of the lasso, the surface of a loss,
// the ellipses of Gaussian classes.
import { clipped, colour, drawArrow, format, frameOf, gridOf, label, paint } from "./drawing.mjs";

/** The smallest relative gap on the scale of the needle, as a power of ten. */
const DIGITS = 16;

/** A relative gap as the number of digits of the objective that are proved. @param {number} gap */
export const provedDigits = (gap) => (Number.isFinite(gap) ? Math.min(DIGITS, Math.max(0, -Math.log10(Math.max(gap, 1e-300)))) : 0);

/** A gauge from 0 to 16 proved digits. @param {HTMLCanvasElement} canvas @param {number} gap */
export function drawNeedle(canvas, gap) {
  const { context: c, width, height } = frameOf(canvas);
  const [x, y, radius] = [width / 2, height - 22, Math.max(1, Math.min(width / 2 - 24, height - 44))];
  const at = (/** @type {number} */ digits, /** @type {number} */ r) => {
    const angle = Math.PI * (1 - digits / DIGITS);
    return [x + r * Math.cos(angle), y - r * Math.sin(angle)];
  };
  c.beginPath();
  c.arc(x, y, radius, Math.PI, 2 * Math.PI);
  Object.assign(c, { strokeStyle: colour("line"), lineWidth: 6 });
  c.stroke();
  for (const digits of [0, 4, 8, 12, 16]) { const [px, py] = at(digits, radius + 12); label(c, String(digits), px, py + 4, undefined, undefined, "center"); }
  drawArrow(c, [x, y], at(provedDigits(gap), radius - 6), colour(gap < 1e-6 ? "good" : "accent"));
  label(c, "digits of the objective proved", x, height - 4, undefined, undefined, "center");
}

/** The weights of a lasso over log alpha, from the largest at the left to the smallest.
 * @param {HTMLCanvasElement} canvas @param {import("./optimum.mjs").Knot[]} knots @param {number} alpha @param {string[]} names */
export function drawPath(canvas, knots, alpha, names) {
  const { context: c, width, height } = frameOf(canvas);
  const range = pathRange(knots);
  const most = Math.max(...knots.flatMap(({ weights }) => weights.slice(1).map(Math.abs)), 1e-12);
  const across = (/** @type {number} */ a) => 44 + (Math.log(range[1] / Math.min(range[1], Math.max(range[0], a))) / Math.log(range[1] / range[0])) * (width - 56);
  const up = (/** @type {number} */ w) => height / 2 - 6 - (w / most) * (height / 2 - 22);
  Object.assign(c, { strokeStyle: colour("line"), lineWidth: 1 });
  c.strokeRect(44, 12, width - 56, height - 34);
  stroked(c, [[44, up(0)], [width - 12, up(0)]], colour("line"), 1);
  label(c, format(Number(most.toPrecision(3))), 41, 20, undefined, undefined, "right");
  label(c, format(-Number(most.toPrecision(3))), 41, height - 24, undefined, undefined, "right");
  label(c, `α = ${format(Number(range[1].toPrecision(3)))}`, 44, height - 6);
  label(c, format(Number(range[0].toPrecision(3))), width - 12, height - 6, undefined, undefined, "right");
  const shades = ["accent", "positive", "good", "negative"];
  knots[0].weights.slice(1).forEach((_, j) => {
    const dense = densePath(knots, range, j);
    stroked(c, dense.map(([a, w]) => [across(a), up(w)]), colour(shades[j % 4]), 2);
    if (j < 4) label(c, clipped(names[j] ?? `w${j + 1}`), width - 16, up(dense[dense.length - 1][1]) - 4, undefined, shades[j % 4], "right");
  });
  stroked(c, [[across(alpha), 12], [across(alpha), height - 22]], colour("ink"), 1.5);
}

/** Smallest and largest alpha of the slider. @param {import("./optimum.mjs").Knot[]} knots */
export const pathRange = (knots) => [Math.max(knots[0].alpha, 1e-300) / 1000, Math.max(knots[0].alpha, 1e-300)];

/** A weight at 60 values of alpha, evenly spaced in its logarithm.
 * @param {import("./optimum.mjs").Knot[]} knots @param {number[]} range @param {number} j */
function densePath(knots, [low, high], j) {
  return Array.from({ length: 61 }, (_, k) => {
    const alpha = high * (low / high) ** (k / 60);
    const after = Math.max(1, knots.findIndex((knot) => knot.alpha <= alpha));
    if (knots.length === 1 || !knots[after]) return [alpha, knots[knots.length - 1].weights[j + 1]];
    const [a, b] = [knots[after - 1], knots[after]];
    return [alpha, a.weights[j + 1] + ((a.alpha - alpha) / (a.alpha - b.alpha)) * (b.weights[j + 1] - a.weights[j + 1])];
  });
}

/** The mean loss over two weights, darker where it is smaller, with the path of the weights.
 * @param {HTMLCanvasElement} canvas @param {number[][]} path pairs of weights, the last one is the present
 * @param {(w: number[]) => number} loss @param {any} view of the box of weights @param {string[]} names of both weights */
export function drawSurface(canvas, path, loss, view, names) {
  const { context: c } = frameOf(canvas);
  const grid = gridOf(view, 8, (w) => w);
  grid.values = grid.points.map(loss);
  const sorted = Float64Array.from(Array.from(grid.values).filter(Number.isFinite)).sort();
  const bounds = Array.from({ length: 8 }, (_, k) => sorted[Math.floor((k * sorted.length) / 8)]);
  paint(c, grid, (v) => [colour("accent"), Number.isFinite(v) ? 20 * (8 - bounds.findLastIndex((each) => each <= v)) : 0]);
  label(c, names[0], view.width - 6, view.height - 5, undefined, undefined, "right");
  label(c, names[1], 5, 12);
  stroked(c, path.map(view.to), colour("ink"), 1.5);
  const [x, y] = view.to(path[path.length - 1]);
  c.beginPath();
  c.arc(x, y, 4, 0, 7);
  c.fillStyle = colour("positive");
  c.fill();
}

/** The points at `sigmas` standard deviations from a mean. @param {CanvasRenderingContext2D} c @param {any} view
 * @param {number[]} mean @param {number[][]} covariance @param {number} sigmas @param {string} stroke */
export function drawEllipse(c, view, mean, [[a, b], [, d]], sigmas, stroke) {
  const first = Math.sqrt(a);
  const second = Math.sqrt(Math.max(0, d - (b * b) / a));
  const points = Array.from({ length: 73 }, (_, k) => {
    const [x, y] = [sigmas * Math.cos((k * Math.PI) / 36), sigmas * Math.sin((k * Math.PI) / 36)];
    return view.to([mean[0] + first * x, mean[1] + (b / first) * x + second * y]);
  });
  stroked(c, points, stroke, 1.5);
}

/** @param {CanvasRenderingContext2D} c @param {number[][]} points @param {string} stroke @param {number} width */
export function stroked(c, points, stroke, width) {
  c.beginPath();
  points.forEach(([x, y], k) => { if (k) c.lineTo(x, y); else c.moveTo(x, y); });
  Object.assign(c, { strokeStyle: stroke, lineWidth: width });
  c.stroke();
}
