"""Labels as places among the classes of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["class_places"]

SHOWN = 8


def class_places(y: Any, classes: NDArray[Any], n_rows: int) -> NDArray[np.intp]:
    """Return the place of each label among the sorted classes; refuse labels that are none.

    Parameters
    ----------
    y : array-like, shape (n,)
    classes : ndarray
        Sorted.
    n_rows : int

    Examples
    --------
    >>> class_places(["b", "a"], np.array(["a", "b"]), 2)
    array([1, 0])
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or len(labels) != n_rows:
        raise ValueError(
            f"y must hold one label for each of {n_rows} rows of X, shape ({n_rows},). Got shape "
            f"{labels.shape}."
        )
    known = classes.tolist()
    if labels.dtype.kind != "O" and (labels.dtype.kind in "UT") == (classes.dtype.kind in "UT"):
        places = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
        strange = np.flatnonzero(classes[places] != labels)
    else:
        where = {label: place for place, label in enumerate(known)}
        places = np.array([where.get(label, -1) for label in labels.tolist()], dtype=np.intp)
        strange = np.flatnonzero(places < 0)
    if len(strange):
        row = int(strange[0])
        some = ", ".join(repr(each) for each in known[:SHOWN])
        raise ValueError(
            f"The label {labels.tolist()[row]!r} of row {row} is no class of the model. There are: "
            f"{some}{', ...' if len(known) > SHOWN else ''}. Leave such rows out."
        )
    return places
