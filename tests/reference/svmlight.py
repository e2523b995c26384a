"""svmlight text, line by line, with regular expressions and Python's own numbers."""

from __future__ import annotations

import re

BLANK = rb"[ \t\r\v\f]"
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NO_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
LARGEST = 2**62


class RefusedError(Exception):
    pass


def read(data, index_base="auto", n_features=None, labels="auto", skip=False):
    """Return rows [(label, qid, {column: value})] and [(line, kind)] of the lines refused."""
    rows, refused = [], []
    base = 0 if index_base == "auto" else index_base
    highest = LARGEST if n_features is None else n_features - 1 + (index_base != 0)
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, start=1):
        tokens = re.sub(BLANK, b" ", line.split(b"#")[0]).split(b" ")
        tokens = [token for token in tokens if token]
        if not tokens:
            continue
        try:
            rows.append(read_line(tokens, base, highest, labels))
        except RefusedError as reason:
            refused.append((number, str(reason)))
            if not skip:
                return rows, refused
    if index_base == "auto" and not any(0 in columns for _, _, columns in rows):
        base = 1
        rows = [(a, q, {j - 1: x for j, x in columns.items()}) for a, q, columns in rows]
    elif index_base == 1:
        rows = [(a, q, {j - 1: x for j, x in columns.items()}) for a, q, columns in rows]
    return rows, refused


def read_line(tokens, base, highest, labels):
    label = tokens[0]
    kind = label_kind(label, labels)
    if kind == "none":
        label, tokens = b"", [b"", *tokens]
    qid, rest = -1, tokens[1:]
    if rest and rest[0].startswith(b"qid:"):
        qid, rest = read_qid(rest[0]), rest[1:]
    pairs = [read_pair(token, base, highest) for token in rest]
    columns = [column for column, _ in pairs]
    for token in rest:
        if columns.count(int(token.split(b":")[0])) > 1:
            raise RefusedError("column_twice")
    return (float(label) if kind == "number" else label.decode()), qid, dict(pairs)


def label_kind(label, labels):
    if labels != "text":
        if NUMBER.fullmatch(label):
            refuse(abs(float(label)) == float("inf"), label, "label_not_finite")
            return "number"
        refuse(NO_NUMBER.fullmatch(label), label, "label_not_finite")
    if b":" in label:
        refuse(labels != "text", label, "label_missing")
        return "none"
    refuse(b"\0" in label, label, "nul_byte")
    refuse(labels == "number", label, "label_no_number")
    try:
        label.decode()
    except UnicodeDecodeError:
        raise RefusedError("not_utf8") from None
    return "text"


def read_qid(token):
    qid = token[4:]
    refuse(not re.fullmatch(rb"\d+", qid) or int(qid) > LARGEST, token, "qid_no_number")
    return int(qid)


def read_pair(token, base, highest):
    match = re.match(rb"(-?)(\d+):", token)
    refuse(not match, token, "pair_malformed")
    refuse(match[1], token, "column_negative")
    column = int(match[2])
    refuse(column > LARGEST, token, "column_too_large")
    refuse(column < base, token, "column_below_base")
    refuse(column > highest, token, "column_outside")
    value = token[match.end() :]
    refuse(NO_NUMBER.fullmatch(value), value, "value_not_finite")
    refuse(not NUMBER.fullmatch(value), value, "value_malformed")
    refuse(abs(float(value)) == float("inf"), value, "value_too_large")
    return column, float(value)


def refuse(when, token, kind):
    if when:
        raise RefusedError("nul_byte" if b"\0" in token else kind)
