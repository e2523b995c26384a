"""Serialization of a fitted TableEncoder to tensors and JSON values.

Files of the first version have numbers and categories only. Later types use their own tensors and
values, present only if needed: old files are read as before, and an encoder of numbers and
categories is written as before.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.ingest.conversions.conversion import (
    Conversion,
    DateConversion,
    conversion_from_dict,
    conversion_to_dict,
)
from separable.data.ingest.conversions.guessing import requested
from separable.data.strings import PackedTexts, is_texts, pack_strings
from separable.features.interaction.pair_column import PairColumn
from separable.features.spline.spline_serialization import check_breaks
from separable.features.table.category_column import UNSEEN, CategoryColumn
from separable.features.table.column_specs import CONSTRAINTS, PARAMETERS, pairs_of
from separable.features.table.curve_column import CurveColumn
from separable.features.table.date_column import CYCLES, NUMBERS, DateColumn
from separable.features.table.number_column import BooleanColumn, NumberColumn
from separable.features.table.text_column import TextColumn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from separable.features.base import Tensors, Values
    from separable.features.table.column_states import ColumnEncoder

__all__ = ["Parts", "add_pairs", "options_from_values", "tensors_of", "values_of"]

#: Parameters that name columns in files of the first version.
FIRST_PARAMETERS = ("number", "category", "drop")

#: Column types by their code in the tensor ``kinds``.
KINDS = ("category", "number", "boolean", "date", "text", "curve")

#: Up to this many levels are decoded; more stay packed.
EAGER_LEVELS = 1 << 10

_CYCLE_SIZES = [len(values) for values in CYCLES.values()]


def tensors_of(
    encoders: Sequence[ColumnEncoder], dropped: Mapping[str, str], names_in: Sequence[str]
) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
    """Return the fitted columns as tensors and JSON values."""
    numbers = [e for e in encoders if isinstance(e, NumberColumn)]
    categories = [e for e in encoders if isinstance(e, CategoryColumn)]
    tensors: dict[str, NDArray[Any] | Sequence[str]] = {
        "names": tuple(e.name for e in encoders),
        "is_number": np.array([isinstance(e, NumberColumn) for e in encoders], dtype=np.uint8),
        "has_missing": np.array([e.missing for e in encoders], dtype=np.uint8),
        "means": np.array([e.mean for e in numbers], dtype=np.float64),
        "scales": np.array([e.scale for e in numbers], dtype=np.float64),
        "levels": _joined([e.levels for e in categories]),
        "level_counts": np.array([len(e.levels) for e in categories], dtype=np.int64),
        "names_in": tuple(names_in),
        "dropped": tuple(dropped),
        "dropped_reasons": tuple(dropped.values()),
    }
    values: dict[str, Any] = {}
    if any(e.rare for e in categories):
        tensors["rare_levels"] = _joined([e.rare for e in categories])
        tensors["rare_counts"] = np.array([len(e.rare) for e in categories], dtype=np.int64)
    if any(e.unseen != "zero" for e in categories):
        values["policies"] = [e.unseen for e in categories]
    conversions = {
        e.name: conversion_to_dict(e.conversion)
        for e in encoders
        if isinstance(e, (NumberColumn, CurveColumn, DateColumn)) and e.conversion is not None
    }
    if conversions:
        values["conversions"] = conversions
    if len(numbers) + len(categories) < len(encoders):
        tensors["kinds"] = np.array([KINDS.index(_kind(e)) for e in encoders], dtype=np.uint8)
        _add_later_kinds(encoders, tensors, values)
    return tensors, values


def _kind(column: ColumnEncoder) -> str:
    return "curve" if isinstance(column, CurveColumn) else column.kind


def _joined(groups: Sequence[Sequence[str]]) -> Sequence[str]:
    """Return the texts of all groups; a single packed group stays packed."""
    return groups[0] if len(groups) == 1 else tuple(text for group in groups for text in group)


def _add_later_kinds(
    encoders: Sequence[ColumnEncoder],
    tensors: dict[str, NDArray[Any] | Sequence[str]],
    values: dict[str, Any],
) -> None:
    booleans = [e for e in encoders if isinstance(e, BooleanColumn)]
    dates = [e for e in encoders if isinstance(e, DateColumn)]
    texts = [e.encoder.to_parts() for e in encoders if isinstance(e, TextColumn)]
    curves = [e for e in encoders if isinstance(e, CurveColumn)]
    if curves:
        tensors["knots"] = np.concatenate([e.knots for e in curves])
        tensors["knot_rows"] = np.concatenate([e.rows for e in curves])
        tensors["knot_counts"] = np.array([len(e.knots) for e in curves], np.int64)
    if booleans:
        tensors["boolean_varies"] = np.array([e.varies for e in booleans], dtype=np.uint8)
    if dates:
        tensors["date_means"] = np.array([m for e in dates for m in e.means], dtype=np.float64)
        tensors["date_scales"] = np.array([s for e in dates for s in e.scales], dtype=np.float64)
        flags = [
            index in kept
            for e in dates
            for kept, size in zip(e.cycles, _CYCLE_SIZES, strict=True)
            for index in range(size)
        ]
        tensors["date_cycles"] = np.array(flags, dtype=np.uint8)
    for index, (parts, _) in enumerate(texts):
        tensors |= {f"text/{index}/{key}": part for key, part in parts.items()}
    if texts:
        values["texts"] = [json for _, json in texts]


def add_pairs(
    pairs: Sequence[PairColumn],
    tensors: dict[str, NDArray[Any] | Sequence[str]],
    values: dict[str, Any],
) -> None:
    """Add the interactions to the parts of the columns: each as the parts of its two sides."""
    parts = [tensors_of([pair.first, pair.second], {}, pair.columns) for pair in pairs]
    for index, (own, _) in enumerate(parts):
        tensors |= {f"pair/{index}/{key}": part for key, part in own.items()}
    if parts:
        values["pairs"] = [json for _, json in parts]


class Parts:
    """Untrusted parts of a saved encoder."""

    def __init__(self, tensors: Tensors, values: Values) -> None:
        self._tensors = tensors
        self._values = values

    def encoders(self) -> list[ColumnEncoder]:
        """Return the fitted columns, in order."""
        names = self._texts("names")
        kinds = self._kinds(len(names))
        has_missing = self._flags("has_missing", len(names)).astype(bool).tolist()
        _check(len(names) > 0 and len(set(names)) == len(names), "column names must differ")
        made: dict[str, Callable[[list[tuple[str, bool]]], Sequence[ColumnEncoder]]] = {
            "number": self._numbers,
            "curve": self._curves,
            "category": self._categories,
            "boolean": self._booleans,
            "date": self._dates,
            "text": self._text_columns,
        }
        columns: dict[str, ColumnEncoder] = {}
        for kind, make in made.items():
            tensors_of_kind = [
                (name, missing)
                for name, each, missing in zip(names, kinds, has_missing, strict=True)
                if each == kind
            ]
            columns |= {column.name: column for column in make(tensors_of_kind)}
        columns |= self._converted(columns)
        return [columns[name] for name in names]

    def _converted(self, columns: Mapping[str, ColumnEncoder]) -> dict[str, ColumnEncoder]:
        """Return the columns that have a conversion, with it."""
        saved = self._values.get("conversions", {})
        if not isinstance(saved, dict):
            raise ValueError("The saved TableEncoder is damaged: wrong 'conversions'.")
        made: dict[str, ColumnEncoder] = {}
        for name, record in saved.items():
            column = columns.get(name)
            try:
                conversion = conversion_from_dict(record)
            except (ValueError, TypeError) as error:
                raise ValueError(f"The saved TableEncoder is damaged: {error}") from None
            kind = "date" if isinstance(conversion, DateConversion) else "number"
            converts = isinstance(column, (NumberColumn, CurveColumn, DateColumn))
            if not converts or column is None or column.kind != kind:
                raise ValueError("The saved TableEncoder is damaged: wrong 'conversions'.")
            assert isinstance(column, (NumberColumn, CurveColumn, DateColumn))
            made[name] = replace(column, conversion=conversion)
        return made

    def _kinds(self, n_columns: int) -> list[str]:
        is_number = self._flags("is_number", n_columns)
        if "kinds" not in self._tensors:
            return [KINDS[number] for number in is_number.tolist()]
        kinds = self._array("kinds", "u", n_columns)
        _check(bool((kinds < len(KINDS)).all()), "'kinds' holds an unknown one")
        _check(bool(((kinds == 1) == is_number).all()), "'kinds' and 'is_number' differ")
        return [KINDS[kind] for kind in kinds.tolist()]

    def _numbers(self, columns: list[tuple[str, bool]]) -> list[NumberColumn]:
        means = self._floats("means", len(columns)).tolist()
        scales = self._floats("scales", len(columns)).tolist()
        _check(all(scale >= 0 for scale in scales), "scales must be >= 0")
        out = []
        for (name, missing), mean, scale in zip(columns, means, scales, strict=True):
            _check(scale > 0 or missing, f"column {name!r} gives no number out")
            out.append(NumberColumn(name, mean, scale, missing))
        return out

    def _curves(self, columns: list[tuple[str, bool]]) -> list[CurveColumn]:
        if not columns:
            return []
        counts = self._array("knot_counts", "i", len(columns))
        _check(bool((counts >= 2).all()), "a curve needs two knots")
        total = sum(counts.tolist())
        knots, rows = self._floats("knots", total), self._floats("knot_rows", total)
        _check(bool((rows >= 0).all()), "'knot_rows' must be >= 0")
        stops = np.cumsum(counts)[:-1]
        groups = zip(columns, np.split(knots, stops), np.split(rows, stops), strict=True)
        out = [CurveColumn(name, own, share, missing) for (name, missing), own, share in groups]
        for curve in out:
            check_breaks(curve.spline)
        return out

    def _categories(self, columns: list[tuple[str, bool]]) -> list[CategoryColumn]:
        n = len(columns)
        rare: list[Sequence[str]] = [()] * n
        if "rare_levels" in self._tensors:
            rare = self._levels(n, "rare_levels", "rare_counts", least=0)
        levels = self._levels(n, "levels", "level_counts", least=0 if any(rare) else 1)
        policies = self._values.get("policies", ["zero"] * n)
        listed = isinstance(policies, list) and len(policies) == n
        _check(listed and all(each in UNSEEN for each in policies), "wrong 'policies'")
        for own, shared in zip(levels, rare, strict=True):
            apart = not shared or {*own}.isdisjoint(shared)
            _check(bool(own or shared) and apart, "wrong levels")
        return [
            CategoryColumn(name, own, missing, shared, policy)
            for (name, missing), own, shared, policy in zip(
                columns, levels, rare, policies, strict=True
            )
        ]

    def _booleans(self, columns: list[tuple[str, bool]]) -> list[BooleanColumn]:
        if not columns:
            return []
        varies = self._flags("boolean_varies", len(columns)).astype(bool).tolist()
        for (name, missing), each in zip(columns, varies, strict=True):
            _check(each or missing, f"column {name!r} gives no number out")
        return [
            BooleanColumn(name, each, missing)
            for (name, missing), each in zip(columns, varies, strict=True)
        ]

    def _dates(self, columns: list[tuple[str, bool]]) -> list[DateColumn]:
        n = len(columns)
        if not n:
            return []
        means = self._floats("date_means", n * len(NUMBERS)).reshape(n, -1)
        scales = self._floats("date_scales", n * len(NUMBERS)).reshape(n, -1)
        _check(bool((scales >= 0).all()), "scales must be >= 0")
        flags = self._flags("date_cycles", n * sum(_CYCLE_SIZES)).reshape(n, -1)
        out = []
        for index, (name, missing) in enumerate(columns):
            cycles = np.split(flags[index], np.cumsum(_CYCLE_SIZES)[:-1])
            kept = tuple(tuple(np.flatnonzero(cycle).tolist()) for cycle in cycles)
            date = DateColumn(
                name, tuple(means[index].tolist()), tuple(scales[index].tolist()), kept, missing
            )
            _check(len(date.feature_names) > 0, f"column {name!r} gives no number out")
            out.append(date)
        return out

    def _text_columns(self, columns: list[tuple[str, bool]]) -> list[TextColumn]:
        if not columns:
            return []
        from separable.features.text.text_encoder import TextEncoder

        saved = self._values.get("texts")
        if not isinstance(saved, list) or len(saved) != len(columns):
            raise ValueError("The saved TableEncoder is damaged: wrong 'texts'.")
        out = []
        for index, (name, missing) in enumerate(columns):
            encoder = TextEncoder.from_parts(self._with_prefix(f"text/{index}/"), saved[index])
            out.append(TextColumn(name, encoder, missing))
        return out

    def pairs(self) -> list[PairColumn]:
        """Return the interactions."""
        saved = self._values.get("pairs", [])
        if not isinstance(saved, list) or not all(isinstance(each, dict) for each in saved):
            raise ValueError("The saved TableEncoder is damaged: wrong 'pairs'.")
        names = self._texts("names")
        made = []
        for index, values in enumerate(saved):
            axes = [
                axis
                for axis in Parts(self._with_prefix(f"pair/{index}/"), values).encoders()
                if isinstance(axis, (CurveColumn, CategoryColumn, BooleanColumn))
            ]
            _check(len(axes) == 2, "wrong pair")
            _check(all(each.name in names for each in axes), "a pair of unknown columns")
            made.append(PairColumn(*axes))
        return made

    def _with_prefix(self, prefix: str) -> dict[str, Any]:
        return {
            key.removeprefix(prefix): part
            for key, part in self._tensors.items()
            if key.startswith(prefix)
        }

    def dropped(self) -> dict[str, str]:
        """Return the dropped columns, with the reasons."""
        names, reasons = self._texts("dropped"), self._texts("dropped_reasons")
        _check(len(names) == len(reasons), "each dropped column needs a reason")
        return dict(zip(names, reasons, strict=True))

    def names_in(self) -> tuple[str, ...]:
        """Return the columns of the training table."""
        names = self._texts("names_in")
        used = {*self._texts("names"), *self._texts("dropped")}
        _check(set(names) == used and len(names) == len(used), "'names_in' must list the columns")
        return names

    def _levels(self, n_columns: int, key: str, counts_key: str, least: int) -> list[Sequence[str]]:
        levels, counts = self._packed(key), self._array(counts_key, "i", n_columns)
        fits = bool((counts >= least).all()) and sum(counts.tolist()) == len(levels)
        _check(fits, "wrong levels")
        stops = np.cumsum(counts).tolist()
        groups: list[Sequence[str]] = [
            levels.part(stop - count, stop) if count > EAGER_LEVELS else levels[stop - count : stop]
            for stop, count in zip(stops, counts.tolist(), strict=True)
        ]
        for group in groups:
            _check(all(a < b for a, b in pairwise(group)), "unsorted levels")
        return groups

    def _texts(self, key: str) -> tuple[str, ...]:
        return tuple(self._packed(key))

    def _packed(self, key: str) -> PackedTexts:
        value = self._tensors.get(key)
        if not is_texts(value):
            raise ValueError(f"The saved TableEncoder is damaged: {key!r} must be texts.")
        if isinstance(value, PackedTexts):
            return value
        assert isinstance(value, tuple)
        return PackedTexts(*pack_strings(value))

    def _flags(self, key: str, length: int) -> NDArray[Any]:
        flags = self._array(key, "u", length)
        _check(bool((flags <= 1).all()), f"{key!r} must hold 0 and 1")
        return flags

    def _floats(self, key: str, length: int) -> NDArray[Any]:
        floats = self._array(key, "f", length)
        _check(floats.dtype == np.float64 and bool(np.isfinite(floats).all()), f"{key!r} is wrong")
        return floats

    def _array(self, key: str, kind: str, length: int) -> NDArray[Any]:
        value = self._tensors.get(key)
        if (
            not isinstance(value, np.ndarray)
            or value.dtype.kind != kind
            or value.shape != (length,)
        ):
            raise ValueError(
                f"The saved TableEncoder is damaged: {key!r} must be an array of {length} numbers."
            )
        return value


def values_of(parameters: Mapping[str, Any], learned: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters and the JSON part of the fitted state as JSON values."""
    options = {
        name: _plain_option(parameters[name])
        for name in PARAMETERS
        if name in FIRST_PARAMETERS or parameters[name] is not None
    }
    values: dict[str, Any] = {"options": options, **learned}
    if parameters["conversions"]:
        values["requested_conversions"] = {
            name: _plain_conversion(requested(given, name))
            for name, given in parameters["conversions"].items()
        }
    if not parameters["scale"]:
        values["scale"] = False
    if parameters["min_count"] is not None:
        values["min_count"] = int(parameters["min_count"])
    unseen = parameters["unseen"]
    if parameters["curves"]:
        values["curves"] = True
    if parameters["interactions"]:
        values["interactions"] = [list(pair) for pair in parameters["interactions"]]
    for name in CONSTRAINTS:
        if parameters[name]:
            values[name] = [str(each) for each in parameters[name]]
    if unseen != "zero":
        values["unseen"] = unseen if isinstance(unseen, str) else dict(unseen)
    return values


def _plain_conversion(given: Any) -> dict[str, Any] | None:
    if isinstance(given, Conversion):
        return conversion_to_dict(given)
    return (
        None
        if given is None
        else {k: list(v) if isinstance(v, tuple) else v for k, v in given.items()}
    )


def _plain_option(given: Any) -> Any:
    """Return requested columns as JSON: a list, or a dict of their options."""
    if given is None:
        return None
    if not hasattr(given, "keys"):
        return list(given)
    return {name: _plain_settings(given[name]) for name in given}


def _plain_settings(settings: Any) -> Any:
    if settings is None:
        return None
    given = settings.get_params(deep=False) if hasattr(settings, "get_params") else settings
    plain = (type(None), bool, int, float, str)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if isinstance(value, plain)
        or (
            isinstance(value, (list, tuple))
            and len(value) <= EAGER_LEVELS  # the terms of a long vocabulary are tensors
            and all(isinstance(each, plain) for each in value)
        )
    }


def options_from_values(values: Values) -> dict[str, Any]:
    """Return the parameters of a saved encoder."""
    options = values.get("options")
    names = set(options) if isinstance(options, dict) else set()
    if not isinstance(options, dict) or not set(FIRST_PARAMETERS) <= names <= set(PARAMETERS):
        raise ValueError("The saved TableEncoder is damaged: wrong options.")
    for given in options.values():
        listed = isinstance(given, list) and all(isinstance(name, str) for name in given)
        mapped = isinstance(given, dict) and all(
            each is None or isinstance(each, dict) for each in given.values()
        )
        _check(given is None or listed or mapped, "options must be lists of names")
    conversions = values.get("requested_conversions")
    if conversions is not None:
        _check(isinstance(conversions, dict), "wrong conversions")
        conversions = {name: requested(given, name) for name, given in conversions.items()}
    scale = values.get("scale", True)
    _check(isinstance(scale, bool), "'scale' must be true or false")
    min_count = values.get("min_count")
    curves = values.get("curves", False)
    _check(isinstance(curves, bool), "'curves' must be true or false")
    interactions = pairs_of(values.get("interactions"))
    _check(min_count is None or type(min_count) is int, "'min_count' must be a whole number")
    unseen = values.get("unseen", "zero")
    named = unseen.values() if isinstance(unseen, dict) else [unseen]
    _check(all(each in UNSEEN for each in named), "wrong 'unseen'")
    constraints = {name: values.get(name) for name in CONSTRAINTS}
    for given in constraints.values():
        listed = isinstance(given, list) and all(isinstance(name, str) for name in given)
        _check(given is None or listed, "constraints must be lists of names")
    return {
        **options,
        **constraints,
        "conversions": conversions,
        "scale": scale,
        "min_count": min_count,
        "unseen": unseen,
        "curves": curves,
        "interactions": interactions or None,
    }


def _check(ok: bool, what: str) -> None:
    if not ok:
        raise ValueError(f"The saved TableEncoder is damaged: {what}.")
