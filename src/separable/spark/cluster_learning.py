"""Fits of learners to the rows of a DataFrame, on its cluster."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import InputError
from separable.estimator import is_classifier
from separable.moments.base import MomentEstimator
from separable.moments.partitioned_sums import partition_sums
from separable.spark.encoded_rows import encoded_rows, row_source
from separable.spark.row_parts import RowParts
from separable.workflow.learners import LEARNERS
from separable.workflow.out_of_core.held_out_sums import held_out_means
from separable.workflow.out_of_core.partition_learners import KINDS, partition_learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.features.table.table_encoder import TableEncoder
    from separable.model.linear_model import LinearModel
    from separable.spark.cluster_jobs import Frame
    from separable.spark.encoded_rows import EncodedRows
    from separable.workflow.out_of_core.partition_learners import PartitionData, PartitionLearner

__all__ = ["fit", "searched_model"]

#: Learners that search their regularization, with their values, and the learner of each model.
SEARCHES = {
    "LogisticRegressionCV": ("logistic-regression", "Cs"),
    "LinearSVMCV": ("linear-svm", "Cs"),
    "RidgeCV": ("ridge", "alphas"),
    "LassoCV": ("lasso", "alphas"),
    "ElasticNetCV": ("elastic-net", "alphas"),
}
#: Folds of a search by default.
FOLDS = 5


def fit(
    learner: Any,
    df: Frame,
    target: str,
    *,
    weight: str | None = None,
    features: str | None = None,
    encoder: TableEncoder | None = None,
    key: str | None = None,
    folds: str | None = None,
) -> LinearModel:
    """Fit a learner to the rows of a DataFrame, on its cluster.

    Parameters
    ----------
    learner : estimator
        With its parameters; not changed. Of searches such as ``LogisticRegressionCV`` all folds and
        values share the passes over the rows.
    df : DataFrame
        Of pyspark, classic or Connect.
    target : str
        The column to predict.
    weight : str, optional
        Column of row weights; rows of weight 0 are left out.
    features : str, optional
        A column of vectors (``VectorUDT``), used as they are. By default all other columns are
        encoded.
    encoder : TableEncoder, optional
        How columns are encoded; by default ``TableEncoder()``.
    key : str, optional
        Column whose equal values stay in one fold of a search.
    folds : str, optional
        Column with the fold of each row, from 0. By default folds are chosen by a hash of the key,
        or of the row.

    Returns
    -------
    LinearModel
        With its encoder: it predicts raw tables anywhere.
    """
    task = "classification" if is_classifier(learner) else "regression"
    source = row_source(df, target, task, weight=weight, features=features, key=key, folds=folds)
    search = SEARCHES.get(type(learner).__name__)
    if search is None and (key or folds):
        raise ValueError(f"{type(learner).__name__} has no folds: leave out key and folds.")
    if search is None:
        with encoded_rows(df, source, RowParts(), encoder) as rows:
            return rows.with_encoder(_fitted(learner, rows))
    name, values = search
    settings, n_folds = _search_settings(learner, name, values)
    parts = RowParts(n_folds, key=key, fold_column=folds)
    with encoded_rows(df, source, parts, encoder) as rows:
        data, chosen = rows.data(), partition_learner(name, settings)
        grid = _grid(getattr(learner, values), chosen, data)
        return rows.with_encoder(searched_model(chosen, data, grid))


def _fitted(learner: Any, rows: EncodedRows) -> LinearModel:
    """Return the model of a learner without the encoder."""
    name = _name_of(type(learner))
    if name is not None and name in KINDS and not isinstance(learner, MomentEstimator):
        made = partition_learner(name, _settings(learner))
        data = rows.data()
        _refuse(made.check(data))
        return made.fit(data, None)[0]
    if not isinstance(learner, MomentEstimator):
        known = sorted(LEARNERS[one].load().__name__ for one in KINDS)
        raise TypeError(
            f"{type(learner).__name__} needs all rows in memory, so it cannot be fitted on Spark. "
            f"{', '.join(known)}, and all moment learners such as LinearGaussianNB can."
        )
    from separable.estimator import clone

    made = clone(learner)
    model: LinearModel = made.fit_sums(
        partition_sums(rows.partitions(), learner, rows.classes)
    ).model_
    return model


def _name_of(kind: type) -> str | None:
    """Return the name of a learner in `LEARNERS`."""
    names = {entry.load().__name__: name for name, entry in LEARNERS.items() if name in KINDS}
    return names.get(kind.__name__)


def _settings(learner: Any) -> dict[str, Any]:
    """Return the parameters of a learner that are not the defaults."""
    defaults = type(learner)().get_params(deep=False)
    given = learner.get_params(deep=False)
    return {name: value for name, value in given.items() if not _same(value, defaults[name])}


def _same(value: Any, other: Any) -> bool:
    return value is other or bool(np.array_equal(value, other))


def _search_settings(learner: Any, name: str, values: str) -> tuple[dict[str, Any], int]:
    """Return the parameters of the models of a search, and its number of folds."""
    given = _settings(learner)
    given.pop(values, None)
    cv = given.pop("cv", None)
    n_folds = FOLDS if cv is None else cv
    if not isinstance(n_folds, Integral) or n_folds < 2:
        raise ValueError(
            "On Spark cv is a number of folds, at least 2; folds='column' takes the folds of a "
            f"column. Got cv={cv!r}."
        )
    if "l1_ratios" in given and np.ndim(given["l1_ratios"]) == 0:
        given["l1_ratio"] = given.pop("l1_ratios")
    known = LEARNERS[name].load()().get_params(deep=False)
    odd = [each for each in given if each not in known]
    if odd:
        raise ValueError(
            f"{type(learner).__name__} takes no {odd[0]} on Spark: candidates are compared by log "
            "loss, wrong classes (SVM) or squared errors. Leave it out."
        )
    return given, int(n_folds)


def _grid(values: Any, learner: PartitionLearner, data: PartitionData) -> Sequence[float | None]:
    """Return the values to search, from more to less regularization."""
    if values is None or isinstance(values, Integral):
        if learner.parameter == "C" and values is not None:
            from separable.select.estimators.c_search import values_of_C

            return [float(value) for value in values_of_C(values)]
        return learner.values(data)
    return sorted((float(value) for value in values), reverse=learner.parameter != "C")


def _refuse(problem: str) -> None:
    if problem:
        raise InputError(f"{problem[:1].upper()}{problem[1:]}.")


def searched_model(
    learner: PartitionLearner, data: PartitionData, values: Sequence[float | None]
) -> LinearModel:
    """Return the model of all rows with the value that predicts held-out rows best.

    Of values that tie, the one with most regularization is taken.
    """
    _refuse(learner.check(data))
    data.check_folds()
    models = learner.search(data, values)
    losses, errors = held_out_means(data.partitions, models)
    by_errors = models.link == "score"
    table = (errors if by_errors else losses).reshape(len(values), -1)
    mean = table.mean(axis=1)
    best = int(np.argmin(mean))
    model, _ = learner.fit(data, values[best])
    measure = "error rate"
    if not by_errors:
        measure = "log loss" if data.classes is not None else "mean squared error"
    search = {
        "parameter": learner.parameter,
        "values": list(values),
        "best": values[best],
        "measure": measure,
        "mean": mean.tolist(),
        "folds": table.tolist(),
    }
    return replace(model, evidence={**model.evidence, "search": search})
