"""Vowpal Wabbit from its cache file, to the same held-out log loss as ours from memory."""

from __future__ import annotations

import io
import re
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from benchmarks.datasets import (
    MissingDataError,
    load_a9a,
    load_covtype,
    load_imdb,
    missing_is_told,
)
from benchmarks.harness import Contender
from benchmarks.race import Race
from benchmarks.report import Section
from benchmarks.sgd_race import ours_by_epochs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["Vowpal", "run_vowpal", "write_cache"]

TARGET = 2
#: Learning rates beside its default of 0.5, and passes.
RATES = (0.1, 2.0, 8.0)
PASSES = (1, 2, 3, 5, 10)
#: Where Vowpal Wabbit keeps the weight of the constant, before the bits are cut.
CONSTANT = 11_650_396


def run_vowpal(settings: Settings) -> Section:
    """Race on the sets of two classes."""
    if find_spec("vowpalwabbit") is None:
        raise MissingDataError("vowpalwabbit is not installed; `make .venv/extra-bench` does it.")
    section = Section()
    for load, repeats in (
        (load_a9a, settings.repeats),
        (load_imdb, settings.repeats),
        (partial(load_covtype, binary=True), settings.slow_repeats),
    ):
        with missing_is_told():
            race_on(load(settings), repeats, settings, section)
    return section


def race_on(data: Data, repeats: int, settings: Settings, section: Section) -> None:
    """Race on one set."""
    with tempfile.TemporaryDirectory() as folder:
        cache, bits = write_cache(data, Path(folder))

        def peer(rate: float | None, passes: int) -> Contender:
            name = "Vowpal Wabbit's defaults" if rate is None else f"Vowpal Wabbit -l {rate:g}"
            return Contender(name, lambda _: Vowpal(cache, bits, rate, passes), data, probable=True)

        tuned = [peer(rate, passes) for rate in RATES for passes in PASSES]
        defaults = [peer(None, passes) for passes in PASSES]
        race = Race("Vowpal Wabbit to a loss", ours_by_epochs(data), tuned, defaults, TARGET)
        race.run(repeats, settings, section)


class Vowpal:
    """Vowpal Wabbit's logistic regression, learned from a cache file.

    ``fit`` sets it up and learns, and that is what is timed: neither the text nor the making of
    the cache. Weights are read out later, and scores are X w + b in float64.

    Parameters
    ----------
    cache : Path
        The training rows.
    bits : int
        Of the table of weights.
    rate : float or None
        ``-l``; None: its default.
    passes : int
        Over the cache, in the order of the rows.
    """

    def __init__(self, cache: Path, bits: int, rate: float | None, passes: int) -> None:
        self.options = _options(cache, bits, passes) + ([] if rate is None else ["-l", str(rate)])
        self.bits = bits
        self.n_iter_ = passes
        self.classes_ = np.array([0, 1])
        self._weights: NDArray[np.float64] | None = None

    def fit(self, X: Any, y: Any) -> Self:  # noqa: ARG002 (the rows are in the cache)
        """Learn from the cache; X and y are its rows."""
        from vowpalwabbit import Workspace

        self._workspace = Workspace(arg_list=self.options)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of class 1."""
        if self._weights is None:
            places = [*range(X.shape[1]), CONSTANT & ((1 << self.bits) - 1)]
            self._weights = np.array([self._workspace.get_weight(place) for place in places])
            self._workspace.finish()
        scores: NDArray[np.float64] = X @ self._weights[:-1] + self._weights[-1]
        return scores

    def score(self, X: Any, y: NDArray[np.int64]) -> float:
        """Return the share of rows predicted correctly."""
        return float(((self.decision_function(X) > 0) == y).mean())


def write_cache(data: Data, folder: Path) -> tuple[Path, int]:
    """Write the training rows for Vowpal Wabbit; return the cache file and the bits it is for.

    Column j is feature j of the default namespace, which it does not hash; the bits are its
    default of 18, or as many as keep columns and the constant apart.
    """
    from sklearn.datasets import dump_svmlight_file
    from vowpalwabbit import Workspace

    bits = max(18, int(data.X.shape[1]).bit_length() + 3)
    if CONSTANT & ((1 << bits) - 1) < data.X.shape[1]:
        raise ValueError(f"With {bits} bits the constant shares the weight of a column.")
    text = io.BytesIO()
    dump_svmlight_file(data.X, 2 * data.y - 1, text, zero_based=True)
    rows, cache = folder / "rows.txt", folder / "rows.cache"
    rows.write_bytes(re.sub(rb"(?m)^(\S+)", rb"\1 |", text.getvalue()))
    Workspace(arg_list=["-d", str(rows), *_options(cache, bits, 1)]).finish()
    rows.unlink()
    return cache, bits


def _options(cache: Path, bits: int, passes: int) -> list[str]:
    return [
        "--quiet", "--no_stdin", "--holdout_off", "--loss_function", "logistic",
        "--cache_file", str(cache), "-b", str(bits), "--passes", str(passes),
    ]  # fmt: skip
