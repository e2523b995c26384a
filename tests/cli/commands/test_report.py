"""``separable train --report`` and ``separable report``: what their pages say."""

from __future__ import annotations

import csv
import html
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error

from separable import LinearModel, LogisticRegression, TextEncoder, load
from separable.data import read
from separable.datasets import PENGUINS
from separable.errors import Absent
from separable.geometry.verdict import Verdict
from separable.report.contents import Contents, Measured, RegularizationCurve, Tried
from separable.report.page import page
from separable.select.curves.learning_results import LearningCurve

WORDS = {"spam": ["win", "prize", "claim", "cash"], "ham": ["later", "home", "ok", "lunch"]}


@pytest.fixture
def told(monkeypatch):
    """The contents of the reports that are written, which are then short pages."""
    found: list[Contents] = []

    def keep(contents: Contents, path: str) -> None:
        found.append(contents)
        Path(path).write_text("page")

    monkeypatch.setattr(page, "write_page", keep)
    return found


def write(name: str, header: list[str], rows: list[list[object]]) -> str:
    with Path(name).open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return name


def penguins(separable, *options: object) -> None:
    result = separable("train", PENGUINS, "--target", "species", *options, "--report", "r.html")
    assert result.code == 0, result.err


def people(n: int = 120, seed: int = 0) -> list[list[object]]:
    """Rows of two classes that mix: age, city, group, day, weight, paid."""
    rng = np.random.default_rng(seed)
    rows: list[list[object]] = []
    for k in range(n):
        age, city = int(rng.integers(18, 80)), rng.choice(["Rome", "Oslo", "Bern"])
        paid = "yes" if age + 10 * (city == "Rome") + rng.normal(0, 12) > 52 else "no"
        shown = "" if k % 17 == 3 else age
        rows.append([shown, city, f"g{k % 12}", f"2024-01-{1 + k // 5:02}", 1 + k % 3, paid])
    return rows


HEADER = ["age", "city", "group", "day", "weight", "paid"]


# --- train --report ---


def test_three_classes(separable, told):
    penguins(separable, "--model", "logistic-regression", "--set", "C=1")
    (contents,) = told
    assert contents.model.weights.tolist() == load("penguins.safetensors").weights.tolist()
    data = contents.data
    assert (data.name, data.rows, data.target, data.task) == (
        "penguins.csv", 344, "species", "classification",
    )  # fmt: skip
    assert data.target_counts == (("Adelie", 152), ("Gentoo", 124), ("Chinstrap", 68))
    columns = {each.name: each for each in data.columns}
    assert list(columns) == read(PENGUINS).table.column_names
    assert (columns["sex"].role, columns["sex"].missing) == ("category", 11)
    assert (columns["sex"].about, columns["species"].role) == ("2 levels", "target")
    import hashlib

    assert data.sha256 == hashlib.sha256(Path(PENGUINS).read_bytes()).hexdigest()
    assert isinstance(contents.separability, Verdict)
    assert contents.separability.shape == (344, contents.model.n_features)
    assert isinstance(contents.learning_curve, LearningCurve)
    assert contents.learning_curve.sizes[-1] + contents.learning_curve.n_test == 258
    assert contents.learning_curve_rows.startswith("258 rows for training, encoded once.")
    assert contents.certificate.converged
    again = contents.reproduction
    assert again.commands == (
        "separable train penguins.csv --target species --model logistic-regression --set C=1",
    )
    assert (again.seed, again.model_file) == (0, "penguins.safetensors")


def test_figures_are_of_a_model_that_did_not_see_the_rows(separable, told):
    """Rows, y and predictions are checked against the model that scikit-learn's figures are of."""
    write("people.csv", HEADER, people())
    options = ["--drop", "group", "--drop", "day", "--drop", "weight", "--model", "lda"]
    args = ["train", "people.csv", "--target", "paid", *options, "--report", "r.html", "--json"]
    result = separable(*args)
    (contents,) = told
    measured = contents.measured
    assert isinstance(measured, Measured)
    figures, predictions = measured.figures.figures, measured.predictions
    assert figures["accuracy"] == accuracy_score(measured.y_true, predictions.predicted)
    assert figures["log_loss"] == pytest.approx(
        log_loss(measured.y_true, predictions.probabilities, labels=predictions.classes)
    )
    assert json.loads(result.out)["report"] == "r.html"
    assert json.loads(result.out)["held_out"]["accuracy"] == figures["accuracy"]
    # the rows of the file that hard rows name have the values and the truth that are told
    rows = list(csv.DictReader(Path("people.csv").read_text().splitlines()))
    assert len(contents.hard_rows) == min(10, round((1 - figures["accuracy"]) * 30)) > 0
    for row in contents.hard_rows:
        there = rows[row.row - 1]
        assert row.y_true == there["paid"] != row.predicted
        assert dict(row.values)["city"] == there["city"]
        assert dict(row.values)["age"] == (there["age"] or "(missing)")
    # the model that is saved has seen all rows, the one that answered has not
    held = [row.row - 1 for row in contents.hard_rows]
    saved = load("people.safetensors")
    records = [{"age": float(rows[k]["age"] or "nan"), "city": rows[k]["city"]} for k in held]
    assert not np.allclose(
        saved.decision_function(records), [row.margin for row in contents.hard_rows]
    )


def test_what_was_tried_and_the_strengths(separable, told):
    models = ["--model", "logistic-regression", "--model", "lda"]
    penguins(separable, *models, "--folds", 2)
    (contents,) = told
    tried, strengths = contents.tried, contents.regularization
    assert isinstance(tried, Tried)
    assert (tried.metric, tried.folds, tried.rows, tried.of_rows) == ("log_loss", 2, 258, 258)
    assert {each.learner for each in tried.standings} == {"logistic-regression", "lda"}
    assert all(each.seconds is not None and each.seconds > 0 for each in tried.standings)
    assert tried.why.startswith(f"{tried.taken} was chosen: ")
    assert "\n" not in tried.why
    taken = next(each for each in tried.standings if each.learner == tried.taken)
    assert isinstance(strengths, RegularizationCurve)
    assert (strengths.parameter, strengths.metric) == ("C", "log_loss")
    assert not strengths.greater_is_better
    assert strengths.chosen == taken.params["C"]
    assert strengths.means[strengths.values.index(strengths.chosen)] == min(strengths.means)
    assert list(strengths.values) == sorted(strengths.values)


def test_texts_are_marked(separable, told):
    rng = np.random.default_rng(2)
    rows = []
    for k in range(120):
        label = "spam" if k % 3 == 0 else "ham"
        other = "ham" if rng.random() < 0.15 else label
        words = [str(word) for word in rng.choice(WORDS[other], 4)]
        rows.append([f"{' '.join(words)} see you number {k}", label])
    write("mail.csv", ["text", "label"], rows)
    args = ["train", "mail.csv", "--target", "label", "--model", "logistic-regression"]
    assert separable(*args, "--set", "C=10", "--report", "r.html").code == 0
    (contents,) = told
    assert len(contents.hard_rows) > 0
    hard = contents.hard_rows[0]
    ((name, text, marks),) = hard.texts
    assert (name, text) == ("text", rows[hard.row - 1][0])
    strongest = max(marks, key=lambda mark: abs(mark.contribution))
    assert text[strongest.start : strongest.stop] in WORDS["spam"] + WORDS["ham"]
    assert {each.role for each in contents.data.columns} == {"text", "target"}


def test_numbers(separable, told):
    args = ["train", PENGUINS, "--target", "body_mass_g", "--model", "ridge", "--set", "alpha=1"]
    assert separable(*args, "--report", "r.html").code == 0
    (contents,) = told
    measured = contents.measured
    assert contents.data.task == "regression"
    assert contents.data.target_counts == ()
    values = read(PENGUINS).table["body_mass_g"].drop_null().to_numpy()
    low, high, count = contents.data.target_bins[0]
    assert low == values.min()
    assert count == np.count_nonzero(values < high)
    assert sum(count for _, _, count in contents.data.target_bins) == len(values)
    rmse = mean_squared_error(measured.y_true, measured.predictions.predicted) ** 0.5
    assert measured.figures.figures["rmse"] == pytest.approx(rmse)
    away = np.abs(measured.y_true - measured.predictions.predicted)
    assert [row.margin for row in contents.hard_rows] == pytest.approx(np.sort(away)[::-1][:10])
    assert "property of classes" in contents.separability.reason
    assert contents.learning_curve.metric == "MSE0 - MSE"


@pytest.mark.parametrize("split", [["--group", "group"], ["--time", "day"]])
def test_weights_and_splits(separable, told, split):
    write("people.csv", HEADER, people())
    args = ["train", "people.csv", "--target", "paid", *split, "--weight", "weight"]
    drop = "day" if split[0] == "--group" else "group"
    assert separable(*args, "--drop", drop, "--model", "lda", "--report", "r.html").code == 0
    (contents,) = told
    measured = contents.measured
    assert measured.figures.figures["accuracy"] == pytest.approx(
        accuracy_score(
            measured.y_true, measured.predictions.predicted, sample_weight=measured.weight
        )
    )
    roles = {each.name: each.role for each in contents.data.columns}
    assert (roles["weight"], roles[split[1]]) == ("weight", split[0][2:])
    assert ("keeping groups together" in contents.learning_curve_rows) == (split[0] == "--group")
    assert ("later in time" in contents.learning_curve_rows) == (split[0] == "--time")


def test_a_file_to_test_on(separable, told):
    rows = people(160)
    Path("data").mkdir()
    write("train.csv", HEADER, rows[:100])
    write("data/test.csv", HEADER, [*rows[100:], ["40", "Rome", "g0", "2024-01-01", "1", ""]])
    options = ["--drop", "group", "--drop", "day", "--drop", "weight", "--model", "lda"]
    args = ["train", "train.csv", "--target", "paid", *options, "--test", "data/test.csv"]
    assert separable(*args, "--report", "r.html").code == 0
    (contents,) = told
    assert contents.measured.how == "Tested on 60 rows of test.csv"
    for row in contents.hard_rows:
        assert rows[100 + row.row - 1][5] == row.y_true
    assert contents.reproduction.commands[0].endswith("--test test.csv")
    assert contents.learning_curve_rows.startswith("100 rows, encoded once.")


def test_nothing_held_out_and_too_few_rows_for_folds(separable, told):
    write("tiny.csv", ["x", "y"], [[1, "a"], [2, "a"], [3, "b"]])
    args = ["train", "tiny.csv", "--target", "y", "--test-size", "0"]
    assert separable(*args, "--model", "lda", "--number", "x", "--report", "r.html").code == 0
    (contents,) = told
    absent = ("tried", "measured", "learning_curve", "regularization", "hard_rows")
    assert all(isinstance(getattr(contents, name), Absent) for name in absent)
    assert contents.measured.reason.startswith("No rows were held out")
    assert "too few rows to compare" in contents.tried.reason
    assert contents.separability.kind == "separable"


def test_votes_and_models_without_probabilities(separable, told):
    write("people.csv", HEADER, people())
    args = ["train", "people.csv", "--target", "paid", "--drop", "group", "--drop", "day"]
    for model in ("voted-perceptron", "linear-svm"):
        given = ["--model", model, *(["--set", "C=1"] if model == "linear-svm" else [])]
        assert separable(*args, *given, "--report", "r.html").code == 0
    votes, svm = told
    assert votes.model.learner == "VotedPerceptron"
    assert votes.measured.predictions.probabilities is None
    assert svm.measured.predictions.probabilities is not None  # calibrated
    for contents in told:
        wrong = contents.measured.y_true != contents.measured.predictions.predicted
        assert len(contents.hard_rows) == min(10, wrong.sum())
    margins = [row.margin for row in votes.hard_rows]
    assert margins == sorted(margins, reverse=True)


def test_the_text_names_the_report_and_the_file_is_the_same_without_one(separable, told):
    args = ["train", PENGUINS, "--target", "species", "--model", "lda", "-o"]
    result = separable(*args, "a.safetensors", "--report", "r.html")
    assert "Saved a.safetensors. The report is r.html: open it in a browser. Next:" in result.out
    assert separable(*args, "b.safetensors").code == 0
    assert Path("a.safetensors").read_bytes() == Path("b.safetensors").read_bytes()
    assert len(told) == 1


def test_a_stream_has_a_report_of_what_it_remembers(separable, told):
    args = ["train", PENGUINS, "--target", "species", "--stream", "--report", "r.html"]
    result = separable(*args)
    assert result.code == 0
    assert "The report is r.html" in result.out
    (contents,) = told
    assert contents.measured.reason.startswith(
        "No rows were held out: the model was trained on a stream. "
    )
    assert "(best constant prediction: " in contents.measured.reason
    assert contents.data.rows == 344
    assert contents.reproduction.commands == (
        "separable train penguins.csv --target species --stream",
    )


def test_standard_input(separable, told, monkeypatch):
    import io
    import sys
    import types

    data = io.BytesIO(Path(PENGUINS).read_bytes())
    monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=data, isatty=lambda: False))
    args = ["train", "-", "--target", "species", "--model", "lda", "--report", "r.html"]
    result = separable(*args)
    assert result.code == 0, result.err
    (contents,) = told
    assert (contents.data.name, contents.data.sha256) == ("standard input", None)
    assert contents.reproduction.commands[0] == ("separable train - --target species --model lda")


def test_an_updated_model_says_so(separable, told):
    args = ["train", PENGUINS, "--target", "species", "--model", "lda"]
    assert separable(*args).code == 0
    assert separable("update", "penguins.safetensors", PENGUINS).code == 0
    assert separable("report", "penguins.safetensors").code == 0
    (contents,) = told
    assert contents.measured.caution == "The model was updated with more rows since."
    assert contents.notes[-1] == "The model was updated 1 time after its first training."


# --- what cannot be written is refused before the work ---


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("-", "--report -: a report cannot be written to standard output. Name a file."),
        ("data.csv", "--report data.csv would overwrite the data."),
        ("./link.csv", "--report ./link.csv would overwrite the data."),
        ("data.safetensors", "--report data.safetensors would overwrite the model."),
        ("test.csv", "--report test.csv would overwrite the test."),
        ("none/r.html", "none' does not exist"),
        ("folder", "folder"),
    ],
)
def test_reports_that_cannot_be_written(separable, monkeypatch, path, problem):
    import separable.workflow.table_training as training

    monkeypatch.setattr(training, "read_problem", lambda *_: pytest.fail("it had begun"))
    write("data.csv", ["x", "y"], [[1, "a"], [2, "b"]])
    write("test.csv", ["x", "y"], [[1, "a"], [2, "b"]])
    Path("folder").mkdir()
    Path("link.csv").symlink_to("data.csv")
    for more in ([], ["--stream"]):
        if more and path == "test.csv":
            continue
        given = [] if more else ["--test", "test.csv"]
        result = separable("train", "data.csv", "--target", "y", *given, *more, "--report", path)
        assert result.code in (1, 2)
        assert problem in result.err
    assert not Path("data.safetensors").exists()


def test_a_folder_that_is_read_only(separable, no_new_files):
    result = separable("report", "m.safetensors", "-o", "r.html")
    assert result.code == 1
    assert "r.html: cannot be written (Permission denied)" in result.err


def test_a_missing_package_is_told_before_the_work(separable, monkeypatch):
    from separable.report.page import page

    monkeypatch.setattr(page, "NEEDED", {"not_there": "not-there"})
    result = separable("train", PENGUINS, "--target", "species", "--report", "r.html")
    assert result.code == 1
    assert "Run: pip install not-there" in result.err
    assert not Path("penguins.safetensors").exists()


# --- separable report ---


def test_what_a_model_file_remembers(separable, told, penguins_model):
    assert separable("report", penguins_model, "--title", "Birds").code == 0
    (contents,) = told
    assert Path("penguins.html").exists()
    kept = load(penguins_model).evidence["train"]
    assert contents.title == "Birds"
    figures = contents.measured.figures
    assert figures.figures["accuracy"] == kept["held_out"]["accuracy"]
    assert figures.confusion.tolist() == kept["held_out"]["confusion"]
    assert (len(contents.measured.y_true), contents.measured.how) == (
        0,
        "Held out 86 of 344 rows, stratified by class",
    )
    assert [each.learner for each in contents.tried.standings] == [
        each["learner"] for each in kept["leaderboard"]
    ]
    assert {each.seconds for each in contents.tried.standings} == {None}
    assert isinstance(contents.regularization, RegularizationCurve | Absent)
    assert contents.data.target_counts[0] == ("Adelie", 152)
    assert {each.name: each.missing for each in contents.data.columns}["sex"] == 11
    assert isinstance(contents.hard_rows, Absent)
    assert contents.reproduction.commands == ("separable train penguins.csv --target species",)


def test_measured_on_new_rows(separable, told):
    rows = people(200)
    write("train.csv", HEADER, rows[:120])
    write("new.csv", HEADER, rows[120:])
    options = ["--drop", "group", "--drop", "day", "--drop", "weight", "--model", "lda"]
    assert separable("train", "train.csv", "--target", "paid", *options).code == 0
    result = separable("report", "train.safetensors", "new.csv", "-o", "n.html", "--json")
    assert result.code == 0
    assert json.loads(result.out) == {
        "report": "n.html", "model": "train.safetensors", "data": "new.csv", "bytes": 4,
    }  # fmt: skip
    (contents,) = told
    evaluated = json.loads(separable("evaluate", "train.safetensors", "new.csv", "--json").out)
    figures = contents.measured.figures
    assert figures.figures["log_loss"] == pytest.approx(evaluated["log_loss"])
    assert figures.constant_figures["accuracy"] == evaluated["constant_accuracy"]
    assert contents.measured.is_new is None  # few levels: rows are alike by chance
    assert "51.7 % of the training rows have an identical twin" in contents.measured.caution
    assert contents.measured.how == "80 rows of new.csv"
    assert contents.separability.shape[0] == 80
    assert contents.learning_curve.sizes[-1] + contents.learning_curve.n_test == 80
    for row in contents.hard_rows:
        assert rows[120 + row.row - 1][5] == row.y_true


def test_rows_that_were_learned_from_are_recognized(separable, penguins_model):
    lines = Path(PENGUINS).read_text().splitlines(keepends=True)
    Path("birds.csv").write_text("".join([lines[0], *lines[:200:-1]]))  # other name, other order
    assert separable("report", penguins_model, "birds.csv", "-o", "r.html").code == 0
    page = html.unescape(Path("r.html").read_text())
    held_out = load(penguins_model).evidence["train"]["held_out"]["rows"]
    assert f"accuracy on {held_out} rows that the model had not seen" in page
    assert "The metric above is on rows held out in training." in page
    assert "All 144 rows are identical to rows of the training data" in page
    assert "accuracy on 144 rows, seen in training" in page
    assert "144 rows that the model had not seen" not in page


def test_held_out_rows_with_twins_are_not_called_unseen(separable):
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=120), 1)  # many equal rows
    write("d.csv", ["x", "y"], [[value, "yes" if value > 0 else "no"] for value in x])
    for args in (("train", "d.csv", "--target", "y", "--model", "lda", "--report", "t.html"),
                 ("report", "d.safetensors", "-o", "m.html")):  # fmt: skip
        assert separable(*args).code == 0
        page = html.unescape(Path(args[-1]).read_text())
        assert "accuracy on 30 rows" in page
        assert "had not seen" not in page


def test_a_few_training_rows_among_new_ones_are_counted(separable, penguins_model):
    lines = Path(PENGUINS).read_text().splitlines(keepends=True)
    new = [line.replace(".", ".0", 1) for line in lines[100:150] if "." in line]
    Path("mixed.csv").write_text("".join([lines[0], *new, *lines[1:8]]))
    assert separable("report", penguins_model, "mixed.csv", "-o", "r.html").code == 0
    page = html.unescape(Path("r.html").read_text())
    assert f"accuracy on {len(new) + 7} rows, 7 of them seen in training" in page
    assert f"7 of {len(new) + 7} rows are identical to rows of the training data" in page


def test_rows_that_are_new_are_called_so(separable, penguins_model, told):
    lines = Path(PENGUINS).read_text().splitlines(keepends=True)
    new = [line.replace(".", ".0", 1) for line in lines[100:150] if "." in line]
    Path("new.csv").write_text("".join([lines[0], *new]))
    assert separable("report", penguins_model, "new.csv").code == 0
    assert (told[0].measured.is_new, told[0].measured.caution) == (True, None)


def test_weights_of_new_rows(separable, told):
    rows = people(160)
    write("train.csv", HEADER, rows[:100])
    write("new.csv", HEADER, [[*row[:4], 0 if k % 4 == 0 else 2, row[5]]
                              for k, row in enumerate(rows[100:])])  # fmt: skip
    options = ["--drop", "group", "--drop", "day", "--model", "lda"]
    assert separable("train", "train.csv", "--target", "paid", *options).code == 0
    args = ["report", "train.safetensors", "new.csv", "--weight", "weight"]
    assert separable(*args).code == 0
    (contents,) = told
    assert len(contents.measured.y_true) == 45
    assert all((row.row - 1) % 4 for row in contents.hard_rows)


def test_models_from_python(separable, told):
    """Without an encoder, of texts, and of sparse text."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = (X[:, 0] + 0.5 * rng.normal(size=80) > 0).astype(int)
    LogisticRegression().fit(X, y).model_.save("plain.safetensors")
    write("plain.csv", ["a", "b", "y"], np.column_stack([X, y]).tolist())
    assert separable("report", "plain.safetensors", "plain.csv", "--target", "y").code == 0
    pairs = zip(y.tolist(), X.tolist(), strict=True)
    lines = [f"{label} 1:{a!r} 2:{b!r}" for label, (a, b) in pairs]
    Path("plain.svm").write_text("\n".join(lines) + "\n")
    assert separable("report", "plain.safetensors", "plain.svm").code == 0
    encoder = TextEncoder(ngram_range=(1, 1)).fit(["good film", "bad film"])
    place = list(encoder.feature_names).index("good")
    weights = np.eye(len(encoder.feature_names))[[place]]
    model = LinearModel(weights, [-0.1], ["no", "yes"], "score", encoder=encoder)
    model.save("text.safetensors")
    write("text.csv", ["review", "y"], [["A good film", "no"], ["bad", "no"], ["good", "yes"]])
    args = ["report", "text.safetensors", "text.csv", "--target", "y", "--column", "review"]
    assert separable(*args).code == 0
    numbers, sparse, texts = told
    for contents in (numbers, sparse):
        predicted = load("plain.safetensors").predict(X)
        assert contents.measured.figures.figures["accuracy"] == np.mean(predicted == y)
        assert contents.data.rows is None
        assert len(contents.hard_rows) == min(10, np.sum(predicted != y)) > 0
    assert [row.row for row in numbers.hard_rows] == [row.row for row in sparse.hard_rows]
    (row,) = texts.hard_rows
    assert row.texts[0][1] == "A good film"
    assert isinstance(texts.learning_curve, Absent)


def test_usage(separable, penguins_model):
    result = separable("report", penguins_model, "--target", "species")
    assert result.code == 2
    assert "--target species needs DATA." in result.err
    result = separable("report", penguins_model, PENGUINS, "-o", penguins_model)
    assert result.code == 2
    assert "would overwrite the model" in result.err
    Path("m.html").write_bytes(penguins_model.read_bytes())
    result = separable("report", "m.html")
    assert result.code == 2
    assert "The page m.html would overwrite the model. Name another." in result.err
    result = separable("report", "none.safetensors")
    assert result.code == 1
    assert "none.safetensors" in result.err
    assert not Path("none.html").exists()
    write("empty.csv", ["species", "island"], [["", "Dream"]])
    result = separable("report", penguins_model, "empty.csv")
    assert result.code == 1


# --- the page itself ---


def test_a_page_is_written(separable):
    write("people.csv", HEADER, people(60))
    args = ["train", "people.csv", "--target", "paid", "--drop", "group", "--drop", "day"]
    assert separable(*args, "--model", "lda", "--report", "r.html").code == 0
    page = Path("r.html").read_text()
    assert page.startswith("<!doctype html>")
    assert len(page.encode()) <= 1_500_000
    assert "separable train people.csv --target paid --model lda" in page
    assert separable("report", "people.safetensors", "--title", "Who pays <now>?").code == 0
    page = Path("people.html").read_text()
    assert "Who pays &lt;now&gt;?" in page
