"""``report``: a fitted estimator as one HTML page, from Python."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from separable.data.ingest.in_memory import table_or_rows
from separable.data.rows import Rows
from separable.errors import Absent
from separable.model.files.training_rows import TrainingRows
from separable.model.metrics.evaluation import evaluation
from separable.report.bounded_sections import NUMBERS_PREDICTED, learning_curve_of, separability_of
from separable.report.contents import Data, Measured, Reproduction
from separable.report.hard_rows import Fitted, hard_rows, seen_in_training, target_name
from separable.report.page.page import check_extra, page_of, write_page
from separable.report.record_contents import recalled, versions
from separable.workflow import typical
from separable.workflow.options import data_name
from separable.workflow.stream.stream_training import StreamRun
from separable.workflow.training_record import columns_of, target_bins, target_counts, trained_on
from separable.workflow.training_run import TrainingRun

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.report.contents import Contents
    from separable.report.hard_rows import ScoredRows


__all__ = ["contents_of", "contents_of_run", "growth_of", "report", "separability_part"]

NOT_GIVEN = "Give labelled rows to see this: report(model, X, y)."


def report(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    train: tuple[Any, Any] | None = None,
    sample_weight: Any = None,
    positive: Any = None,
    title: str | None = None,
    path: str | PathLike[str] | None = None,
) -> str:
    """Return a report on a fitted model: one self-contained HTML page.

    It shows the metrics on test rows beside the best constant prediction, curves, weights and the
    rows with the largest errors; whether the classes are separable, the learning curve with a
    forecast, and the bound on the distance from the optimum.

    Parameters
    ----------
    model : TrainingRun, fitted estimator, TableClassifier, TableRegressor or LinearModel
        The result of `separable.train`, which has its own rows: ``report(run, "page.html")``. Also
        a pipeline or a search that ends in linear weights, and estimators of scikit-learn.
    X : array-like, sparse matrix, data frame, table or texts, optional
        Test rows, as input of its ``predict``. Without them the page shows what the model itself
        holds.
    y : array-like, or str, optional
        True targets of these rows, or the name of their column in X.
    train : pair of X and y, optional
        The training rows, X and y: with them the page describes them, and uses them for
        separability and the learning curve, instead of X and y.
    sample_weight : array-like, optional
        Weights of the rows of X.
    positive : object, optional
        Positive class for precision, recall and related metrics. By default the second of two;
        with three or more classes, metrics are means over the classes.
    title : str, optional
        The title of the page.
    path : str or path, optional
        A file to write the page to, atomically.

    Returns
    -------
    str
        The page.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from separable import LogisticRegression
    >>> from separable.report import report
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression(standardize=True).fit(X[:400], y[:400])
    >>> page = report(model, X[400:], y[400:], train=(X[:400], y[:400]), title="Tumours")
    >>> page.startswith("<!doctype html>"), "Tumours" in page
    (True, True)
    """
    check_extra()
    given = {"train": train, "sample_weight": sample_weight, "positive": positive}
    if isinstance(model, TrainingRun | StreamRun):
        if isinstance(X, (str, PathLike)) and path is None:
            X, path = None, X
        if X is not None or y is not None or any(one is not None for one in given.values()):
            raise ValueError("A training run has its own rows: give report(run, path, title=...).")
        contents = contents_of_run(model, title=title)
    else:
        contents = contents_of(model, X, y, title=title, **given)
    return page_of(contents) if path is None else write_page(contents, path)


def contents_of_run(
    run: TrainingRun | StreamRun, model_file: str | None = None, *, title: str | None = None
) -> Contents:
    """Return the contents of the report of a training run."""
    if isinstance(run, TrainingRun):
        from separable.report.training_report import run_contents

        return run_contents(run, model_file, title)
    return recalled(
        run.model, model_file=None if model_file is None else data_name(model_file), title=title
    )


def contents_of(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    train: tuple[Any, Any] | None = None,
    sample_weight: Any = None,
    positive: Any = None,
    title: str | None = None,
) -> Contents:
    """Return the contents of a report; see `report`."""
    fitted = Fitted.of(model)
    learned = None if train is None else fitted.scored(*train)
    contents = _of_model(fitted, learned, target_name(fitted, y), title)
    if X is not None:
        scored = fitted.scored(X, y, sample_weight)
        contents = replace(contents, **_measured(scored, positive, learned))
    elif y is not None or sample_weight is not None or positive is not None:
        raise ValueError("y, sample_weight and positive need X.")
    rows = learned if learned is not None else scored if X is not None else None
    if rows is None:
        return contents
    if not contents.data.spread:
        source = X if train is None else train[0]
        contents = replace(contents, data=replace(contents.data, **_typical(rows, source)))
    which = " learned from" if learned is not None else " measured on"
    learner = None if fitted.learner is None else _unfitted(fitted.learner)
    return replace(
        contents, **separability_part(rows, which), **growth_of(rows, which, learner=learner)
    )


def _of_model(
    fitted: Fitted, learned: ScoredRows | None, target: str, title: str | None
) -> Contents:
    """Return the contents that follow from the model and its training rows."""
    model = fitted.model
    contents = recalled(model, title=title)
    absent = Absent(NOT_GIVEN)
    contents = replace(contents, learning_curve=absent, separability=absent, hard_rows=absent)
    if trained_on(model):
        return contents
    seed = model.parameters.get("random_state")
    return replace(
        contents,
        data=_data(model, learned, target),
        reproduction=Reproduction(
            (_command(model),), versions(), seed if isinstance(seed, int) else None, None
        ),
    )


def _data(model: Model, learned: ScoredRows | None, target: str) -> Data:
    is_number = model.classes is None
    y_true = None if learned is None or learned.y_true.ndim > 1 else learned.y_true
    return Data(
        name="",
        rows=None if learned is None else len(learned.y_true),
        columns=columns_of(model, {target: "target"}),
        target=target,
        task="regression" if is_number else "classification",
        target_counts=() if y_true is None or is_number else target_counts(y_true),
        target_bins=() if y_true is None or not is_number else target_bins(y_true),
    )


def _command(model: Model) -> str:
    """Return Python code for the same learner with the same parameters."""
    given = ", ".join(f"{name}={value!r}" for name, value in model.parameters.items())
    return f"{model.learner}({given}).fit(X, y)"


def _measured(scored: ScoredRows, positive: Any, learned: ScoredRows | None) -> dict[str, Any]:
    constant = None
    if learned is not None and scored.predictions.classes is not None:
        constant = target_counts(learned.y_true)[0][0]
    elif learned is not None:
        constant = learned.y_true.mean(axis=0)
    figures = evaluation(scored.predictions, scored.y_true, scored.weight, positive, constant)
    rows, about = hard_rows(scored)
    how = f"{len(scored.y_true)} evaluation rows"
    known = scored.model.training_rows
    if learned is not None:
        known = TrainingRows.of(learned.rows, learned.weight)
    measured = Measured(
        how,
        figures,
        scored.y_true,
        scored.predictions,
        scored.weight,
        **seen_in_training(scored, known),
    )
    return {"measured": measured, "hard_rows": rows, "hard_rows_about": about}


def _typical(rows: ScoredRows, X: Any) -> dict[str, Any]:
    """Return the typical row and the spread of features, as fields of `Data`."""
    if getattr(rows.model.encoder, "kind", None) != "table":
        return typical.of_rows(rows.model, rows.rows)
    table = table_or_rows(X)
    return {} if isinstance(table, Rows) else typical.of_table(rows.model, table)


def _unfitted(learner: Any) -> Any:
    from separable.estimator import clone

    return clone(learner)


def separability_part(scored: ScoredRows, of_what: str = "", seed: int = 0) -> dict[str, Any]:
    """Return the separability of rows, as fields of `Contents`.

    Parameters
    ----------
    scored : ScoredRows
    of_what : str
        A description of the rows, after their number.
    seed : int, default 0
    """
    model = scored.model
    if model.classes is None:
        return {"separability": Absent(NUMBERS_PREDICTED), "separability_rows": ""}
    verdict, about = separability_of(
        scored.rows,
        scored.labels(),
        of_what=of_what,
        encoder=model.encoder,
        feature_names=model.feature_names,
        seed=seed,
    )
    return {"separability": verdict, "separability_rows": about}


def growth_of(scored: ScoredRows, how: str = "", learner: Any = None) -> dict[str, Any]:
    """Return the learning curve of a model's learner, as fields of `Contents`.

    Parameters
    ----------
    scored : ScoredRows
    how : str
        A description of the rows, after their number.
    learner : estimator, optional
        Not fitted. By default the learner of the model, with its parameters.
    """
    learner = learner_of(scored.model) if learner is None else learner
    if learner is None:
        reason = f"{scored.model.learner} cannot be retrained."
        return {"learning_curve": Absent(reason)}
    if scored.model.link == "log":
        return {"learning_curve": Absent("The model learned the logarithm of the target.")}
    curve, about = learning_curve_of(
        learner,
        scored.rows.to_matrix(),
        scored.labels(),
        is_classifier=scored.model.classes is not None,
        weight=scored.weight,
        how=how,
    )
    return {"learning_curve": curve, "learning_curve_rows": about}


def learner_of(model: Model) -> Any:
    """Return the unfitted learner of a model with its parameters, or None."""
    import separable

    if model.learner not in separable._HOMES:
        return None
    try:
        return getattr(separable, model.learner)(**model.parameters)
    except TypeError:  # parameters of another version
        return None
