"""Comparison, test and final fit of learners over partitions, on disk or on a cluster."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.table import TableError
from separable.errors import Message, Option, OptionError
from separable.workflow.comparison.candidates import checked_settings
from separable.workflow.options import ProblemOptions, command_line, data_name, file_name
from separable.workflow.out_of_core.held_out_sums import ALL_ROWS, FoldModels, held_out_means
from separable.workflow.out_of_core.out_of_core_text import run_dict, run_text
from separable.workflow.out_of_core.partition_learners import PartitionData, partition_learner
from separable.workflow.progress import detail, note, step, warn
from separable.workflow.training_run import save_model
from separable.workflow.training_warnings import fit_warning

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from separable.certified.duality.certificate import Certificate
    from separable.errors import Spelling
    from separable.model.linear_model import LinearModel
    from separable.statistics.partitions import Partitions
    from separable.typing import Floats
    from separable.workflow.out_of_core.block_encoding import EncodedBlocks
    from separable.workflow.out_of_core.partition_learners import PartitionLearner

__all__ = ["OutOfCoreRun", "PartitionTraining", "Trial"]

#: Learners that are tried unless some are named.
DEFAULTS = {
    "classification": ("logistic-regression", "lda"),
    "regression": ("ridge", "lasso"),
}


@dataclass(frozen=True)
class Trial:
    """The search of one learner.

    Parameters
    ----------
    name : str
    values : tuple
        Of its regularization parameter, None without.
    losses, errors : ndarray, shape (values, folds)
        Mean losses and errors of held-out rows.
    best : int
        The index of the best value.
    has_loss : bool
        Whether losses are comparable between learners.
    """

    name: str
    values: tuple[float | None, ...]
    losses: Floats
    errors: Floats
    best: int
    has_loss: bool


@dataclass(frozen=True, repr=False)
class OutOfCoreRun:
    """The result of ``separable.train(..., out_of_core=True)``.

    Parameters
    ----------
    data, target_name : str
    found : EncodedBlocks
        Encoder, classes and counts of rows.
    trials : tuple of Trial
        The learners, best first.
    test : dict
        Metrics of the held-out rows; empty without any.
    certificate : Certificate or None
        Of the final model.
    model : LinearModel
        Fitted to all rows.
    block_bytes : int
        Of the encoded blocks.
    notes, warnings : tuple of Message
    """

    data: str
    target_name: str
    found: EncodedBlocks
    trials: tuple[Trial, ...]
    test: dict[str, float]
    certificate: Certificate | None
    model: LinearModel
    block_bytes: int
    notes: tuple[Message, ...] = ()
    warnings: tuple[Message, ...] = ()

    def summary(self) -> str:
        """Return the text that ``separable train --out-of-core`` prints."""
        return run_text(self)

    def to_dict(self, spelling: Spelling = "train") -> dict[str, Any]:
        """Return the results as JSON values."""
        return run_dict(self, spelling)

    def next_commands(self, model: str) -> list[str]:
        """Return commands that use the model, given the quoted path of its file."""
        return [
            f"separable explain {model}",
            f"separable predict {model} NEW.csv",
            f"separable evaluate {model} NEW.csv",
        ]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file."""
        save_model(self.model, path)

    def __repr__(self) -> str:
        return f"OutOfCoreRun: {self.model.learner} for {self.target_name}, {self.found.rows} rows"

    def _repr_html_(self) -> str:
        """Return the summary for a notebook."""
        return f"<pre>{escape(self.summary())}</pre>"


class PartitionTraining:
    """One run over partitions.

    Parameters
    ----------
    name : str
        The data, for messages.
    options : ProblemOptions
    found : EncodedBlocks
    how : Option
        The option that led here, for the command that repeats the run.
    """

    def __init__(
        self,
        name: str,
        options: ProblemOptions,
        found: EncodedBlocks,
        how: Option | None = None,
    ) -> None:
        self.name, self.options, self.found = name, options, found
        self.how = Option("out_of_core", True) if how is None else how
        self.settings = dict(checked_settings(options))

    def _data(self, partitions: Partitions, folds: int) -> PartitionData:
        def progress(number: int, gap: float) -> None:
            detail(f"Pass {number}: relative gap {gap:.1e}")

        return PartitionData(partitions, self.found.classes, folds, progress)

    def run(
        self,
        training: Partitions,
        test: Partitions,
        everything: Partitions,
        block_bytes: int,
    ) -> OutOfCoreRun:
        """Search the learners, test the best one and fit it to all rows.

        Parameters
        ----------
        training, test, everything : Partitions
            Rows with folds to learn from, held-out rows, and both.
        block_bytes : int
            Of the encoded rows.
        """
        found = self.found
        if not training.n_rows:
            raise TableError(f"{file_name(self.name)} has no rows to learn from.")
        data = self._data(training, self.options.folds)
        data.check_folds()
        task: Any = "regression" if found.classes is None else "classification"
        learners = self._learners(task, data)
        trials = [self._trial(learner, data) for learner in learners]
        by_loss = all(trial.has_loss for trial in trials)
        order = sorted(range(len(trials)), key=lambda k: _score(trials[k], by_loss=by_loss))
        best, trial = learners[order[0]], trials[order[0]]
        value = trial.values[trial.best]
        with step(f"Fitting {best.name} to the training rows"):
            first, _ = _fitted(best, data, value, found)
        metrics: dict[str, float] = {}
        if test.n_rows:
            metrics = self._test(test, first, data)
            with step(f"Fitting {best.name} to all rows"):
                every = self._data(everything, 0)
                last, certificate = _fitted(best, every, value, found, first)
        else:
            last, certificate = _fitted(best, data, value, found, first)
        ordered = tuple(trials[k] for k in order)
        model = self._trained(last, metrics, everything.n_rows, data)
        return OutOfCoreRun(
            self.name,
            self.options.target,
            found,
            ordered,
            metrics,
            certificate,
            model,
            block_bytes,
        )

    def _learners(self, task: Any, data: PartitionData) -> list[PartitionLearner]:
        names: Sequence[str] = self.options.models or DEFAULTS[task]
        learners = []
        for name in names:
            learner = partition_learner(name, self.settings if self.options.models else {})
            reason = learner.check(data)
            if not reason:
                learners.append(learner)
            elif self.options.models:
                raise OptionError(Option("model", name), f": {reason}.")
            else:
                note(f"{name} was not tried: {reason}.")
        return learners

    def _trial(self, learner: PartitionLearner, data: PartitionData) -> Trial:
        values = tuple(learner.values(data))
        with step(f"Searching {learner.name}: {len(values)} values x {data.n_folds} folds"):
            models = learner.search(data, values)
            losses, errors = (
                one.reshape(len(values), -1) for one in held_out_means(data.partitions, models)
            )
        has_loss = models.link != "score"
        means = (losses if has_loss else errors).mean(axis=1)
        best = int(np.argmin(means))  # the first of equal ones has more regularization
        return Trial(learner.name, values, losses, errors, best, has_loss)

    def _test(
        self,
        test: Partitions,
        model: LinearModel,
        data: PartitionData,
    ) -> dict[str, float]:
        """Return the metrics of the held-out rows, and of the best constant beside them."""
        weights = np.ascontiguousarray(model.weights.T)
        models = FoldModels(weights, np.array(model.intercept), (ALL_ROWS,), model.link)
        losses, errors = held_out_means(test, models)
        constant = _constant_models(models, data)
        base_losses, base_errors = held_out_means(test, constant)
        if self.found.classes is None:
            return {
                "rows": float(test.n_rows),
                "rmse": math.sqrt(losses[0]),
                "mae": float(errors[0]),
                "r2": float(1.0 - losses[0] / base_losses[0]),
                "constant_rmse": math.sqrt(base_losses[0]),
            }
        metrics = {
            "rows": float(test.n_rows),
            "accuracy": float(1.0 - errors[0]),
            "constant_accuracy": float(1.0 - base_errors[0]),
        }
        if model.link != "score":
            metrics |= {"log_loss": float(losses[0]), "constant_log_loss": float(base_losses[0])}
        return metrics

    def _trained(
        self,
        model: LinearModel,
        metrics: dict[str, float],
        rows: int,
        data: PartitionData,
    ) -> LinearModel:
        """Return the model with its encoder and training record."""
        found = self.found
        constant: Any = float(data.sums["y_mean"][0]) if found.classes is None else None
        if found.classes is not None:
            largest = int(np.argmax(data.sums["classes"].sum(axis=0)))
            constant = found.classes.tolist()[largest]
        given = [self.how, *self.options.given()]
        name = data_name(self.name)
        record = {
            "task": "regression" if found.classes is None else "classification",
            "target": self.options.target,
            "weight": self.options.weight,
            "rows": rows,
            "constant": constant,
            "held_out": None,
            "data": name,
            "out_of_core": {"test": metrics, "folds": self.options.folds},
            "report": {
                "commands": [command_line("separable", "train", name, options=given)],
                "seed": self.options.seed,
            },
        }
        evidence = {**model.evidence, "train": record}
        return replace(model, encoder=found.encoder, feature_names=None, evidence=evidence)


def _fitted(
    learner: PartitionLearner,
    data: PartitionData,
    value: float | None,
    found: EncodedBlocks,
    start: LinearModel | None = None,
) -> tuple[LinearModel, Certificate | None]:
    """Return a model and its certificate, with warnings as `train` words them."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model, certificate = learner.fit(data, value, start)
    for one in caught:
        message = fit_warning(one.message, model, data.partitions.n_rows, found.encoder)
        if message:
            warn(message)
    if certificate is not None and not certificate.converged:
        warn(
            f"{model.learner} stopped with a relative gap of {certificate.relative_gap:.1e}; "
            f"{certificate.tol:.0e} was asked for. A smaller C or a larger alpha brings it closer."
        )
    return model, certificate


def _constant_models(models: FoldModels, data: PartitionData) -> FoldModels:
    """Return the best constant of the training rows in place of a model."""
    intercept = np.zeros_like(models.intercept)
    if data.classes is None:
        intercept[0] = float(data.sums["y_mean"][0])
    else:
        weight = data.sums["classes"].sum(axis=0)
        logs = np.log(weight / weight.sum())
        intercept[:] = logs if len(intercept) > 1 else logs[1] - logs[0]
    return FoldModels(np.zeros_like(models.weights), intercept, models.folds, models.link)


def _score(trial: Trial, *, by_loss: bool) -> float:
    scores = trial.losses if by_loss else trial.errors
    return float(scores[trial.best].mean())
