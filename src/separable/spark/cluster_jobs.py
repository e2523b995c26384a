"""Jobs on a cluster: a pure function of each partition, whose results come back in order.

A job is one ``mapInArrow`` and nothing else: no barrier, no RDD, no broadcast of data. So Spark may
retry it, run it twice or elsewhere, and classic Spark and Spark Connect do the same. What a
partition returns is pickled by the executors of this run, in chunks of `CHUNK` bytes.
"""

from __future__ import annotations

import pickle
import warnings
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

from separable.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

__all__ = [
    "PANDAS",
    "Frame",
    "SparkJobError",
    "collected",
    "mapped",
    "partition_results",
    "portable",
    "result_limit",
]

#: A ``DataFrame`` of pyspark, classic or Connect, which are two classes.
Frame = Any

Result = TypeVar("Result")

#: Bytes of a row of results: far below the limits of Arrow batches and of Spark Connect.
CHUNK = 1 << 23

#: The start of a warning about pandas, which nothing here uses.
PANDAS = "PySpark does not yet fully support pandas"

RESULTS = "partition int, chunk int, payload binary"

#: Spark's default of `spark.driver.maxResultSize`.
DEFAULT_LIMIT = 1 << 30

UNITS = {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

#: Remedies for failures of the cluster itself, by a part of Spark's message.
REMEDIES = {
    "No module named 'separable'": "separable is not installed where the executors run Python. "
    "Install it there, or ship an environment with spark.archives.",
    "No module named": "The executors run another Python environment than this program. Set "
    "PYSPARK_PYTHON to an interpreter that has separable and pyarrow, before the session starts.",
    "PYTHON_VERSION_MISMATCH": "The executors run another Python version than this program. Set "
    "PYSPARK_PYTHON to an interpreter of the same version, before the session starts.",
    "spark.driver.maxResultSize": "The sums of all partitions are larger than "
    "spark.driver.maxResultSize. Raise it, use fewer partitions (df.coalesce), or learn fewer "
    "features, folds or penalties at a time.",
    "OutOfMemory": "Memory ran out. Give executors more memory, or more and smaller partitions "
    "(df.repartition).",
}


class SparkJobError(RuntimeError):
    """A job that the cluster could not finish: what happened, and the remedy."""


def current_partition() -> int:
    """Return the partition of the running task, on an executor."""
    from importlib import import_module

    context = import_module("pyspark").TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def partition_results(
    frame: Frame, compute: Callable[[Iterator[pa.RecordBatch]], Result | None]
) -> dict[int, Result]:
    """Return what a function computes of each partition, in partition order.

    Parameters
    ----------
    frame : DataFrame
    compute : callable
        Called on an executor with the batches of a partition; pure and picklable. None: nothing.

    Raises
    ------
    InputError, ValueError
        Of the first partition in which it was raised, with its place.
    SparkJobError
        The cluster failed.
    """

    def job(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield from _result_batches(compute, batches)

    table = collected(mapped(frame, job, RESULTS))
    chunks: dict[int, dict[int, bytes]] = defaultdict(dict)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        chunks[row[0]][row[1]] = row[2]
    results: dict[int, Result] = {}
    noted: dict[str, type[Warning]] = {}
    for partition in sorted(chunks):
        parts = chunks[partition]
        kind, value, caught = pickle.loads(b"".join(parts[each] for each in sorted(parts)))
        if kind == "error":
            raise _with_place(value, partition)
        noted.update(caught)
        results[partition] = value
    for text, category in noted.items():
        warnings.warn(text, category, stacklevel=3)
    return results


def mapped(frame: Frame, function: Callable[..., Any], schema: Any) -> Frame:
    """Return ``frame.mapInArrow``, without pyspark's warning of a newer pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS)
        return frame.mapInArrow(function, schema)


def collected(frame: Frame) -> pa.Table:
    """Return a frame as a table; failures of the cluster get their remedy."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS)
        try:
            table: pa.Table = frame.toArrow()
        except Exception as error:
            raise _explained(error) from error
    return table


def _explained(error: Exception) -> Exception:
    """Return an error of Spark with its remedy, if it is one."""
    if not type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
        return error
    text = str(error)
    for sign, remedy in REMEDIES.items():
        if sign in text:
            return SparkJobError(remedy)
    first = next((line for line in text.splitlines() if line.strip()), type(error).__name__)
    last = [line for line in text.splitlines() if "Error: " in line and not line.startswith(" ")]
    return SparkJobError(f"Spark could not finish a job: {(last or [first])[-1].strip():.500}")


def _result_batches(
    compute: Callable[[Iterator[pa.RecordBatch]], Any], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the pickled result of a partition, or the error of its rows, in chunks."""
    import pyarrow as pa

    partition = current_partition()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = compute(batches)
            answer: Any = ("result", value, {str(one.message): one.category for one in caught})
        except ValueError as error:  # of the rows: a retry would raise it again
            value, answer = error, ("error", portable(error), {})
    if value is None:
        return
    payload = pickle.dumps(answer, protocol=5)
    for chunk, start in enumerate(range(0, len(payload), CHUNK)):
        part = payload[start : start + CHUNK]
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([partition], pa.int32()),
                pa.array([chunk], pa.int32()),
                pa.array([part], pa.binary()),
            ],
            ["partition", "chunk", "payload"],
        )


def portable(error: ValueError) -> ValueError:
    """Return an error that can be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return ValueError(str(error))
    return error


def _with_place(error: ValueError, partition: int) -> ValueError:
    """Return an error with the partition that it comes from."""
    if isinstance(error, InputError):
        return error.at(file=f"partition {partition}")
    return type(error)(f"partition {partition}: {error}")


def result_limit(session: Any) -> int:
    """Return the bytes that the results of a job may have in all."""
    try:
        text = str(session.conf.get("spark.driver.maxResultSize", "")).strip().lower()
    except Exception:  # Connect servers may refuse to tell
        text = ""
    if not text:
        return DEFAULT_LIMIT
    number, unit = text.rstrip("b").rstrip("kmgt"), text.rstrip("b")[-1:]
    size = int(number) * UNITS.get(unit, 1)
    return size or 1 << 62  # 0: no limit
