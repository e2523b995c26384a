// "The same in Python": a program that computes the weights on the screen.
import { CERTIFIED, CLOSED } from "./kernels.mjs";

/** @type {Record<string, string>} */
const CLASSES = {
  perceptron: "Perceptron", averaged: "AveragedPerceptron", voted: "VotedPerceptron", batch: "BatchPerceptron",
  widrow_hoff: "WidrowHoff", sgd: "SGDClassifier", least_squares: "LeastSquares", ridge: "Ridge", lda: "LDA",
  logistic: "LogisticRegression", svm: "LinearSVM", lasso: "Lasso", naive_bayes: "LinearGaussianNB",
};

/** @param {{spec: import("./kernels.mjs").Spec, example: string | null, X: number[][], y: number[], degree: number, at: number,
 *   training?: number[], standard?: boolean}} shown
 *   `example` is the name of a built-in data set that was not edited; `X` the raw columns;
 *   `training` the rows that are not held out, if any are */
export function pythonCode({ spec, example, X, y, degree, at, training, standard = false }) {
  const closed = spec.learner in CLOSED || spec.learner in CERTIFIED;
  const names = degree > 1 ? ["PolynomialEncoder", CLASSES[spec.learner]] : [CLASSES[spec.learner]];
  const imports = [`from separable import ${names.sort().join(", ")}`];
  if (example || training) imports.unshift("import numpy as np");
  if (example) imports.push("from separable.datasets import load");
  if (!closed) imports.push("from separable.learn import trace");
  const rows = example ? [`X, y, columns = load("${example}")`, "y = np.where(y == np.unique(y)[1], 1, -1)"] : [`X = ${JSON.stringify(X)}`, `y = ${JSON.stringify(y)}`];
  if (example && standard) rows.push("X = (X - X.mean(axis=0)) / X.std(axis=0)");
  if (degree > 1) rows.push(`X = PolynomialEncoder(${degree}).fit_transform(X)`);
  if (training) rows.push(`training = ${JSON.stringify(training)}`, "X, y = np.asarray(X)[training], np.asarray(y)[training]");
  return [...imports, "", ...rows, ...(closed ? closedLines(spec) : stepLines(spec, at))].join("\n");
}

/** @param {import("./kernels.mjs").Spec} spec */
function closedLines(spec) {
  const lines = [`fitted = ${CLASSES[spec.learner]}(${fitOptions(spec).join(", ")}).fit(X, y)`, "print(fitted.intercept_, fitted.coef_)"];
  return spec.learner in CERTIFIED ? [...lines, "# fitted.certificate_: the optimum lies between its dual and its primal"] : lines;
}

/** @param {import("./kernels.mjs").Spec} spec */
function fitOptions({ learner, alpha, C, prior }) {
  if (learner in CERTIFIED) return [`C=${C}`, "tol=1e-12"];
  if (learner === "lasso" || learner === "ridge") return [`alpha=${alpha}`];
  return prior === undefined ? [] : [`priors=[${1 - prior}, ${prior}]`];
}

/** @param {import("./kernels.mjs").Spec} spec @param {number} at */
function stepLines(spec, at) {
  const descends = ["sgd", "widrow_hoff"].includes(spec.learner);
  const options = spec.learner === "sgd" ? [`"${spec.loss}"`, 'learning_rate="constant"'] : [];
  if (!descends) options.push(`ties="${spec.ties}"`);
  options.push(`eta0=${spec.eta}`, `max_iter=${spec.epochs}`);
  if (descends) options.push("tol=None");
  const given = spec.learner === "batch" ? [] : [`order=${spec.order ? JSON.stringify(spec.order) : '"given"'}`];
  if (spec.start?.some((v) => v !== 0)) given.push(`start=${JSON.stringify(spec.start)}`);
  const weights = spec.learner === "averaged" && at > 0 ? `steps.means[${at - 1}]` : `steps.weights[${at}]`;
  return [`learner = ${CLASSES[spec.learner]}(${options.join(", ")})`, `steps = trace(${["learner", "X", "y", ...given].join(", ")})`,
    `print(${weights})  # (b, w) after step ${at}`];
}
