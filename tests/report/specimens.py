"""Contents of reports, made by hand from small trained models: one for every kind of page."""

from __future__ import annotations

import csv
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes

from separable import LDA, LogisticRegression, Ridge, TableClassifier, TableRegressor
from separable.datasets import PENGUINS
from separable.errors import Absent
from separable.features import TableEncoder
from separable.geometry import separability
from separable.model.linear_model import LinearModel
from separable.model.metrics.evaluation import evaluation
from separable.model.metrics.metric_registry import Predictions, predictions_of
from separable.report.contents import (
    Certificate,
    Column,
    Contents,
    Data,
    HardRow,
    Mark,
    Measured,
    RegularizationCurve,
    Reproduction,
    Standing,
    Tried,
)
from separable.select import learning_curve

#: What a page must show and never run: in names of columns, classes and files, and in cells.
SCRIPT = "</script><script>document.title='owned'</script>"
IMAGE = "<img src=x onerror=\"document.title='owned'\">"
EXPRESSION = "{{7*7}} ${7*7} datum['a'] a.b[0] c:Q"
QUOTES = "\"quoted\" 'too' \\ back`tick` &amp;"
RIGHT_TO_LEFT = "שלום עולם مرحبا \u202e evil"
EMOJI = "👩‍👩‍👧‍👦🎉"
CONTROL = "nul\x00 bell\x07 tab\t line\nline\u2028"
LONE = "half of a pair \ud800"
LONG = "long " * 2000
#: Names that every object of JavaScript has.
TAKEN = ("constructor", "__proto__", "toString")
HOSTILE = (SCRIPT, IMAGE, EXPRESSION, QUOTES, RIGHT_TO_LEFT, EMOJI, CONTROL, LONG, *TAKEN)

REPRODUCTION = Reproduction(
    ("separable train rows.csv --target y --report"),
    (("separable", "0.1"), ("Python", "3.11"), ("NumPy", "2.0")),
    0,
    "rows.model",
)


def tried(metric: str = "accuracy", greater: bool = True) -> Tried:
    scores = (0.955, 0.951, 0.90) if greater else (2.9, 3.0, 3.4)
    names = ("LogisticRegressionCV", "LinearSVM", "Perceptron")
    standings = [
        Standing(
            name,
            {"C": 10.0**-k, "penalty": "l2"},
            score,
            0.011,
            abs(score - scores[0]) or None,
            0.006,
            k == 2 if k else None,
            0.4 * (k + 1),
            None,
        )
        for k, (name, score) in enumerate(zip(names, scores, strict=True))
    ]
    failed = Standing("LDA", {}, None, None, None, None, None, None, "it needs two rows a class.")
    why = "LogisticRegressionCV has the best mean, and LinearSVM is not clearly worse."
    return Tried(metric, greater, 5, 800, 1000, (*standings, failed), names[0], why)


def regularization_curve(*, odd: bool = False) -> RegularizationCurve:
    values = (0.0, 0.1, 1.0, np.inf) if odd else tuple(10.0 ** np.arange(-4, 4))
    means = tuple(0.9 - 0.01 * abs(k - 2.0) for k in range(len(values)))
    errors = (0.01,) * len(values)
    return RegularizationCurve(
        "LogisticRegression", "C", "accuracy", True, values, means, errors, values[2]
    )


def column_list(names: Any, role: str = "number") -> tuple[Column, ...]:
    return tuple(
        Column(name, role, k % 3, "5 levels" if k % 2 else "") for k, name in enumerate(names)
    )


def contents_of(model: Any, data: Data, measured: Measured | Absent, **parts: Any) -> Contents:
    """Return contents of which only the model, the data and how good it is are given."""
    nothing: dict[str, Any] = {
        "tried": Absent("One learner was asked for, so none were compared."),
        "learning_curve": Absent("The learning curve needs the rows, and only the model is here."),
        "regularization": Absent("This learner has no strength to choose."),
        "separability": Absent("Separability is a question of two classes."),
        "separability_rows": "",
        "hard_rows": Absent("Hard rows need rows that the model has not learned from."),
        "certificate": Absent("This learner gives no certificate."),
    }
    given = {**nothing, **parts}
    return Contents(model=model, data=data, measured=measured, reproduction=REPRODUCTION, **given)


def measured_of(predictions: Predictions, truth: Any, weight: Any = None) -> Measured:
    how = "The figures are of rows that were held out: a quarter of all, drawn at random."
    return Measured(
        how, evaluation(predictions, truth, weight), np.asarray(truth), predictions, weight
    )


@cache
def penguins() -> Contents:
    """Three classes of a table."""
    with PENGUINS.open() as file:
        rows = [row for row in csv.DictReader(file) if row["species"]]
    table = {name: [row[name] for row in rows] for name in rows[0]}
    names = [name for name in table if name not in ("species",)]
    place = np.random.default_rng(0).permutation(len(rows))
    learn, test = place[80:], place[:80]
    part = lambda which: {n: _cells(table[n], which) for n in names}  # noqa: E731
    truth = np.array(table["species"])
    fitted = TableClassifier(LogisticRegression()).fit(part(learn), truth[learn])
    predictions = predictions_of(fitted.model_, part(test))
    encoded = fitted.model_.encoder.encode(part(place))
    counts = [(str(c), int(n)) for c, n in zip(*np.unique(truth, return_counts=True), strict=True)]
    data = Data(
        "penguins.csv", len(rows), (*column_list(names), Column("species", "target", 0, "")),
        "species", "classification", tuple(sorted(counts, key=lambda each: -each[1])),
        sha256="0" * 64,
    )  # fmt: skip
    wrong = np.flatnonzero(predictions.predicted != truth[test])
    rows_told = wrong.tolist() or [0, 1]
    hard = tuple(
        HardRow(
            int(test[k]) + 2, truth[test][k].item(), predictions.predicted[k].item(), 0.31, 0.8,
            tuple((n, str(table[n][test[k]])) for n in names),
            (("bill_length_mm", 1.2), ("flipper_length_mm", -0.7), ("island=Dream", 0.2)),
        )
        for k in rows_told[:4]
    )  # fmt: skip
    curve = learning_curve(
        LDA(shrinkage=0.1), encoded, truth[place], sizes=[20, 40, 80, 160, 240], repeats=5
    )
    return contents_of(
        fitted.model_, data, measured_of(predictions, truth[test]),
        tried=tried(), regularization=regularization_curve(), learning_curve=curve, hard_rows=hard,
        certificate=Certificate(3.2e-7, 1e-6, True, 1, 41.93821, 41.93820),
        notes=("8 rows without a value of sex are counted as a level of their own.",),
        warnings=("bill_length_mm and flipper_length_mm say almost the same (correlation 0.87).",),
    )  # fmt: skip


def _cells(column: list[str], which: Any) -> list[Any]:
    picked = [column[k] for k in which]
    try:
        return [None if cell in ("", "NA") else float(cell) for cell in picked]
    except ValueError:
        return picked


WORDS = {
    "good": ("great", "lovely", "superb", "moving", "warm", "clever"),
    "bad": ("dull", "awful", "boring", "flat", "clumsy", "worst"),
    "other": ("film", "plot", "the", "actor", "and", "scene", "it", "was", "a", "music", "end"),
}


@cache
def reviews(n: int = 600) -> Contents:
    """Two classes of texts."""
    rng = np.random.default_rng(1)
    truth = np.where(rng.random(n) < 0.45, "negative", "positive")
    texts = [_review(rng, label) for label in truth]
    learn = slice(0, 2 * n // 3)
    encoder = TableEncoder(text=["review"])
    fitted = TableClassifier(LogisticRegression(), encoder)
    fitted.fit({"review": texts[learn]}, truth[learn])
    rest = texts[2 * n // 3 :]
    predictions = predictions_of(fitted.model_, {"review": rest})
    held = truth[2 * n // 3 :]
    wrong = np.flatnonzero(predictions.predicted != held)[:5]
    hard = tuple(_hard_review(int(k), rest[k], held[k], predictions, int(k)) for k in wrong)
    columns = (Column("review", "text", 0, "23 words"), Column("sentiment", "target", 0, ""))
    data = Data(
        "reviews.csv", n, columns, "sentiment", "classification",
        (("positive", 330), ("negative", 270)),
    )  # fmt: skip
    verdict = separability(rng.normal(size=(60, 2)), (np.arange(60) % 2).astype(str))
    return contents_of(
        fitted.model_, data, measured_of(predictions, held), hard_rows=hard,
        separability=verdict, separability_rows="All rows, with the columns as encoded.",
        certificate=Certificate(2e-3, 1e-6, False, 3),
        regularization=regularization_curve(odd=True),
    )  # fmt: skip


def _review(rng: Any, label: str) -> str:
    own = WORDS["good" if label == "positive" else "bad"]
    against = WORDS["bad" if label == "positive" else "good"]
    words = [*rng.choice(WORDS["other"], 18), *rng.choice(own, 2), *rng.choice(against, 2)]
    if rng.random() < 0.6:
        words.append(str(rng.choice(own)))
    return " ".join(str(word) for word in rng.permutation(words))


def _hard_review(row: int, text: str, truth: Any, predictions: Predictions, k: int) -> HardRow:
    marks, at = [], 0
    for word in text.split(" "):
        size = (word in WORDS["good"]) - (word in WORDS["bad"]) or 0
        if size:
            marks.append(Mark(at, at + len(word), size * (0.3 + 0.1 * len(word))))
        at += len(word) + 1
    chance = float(predictions.probabilities[k].min())
    shares = tuple((f"review:{text[m.start : m.stop]}", m.contribution) for m in marks)
    return HardRow(
        row + 2, str(truth), str(predictions.predicted[k]), chance, 0.7, (), shares,
        (("review", text, tuple(marks)),),
    )  # fmt: skip


@cache
def diabetes(n: int = 442) -> Contents:
    """Numbers; of more than 442 rows, those again with noise."""
    X, y = load_diabetes(return_X_y=True)
    names = load_diabetes().feature_names
    fitted = Ridge(alpha=0.1).fit(X[100:], y[100:])
    model = LinearModel(
        np.atleast_2d(fitted.coef_), np.atleast_1d(fitted.intercept_), None, "identity", names,
        learner="Ridge", parameters={"alpha": 0.1}, family="moments",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    some = rng.integers(0, 100, n) if n > len(X) else np.arange(100)
    truth = y[some] + (rng.normal(0, 9, n) if n > len(X) else 0.0)
    predictions = Predictions(fitted.predict(X[some]))
    counts, edges = np.histogram(y, bins=16)
    bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
    columns = (*column_list(names), Column("progression", "target", 0, ""))
    data = Data("diabetes.csv", len(y), columns, "progression", "regression", (), tuple(bins))
    off = np.argsort(-np.abs(predictions.predicted - truth))[:3]
    hard = tuple(
        HardRow(
            int(k) + 2, truth[k].item(), predictions.predicted[k].item(), None,
            abs(float(predictions.predicted[k] - truth[k])),
            tuple((n, f"{v:.3f}") for n, v in zip(names, X[some][k], strict=True)),
            tuple(zip(names, (fitted.coef_.ravel() * X[some][k]).tolist(), strict=True)),
        )
        for k in off.tolist()
    )  # fmt: skip
    curve = learning_curve(Ridge(alpha=0.1), X, y, sizes=[25, 50, 100, 200, 300], repeats=5)
    return contents_of(
        model, data, measured_of(predictions, truth), hard_rows=hard, learning_curve=curve,
        tried=tried("rmse", greater=False),
    )  # fmt: skip


@cache
def curved() -> Contents:
    """Curves with bands, a pair of numbers and one with a category."""
    rng = np.random.default_rng(0)
    n = 600
    table = {
        "age": rng.uniform(18, 90, n),
        "pay": rng.exponential(9.0, n),
        "hour": rng.choice(["8", "9", "10"], n),
    }
    y = np.abs(table["age"] - 45) + table["pay"] * (table["hour"] == "10") + rng.normal(size=n)
    pairs = [("age", "pay"), ("pay", "hour")]
    learner = TableRegressor(Ridge(), TableEncoder(curves=True, interactions=pairs)).fit(table, y)
    columns = (*column_list(("age", "pay")), Column("y", "target", 0, ""))
    data = Data("pay.csv", n, columns, "y", "regression", (), ())
    return contents_of(learner.model_, data, measured_of(Predictions(learner.predict(table)), y))


@cache
def many_classes(k: int, n: int = 3000) -> Contents:
    """Many classes, which scores tell apart more or less."""
    rng = np.random.default_rng(2)
    classes = np.array([f"class {j:03d}" for j in range(k)])
    code = rng.integers(0, k, n)
    scores = rng.normal(size=(n, k))
    scores[np.arange(n), code] += rng.uniform(1, 4, k)[code]
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    predictions = Predictions(classes[scores.argmax(axis=1)], scores, chances, classes)
    model = LinearModel(
        rng.normal(size=(k, 40)), np.zeros(k), classes, "softmax",
        [f"pixel {j}" for j in range(40)], learner="LogisticRegression",
    )  # fmt: skip
    counts = [(str(c), int(n)) for c, n in zip(classes, np.bincount(code), strict=True)]
    counts.sort(key=lambda each: -each[1])
    data = Data(
        "marks.parquet", n, column_list(model.feature_names), "mark", "classification", counts
    )
    return contents_of(model, data, measured_of(predictions, classes[code]))


def nothing() -> Contents:
    """A model file alone, from which hardly anything is known."""
    model = LinearModel([[0.0, 0.0]], [1.0], ["no", "yes"], "score", learner="Perceptron")
    data = Data("", None, (), "y", "classification")
    return contents_of(model, data, Absent("There are no rows, so nothing can be measured."))


@cache
def hostile() -> Contents:
    """Two classes whose every name and cell tries to be more than text."""
    rng = np.random.default_rng(3)
    names = [f"{name}" for name in HOSTILE]
    n = 240
    table = {name: list(rng.choice(HOSTILE[:6], n)) for name in names[:4]}
    table |= {name: rng.normal(size=n).tolist() for name in names[4:]}
    truth = np.where(np.array(table[names[4]]) + rng.normal(0, 0.7, n) > 0, SCRIPT, RIGHT_TO_LEFT)
    fitted = TableClassifier(LogisticRegression()).fit(table, truth)
    predictions = predictions_of(fitted.model_, table)
    cells = ((LONE, LONE), *((name, SCRIPT) for name in names), (LONG, LONG))
    marked = f"{SCRIPT} {RIGHT_TO_LEFT} {LONG}"
    marks = (Mark(0, 9, 1.0), Mark(5, 20, -0.5), Mark(len(SCRIPT), len(SCRIPT) + 12, 0.4))
    hard = tuple(
        HardRow(k + 2, SCRIPT, RIGHT_TO_LEFT, 0.1, 2.0, cells,
                tuple((name, 1.0 - 0.2 * j) for j, name in enumerate(names)),
                ((IMAGE, marked, marks),))
        for k in range(30)
    )  # fmt: skip
    data = Data(
        IMAGE, n, column_list(names * 40, "category"), SCRIPT, "classification",
        tuple((name, 10) for name in names), sha256="0" * 64,
    )  # fmt: skip
    labels = np.where(np.arange(40) % 2, *HOSTILE[:2])
    given = contents_of(
        fitted.model_, data, replace(measured_of(predictions, truth), how=SCRIPT, caution=IMAGE),
        tried=replace(tried(), why=SCRIPT), hard_rows=hard,
        notes=(*HOSTILE, LONE) * 10, warnings=tuple(HOSTILE) * 10, separability_rows=IMAGE,
        separability=separability(rng.normal(size=(40, 2)), labels),
    )  # fmt: skip
    again = Reproduction(tuple(HOSTILE), tuple((x, x) for x in HOSTILE), 0, SCRIPT)
    return replace(given, reproduction=again)


def largest() -> Contents:
    """As much of everything as a page can hold, and more."""
    emoji = "\U0001f389"
    given = many_classes(30, 20_000)
    names = [f"{emoji * 90}{label}" for label in given.measured.predictions.classes.tolist()]
    classes = np.array(names)
    predictions = given.measured.predictions
    code = np.searchsorted(predictions.classes, predictions.predicted)
    renamed = Predictions(classes[code], predictions.scores, predictions.probabilities, classes)
    truth = classes[np.searchsorted(predictions.classes, given.measured.y_true)]
    text = f"{emoji}a " * 5000
    marks = tuple(Mark(3 * k, 3 * k + 2, 1.0 + k) for k in range(4000))
    row = HardRow(
        1, text, text, 0.1, 1.0, ((text, text),) * 99, ((text, 1.0),) * 99,
        ((text, text, marks),) * 9,
    )  # fmt: skip
    features = [f"{emoji * 99}{k}" for k in range(40)]
    model = LinearModel(given.model.weights, given.model.intercept, classes, "softmax", features)
    data = replace(
        given.data, name=text, target=text, columns=column_list([text] * 999),
        target_counts=tuple((name, 9) for name in names),
    )  # fmt: skip
    standing = replace(tried().standings[0], learner=text)
    every = replace(tried(), standings=(standing,) * 99, why=text)
    return contents_of(
        model, data, measured_of(renamed, truth), hard_rows=(row,) * 99,
        notes=(text,) * 999, warnings=(text,) * 999, tried=every,
    )  # fmt: skip
