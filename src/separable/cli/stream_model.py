"""The model that a stream ends in, or stands at, with its encoder."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from separable.cli.fit_warnings import fit_warning
from separable.cli.talk import warn

if TYPE_CHECKING:
    from separable.cli.stream_learning import StreamLearner
    from separable.model.kinds import Model

__all__ = ["stream_model"]


def stream_model(learner: StreamLearner, n_rows: int, *, tells: bool = True) -> Model:
    """Return the model of what was learned so far, with its encoder.

    Parameters
    ----------
    learner : StreamLearner
    n_rows : int
        How many were learned from.
    tells : bool
        Whether to tell what solving it warns of.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model: Model = learner.estimator.model_
    encoder = learner.stream.encoder
    for one in caught if tells else ():
        told = fit_warning(one.message, model, n_rows, encoder)
        if told:
            warn(told)
    return replace(model, encoder=encoder, training_rows=learner.training_rows)
