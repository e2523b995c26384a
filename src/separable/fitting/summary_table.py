"""Summary tables of fits as text and HTML: statistics above, coefficients below."""

from __future__ import annotations

from dataclasses import asdict
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["INTERCEPT", "SummaryTable", "number_of"]

#: Name of the intercept in tables.
INTERCEPT = "intercept"


def number_of(value: float) -> str:
    """Return a ratio as tables show it.

    Examples
    --------
    >>> number_of(2.5), number_of(123456.0)
    ('2.500', '1.23e+05')
    """
    return f"{value:.3f}" if not abs(value) >= 1e5 else f"{value:.3g}"


class SummaryTable:
    """A summary with text and HTML output; subclasses are dataclasses with the contents."""

    def _title(self) -> str:
        """Return the title."""
        raise NotImplementedError

    def _pairs(self) -> list[tuple[str, str, str, str]]:
        """Return the figures above the table, two per line: name, value, name, value."""
        raise NotImplementedError

    def _columns(self) -> Sequence[str]:
        """Return the heads of the columns."""
        raise NotImplementedError

    def _blocks(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        """Return lines of the table, each a name and its cells, under a heading that may be ''."""
        raise NotImplementedError

    def _notes(self) -> Sequence[str]:
        """Return notes, one sentence each."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, lists and dicts."""
        values: dict[str, Any] = _plain(asdict(self))  # type: ignore[call-overload]
        return values

    def to_text(self) -> str:
        """Return the summary as a table of text."""
        blocks, columns = self._blocks(), self._columns()
        rows = [row for _, lines_of_block in blocks for row in lines_of_block]
        heads = [heading for heading, _ in blocks]
        first = max(12, *(len(row[0]) for row in rows))
        widths = [max(11, *(len(row[k]) for row in rows)) for k in range(1, len(columns) + 1)]
        total = max(first + sum(widths), *map(len, heads))
        left = (total - 3) // 2
        right = total - 3 - left
        lines = [self._title().center(total).rstrip(), "=" * total]
        for name, value, name2, value2 in self._pairs():
            lines.append(f"{_ends(name, value, left)}   {_ends(name2, value2, right)}".rstrip())
        shown = [head.rjust(width) for head, width in zip(columns, widths, strict=True)]
        lines += ["=" * total, " " * first + "".join(shown)]
        for heading, lines_of_block in blocks:
            lines += ["-" * total, *([heading] if heading else [])]
            for name, *cells in lines_of_block:
                padded = [cell.rjust(width) for cell, width in zip(cells, widths, strict=True)]
                lines.append(name.ljust(first) + "".join(padded))
        return "\n".join([*lines, "=" * total, *self._notes()])

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def to_html(self) -> str:
        """Return the summary as two HTML tables."""
        figures = "".join(
            f"<tr><th>{escape(a)}</th><td>{escape(b)}</td><th>{escape(c)}</th><td>{escape(d)}</td>"
            "</tr>"
            for a, b, c, d in self._pairs()
        )
        columns = self._columns()
        heads = "".join(f"<th>{escape(head)}</th>" for head in ("", *columns))
        body = ""
        for heading, rows in self._blocks():
            if heading:
                body += f'<tr><th colspan="{len(columns) + 1}">{escape(heading)}</th></tr>'
            for name, *cells in rows:
                row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                body += f"<tr><th>{escape(name)}</th>{row}</tr>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self._notes())
        return (
            f'<table class="separable-summary"><caption>{escape(self._title())}</caption>'
            f"<tbody>{figures}</tbody></table>"
            f'<table class="separable-summary"><thead><tr>{heads}</tr></thead>'
            f"<tbody>{body}</tbody></table>{notes}"
        )

    def _repr_html_(self) -> str:
        return self.to_html()


def _plain(value: Any) -> Any:
    """Return tuples as lists, all the way down."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, tuple | list) else value


def _ends(left: str, right: str, width: int) -> str:
    space = max(1, width - len(left))
    return left + (right if len(right) < space else right[: max(1, space - 4)] + "...").rjust(space)
