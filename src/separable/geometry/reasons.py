"""Why a verdict is undecided, in words."""

from __future__ import annotations

__all__ = ["NOT_CANCELLING", "NOT_ENDED", "TOO_CLOSE", "not_exact"]

_ADVICE = (
    "Columns that depend on each other but for rounding, as standardised ones may, do this: leave "
    "such columns out, or give them as they were before they were scaled."
)

NOT_ENDED = "the search ran out of steps: some rows are close to every hyperplane that comes near."
NOT_CANCELLING = f"the multipliers found do not provably cancel. {_ADVICE}"
TOO_CLOSE = "what was found separates by so little that float64 cannot hold it."


def not_exact(count: int, what: str) -> str:
    """Return that a direction leaves rows on its boundary only as far as floats see."""
    return (
        f"a direction leaves {count} {what} on its boundary as far as floats see, but none was "
        f"found that does so exactly. {_ADVICE}"
    )
