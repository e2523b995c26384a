"""Verdicts for three or more classes: pairwise or one-vs-rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import as_rows
from separable.fitting.targets import check_labels
from separable.geometry.labelled_rows import LabelledRows
from separable.geometry.verdict import Verdict
from separable.model.words import label_value, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["PairVerdict", "RestVerdict", "Verdicts", "ask_each", "ask_pairs"]


@dataclass(frozen=True, eq=False, repr=False)
class PairVerdict(Verdict):
    """Verdict on two of several classes; row indices in its proof count the rows of the pair."""

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against the rows of the pair in ``X``; see `Verdict.verify`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        rows_of_pair = np.flatnonzero(np.isin(labels, self.classes))
        if len(rows_of_pair) == 0:
            return False
        return super().verify(rows.take(rows_of_pair), labels[rows_of_pair], exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class RestVerdict(Verdict):
    """Verdict on one class against the rest.

    Parameters
    ----------
    label : object
        The class.
    """

    label: Any = None

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check the proof against rows of all classes; see `Verdict.verify`."""
        rows = as_rows(X)
        labels = check_labels(y, rows.n_rows, "verify")
        return super().verify(rows, labels == self.label, exact=exact)


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts(Mapping[Any, Any]):
    """Verdicts by pair of classes, (a, b), or by class; an ordered mapping.

    Parameters
    ----------
    verdicts : dict
    multi_class : {"pairs", "ovr"}
    """

    verdicts: dict[Any, Verdict]
    multi_class: str

    def __getitem__(self, key: Any) -> Verdict:
        return self.verdicts[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def separable(self) -> bool | None:
        """True if all are separable, False if one is not, None otherwise (undecided)."""
        separable = [verdict.separable for verdict in self.verdicts.values()]
        return False if False in separable else None if None in separable else True

    def verify(self, X: Any, y: Any, *, exact: bool = False) -> bool:
        """Check all proofs against data; see `Verdict.verify`."""
        return all(verdict.verify(X, y, exact=exact) for verdict in self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """Return all verdicts as plain lists, numbers and strings."""
        return {
            "separable": self.separable,
            "multi_class": self.multi_class,
            "verdicts": [
                {"classes": list(key) if isinstance(key, tuple) else key, **verdict.to_dict()}
                for key, verdict in self.verdicts.items()
            ],
        }

    def to_text(self) -> str:
        """Return one line per verdict."""
        between = " and " if self.multi_class == "pairs" else ""
        lines = [
            (
                between.join(map(str, key)) if isinstance(key, tuple) else f"{key} and the rest",
                verdict.kind,
                f"{verdict.margin:.6g}" if verdict.separable else "",
            )
            for key, verdict in self.verdicts.items()
        ]
        return table([("classes", "verdict", "margin"), *lines], left=2)

    def __repr__(self) -> str:
        return self.to_text()


def ask_pairs(data: LabelledRows, ask: Callable[[LabelledRows], Verdict]) -> Verdicts:
    """Return the verdict on every pair of classes."""
    by_key: dict[Any, Verdict] = {}
    for a, b in combinations(range(len(data.classes)), 2):
        rows = np.flatnonzero((data.label == a) | (data.label == b))
        label = (data.label[rows] == b).astype(np.intp)
        part = LabelledRows(data.rows.take(rows), label, data.classes[[a, b]], data.names)
        key = label_value(data.classes[a]), label_value(data.classes[b])
        by_key[key] = PairVerdict(**vars(ask(part)))
    return Verdicts(by_key, "pairs")


def ask_each(data: LabelledRows, ask: Callable[[LabelledRows], Verdict]) -> Verdicts:
    """Return the verdict on each class against the rest."""
    by_key: dict[Any, Verdict] = {}
    for k, name in enumerate(data.classes):
        label = (data.label == k).astype(np.intp)
        part = LabelledRows(data.rows, label, np.array([False, True]), data.names)
        key = label_value(name)
        by_key[key] = RestVerdict(**vars(ask(part)), label=key)
    return Verdicts(by_key, "ovr")
