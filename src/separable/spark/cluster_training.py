"""Training on a cluster: learners are compared, tested and fitted over the rows of a DataFrame."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separable.errors import Message, Option, OptionError
from separable.features.table.table_encoder import TableEncoder
from separable.spark.cluster_jobs import collected
from separable.spark.encoded_rows import encoded_rows, row_source
from separable.spark.row_parts import RowParts
from separable.workflow.learners import LEARNERS
from separable.workflow.options import TEST_SIZE, ProblemOptions, checked_models
from separable.workflow.out_of_core.block_encoding import EncodedBlocks
from separable.workflow.out_of_core.out_of_core_training import refuse_others
from separable.workflow.out_of_core.partition_training import PartitionTraining
from separable.workflow.progress import keeping, note, step
from separable.workflow.target import FEW_CLASSES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.spark.cluster_jobs import Frame
    from separable.workflow.out_of_core.partition_training import OutOfCoreRun

__all__ = ["train", "train_frame"]


def train(
    df: Frame,
    target: str,
    *,
    task: Any = None,
    models: str | Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    encoder: TableEncoder | None = None,
    weight: str | None = None,
    key: str | None = None,
    test_size: float = TEST_SIZE,
    folds: int = 5,
    seed: int = 0,
) -> OutOfCoreRun:
    """Compare learners on the rows of a DataFrame, test the best and fit it to all rows.

    Parameters
    ----------
    df : DataFrame
        Of pyspark, classic or Connect.
    target : str
        The column to predict; rows without a target are left out.
    task : {"classification", "regression"}, optional
        By default that of the models. Without models texts, booleans and up to 10 different numbers
        are classes.
    models : str or sequence of str
        Learners to compare, such as ``"logistic-regression"``, ``"linear-svm"``, ``"lda"``,
        ``"ridge"`` or ``"lasso"``; by default logistic regression and LDA, or ridge and the lasso.
    settings : mapping, optional
        Parameters of the models.
    encoder : TableEncoder, optional
        How columns are encoded; by default ``TableEncoder()``.
    weight : str, optional
        Column of row weights.
    key : str, optional
        Column whose equal values are never divided between folds, or training and test.
    test_size : float
        Fraction of rows to hold out; 0: no test.
    folds : int
    seed : int
        Of the hashes that choose folds and held-out rows.

    Returns
    -------
    OutOfCoreRun
        ``summary()`` is its text, ``model`` the ``LinearModel``, ``save(path)`` writes its file.
    """
    names = (models,) if isinstance(models, str) else tuple(models)
    options = ProblemOptions(
        str(target),
        models=names,
        task=task,
        settings=dict(settings or {}),
        weight=weight,
        group=key,
        folds=folds,
        seed=seed,
    )
    try:
        return train_frame(df, options, test_size, encoder=encoder)
    except OptionError as error:
        error.spelling = "python"
        raise


def train_frame(
    df: Frame,
    options: ProblemOptions,
    test_size: float | None = None,
    *,
    name: str = "DataFrame",
    master: str | None = None,
    encoder: TableEncoder | None = None,
) -> OutOfCoreRun:
    """Train as `train` does, with options as commands have them.

    Parameters
    ----------
    df : DataFrame
    options : ProblemOptions
        ``group`` is the key of folds and held-out rows.
    test_size : float, optional
    name : str
        Of the data, for messages.
    master : str, optional
        Of the session, for the command that repeats the run.
    encoder : TableEncoder, optional
        By default one with the columns of the options.
    """
    refuse_others(replace(options, group=None))
    if options.folds < 2:
        raise OptionError(Option("folds", options.folds), ": at least 2.")
    options = replace(options, models=checked_models(options.models))
    size = TEST_SIZE if test_size is None else test_size
    with keeping() as kept:
        task = _task_of(df, options)
        source = row_source(
            df,
            options.target,
            task,
            weight=options.weight,
            key=options.group,
            skips_missing=True,
        )
        parts = RowParts(options.folds, size, options.seed, options.group)
        encoder = _encoder_of(options) if encoder is None else encoder
        with ExitStack() as until_end:
            with step("Fitting the encoder on the cluster"):
                rows = until_end.enter_context(encoded_rows(df, source, parts, encoder))
            fitted = rows.found.encoder
            assert fitted is not None
            found = EncodedBlocks(
                fitted.without_state(), rows.classes, rows.found.n_rows, rows.found.missing
            )
            if found.missing:
                note(f"{found.missing} rows have no target, or weight 0, and are left out.")
            everything = rows.partitions()
            run = PartitionTraining(name, options, found, Option("spark", master or True)).run(
                rows.partitions(held_out=False),
                rows.partitions(held_out=True),
                everything,
                everything.n_bytes,
            )
        note(
            Message(
                "Folds and held-out rows were chosen by a hash, so retries and the order of rows "
                "change nothing."
            )
        )
        return replace(run, notes=tuple(kept.notes), warnings=tuple(kept.warnings))


def _task_of(df: Frame, options: ProblemOptions) -> Any:
    """Return the task: as given, of the models, or as the target looks."""
    tasks: set[Any] = {LEARNERS[name].task for name in options.models}
    tasks |= {options.task} - {None}
    if len(tasks) > 1:
        raise OptionError(
            Option("task", options.task), f": {options.models[0]} is for another task."
        )
    if tasks:
        return next(iter(tasks))
    row_source(df, options.target, "classification")  # the column must exist
    kind = dict(df.dtypes)[options.target]
    if kind in ("string", "boolean"):
        return "classification"
    few = collected(df.select(options.target).dropna().distinct().limit(FEW_CLASSES + 1))
    is_class = few.num_rows <= FEW_CLASSES
    task = "classification" if is_class else "regression"
    other = "regression" if is_class else "classification"
    counted = f"{few.num_rows}" if is_class else f"more than {FEW_CLASSES}"
    note(
        Message(
            f"The target has {counted} different numbers, so this is {task}. For {other} use ",
            Option("task", other),
            ".",
        )
    )
    return task


def _encoder_of(options: ProblemOptions) -> TableEncoder:
    """Return an encoder with the columns of the options."""
    apart = {options.target, options.group, options.weight}
    chosen: dict[str, Any] = {
        kind: [name for name in names if name not in apart] or None
        for kind, names in options.columns.items()
    }
    chosen["conversions"] = dict(options.conversions) or None
    return TableEncoder(**chosen)
