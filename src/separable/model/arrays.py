"""Arrays of a model: validated, in one dtype, read-only.

Includes the checks of fields that all model types share.
"""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.strings import LazyTexts
from separable.model.files.json_values import is_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from separable.features.base import Encoder
    from separable.model.kinds import Model

__all__ = [
    "check_score_count",
    "check_words",
    "checked_classes",
    "checked_names",
    "checked_numbers",
    "checked_range",
    "checked_threshold",
    "names_of_features",
    "read_only",
]


#: NumPy pads all texts of an array to the longest. This many bytes are always allowed.
MAX_CLASS_BYTES = 1 << 25


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array in C order and native byte order.

    A read-only array is used as it is, so a learner can avoid the copy by marking its array with
    ``setflags(write=False)``.
    """
    array = np.asarray(array)
    if array.flags.writeable or not array.flags.c_contiguous or not array.dtype.isnative:
        array = np.array(array, dtype=array.dtype.newbyteorder("="), order="C")
        array.setflags(write=False)
    return array


def checked_numbers(value: Any, name: str, ndim: int) -> NDArray[np.float64]:
    """Return finite, read-only float64 numbers with ``ndim`` axes."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers. Got an array of dtype {array.dtype} instead.")
    if array.ndim != ndim:
        shape = "(k, d)" if ndim == 2 else "(k,)"
        raise ValueError(f"{name} must have shape {shape}. Got shape {array.shape} instead.")
    array = read_only(array.astype(np.float64, copy=False))
    finite = np.isfinite(array)
    if not finite.all():
        index = [int(axis[0]) for axis in np.nonzero(~finite)]
        raise ValueError(
            f"{name} must be finite. Found {array[tuple(index)]} at {index}. Training overflowed "
            "or the numbers are damaged: scale the features and train again."
        )
    return array


def checked_threshold(value: Any) -> float | None:
    """Return a finite threshold, or None for None."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(f"threshold must be None or a finite number. Got {value!r:.80} instead.")
    return float(value)


def checked_range(value: Any, link: str, k: int) -> tuple[float, float] | None:
    """Return the validated output range, which the link "log" and no other link has."""
    if (value is None) == (link == "log"):
        raise ValueError("The link 'log' needs an output_range, and other links have none.")
    if value is None:
        return None
    if k != 1:
        raise ValueError(f"The link 'log' is for one target. Got {k}.")
    low, high = (checked_threshold(each) for each in value)
    if low is None or high is None or not 0 < low <= high:
        raise ValueError(f"output_range must be two numbers, 0 < low <= high. Got {value!r:.80}.")
    return low, high


def checked_names(names: Iterable[str] | None, count: int, what: str) -> Sequence[str] | None:
    """Return ``count`` names as a tuple, as a lazy sequence if they are one, or None for None."""
    if names is None:
        return None
    if isinstance(names, LazyTexts) and len(names) == count:
        return names
    if isinstance(names, str):
        raise ValueError(f"{what} must be a sequence of str, one per feature. Got one str instead.")
    names = tuple(names)
    for index, name in enumerate(names):
        if not isinstance(name, str):
            raise ValueError(f"{what}[{index}] must be a str. Got {name!r:.80} instead.")
    if len(names) != count:
        raise ValueError(
            f"{what} must hold one name for each of {count} features. Got {len(names)}."
        )
    if not is_text("".join(names)):
        index = next(i for i, name in enumerate(names) if not is_text(name))
        raise ValueError(
            f"{what}[{index}] is {names[index]!r:.80}, which is not valid Unicode text "
            "(half of a surrogate pair). Rename the column."
        )
    return tuple(str(name) for name in names)


def checked_classes(value: Any) -> NDArray[Any] | None:
    """Return the classes as a read-only array of bool, int, float or str, or None for None."""
    if value is None:
        return None
    classes = np.asarray(value)
    if classes.ndim != 1 or len(classes) == 0:
        raise ValueError(f"classes must be a list of labels. Got shape {classes.shape} instead.")
    if classes.dtype.kind in "OTU":
        classes = _text_or_numbers(classes)
    if classes.dtype.kind not in "biufU":
        raise ValueError(
            f"classes must be bool, int, float or str. Got dtype {classes.dtype} instead: turn the "
            "labels into str."
        )
    if classes.dtype.kind == "f" and (classes.dtype.itemsize > 8 or not np.isfinite(classes).all()):
        raise ValueError(f"classes must be finite float64 or smaller. Got {classes!s:.80}.")
    ascending = classes[:-1] < classes[1:]
    if not ascending.all():
        first = int(np.flatnonzero(~ascending)[0])
        raise ValueError(
            f"classes must be sorted and unique. Found {classes[first].item()!r} before "
            f"{classes[first + 1].item()!r}: use numpy.unique."
        )
    return read_only(classes)


def _text_or_numbers(classes: NDArray[Any]) -> NDArray[Any]:
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return _text_classes(labels)
    for kind in (bool, int, float):  # the exact type: isinstance(True, int) holds
        if all(type(label) is kind for label in labels):
            return np.array(labels)
    kinds = sorted({type(label).__name__ for label in labels})
    raise ValueError(f"classes must be all of one type. Found {', '.join(kinds)}: use str.")


def _text_classes(labels: list[str]) -> NDArray[Any]:
    for label in labels:
        if label.endswith("\0") or not is_text(label):
            raise ValueError(
                f"The class {label!r:.80} ends in a zero character or is not valid Unicode text. "
                "Rename it."
            )
    size = 4 * len(labels) * max(len(label) for label in labels)  # NumPy pads all to the longest
    if size > max(MAX_CLASS_BYTES, 3 * sum(len(label) + 16 for label in labels)):
        raise ValueError(
            f"{len(labels)} classes as long as {max(labels, key=len)!r:.40} would fill "
            f"{size} bytes. Shorten the labels."
        )
    return np.array(labels, dtype=np.str_)


def check_words(model: Model, classes: NDArray[Any] | None) -> None:
    """Raise for an invalid link, family, learner or state."""
    from separable.model.linear_model import FAMILIES, LINKS, NUMBER_LINKS, TrainingState

    if model.link not in LINKS:
        raise ValueError(f"link must be one of {LINKS}. Got {model.link!r:.80} instead.")
    if model.family is not None and model.family not in FAMILIES:
        raise ValueError(f"family must be None or one of {FAMILIES}. Got {model.family!r:.80}.")
    if (classes is None) != (model.link in NUMBER_LINKS):
        raise ValueError(
            "link must be 'identity' or 'log' without classes and another with them. "
            f"Got {model.link!r} {'without' if classes is None else 'with'} classes."
        )
    if not isinstance(model.learner, str) or not is_text(model.learner):
        raise ValueError(f"learner must be text. Got {model.learner!r:.80} instead.")
    if model.state is not None and not isinstance(model.state, TrainingState):
        raise ValueError(
            f"state must be a TrainingState. Got {type(model.state).__name__} instead."
        )


def check_score_count(k: int, classes: NDArray[Any] | None, what: str) -> None:
    """Raise if ``k`` is not the number of scores: one for up to two classes, else one each."""
    if classes is None:
        return
    wanted = 1 if len(classes) < 3 else len(classes)
    if k != wanted:
        raise ValueError(
            f"{what} must have {wanted} rows for {len(classes)} classes (one for each, a single "
            f"one up to two classes). Got {k}."
        )


def names_of_features(
    names: Sequence[str] | None, encoder: Encoder | None, count: int
) -> Sequence[str] | None:
    """Return the feature names: the encoder's, if there is one."""
    if encoder is None:
        return checked_names(names, count, "feature_names")
    if len(encoder.sources) != count:  # first: a forged encoder may claim any number of names
        raise ValueError(
            f"encoder.sources must name the raw column of each of {count} features. "
            f"Got {len(encoder.sources)}."
        )
    encoded = checked_names(encoder.feature_names, count, "encoder.feature_names")
    if names is not None and names is not encoded:
        checked = checked_names(names, count, "feature_names")
        if checked != encoded:
            raise ValueError("feature_names must be those of the encoder, or None.")
    return encoded
