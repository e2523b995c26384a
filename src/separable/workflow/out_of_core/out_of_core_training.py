"""Training on data larger than memory: encoded blocks on disk, and solvers over sums of rows."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.resources import available_bytes
from separable.data.table import TableError
from separable.errors import Message, Option, OptionError
from separable.workflow.comparison.candidates import checked_settings
from separable.workflow.learners import LEARNERS
from separable.workflow.options import (
    TEST_SIZE,
    ProblemOptions,
    checked_models,
    command_line,
    data_name,
    file_name,
)
from separable.workflow.out_of_core.block_encoding import (
    BlockStream,
    RowSplit,
    encode_blocks,
    note_of_rows,
)
from separable.workflow.out_of_core.block_store import BlockStore, default_folder
from separable.workflow.out_of_core.held_out_sums import ALL_ROWS, FoldModels, held_out_means
from separable.workflow.out_of_core.out_of_core_text import run_dict, run_text
from separable.workflow.out_of_core.partition_learners import (
    IN_MEMORY,
    KINDS,
    PartitionData,
    partition_learner,
)
from separable.workflow.progress import detail, keeping, note, remembering_files, step, warn
from separable.workflow.stream.stream_rows import Source, Wanted
from separable.workflow.training_run import save_model
from separable.workflow.training_warnings import fit_warning

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from separable.certified.duality.certificate import Certificate
    from separable.errors import Spelling
    from separable.model.linear_model import LinearModel
    from separable.typing import Floats
    from separable.workflow.out_of_core.block_encoding import EncodedBlocks
    from separable.workflow.out_of_core.block_store import BlockPartitions
    from separable.workflow.out_of_core.partition_learners import PartitionLearner

__all__ = ["OutOfCoreOptions", "OutOfCoreRun", "Trial", "chosen_options", "train_out_of_core"]

#: Learners that are tried unless some are named.
DEFAULTS = {
    "classification": ("logistic-regression", "lda"),
    "regression": ("ridge", "lasso"),
}
#: Options of training in memory.
NOT_TAKEN = (
    *("metric", "positive", "group", "time", "compare_rows", "budget"),
    *("cost", "threshold", "class_weight", "increasing", "decreasing", "nonnegative"),
)
#: Bytes of memory for each byte of a file: of text, and of Parquet or compressed files. Estimates
#: from a few tables, not measured on others.
TEXT_FACTOR, COMPRESSED_FACTOR = 4.0, 12.0
WITHOUT = Message(
    "Out of core there are no curves, interactions, logarithms of the target, calibration, "
    "decision thresholds, ranking metrics, checks of the data or hardest rows. For these use ",
    IN_MEMORY,
    ".",
)


@dataclass(frozen=True)
class OutOfCoreOptions:
    """Options of training out of core.

    Parameters
    ----------
    cache : str or None
        The folder of the blocks, which is kept; None: one in the folder of temporary files, which
        is removed at the end.
    test_size : float or None
        The fraction of rows to hold out.
    is_by_size : bool
        Whether the size of the files decided it, which is then said.
    """

    cache: str | None = None
    test_size: float | None = None
    is_by_size: bool = False


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


def chosen_options(
    data: Any,
    options: ProblemOptions,
    out_of_core: bool | None,
    cache: str | None,
    test: Any,
    test_size: float | None,
) -> OutOfCoreOptions | None:
    """Return the options of training out of core; None: in memory.

    Parameters
    ----------
    data : str or table
    options : ProblemOptions
    out_of_core : bool or None
        None: if the files are probably too large for memory, and everything that was asked for
        works out of core.
    cache : str or None
    test : str, table or None
    test_size : float or None
    """
    if out_of_core is None and cache is None:
        if not _asks_little(data, options, test) or _suits_memory(data, options):
            return None
        return OutOfCoreOptions(None, test_size, is_by_size=True)
    if not out_of_core:
        if cache is not None:
            raise OptionError(Option("cache", cache), " needs ", Option("out_of_core", True), ".")
        return None
    if test is not None:
        raise OptionError(
            Option("test", file_name(test)),
            " needs all rows in memory: out of core part of the rows is held out. Use ",
            Option("test_size", TEST_SIZE),
            ", or ",
            IN_MEMORY,
            ".",
        )
    return OutOfCoreOptions(cache, test_size)


def _asks_little(data: Any, options: ProblemOptions, test: Any) -> bool:
    """Return whether all that was asked for works out of core."""
    if not isinstance(data, str) or data == "-" or test is not None or not options.target:
        return False
    if not set(options.models) <= set(KINDS):
        return False
    try:
        refuse_others(options)
    except OptionError:
        return False
    return True


def _suits_memory(data: str, options: ProblemOptions) -> bool:
    """Return whether files can probably be learned from in memory."""
    try:
        source = Source(data, options.reading)
    except (ValueError, OSError):  # reading in memory says what is wrong
        return True
    if source.is_sparse or not source.again:
        return True
    needed = 0.0
    for one in source.inputs:
        is_text = source.format in ("csv", "jsonl") and not one.name.endswith((".gz", ".zst"))
        needed += (one.size or 0) * (TEXT_FACTOR if is_text else COMPRESSED_FACTOR)
    return needed <= available_bytes()


def train_out_of_core(
    data: Any, options: ProblemOptions, own: OutOfCoreOptions | None = None
) -> OutOfCoreRun:
    """Train on files that memory need not hold.

    Parameters
    ----------
    data : str
        Files that can be read twice.
    options : ProblemOptions
    own : OutOfCoreOptions, optional
    """
    own = OutOfCoreOptions() if own is None else own
    if not isinstance(data, str):
        raise OptionError(Option("out_of_core", True), ": rows are read from files. Name a file.")
    refuse_others(options)
    options = replace(options, models=checked_models(options.models))
    with keeping() as kept, remembering_files():
        if own.is_by_size:
            note(
                Message(
                    f"{file_name(data)} is probably too large for memory, so it is learned out "
                    "of core. To learn it in memory, use ",
                    IN_MEMORY,
                    ".",
                )
            )
        source = Source(data, options.reading)
        _check_source(source)
        run = _Training(source, options, own).run()
        for message in (*source.notes, WITHOUT):
            note(message)
        return replace(run, notes=tuple(kept.notes), warnings=tuple(kept.warnings))


def refuse_others(options: ProblemOptions) -> None:
    """Refuse options that need all rows in memory."""
    default = ProblemOptions("")
    named = [Option(name, getattr(options, name)) for name in NOT_TAKEN]
    odd = [one for one in named if one.value != getattr(default, one.name)]
    odd += [Option("curves", "yes")] if options.curves == "yes" else []
    odd += [Option("target_log", "yes")] if options.target_log == "yes" else []
    if options.interactions not in ("auto", "no"):
        odd.append(Option("interactions", options.interactions))
    if odd:
        raise OptionError(odd[0], " needs all rows in memory: use ", IN_MEMORY, ".")
    if not options.target:
        raise OptionError("Name the column to predict: ", Option("target"), ".")


def _check_source(source: Source) -> None:
    if not source.again:
        raise OptionError(
            f"{file_name(source.data)} can be read only once. Save it to a file, or use ",
            Option("stream", True),
            ".",
        )
    if source.is_sparse:
        raise OptionError(
            Option("out_of_core", True),
            f": {source.format} text is not a table. Learn it in memory, or use ",
            Option("stream", True),
            ".",
        )


class _Training:
    """One run out of core."""

    def __init__(self, source: Source, options: ProblemOptions, own: OutOfCoreOptions) -> None:
        self.source, self.options, self.own = source, options, own
        self.settings = dict(checked_settings(options))
        self.split = RowSplit(
            TEST_SIZE if own.test_size is None else own.test_size, options.folds, options.seed
        )

    def run(self) -> OutOfCoreRun:
        """Encode, search, test and fit."""
        prints = self._prints()
        fingerprint = {"files": prints, "options": self._encoding_options()}
        folder = default_folder(fingerprint) if self.own.cache is None else Path(self.own.cache)
        store = BlockStore(folder, fingerprint)
        stream = BlockStream(self.source, self._wanted())
        found = encode_blocks(stream, store, self.split)
        if self._prints() != prints:
            store.remove()
            raise TableError(
                f"{file_name(self.source.data)} changed while it was read. Repeat the command "
                "when the files are complete."
            )
        skipped = note_of_rows(found)
        if skipped is not None:
            note(skipped)
        run = self._learn(store, found)
        if self.own.cache is None:
            store.remove()
        return run

    def _prints(self) -> list[dict[str, Any]]:
        """Return fingerprints of the files, with the time of their last change."""
        prints = self.source.prints()
        for one, kept in zip(self.source.inputs, prints, strict=True):
            path = getattr(one, "path", None)
            if path is not None:
                kept |= {"path": str(Path(path).resolve()), "time": Path(path).stat().st_mtime_ns}
        return prints

    def _encoding_options(self) -> dict[str, Any]:
        options = self.options
        return {
            "target": options.target,
            "task": self._task(),
            "weight": options.weight,
            "columns": options.columns,
            "conversions": dict(options.conversions),
            "reading": [one.spelled("command") for one in options.reading.given()],
            "folds": options.folds,
            "seed": options.seed,
            "test_size": self.split.test_size,
        }

    def _task(self) -> Any:
        tasks: set[Any] = {LEARNERS[name].task for name in self.options.models}
        if self.options.task is not None and tasks - {self.options.task}:
            raise OptionError(
                Option("task", self.options.task),
                f": {self.options.models[0]} is for {next(iter(tasks))}.",
            )
        tasks |= {self.options.task} - {None}
        return next(iter(tasks), None)

    def _wanted(self) -> Wanted:
        options = self.options
        return Wanted(
            target=options.target,
            task=self._task(),
            weight=options.weight,
            columns={kind: names for kind, names in options.columns.items() if names},
            threads=options.threads,
            conversions=dict(options.conversions),
        )

    # ------------------------------------------------------------------ learning

    def _data(self, partitions: BlockPartitions, found: EncodedBlocks, folds: int) -> PartitionData:
        def progress(number: int, gap: float) -> None:
            detail(f"Pass {number}: relative gap {gap:.1e}")

        return PartitionData(partitions, partitions.is_sparse, found.classes, folds, progress)

    def _learn(self, store: BlockStore, found: EncodedBlocks) -> OutOfCoreRun:
        threads = self.options.threads
        training = store.partitions("train", threads=threads)
        test = store.partitions("test", threads=threads)
        everything = store.partitions("train", "test", threads=threads)
        if not training.n_rows:
            raise TableError(f"{file_name(self.source.data)} has no rows to learn from.")
        data = self._data(training, found, self.options.folds)
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
            metrics = self._test(test, first, data, found)
            with step(f"Fitting {best.name} to all rows"):
                every = self._data(everything, found, 0)
                last, certificate = _fitted(best, every, value, found, first)
        else:
            last, certificate = _fitted(best, data, value, found, first)
        ordered = tuple(trials[k] for k in order)
        model = self._trained(last, found, metrics, everything.n_rows, data)
        return OutOfCoreRun(
            self.source.data,
            self.options.target,
            found,
            ordered,
            metrics,
            certificate,
            model,
            store.n_bytes,
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
        test: BlockPartitions,
        model: LinearModel,
        data: PartitionData,
        found: EncodedBlocks,
    ) -> dict[str, float]:
        """Return the metrics of the held-out rows, and of the best constant beside them."""
        weights = np.ascontiguousarray(model.weights.T)
        models = FoldModels(weights, np.array(model.intercept), (ALL_ROWS,), model.link)
        losses, errors = held_out_means(test, models)
        constant = _constant_models(models, data)
        base_losses, base_errors = held_out_means(test, constant)
        if found.classes is None:
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
        found: EncodedBlocks,
        metrics: dict[str, float],
        rows: int,
        data: PartitionData,
    ) -> LinearModel:
        """Return the model with its encoder and training record."""
        constant: Any = float(data.sums["y_mean"][0]) if found.classes is None else None
        if found.classes is not None:
            largest = int(np.argmax(data.sums["classes"].sum(axis=0)))
            constant = found.classes.tolist()[largest]
        given = [Option("out_of_core", True), *self.options.given()]
        name = data_name(self.source.data)
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
