"""`separable train`: from a file to a tested, explained, saved model."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from separable import LinearModel, LogisticRegression, TableEncoder, load
from separable.data import read
from separable.data.split import stratified_split
from separable.datasets import PENGUINS
from separable.workflow import training_warnings as module
from separable.workflow.learners import LEARNERS

#: One fit a fold, where what is tested is not the choice of a learner.
QUICK = ("--model", "logistic-regression", "--set", "C=1")


def write(text: str, name: str = "data.csv") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def points(n: int = 60) -> str:
    """Two classes that a line divides."""
    mixed = [i * 37 % n for i in range(n)]
    lines = [f"{i},{'a' if i % 3 else 'b'},{'yes' if i * 2 > n else 'no'}" for i in mixed]
    return "\n".join(["x,c,y", *lines]) + "\n"


def test_penguins(penguins_text):
    result = penguins_text
    assert (result.code, result.err) == (0, "")
    for expected in (
        "344 rows",
        "  target    species: 3 classes (Adelie 152, Chinstrap 68, Gentoo 124)",
        "  number    bill_length_mm (2 missing), ",
        "  category  island (3 levels), sex (2 levels; 11 missing)",
        "Held out 86 of 344 rows",
        "always Adelie",
        "retrained on all 344 rows with 15 features",
        "towards Gentoo",
        "separable predict penguins.safetensors ",
    ):
        assert expected in result.out
    model = load(result.folder / "penguins.safetensors")
    assert model.classes.tolist() == ["Adelie", "Chinstrap", "Gentoo"]
    assert isinstance(model.encoder, TableEncoder)
    assert model.state is None


def test_json(penguins_json):
    told = json.loads(penguins_json.out)
    assert told["model"] == "m.safetensors"
    assert told["rows"] == 344
    assert told["rows_without_target"] == 0
    assert {c["name"]: c["type"] for c in told["columns"]}["year"] == "number"
    held = told["held_out"]
    assert held["rows"] == 86
    assert held["accuracy"] == held["correct"] / 86 > 0.95
    assert held["constant"] == "Adelie"
    assert held["constant_accuracy"] == 38 / 86
    board = told["leaderboard"]
    assert (board["metric"], board["strengths_by"]) == ("log_loss", None)
    (chosen,) = (row for row in board["learners"] if row["learner"] == told["chosen"]["name"])
    assert abs(chosen["difference"]) <= (chosen["difference_error"] or 0)
    assert told["evidence"]["converged"] is True
    assert len(told["top_weights"]) > 0


def test_held_out_figure_by_hand(penguins_json):
    """The encoder and the model of the figure never saw the held-out rows."""
    told = json.loads(penguins_json.out)
    assert told["chosen"]["name"] == "logistic-regression"
    table = read(PENGUINS).table
    y = np.array(table["species"].to_pylist())
    train, test = stratified_split(y, 0.25, 0)
    columns = table.drop_columns(["species"])
    encoder = TableEncoder().fit(columns.take(train))
    fitted = LogisticRegression(**told["chosen"]["params"])
    fitted.fit(encoder.encode(columns.take(train)), y[train])
    right = fitted.predict(encoder.encode(columns.take(test))) == y[test]
    assert told["held_out"]["correct"] == right.sum()


def test_the_saved_model_is_trained_on_all_rows(separable):
    args = ["train", PENGUINS, "--target", "species", "-o", "m.safetensors", "--seed", 5]
    args += ["--model", "logistic-regression", "--folds", 2, "--json"]
    told = json.loads(separable(*args).out)
    table = read(PENGUINS).table
    columns = table.drop_columns(["species"])
    encoder = TableEncoder().fit(columns)
    y = np.array(table["species"].to_pylist())
    fitted = LogisticRegression(**told["chosen"]["params"], random_state=5)
    fitted.fit(encoder.encode(columns), y)
    model = load("m.safetensors")
    np.testing.assert_array_equal(model.weights, fitted.coef_)
    assert model.evidence["train"]["target"] == "species"
    assert model.evidence["train"]["rows"] == 344


@pytest.mark.parametrize("model", ["perceptron", "batch-perceptron"])
def test_perceptrons_converge_and_say_so(separable, model):
    result = separable("train", write(points()), "--target", "y", "--model", model)
    assert (result.code, result.err) == (0, "")
    assert "0 of 60 training rows misclassified" in result.out
    assert "converged: an epoch without a mistake" in result.out


def test_votes_are_trained_predicted_and_explained(separable):
    result = separable("train", PENGUINS, "--target", "species", "--model", "voted-perceptron")
    assert (result.code, result.err) == (0, "")
    assert "VotedPerceptron, retrained on all 344 rows" in result.out
    mean = "The model votes; these are the mean weights of its voters."
    assert mean in result.out
    model = "penguins.safetensors"
    predicted = separable("predict", model, PENGUINS)
    assert predicted.out.startswith("prediction,score_Adelie,score_Chinstrap,score_Gentoo\nAdelie,")
    assert mean in separable("explain", model).out
    told = json.loads(separable("explain", model, PENGUINS, "--row", "3", "--json").out)["rows"][0]
    parts = [term["contribution"] for term in told["terms"]]
    total = sum(parts) + told["others"]["contribution"] + told["intercept"]
    assert told["score"] == pytest.approx(total)


def test_unconverged_is_one_line_on_standard_error(separable):
    flipped = points(40).replace("\n0,b,no", "\n0,b,yes").replace("\n39,b,yes", "\n39,b,no")
    args = ["train", write(flipped), "--target", "y", "--model", "perceptron", "--folds", 2]
    result = separable(*args)
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert re.match(r"Warning: Perceptron stopped after \d+ epochs and did not", result.err)
    assert "may not be linearly separable: try --model logistic-regression" in result.err
    for untypeable in ("LogisticRegressionCV", "pocket", "limit", "one-vs-rest"):
        assert untypeable not in result.err
    assert separable("train", "data.csv", "--target", "y", *QUICK).code == 0


def test_the_default_searches_and_proves(penguins_text, separable):
    result = penguins_text
    assert (result.code, result.err) == (0, "")
    assert "LogisticRegression, retrained on all 344 rows" in result.out
    found = re.search(r"Chosen: logistic-regression with C (\S+): the best mean", result.out)
    assert float(found[1]) in LEARNERS["logistic-regression"].regularization.values
    assert "Compared by 5 folds of 258 rows, encoded once" in result.out
    assert re.search(r"certificate: relative duality gap \S+ \(requested 1e-06\)", result.out)
    args = ["train", PENGUINS, "--target", "species", "--model", "linear-svm", "--folds", 2]
    svm = separable(*args)
    assert re.search(r"\n  1\*  linear-svm  C \S+ +0\.\d+ \+- 0\.\d+ ", svm.out)


def test_the_edge_of_the_grid_is_told(separable):
    apart = "\n".join(["x,y", *(f"{k % 2},{'ab'[k % 2]}" for k in range(40))])
    result = separable("train", write(apart), "--target", "y", "--model", "logistic-regression",
                       "--metric", "log_loss")  # fmt: skip
    assert result.code == 0
    assert "'x' encodes the target 'y'" in result.err
    assert "It is the largest C tried." in result.out


def test_a_class_of_one_row_is_learned_without_search(separable):
    text = "x,y\n1,a\n2,a\n3,a\n4,b\n"
    result = separable("train", write(text), "--target", "y", "--test-size", "0")
    assert result.code == 0
    assert "There are too few rows to compare learners or regularization." in result.out
    assert "LogisticRegression, trained on all 4 rows" in result.out


def test_of_several_models_it_is_said_what_is_counted(separable):
    lines = [f"{i % 7},{i % 5},{'abc'[i % 3]}" for i in range(60)]
    args = ["train", write("\n".join(["x,z,y", *lines])), "--target", "y", "--model", "perceptron"]
    args += ["--folds", 2]
    result = separable(*args)
    told = json.loads(separable(*args, "--json").out)
    wrong, last = told["evidence"]["training_mistakes"], told["evidence"]["mistakes"][-1]
    assert f" {wrong} of 60 training rows are misclassified for at least one of its 3 one-vs" in (
        result.err
    )
    assert f"{told['training_mistakes']} of 60 training rows misclassified" in result.out
    assert f"{last} mistakes of the 3 one-vs-rest models together in the last epoch" in result.out


def test_other_warnings_are_passed_on():
    model = LinearModel([[1]], [0], ["no", "yes"], "score")
    for kind in (UserWarning, ConvergenceWarning):  # a model without evidence of mistakes
        assert str(module.fit_warning(kind("two\nlines"), model, 1)) == "two lines"


def test_one_of_a_thing(separable):
    result = separable("train", write("x,y\n1,a\n2,b\n"), "--target", "y")
    assert "on all 2 rows with 1 feature:" in result.out
    told = separable("explain", "data.safetensors").out
    assert ": 1 feature from 1 column. Numbers" in told
    write("x\n1\n", "one.csv")
    told = separable("explain", "data.safetensors", "one.csv", "--row", 2).err
    assert "one.csv has 1 data row, so there is no row 2. Rows are counted from 1" in told


def test_rows_without_a_target_are_left_out_and_counted(separable):
    text = points() + "7,a,\n8,b,NA\n"
    args = ["train", write(text), "--target", "y", *QUICK]
    told = json.loads(separable(*args, "--json").out)
    assert (told["rows"], told["rows_without_target"]) == (60, 2)
    assert "2 missing, rows skipped" in separable(*args).out


def test_options_about_columns(separable):
    args = ["train", write(points()), "--target", "y", "--category", "x", "--drop", "c", "--json"]
    told = json.loads(separable(*args, *QUICK).out)
    types = {column["name"]: column["type"] for column in told["columns"]}
    assert types == {"x": "category", "c": "dropped", "y": "target"}
    assert told["columns"][1]["reason"] == "asked for"


def test_number_targets_are_whole_numbers(separable):
    text = points().replace("yes", "1").replace("no", "0")
    args = ["train", write(text), "--target", "y", "-o", "m.safetensors", *QUICK]
    separable(*args)
    assert load("m.safetensors").classes.tolist() == [0, 1]
    result = separable(*args, *["--category", "y"] * 2)
    assert (result.code, result.err) == (0, "")
    assert load("m.safetensors").classes.tolist() == ["0", "1"]


@pytest.mark.parametrize(
    "labels", [[9007199254740993, 9007199254740994], ["00", "01"], ["1", "inf"], ["1.0", "2"]]
)
def test_labels_go_through_unchanged(separable, labels):
    text = points().replace("yes", str(labels[1])).replace("no", str(labels[0]))
    separable("train", write(text), "--target", "y", "-o", "m.safetensors", *QUICK)
    assert load("m.safetensors").classes.tolist() == labels
    predicted = separable("predict", "m.safetensors", "data.csv").out.splitlines()[1:]
    assert {line.partition(",")[0] for line in predicted} == {str(label) for label in labels}


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ({30: "oops"}, "1 of its 40 values is not a plain number (first 'oops' in data row 31)"),
        (
            {8: "1,000", 9: "x", 10: "NA"},
            "2 of its 39 values are not plain numbers (first '1,000' in data row 9)",
        ),
    ],
)
def test_a_slip_among_numbers_is_told_and_can_be_meant(separable, cells, told):
    lines = [f'"{cells.get(i, i)}",{i},{"yes" if i > 20 else "no"}' for i in range(40)]
    args = ["train", write("\n".join(["a b,z,y", *lines])), "--target", "y", *QUICK]
    result = separable(*args)
    assert result.code == 0
    assert result.err.count("\n") == 1
    assert result.err.startswith(f"Warning: 'a b' is read as text because {told}. Write numbers")
    assert result.err.endswith("keep it as a category. (--category 'a b')\n")
    assert json.loads(separable(*args, "--json").out)["warnings"][0] in result.err
    assert separable(*args, "--category", "a b").err == ""
    assert separable(*args, "--drop", "a b").err == ""


def test_a_converted_column_is_told_and_can_be_kept(separable):
    lines = [f'"${i},{i:03}.50",{i}/{i}/24,{"yes" if i > 6 else "no"}' for i in range(1, 13)] * 4
    args = ["train", write("\n".join(["price,when,y", *lines])), "--target", "y", *QUICK]
    result = separable(*args)
    assert "numbers such as '$1,001.50': 48 converted" in result.out
    assert "Warning: 'when' holds dates whose day and month cannot be told apart" in result.err
    assert "--convert when=day-first" in result.err
    result = separable(*args, "--convert", "when=day-first", "--convert", "price=text")
    assert result.code == 0
    assert "dates such as '1/1/24', day first: 48 converted" in result.out
    assert "category  price (12 levels)" in result.out
    wrong = separable(*args, "--convert", "when=tomorrow")
    assert wrong.code == 2
    assert "is not COL=HOW" in wrong.err


def test_categories_with_numbers_among_them_are_nothing_to_tell(separable):
    cells = ["a", "b", "?", *range(8)] * 4
    lines = [f"{cell},{i},{'yes' if i > 20 else 'no'}" for i, cell in enumerate(cells)]
    args = ["train", write("\n".join(["x,z,y", *lines])), "--target", "y", *QUICK]
    assert separable(*args).err == ""


def test_many_classes_show_the_weights_of_the_first(separable):
    lines = [f"{i},{i % 12}" for i in range(240)]
    args = ["train", write("\n".join(["x,y", *lines])), "--target", "y", "--model", "lda"]
    result = separable(*args)
    assert "12 classes (0 20, 1 20, 2 20, 3 20, 4 20, 5 20, 6 20, 7 20, ...)" in result.out
    assert result.out.count("towards ") <= 2
    whole = separable(*args, "-v").out
    assert "towards 7" in whole
    assert "towards 8" not in whole
    assert "... and the other classes" in whole


def test_nothing_held_out(separable):
    result = separable("train", write(points()), "--target", "y", "--test-size", 0, *QUICK)
    assert "No rows were held out" in result.out
    told = json.loads(separable("train", write("x,y\n1,a\n2,b\n"), "--target", "y", "--json").out)
    assert told["held_out"] is None


def test_standard_input(separable, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(points().encode())))
    result = separable("train", "-", "--target", "y", *QUICK)
    assert result.code == 0
    assert "separable predict model.safetensors NEW.csv" in result.out
    assert Path("model.safetensors").exists()


@pytest.mark.parametrize(
    ("text", "args", "message"),
    [
        ("x,y\n1,a\n2,b\n", ["--target", "Y"], "data.csv has no column 'Y' (did you mean 'y'?)"),
        ("x,y\n1,a\n2,a\n", ["--target", "y"], "holds a single class, 'a'"),
        ("x,y\n1,a\n2\n", ["--target", "y"], "data.csv:3: expected 2 values"),
        ("x,y\n1,a\n1,b\n", ["--target", "y"], "data.csv: No column is left to learn from"),
        ("y\na\nb\n", ["--target", "y"], "data.csv: no feature columns: the target"),
        ("y\na\n\nb\n", ["--target", "y"], "no feature columns: the target 'y'"),
        (
            "x,y\n1,c\n2,a\ninf,b\n3,a\n4,b\n",
            ["--target", "y"],
            "data.csv:4:1: column 'x': infinity",
        ),
        (
            "x,y\n1,a\nq,b\n",
            ["--target", "y", "--number", "x"],
            "data.csv:3:1: column 'x': 'q' is not",
        ),
        (
            "a b,y\n1,a\nq,b\n",
            ["--target", "y", "--number", "a b"],
            "if it is missing, or train with the column as a category: --category 'a b'.",
        ),
        ("x,y\n1,a\n2,b\n", ["--target", "y", "--drop", "z"], "has no column 'z'"),
        (
            "x,y\n1,a\n2,b\n",
            ["--target", "y", "--drop", "x", "--number", "x"],
            "named in both 'number' and 'drop'",
        ),
        (
            "x,y\n1,a\n2,b\n",
            ["--target", "y", "-o", "no/m.safetensors"],
            "no' does not exist. Create it first.",
        ),
        ("x,y\n1,a\n2,b\n", ["--target", "y", "-o", "."], "is a folder"),
    ],
)
def test_bad_data_is_one_line_and_exit_code_1(separable, text, args, message):
    result = separable("train", write(text), *args)
    assert result.code == 1
    assert result.out == ""
    assert result.err.startswith("Error: ")
    assert result.err.count("\n") == 1
    assert message in result.err
    assert list(Path().glob("*.safetensors")) == []


def test_a_missing_file_is_exit_code_1(separable):
    result = separable("train", "absent.csv", "--target", "y")
    assert (result.code, result.out) == (1, "")
    assert result.err == "Error: absent.csv: no such file\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-o", "data.csv"], "-o data.csv would overwrite the data"),
        (["-o", "./data.csv"], "would overwrite the data"),
        (["-o", "-"], "-o -: a model cannot be written to standard output. Name a file."),
        (["--drop", "y"], "cannot be dropped"),
        (["--target", "x"], "'--target': given 2 times (y, x). Give it once."),
        (
            ["--number", "y", "--category", "y"],
            "The target y is named twice, in --number y and --category y.",
        ),
    ],
)
def test_wrong_usage(separable, args, message):
    result = separable("train", write(points()), "--target", "y", *args)
    assert result.code == 2
    assert message in result.err
    assert [path.name for path in Path().iterdir()] == ["data.csv"]
    assert Path("data.csv").read_text() == points()


def test_an_output_that_cannot_be_written_is_told_by_its_name_and_first(separable, no_new_files):
    result = separable("train", "absent.csv", "--target", "y", "-o", "m.safetensors")
    assert result.code == 1
    assert result.err.endswith("m.safetensors: cannot be written (Permission denied)\n")


def test_what_only_the_hold_out_spoils_is_not_blamed_on_the_file(separable):
    text = "x,y\n" + "1,a\n" * 3 + "2,a\n" + "1,b\n" * 4
    labels = np.array(list("aaaabbbb"))
    seed = next(s for s in range(99) if 3 in stratified_split(labels, 0.25, s)[1])
    args = ["train", write(text), "--target", "y", "--seed", seed, *QUICK]
    result = separable(*args)
    assert (result.code, result.out) == (1, "")
    assert result.err.endswith(
        "Error: data.csv: No column is left to learn from ('x': constant: every value is 1). This "
        "holds for the training rows (6 of 8 rows), not for the whole file: hold out fewer rows "
        "with a smaller --test-size, or none with --test-size 0.\n"
    )
    assert not Path("data.safetensors").exists()
    assert separable(*args, "--test-size", 0).code == 0


def test_what_is_wrong_with_the_whole_file_is_not_blamed_on_the_hold_out(separable):
    result = separable("train", write("x,y\n" + "1,a\n1,b\n" * 8), "--target", "y")
    assert "No column is left to learn from" in result.err
    assert "training part" not in result.err


def test_a_held_out_value_too_far_from_the_others_is_named(separable):
    labels = np.array(["a"] * 8 + ["b"] * 8)
    row = int(stratified_split(labels, 0.25, 0)[1][0])
    values = [1e300 if place == row else place * 1e-30 for place in range(16)]
    lines = [f"{value},{label}" for value, label in zip(values, labels, strict=True)]
    result = separable("train", write("\n".join(["x,y", *lines])), "--target", "y", *QUICK)
    assert f"data.csv:{row + 2}:1: column 'x': 1e+300 is too far from" in result.err
    assert "the training rows (12 of 16 rows)" in result.err


def test_an_identifier_that_would_be_a_number_says_why_not(separable):
    lines = [f"{i / 7},{i},{'yes' if i > 60 else 'no'}" for i in range(120)]
    odd = [f"oops{'x' * i},3,no" for i in range(5)]
    text = "\n".join(["z,x,y", *lines, *odd])
    result = separable("train", write(text), "--target", "y", *QUICK)
    assert "5 of its values, such as 'oops', keep it from being a number" in result.out
