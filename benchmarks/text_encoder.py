"""Texts to numbers: TextEncoder against scikit-learn's vectorizers, on film reviews."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer

from benchmarks.datasets import load_reviews
from benchmarks.harness import interleave, peak_growth
from benchmarks.report import Line, Section, judge, markdown_table, show_seconds
from separable import TextEncoder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.settings import Settings

__all__ = ["run_pairs", "run_words"]

#: Numbers of the two matrices may differ by this share for the time to count.
AGREEMENT = 1e-12
#: The share of the peer's peak memory that ours may take.
MEMORY = 0.6
HASHED = 2**20


def run_words(settings: Settings) -> Section:
    """Words, hashed and with a vocabulary, in one thread and in two."""
    texts = load_reviews(settings)
    section = Section()
    peer = ("HashingVectorizer", lambda: HashingVectorizer(n_features=HASHED))
    run_contest(
        "words, hashed: transform",
        texts,
        [
            ("1 thread", lambda: TextEncoder(n_features=HASHED), 15),
            ("2 threads", lambda: TextEncoder(n_features=HASHED, n_jobs=2), 30),
        ],
        peer,
        settings,
        section,
        method="transform",
    )
    run_contest(
        "words, vocabulary: fit_transform",
        texts,
        [
            ("1 thread", lambda: TextEncoder(use_idf=False), 15),
            ("2 threads", lambda: TextEncoder(use_idf=False, n_jobs=2), 30),
        ],
        peer,
        settings,
        section,
        oracle=lambda: TfidfVectorizer(use_idf=False),
    )
    return section


def run_pairs(settings: Settings) -> Section:
    """tf-idf of words and pairs, all of them and those of two reviews and more."""
    texts = load_reviews(settings)
    section = Section()
    for min_df in (1, 2):
        options: dict[str, Any] = {"ngram_range": (1, 2), "min_df": min_df}
        run_contest(
            f"words and pairs, tf-idf, min_df={min_df}: fit_transform",
            texts,
            [
                ("1 thread", lambda o=options: TextEncoder(**o), 15),
                ("2 threads", lambda o=options: TextEncoder(**o, n_jobs=2), 15),
            ],
            ("TfidfVectorizer", lambda o=options: TfidfVectorizer(**o)),
            settings,
            section,
            memory=MEMORY,
        )
    return section


def run_contest(
    what: str,
    texts: Sequence[str],
    ours: Sequence[tuple[str, Callable[[], Any], float]],
    peer: tuple[str, Callable[[], Any]],
    settings: Settings,
    section: Section,
    *,
    method: str = "fit_transform",
    oracle: Callable[[], Any] | None = None,
    memory: float | None = None,
) -> None:
    """Time ours and the peer in turn; compare matrices, with those of the oracle if there is one.

    Parameters
    ----------
    what : str
        What is measured, as printed.
    texts : sequence of str
    ours : sequence of (str, callable, float)
        Name, maker and target of each of ours.
    peer : (str, callable)
    settings : Settings
    section : Section
        Lines are added to it.
    method : str
        The method that is timed.
    oracle : callable, optional
        Makes what ours has to agree with, where that is not the peer.
    memory : float, optional
        The share of the peer's peak memory that ours may take.
    """
    sides = [*((name, make) for name, make, _ in ours), peer]

    def prepare(make: Callable[[], Any]) -> Callable[[int], Callable[[], Any]]:
        def run(_: int) -> Callable[[], Any]:
            return lambda: getattr(make(), method)(texts)

        return run

    runs = [prepare(make) for _, make in sides]
    peaks = [peak_growth(run(0)) for run in runs]
    expected = getattr((oracle or peer[1])(), method)(texts)
    apart = max(disagreement(run(0)(), expected) for run in runs[:-1])
    del expected
    times = interleave(runs, settings.slow_repeats)
    walls = [median(wall for wall, _ in time) for time in times]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    rows = [
        [name, show_seconds(wall), f"{megabytes / wall:.1f}", _megabytes(peak)]
        for (name, _), wall, peak in zip(sides, walls, peaks, strict=True)
    ]
    print(f"{what}, {len(texts)} texts, {megabytes:.1f} MB\n")
    print(markdown_table(("contender", "median", "MB/s", "peak memory"), rows))
    print(f"\nMatrices differ by at most {apart:.1e} of a number.\n")
    agrees = apart <= AGREEMENT
    raw = {"what": what, "apart": apart, "megabytes": megabytes, "peaks": peaks, "times": times}
    for place, (name, _, target) in enumerate(ours):
        ratio = walls[-1] / walls[place]
        verdict = judge(ratio, target, at_most=False, judged=settings.judged)
        shown = [f"{show_seconds(w)}, {megabytes / w:.1f} MB/s" for w in (walls[place], walls[-1])]
        section.add(
            Line(
                "text",
                "imdb",
                f"{what}, {name}",
                shown[0],
                f"{peer[0]} {shown[1]}",
                ratio,
                "x",
                target,
                False,
                verdict if agrees else "does not count: another matrix",
            ),
            raw,
        )
    _add_memory(what, peaks, peer[0], memory, settings, section, raw)


def _add_memory(
    what: str,
    peaks: Sequence[int | None],
    peer: str,
    memory: float | None,
    settings: Settings,
    section: Section,
    raw: dict[str, Any],
) -> None:
    mine, theirs = max((p for p in peaks[:-1] if p is not None), default=None), peaks[-1]
    if mine is None or not theirs:
        return
    share = mine / theirs
    section.add(
        Line(
            "text",
            "imdb",
            f"{what}, peak memory",
            _megabytes(mine),
            f"{peer} {_megabytes(theirs)}",
            share,
            "x",
            memory,
            True,
            judge(share, memory, at_most=True, judged=settings.judged),
        ),
        raw,
    )


def _megabytes(peak: int | None) -> str:
    return "-" if peak is None else f"{peak / 1e6:.0f} MB"


def disagreement(ours: Any, theirs: Any) -> float:
    """Return by what share numbers of two matrices differ; infinity if they have other places."""
    theirs = theirs.copy()
    theirs.sort_indices()
    same = ours.shape == theirs.shape and np.array_equal(ours.indptr, theirs.indptr)
    if not same or not np.array_equal(ours.indices, theirs.indices):
        return np.inf
    sizes = np.maximum(np.abs(theirs.data), np.finfo(float).tiny)
    return float((np.abs(ours.data - theirs.data) / sizes).max(initial=0.0))
