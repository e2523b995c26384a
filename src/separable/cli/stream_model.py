"""The model that a stream ends in, or stands at, with its encoder."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from separable.cli.fit_warnings import fit_warning
from separable.cli.talk import warn

if TYPE_CHECKING:
    from separable.features.encoder import Encoder
    from separable.model.kinds import Model

__all__ = ["stream_model"]


def stream_model(
    estimator: Any, encoder: Encoder | None, n_rows: int, *, tells: bool = True
) -> Model:
    """Return the model of what was learned so far.

    Parameters
    ----------
    estimator : object
    encoder : Encoder or None
        By which rows become numbers.
    n_rows : int
        How many were learned from.
    tells : bool
        Whether to tell what solving it warns of.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model: Model = estimator.model_
    for one in caught if tells else ():
        told = fit_warning(one.message, model, n_rows, encoder)  # type: ignore[arg-type]
        if told:
            warn(told)
    return replace(model, encoder=encoder)
