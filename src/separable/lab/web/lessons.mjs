// Lessons L1 to L23: questions to answer before the page shows the step. The numbers of each question
// follow from a seed, and the answers are computed by the learners of the page.
import { dot, means, score, solve } from "./algebra.mjs";
import { separability } from "./exact.mjs";
import { LOSSES, generator, initial, naiveBayes, products, ridge, run, voters, withinClasses } from "./kernels.mjs";
import { lassoPath, onPath, svmSteps } from "./optimum.mjs";

/** @typedef {{X: number[][], y: number[], steps: import("./kernels.mjs").Step[]}} Shown what the page shows */
/** @typedef {{ask: string, why: string, answer?: number[], choices?: string[], right?: number, task?: (shown: Shown) => boolean,
 *   show?: string, after?: string}} Question `show` and `after` are settings of the page before and after the answer */
/** @typedef {(low: number, high: number) => number} Draw a whole number of an interval */

const CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]];
const AND = [-1, -1, -1, 1];
const OR = [-1, 1, 1, 1];
const XOR = [-1, 1, 1, -1];
const shown = (/** @type {number} */ v) => String(Number(v.toPrecision(4))).replace("-", "−");
const vector = (/** @type {number[]} */ v) => `(${v.map(shown).join(", ")})`;
const sigmoid = (/** @type {number} */ s) => 1 / (1 + Math.exp(-s));
const spec = (/** @type {string} */ learner, more = {}) => ({ learner, eta: 1, epochs: 30, ties: "mistake", ...more });
const page = (/** @type {string} */ example, /** @type {string} */ learner, at = 0, more = "") => `example=${example}&learner=${learner}&eta=1&epochs=30&degree=1&order=given&start=0&at=${at}${more}`;
const updatesOf = (/** @type {import("./kernels.mjs").Step[]} */ steps) => steps.filter((s) => s.changed).length;
const isSeparable = (/** @type {number[][]} */ X, /** @type {number[]} */ y) => separability(X, y)?.separable === true;

/** @param {string} ask @param {number | number[]} answer @param {string} why @param {Partial<Question>} more @returns {Question} */
const number = (ask, answer, why, more = {}) => ({ ask, answer: [answer].flat(), why, ...more });
/** @param {string} ask @param {string[]} choices @param {number} right @param {string} why @param {Partial<Question>} more @returns {Question} */
const choice = (ask, choices, right, why, more = {}) => ({ ask, choices, right, why, ...more });
/** @param {string} ask @param {(shown: Shown) => boolean} check @param {string} why @param {string} show @returns {Question} */
const task = (ask, check, why, show) => ({ ask, task: check, why, show });

/** Every labelling of some rows: -1 or +1 each. @param {number} n */
const labellings = (n) => Array.from({ length: 2 ** n }, (_, k) => Array.from({ length: n }, (__, i) => ((k >> i) & 1 ? 1 : -1)));
/** How many labellings of rows are separable. @param {number[][]} X */
const separableCount = (X) => labellings(X.length).filter((y) => new Set(y).size < 2 || isSeparable(X, y)).length;

/** @type {Record<string, {title: string, questions: (draw: Draw) => Question[]}>} */
export const LESSONS = {
  L1: { title: "The score w.x + b", questions(draw) {
    const [bias, free, money] = [-draw(2, 5), draw(2, 6), draw(1, 4)];
    const [w, x] = [[draw(-4, 4), draw(-4, 4)], [draw(-3, 3), draw(1, 5)]];
    const b = draw(-2, 2);
    const total = bias + free + money;
    return [
      number(`The weights are BIAS ${shown(bias)}, "free" ${free}, "money" ${money}. What is the score of the mail "free money"?`, total, `${shown(bias)} + ${free} + ${money} = ${shown(total)}.`),
      choice("Which class is it, if a score above 0 is spam?", ["spam", "not spam"], total > 0 ? 0 : 1, `The score is ${shown(total)}.`),
      number(`w = ${vector(w)}, b = ${shown(b)}, x = ${vector(x)}. What is the score?`, dot(w, x) + b, "Multiply in pairs, add, and add b."),
      number(`The bias as a feature that is 1: of how many numbers is the row x = ${vector(x)} then?`, x.length + 1, "x0 = 1 comes first, and its weight is b."),
    ];
  } },
  L2: { title: "What weights mean", questions(draw) {
    const [fine, boring, and] = [draw(10, 30) / 10, -draw(10, 30) / 10, draw(-5, 5) / 100];
    const times = draw(2, 4);
    return [
      choice(`Weights of words: "fine" ${fine}, "boring" ${shown(boring)}, "and" ${shown(and)}. Which word says nothing about the class?`, ["fine", "boring", "and"], 2, "A weight near 0 hardly changes a score."),
      number(`How much does "boring" add to the score of a review that has it ${times} times?`, times * boring, "A feature adds its weight times its value."),
      number(`"fine" is removed from a review that has it once. By how much does the score change?`, -fine, "Its contribution is lost."),
    ];
  } },
  L3: { title: "Hyperplane and normal vector", questions(draw) {
    const k = draw(1, 3);
    const [w, b, x] = [[3 * k, 4 * k], draw(-5, 5), [draw(-4, 4), draw(-4, 4)]];
    return [
      choice(`w = ${vector(w)}. Which vector is parallel to the boundary?`, [vector(w), vector([-w[1], w[0]]), vector([w[1], w[0]])], 1, "w is the normal: its product with a vector along the boundary is 0."),
      number(`b = ${shown(b)}. How far is x = ${vector(x)} from the boundary?`, Math.abs(dot(w, x) + b) / Math.hypot(...w), `|w.x + b| / |w|, and |w| = ${Math.hypot(...w)}.`),
      choice("(b, w) is doubled. What happens to the boundary?", ["it moves away from the origin", "it stays", "it turns"], 1, "w.x + b = 0 and 2 w.x + 2 b = 0 have the same solutions."),
    ];
  } },
  L4: { title: "The perceptron", questions(draw) {
    const [w, x, y, eta] = [[draw(-2, 2), draw(-2, 2), draw(-2, 2)], [draw(1, 3), draw(-3, 3)], draw(0, 1) ? 1 : -1, draw(1, 2)];
    const step = run(spec("perceptron", { start: w, eta, epochs: 1 }), [x], [y])[0];
    const and = run(spec("perceptron"), CORNERS, AND);
    const last = and[and.length - 1].weights;
    return [
      number(`(b, w) = ${vector(w)}, eta = ${eta}. The next row is x = ${vector(x)} with y = ${shown(y)}. What is (b, w) after the step?`, step.weights,
        step.changed ? `y (w.x + b) = ${shown(y * step.score)} is not above 0: a mistake, so eta y (1, x) is added.` : `y (w.x + b) = ${shown(y * step.score)} is above 0: the row is right, and nothing changes.`),
      number("AND, from w = 0, rows in the given order. What is (b, w) after the first step?", and[0].weights, "The score is 0, a mistake; y = −1 and x = (0, 0).", { show: page("and", "perceptron", 0), after: page("and", "perceptron", 1) }),
      number("How many updates does the perceptron make on AND until an epoch has no mistake?", updatesOf(and), `It ends in (b, w) = ${vector(last)}.`, { show: page("and", "perceptron", 0), after: page("and", "perceptron", and.length) }),
      choice("When does the perceptron stop?", ["after an epoch without a mistake", "when the loss is small", "after n steps"], 0, "Then no row can change the weights any more."),
      task("Add or move rows until the perceptron makes more than 20 mistakes in its 30 epochs.", ({ steps }) => updatesOf(steps) > 20, "Rows of both classes close together make gamma small, and the bound (R / gamma)^2 large.", page("clouds", "perceptron")),
    ];
  } },
  L5: { title: "Linear separability", questions(draw) {
    const [radius, gamma] = [draw(2, 6), draw(1, 4) / 2];
    const functions = [AND, OR, [1, 1, 1, -1]];
    const names = ["AND", "OR", "NAND"];
    const place = draw(0, 3);
    const listed = [...names.slice(0, place), "XOR", ...names.slice(place)];
    const values = [...functions.slice(0, place), XOR, ...functions.slice(place)];
    return [
      choice("Which of these functions does no line separate?", listed, values.findIndex((y) => !isSeparable(CORNERS, y)), "(0, 0) + (1, 1) = (0, 1) + (1, 0): the hulls of both classes meet.", { show: page("xor", "perceptron") }),
      number("How many of the 16 Boolean functions of two inputs are separable (the two constant ones are)?", separableCount(CORNERS), "All but XOR and its negation."),
      number(`Rows of norm at most ${radius}, margin gamma = ${gamma}. How many mistakes can the perceptron make at most?`, Math.floor((radius / gamma) ** 2), "(R / gamma)^2."),
      task("Move one row of XOR so that the classes become separable.", ({ X, y }) => X.length === 4 && X.filter((x) => CORNERS.some((c) => c[0] === x[0] && c[1] === x[1])).length >= 3 && y.filter((v) => v > 0).length === 2 && isSeparable(X, y), "Pull a corner across the line through the two of the other class.", page("xor", "perceptron")),
    ];
  } },
  L6: { title: "Data that is not separable", questions(draw) {
    const [a, b] = [draw(1, 3), draw(1, 3)];
    const square = [[0, 0], [0, 2 * b], [2 * a, 0], [2 * a, 2 * b]];
    const right = AND.map((_, i) => score(run(spec("perceptron"), CORNERS, XOR).at(-1)?.weights ?? [0, 0, 0], CORNERS[i]) * XOR[i] > 0).filter(Boolean).length;
    return [
      choice("The perceptron runs on XOR. What happens?", ["it stops after the bound", "it never stops by itself", "it finds w = 0 and stops"], 1, "In every epoch some row is a mistake.", { show: page("xor", "perceptron", 0), after: page("xor", "perceptron", 60) }),
      number(`Rows ${square.map(vector).join(", ")}; the first and last are one class. Which point is in the hulls of both classes?`, [a, b], "The diagonals meet in the middle."),
      number("After 30 epochs on XOR, how many of the 4 rows are on their side of the boundary (a score of 0 is on neither)?", right, "The last weights are those of the last mistake, not the best ones.", { show: page("xor", "perceptron", 0), after: page("xor", "perceptron", 120) }),
      choice("Which weights does the pocket keep?", ["the last", "the best so far", "the mean"], 1, "The weights that had the fewest mistakes."),
    ];
  } },
  L7: { title: "Online and batch", questions(draw) {
    const y = [OR, AND, [1, -1, -1, 1].map((v) => -v)][draw(0, 1)];
    const steps = run(spec("batch"), CORNERS, y);
    const and = run(spec("batch"), CORNERS, AND);
    const name = y === OR ? "OR" : "AND";
    return [
      number(`${name}, from 0: every score is 0, so every row is a mistake. What is Delta = (1/n) sum of y (1, x)?`, steps[0].weights, "The mean over the four rows.", { show: page(name.toLowerCase(), "batch", 0), after: page(name.toLowerCase(), "batch", 1) }),
      number("After how many epochs does the batch perceptron stop on AND (the last one has no mistake)?", and.length, "Step through it.", { show: page("and", "batch", 0), after: page("and", "batch", and.length) }),
      choice("How often does the batch perceptron change its weights?", ["once a row", "once a mistake", "once an epoch"], 2, "It adds the mean of all mistakes."),
    ];
  } },
  L8: { title: "Voted and averaged", questions(draw) {
    const [votes, x] = [[draw(3, 9), draw(1, 6), draw(1, 6)], [draw(1, 4), draw(1, 4)]];
    const voting = [[-1, 1, 0], [1, -1, 0], [2, 0, -1]];
    const total = voting.reduce((sum, w, k) => sum + votes[k] * Math.sign(score(w, x)), 0);
    const mean = voting[0].map((_, j) => voting.reduce((sum, w, k) => sum + votes[k] * w[j], 0) / votes.reduce((a, b) => a + b, 0));
    const steps = run(spec("voted"), CORNERS, AND);
    return [
      number(`Voters (b, w): ${voting.map((w, k) => `${vector(w)} with ${votes[k]} votes`).join("; ")}. What is the sum of the votes at x = ${vector(x)}?`, total, "Each votes with the sign of its score; a score of 0 does not vote."),
      number("What is the mean (b, w) of the averaged perceptron?", mean, "The weights, each as often as it has votes."),
      number("How many different weights does the voted perceptron keep on AND?", voters(steps, steps.length).length, "A new one after each mistake.", { show: page("and", "voted", 0), after: page("and", "voted", steps.length) }),
      choice("A thousand rows are right, and the last one is a mistake. Which weights are ruined most?", ["the last", "the mean", "the votes"], 0, "The mean and the votes remember the thousand."),
    ];
  } },
  L9: { title: "Least squares", questions(draw) {
    const y = [draw(0, 3), draw(1, 5), draw(2, 8)];
    const fit = /** @type {number[]} */ (ridge([[0], [1], [2]], y, 0));
    return [
      number(`Rows x = 0, 1, 2 with y = ${y.join(", ")}. What is the slope of least squares?`, fit[1], "The sum of (x − 1)(y − mean) over the sum of (x − 1)^2: half of the last y minus the first."),
      number("What is its intercept b?", fit[0], "The line goes through the means."),
      number("What is the sum of its residuals?", 0, "The equation of b says so."),
      choice("A column is in the data twice. How many least squares solutions are there?", ["none", "one", "infinitely many"], ridge([[0, 0], [1, 1], [2, 2]], y, 0) === null ? 2 : 1, "X'X is singular: weight can move between the two."),
    ];
  } },
  L10: { title: "Widrow-Hoff", questions(draw) {
    const [w, x, y] = [[0, draw(1, 3), draw(-2, 2)], [draw(1, 3), draw(1, 3)], draw(-3, 3)];
    const eta = 0.1;
    const step = run(spec("widrow_hoff", { eta, start: w, epochs: 1 }), [x], [y])[0];
    return [
      number(`(b, w) = ${vector(w)}, eta = 0.1, x = ${vector(x)}, y = ${shown(y)}. What is the error w.x + b − y?`, step.score - y, "The score minus the target."),
      number("What is (b, w) after the step?", step.weights, "w −= eta (error) x, and b −= eta (error)."),
      number("Above which eta does a step on this row alone make its error larger?", 2 / (1 + dot(x, x)), "The error is multiplied by 1 − eta |(1, x)|^2."),
      choice("The row is right: its score has the sign of y. Does Widrow-Hoff change w?", ["never", "unless the score is y exactly", "only on mistakes"], 1, "It is regression: every error counts.", { show: page("clouds", "widrow_hoff", 0, "").replace("eta=1", "eta=0.05"), after: page("clouds", "widrow_hoff", 5).replace("eta=1", "eta=0.05") }),
    ];
  } },
  L11: { title: "Ridge and its prior", questions(draw) {
    const [alpha, y] = [draw(1, 6), [draw(-4, 0), draw(-1, 2), draw(2, 6)]];
    const [plain, shrunk] = [0, alpha].map((a) => /** @type {number[]} */ (ridge([[-1], [0], [1]], y, a))[1]);
    return [
      number(`Rows x = −1, 0, 1 with y = ${y.map(shown).join(", ")}. The slope of least squares is ${shown(plain)}. What is it with ridge, alpha = ${alpha}?`, shrunk, `The sum of x y over the sum of x^2 + alpha: ${shown(2 * plain)} / ${2 + alpha}.`),
      number(`alpha = ${alpha}. What is the variance of each weight in the Gaussian prior?`, 1 / alpha, "The prior is N(0, I / alpha)."),
      choice("What is the ridge solution in the Bayesian view?", ["the mean of the prior", "the mean of the posterior", "its variance"], 1, "(X'X + alpha I)^-1 X'y is the mean of the posterior."),
      choice("alpha grows. What do the weights do?", ["become exactly 0 one by one", "shrink towards 0", "grow"], 1, "They shrink, and none is exactly 0.", { show: page("clouds", "ridge", 0, "&alpha=1"), after: page("clouds", "ridge", 0, "&alpha=100") }),
    ];
  } },
  L12: { title: "Penalties by norms", questions(draw) {
    const w = [draw(-5, -1), 0, draw(1, 4)];
    const X = CORNERS.map(([a, b]) => [2 * a - 1, 2 * b - 1]);
    const y = [-draw(2, 5), -1, 1, draw(2, 5)];
    const path = lassoPath(X, y);
    const alpha = Number((path[0].alpha / 2).toFixed(2));
    return [
      number(`w = ${vector(w)}. What are the L0, L1 and L_inf norms (three numbers)?`, [2, Math.abs(w[0]) + w[2], Math.max(-w[0], w[2])], "Count, sum, largest."),
      number(`Rows ${X.map(vector).join(", ")} with y = ${y.map(shown).join(", ")}. At which alpha are all weights of the lasso 0 for the first time?`, path[0].alpha, "The largest |sum of x_j y| / n."),
      number(`alpha = ${alpha}. What are w1 and w2 of the lasso?`, /** @type {number[]} */ (onPath(path, alpha)).slice(1), "The columns are orthogonal with mean square 1: each weight is sum of x_j y / n, moved by alpha towards 0."),
      choice("Which penalty sets weights to exactly 0?", ["L2", "L1", "L_inf"], 1, "Its ball has corners on the axes.", { show: page("ring", "lasso", 0, "&alpha=0.01").replace("degree=1", "degree=2"), after: page("ring", "lasso", 0, "&alpha=0.2").replace("degree=1", "degree=2") }),
    ];
  } },
  L13: { title: "Validation", questions(draw) {
    const [k, size] = [draw(4, 10), draw(3, 12)];
    const errors = [draw(1, 9), draw(1, 9), draw(1, 9), draw(1, 9)].map((v) => v / 20);
    const held = [0.3, 0.2, 0.1, 0.25].map((v) => Number((v + draw(0, 3) / 100).toFixed(2)));
    return [
      number(`${k * size} rows in ${k} folds. On how many rows is each model trained?`, k * size - size, "All but one fold."),
      number(`How many models does leave-one-out fit for ${k * size} rows?`, k * size, "One a row."),
      number(`The errors of four folds are ${errors.join(", ")}. What is the cross-validated error?`, errors.reduce((a, b) => a + b, 0) / 4, "Their mean."),
      choice(`Degree 1, 2, 3, 4 have the held-out errors ${held.join(", ")}. Which do you choose?`, ["1", "2", "3", "4"], held.indexOf(Math.min(...held)), "The smallest held-out error; then train on all rows."),
      choice("The error that chose the degree is reported as the error of the model. It is ...", ["right", "too small on average", "too large on average"], 1, "The smallest of several noisy numbers is smaller than their truth: hold out other rows for it."),
    ];
  } },
  L14: { title: "Learning curves", questions(draw) {
    const [n, wrong] = [draw(4, 9) * 10, draw(2, 9)];
    const y = [draw(0, 4), draw(2, 8), draw(6, 12)];
    const mean = (y[0] + y[1] + y[2]) / 3;
    const mse0 = y.reduce((sum, v) => sum + (v - mean) ** 2, 0) / 3;
    const mse = draw(1, 3) / 10;
    return [
      number(`${wrong} of ${n} held-out rows are wrong. What is the performance, 1 − error rate?`, 1 - wrong / n, "The fraction that is right."),
      number(`Targets ${y.join(", ")}. What is MSE0, the error of predicting their mean?`, mse0, "The mean squared distance from the mean."),
      number(`A model has MSE ${mse}. What is its performance MSE0 − MSE?`, mse0 - mse, "How much better than the constant it is."),
      choice("More training rows, the same learner. The training error usually ...", ["rises", "falls", "stays 0"], 0, "More rows are harder to fit; the held-out error falls, and both meet."),
    ];
  } },
  L15: { title: "Regression as a classifier", questions(draw) {
    const far = draw(20, 40);
    const fit = /** @type {number[]} */ (ridge([[-3], [-2], [-1], [1], [2], [far]], [-1, -1, -1, 1, 1, 1], 0));
    const [n, wrong, s] = [draw(2, 5) * 10, draw(1, 9), draw(3, 7)];
    return [
      number(`${wrong} of ${n} rows are wrong. What is the error rate?`, wrong / n, "Wrong over all."),
      number(`A row with y = +1 has the score ${s}. It is right. What is its squared error?`, (s - 1) ** 2, "Being far on the right side costs as much as being wrong."),
      number(`Rows x = −3, −2, −1 (−1) and 1, 2, ${far} (+1). At which x is the boundary of least squares?`, -fit[0] / fit[1], "The far row pulls the line down, and the boundary towards itself."),
      choice("Is the row x = 1 on its side of that boundary?", ["yes", "no"], fit[0] + fit[1] > 0 ? 0 : 1, "Compare it with the boundary."),
    ];
  } },
  L16: { title: "Separable data, separable problem", questions(draw) {
    const d = draw(2, 9);
    const X = [[0, 0], [4, 1], [1, 5], [6, 7 + draw(0, 3)]];
    return [
      number(`Rows in general position with ${d} features. Up to how many rows is every labelling separable?`, d + 1, "d + 1 points are the corners of a simplex."),
      number("Four points in general position in the plane have 16 labellings. How many are separable?", separableCount(X), "Cover: 2 (1 + 3 + 3) = 14."),
      choice("A sample of 20 rows with 30 features is separable. Does a hyperplane separate the classes of the whole problem?", ["yes", "not known"], 1, "Any labels of 20 such rows are separable, also coin flips."),
    ];
  } },
  L17: { title: "Quadratic features", questions(draw) {
    const [d, r, x] = [draw(2, 5), draw(2, 4), [draw(0, 4), draw(0, 4)]];
    return [
      number("How many features has (x1, x2) with its squares and product?", products([1, 1], 2).length, "x1, x2, x1², x1 x2, x2²."),
      number(`And ${d} columns with all squares and products?`, products(Array.from({ length: d }, () => 1), 2).length, "d + d (d + 1) / 2."),
      number(`The boundary is the circle x1² + x2² = ${r * r}. What is the score x1² + x2² − ${r * r} at ${vector(x)}?`, dot(x, x) - r * r, "Positive outside.", { show: page("ring", "perceptron"), after: page("ring", "perceptron", 900).replace("degree=1", "degree=2") }),
      choice("Which boundary is x1² − x2² − 1 = 0?", ["ellipse", "hyperbola", "parabola"], 1, "The squares have opposite signs."),
      task("Add rows to the ring until squares and products do not separate it.", ({ X, y }) => y.includes(1) && y.includes(-1) && !isSeparable(X.map((x2) => products(x2, 2)), y), "One row of the ring in the middle of the disc is enough.", page("ring", "perceptron").replace("degree=1", "degree=2")),
    ];
  } },
  L18: { title: "Categories", questions(draw) {
    const [a, b, c] = [draw(3, 6), draw(2, 5), draw(2, 4)];
    return [
      number("The surface of a mushroom is fibrous, grooves, scaly or smooth. How many one-hot columns is that?", 4, "One a level."),
      number(`Three columns with ${a}, ${b} and ${c} levels. How many one-hot columns?`, a + b + c, "Their sum."),
      number("How many ones has each row among them?", 3, "One for each category."),
      choice("What do the codes 1, 2, 3, 4 claim that one-hot columns do not?", ["nothing", "that scaly is between grooves and smooth", "that there are four levels"], 1, "A weight times the code orders the levels, and spaces them evenly."),
    ];
  } },
  L19: { title: "Features from dicts", questions(draw) {
    const more = draw(0, 1);
    const rows = ['{"free": 1, "from": "bank"}', '{"money": 2, "from": "friend"}', more ? '{"free": 3, "links": 4}' : '{"free": 3}'];
    return [
      number(`Rows ${rows.join(", ")}. How many columns do they become?`, 4 + more, `free, money, from=bank, from=friend${more ? ", links" : ""}.`),
      number('What is the column "from=bank" of the first row?', 1, "A text is a category: its column is 1."),
      number('A later row has {"lottery": 5}, which training never saw. How much does it add to the score?', 0, "There is no weight for it."),
    ];
  } },
  L20: { title: "Surrogate losses", questions(draw) {
    const margin = draw(-4, 8) / 4;
    const [x, eta] = [[draw(1, 3), draw(1, 3)], 0.5];
    const step = run(spec("sgd", { loss: "log_loss", eta, epochs: 1 }), [x], [1])[0];
    return [
      number("What is sigma(0)?", sigmoid(0), "1 / (1 + e^0)."),
      number("A row has the score 0 and the target 1. What is (y − sigma)²?", LOSSES.sigmoid_mse.value(0, 1), "(1 − 1/2)²."),
      number(`y s = ${shown(margin)}. What is the hinge loss?`, LOSSES.hinge.value(margin, 1), "max(0, 1 − y s)."),
      number(`From 0, one step on the logistic loss: eta = 0.5, x = ${vector(x)}, y = 1. What is (b, w)?`, step.weights, "The derivative at 0 is −1/2, so eta / 2 (1, x) is added."),
      choice("Rows (−1, 0) and (1, 0), one a class. Which boundary has the wider margin?", ["x1 = 0", "x1 + x2 = 0.5"], 0, `The SVM finds (b, w) = ${vector(svmSteps([[-1, 0], [1, 0]], [-1, 1], 10).slice(-1)[0].weights.map((v) => Number(v.toFixed(6)) + 0))}.`, { show: page("clouds", "sgd").replace("eta=1", "eta=0.1"), after: page("clouds", "svm", 30) }),
    ];
  } },
  L21: { title: "One family", questions(draw) {
    const [p, q] = [draw(2, 4), draw(5, 8)];
    const X = [[0, 1], [2, 3], [5, 2], [7, 4]];
    const bayes = /** @type {number[]} */ (naiveBayes(X, [-1, -1, 1, 1]));
    return [
      choice("Perceptron, naive Bayes, SVM and logistic regression differ in ...", ["how they predict", "how they find w and b", "the sign of the score"], 1, "All predict by w.x + b."),
      number(`A word is ${q} of 1000 words of spam and ${p} of 1000 words of other mail. What is its weight in multinomial naive Bayes (natural logarithm)?`, Math.log(q / p), "The logarithm of the ratio."),
      number("Gaussian naive Bayes with rows (0, 1), (2, 3) of −1 and (5, 2), (7, 4) of +1. What is w1?", bayes[1], "The difference of the means, 5, over the variance within the classes, 2."),
      number("How many numbers is a linear model of 3 classes and 4 features?", 15, "Four weights and a bias a class."),
    ];
  } },
  L22: { title: "Linear discriminant analysis", questions(draw) {
    const low = [0, 2].map((v) => [v]);
    const shift = draw(5, 9);
    const rows = [...low, [shift], [shift + 2]];
    const y = [-1, -1, 1, 1];
    const { covariance, low: mu1, high: mu2 } = withinClasses(rows, y);
    const x = draw(2, 4);
    const pi = 0.75;
    const middle = (mu1[0] + mu2[0]) / 2;
    const S = [[2, 1], [1, 2]];
    const mu = [draw(1, 3), draw(1, 3)];
    return [
      number(`Rows 0, 2 of one class and ${shift}, ${shift + 2} of the other. What is the variance within the classes, over N − K?`, covariance[0][0], "The squares about the two means are 4 in sum, over 4 − 2."),
      number("With equal priors, at which x is the boundary?", middle, "(mu1 + mu2) / 2, for every sigma.", { show: page("normals", "least_squares"), after: page("normals", "lda") }),
      number(`What is delta_2(x) of the second class at x = ${x}, with prior 1/2?`, (x * mu2[0]) / covariance[0][0] - mu2[0] ** 2 / (2 * covariance[0][0]) + Math.log(0.5), "x mu / s² − mu² / (2 s²) + log pi."),
      number("The second class has the prior 0.75. At which x is the boundary now?", middle - (covariance[0][0] * Math.log(pi / (1 - pi))) / (mu2[0] - mu1[0]), "It moves towards the rarer class by s² log(pi2 / pi1) / (mu2 − mu1).", { show: page("normals", "lda", 0, "&prior="), after: page("normals", "lda", 0, "&prior=0.75") }),
      number(`Covariance [[2, 1], [1, 2]], mean ${vector(mu)}. What are the weights Sigma^-1 mu of its discriminant?`, /** @type {number[]} */ (solve(S, mu)), "Solve Sigma w = mu.", { show: page("penguins", "lda") }),
    ];
  } },
  L23: { title: "Spam, digits, images", questions(draw) {
    const [side, classes] = [draw(6, 12), draw(5, 10)];
    const [links, weight, words] = [draw(1, 5), draw(1, 4) / 2, -draw(1, 4)];
    return [
      number(`Words give a mail the score ${shown(words)}. It has ${links} links with the weight ${weight} each. What is its score?`, words + links * weight, "Content and structure are features of one w."),
      number(`Images of ${side} x ${side} pixels. How many features?`, side * side, "One a pixel."),
      number(`${classes} digits, one model each, with a bias. How many numbers in all?`, classes * (side * side + 1), "Weights and bias, times the classes."),
      choice("The weights of a digit are drawn as an image. A pixel of large positive weight is ...", ["dark in most images", "ink that speaks for this digit", "noise"], 1, "It adds to the score of this digit where there is ink."),
    ];
  } },
};

/** The questions of a lesson for a seed. @param {string} name @param {number} seed @returns {Question[]} */
export function questionsOf(name, seed) {
  const below = generator(1000 * seed + Number(name.slice(1)));
  return LESSONS[name].questions((low, high) => low + below(high - low + 1));
}

/** Whether a reply is right: numbers within half a percent, a choice by its index.
 * @param {Question} question @param {string} reply @param {Shown} page */
export function isRight(question, reply, page) {
  if (question.task) return question.task(page);
  if (question.choices) return reply === String(question.right);
  const numbers = reply.replace(/[−–]/g, "-").replace(/[()[\]]/g, " ").split(/[,;\s]+/).filter(Boolean).map(Number);
  const expected = question.answer ?? [];
  return numbers.length === expected.length && expected.every((v, k) => Math.abs(numbers[k] - v) <= 0.005 * Math.max(1, Math.abs(v)));
}

/** The answer as text, for a teacher's key. @param {Question} question */
export function keyOf({ task: asked, choices, right, answer }) {
  if (asked) return "checked on the page";
  return choices ? choices[right ?? 0] : (answer ?? []).map(shown).join(", ");
}
