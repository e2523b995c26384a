// The votes of the voted perceptron at many points, kept up to date from step to step.
import { score } from "./algebra.mjs";

/** @typedef {{points: number[][], sums: Float64Array, at: number}} Tally `sums` are the votes for +1 less those for -1 of the steps up to `at` */

/** @param {number[][]} points @returns {Tally} */
export const tallyOf = (points) => ({ points, sums: new Float64Array(points.length), at: 0 });

/** Add or take back the votes of the steps between, and return the votes at step t.
 * @param {Tally} tally @param {import("./kernels.mjs").Step[]} steps @param {number} t */
export function advance(tally, steps, t) {
  if (t < tally.at / 2) { tally.sums.fill(0); tally.at = 0; }
  const [from, to, sign] = t < tally.at ? [t, tally.at, -1] : [tally.at, t, 1];
  for (let k = from; k < to;) {
    let end = k + 1;
    while (end < to && !steps[end].changed) end += 1;
    const [weights, votes] = [steps[k].weights, sign * (end - k)];
    tally.points.forEach((x, i) => { tally.sums[i] += votes * Math.sign(score(weights, x)); });
    k = end;
  }
  tally.at = t;
  return tally.sums;
}
