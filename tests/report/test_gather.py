"""What a report says, compared with NumPy and scikit-learn."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_regression
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.metrics import accuracy_score, log_loss, mean_absolute_error
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separable import (
    LDA,
    AveragedPerceptron,
    Lasso,
    LinearModel,
    LinearSVM,
    LogisticRegression,
    LpRegression,
    Perceptron,
    Ridge,
    TableClassifier,
    TextEncoder,
    VotedPerceptron,
)
from separable.data.rows import as_rows
from separable.data.table import TableError
from separable.errors import Absent
from separable.model.metrics.evaluation import Evaluation
from separable.model.metrics.metric_registry import predictions_of
from separable.report import bounded_sections
from separable.report.bounded_sections import learning_curve_of, separability_of
from separable.report.contents import Measured
from separable.report.hard_rows import LONGEST, ScoredRows, hard_rows
from separable.report.record_contents import certificate_of, versions
from separable.report.reporting import contents_of
from separable.select.leaderboard import Standing
from separable.workflow.training_record import (
    columns_of,
    regularization_curve,
    target_bins,
    target_counts,
)


def scored(model, X, y, weight=None, raw=None) -> ScoredRows:
    rows = as_rows(np.asarray(X, dtype=float))
    places = np.arange(len(y))
    return ScoredRows(model, rows, np.asarray(y), predictions_of(model, X), places, weight, raw)


# --- hardest rows ---


def test_hardest_rows_are_the_surest_mistakes():
    X, y = load_breast_cancer(return_X_y=True)
    model = LogisticRegression(standardize=True, C=0.01).fit(X[:300], y[:300]).model_
    X, y = X[300:], y[300:]
    chance = model.predict_proba(X)[np.arange(len(y)), y]
    wrong = np.flatnonzero(model.predict(X) != y)
    expected = wrong[np.argsort(chance[wrong])]
    assert len(expected) > 3
    rows, about = hard_rows(scored(model, X, y), most=3)
    assert [row.row - 1 for row in rows] == expected[:3].tolist()
    assert [row.probability for row in rows] == pytest.approx(chance[expected[:3]])
    assert [row.y_true for row in rows] == y[expected[:3]].tolist()
    assert about == (
        f"{len(wrong)} of {len(y)} rows are misclassified; these are the 3 most confident errors."
    )
    for row in rows:
        score = model.decision_function(X)[row.row - 1]
        assert row.margin == pytest.approx(abs(score))
        parts = model.weights[0] * X[row.row - 1]
        largest = np.abs(parts).max()
        assert abs(row.contributions[0][1]) == pytest.approx(largest)
        # what is told is for the class that is predicted, here by the sign of the score
        sign = 1 if row.predicted == 1 else -1
        assert row.contributions[0][1] == pytest.approx(sign * parts[np.abs(parts).argmax()])


def test_hardest_rows_of_three_classes_without_probabilities_go_by_scores():
    X, y = load_iris(return_X_y=True)
    model = AveragedPerceptron(max_iter=3).fit(X[::2], y[::2]).model_
    X, y = X[1::2], y[1::2]
    scores = model.decision_function(X)
    short = scores.max(axis=1) - scores[np.arange(len(y)), y]
    wrong = np.flatnonzero(scores.argmax(axis=1) != y)
    rows, _ = hard_rows(scored(model, X, y), most=100)
    assert sorted(row.row - 1 for row in rows) == wrong.tolist()
    assert [row.margin for row in rows] == pytest.approx(np.sort(short[wrong])[::-1])
    assert {row.probability for row in rows} == {None}


def test_hardest_rows_of_numbers_have_the_largest_residuals():
    X, y = make_regression(80, 4, noise=20.0, random_state=3)
    model = Ridge().fit(X, y).model_
    away = np.abs(model.predict(X) - y)
    rows, about = hard_rows(scored(model, X, y), most=4)
    assert [row.row - 1 for row in rows] == np.argsort(-away)[:4].tolist()
    assert [row.margin for row in rows] == pytest.approx(np.sort(away)[::-1][:4])
    assert about == "Of 80 rows, the 4 largest errors."
    assert rows[0].values[0][0] == rows[0].contributions[0][0]


def test_hardest_rows_leave_out_weight_0_and_classes_that_are_not_known():
    model = LinearModel([[1.0]], [0.0], ["a", "b"], "score")
    X, y = [[3.0], [2.0], [1.0], [-1.0]], ["a", "c", "a", "a"]
    rows, about = hard_rows(scored(model, X, y, np.array([0.0, 1, 1, 1])))
    assert [row.row for row in rows] == [3]
    assert about == (
        "2 of 3 rows are misclassified, 1 of them because the model does not know their class: the "
        "most confident errors first."
    )


def test_no_mistake_and_several_numbers():
    model = LinearModel([[1.0]], [0.0], ["a", "b"], "score")
    assert hard_rows(scored(model, [[1.0], [2.0]], ["b", "b"])) == (
        (),
        "All 2 rows are classified correctly.",
    )
    two = LinearModel([[1.0], [2.0]], [0.0, 0.0], None, "identity")
    found, _ = hard_rows(scored(two, [[1.0]], [[1.0, 2.0]]))
    assert isinstance(found, Absent)


def text_model():
    encoder = TextEncoder(ngram_range=(1, 1)).fit(["good film", "bad film", "dull play"])
    place = {name: k for k, name in enumerate(encoder.feature_names)}
    weights = np.zeros((1, len(place)))
    for word, weight in {"good": 2.0, "bad": -3.0, "dull": -1.0}.items():
        weights[0, place[word]] = weight
    return LinearModel(weights, [0.0], ["no", "yes"], "score", encoder=encoder)


def test_marks_of_texts_are_for_the_class_predicted():
    model = text_model()
    texts = ["A good, GOOD play.", "bad, if not dull"]
    rows = model.encoder.encode(texts)
    given = ScoredRows(
        model, rows, np.array(["no", "yes"]), predictions_of(model, rows), np.array([7, 3]),
        None, lambda place: {"text": texts[place]},
    )  # fmt: skip
    found, _ = hard_rows(given)
    assert [(row.row, row.y_true, row.predicted) for row in found] == [
        (4, "yes", "no"),
        (8, "no", "yes"),
    ]
    name, text, marks = found[1].texts[0]
    assert (name, text) == ("text", texts[0])
    assert [text[mark.start : mark.stop] for mark in marks] == ["good", "GOOD"]
    assert all(mark.contribution > 0 for mark in marks)
    name, text, marks = found[0].texts[0]  # "no" is predicted, for which bad speaks
    assert [text[mark.start : mark.stop] for mark in marks] == ["bad", "dull"]
    assert all(mark.contribution > 0 for mark in marks)
    assert found[0].values == ()  # the text says it


def test_of_a_long_text_the_strongest_stretch_is_shown():
    model = text_model()
    text = "film " * 500 + "good good bad" + " film" * 500
    rows = model.encoder.encode([text])
    predictions = predictions_of(model, rows)
    wrong = np.array(["no" if predictions.predicted[0] == "yes" else "yes"])
    raw = lambda _: {"text": text}  # noqa: E731
    found, _ = hard_rows(ScoredRows(model, rows, wrong, predictions, np.array([0]), None, raw))
    _, shown, marks = found[0].texts[0]
    assert shown.startswith("... ")
    assert shown.endswith(" ...")
    assert len(shown) <= LONGEST + 8
    assert [shown[mark.start : mark.stop] for mark in marks] == ["good", "good", "bad"]


# --- separability ---


def test_separability_of_all_rows():
    X, y = load_breast_cancer(return_X_y=True)
    verdict, about = separability_of(X, y, of_what=" of cells.csv")
    assert verdict.kind == "separable"
    assert verdict.verify(X, y)
    assert about == "All 569 rows of cells.csv as encoded by the model, 30 numbers each."


def test_separability_of_three_classes_and_of_one():
    X, y = load_iris(return_X_y=True)
    verdict, _ = separability_of(X, y)  # setosa is apart, the others mix
    assert verdict.kind == "quasi-separable"
    assert verdict.verify(X, y)
    found, about = separability_of(X[:10], y[:10])
    assert isinstance(found, Absent)
    assert about == ""


def test_many_classes_of_many_columns_are_left_to_python(monkeypatch):
    monkeypatch.setattr(bounded_sections, "VERDICT_WORK", 3 * 90 * 4 - 1)
    X, y = load_iris(return_X_y=True)
    found, _ = separability_of(X[10:100], y[10:100])  # two classes are quick
    assert found.kind == "separable"
    found, about = separability_of(X[30:120], y[30:120])
    assert found.reason.startswith("3 classes with 4 columns would take too long")
    assert about == ""


def test_an_overlap_of_a_part_is_enough(monkeypatch):
    monkeypatch.setattr(bounded_sections, "FIRST_SAMPLE", 50)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    verdict, about = separability_of(X, y)
    assert (verdict.kind, verdict.shape) == ("overlap", (50, 2))
    assert "random sample of 50 of the 400 rows" in about
    assert about.endswith("if it is not separable, neither are all rows.")


def test_a_part_that_is_separable_says_nothing_about_all_rows(monkeypatch):
    monkeypatch.setattr(bounded_sections, "FEWEST", 30)
    monkeypatch.setattr(bounded_sections, "VERDICT_WORK", 30)
    X = np.arange(100.0)[:, None]
    verdict, about = separability_of(X, X[:, 0] > 50)
    assert (verdict.kind, verdict.shape) == ("separable", (30, 1))
    assert about.endswith("All rows together may be harder to separate.")
    monkeypatch.setattr(bounded_sections, "VERDICT_WORK", 100)
    assert separability_of(X, X[:, 0] > 50)[0].shape == (100, 1)


# --- learning curve ---


def test_learning_curve_is_that_of_select():
    from separable.select import learning_curve

    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    given = {"is_classifier": True, "seed": 4, "how": " of cells"}
    curve, about = learning_curve_of(LDA(), X, y, **given)
    assert curve.to_dict() == learning_curve(LDA(), X, y, random_state=4).to_dict()
    assert about.startswith("569 rows of cells. Each repetition holds out 30 % of them at random")


def test_learning_curve_of_a_part(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(bounded_sections, "PLANS", ((2, None),))
    monkeypatch.setattr(bounded_sections, "CURVE_WORK", 2 * 1.5 * 0.7 * 5 * 255)
    curve, about = learning_curve_of(LDA(), X[:, :5], y, is_classifier=True)
    assert curve.sizes[-1] + curve.n_test == 200  # a round number
    assert about.startswith("A random sample of 200 of 569 rows, to limit the time.")


def test_the_work_of_a_curve_decides_repetitions_rows_and_absence(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(bounded_sections, "CURVE_WORK", 2 * 1.5 * 0.7 * 5 * 600)
    curve, about = learning_curve_of(LDA(), X[:, :5], y, is_classifier=True)
    assert curve.scores.shape == (4, 2)  # all rows, in fewer fits
    assert about.startswith("569 rows")
    monkeypatch.setattr(bounded_sections, "CURVE_WORK", 100)
    found, about = learning_curve_of(LDA(), X[:, :5], y, is_classifier=True)
    assert found == Absent(bounded_sections.TOO_LONG)
    assert about == ""


def test_a_slow_learner_has_no_curve(monkeypatch):
    X, y = load_breast_cancer(return_X_y=True)
    monkeypatch.setattr(bounded_sections, "SLOW_FIT", -1.0)
    found, _ = learning_curve_of(LDA(), X[:, :5], y, is_classifier=True)
    assert found == Absent(bounded_sections.TOO_LONG)


def test_parts_of_sparse_rows_lose_empty_columns_alone(monkeypatch):
    import scipy.sparse as sp

    from separable.geometry import separability

    monkeypatch.setattr(bounded_sections, "FIRST_SAMPLE", 30)
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random(300, 400, density=0.01, random_state=0))
    y = rng.integers(0, 2, 300)
    kept = {}

    def spy(X, y, feature_names=None):
        kept.setdefault("first", (X, feature_names))
        return separability(X, y, feature_names=feature_names)

    home = sys.modules["separable.geometry.separability"]
    monkeypatch.setattr(home, "separability", spy)
    separability_of(X, y, feature_names=[f"f{j}" for j in range(400)])
    part, names = kept["first"]
    assert part.shape == (30, len(names))
    chosen = np.sort(np.random.default_rng(0).permutation(300)[:30])
    filled = [int(name[1:]) for name in names]
    assert abs(X[chosen][:, filled] - part).max() == 0
    assert X[chosen].nnz == part.nnz


def test_too_few_rows_for_a_learning_curve():
    found, about = learning_curve_of(LDA(), np.eye(3), np.array([0, 1, 1]), is_classifier=True)
    assert isinstance(found, Absent)
    assert about == ""


# --- facts ---


def test_counts_and_bins_of_targets():
    assert target_counts(np.array(["b", "a", "b"])) == (("b", 2), ("a", 1))
    values = np.array([1.0, 2.0, 2.5, 9.0])
    bins = target_bins(values)
    assert (bins[0][0], bins[-1][1], sum(count for _, _, count in bins)) == (1.0, 9.0, 4)
    assert [count for _, _, count in bins] == [3, 1]
    assert target_bins(np.array([5.0, 5.0])) == ((5.0, 5.0, 2),)
    huge = target_bins(np.array([-1e308, 1e308, 0.0]))
    assert sum(count for _, _, count in huge) == 3


def test_certificates():
    X, y = load_iris(return_X_y=True)
    one = LogisticRegression().fit(X[:100], y[:100])
    found = certificate_of(one.model_)
    assert (found.models, found.converged, found.is_local) == (1, True, False)
    assert found.relative_gap == one.certificate_.relative_gap
    assert (found.primal, found.dual) == (one.certificate_.primal, one.certificate_.dual)
    three = LinearSVM().fit(X, y)
    found = certificate_of(three.model_)
    assert (found.models, found.primal) == (3, None)
    assert found.relative_gap == max(three.model_.evidence["relative_gap"])
    assert "one row at a time" in certificate_of(Perceptron().fit(X[:100], y[:100]).model_).reason
    assert "from sums" in certificate_of(LDA().fit(X, y).model_).reason


def test_the_certificate_of_a_local_optimum():
    X, y = make_regression(60, 4, noise=5.0, random_state=0)
    found = certificate_of(LpRegression(p=0.5, alpha=0.1).fit(X, y).model_)
    assert found.is_local
    assert 0 <= found.relative_gap <= found.tol


def test_strengths_by_what_chose_them():
    scores = np.array([[0.9, 0.5, 0.7], [0.7, 0.6, 0.8]])
    standing = Standing(
        "ridge", None, {"alpha": 2.0}, scores[:, 0],
        tried=({"alpha": 2.0}, {"alpha": 0.5}, {"alpha": 9.0}), tried_scores=scores,
    )  # fmt: skip
    better = {"accuracy": True, "log_loss": False}
    curve = regularization_curve(standing, "accuracy", None, better)
    assert (curve.parameter, curve.values, curve.chosen) == ("alpha", (0.5, 2.0, 9.0), 2.0)
    assert curve.means == pytest.approx([0.55, 0.8, 0.75])
    errors = scores.std(axis=0, ddof=1) / np.sqrt(2)
    assert curve.errors == pytest.approx(errors[[1, 0, 2]])
    assert (curve.metric, curve.greater_is_better) == ("accuracy", True)
    from dataclasses import replace

    chosen = replace(standing, choice_scores=-scores)
    curve = regularization_curve(chosen, "accuracy", "log_loss", better)
    assert (curve.metric, curve.greater_is_better) == ("log_loss", False)
    assert curve.means == pytest.approx([-0.55, -0.8, -0.75])
    alone = replace(standing, params={}, tried=({},), tried_scores=scores[:, :1])
    assert isinstance(regularization_curve(alone, "accuracy", None, better), Absent)


def test_versions_are_those_of_this_run():
    found = dict(versions())
    assert found["numpy"] == np.__version__
    assert list(found)[:2] == ["separable", "Python"]


def test_columns_of_models_without_an_encoder():
    model = LinearModel(np.zeros((1, 103)), [0.0], None, "identity")
    told = columns_of(model, {"y": "target"})
    assert (told[0].name, told[0].role, told[0].missing) == ("x0", "number", None)
    assert (told[100].about, told[101].role) == ("and 3 more", "target")
    assert len(told) == 102
    (text, target) = columns_of(text_model(), {"y": "target"})
    assert (text.role, text.about, target.role) == ("text", "5 features", "target")


# --- from Python ---


def test_contents_of_a_fitted_learner():
    X, y = load_breast_cancer(return_X_y=True)
    learner = LogisticRegression(standardize=True).fit(X[:400], y[:400])
    told = contents_of(learner, X[400:], y[400:], train=(X[:400], y[:400]), title="Cells")
    assert isinstance(told.measured, Measured)
    figures = told.measured.figures.figures
    assert figures["accuracy"] == accuracy_score(y[400:], learner.predict(X[400:]))
    assert figures["log_loss"] == pytest.approx(
        log_loss(y[400:], learner.predict_proba(X[400:])), rel=1e-9
    )
    assert told.measured.figures.constant == np.bincount(y[:400]).argmax()
    assert (told.title, told.data.rows, told.data.task) == ("Cells", 400, "classification")
    assert dict(told.data.target_counts) == dict(enumerate(np.bincount(y[:400]).tolist()))
    assert told.separability.shape == (400, 30)
    assert told.learning_curve.sizes[-1] + told.learning_curve.n_test == 400
    assert told.certificate.converged
    assert told.reproduction.commands[0].startswith("LogisticRegression(")
    assert isinstance(told.tried, Absent)


def test_contents_of_a_table_classifier_by_the_name_of_the_target():
    table = {
        "age": [20.0, 30, None, 50, 60, 25, 35, 45, 55, 65],
        "city": ["Rome", "Oslo"] * 5,
        "paid": ["yes", "no", "no", "yes", "yes", "no", "no", "no", "yes", "yes"],
    }
    model = TableClassifier().fit(table, "paid")
    told = contents_of(model, table)
    assert told.measured.figures.figures["accuracy"] == model.score(table)
    assert told.data.target == "paid"
    assert [(each.name, each.role) for each in told.data.columns] == [
        ("age", "number"),
        ("city", "category"),
        ("paid", "target"),
    ]
    wrong = int(np.sum(model.predict(table) != np.array(table["paid"])))
    assert len(told.hard_rows) == wrong > 0
    assert {name for name, _ in told.hard_rows[0].values} == {"age", "city"}
    with pytest.raises(TableError, match="no column 'nothing'"):
        contents_of(model, table, "nothing")


def test_contents_of_a_pipeline_of_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), TheirLogisticRegression()).fit(X[:400], y[:400])
    told = contents_of(pipeline, X[400:], y[400:])
    assert told.measured.figures.figures["log_loss"] == pytest.approx(
        log_loss(y[400:], pipeline.predict_proba(X[400:])), rel=1e-9
    )
    assert told.model.learner == "LogisticRegression"
    scaled = pipeline[0].transform(X[400:])
    row = told.hard_rows[0]
    parts = pipeline[-1].coef_[0] * scaled[row.row - 1]
    sign = 1 if row.predicted == 1 else -1
    assert row.contributions[0][1] == pytest.approx(sign * parts[np.abs(parts).argmax()])


def test_contents_of_texts_numbers_and_votes():
    told = contents_of(text_model(), ["bad film", "good play"], ["no", "no"])
    assert told.hard_rows[0].texts[0][1] == "good play"
    X, y = make_regression(60, 4, noise=5.0, random_state=0)
    told = contents_of(Lasso(alpha=0.1).fit(X[:40], y[:40]), X[40:], y[40:])
    model = Lasso(alpha=0.1).fit(X[:40], y[:40])
    assert told.measured.figures.figures["mae"] == pytest.approx(
        mean_absolute_error(y[40:], model.predict(X[40:]))
    )
    assert isinstance(told.separability, Absent)
    X, y = load_iris(return_X_y=True)
    votes = VotedPerceptron().fit(X[:100], y[:100])
    told = contents_of(votes, X[:100], y[:100])
    assert told.measured.figures.figures["accuracy"] == votes.score(X[:100], y[:100])


def test_a_model_alone_and_what_cannot_be_asked():
    model = LinearModel([[1.0]], [0.0], ["a", "b"], "score")
    told = contents_of(model)
    assert isinstance(told.measured, Absent)
    assert told.data.rows is None
    with pytest.raises(ValueError, match="sample_weight and positive need X"):
        contents_of(model, positive="a")
    with pytest.raises(ValueError, match="A report needs the true targets"):
        contents_of(model, [[1.0]])
    with pytest.raises(ValueError, match=r"y has shape \(2,\), and X has 1 rows"):
        contents_of(model, [[1.0]], ["a", "b"])
    with pytest.raises(TypeError, match="has no weights of one linear model"):
        contents_of(StandardScaler().fit([[1.0], [2.0]]))
    with pytest.raises(NotFittedError, match="StandardScaler instance is not fitted"):
        contents_of(StandardScaler())


def test_a_missing_package_is_named_before_the_work(monkeypatch):
    from separable.report import report
    from separable.report.page import page

    monkeypatch.setattr(page, "NEEDED", {"altair": "altair", "not_there": "not-there"})
    with pytest.raises(ImportError, match=r"A report needs not-there.*Run: pip install not-there"):
        report(LinearModel([[1.0]], [0.0], None, "identity"))


def test_an_evaluation_comes_back_from_its_dict():
    X, y = load_iris(return_X_y=True)
    for found in (
        LDA().fit(X, y).model_.evaluate(X, y),
        Ridge().fit(X, X[:, 0]).model_.evaluate(X, X[:, 0]),
    ):
        told = json.loads(json.dumps(found.to_dict()))
        assert Evaluation.from_dict(told).to_dict() == found.to_dict()


@pytest.mark.parametrize(
    "train",
    [
        "text",
        {"report": 3, "held_out": {"task": 1}, "rows": "many"},
        {"report": {"tried": {"folds": 3}, "strengths": {"learner": 1}}, "leaderboard": [1]},
        {"report": {"classes": [1], "missing": {"x": "some"}}, "metric": "accuracy"},
        {
            "report": {"commands": "rm", "notes": {"a": 1}, "seed": [1]},
            "stream": {"tail": {"a": 1}},
        },
        {"updates": 3, "held_out": [1]},
    ],
)
def test_a_file_may_tell_anything(train):
    model = LinearModel([[1.0]], [0.0], ["a", "b"], "score", ["x"], evidence={"train": train})
    told = contents_of(model, [[1.0], [-1.0], [2.0]], ["b", "a", "a"])
    assert isinstance(told.tried, Absent)
    assert isinstance(told.regularization, Absent)
    assert told.data.rows is None
    assert told.measured.figures.correct == 2


def test_several_numbers_a_row():
    X, y = make_regression(60, 4, n_targets=2, noise=5.0, random_state=0)
    model = Ridge().fit(X[:40], y[:40])
    told = contents_of(model, X[40:], y[40:], train=(X[:40], y[:40]))
    assert told.measured.figures.figures["rmse"] > 0
    assert isinstance(told.hard_rows, Absent)
    assert told.data.target_bins == ()
