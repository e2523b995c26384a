"""Calls of pyarrow's CSV parser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from separable.data.io.csv.dialect import Dialect

__all__ = ["BLOCK_BYTES", "parse", "parse_texts"]

#: Minimum bytes parsed at a time.
BLOCK_BYTES = 1 << 20

#: Minimum per column: each block makes a chunk of every column, which has a fixed cost.
_BLOCK_BYTES_OF_COLUMN = 256

#: Minimum bytes of a column to be worth a thread task.
_BYTES_FOR_THREADS = 1024

_LARGEST_BLOCK = (1 << 31) - 1


def parse_texts(
    data: bytes,
    names: Sequence[str],
    dialect: Dialect,
    *,
    start: int = 0,
    skip: bool = False,
    only: Sequence[str] | None = None,
    strip: tuple[bool, bool] = (True, True),
) -> tuple[pa.Table, int]:
    """Parse columns as text, without missing markers. See `parse`."""
    import pyarrow as pa

    types: dict[str, pa.DataType] = dict.fromkeys(names if only is None else only, pa.string())
    return parse(data, names, dialect, types, (), start=start, skip=skip, strip=strip)


def parse(
    data: bytes,
    names: Sequence[str],
    dialect: Dialect,
    types: Mapping[str, pa.DataType],
    null_values: Sequence[str],
    *,
    start: int = 0,
    skip: bool = False,
    strip: tuple[bool, bool] = (True, True),
) -> tuple[pa.Table, int]:
    """Parse a text of rows.

    Parameters
    ----------
    data : bytes
    names : sequence of str
        Names of all columns.
    dialect : Dialect
    types : mapping of str to pyarrow.DataType
        Columns to keep, with their types.
    null_values : sequence of str
        Missing markers of columns other than text.
    start : int
        Offset at which rows begin.
    skip : bool
        Whether to skip rows of the wrong width.
    strip : (bool, bool)
        With a single column: whether empty lines at the start and at the end are not values.

    Returns
    -------
    table : pyarrow.Table
    skipped : int
        Number of skipped rows.
    """
    import pyarrow as pa

    if len(names) == 1:  # an empty line is a value, except around the table
        data, start = data[start:], 0
        data = data.lstrip(b"\r\n") if strip[0] else data
        data = data.rstrip(b"\r\n") if strip[1] else data
    if start >= len(data):
        return pa.schema(list(types.items())).empty_table(), 0
    call = _Call(data, start, list(names), dialect, types, null_values, skip)
    try:
        size = max(BLOCK_BYTES, _BLOCK_BYTES_OF_COLUMN * len(names))
        return call.table(min(size, _LARGEST_BLOCK)), call.skipped
    except pa.ArrowInvalid as error:
        if "straddl" not in str(error):
            raise
    try:
        return call.table(min(len(data), _LARGEST_BLOCK)), call.skipped  # a very long line
    except OverflowError as error:
        raise pa.ArrowInvalid(str(error)) from None


@dataclass
class _Call:
    """A parser call that can be retried with larger blocks."""

    data: bytes
    start: int
    names: list[str]
    dialect: Dialect
    types: Mapping[str, pa.DataType]
    null_values: Sequence[str]
    skip: bool
    skipped: int = 0

    def table(self, block_bytes: int) -> pa.Table:
        import pyarrow as pa
        from pyarrow import csv

        self.skipped = 0
        dialect = self.dialect
        keys = [str(number) for number in range(len(self.names))]
        key_of = dict(zip(self.names, keys, strict=True))
        kept = {key_of[name]: kind for name, kind in self.types.items()}
        quotes = dialect.quoting and self.data.find(b'"', self.start) >= 0
        return csv.read_csv(
            pa.BufferReader(pa.py_buffer(self.data).slice(self.start)),  # type: ignore[arg-type]
            read_options=csv.ReadOptions(
                column_names=keys,
                block_size=block_bytes,
                use_threads=len(self.data) > _BYTES_FOR_THREADS * len(keys),
            ),
            parse_options=csv.ParseOptions(
                delimiter=dialect.delimiter,
                quote_char='"' if dialect.quoting else False,
                newlines_in_values=quotes,
                ignore_empty_lines=len(keys) > 1,
                invalid_row_handler=self._skipping if self.skip else None,
            ),
            convert_options=csv.ConvertOptions(
                column_types=kept,
                include_columns=list(kept),
                null_values=list(self.null_values),
                strings_can_be_null=False,
                decimal_point=dialect.decimal,
            ),
        ).rename_columns(list(self.types))

    def _skipping(self, _: Any) -> Literal["skip"]:
        self.skipped += 1
        return "skip"
