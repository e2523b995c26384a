"""Building blocks of charts: figures with tables, thinned data, Vega-Lite specifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.report.page.wording import sealed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.typing import Floats


__all__ = [
    "COLOURS",
    "DASHES",
    "Figure",
    "Key",
    "Table",
    "altair",
    "colour",
    "colour_scale",
    "dash",
    "data_of",
    "fraction_axis",
    "histogram",
    "named",
    "number_format",
    "rounded",
    "specification",
    "thinned",
]

#: Colours are variables of the style sheet, which has others for dark mode and print.
COLOURS = 7
DASHES = ((1, 0), (7, 3), (7, 3, 2, 3), (2, 3))
#: Columns of a thinned curve, each with its first, last, lowest and highest point.
BINS = 120
#: Height of charts in pixels; the width adapts to the page.
HEIGHT = 300


@dataclass(frozen=True)
class Table:
    """Rows of cells to show.

    Parameters
    ----------
    head : tuple of str
    rows : tuple of tuple of str
    words : int
        Number of leading text columns, aligned left; the others are numbers, aligned right.
    more : str
        A sentence about what is left out.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    more: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend.

    Parameters
    ----------
    name : str
    colour : str
        Of CSS.
    shape : {"line", "point", "band", "bar"}
    dash : str
        Of SVG's stroke-dasharray.
    """

    name: str
    colour: str
    shape: str = "line"
    dash: str = ""


@dataclass(frozen=True)
class Figure:
    """A chart with a description and a table for screen readers.

    Parameters
    ----------
    key : str
        Its id in the page, of letters and hyphens.
    title : str
    aid : str
        A sentence that explains it.
    spec : dict
        Of Vega-Lite.
    table : Table or None
        The numbers. None if the page shows them elsewhere.
    legend : tuple of Key
    """

    key: str
    title: str
    aid: str
    spec: dict[str, Any]
    table: Table | None
    legend: tuple[Key, ...] = ()


def altair() -> Any:
    """Return altair, imported late."""
    import altair as alt

    return alt


class _Rows(str):
    """The name of a data set, together with its rows."""

    __slots__ = ("rows",)
    rows: list[dict[str, Any]]


def data_of(rows: list[dict[str, Any]]) -> Any:
    """Return data for a chart.

    Altair gets only a name: it would copy the rows at each step of a chart, and validate each
    against a schema.
    """
    name = _Rows("rows")
    name.rows = rows
    return altair().Data(name=name)


def specification(chart: Any, height: int = HEIGHT) -> dict[str, Any]:
    """Return a chart as plain values, with responsive width.

    They are not validated against the schema, which is slow for many rows: only data differ
    between reports, and tests validate the rest.
    """
    fit = altair().AutoSizeParams(type="fit-x", contains="padding")
    sized = chart.properties(width="container", height=height, autosize=fit)
    made: dict[str, Any] = sized.to_dict(validate=False)
    # the page has one configuration for all charts, and the library that reads this schema
    kept = {name: value for name, value in made.items() if name not in ("$schema", "config")}
    tables: dict[str, list[Any]] = {}
    named = _with_names(kept, tables)
    return {**named, "datasets": tables}


def _with_names(part: Any, tables: dict[str, list[Any]]) -> Any:
    """Replace the data of a chart by names, and collect the data sets without repetitions."""
    if isinstance(part, list):
        return [_with_names(each, tables) for each in part]
    if not isinstance(part, dict):
        return part
    if isinstance(part.get("data"), dict) and isinstance(part["data"].get("name"), _Rows):
        rows = part["data"]["name"].rows
        known = (name for name, others in tables.items() if others == rows)
        name = next(known, f"d{len(tables)}")
        tables[name] = rows
        part = {**part, "data": {"name": name}}
    return {name: _with_names(value, tables) for name, value in part.items()}


def colour(k: int) -> str:
    """Return the colour of line or class number k."""
    return f"var(--c{k % COLOURS + 1})"


def dash(k: int) -> list[int]:
    """Return the dashes of line number k."""
    return list(DASHES[k % len(DASHES)])


def colour_scale(n: int) -> Any:
    """Return the colour scale of the numbers 0, 1, ..."""
    return altair().Scale(domain=list(range(n)), range=[colour(k) for k in range(n)])


def number_format(values: Any) -> Any:
    """Return the number format of an axis: the default, or a short one for tiny or huge numbers."""
    largest = float(np.abs(np.asarray(values, dtype=np.float64)).max(initial=0.0))
    return altair().Undefined if 1e-3 <= largest < 1e7 else ".3~g"


def rounded(values: Any, digits: int = 5) -> list[float | None]:
    """Return rounded numbers, with None for NaN, which JSON cannot express."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in array.tolist()]


def histogram(edges: Any, counts: Any, title: str) -> Any:
    """Return bars that count rows.

    Parameters
    ----------
    edges : sequence of (low, high)
        Of each bar.
    counts : sequence of int
    title : str
        The title of the axis.
    """
    alt = altair()
    values = [
        {"a": low, "b": high, "n": int(n)}
        for (low, high), n in zip(map(rounded, edges), counts, strict=True)
    ]
    bars = alt.Chart(data_of(values)).mark_bar(color="var(--c1)", binSpacing=1)
    axis = alt.Axis(grid=False, format=number_format([end for pair in edges for end in pair]))
    return bars.encode(
        x=alt.X("a:Q", bin="binned", title=title, axis=axis),
        x2="b:Q",
        y=alt.Y("n:Q", title="rows"),
        tooltip=[
            alt.Tooltip("a:Q", title="from"),
            alt.Tooltip("b:Q", title="to"),
            alt.Tooltip("n:Q", title="rows", format=","),
        ],
    )


def thinned(x: Floats, y: Floats, bins: int = BINS) -> NDArray[np.intp]:
    """Return indices of points, x ascending, that draw the same curve.

    From each of ``bins`` columns of equal width: the first, last, lowest and highest point.
    """
    if len(x) <= 4 * bins:
        return np.arange(len(x))
    span = float(x[-1] - x[0]) or 1.0
    column = np.minimum((bins * ((x - x[0]) / span)).astype(np.intp), bins - 1)
    starts = np.flatnonzero(np.append(True, column[1:] != column[:-1]))
    ends = np.append(starts[1:], len(x)) - 1
    by_height = np.lexsort((y, column))  # columns keep their order
    return np.unique(np.concatenate([starts, ends, by_height[starts], by_height[ends]]))


def named(chart: Any, fields: dict[str, str], names: list[str]) -> Any:
    """Return a chart that looks up names by number, since numbers are smaller.

    Parameters
    ----------
    chart : Chart
    fields : dict of str to str
        A field of numbers, and the field for the names.
    names : list of str
    """
    alt = altair()
    for number_field, field in fields.items():
        rows = [{number_field: k, field: sealed(name)} for k, name in enumerate(names)]
        result = alt.LookupData(data_of(rows), number_field, [field])
        chart = chart.transform_lookup(number_field, result)
    return chart


def fraction_axis(channel: Any, title: str, field: str | None = None, **more: Any) -> Any:
    """Return an axis from 0 to 100 %, by default of the field x or y."""
    alt = altair()
    which = field or ("x:Q" if channel is alt.X else "y:Q")
    axis = alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1])
    scale = alt.Scale(domain=[0, 1], nice=False)
    return channel(which, title=title, scale=scale, axis=axis, **more)
