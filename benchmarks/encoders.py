"""Encoders: categories and mixed tables, against scikit-learn's on the same data in memory."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn import preprocessing as peers
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from benchmarks.datasets import data_file, missing_is_told
from benchmarks.harness import interleave, peak_growth
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable import OneHotEncoder, TableEncoder

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

__all__ = ["run_one_hot", "run_table"]

ONE_HOT_TARGET, TABLE_TARGET = 10, 5
#: Matrices may differ by this for the time to count.
AGREEMENT = 1e-9

ADULT = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]


@dataclass(frozen=True)
class Contest:
    """One input, with what ours and the peer make of it.

    Parameters
    ----------
    name : str
        The data, as printed.
    ours, peer : callable
        Return the matrix.
    order : callable
        Turns the peer's matrix into the order of our columns.
    """

    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    order: Callable[[Any], Any] = lambda matrix: matrix


def run_one_hot(settings: Settings) -> Section:
    """Fit and encode categories: flights and network connections, in every form they may have."""
    section = Section()
    for load in (_flights, _connections):
        with missing_is_told():
            name, frame = load(settings)
            forms = {
                "frame of text": frame.astype("str"),
                "frame of objects": frame.astype("str").astype(object),
                "frame of categories": frame.astype("str").astype("category"),
            }
            forms["array of objects"] = forms["frame of objects"].to_numpy()
            for form, X in forms.items():
                contest = Contest(
                    f"{name}, {form}",
                    lambda X=X: OneHotEncoder().fit_transform(X),
                    lambda X=X: peers.OneHotEncoder().fit_transform(X),
                )
                _run(contest, "one-hot", ONE_HOT_TARGET, settings, section)
    return section


def run_table(settings: Settings) -> Section:
    """Fit and encode a table of numbers and categories."""
    section = Section()
    with missing_is_told():
        frame = _adult(settings)
        numbers = [name for name in frame if frame[name].dtype.kind in "iuf"]
        levels = [name for name in frame if name not in numbers]
        frame[levels] = frame[levels].astype("str")

        def theirs() -> Any:
            scaled = make_pipeline(SimpleImputer(add_indicator=True), peers.StandardScaler())
            encoder = ColumnTransformer(
                [("n", scaled, numbers), ("c", peers.OneHotEncoder(), levels)], sparse_threshold=1
            )
            return encoder.fit_transform(frame)

        ours = TableEncoder(min_count=1).fit(frame)
        order = _order(ours.sources, numbers, levels)
        contest = Contest(
            f"adult, {len(frame)} x {frame.shape[1]}",
            lambda: TableEncoder(min_count=1).fit_transform(frame),
            theirs,
            lambda matrix: sp.csr_array(matrix)[:, order],
        )
        _run(contest, "table", TABLE_TARGET, settings, section)
    return section


def _order(sources: tuple[str, ...], numbers: list[str], levels: list[str]) -> list[int]:
    """Return where each of our columns stands in a matrix of first numbers, then levels."""
    starts, at = {}, 0
    for name in [*numbers, *levels]:
        starts[name] = at
        at += sources.count(name)
    met: dict[str, int] = dict.fromkeys(starts, 0)
    order = []
    for name in sources:
        order.append(starts[name] + met[name])
        met[name] += 1
    return order


def _run(contest: Contest, row: str, target: float, settings: Settings, section: Section) -> None:
    works = [contest.ours, contest.peer]
    names = ("separable", "scikit-learn")
    peaks = [peak_growth(work) for work in works]
    gap = _largest_difference(contest.ours(), contest.order(contest.peer()))
    times = interleave([lambda _, work=work: work for work in works], settings.slow_repeats)
    walls = [median(wall for wall, _ in run) for run in times]
    shown = [f"{(peak or 0) / 2**20:.0f} MiB" for peak in peaks]
    cells = [
        [name, show_seconds(wall), show_seconds(min(w for w, _ in run)), peak]
        for name, wall, run, peak in zip(names, walls, times, shown, strict=True)
    ]
    print(f"fit_transform, {contest.name}\n")
    print(markdown_table(("contender", "median", "fastest", "peak memory"), cells) + "\n")
    print(f"The matrices differ by at most {gap:.1e}.\n")
    ratio = walls[1] / walls[0]
    verdict = judge(ratio, target, at_most=False, judged=settings.judged)
    if gap > AGREEMENT and settings.judged:
        verdict = "does not count: other matrices"
    mine, theirs = (
        f"{show_seconds(wall)}, {peak}" for wall, peak in zip(walls, shown, strict=True)
    )
    line = Line(
        row, contest.name, "fit_transform", mine, f"scikit-learn {theirs}", ratio, "x", target,
        False, verdict,
    )  # fmt: skip
    raw = {"what": "fit_transform", "data": contest.name, "difference": gap, "peaks": peaks}
    section.add(line, raw | {"seconds": [[wall for wall, _ in run] for run in times]})


def _largest_difference(ours: Any, theirs: Any) -> float:
    if ours.shape != theirs.shape:
        return float("inf")
    difference = abs(sp.csr_array(ours) - sp.csr_array(theirs))
    return float(difference.max()) if difference.nnz else 0.0


# ---------------------------------------------------------------------- data


def _flights(settings: Settings) -> tuple[str, Any]:
    import pandas as pd

    frame = pd.read_parquet(data_file("airlines-3m", "flights-3m.parquet"))
    frame = frame.iloc[: settings.most_rows]
    return f"flights, {len(frame)} x {frame.shape[1]}", frame


def _connections(settings: Settings) -> tuple[str, Any]:
    import pandas as pd

    path = data_file("kddcup99-10pct", "kddcup.data_10_percent.gz")
    frame = pd.read_csv(path, header=None, usecols=[1, 2, 3], nrows=settings.most_rows)
    frame.columns = ["protocol", "service", "flag"]
    return f"kddcup99, {len(frame)} x 3 categories", frame


def _adult(settings: Settings) -> Any:
    import pandas as pd

    path = data_file("adult", "adult.data.gz")
    frame = pd.read_csv(
        path, header=None, names=ADULT, skipinitialspace=True, nrows=settings.most_rows
    )
    return frame.drop(columns="income").astype({"age": np.float64})
