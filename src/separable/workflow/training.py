"""``train`` as a Python call: its arguments become the options of the command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import InputError, Option, OptionError
from separable.workflow.options import (
    COLUMN_KINDS,
    CURVES,
    TARGET_LOGS,
    Every,
    ProblemOptions,
    ReadingOptions,
    StreamOptions,
    all_threads,
    checked_budget,
    checked_class_weight,
    checked_conversions,
    checked_cost,
    checked_interactions,
    checked_models,
    checked_threshold,
    file_name,
)
from separable.workflow.table_training import train_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from separable.workflow.learners import Task
    from separable.workflow.out_of_core.partition_training import OutOfCoreRun
    from separable.workflow.stream.stream_training import StreamRun
    from separable.workflow.training_run import TrainingRun

    Names = str | Sequence[str]

__all__ = ["train", "train_in_or_out_of_core"]


def train(
    data: Any,
    target: str = "",
    *,
    task: Task | None = None,
    model: Names = (),
    set: Mapping[str, Any] | None = None,  # noqa: A002 # the name of the option
    number: Names = (),
    category: Names = (),
    boolean: Names = (),
    date: Names = (),
    text: Names = (),
    drop: Names = (),
    curves: str = "auto",
    interactions: str | int = "auto",
    increasing: Names = (),
    decreasing: Names = (),
    nonnegative: Names = (),
    convert: Mapping[str, str] | None = None,
    weight: str | None = None,
    metric: str | None = None,
    positive: Any = None,
    cost: str | Mapping[Any, float] | None = None,
    threshold: float | str | None = None,
    class_weight: str | Mapping[Any, float] | None = None,
    target_log: str = "auto",
    group: str | None = None,
    time: str | None = None,
    folds: int = 5,
    compare_rows: int | None = None,
    budget: float | None = None,
    test: Any = None,
    test_size: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    table: str | None = None,
    query: str | None = None,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    header: bool | None = None,
    quoting: bool | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    missing: Names = (),
    comment: str | None = None,
    skip_rows: int = 0,
    skip_bad_lines: bool = False,
    out_of_core: bool | None = None,
    cache: str | None = None,
    stream: bool = False,
    passes: int | None = None,
    classes: Names | None = None,
    encode_rows: int | None = None,
    bits: int | None = None,
    features: int | None = None,
    checkpoint: str | None = None,
    every: Every | None = None,
    resume: str | None = None,
) -> TrainingRun | StreamRun | OutOfCoreRun:
    """Train a model on a file or a table, as the command ``separable train`` does.

    Learners that suit the data are compared by cross-validation, with their regularization
    searched. The best is tested on held-out rows and refitted on all rows. Options have the names
    and defaults of the command.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts
        A file may be CSV, JSON lines or Parquet, compressed, a glob, a folder or "-". A frame of
        pandas or polars is not changed; the index of pandas is not a feature.
    target : str
        The column to predict.
    task : "classification" or "regression", optional
        Inferred by default.
    model : str or sequence of str, optional
        Learners, such as "logistic-regression"; by default all that suit the data.
    set : mapping, optional
        Parameters of the learner: ``{"C": 1}``.
    number, category, boolean, date, text : str or sequence of str, optional
        Columns to be read as this type, instead of the inferred one.
    drop : str or sequence of str, optional
        Columns to ignore.
    curves : {"auto", "yes", "no"}, default "auto"
        Whether numbers become piecewise linear curves; auto: if they are better on rows held out by
        more than a standard error.
    interactions : {"auto", "no"} or int, default "auto"
        Pairs of columns whose products become features, beside curves: how many, the best of all
        pairs; auto: up to 20, if they are better on rows held out.
    increasing, decreasing : str or sequence of str, optional
        Numbers with which the prediction, or the probability of the second of two classes, never
        decreases, or never increases.
    nonnegative : str or sequence of str, optional
        Columns whose features have weights of at least 0.
    convert : mapping of str to str, optional
        How text columns are converted, instead of the guess: ``{"when": "day-first"}``.
    weight : str, optional
        Column of sample weights, for training and metrics.
    metric : str, optional
        Metric that ranks the learners; log loss or RMSE by default.
    positive : object, optional
        Positive class for precision, recall, f1, roc_auc and average_precision; by default the
        rarer of two.
    cost : str or mapping, optional
        Costs of mistakes for two classes: ``{"fp": 1, "fn": 20}``, or of mistaking a row of each
        class, ``{"no": 1, "yes": 20}``. The threshold of the least cost is chosen on out-of-fold
        probabilities.
    threshold : float or str, optional
        The positive class is predicted where its probability is above it; or the metric that
        chooses it: "accuracy", "balanced_accuracy", "f1" or "mcc". 0.5 by default.
    class_weight : "balanced" or mapping, optional
        Weights of classes in training. Learners without class weights are not compared.
    target_log : {"auto", "yes", "no"}, default "auto"
        Whether the logarithm of a positive target is learned. "auto": if the target is skewed and
        the logarithm is better by cross-validation, in units of the target.
    group : str, optional
        Column of groups that are held out as a whole.
    time : str, optional
        Column of dates or numbers: the latest rows are held out.
    folds : int, default 5
        Number of cross-validation folds.
    compare_rows : int, optional
        Compare on a random sample of so many rows; 0: all rows.
    budget : float, optional
        Start no further learner after this many seconds; at least one is compared. Which ones are
        then depends on the speed of the machine.
    test : str, path or table, optional
        Test on this, and train on all of `data`.
    test_size : float, default 0.25
        Fraction of rows to hold out; 0: no test.
    seed : int, default 0
    threads : int, optional
        One per core by default.
    table, query : str, optional
        Table of a database, sheet of a workbook or file in a zip archive; or a query of a database.
    format, delimiter, header, quoting, encoding, decimal, missing, comment, skip_rows : optional
        Overrides of the detected file format, as in `separable.data.read`.
    skip_bad_lines : bool, default False
        Skip and count lines that cannot be read.
    out_of_core : bool, optional
        Learn from encoded blocks on disk instead of memory; by default if the files are probably
        too large for memory.
    cache : str, optional
        The folder of these blocks, which is kept; by default a temporary one. If the process is
        killed, the same call continues from the blocks that are there.
    stream : bool, default False
        Train in bounded memory, one row at a time. The parameters below need it.
    passes : int, optional
        Passes over the data; 1 by default.
    classes : sequence of str, optional
        All classes; by default those of the first rows.
    encode_rows : int, optional
        Fit the encoder to so many rows; 100 000 by default.
    bits : int, optional
        Hash texts, or the features of Vowpal Wabbit text, into ``2**bits`` columns.
    features : int, optional
        Columns of an svmlight file; counted by default.
    checkpoint : str, optional
        A file that is saved at intervals.
    every : Every, optional
        The interval, in rows or seconds.
    resume : str, optional
        A checkpoint to continue from.

    Returns
    -------
    TrainingRun
        With ``model``, ``leaderboard``, ``evaluation``, ``columns``, ``warnings``, ``summary()``
        and ``save(path)``. With ``stream=True`` a `StreamRun`, out of
        core an `OutOfCoreRun`.

    Raises
    ------
    TableError
        The data cannot be learned from: where, what and the remedy.
    OptionError
        An option is wrong, or two exclude each other.

    Examples
    --------
    >>> import separable
    >>> from separable.datasets import PENGUINS
    >>> run = separable.train(PENGUINS, "species", model="logistic-regression")
    >>> run
    TrainingRun: logistic-regression for species, 344 rows, log_loss 0.0096 on 86 held-out rows
    >>> run.model.n_features
    15
    """
    columns = {"number": number, "category": category, "boolean": boolean, "date": date}
    columns |= {"text": text, "drop": drop}
    try:
        options = ProblemOptions(
            target=_column_of(target),
            models=checked_models(_names(model)),
            task=_choice("task", task, ("classification", "regression")),
            metric=metric,
            positive=None if positive is None else str(positive),
            cost=checked_cost(cost),
            threshold=checked_threshold(threshold),
            class_weight=checked_class_weight(class_weight),
            target_log=_choice("target_log", target_log, TARGET_LOGS),
            curves=_choice("curves", curves, CURVES),
            interactions=checked_interactions(interactions),
            increasing=tuple(_names(increasing)),
            decreasing=tuple(_names(decreasing)),
            nonnegative=tuple(_names(nonnegative)),
            settings=dict(set or {}),
            columns={kind: list(_names(columns[kind])) for kind in COLUMN_KINDS},
            conversions=checked_conversions(convert or {}),
            group=group,
            time=time,
            weight=weight,
            folds=_at_least("folds", folds, 2),
            compare_rows=None if compare_rows is None else _at_least("compare_rows", compare_rows),
            budget=checked_budget(budget),
            seed=_at_least("seed", seed),
            threads=all_threads() if threads is None else _at_least("threads", threads, 1),
            reading=ReadingOptions(
                format,
                delimiter,
                header,
                quoting,
                encoding,
                decimal,
                tuple(_names(missing)),
                comment,
                skip_rows,
                skip_bad_lines,
                table,
                query,
            ),
        )
        listed = None if classes is None else ",".join(map(str, _names(classes)))
        streaming = StreamOptions(
            passes, listed, encode_rows, bits, features, checkpoint, every, resume
        )
        test = None if test is None else _source(test)
        if stream:
            return _run_stream(_source(data), options, streaming, test, test_size)
        for option in streaming.all_given():
            raise OptionError(option, " needs ", Option("stream", True), ".")
        if not options.target:
            raise OptionError("Name the column to predict: ", Option("target"), ".")
        return train_in_or_out_of_core(_source(data), options, out_of_core, cache, test, test_size)
    except InputError as error:
        error.spelling = "train"
        raise


def _run_stream(
    data: Any,
    options: ProblemOptions,
    streaming: StreamOptions,
    test: Any,
    test_size: float | None,
) -> StreamRun:
    from separable.workflow.stream.stream_training import train_stream

    for name, value in (("test", test), ("test_size", test_size)):
        if value is not None:
            raise OptionError(
                Option(name, value if name == "test_size" else file_name(value)),
                " cannot be used with a stream, which validates progressively. Leave one of "
                "them out.",
            )
    return train_stream(data, options, streaming)


def train_in_or_out_of_core(
    data: Any,
    options: ProblemOptions,
    out_of_core: bool | None,
    cache: str | None,
    test: Any,
    test_size: float | None,
    *,
    keep: bool = True,
) -> TrainingRun | OutOfCoreRun:
    """Train in memory, or out of core if that was asked for or the files are too large.

    Parameters
    ----------
    data : str or table
    options : ProblemOptions
    out_of_core : bool or None
    cache : str or None
    test : str, table or None
    test_size : float or None
    keep : bool
        Whether encoded rows are kept for a report.
    """
    from separable.workflow.out_of_core.out_of_core_training import (
        chosen_options,
        train_out_of_core,
    )

    own = chosen_options(data, options, out_of_core, cache, test, test_size)
    if own is not None:
        return train_out_of_core(data, options, own)
    return train_table(data, options, test, test_size, keep=keep)


def _names(given: Names) -> Sequence[str]:
    return (given,) if isinstance(given, str) else tuple(given)


def _column_of(target: Any) -> str:
    """Return the name of the target as text, as all names of columns are."""
    if isinstance(target, (str, int, float, tuple)):
        return str(target)
    raise OptionError(
        f"target: name a column of the data, not a {type(target).__name__}. Add the values to the "
        "data as a column."
    )


def _source(data: Any) -> Any:
    """Return a path as text; tables stay tables."""
    import os

    return os.fspath(data) if isinstance(data, os.PathLike) else data


def _at_least(name: str, value: Any, least: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise OptionError(Option(name, value), f": it has to be an int >= {least}.")
    return int(value)


def _choice(name: str, value: Any, choices: tuple[str, ...]) -> Any:
    if value is not None and value not in choices:
        raise OptionError(Option(name, value), f": it has to be one of {', '.join(choices)}.")
    return value
