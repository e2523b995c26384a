"""The first pass over raw rows on a cluster: an encoder fitted by exact merge, and the classes."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import floats, nulls, one_chunk
from separable.data.columns import as_columns
from separable.data.table import CellError, TableError
from separable.errors import InputError, Option
from separable.features.table.table_encoder import TableEncoder
from separable.spark.cluster_jobs import collected, partition_results
from separable.workflow.target import column_of_classes, column_of_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from separable.spark.cluster_jobs import Frame
    from separable.typing import Floats

__all__ = ["RowSource", "Survey", "TargetCodes", "at_row", "survey"]

#: Rows from which the types of text columns are inferred, once for all partitions.
FIRST_ROWS = 10_000
#: Levels of a target that are counted in a partition.
MOST_CLASSES = 10_000


@dataclass(frozen=True)
class RowSource:
    """How the rows of a DataFrame are read; every task gets it.

    Parameters
    ----------
    target : str
    task : "classification" or "regression"
    weight : str, optional
        Column of row weights; rows of weight 0 are left out.
    vector : str, optional
        Column of vectors (``VectorUDT``), the features themselves, instead of an encoder.
    apart : tuple of str
        Columns that are no features: target, weight, key and folds.
    skips_missing : bool
        Whether rows without a target are left out; otherwise they are refused.
    """

    target: str
    task: str
    weight: str | None = None
    vector: str | None = None
    apart: tuple[str, ...] = ()
    skips_missing: bool = False

    def features(self, table: pa.Table) -> pa.Table:
        """Return the columns of features."""
        return table.drop_columns([name for name in self.apart if name in table.column_names])

    def chosen(self, frame: Frame, *, with_features: bool = True) -> Frame:
        """Return a frame without columns that nothing reads: converting them costs a job most."""
        if self.vector is None:
            return frame
        names = [self.vector] * with_features + [
            name for name in self.apart if name in frame.columns
        ]
        return frame.select(*dict.fromkeys(names))

    def has_target(self, table: pa.Table, first: int) -> NDArray[np.bool_]:
        """Return which rows have a target and a weight above 0."""
        column = one_chunk(table[self.target])
        is_present = ~nulls(column)
        if column.type.id in _float_types():
            is_present &= ~np.isnan(floats(column))
        if not self.skips_missing and not is_present.all():
            row = int(np.flatnonzero(~is_present)[0])
            raise CellError(
                self.target,
                first + row,
                "the target is missing. Drop such rows: df.dropna(subset=",
                f"[{self.target!r}]).",
            )
        weight = self.weights(table, first)
        return is_present if weight is None else is_present & (weight > 0)

    def weights(self, table: pa.Table, first: int) -> Floats | None:
        """Return the checked weights of all rows."""
        if self.weight is None:
            return None
        values = column_of_numbers(as_columns(table.select([self.weight])), self.weight)
        odd = np.flatnonzero(~(values >= 0) | np.isinf(values))
        if len(odd):
            raise CellError(
                self.weight, first + int(odd[0]), f"a weight must be >= 0. Got {values[odd[0]]:g}."
            )
        return values


def _float_types() -> set[int]:
    import pyarrow as pa

    return {pa.float32().id, pa.float64().id}


@dataclass(frozen=True)
class TargetCodes:
    """The target as numbers: values, or codes of the sorted classes.

    Parameters
    ----------
    classes : ndarray or None
        None in regression.
    levels : pyarrow.Array or None
        Every value of the column.
    codes : ndarray or None
        The class of each level.
    """

    classes: NDArray[Any] | None = None
    levels: Any = None
    codes: NDArray[np.int32] | None = None

    @classmethod
    def of_levels(cls, name: str, levels: Any) -> TargetCodes:
        """Return the codes of classification, from all values of the column."""
        import pyarrow as pa

        labels = column_of_classes(as_columns(pa.table({name: levels})), name)
        classes, codes = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise TableError(
                f"The target column {name!r} holds a single class, {classes[0]!r}, in all rows. A "
                "classifier needs at least two classes."
            )
        return cls(classes, levels, codes.astype(np.int32))

    def of(self, column: Any, name: str) -> NDArray[np.int32] | Floats:
        """Return the numbers of a column without missing values."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.classes is None:
            return column_of_numbers(as_columns(pa.table({name: column})), name)
        assert self.codes is not None
        level = pc.index_in(one_chunk(column), value_set=self.levels)
        if level.null_count:
            raise ValueError(
                f"The target column {name!r} has other values than in the pass before. The "
                "DataFrame gives other rows each time it is computed: write it to files, or "
                "checkpoint it."
            )
        codes: NDArray[np.int32] = self.codes[level.to_numpy(zero_copy_only=False)]
        return codes


@dataclass(frozen=True)
class Survey:
    """What the first pass over the raw rows finds.

    Parameters
    ----------
    encoder : TableEncoder or None
        Fitted to all rows; None: the features are vectors.
    target : TargetCodes
    n_rows : int
        Rows that are learned from.
    missing : int
        Rows left out because they have no target, or weight 0.
    n_partitions : int
        Those that have rows.
    """

    encoder: TableEncoder | None
    target: TargetCodes
    n_rows: int
    missing: int
    n_partitions: int = 1


def survey(frame: Frame, source: RowSource, encoder: TableEncoder | None) -> Survey:
    """Return the encoder of all rows, and the levels of the target, in one job."""
    template = None
    if encoder is not None and encoder.curves:
        raise ValueError(
            "On Spark there are no curves: they need the numbers of all rows in memory. Leave out "
            "curves=True, or fit a pipeline with curves to a sample, df.sample(0.01).toArrow()."
        )
    if source.vector is None:
        template = _with_types(encoder or TableEncoder(), frame, source)
    rows = source.chosen(frame, with_features=False)
    found = list(partition_results(rows, partial(_survey_partition, source, template)).values())
    n_rows = sum(each["rows"] for each in found)
    missing = sum(each["missing"] for each in found)
    if not n_rows:
        raise TableError(
            f"The DataFrame has no row with a target {source.target!r} "
            f"({missing} rows without one)."
        )
    target = TargetCodes()
    if source.task == "classification":
        target = TargetCodes.of_levels(source.target, _all_levels(found, source.target))
    fitted = None
    if template is not None:
        parts = [each["encoder"] for each in found if each["encoder"] is not None]
        fitted = parts[0]
        for part in parts[1:]:
            fitted = fitted.merge(part)
        fitted.set_params(**template.get_params(deep=False))
        fitted.feature_names  # noqa: B018  # raises if no column is left
    return Survey(fitted, target, n_rows, missing, len(found))


def _with_types(encoder: TableEncoder, frame: Frame, source: RowSource) -> TableEncoder:
    """Return an encoder that reads text columns alike in all partitions.

    The first rows decide, as they do in a stream.
    """
    first = source.features(collected(frame.limit(FIRST_ROWS)))
    if not first.num_columns:
        raise TableError(
            f"There is no feature column: the DataFrame has {', '.join(frame.columns)} only."
        )
    if not first.num_rows:
        raise TableError("The DataFrame has no rows.")
    guess = TableEncoder(**encoder.get_params(deep=False))
    guess.partial_fit(first)
    try:
        types, conversions = guess.columns_, guess.conversions_
    except TableError:  # all of them constant so far
        return TableEncoder(**encoder.get_params(deep=False))
    import pyarrow.types as kinds

    given = {name: getattr(encoder, name) for name in ("category", "date", "text", "boolean")}
    known = {str(name) for names in given.values() for name in names or ()}
    known |= {str(name) for name in (*(encoder.number or ()), *(encoder.drop or ()))}
    chosen: dict[str, dict[str, Any]] = {kind: _options(names) for kind, names in given.items()}
    for row in types:
        own = first.schema.field(row.column).type
        is_text = kinds.is_string(own) or kinds.is_large_string(own)
        if is_text and row.column not in {*known, *conversions} and row.type in chosen:
            chosen[row.type][row.column] = {}
    settled = {kind: names or None for kind, names in chosen.items()}
    settled["conversions"] = {**conversions, **(encoder.conversions or {})} or None
    return TableEncoder(**{**encoder.get_params(deep=False), **settled})


def _options(names: Any) -> dict[str, Any]:
    """Return columns, a sequence or a mapping, with their options."""
    return dict(names) if isinstance(names, Mapping) else {name: {} for name in names or ()}


def _survey_partition(
    source: RowSource, template: TableEncoder | None, batches: Iterator[pa.RecordBatch]
) -> dict[str, Any] | None:
    """Return encoder, levels of the target and counts of a partition."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoder = None if template is None else TableEncoder(**template.get_params(deep=False))
    started, rows, first = False, 0, 0
    levels: list[Any] = []
    for batch in batches:
        table = pa.Table.from_batches([batch])
        kept = source.has_target(table, first)
        chosen = table if kept.all() else table.filter(pa.array(kept))
        if chosen.num_rows:
            if encoder is not None:
                with at_row(first):
                    encoder.partial_fit(source.features(chosen))
                started = True
            if source.task == "classification":
                levels.append(pc.unique(one_chunk(chosen[source.target])))
                levels = [pc.unique(pa.concat_arrays(levels))]
                if len(levels[0]) > MOST_CLASSES:
                    raise TableError(
                        f"The target column {source.target!r} has more than {MOST_CLASSES} "
                        "different values. For numbers use ",
                        Option("task", "regression"),
                        ".",
                    )
        rows, first = rows + chosen.num_rows, first + table.num_rows
    if not first:
        return None
    return {
        "encoder": encoder if started else None,
        "levels": levels[0] if levels else None,
        "rows": rows,
        "missing": first - rows,
    }


def _all_levels(found: list[dict[str, Any]], name: str) -> Any:
    """Return the sorted values of the target in all partitions."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [each["levels"] for each in found if each["levels"] is not None]
    levels = pc.unique(pa.concat_arrays(parts))
    if len(levels) > MOST_CLASSES:
        raise TableError(
            f"The target column {name!r} has {len(levels)} different values. For numbers use ",
            Option("task", "regression"),
            ".",
        )
    return levels.take(pc.sort_indices(levels))


@contextmanager
def at_row(first: int) -> Iterator[None]:
    """Turn rows of a batch into rows of the partition, in errors."""
    try:
        yield
    except InputError as error:
        if error.row is None:
            raise
        raise error.at(row=first + error.row) from None
