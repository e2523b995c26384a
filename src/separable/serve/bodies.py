"""Bodies of requests as raw rows: JSON, JSON lines, CSV, Arrow, and the four bodies of MLflow."""

from __future__ import annotations

import io
import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from separable.data.table import TableError
from separable.serve.answers import Refusal, Request

if TYPE_CHECKING:
    from separable.data.table import ColumnType
    from separable.serve.served_model import ServedModel

__all__ = ["ARROW_TYPES", "CSV_TYPE", "LINES_TYPES", "body_of", "decoded_json", "rows_of"]

CSV_TYPE = "text/csv"
LINES_TYPES = ("application/x-ndjson", "application/jsonl", "application/jsonlines")
ARROW_TYPES = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
JSON_TYPES = ("application/json", "application/octet-stream", "text/json")

#: An Arrow file begins with a mark; its stream follows, and the table of its parts.
ARROW_MAGIC, ARROW_START = b"ARROW1", 8
#: Types of messages with buffers.
DICTIONARY_BATCH, RECORD_BATCH = 2, 3

#: Content types of MLflow's scoring server.
INPUTS_OF_MLFLOW = ("application/json", CSV_TYPE)

#: Keys of MLflow's bodies; a record with such a column is sent as a list of one record.
SPLIT, RECORDS, INSTANCES, INPUTS = "dataframe_split", "dataframe_records", "instances", "inputs"


def body_of(data: bytes, encoding: str, most: int) -> bytes:
    """Return a body, decompressed within a limit.

    Parameters
    ----------
    data : bytes
    encoding : str
        The header Content-Encoding.
    most : int
        Maximum number of bytes.
    """
    if encoding in ("", "identity"):
        return data
    if encoding not in ("gzip", "deflate"):
        raise Refusal(415, f"Content-Encoding {encoding[:40]!r} is not supported. Use gzip.")
    inflater = zlib.decompressobj(wbits=47 if encoding == "gzip" else 15)
    try:
        whole = inflater.decompress(data, most + 1)
    except zlib.error:
        raise Refusal(400, f"The body is not valid {encoding}. Compress it again.") from None
    if len(whole) > most:
        raise too_large(most)
    if not inflater.eof:
        raise Refusal(400, f"The {encoding} body ends early. Send it whole.")
    return whole


def too_large(most: int) -> Refusal:
    """Return the refusal of a body above the limit."""
    return Refusal(413, f"The body has more than {most} bytes. Send fewer rows at a time.")


def rows_of(request: Request, served: ServedModel) -> Any:
    """Return the rows of a request: a list of records, or a table by columns."""
    kind = request.media_type
    if kind == CSV_TYPE:
        return _table(request.body, served)
    if kind in LINES_TYPES:
        return _records(_json_lines(request.body))
    if kind in ARROW_TYPES:
        return _arrow(request.body)
    if kind in JSON_TYPES:
        return _of_json(decoded_json(request.body), served)
    raise Refusal(
        415,
        f"Content-Type {kind[:80]!r} is not supported. Use application/json, application/x-ndjson, "
        f"{CSV_TYPE} or {ARROW_TYPES[0]}.",
    )


def decoded_json(body: bytes) -> Any:
    """Return the value of a JSON body; NaN, which clients of MLflow send, is null."""
    try:
        try:
            return msgspec.json.decode(body)
        except msgspec.DecodeError:
            if b"NaN" not in body:
                raise
            return json.loads(body, parse_constant=_constant)
    except (msgspec.DecodeError, ValueError) as error:
        raise Refusal(400, f"The body is not valid JSON: {error!s:.200}.") from None
    except RecursionError:
        raise Refusal(400, "The JSON of the body is nested too deeply.") from None


def _constant(name: str) -> float | None:
    return None if name == "NaN" else float(name)


def _json_lines(body: bytes) -> list[Any]:
    return [decoded_json(line) for line in body.splitlines() if line.strip()]


def _of_json(value: Any, served: ServedModel) -> Any:
    """Return records, columns, a single record, or one of MLflow's bodies as rows."""
    if isinstance(value, list):
        return _listed(value, served)
    if not isinstance(value, dict):
        raise Refusal(400, 'The body must be a record, a list of records, or {"columns": {...}}.')
    if isinstance(value.get(SPLIT), dict):
        return _split(value[SPLIT])
    for key in (RECORDS, "records", INSTANCES):
        if isinstance(value.get(key), list):
            return _listed(value[key], served)
    for key in (INPUTS, "columns"):
        if isinstance(value.get(key), dict):
            return _columns(value[key])
    if isinstance(value.get(INPUTS), list):
        return _listed(value[INPUTS], served)
    return [value]


def _listed(rows: list[Any], served: ServedModel) -> list[dict[str, Any]]:
    """Return records; lists of values are in the order of the model's columns."""
    if rows and isinstance(rows[0], list):
        return _by_position(rows, served)
    if rows and served.columns is not None and len(served.columns) == 1 and not _are_records(rows):
        return [{served.columns[0].name: value} for value in rows]
    return _records(rows)


def _are_records(rows: list[Any]) -> bool:
    return all(isinstance(row, dict) for row in rows)


def _records(rows: list[Any]) -> list[dict[str, Any]]:
    if not rows:
        raise Refusal(400, "The body has no rows.")
    if not _are_records(rows):
        index = next(i for i, row in enumerate(rows) if not isinstance(row, dict))
        raise Refusal(400, "It must be an object with one key per column.", row=index)
    return rows


def _by_position(rows: list[Any], served: ServedModel) -> list[dict[str, Any]]:
    if served.columns is None:
        raise Refusal(400, "This model reads records with names: send objects, not lists.")
    names = [column.name for column in served.columns]
    odd = next((i for i, row in enumerate(rows) if _width(row) != len(names)), None)
    if odd is not None:
        raise Refusal(
            400, f"It has {_width(rows[odd])} values and the model {len(names)} columns.", row=odd
        )
    return [dict(zip(names, row, strict=True)) for row in rows]


def _width(row: Any) -> int:
    return len(row) if isinstance(row, list) else -1


def _split(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return MLflow's dataframe_split as records; its index is not a column."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list):
        raise Refusal(400, f"{SPLIT} needs the lists columns and data.")
    odd = next((i for i, row in enumerate(rows) if _width(row) != len(names)), None)
    if odd is not None:
        raise Refusal(
            400, f"{SPLIT} has {len(names)} columns and a row of another length.", row=odd
        )
    return _records([dict(zip(map(str, names), row, strict=True)) for row in rows])


def _columns(columns: dict[str, Any]) -> dict[str, list[Any]]:
    lengths = {len(each) for each in columns.values() if isinstance(each, list)}
    if len(lengths) != 1 or not all(isinstance(each, list) for each in columns.values()):
        raise Refusal(400, "Every column must be a list, all of the same length.")
    if lengths == {0}:
        raise Refusal(400, "The body has no rows.")
    return columns


def _table(body: bytes, served: ServedModel) -> Any:
    """Return CSV as a table; if a cell is not of the type of its column, as texts."""
    from separable.data import read

    types = served.column_types
    try:
        return read(io.BytesIO(body), format="csv", column_types=types).table
    except TableError as error:
        if types is None or error.column is None:
            raise
        texts: dict[str, ColumnType] = dict.fromkeys(types, "category")
        return read(io.BytesIO(body), format="csv", column_types=texts).table


def _arrow(body: bytes) -> Any:
    """Return the table of an Arrow IPC stream, or of a file, which is a stream between marks."""
    import pyarrow as pa

    data = body[ARROW_START:] if body.startswith(ARROW_MAGIC) else body
    try:
        messages = pa.ipc.MessageReader.open_stream(pa.BufferReader(data))
        if any(_has_compressed_buffers(message.metadata.to_pybytes()) for message in messages):
            raise Refusal(
                415, "The Arrow buffers are compressed. Send them as they are, or the body as gzip."
            )
        table = pa.ipc.open_stream(pa.BufferReader(data)).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, IndexError, struct.error):
        raise Refusal(400, "The body is not an Arrow IPC stream or file.") from None
    return table


def _has_compressed_buffers(message: bytes) -> bool:
    """Return whether a message has compressed buffers, which could inflate beyond every limit."""
    kind = _field(message, _target(message, 0), 1)
    header = _field(message, _target(message, 0), 2)
    if kind is None or header is None or message[kind] not in (DICTIONARY_BATCH, RECORD_BATCH):
        return False
    batch = _target(message, header)
    if message[kind] == DICTIONARY_BATCH:
        data = _field(message, batch, 1)
        if data is None:
            return False
        batch = _target(message, data)
    return _field(message, batch, 3) is not None


def _target(message: bytes, place: int) -> int:
    """Return where an offset of a flatbuffer points."""
    return int(place + struct.unpack_from("<I", message, place)[0])


def _field(message: bytes, table: int, number: int) -> int | None:
    """Return the place of a field of a table of a flatbuffer; None if it is absent."""
    entries = table - struct.unpack_from("<i", message, table)[0]
    size = struct.unpack_from("<H", message, entries)[0]
    if 4 + 2 * number >= size:
        return None
    offset = struct.unpack_from("<H", message, entries + 4 + 2 * number)[0]
    return int(table + offset) if offset else None
