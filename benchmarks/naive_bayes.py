"""Naive Bayes on sparse text: one pass of sums against scikit-learn's."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import naive_bayes as peers

from benchmarks.datasets import load_imdb
from benchmarks.harness import Contender, fastest, measure_fits
from benchmarks.report import Section, compare, details
from separable import BernoulliNB, ComplementNB, MultinomialNB

if TYPE_CHECKING:
    from benchmarks.datasets import Data
    from benchmarks.settings import Settings

__all__ = ["run_imdb"]

#: Ours, the peer, and how many times faster ours is to be.
CONTESTS = (
    (MultinomialNB, peers.MultinomialNB, 2),
    (BernoulliNB, peers.BernoulliNB, None),
    (ComplementNB, peers.ComplementNB, None),
)
#: Probabilities of held-out rows may differ by this for the time to count.
AGREEMENT = 1e-9


def run_imdb(settings: Settings) -> Section:
    """Run on the film reviews."""
    return run_on(load_imdb(settings), settings)


def run_on(data: Data, settings: Settings) -> Section:
    """Run every contest on one set, float32 on our side, on theirs what is fastest."""
    section, double = Section(), data.astype(np.float64)
    for ours, peer, target in CONTESTS:
        _run_contest(ours, peer, target, data, double, settings, section)
    return section


def _run_contest(
    ours: Any,
    peer: Any,
    target: float | None,
    data: Data,
    double: Data,
    settings: Settings,
    section: Section,
) -> None:
    contenders = [
        Contender("separable float32", lambda _: ours(), data),
        Contender("scikit-learn float32", lambda _: peer(), data),
        Contender("scikit-learn float64", lambda _: peer(), double),
    ]
    mine, *theirs = measures = measure_fits(contenders, settings.repeats)
    what = f"{ours.__name__}, fit"
    apart = disagreement(ours(), peer(), data, double)
    print(f"{what}, {data.name}\n\n{details(measures)}\n")
    print(f"Probabilities of held-out rows differ by at most {apart:.1e}.\n")
    line = compare(
        "naive Bayes", what, data.name, mine, fastest(theirs), target=target, judged=settings.judged
    )
    if apart > AGREEMENT and settings.judged:
        line = replace(line, verdict="does not count: other answers")
    raw = {"what": what, "data": data.name, "apart": apart}
    section.add(line, raw | {"measures": [m.to_dict() for m in measures]})


def disagreement(ours: Any, peer: Any, data: Data, double: Data) -> float:
    """Return by how much probabilities of held-out rows differ; the peer sums in float64, too."""
    mine = ours.fit(data.X, data.y).predict_proba(double.X_test)
    theirs = peer.fit(double.X, double.y).predict_proba(double.X_test)
    return float(np.abs(mine - theirs).max())
