"""How large a run is: the full one, the quick one, and what a smoke test asks for."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FULL", "QUICK", "Settings"]


@dataclass(frozen=True)
class Settings:
    """Sizes and repeats of a run.

    Parameters
    ----------
    repeats : int
        Timed runs of each contender, after one untimed.
    slow_repeats : int
        The same where one run of a peer takes many seconds.
    epochs : int
        Epochs of every fit that has no stopping rule of its own.
    zipf_rows, zipf_features : int
        Size of the generated set; a fifth more rows are kept for testing.
    dense_rows : int
        Rows of generated sets of 100 dense columns.
    sparse_rows, sparse_columns : int
        Size of a generated sparse set with more columns than rows.
    table_rows : int
        Rows of a generated table of numbers.
    csv_rows : int
        Rows of a generated CSV file.
    stream_bytes : int
        Size of a generated CSV file that is read in chunks.
    most_rows : int or None
        Use at most so many rows of a set that is read from a file.
    copy_bytes : int
        Size of the copy that measures the memory's bandwidth.
    calls : int
        One-row calls that are timed.
    starts : int
        Processes started to time a cold start.
    judged : bool
        Whether targets are judged: they are written for the full sizes.
    only : str
        Everyday tables: run the sets and learners whose names contain this text.
    """

    repeats: int
    slow_repeats: int
    epochs: int
    zipf_rows: int
    zipf_features: int
    dense_rows: int
    sparse_rows: int
    sparse_columns: int
    table_rows: int
    csv_rows: int
    stream_bytes: int
    most_rows: int | None
    copy_bytes: int
    calls: int
    starts: int
    judged: bool
    only: str = ""


FULL = Settings(
    repeats=7,
    slow_repeats=5,
    epochs=10,
    zipf_rows=100_000,
    zipf_features=47_000,
    dense_rows=200_000,
    sparse_rows=2_000,
    sparse_columns=100_000,
    table_rows=200_000,
    csv_rows=1_000_000,
    stream_bytes=10**9,
    most_rows=None,
    copy_bytes=1 << 30,
    calls=5_000,
    starts=15,
    judged=True,
)

QUICK = Settings(
    repeats=3,
    slow_repeats=1,
    epochs=3,
    zipf_rows=10_000,
    zipf_features=47_000,
    dense_rows=20_000,
    sparse_rows=500,
    sparse_columns=10_000,
    table_rows=20_000,
    csv_rows=20_000,
    stream_bytes=10**7,
    most_rows=5_000,
    copy_bytes=1 << 28,
    calls=1_000,
    starts=3,
    judged=False,
)
