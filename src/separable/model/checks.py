"""What every kind of model checks of the fields that all kinds have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from separable.model.arrays import checked_names
from separable.model.json_values import is_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from separable.features.encoder import Encoder
    from separable.model.kinds import Model

__all__ = ["check_score_count", "check_words", "names_of_features"]


def check_words(model: Model, classes: NDArray[Any] | None) -> None:
    """Refuse a link, family, learner or state of another kind than a model may have."""
    from separable.model.linear_model import Family, Link, TrainingState

    if model.link not in get_args(Link):
        raise ValueError(f"link must be one of {get_args(Link)}. Got {model.link!r:.80} instead.")
    if model.family is not None and model.family not in get_args(Family):
        raise ValueError(
            f"family must be None or one of {get_args(Family)}. Got {model.family!r:.80}."
        )
    if (classes is None) != (model.link == "identity"):
        raise ValueError(
            "link must be 'identity' without classes and another with them. "
            f"Got {model.link!r} {'without' if classes is None else 'with'} classes."
        )
    if not isinstance(model.learner, str) or not is_text(model.learner):
        raise ValueError(f"learner must be text. Got {model.learner!r:.80} instead.")
    if model.state is not None and not isinstance(model.state, TrainingState):
        raise ValueError(
            f"state must be a TrainingState. Got {type(model.state).__name__} instead."
        )


def check_score_count(k: int, classes: NDArray[Any] | None, what: str) -> None:
    """Refuse ``k`` scores where the classes need another number: one up to two, else one each."""
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
    """Return the names of the features: the encoder's where there is one."""
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
