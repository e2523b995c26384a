"""What one column shows by its values alone: that it is empty, constant, an identifier, a code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import first_rows, is_free_text, is_present
from separable.data.checks.text_columns import are_dates, are_mostly_numbers
from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import Look

__all__ = [
    "codes",
    "constant_columns",
    "empty_columns",
    "groups",
    "identifiers",
    "numbers_rows",
    "words_of",
]

#: A column with fewer values than this share of the rows is nearly empty.
NEARLY_EMPTY = 0.02

#: From so many rows and this share of different values on, texts are identifiers.
FEWEST, DIFFERENT = 50, 0.95

NOT_NUMBERS = (Categories, Booleans, Dates)

#: Words in a name by which its numbers are codes: no number is more or less than another.
CODE_WORDS = {"zip", "zipcode", "postcode", "postal", "plz", "code", "id", "uid", "phone", "fips"}
ID_WORDS = {"id", "uid", "uuid", "guid", "key", "index", "rowid", "rownames", "rowname", "number"}

#: Words in a name by which rows belong together.
GROUP_WORDS = {
    "patient", "subject", "user", "customer", "client", "person", "household", "family", "account",
    "session", "device", "author", "speaker", "student", "school", "player", "driver",
}  # fmt: skip


def words_of(name: str) -> set[str]:
    """Return the words of a column name: ``userId`` and ``user_id`` have the same two."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]{2,}", split.lower()))


def empty_columns(look: Look) -> Iterator[Finding]:
    """Find columns with hardly a value."""
    limit = NEARLY_EMPTY * look.n_rows
    counts = _counts(look)
    empty = tuple(name for name, count in counts.items() if not count)
    if empty and look.n_rows:
        yield Finding(
            "empty", "note", empty, (),
            f"No value at all in {listed(empty)}: nothing can be learned from it.",
            {"drop": empty},
        )  # fmt: skip
    for name, count in counts.items():
        if 0 < count < limit:
            rows = first_rows(is_present(look.parsed(name)))
            yield Finding(
                "nearly empty", "note", (name,), rows,
                f"{quoted(name)} has a value in {count} of {look.n_rows} rows only (first in data "
                f"row {rows[0] + 1}). Leave it out, unless that it is there at all says something.",
                {"drop": (name,)},
            )  # fmt: skip


def _counts(look: Look) -> dict[str, int]:
    """Return how many values each column has, in the order of the columns."""
    n_distinct: dict[str, int] = {}
    for block in look.numbers:
        counts = look.n_rows - np.isnan(block.values).sum(axis=1)
        n_distinct.update(zip(block.names, counts.tolist(), strict=True))
    return {
        name: n_distinct[name] if name in n_distinct else int(is_present(look.parsed(name)).sum())
        for name in look.names
    }


def constant_columns(look: Look) -> Iterator[Finding]:
    """Find columns with one value and nothing missing; nothing can be learned from them."""
    if look.n_rows < 2:
        return
    same = look.numbers_where(lambda values: (values == values[:, :1]).all(axis=1))
    numbers = {name for name, _ in same}
    others = {name for name, _ in look.of_type(*NOT_NUMBERS) if _is_constant(look, name)}
    names = tuple(name for name in look.names if name in numbers or name in others)
    if names:
        yield Finding(
            "constant", "note", names, (),
            f"The same value in every row of {listed(names)}: nothing can be learned from it.",
            {"drop": names},
        )  # fmt: skip


def _is_constant(look: Look, name: str) -> bool:
    column = look.parsed(name)
    values = column.codes if isinstance(column, Categories) else column.values
    return bool(is_present(column)[0]) and bool(np.all(values == values[0]))


def identifiers(look: Look) -> Iterator[Finding]:
    """Find columns that give each row a name or a number of its own."""
    if look.n_rows < FEWEST:
        return
    for name, column in look.of_type(Numbers, Categories):
        if isinstance(column, Numbers):
            if name in look.whole and numbers_rows(name, column.values):
                yield Finding(
                    "identifier", "warning", (name,), (),
                    f"{quoted(name)} numbers the rows: it means nothing for a new one, and where "
                    "rows are sorted it gives the target away. Leave it out.",
                    {"drop": (name,)},
                )  # fmt: skip
            continue
        n_present = int(np.count_nonzero(column.codes >= 0))
        different = n_present >= FEWEST and len(column.levels) >= DIFFERENT * n_present
        if different and not _says_more(column):
            yield Finding(
                "identifier", "note", (name,), (),
                f"{quoted(name)} is different in nearly every row ({len(column.levels)} texts in "
                f"{n_present} values, such as {quoted(column.levels[0])}): as a category nothing "
                "can be learned from it.",
                {"drop": (name,)},
            )  # fmt: skip


def _says_more(column: Categories) -> bool:
    """Whether texts that are all different are more than names of rows."""
    levels = column.levels
    return is_free_text(column) or are_dates(levels) or are_mostly_numbers(levels)


def numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Whether a column of numbers counts the rows, or is an identifier by name and values."""
    if not np.all(values == np.floor(values)):  # NaN among them too
        return False
    if np.all(np.diff(values) == 1):
        return True
    return bool(words_of(name) & ID_WORDS) and len(np.unique(values)) == len(values)


def codes(look: Look) -> Iterator[Finding]:
    """Find whole numbers that are names: zip codes and the like."""
    for name, column in look.of_type(Numbers):
        if name in look.typed_by_user or not words_of(name) & CODE_WORDS:
            continue
        values = column.values[~np.isnan(column.values)]
        whole = np.all(values == np.floor(values)) and np.all(values >= 0)
        levels = len(np.unique(values))
        if whole and words_of(name) == {"id"}:
            if levels > len(values) / 10 and not numbers_rows(name, column.values):
                yield _identifier_by_name(name)
            continue
        if whole and 2 < levels <= len(values) / 2:
            yield Finding(
                "code", "note", (name,), (),
                f"{quoted(name)} is called a code, but its values are taken as numbers: a larger "
                f"one would count for more. It has {levels} of them; take it as a category.",
                {"category": (name,)},
            )  # fmt: skip


def _identifier_by_name(name: str) -> Finding:
    return Finding(
        "identifier", "note", (name,), (),
        f"{quoted(name)} is an identifier by its name, but its values are taken as numbers. Leave "
        "it out; if rows that share it belong together, hold them out together.",
        {"drop": (name,)},
    )  # fmt: skip


def groups(look: Look) -> Iterator[Finding]:
    """Find columns by which rows belong together: held-out rows should be of other groups."""
    if "group" in look.split or look.n_rows < FEWEST:
        return
    for name, _ in look.of_type(Numbers, Categories):
        if not words_of(name) & GROUP_WORDS or not words_of(name) & ID_WORDS:
            continue
        levels = int(look.codes(name).max()) + 1
        if 5 <= levels <= len(look.sample) / 2:
            yield Finding(
                "group", "note", (name,), (),
                f"Rows share their {quoted(name)} ({levels} different in {len(look.sample)} rows). "
                "If new rows will come from others, hold whole groups out, so that the error "
                "measured is that of new ones.",
                {"group": (name,)},
            )  # fmt: skip
