"""Checks of conversions: texts that were not converted, decided by little, or taken for missing.

Several labels in one cell, and likely typos in the target, are texts that need a look too.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from separable.data.checks.findings import Finding, listed, quoted
from separable.data.checks.table_view import is_free_text
from separable.data.columns import Categories, Numbers
from separable.data.ingest.conversions.conversion import (
    MISSING_WORDS,
    DateConversion,
    NumberConversion,
)
from separable.data.ingest.conversions.unread_texts import ONE_UNIT, ORDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from separable.data.checks.table_view import TableView

__all__ = [
    "header_lines",
    "missing_classes",
    "not_converted",
    "several_labels",
    "totals",
    "typos",
    "unsure_conversions",
    "words_as_missing",
]

#: Words that head a row of totals, in lower case.
TOTALS = {
    "total", "totals", "grand total", "subtotal", "sum", "summe", "gesamt", "gesamtsumme", "somme",
    "total général",
}  # fmt: skip

#: Number of rows at the end of a table among which a row of totals is looked for.
FOOT_ROWS = 5

#: Most lines of a header below the first, the columns in which they are odd, others for each of
#: these, and the fewest rows.
HEAD_ROWS, MIN_ODD, MAX_OTHERS, MIN_BELOW = 3, 2, 0.25, 20

#: Fewest rows for each level of a column in which a value that occurs once is odd.
ROWS_PER_LEVEL = 4

#: Separators of labels in one cell.
SEPARATORS = (";", "|", ",")

#: Fraction of the cells with a separator, and the most distinct labels.
MIN_SEPARATED, MAX_LABELS = 0.1, 100

#: A likely typo has at most this many rows, and its likely meaning this many times as many.
MAX_TYPO_ROWS, TYPO_RATIO = 3, 8

#: The same if two letters are swapped.
SWAP_RATIO = 3

#: Words for a missing value that are no usual names of classes.
CLASS_WORDS = {*MISSING_WORDS} - {
    "", "none", "unknown", "missing", "unbekannt", "fehlt", "na", "tbd",
}  # fmt: skip

#: As many levels as this are used well as a category, although they look like numbers or dates.
FEW_LEVELS = 20

#: Shortest label that is compared, and the most classes.
MIN_LETTERS, MAX_CLASSES = 4, 2000


def not_converted(view: TableView) -> Iterator[Finding]:
    """Find columns of numbers or dates that the texts alone do not let convert."""
    levels = {name: len(column.levels) for name, column in view.of_type(Categories)}
    for name, guess in view.guesses.items():
        if guess.conversion is not None:
            continue
        options = {"convert": (f"{name}=day-first",)} if guess.remedy == ORDER else {}
        decides = guess.remedy in (ORDER, ONE_UNIT)
        few = not decides and levels.get(name, 0) <= FEW_LEVELS
        yield Finding(
            "not converted", "note" if few else "warning", (name,), (),
            f"{quoted(name)} holds {guess.reason}. It stays text. {guess.remedy}",
            options,
        )  # fmt: skip


def unsure_conversions(view: TableView) -> Iterator[Finding]:
    """Find conversions that rest on a convention, not on the texts alone."""
    for name, guess in view.guesses.items():
        conversion = guess.conversion
        if conversion is None or guess.sure:
            continue
        if isinstance(conversion, DateConversion):
            other = "month-first" if conversion.order == "dmy" else "day-first"
        else:
            assert isinstance(conversion, NumberConversion)
            other = "decimal-comma" if conversion.decimal == "." else "decimal-point"
        yield Finding(
            "conversion", "note", (name,), (),
            f"{quoted(name)} is converted: {guess.reason}. If that is wrong, use the option.",
            {"convert": (f"{name}={other}",)},
        )  # fmt: skip


def words_as_missing(view: TableView) -> Iterator[Finding]:
    """Find words among numbers or dates that count as missing values."""
    for name, guess in view.guesses.items():
        if guess.conversion is not None and guess.missing:
            words = ", ".join(f"{quoted(w)} ({n})" for w, n in list(guess.missing.items())[:5])
            more = f" and {len(guess.missing) - 5} more" if len(guess.missing) > 5 else ""
            odd = any(w.strip().lower() not in MISSING_WORDS for w in guess.missing)
            yield Finding(
                "words as missing", "warning" if odd else "note", (name,), (),
                f"{quoted(name)} is converted to {guess.kind}s; "
                f"{_values(sum(guess.missing.values()))} as missing: {words}{more}. To keep "
                "them as levels, use the column as a category.",
                {"category": (name,)},
            )  # fmt: skip


def totals(view: TableView) -> Iterator[Finding]:
    """Find a row of totals in the last rows, below the data; notes may follow it."""
    texts = {
        name: [(word, view.n_rows - 1) for word, count in guess.missing.items() if count == 1]
        for name, guess in view.guesses.items()
    }
    first = max(view.n_rows - FOOT_ROWS, 0)
    for name, column in view.of_type(Categories):
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        texts[name] = [
            (column.levels[code], first + index)
            for index, code in enumerate(column.codes[first:].tolist())
            if code >= 0 and counts[code] == 1
        ]
    for name, words in texts.items():
        found = next((each for each in words if each[0].strip(" :").lower() in TOTALS), None)
        if found is not None:
            word, row = found
            below = " Remove that row and those below it" if row < view.n_rows - 1 else ""
            yield Finding(
                "totals", "warning", (name,), (row,),
                f"{quoted(name)} has the value {quoted(word)}, which heads a row of totals, not of "
                f"data.{below or ' Remove that row'} from the file.",
            )  # fmt: skip
            return


def header_lines(view: TableView) -> Iterator[Finding]:
    """Find first rows that continue the header: questions of a survey, or units."""
    if view.n_rows < MIN_BELOW:
        return
    odd, others = np.zeros(HEAD_ROWS, np.int64), np.zeros(HEAD_ROWS, np.int64)
    example = ""
    for name in view.names:
        column, guess = view.parsed(name), view.guesses.get(name)
        if isinstance(column, Categories):
            counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
            if len(counts) > view.n_rows / ROWS_PER_LEVEL or is_free_text(column):
                continue
            rare = np.append((counts == 1) & (np.sum(counts == 1) <= HEAD_ROWS), False)
            lines = rare[column.codes[:HEAD_ROWS]]
            words = [column.levels[code] for code in column.codes[:HEAD_ROWS][lines].tolist()]
        elif isinstance(column, Numbers):
            missing = {} if guess is None or guess.conversion is None else guess.missing
            words = [word for word in missing if word.strip().lower() not in MISSING_WORDS]
            lines = np.isnan(column.values[:HEAD_ROWS]) & (0 < len(words) <= HEAD_ROWS)
        else:
            continue
        odd += lines
        others += ~lines
        example = example or (words[0] if lines.any() else "")
    are_odd = (odd >= MIN_ODD) & (others <= MAX_OTHERS * odd)
    n_lines = HEAD_ROWS if are_odd.all() else int(are_odd.argmin())
    if n_lines:
        which = "first row is" if n_lines == 1 else f"first {n_lines} rows are"
        these = "this line" if n_lines == 1 else "these lines"
        yield Finding(
            "header lines", "warning", (), tuple(range(n_lines)),
            f"The {which} no data but more lines of the header, such as {quoted(example)}: nearly "
            f"all values occur in no other row. Remove {these} from the file.",
        )  # fmt: skip


def _values(count: int) -> str:
    return "1 value counts" if count == 1 else f"{count} values count"


def several_labels(view: TableView) -> Iterator[Finding]:
    """Find several labels in one cell, such as ``a;b``."""
    for name, column in view.of_type(Categories):
        if name in view.given_types or is_free_text(column):
            continue
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.levels))
        yield from _separated(name, column.levels, counts.tolist(), is_target=False)
    target = view.target
    if target is not None and target.values is None:
        labels = [str(label) for label in target.labels]
        yield from _separated(target.name, labels, target.counts.tolist(), is_target=True)


def _separated(
    name: str, levels: Sequence[str], counts: Sequence[int], *, is_target: bool
) -> Iterator[Finding]:
    if len(levels) > MAX_CLASSES:
        return
    for separator in SEPARATORS:
        cells = sum(n for level, n in zip(levels, counts, strict=True) if separator in level)
        if cells < max(MIN_SEPARATED * sum(counts), 2):
            continue
        labels = Counter(part.strip() for level in levels for part in level.split(separator))
        several = [level for level in levels if separator in level]
        again = sum(n > 1 for label, n in labels.items() if label)
        if len(labels) > MAX_LABELS or 2 * len(labels) > len(levels) or again < len(labels) - 1:
            continue
        what = (
            "Each combination is a class of its own"
            if is_target
            else ("Each combination is a level of its own")
        )
        remedy = (
            "Predict one label at a time: a column of yes and no for each."
            if is_target
            else "Use it as text, which gives each label its own weight, or write one column a "
            "label."
        )
        yield Finding(
            "several labels", "warning" if is_target else "note", (name,), (),
            f"{quoted(name)} has several labels in one cell ({quoted(several[0])}): "
            f"{len([label for label in labels if label])} labels separated by {separator!r}. "
            f"{what}. {remedy}",
            {} if is_target else {"text": (name,)},
        )  # fmt: skip
        return


def typos(view: TableView) -> Iterator[Finding]:
    """Find rare classes that differ from a common one by one letter or two swapped letters."""
    target = view.target
    if target is None or target.task != "classification" or target.values is not None:
        return
    counts = dict(zip(map(str, target.labels), target.counts.tolist(), strict=True))
    if len(counts) > MAX_CLASSES:
        return
    pairs = [
        (rare, common)
        for rare, n in counts.items()
        if n <= MAX_TYPO_ROWS and len(rare) >= MIN_LETTERS and not any(c.isdigit() for c in rare)
        for common, m in counts.items()
        if m >= _typo_ratio(rare, common) * n and is_one_edit(rare.casefold(), common.casefold())
    ]
    if pairs:
        named = ", ".join(
            f"{quoted(a)} ({counts[a]}) beside {quoted(b)} ({counts[b]})" for a, b in pairs[:5]
        )
        yield Finding(
            "typo in the target", "warning", (target.name,), (),
            f"The target {quoted(target.name)} has likely typos: {named}. Each counts as a class. "
            f"Correct {listed([a for a, _ in pairs])} in the file.",
        )  # fmt: skip


def _typo_ratio(rare: str, common: str) -> float:
    """Return how many times as common a class has to be; few words differ by swapped letters."""
    swapped = sorted(rare.casefold()) == sorted(common.casefold())
    return SWAP_RATIO if swapped else TYPO_RATIO


def missing_classes(view: TableView) -> Iterator[Finding]:
    """Find classes that are words for a missing value, such as ``n/a`` beside yes and no."""
    target = view.target
    if target is None or target.task != "classification" or target.values is not None:
        return
    counts = dict(zip(map(str, target.labels), target.counts.tolist(), strict=True))
    words = [label for label in counts if label.strip().lower() in CLASS_WORDS]
    if not words or len(counts) - len(words) < 2:
        return
    named = ", ".join(f"{quoted(word)} ({counts[word]})" for word in words[:5])
    yield Finding(
        "missing as a class", "warning", (target.name,), (),
        f"The target {quoted(target.name)} has {named}, which usually means missing, as a class. "
        "To leave out such rows, name the word as missing.",
        {"missing": tuple(words)},
    )  # fmt: skip


def is_one_edit(a: str, b: str) -> bool:
    """Return whether one letter inserted, left out, replaced, or two swapped, make b of a.

    Examples
    --------
    >>> is_one_edit("nien", "nein"), is_one_edit("yes", "no")
    (True, False)
    """
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    start = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    rest_a, rest_b = a[start:], b[start:]
    if len(a) != len(b):
        longer, shorter = (rest_a, rest_b) if len(a) > len(b) else (rest_b, rest_a)
        return longer[1:] == shorter
    swapped = rest_a[:2] == rest_b[:2][::-1] and rest_a[2:] == rest_b[2:]
    return rest_a[1:] == rest_b[1:] or swapped
