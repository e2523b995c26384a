"""Hashes of the rows that a model was trained on, to recognize them later."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.rows import core_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows

    Hashes = NDArray[np.uint64]

__all__ = ["NOT_RECORDED", "SeenRows", "TrainingRows"]

#: Message for models without hashes.
NOT_RECORDED = (
    "The model does not record the rows it was trained on. If these rows are among them, the "
    "figures are better than those of new rows."
)

#: The largest number of hashes that a model keeps. Beyond it only a sample is kept.
MAX_HASHES = 1_000_000


@dataclass(frozen=True)
class SeenRows:
    """How many rows of a data set are identical to training rows.

    Parameters
    ----------
    rows : int
        Rows of the data set.
    checked : int
        Rows that could be checked: all of them, or those of the sample.
    seen : int
        Checked rows that are identical to a training row.
    twins : float
        Fraction of training rows that are identical to another training row. About as many rows of
        new data are identical to a training row by chance.
    """

    rows: int
    checked: int
    seen: int
    twins: float

    @classmethod
    def joined(cls, parts: Sequence[SeenRows]) -> SeenRows:
        """Return the counts of a data set that was checked part by part."""
        rows, checked, seen = (
            sum(getattr(part, name) for part in parts) for name in ("rows", "checked", "seen")
        )
        return cls(rows, checked, seen, parts[0].twins)

    @property
    def by_chance(self) -> bool:
        """Whether duplicates are so common in training that new rows match by chance."""
        expected = self.checked * self.twins
        return self.seen <= expected + 3 * math.sqrt(expected * max(0.0, 1 - self.twins))

    @property
    def is_new(self) -> bool | None:
        """True: the model was trained on none of these rows; False: on some; None: not known."""
        if not self.checked:
            return None
        if not self.seen:
            return True
        return None if self.by_chance else False

    def text(self) -> str:
        """Return what a reader must know, in sentences; empty if no row is a training row."""
        if not self.seen:
            return ""
        all_of = "All" if self.seen == self.checked else f"{self.seen} of"
        sample = "" if self.checked == self.rows else f" that were checked, of {self.rows},"
        message = f"{all_of} {self.checked} rows{sample} are identical to rows of the training data"
        if self.by_chance:
            return (
                f"{message}. That says little here: {100 * self.twins:.3g} % of the training rows "
                "have an identical twin, so new rows often match one by chance."
            )
        return f"{message}: their figures are better than those of new rows."


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Sorted 64-bit hashes of encoded training rows, the same in every process.

    Parameters
    ----------
    hashes : ndarray of uint64
        Sorted; equal rows have equal hashes, each of them kept.
    n_rows : int
        Rows of the training data, also those that the sample leaves out.
    modulus : int
        A power of two. Hashes are kept if they are multiples of it; 1: all of them.

    Examples
    --------
    >>> from separable.data.rows import as_rows
    >>> kept = TrainingRows.of(as_rows([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    >>> kept.find(as_rows([[3.0, 4.0], [7.0, 8.0]]))
    SeenRows(rows=2, checked=2, seen=1, twins=0.0)
    """

    hashes: Hashes
    n_rows: int
    modulus: int = 1

    def __post_init__(self) -> None:
        hashes = np.sort(np.asarray(self.hashes, dtype=np.uint64))
        modulus = self.modulus
        while len(hashes) > MAX_HASHES:
            modulus *= 2
            hashes = hashes[hashes % np.uint64(modulus) == 0]
        hashes.setflags(write=False)
        object.__setattr__(self, "hashes", hashes)
        object.__setattr__(self, "modulus", modulus)

    @classmethod
    def of(cls, rows: Rows, weight: NDArray[np.float64] | None = None) -> TrainingRows:
        """Return the hashes of encoded rows; rows of weight 0 are excluded."""
        hashes = _hashes(rows)
        if weight is not None:
            hashes = hashes[np.asarray(weight) > 0]
        return cls(hashes, len(hashes))

    @classmethod
    def joined(cls, parts: Sequence[TrainingRows]) -> TrainingRows:
        """Return the hashes of all parts, with multiplicity."""
        modulus = max(part.modulus for part in parts)
        hashes = np.concatenate([part.hashes for part in parts])
        kept = hashes[hashes % np.uint64(modulus) == 0]
        return cls(kept, sum(part.n_rows for part in parts), modulus)

    @property
    def twins(self) -> float:
        """Fraction of the rows that are identical to another row."""
        if not len(self.hashes):
            return 0.0
        _, counts = np.unique(self.hashes, return_counts=True)
        return float(counts[counts > 1].sum() / len(self.hashes))

    def find(self, rows: Rows) -> SeenRows:
        """Count the rows that are identical to training rows.

        Parameters
        ----------
        rows : Rows
            Encoded rows.
        """
        hashes = _hashes(rows)
        checked = hashes[hashes % np.uint64(self.modulus) == 0]
        seen = 0
        if len(self.hashes):
            indices = np.searchsorted(self.hashes, checked)
            indices = np.minimum(indices, len(self.hashes) - 1)
            seen = int(np.count_nonzero(self.hashes[indices] == checked))
        return SeenRows(rows.n_rows, len(checked), seen, self.twins)

    # ------------------------------------------------------------------ model files

    def to_parts(self) -> dict[str, NDArray[Any]]:
        """Return the tensors of a model file."""
        counts = np.array([self.n_rows, self.modulus], dtype=np.int64)
        return {"training_row_hashes": self.hashes, "training_row_counts": counts}

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> TrainingRows | None:
        """Return the hashes from the tensors of a model file; None if it has none."""
        hashes: Any = parts.get("training_row_hashes")
        counts: Any = parts.get("training_row_counts")
        if hashes is None and counts is None:
            return None
        if not (_is_vector(hashes, np.uint64) and _is_vector(counts, np.int64)):
            raise ValueError("its hashes of training rows are not whole numbers.")
        if len(counts) != 2:
            raise ValueError("its counts of training rows must be two numbers.")
        n_rows, modulus = counts.tolist()
        if (
            modulus < 1
            or modulus & (modulus - 1)
            or n_rows < len(hashes)
            or len(hashes) > MAX_HASHES
        ):
            raise ValueError("its counts of training rows are not possible.")
        if (hashes % np.uint64(modulus)).any() or (hashes[1:] < hashes[:-1]).any():
            raise ValueError("its hashes of training rows are not sorted multiples.")
        return cls(hashes, n_rows, modulus)


def _hashes(rows: Rows) -> Hashes:
    hashes = np.empty(rows.n_rows, np.uint64)
    core_rows(rows).hashes(hashes)
    return hashes


def _is_vector(tensor: Any, dtype: Any) -> bool:
    return isinstance(tensor, np.ndarray) and tensor.dtype == dtype and tensor.ndim == 1
