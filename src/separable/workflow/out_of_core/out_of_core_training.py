"""Training on data larger than memory: encoded blocks on disk, and solvers over sums of rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.data.resources import available_bytes
from separable.data.table import TableError
from separable.errors import Message, Option, OptionError
from separable.workflow.learners import LEARNERS
from separable.workflow.options import (
    TEST_SIZE,
    ProblemOptions,
    checked_models,
    file_name,
)
from separable.workflow.out_of_core.block_encoding import (
    BlockStream,
    RowSplit,
    encode_blocks,
    note_of_rows,
)
from separable.workflow.out_of_core.block_store import BlockStore, default_folder
from separable.workflow.out_of_core.partition_learners import (
    IN_MEMORY,
    KINDS,
)
from separable.workflow.out_of_core.partition_training import OutOfCoreRun, PartitionTraining
from separable.workflow.progress import (
    keeping,
    note,
    remembering_files,
    say,
)
from separable.workflow.stream.stream_rows import Source, Wanted

if TYPE_CHECKING:
    from separable.workflow.out_of_core.block_encoding import EncodedBlocks

__all__ = ["OutOfCoreOptions", "chosen_options", "refuse_others", "train_out_of_core"]

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
    "decision thresholds, ranking metrics, checks of the data, tests of separability, hardest rows "
    "or report. For these use ",
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
    path = Path(data)
    if path.exists() and not (path.is_file() or path.is_dir()):  # a pipe is read only once
        return True
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
        self.split = RowSplit(
            TEST_SIZE if own.test_size is None else own.test_size, options.folds, options.seed
        )

    def run(self) -> OutOfCoreRun:
        """Encode, search, test and fit."""
        prints = self._prints()
        fingerprint = {"files": prints, "options": self._encoding_options()}
        folder = default_folder(fingerprint) if self.own.cache is None else Path(self.own.cache)
        store = BlockStore(folder, fingerprint)
        try:
            run = self._with_blocks(store, prints)
        except KeyboardInterrupt:
            say(f"Interrupted: the same command continues from the blocks in {folder}.")
            raise
        except Exception as error:
            if self.own.cache is None and not isinstance(error.__cause__, OSError):
                store.remove()  # repeating the command would fail again
            raise
        if self.own.cache is None:
            store.remove()
        return run

    def _with_blocks(self, store: BlockStore, prints: list[dict[str, Any]]) -> OutOfCoreRun:
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
        return self._learn(store, found)

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

    def _learn(self, store: BlockStore, found: EncodedBlocks) -> OutOfCoreRun:
        threads = self.options.threads
        training = PartitionTraining(self.source.data, self.options, found)
        return training.run(
            store.partitions("train", threads=threads),
            store.partitions("test", threads=threads),
            store.partitions("train", "test", threads=threads),
            store.n_bytes,
        )
