"""Parameters with a fixed set of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["check_choice"]


def check_choice(name: str, value: object, choices: Sequence[object], owner: str = "") -> None:
    """Raise if a value is not one of the choices.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
    choices : sequence
        Compared by type too: True is not 1.
    owner : str, optional
        Class that has the parameter.
    """
    if not any(value == choice and type(value) is type(choice) for choice in choices):
        listed = ", ".join(map(repr, choices))
        of = f" of {owner}" if owner else ""
        raise ValueError(
            f"The {name!r} parameter{of} must be one of {listed}. Got {value!r} instead."
        )
