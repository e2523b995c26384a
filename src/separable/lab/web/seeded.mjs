// Rows that follow from a student's number: everybody has others, and a link holds the number alone.
import { generator } from "./kernels.mjs";

const ROWS = 40;

/** Two clouds of 20 rows each, which for some numbers overlap. @param {number} number */
export function cloudsOf(number) {
  const below = generator(number);
  const normal = () => Array.from({ length: 12 }, () => below(1_000_000) / 1e6).reduce((a, b) => a + b, -6);
  const y = Array.from({ length: ROWS }, (_, i) => (i < ROWS / 2 ? -1 : 1));
  const angle = (2 * Math.PI * below(360)) / 360;
  const middle = [1.6 * Math.cos(angle), 1.6 * Math.sin(angle)];
  const X = y.map((side) => middle.map((m) => Number((side * m + 0.8 * normal()).toFixed(2))));
  return { columns: ["x1", "x2"], classes: ["0", "1"], X, y };
}
