"""Encoded rows as the frames that scikit-learn's ``set_output`` names."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from separable.errors import require_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from separable.data.rows import Rows

__all__ = ["OUTPUTS", "as_frame", "default_output"]

#: What ``set_output`` may ask for.
OUTPUTS = ("default", "pandas", "polars")


def default_output() -> str:
    """Return what scikit-learn is set to give out everywhere; it is not imported to ask."""
    sklearn: Any = sys.modules.get("sklearn")  # set only once it is imported
    return "default" if sklearn is None else str(sklearn.get_config()["transform_output"])


def as_frame(rows: Rows, names: Sequence[str], library: str, data: Any, encoder: str) -> Any:
    """Return dense rows as a frame.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        The names of its columns.
    library : {"pandas", "polars"}
        Imported here, and nowhere else.
    data : object
        What was encoded; a pandas frame or series hands on its index.
    encoder : str
        The name of the encoder's class.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
    """
    if rows.is_sparse:
        raise ValueError(
            f"{encoder} makes {rows.n_features} numbers out of this data, which are kept sparse, "
            f"and a {library} frame cannot hold them so. Ask for "
            "set_output(transform='default')."
        )
    require_packages(f"set_output(transform={library!r})", **{library: library})
    frames = import_module(library)
    if library == "polars":
        return frames.DataFrame(rows.values, schema=list(names), orient="row")
    index = data.index if isinstance(data, (frames.DataFrame, frames.Series)) else None
    return frames.DataFrame(rows.values, columns=list(names), index=index, copy=False)
