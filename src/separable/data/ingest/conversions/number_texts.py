"""Texts of numbers to float64: decimal and thousands marks, units, currencies, signs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import bits, floats, mask
from separable.data.ingest.conversions.conversion import MAGNITUDES, arrow_compute, text_scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.data.ingest.conversions.conversion import NumberConversion

__all__ = ["MIN_GROUPED", "core_pattern", "grouped_by_points", "number_pattern", "numbers_of_texts"]


#: Values with a thousands mark that tell 1.234 from a decimal number. A guess.
MIN_GROUPED = 3

#: Texts that suffice to see that points are decimal marks.
_FIRST_TEXTS = 64


def grouped_by_points(texts: Any, currency: bool = False) -> bool:
    """Return whether points before three digits are thousands marks, as the whole column shows.

    Every point stands before exactly three digits, whole numbers without a point are below 1000,
    and there are such numbers (or the unit is a currency, which has no three decimals).

    Parameters
    ----------
    texts : pyarrow array of string
        Unsigned numbers.
    currency : bool
    """
    for part in (texts[:_FIRST_TEXTS], texts):
        grouped = _matches(part, r"^[1-9][0-9]{0,2}(\.[0-9]{3})+$")
        below = _matches(part, "^[0-9]{1,3}$")
        if not (below | grouped).all():
            return False
    different = len(texts.filter(mask(grouped)).unique())
    return bool(different >= MIN_GROUPED and (below.any() or currency))


def _matches(texts: Any, pattern: str) -> NDArray[np.bool_]:
    compute = arrow_compute()

    hits = compute.match_substring_regex(texts, pattern)
    return bits(hits.combine_chunks() if hasattr(hits, "chunks") else hits, 1)


def core_pattern(decimal: str, group: str) -> str:
    """Return the pattern of the digits of a number, without sign, unit and exponent."""
    d, g = re.escape(decimal), re.escape(group)
    whole = rf"[1-9][0-9]{{0,2}}(?:{g}[0-9]{{3}})+|[0-9]+" if group else "[0-9]+"
    if group == ",":  # India: lakhs and crores
        whole = f"[1-9][0-9]?(?:,[0-9]{{2}})+,[0-9]{{3}}|{whole}"
    whole = f"(?:{whole})"
    return rf"(?:{whole}(?:{d}(?:-{{1,2}}|[0-9]*))?|{d}[0-9]+)"  # 12.- has no cents


def number_pattern(conversion: NumberConversion) -> str:
    """Return the pattern of the texts of a conversion, with named groups."""
    longest_first = sorted(conversion.units, key=len, reverse=True)
    units = "|".join(re.escape(unit) for unit in longest_first)
    unit = f"(?:{units})?" if units else ""
    core = core_pattern(conversion.decimal, conversion.group)
    power = "[eE][+-]?[0-9]+"
    if conversion.magnitudes:
        power += "| *(?:" + "|".join(sorted(MAGNITUDES, key=len, reverse=True)) + ")"
    return (
        rf"^(?P<open>\(?) *(?P<first>[+-]?) *(?P<before>{unit}) *(?P<second>[+-]?) *"
        rf"(?P<core>{core})(?P<power>(?:{power})?) *(?P<after>{unit}) *(?P<last>[+-]?) *"
        rf"(?P<close>\)?)$"
    )


def numbers_of_texts(
    texts: Any, conversion: NumberConversion
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers of normalized texts, and which texts are one.

    Parameters
    ----------
    texts : pyarrow.Array of string
    conversion : NumberConversion

    Returns
    -------
    values : ndarray of float64
        NaN for texts that are no number.
    read : ndarray of bool
    """
    import pyarrow as pa

    compute = arrow_compute()

    parts = compute.extract_regex(texts, number_pattern(conversion))

    def part(name: str) -> Any:
        return compute.fill_null(compute.struct_field(parts, name), text_scalar(""))

    def is_there(name: str) -> NDArray[np.bool_]:
        return bits(compute.not_equal(part(name), text_scalar("")), 1)

    opened, closed = is_there("open"), is_there("close")
    signs = opened.astype(np.int8)
    minus = opened
    for name in ("first", "second", "last"):
        signs += is_there(name)
        minus = minus | bits(compute.equal(part(name), text_scalar("-")), 1)
    has_unit = is_there("before").astype(np.int8) + is_there("after")
    read = is_there("core") & (opened == closed) & (signs <= 1) & (has_unit <= 1)
    if "%" in conversion.units:  # 0.38 beside 38% would be another scale
        read &= has_unit == 1
    core = compute.replace_substring(part("core"), "-", "")
    if conversion.group:
        core = compute.replace_substring(core, conversion.group, "")
    if conversion.decimal == ",":
        core = compute.replace_substring(core, ",", ".")
    power = compute.utf8_ltrim(part("power"), " ")
    for word, digits in MAGNITUDES.items() if conversion.magnitudes else ():
        exponent = text_scalar(f"e{digits}")
        power = compute.if_else(compute.equal(power, text_scalar(word)), exponent, power)
    plain = compute.binary_join_element_wise(core, power, text_scalar(""))
    plain = compute.if_else(compute.equal(core, text_scalar("")), text_scalar("nan"), plain)
    values = floats(plain.cast(pa.float64())).copy()
    values[minus] *= -1.0
    values[~read] = np.nan
    return values, read
