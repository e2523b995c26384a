// Drawing on canvases: shading, boundaries, arrows, points, curves.

/** @type {Map<string, string>} */
const colours = new Map();

/** Read the colours anew: the scheme may have changed. */
export function forgetColours() {
  colours.clear();
  stamps.clear();
}

/** @param {string} name a colour of the style sheet, #rrggbb @returns {string} */
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name) ?? "";
}

/** A number of at most four digits. @param {number} v */
export const format = (v) => (Number.isFinite(v) ? (v !== 0 && Math.abs(v) < 1e-4 ? v.toExponential(3) : String(Number(v.toPrecision(4)))).replaceAll("-", "−") : "");

/** @type {Map<Element, {width: number, height: number}>} Sizes of canvases on the screen; measuring anew in each step would lay out the page. */
const sizes = new Map();

/** Measure canvases again when their size changes. @param {Iterable<HTMLCanvasElement>} canvases @param {() => void} changed */
export function watchSizes(canvases, changed) {
  const observer = new ResizeObserver((entries) => {
    let other = false;
    for (const { target } of entries) {
      const { width, height } = target.getBoundingClientRect();
      const before = sizes.get(target);
      other ||= width > 0 && (before?.width !== width || before.height !== height);
      if (width > 0) sizes.set(target, { width, height });
    }
    if (other) changed();
  });
  for (const canvas of canvases) observer.observe(canvas);
}

/** Prepare a canvas for the pixels of the screen, and clear it. @param {HTMLCanvasElement} canvas */
export function frameOf(canvas) {
  const ratio = window.devicePixelRatio || 1;
  if (!sizes.has(canvas)) { const { width, height } = canvas.getBoundingClientRect(); if (width > 0) sizes.set(canvas, { width, height }); }
  const { width, height } = sizes.get(canvas) ?? { width: 1, height: 1 };
  return { context: sizedContext(canvas, width, height, ratio), width, height };
}

/** @param {HTMLCanvasElement} canvas @param {number} width @param {number} height @param {number} ratio */
function sizedContext(canvas, width, height, ratio) {
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  if (canvas.width === w && canvas.height === h) { context.setTransform(1, 0, 0, 1, 0, 0); context.clearRect(0, 0, w, h); } else [canvas.width, canvas.height] = [w, h];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/** A canvas beside the page, drawn once and copied in each step. @param {number} width @param {number} height
 * @param {(c: CanvasRenderingContext2D) => void} draw */
export function layerOf(width, height, draw) {
  const canvas = document.createElement("canvas");
  draw(sizedContext(canvas, width, height, window.devicePixelRatio || 1));
  return canvas;
}

/** Maps of a box of the plane to the screen and back. @param {number[][]} box @param {number} width @param {number} height */
export function viewOf([[x0, x1], [y0, y1]], width, height) {
  return {
    width, height, box: [[x0, x1], [y0, y1]],
    to: (/** @type {number[]} */ [x, y]) => [((x - x0) / (x1 - x0)) * width, height - ((y - y0) / (y1 - y0)) * height],
    from: (/** @type {number[]} */ [px, py]) => [x0 + (px / width) * (x1 - x0), y0 + ((height - py) / height) * (y1 - y0)],
  };
}

/** @typedef {{nx: number, ny: number, cell: number, points: number[][], values: ArrayLike<number>}} Grid of the screen; `values` at its points */

/** A grid of the screen. @param {any} view @param {number} cell @param {(p: number[]) => number[]} point what is kept of a point of the plane @returns {Grid} */
export function gridOf(view, cell, point) {
  const [nx, ny] = [Math.ceil(view.width / cell), Math.ceil(view.height / cell)];
  const points = Array.from({ length: (nx + 1) * (ny + 1) }, (_, k) => point(view.from([(k % (nx + 1)) * cell, Math.floor(k / (nx + 1)) * cell])));
  return { nx, ny, cell, points, values: [] };
}

/** Shade both sides of a grid, darker where |value| is nearer to `most`.
 * @param {CanvasRenderingContext2D} c @param {Grid} grid @param {number} most 0: one shade */
export function shade(c, grid, most) {
  const sides = ["negative", "positive"].map(colour);
  paint(c, grid, (v) => [sides[v > 0 ? 1 : 0], v === 0 ? 0 : most > 0 ? 12 + (58 * Math.abs(v)) / most : 38]);
}

/** Paint a grid. @param {CanvasRenderingContext2D} c @param {Grid} grid
 * @param {(value: number) => [string, number]} style a colour as #rrggbb, and its opacity up to 255 */
export function paint(c, grid, style) {
  const small = document.createElement("canvas");
  [small.width, small.height] = [grid.nx + 1, grid.ny + 1];
  const context = /** @type {CanvasRenderingContext2D} */ (small.getContext("2d"));
  const image = context.createImageData(small.width, small.height);
  const parts = new Map();
  for (let k = 0; k < grid.values.length; k += 1) {
    const [name, alpha] = style(grid.values[k]);
    if (!parts.has(name)) parts.set(name, [1, 3, 5].map((i) => parseInt(name.slice(i, i + 2), 16)));
    const [red, green, blue] = parts.get(name);
    image.data[4 * k] = red; image.data[4 * k + 1] = green; image.data[4 * k + 2] = blue; image.data[4 * k + 3] = alpha;
  }
  context.putImageData(image, 0, 0);
  c.drawImage(small, -grid.cell / 2, -grid.cell / 2, small.width * grid.cell, small.height * grid.cell);
}

/** The two sides of the line b + w1 x + w2 y = 0. @param {CanvasRenderingContext2D} c @param {any} view @param {number[]} line */
export function shadeSides(c, view, [b, w1, w2]) {
  const [[x0, x1], [y0, y1]] = view.box;
  const corners = [[x0, y0], [x1, y0], [x1, y1], [x0, y1]];
  const value = (/** @type {number[]} */ p) => b + w1 * p[0] + w2 * p[1];
  for (const side of [-1, 1]) {
    const inside = corners.flatMap((p, k) => {
      const q = corners[(k + 1) % 4];
      const [s, t] = [side * value(p), side * value(q)];
      const own = s > 0 ? [p] : [];
      return s > 0 === t > 0 ? own : [...own, p.map((v, j) => v + (s / (s - t)) * (q[j] - v))];
    });
    if (inside.length > 2) fillPolygon(c, inside.map(view.to), `${colour(side > 0 ? "positive" : "negative")}26`);
  }
}

/** @param {CanvasRenderingContext2D} c @param {number[][]} corners @param {string} fill */
export function fillPolygon(c, corners, fill) {
  c.beginPath();
  corners.forEach(([x, y], k) => { if (k) c.lineTo(x, y); else c.moveTo(x, y); });
  c.closePath();
  c.fillStyle = fill;
  c.fill();
}

/** The curve where values cross a level (marching squares). @param {CanvasRenderingContext2D} c @param {Grid} grid
 * @param {{stroke: string, level?: number, width?: number, dash?: number[]}} style
 * @param {((p: number[]) => number) | null} value of a point of the screen, for a crossing by bisection; else it is interpolated */
export function drawLevel(c, grid, { stroke, level = 0, width = 2.5, dash = [] }, value = null) {
  const at = (/** @type {number} */ i, /** @type {number} */ j) => grid.values[j * (grid.nx + 1) + i] - level;
  c.beginPath();
  for (let j = 0; j < grid.ny; j += 1)
    for (let i = 0; i < grid.nx; i += 1) {
      const above = [at(i, j) > 0, at(i + 1, j) > 0, at(i + 1, j + 1) > 0, at(i, j + 1) > 0];
      if (above.every((v) => v === above[0])) continue;
      const corners = [[i, j], [i + 1, j], [i + 1, j + 1], [i, j + 1]];
      const crossings = corners.flatMap((p, k) => {
        const q = corners[(k + 1) % 4];
        if (above[k] === above[(k + 1) % 4]) return [];
        const [from, to] = [p, q].map((v) => v.map((each) => each * grid.cell));
        if (value) return [signChange(value, from, to)];
        const [a, b] = [at(p[0], p[1]), at(q[0], q[1])];
        return [from.map((v, m) => v + (a / (a - b)) * (to[m] - v))];
      });
      for (let k = 0; k + 1 < crossings.length; k += 2) { c.moveTo(crossings[k][0], crossings[k][1]); c.lineTo(crossings[k + 1][0], crossings[k + 1][1]); }
    }
  Object.assign(c, { strokeStyle: stroke, lineWidth: width });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

/** The point between p and q at which a value changes its sign, by bisection.
 * @param {(p: number[]) => number} value @param {number[]} p @param {number[]} q */
function signChange(value, p, q) {
  let [low, high] = [p, q];
  const positive = value(low) > 0;
  for (let k = 0; k < 6; k += 1) {
    const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
    if (value(middle) > 0 === positive) low = middle; else high = middle;
  }
  return low;
}

/** The line b + w1 x + w2 y = 0. @param {CanvasRenderingContext2D} c @param {any} view @param {number[]} line
 * @param {{stroke: string, dash?: number[], width?: number}} style */
export function drawLine(c, view, [b, w1, w2], { stroke, dash = [], width = 2.5 }) {
  if (w1 === 0 && w2 === 0) return;
  const [[x0, x1], [y0, y1]] = view.box;
  const steep = Math.abs(w1) * (x1 - x0) > Math.abs(w2) * (y1 - y0);
  const ends = steep ? [y0, y1].map((v) => [-(b + w2 * v) / w1, v]) : [x0, x1].map((v) => [v, -(b + w1 * v) / w2]);
  c.beginPath();
  ends.forEach((end, k) => { const [px, py] = view.to(end); if (k) c.lineTo(px, py); else c.moveTo(px, py); });
  Object.assign(c, { strokeStyle: stroke, lineWidth: width });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

/** @param {CanvasRenderingContext2D} c @param {number[]} from @param {number[]} to @param {string} stroke @param {number[]} dash */
export function drawArrow(c, from, to, stroke, dash = []) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  if (!(length > 0.5)) return;
  const u = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
  c.beginPath();
  c.moveTo(from[0], from[1]); c.lineTo(to[0], to[1]);
  Object.assign(c, { strokeStyle: stroke, lineWidth: 2 });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
  c.beginPath();
  c.moveTo(to[0] - 8 * u[0] - 4 * u[1], to[1] - 8 * u[1] + 4 * u[0]);
  c.lineTo(to[0], to[1]);
  c.lineTo(to[0] - 8 * u[0] + 4 * u[1], to[1] - 8 * u[1] - 4 * u[0]);
  c.stroke();
}

/** w as an arrow from the boundary, at a right angle to it in the units of the columns.
 * @param {CanvasRenderingContext2D} c @param {any} view @param {number[]} line */
export function drawNormal(c, view, [b, w1, w2]) {
  const square = w1 * w1 + w2 * w2;
  if (square === 0) return;
  const middle = view.box.map((/** @type {number[]} */ side) => (side[0] + side[1]) / 2);
  const shift = (b + w1 * middle[0] + w2 * middle[1]) / square;
  const foot = [middle[0] - shift * w1, middle[1] - shift * w2];
  const [p, q] = [view.to(foot), view.to([foot[0] + w1, foot[1] + w2])];
  const length = Math.hypot(q[0] - p[0], q[1] - p[1]);
  const tip = [0, 1].map((k) => p[k] + (46 * (q[k] - p[k])) / length);
  drawArrow(c, p, tip, colour("ink"));
  label(c, "w", tip[0] + 6, tip[1] + 4, "italic 15px serif", "ink");
}

/** @param {CanvasRenderingContext2D} c @param {string} text @param {number} x @param {number} y @param {string} font @param {string} name
 * @param {CanvasTextAlign} align */
export function label(c, text, x, y, font = "11px system-ui, sans-serif", name = "quiet", align = "left") {
  Object.assign(c, { font, fillStyle: colour(name), textAlign: align });
  c.fillText(text, x, y);
}

/** Half the side of a stamp of a row. */
const STAMP = 10;
/** @type {Map<string, HTMLCanvasElement>} The drawings of a row, by class and by whether it is held out. */
const stamps = new Map();

/** @param {number} y @param {boolean} hollow @param {number} ratio */
function stampOf(y, hollow, ratio) {
  const key = `${y > 0} ${hollow} ${ratio}`;
  const made = stamps.get(key) ?? layerOf(2 * STAMP, 2 * STAMP, (c) => {
    c.beginPath();
    if (y > 0) { c.moveTo(STAMP, STAMP - 8); c.lineTo(STAMP + 7, STAMP + 5); c.lineTo(STAMP - 7, STAMP + 5); c.closePath(); } else c.arc(STAMP, STAMP, 6, 0, 7);
    const side = colour(y > 0 ? "positive" : "negative");
    Object.assign(c, { fillStyle: hollow ? colour("page") : side, strokeStyle: hollow ? side : colour("page"), lineWidth: hollow ? 2 : 1 });
    c.fill();
    c.stroke();
  });
  stamps.set(key, made);
  return made;
}

/** A row: a triangle for +1, a disc for -1; hollow if it is held out.
 * @param {CanvasRenderingContext2D} c @param {number[]} p @param {number} y @param {boolean} hollow */
export function drawPoint(c, [px, py], y, hollow) {
  const ratio = window.devicePixelRatio || 1;
  const sharp = (/** @type {number} */ v) => Math.round((v - STAMP) * ratio) / ratio;
  c.drawImage(stampOf(y, hollow, ratio), sharp(px), sharp(py), 2 * STAMP, 2 * STAMP);
}

/** A ring around a row. @param {CanvasRenderingContext2D} c @param {number[]} p @param {number[]} dash */
export function drawRing(c, [px, py], dash = []) {
  c.beginPath();
  c.arc(px, py, 12, 0, 7);
  Object.assign(c, { strokeStyle: colour("ink"), lineWidth: 2 });
  c.setLineDash(dash);
  c.stroke();
  c.setLineDash([]);
}

/** Round numbers inside an interval. @param {number} low @param {number} high */
export function ticks(low, high) {
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((k) => k * power >= 0.7 * rough) ?? 10);
  const first = Math.ceil(low / step);
  return Array.from({ length: Math.floor(high / step) - first + 1 }, (_, k) => Number(((first + k) * step).toPrecision(12)));
}

/** @param {CanvasRenderingContext2D} c @param {any} view @param {string[]} names */
export function drawAxes(c, view, names) {
  const { width, height, box } = view;
  const bold = "bold 12px system-ui, sans-serif";
  c.font = bold;
  const end = width - 20 - c.measureText(clipped(names[0])).width;
  for (const v of ticks(box[0][0], box[0][1])) { const px = view.to([v, 0])[0]; if (px > 40 && px < end) label(c, format(v), px, height - 6, undefined, undefined, "center"); }
  for (const v of ticks(box[1][0], box[1][1])) { const py = view.to([0, v])[1]; if (py > 30 && py < height - 20) label(c, format(v), 6, py + 4); }
  label(c, clipped(names[0]), width - 6, height - 6, bold, "ink", "right");
  label(c, clipped(names[1]), 6, 16, bold, "ink");
}

/** @param {string} name */
export const clipped = (name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name);

/** Curves over 1, 2, ..., each with a name and a colour. @param {HTMLCanvasElement} canvas
 * @param {{name: string, values: number[], colour: string}[]} curves @param {{now?: number, x: string, ends?: number[]}} options `ends` are the first and last value of x */
export function drawCurves(canvas, curves, { now = -1, x, ends }) {
  const { context: c, width, height } = frameOf(canvas);
  if (curves.every(({ values }) => values.length === 0)) return;
  const count = Math.max(...curves.map(({ values }) => values.length), 1);
  const most = Math.max(...curves.flatMap(({ values }) => values.filter(Number.isFinite)), 1e-12);
  const at = (/** @type {number} */ k, /** @type {number} */ v) => [34 + (k / Math.max(1, count - 1)) * (width - 46), height - 20 - (v / most) * (height - 34)];
  Object.assign(c, { strokeStyle: colour("line"), lineWidth: 1 });
  c.strokeRect(34, 14, width - 46, height - 34);
  label(c, format(Number(most.toPrecision(3))), 31, 11, undefined, undefined, most >= 1000 || most < 0.1 ? "left" : "right");
  label(c, "0", 30, height - 18, undefined, undefined, "right");
  label(c, String(ends?.[0] ?? 1), 34, height - 6);
  label(c, String(ends?.[1] ?? count), width - 12, height - 6, undefined, undefined, "right");
  label(c, x, (width + 22) / 2, height - 6, undefined, undefined, "center");
  curves.forEach(({ name, values, colour: stroke }, index) => {
    c.beginPath();
    values.forEach((v, k) => { const [px, py] = at(k, v); if (k) c.lineTo(px, py); else c.moveTo(px, py); });
    Object.assign(c, { strokeStyle: colour(stroke), lineWidth: 2 });
    c.stroke();
    if (values.length === 1) { c.beginPath(); c.arc(...at(0, values[0]), 3, 0, 7); c.stroke(); }
    if (curves.length > 1) label(c, name, width - 16, 27 + 14 * index, "11px system-ui, sans-serif", stroke, "right");
  });
  const v = curves[0]?.values[now];
  if (v === undefined) return;
  c.beginPath();
  c.arc(...at(now, v), 5, 0, 7);
  c.fillStyle = colour("ink");
  c.fill();
}
