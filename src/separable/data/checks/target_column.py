"""Checks of the target: missing, imbalanced, or drifting along the file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import first_rows
from separable.data.ingest.dates import Dates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import TableView, Target

__all__ = ["drifting_target", "imbalance", "missing_target", "small_sample"]

#: Fraction of rows without a target at which a note becomes a warning.
WARN_MISSING = 0.2

#: A class with this fraction of the rows makes accuracy uninformative.
MAJORITY_FRACTION = 0.9

#: Minimum rows of a class, so that every fold has two.
MIN_CLASS_ROWS = 10

#: Blocks of consecutive rows that are compared, and the fraction of between-block variance that
#: matters.
BLOCKS, DRIFT_FRACTION = 10, 0.1


def missing_target(view: TableView) -> Iterator[Finding]:
    """Find rows without a target."""
    target = view.target
    if target is None:
        return
    where = target.codes < 0
    count = int(np.count_nonzero(where))
    if count:
        rows = first_rows(where)
        yield Finding(
            "missing target", "warning" if count >= WARN_MISSING * view.n_rows else "note",
            (target.name,), rows,
            f"{count} of {view.n_rows} rows have no target {quoted(target.name)} (first in data "
            f"row {rows[0] + 1}): they are dropped from training.",
        )  # fmt: skip


def imbalance(view: TableView) -> Iterator[Finding]:
    """Find a majority class so large that a constant prediction is nearly always right."""
    target = view.target
    if target is None or target.task != "classification" or len(target.labels) < 2:
        return
    total, most = int(target.counts.sum()), int(target.counts.argmax())
    fraction = int(target.counts[most]) / total
    if fraction >= MAJORITY_FRACTION:
        label = quoted(target.labels[most])
        yield Finding(
            "imbalance", "note", (target.name,), (),
            f"{fraction:.1%} of the rows are {label}: always predicting it is as accurate. "
            "Compare models by a metric that is sensitive to the rare class, such as "
            "balanced_accuracy, average_precision or mcc."
            + " A lower threshold finds more of it." * (len(target.labels) == 2),
            {"metric": ("balanced_accuracy",)}
            if len(target.labels) > 2
            else {"threshold": ("f1",)},
        )  # fmt: skip


def small_sample(view: TableView) -> Iterator[Finding]:
    """Find classes with very few rows."""
    target = view.target
    if target is None or target.task != "classification" or len(target.labels) < 2:
        return
    rare = np.flatnonzero(target.counts < MIN_CLASS_ROWS)
    if not len(rare) or int(target.counts.sum()) < 2 * MIN_CLASS_ROWS * 2:
        return
    names = [target.labels[index] for index in rare[np.argsort(target.counts[rare], kind="stable")]]
    counts = np.sort(target.counts[rare])
    single = int(np.count_nonzero(counts == 1))
    yield Finding(
        "rare classes", "warning" if single else "note", (target.name,), (),
        f"{len(rare)} of {len(target.labels)} classes have fewer than {MIN_CLASS_ROWS} rows: "
        f"{listed(names)} ({', '.join(map(str, counts[:5]))}{', ...' if len(rare) > 5 else ''} "
        "rows). Little can be learned about them, and a held-out set or a fold may have none. "
        "Collect more, or merge them into one class.",
    )  # fmt: skip


def drifting_target(view: TableView) -> Iterator[Finding]:
    """Find targets that drift along the file or along a date column."""
    target = view.target
    if target is None or "time" in view.split:
        return
    known = np.flatnonzero(target.codes >= 0)
    if len(known) < 20 * BLOCKS:
        return
    dates = next(view.of_type(Dates), None)
    order, where, options = known, "along the file", {}
    if dates is not None:
        name, column = dates
        order = known[np.argsort(column.values[known], kind="stable")]
        where, options = f"with the dates of {quoted(name)}", {"time": (name,)}
    fraction = _between_blocks(target, order)
    if fraction < DRIFT_FRACTION or _is_sorted(target, order):
        return
    remedy = (
        "To predict later rows, hold out the latest."
        if options
        else "If rows are in time order, add a time column and hold out the latest."
    )
    yield Finding(
        "drift", "note", (target.name, *options.get("time", ())), (),
        f"The target drifts {where}: the position of a row, in tenths, explains {fraction:.0%} of "
        "its variance. Rows held out at random then resemble their neighbours, and new rows may "
        f"not. {remedy}",
        options,
    )  # fmt: skip


def _between_blocks(target: Target, order: NDArray[np.int64]) -> float:
    """Return the between-block fraction of the target's variance, summed over classes."""
    block = np.arange(len(order)) * BLOCKS // len(order)
    sizes = np.bincount(block)
    if target.task == "regression":
        assert target.values is not None
        y = target.values[order] - target.values[order].mean()
        means = np.bincount(block, y) / sizes
        total = float(y @ y)
        return float(sizes @ means**2) / total if total else 0.0
    n_classes = len(target.labels)
    counts = np.bincount(block * n_classes + target.codes[order], minlength=BLOCKS * n_classes)
    fractions = counts.reshape(BLOCKS, n_classes) / sizes[:, None]
    overall = counts.reshape(BLOCKS, n_classes).sum(axis=0) / len(order)
    spread = float(np.sum(overall * (1 - overall)))
    between = float(np.sum(sizes[:, None] * (fractions - overall) ** 2)) / len(order)
    by_chance = spread * (BLOCKS - 1) / len(order)
    return (between - by_chance) / spread if spread else 0.0


def _is_sorted(target: Target, order: NDArray[np.int64]) -> bool:
    """Return whether rows are sorted, or nearly sorted, by the target."""
    if target.task == "regression":
        assert target.values is not None
        steps = np.diff(target.values[order])
        return bool(np.mean(steps >= 0) > 0.95 or np.mean(steps <= 0) > 0.95)
    changes = int(np.count_nonzero(np.diff(target.codes[order])))
    return changes <= 3 * len(target.labels)
