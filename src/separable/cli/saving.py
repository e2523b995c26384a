"""How the commands save a model: with what its learner needs to go on, unless that is large."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.cli.talk import note

if TYPE_CHECKING:
    from separable.model.kinds import Model

__all__ = ["LARGEST_STATE", "save_model", "state_bytes"]

#: A larger training state is left out.
LARGEST_STATE = 256_000_000


def state_bytes(model: Model) -> int:
    """Return how large the training state of a model is; 0 without one.

    Parameters
    ----------
    model : LinearModel or VotedModel
    """
    tensors = {} if model.state is None else model.state.tensors
    return sum(tensor.nbytes for tensor in tensors.values())


def save_model(model: Model, path: str) -> bool:
    """Save a model, with its training state if it has one of up to 256 MB.

    Parameters
    ----------
    model : LinearModel or VotedModel
    path : str

    Returns
    -------
    bool
        Whether `separable update` can go on from the file.
    """
    size = state_bytes(model)
    keeps = model.state is not None and size <= LARGEST_STATE
    model.save(path, include_state=keeps)
    if model.state is not None and not keeps:
        note(
            f"The training state of this {model.learner} model ({size / 1e6:.0f} MB) is not in "
            f"{path}, so that the file stays small: separable update cannot go on from it."
        )
    return keeps
