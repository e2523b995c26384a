"""Checks of single columns: empty, constant, identifier, numeric code, group, and text columns.

Texts may be nearly numeric, have inconsistent spelling or wrong encoding.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.arrow_arrays import nulls, strings
from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import first_rows, is_free_text, is_present, numbers_in
from separable.data.columns import Categories, Numbers
from separable.data.ingest.dates import Booleans, Dates
from separable.data.table import is_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import TableView

__all__ = [
    "are_dates",
    "are_mostly_numbers",
    "codes",
    "constant_columns",
    "counts_rows",
    "empty_columns",
    "groups",
    "identifiers",
    "identifies_rows",
    "mixed_types",
    "mojibake",
    "names_rows",
    "numbers_rows",
    "spellings",
    "words_of",
]

#: Minimum fraction of numbers in a nearly numeric column.
NUMERIC_FRACTION = 0.9

#: Maximum levels compared by spelling; more are identifiers or free text.
MAX_LEVELS = 10_000

#: Distinct texts searched for encoding errors.
MAX_TEXTS = 100_000

#: UTF-8 read as Latin-1 or Windows-1252; Windows-1252 read as Latin-1; replacement characters.
MOJIBAKE = (
    "\u00c3[\u0080-\u00bf\u0152\u0153\u0178]|\u00e2\u20ac[\u009d\u00a2\u00a6\u0153\u2013-\u201d\u2122]"
    "|\u00c2[\u00a0\u00a3\u00a9\u00ab\u00ae\u00b0\u00b7\u00bb]|[\u0080-\u0084\u0086-\u009f]|\ufffd"
)

#: Common date formats other than ISO.
DATES = (
    r"\d{1,2}/\d{1,2}/\d{2,4}( \d{1,2}:\d\d.*)?",
    r"\d{1,2}\.\d{1,2}\.\d{2,4}( \d{1,2}:\d\d.*)?",
    r"\d{4}/\d{1,2}/\d{1,2}( \d{1,2}:\d\d.*)?",
    r"\d{1,2}[- ][A-Za-z]{3,9}[- ]\d{2,4}.*",
    r"[A-Za-z]{3,9}\.? \d{1,2},? \d{4}.*",
)


def mixed_types(view: TableView) -> Iterator[Finding]:
    """Find text columns that are numeric except for a few values or commas."""
    for name, column in view.of_type(Categories):
        if name in view.given_types or name in view.guesses:
            continue
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        total = int(counts.sum())
        if not total or not are_mostly_numbers(column.levels):
            continue
        alike = np.array([is_number(level.replace(",", "")) for level in column.levels], bool)
        if counts[alike].sum() < NUMERIC_FRACTION * total:
            continue
        odd = np.array([not is_number(level) for level in column.levels] + [False])
        rows = first_rows(odd[column.codes])
        if rows:
            yield _mixed(name, column, int(np.count_nonzero(odd[column.codes])), total, rows)


def are_mostly_numbers(levels: tuple[str, ...]) -> bool:
    """Return whether a sample of the levels is mostly numeric; a quick test."""
    sample = levels[:: max(1, len(levels) // 200)]
    return sum(is_number(level.replace(",", "")) for level in sample) * 3 >= len(sample)


def _mixed(name: str, column: Categories, count: int, total: int, rows: tuple[int, ...]) -> Finding:
    first = column.levels[column.codes[rows[0]]]
    are = "is not a plain number" if count == 1 else "are not plain numbers"
    return Finding(
        "mixed types", "warning", (name,), rows,
        f"{quoted(name)} is read as text because {count} of its {total} values {are} (first "
        f"{quoted(first)} in data row {rows[0] + 1}). Write numbers as 1234.5 and leave missing "
        "ones empty; or keep it as a category.",
        {"category": (name,)},
    )  # fmt: skip


def spellings(view: TableView) -> Iterator[Finding]:
    """Find levels that differ only in whitespace or case."""
    columns = dict(view.of_type(Categories))
    for name, column in columns.items():
        if len(column.levels) <= MAX_LEVELS and not is_free_text(column):
            where = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
            levels = [v for v, count in zip(column.levels, where, strict=True) if count]
            yield from _same_levels(name, levels, len(column.codes), "note")
    target = view.target
    if target is not None and target.values is None and len(target.labels) <= MAX_LEVELS:
        yield from _same_levels(target.name, list(target.labels), view.n_rows, "warning")


def _same_levels(name: str, levels: list[str], n_rows: int, severity: Any) -> Iterator[Finding]:
    if 2 * len(levels) > n_rows:
        return
    same: dict[str, list[str]] = {}
    for level in levels:
        same.setdefault(" ".join(level.split()).casefold(), []).append(level)
    twice = [group for group in same.values() if len(group) > 1]
    if twice:
        more = f", and {len(twice) - 1} more" if len(twice) > 1 else ""
        yield Finding(
            "spellings", severity, (name,), (),
            f"{quoted(name)} has levels that differ only in whitespace or case: "
            f"{listed(twice[0])}{more}. They count as different levels: use one spelling.",
        )  # fmt: skip


def mojibake(view: TableView) -> Iterator[Finding]:
    """Find characters that come from a wrong encoding."""
    from pyarrow import compute

    for name, column in view.of_type(Categories):
        if not column.levels:
            continue
        sample = list(column.levels[:MAX_TEXTS])
        matches: Any = compute.match_substring_regex(strings(sample), MOJIBAKE)
        odd = np.zeros(len(column.levels) + 1, bool)
        odd[: len(sample)] = _as_mask(matches)
        bad = odd[column.codes]
        rows = first_rows(bad)
        if rows:
            text = column.levels[column.codes[rows[0]]]
            yield Finding(
                "encoding", "note", (name,), rows,
                f"{quoted(name)} has letters in {int(np.count_nonzero(bad))} rows"
                f"{' or more' * (len(sample) < len(column.levels))} that look like "
                f"another encoding (first in data row {rows[0] + 1}: {_around(text)}). They "
                "count as other words. Export the file again as UTF-8, or name its encoding with "
                "--encoding.",
            )  # fmt: skip


def _as_mask(matches: Any) -> NDArray[np.bool_]:
    from separable.data.arrow_arrays import bits

    return bits(matches, 1) & ~nulls(matches)


def _around(text: str) -> str:
    """Return the suspicious characters with their surroundings."""
    match = re.search(MOJIBAKE, text)
    start = max(match.start() - 12, 0) if match else 0
    return quoted(text[start : start + 24])


def are_dates(levels: tuple[str, ...]) -> bool:
    """Return whether a sample of the texts has one of the formats of `DATES`."""
    sample = levels[:: max(1, len(levels) // 100)]
    patterns = (pattern for pattern in DATES if re.fullmatch(pattern, levels[0])) if sample else ()
    return len(sample) > 2 and any(
        all(re.fullmatch(pattern, level) for level in sample) for pattern in patterns
    )


#: A column with values in less than this fraction of rows is nearly empty.
NEARLY_EMPTY = 0.02

#: Minimum rows, and minimum fraction of distinct values, of an identifier.
FEWEST, DIFFERENT = 50, 0.95

NOT_NUMBERS = (Categories, Booleans, Dates)

#: Words in a name that mark its numbers as nominal codes.
CODE_WORDS = {"zip", "zipcode", "postcode", "postal", "plz", "code", "id", "uid", "phone", "fips"}
ID_WORDS = {"id", "uid", "uuid", "guid", "key", "index", "rowid", "rownames", "rowname", "number"}

#: Words in the name of a row number.
ROW_WORDS = {*ID_WORDS, "row", "nr", "no", "num", "line", "case", "obs", "observation", "unnamed"}

#: Name of the first column of a file, if it has none.
FIRST_UNNAMED = "c1"

#: Most rows that may be missing from a column with the name of a row number, as a fraction.
MOST_GAPS = 0.5

#: Words in a name that mark a grouping of rows.
GROUP_WORDS = {
    "patient", "subject", "user", "customer", "client", "person", "household", "family", "account",
    "session", "device", "author", "speaker", "student", "school", "player", "driver",
}  # fmt: skip

#: Minimum rows: with fewer, two columns may agree by chance.
MIN_ROWS = 20


def words_of(name: str) -> set[str]:
    """Return the words of a column name: ``userId`` and ``user_id`` have the same two."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]{2,}", split.lower()))


def empty_columns(view: TableView) -> Iterator[Finding]:
    """Find columns with few or no values."""
    limit = NEARLY_EMPTY * view.n_rows
    counts = _counts(view)
    empty = tuple(name for name, count in counts.items() if not count)
    if empty and view.n_rows:
        yield Finding(
            "empty", "note", empty, (),
            f"{listed(empty)}: every value is missing, so nothing can be learned.",
            {"drop": empty},
        )  # fmt: skip
    for name, count in counts.items():
        if 0 < count < limit:
            rows = first_rows(is_present(view.parsed(name)))
            yield Finding(
                "nearly empty", "note", (name,), rows,
                f"{quoted(name)} has a value in only {count} of {view.n_rows} rows (first in data "
                f"row {rows[0] + 1}). Leave it out, unless the presence of a value is informative.",
                {"drop": (name,)},
            )  # fmt: skip


def _counts(view: TableView) -> dict[str, int]:
    """Return the number of values of each column, in column order."""
    n_distinct: dict[str, int] = {}
    for block in view.numbers:
        counts = view.n_rows - np.isnan(block.values).sum(axis=1)
        n_distinct.update(zip(block.names, counts.tolist(), strict=True))
    return {
        name: n_distinct[name] if name in n_distinct else int(is_present(view.parsed(name)).sum())
        for name in view.names
    }


def constant_columns(view: TableView) -> Iterator[Finding]:
    """Find columns with a single value and no missing ones."""
    if view.n_rows < 2:
        return
    same = view.numbers_where(lambda values: (values == values[:, :1]).all(axis=1))
    numbers = {name for name, _ in same}
    others = {name for name, _ in view.of_type(*NOT_NUMBERS) if _is_constant(view, name)}
    names = tuple(name for name in view.names if name in numbers or name in others)
    if names:
        yield Finding(
            "constant", "note", names, (),
            f"{listed(names)}: the same value in every row, so nothing can be learned.",
            {"drop": names},
        )  # fmt: skip


def _is_constant(view: TableView, name: str) -> bool:
    column = view.parsed(name)
    values = column.codes if isinstance(column, Categories) else column.values
    return bool(is_present(column)[0]) and bool(np.all(values == values[0]))


def identifiers(view: TableView) -> Iterator[Finding]:
    """Find columns that identify rows."""
    if view.n_rows < FEWEST:
        return
    for name, column in view.of_type(Numbers, Categories):
        if isinstance(column, Numbers):
            if name in view.whole and numbers_rows(name, column.values):
                yield Finding(
                    "identifier", "warning", (name,), (),
                    f"{quoted(name)} numbers the rows: it means nothing for new rows, and if rows "
                    "are sorted it leaks the target. Leave it out.",
                    {"drop": (name,)},
                )  # fmt: skip
            continue
        n_present = int(np.count_nonzero(column.codes >= 0))
        different = n_present >= FEWEST and len(column.levels) >= DIFFERENT * n_present
        if different and not _says_more(column):
            yield Finding(
                "identifier", "note", (name,), (),
                f"{quoted(name)} is different in nearly every row ({len(column.levels)} texts in "
                f"{n_present} values, such as {quoted(column.levels[0])}): as a category it is "
                "useless.",
                {"drop": (name,)},
            )  # fmt: skip


def _says_more(column: Categories) -> bool:
    """Return whether texts that are all different are more than row identifiers."""
    levels = column.levels
    return is_free_text(column) or are_dates(levels) or are_mostly_numbers(levels)


def numbers_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether a numeric column counts the rows, or is an identifier by name and values."""
    return (
        counts_rows(values)
        or (names_rows(name) and counts_rows(values, MOST_GAPS))
        or identifies_rows(name, values)
    )


def names_rows(name: str) -> bool:
    """Return whether a name is that of a row number, or of a column without a name."""
    words = words_of(name)
    return name == FIRST_UNNAMED or (bool(words & ROW_WORDS) and "of" not in words)


def counts_rows(values: NDArray[np.float64], gaps: float = 0.0) -> bool:
    """Return whether values are consecutive integers, but for gaps of missing rows.

    Parameters
    ----------
    values : ndarray of float64
    gaps : float, default 0
        Most integers left out, as a fraction of the values.
    """
    if not _are_whole(values) or not len(values):
        return False
    steps = np.diff(values)
    return bool(np.all(steps >= 1) and np.sum(steps - 1) <= gaps * len(values))


def identifies_rows(name: str, values: NDArray[np.float64]) -> bool:
    """Return whether values are distinct integers with the name of an identifier."""
    words = words_of(name)
    if not words & ID_WORDS or "of" in words:  # a number of inhabitants is a quantity
        return False
    return _are_whole(values) and len(np.unique(values)) == len(values)


def _are_whole(values: NDArray[np.float64]) -> bool:
    return bool(np.all(values == np.floor(values)))  # NaN is not


def codes(view: TableView) -> Iterator[Finding]:
    """Find integers that are nominal codes, such as zip codes."""
    for name, column in view.of_type(Numbers):
        if name in view.given_types or not words_of(name) & CODE_WORDS:
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
                f"By its name {quoted(name)} is a code, but its values are treated as numbers: "
                f"larger values would count for more. It has {levels} distinct values; use it as "
                "a category.",
                {"category": (name,)},
            )  # fmt: skip


def _identifier_by_name(name: str) -> Finding:
    return Finding(
        "identifier", "note", (name,), (),
        f"By its name {quoted(name)} is an identifier, but its values are treated as numbers. "
        "Leave it out; if rows with the same value belong together, hold them out together.",
        {"drop": (name,)},
    )  # fmt: skip


def groups(view: TableView) -> Iterator[Finding]:
    """Find columns that group rows, so that whole groups should be held out."""
    if "group" in view.split or view.n_rows < FEWEST:
        return
    for name, _ in view.of_type(Numbers, Categories):
        if not words_of(name) & GROUP_WORDS or not words_of(name) & ID_WORDS:
            continue
        levels = int(view.codes(name).max()) + 1
        if 5 <= levels <= len(view.sample) / 2:
            yield Finding(
                "group", "note", (name,), (),
                f"Rows share values of {quoted(name)} ({levels} distinct in {len(view.sample)} "
                "rows). If new rows will come from other groups, hold out whole groups; "
                "otherwise the measured error is too small.",
                {"group": (name,)},
            )  # fmt: skip


def duplicate_columns(view: TableView) -> Iterator[Finding]:
    """Find columns with the same values, up to scale or relabelling."""
    if len(view.sample) < MIN_ROWS:
        return
    for names in _groups(view):
        first, *others = names
        how = "the same values as" if _equal(view, first, others[0]) else "one to one with"
        yield Finding(
            "duplicate columns", "note", tuple(names), (),
            f"{listed(others)}: {how} {quoted(first)}. It adds nothing, and the weight is split "
            "between them: keep one.",
            {"drop": tuple(others)},
        )  # fmt: skip


def _groups(view: TableView) -> list[list[str]]:
    """Return groups of redundant columns: numbers up to scale, categories up to relabelling."""
    numbers: dict[object, list[str]] = {}
    levels: dict[object, list[str]] = {}
    standards = dict(_standards(view))
    for name in view.names:
        if name in standards:
            numbers.setdefault(standards[name], []).append(name)
    for names, codes in view.code_blocks():
        for name, key in zip(names, _patterns(codes), strict=True):
            levels.setdefault(key, []).append(name)
    of_numbers = [names for key, names in numbers.items() if key is not None and len(names) > 1]
    known = {name for names in of_numbers for name in names[1:]}
    groups = [_with_category(view, names, known) for key, names in levels.items() if key]
    return [*of_numbers, *(names for names in groups if len(names) > 1)]


def _with_category(view: TableView, names: list[str], known: set[str]) -> list[str]:
    """Return the columns equivalent to a category: it first, then the others."""
    categories = [name for name in names if isinstance(view.parsed(name), Categories)]
    others = [name for name in names if name not in categories and name not in known]
    return [*categories, *others] if categories else []


def _patterns(codes: NDArray[np.int64]) -> list[int | None]:
    """Return a hash of each column up to relabelling; None for identifiers."""
    counts: list[int] = (codes.max(axis=1) + 1).tolist()
    return [
        hash(_by_appearance(each, levels).tobytes()) if 2 <= levels <= len(each) / 2 else None
        for each, levels in zip(codes, counts, strict=True)
    ]


def _by_appearance(codes: NDArray[np.int64], levels: int) -> NDArray[np.int64]:
    """Return codes renumbered by first appearance."""
    first = np.full(levels, len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    code_of = np.empty(levels, np.int64)
    code_of[np.argsort(first)] = np.arange(levels)
    return code_of[codes]


def _standards(view: TableView) -> Iterator[tuple[str, object]]:
    """Yield each numeric column with a key shared by equivalent columns."""
    weights = np.random.default_rng(0).standard_normal(len(view.sample))
    others = [(name, numbers_in(column)) for name, column in view.of_type(Booleans, Dates)]
    blocks = [
        *((block.names, block.values) for block in view.numbers),
        *(((name,), values[None]) for name, values in others if values is not None),
    ]
    suspects = view.whole.union(name for name, _ in others)
    for names, values in blocks:
        keys = _keys(values[:, view.sample], weights)
        for name, key, one in zip(names, keys, values, strict=True):
            if not (name in suspects and numbers_rows(name, one)):
                yield name, key


def _keys(values: NDArray[np.float64], weights: NDArray[np.float64]) -> list[object]:
    """Return keys of rows up to shift, scale and sign, rounded to float64 precision."""
    finite = np.isfinite(values)
    counts = finite.sum(axis=1)
    means = np.where(finite, values, 0).sum(axis=1) / np.maximum(counts, 1)
    centred = np.where(finite, values - means[:, None], 0)
    scale = np.sqrt(np.mean(centred**2, axis=1))
    good = (counts >= MIN_ROWS) & np.isfinite(scale) & (scale > 0)
    projections = np.abs((centred * weights).sum(axis=1)) / np.where(good, scale, 1)
    rounded = np.round(projections / np.sqrt(len(weights)), 7).tolist()
    known = zip(rounded, counts.tolist(), good.tolist(), strict=True)
    return [(code_of, count) if fine else None for code_of, count, fine in known]


def _equal(view: TableView, first: str, second: str) -> bool:
    a, b = view.parsed(first), view.parsed(second)
    values, others = numbers_in(a), numbers_in(b)
    if values is not None and others is not None:
        return bool(np.array_equal(values, others, equal_nan=True))
    if not (isinstance(a, Categories) and isinstance(b, Categories)):
        return False
    ours, theirs = (np.array((*each.levels, ""), dtype=object)[each.codes] for each in (a, b))
    return bool(np.array_equal(ours, theirs))
