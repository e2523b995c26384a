"""Target leakage: columns that encode the target or are derived from it."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.checks.column_checks import words_of
from separable.data.checks.findings import Finding, quoted
from separable.data.checks.table_view import numbers_in
from separable.data.columns import Numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.data.checks.table_view import Codes, TableView, Target

    Values = NDArray[np.float64]

__all__ = ["leakage"]

#: Minimum rows: with fewer, a column may fit by chance.
MIN_ROWS = 100

#: Fraction of the baseline error that a suspicious column removes; lower if the name suggests it.
SUSPECT_FRACTION, SUSPECT_FRACTION_BY_NAME = 0.95, 0.8
SUSPECT_AUC = 0.99

#: Thresholds at which a note becomes a warning.
CERTAIN_FRACTION, CERTAIN_AUC = 0.98, 0.999

#: Words in a column name that suggest it is known only after the target. Applied to the best single
#: predictor, if it is this strong.
STRONG_AUC, STRONG_R2 = 0.75, 0.5
OUTCOME_WORDS = {
    "duration", "elapsed", "outcome", "result", "results", "status", "final", "closed", "resolved",
    "resolution", "refund", "cancelled", "settled", "discharge", "after", "post", "end", "ended",
}  # fmt: skip

#: Bins of a numeric column that are compared with the target.
BINS = 64

#: A linear fit with less than this fraction of the variance as residual is a definition.
MAX_RESIDUAL = 1e-9

#: Larger numbers are excluded from sums.
MAX_MAGNITUDE = 1e100


@dataclass(frozen=True)
class _SingleColumn:
    """Cross-validated predictive performance of a single column."""

    name: str
    explained: float  # fraction of the baseline error it removes
    right: float  # accuracy, or R2
    auc: float | None = None


def leakage(view: TableView) -> Iterator[Finding]:
    """Find columns that leak the target."""
    target = view.target
    if target is None or len(target.labels) < 2:
        return
    rows = view.sample[target.codes[view.sample] >= 0]
    taken = set()
    for name in _recoded_names(view, rows):
        taken.add(name)
        yield _recoded(name, target)
    others = [name for name in view.names if name not in taken]
    sums = list(_linear(view, others, rows)) if len(rows) >= MIN_ROWS else []
    taken.update(name for each in sums for name in each.columns)
    yield from sums
    if len(rows) >= MIN_ROWS and len(view.names) > 1:
        yield from _suspects(view, [name for name in view.names if name not in taken])


# --- the target in other words ---


def _recoded_names(view: TableView, rows: NDArray[np.int64]) -> list[str]:
    """Return the columns whose values map one to one to the target's."""
    target = view.target
    assert target is not None
    y = target.codes[rows]
    n_values, known = _n_different(y), target.codes[view.sample] >= 0
    if n_values < 2:
        return []
    return [
        name
        for names, codes in view.code_blocks()
        for name in compress(names, (_n_different_each(codes[:, known]) == n_values).tolist())
        if _is_recoded(view, name, rows, y, view.codes(name)[known])
    ]


def _n_different(codes: Codes) -> int:
    return int(np.count_nonzero(np.bincount(codes)))


def _n_different_each(codes: Codes) -> NDArray[np.int64]:
    """Return `_n_different` for each row of a matrix."""
    shape = len(codes), int(codes.max(initial=0)) + 1
    apart = codes + shape[1] * np.arange(shape[0])[:, None]
    counts = np.bincount(apart.ravel(), minlength=shape[0] * shape[1]).reshape(shape)
    return np.asarray(np.count_nonzero(counts, axis=1), np.int64)


def _is_recoded(
    view: TableView, name: str, rows: NDArray[np.int64], y: Codes, codes: Codes
) -> bool:
    """Return whether a column with as many distinct values as the target maps one to one to it."""
    n_values = _n_different(y)
    if 2 * n_values > len(y):  # a number unique in each row must be the same number
        return _is_same_number(view, name, rows)
    return len(np.unique(codes * (int(y.max()) + 1) + y)) == n_values


def _is_same_number(view: TableView, name: str, rows: NDArray[np.int64]) -> bool:
    assert view.target is not None
    ours, theirs = numbers_in(view.parsed(name)), view.target.values
    if ours is None or theirs is None or len(rows) < 3:
        return False
    x, y = ours[rows], theirs[rows]
    if not np.all(np.isfinite(x)) or x.min() == x.max():
        return False
    return bool(abs(_correlation(x, y)) > 1 - 1e-10)


def _correlation(x: Values, y: Values) -> float:
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.linalg.norm(x) * np.linalg.norm(y))
    return float(x @ y) / scale if scale else 0.0


def _recoded(name: str, target: Target) -> Finding:
    return Finding(
        "leakage", "warning", (name,), (),
        f"{quoted(name)} encodes the target {quoted(target.name)}: the values correspond one to "
        "one. A model would learn nothing else. Leave it out.",
        {"drop": (name,)},
    )  # fmt: skip


# --- sums ---


def _linear(view: TableView, names: list[str], rows: NDArray[np.int64]) -> Iterator[Finding]:
    """Find the fewest numeric columns whose linear combination is the target."""
    target = view.target
    assert target is not None
    columns = {n: view.parsed(n).values for n in names if isinstance(view.parsed(n), Numbers)}  # type: ignore[union-attr]
    if target.values is None or not 2 <= len(columns) <= len(rows) // 10:
        return
    X = np.column_stack([values[rows] for values in columns.values()])
    y = target.values[rows]
    valid = (np.abs(X) < MAX_MAGNITUDE).all(axis=1) & (np.abs(y) < MAX_MAGNITUDE)
    y = y[valid]
    X = X[valid]
    if len(X) < MIN_ROWS or len(X) < 10 * X.shape[1]:
        return
    X, y = X - X.mean(axis=0), y - y.mean()
    scale = X.std(axis=0)
    used = np.flatnonzero(scale > 0)
    if not len(used) or not y.any():
        return
    X = X[:, used] / scale[used]
    weights = _solved(X, y)
    if _residual(X, y, weights) > MAX_RESIDUAL:
        return
    kept = _smallest_definition(X, y, weights)
    weights = _solved(X[:, kept], y)
    dependent = [list(columns)[used[index]] for index in kept]
    yield _sum_finding(target.name, dependent, weights / scale[used][kept])


def _smallest_definition(X: Values, y: Values, weights: Values) -> NDArray[np.intp]:
    """Return the fewest columns of the largest weights whose linear combination is still y."""
    order = np.argsort(-np.abs(weights), kind="stable")

    def defines(size: int) -> bool:
        part = X[:, order[:size]]
        return _residual(part, y, _solved(part, y)) <= MAX_RESIDUAL

    size = bisect_left(range(1, len(order)), True, key=defines) + 1
    return np.sort(order[:size])


def _solved(X: Values, y: Values) -> Values:
    """Return the least-squares weights from the normal equations; 0 if they overflow."""
    with np.errstate(over="ignore", invalid="ignore"):
        products, cross = X.T @ X, X.T @ y
    if not (
        np.isfinite(products).all() and np.isfinite(cross).all()
    ):  # LAPACK would print a warning
        return np.zeros(X.shape[1])
    weights: Any = np.linalg.lstsq(products, cross, rcond=1e-12)[0]
    return np.asarray(weights, np.float64)


def _residual(X: Values, y: Values, weights: Values) -> float:
    rest = y - X @ weights
    return float(rest @ rest) / float(y @ y)


def _sum_finding(target: str, names: list[str], weights: Values) -> Finding:
    terms = [_term(*pair) for pair in zip(names[:5], weights, strict=False)]
    formula = " ".join(terms).removeprefix("+ ") + (" + ..." if len(names) > 5 else "")
    one = len(names) == 1
    kind = "linear function of another column" if one else "linear combination of other columns"
    remedy = "Leave it out if it is" if one else "Leave out the columns that are"
    return Finding(
        "leakage", "warning", tuple(names), (),
        f"The target is a {kind}: {target} = {formula}, up to a constant. {remedy} not known when "
        "you predict.",
        {"drop": tuple(names)},
    )  # fmt: skip


def _term(name: str, weight: float) -> str:
    times = "" if abs(abs(weight) - 1) < 1e-4 else f"{abs(weight):.4g} "
    return f"{'-' if weight < 0 else '+'} {times}{name}"


# --- suspects ---


def _suspects(view: TableView, names: list[str]) -> Iterator[Finding]:
    target = view.target
    assert target is not None
    tested = [each for name in names if (each := _single_column(view, name)) is not None]
    if not tested:
        return
    nearly = [each for each in tested if _gives_away(each, target)]
    if len(nearly) <= max(2, 0.1 * len(tested)):  # if many columns qualify, the task is easy
        for each in nearly:
            yield _suspect(each, target, severe=_is_severe(each, target))
    best = max(tested, key=lambda each: (each.auc or 0, each.explained))
    if best not in nearly and words_of(best.name) & OUTCOME_WORDS and _is_strong(best, target):
        yield _outcome_finding(best)


def _gives_away(each: _SingleColumn, target: Target) -> bool:
    limit = (
        SUSPECT_FRACTION_BY_NAME if _is_named_after(each.name, target.name) else SUSPECT_FRACTION
    )
    return each.explained >= limit or (each.auc or 0) >= SUSPECT_AUC


def _is_severe(each: _SingleColumn, target: Target) -> bool:
    certain = each.explained >= CERTAIN_FRACTION or (each.auc or 0) >= CERTAIN_AUC
    return certain or _is_named_after(each.name, target.name)


def _is_named_after(name: str, target: str) -> bool:
    """Return whether a column name contains the words of the target's name."""
    words = words_of(target)
    return bool(words) and words <= words_of(name) and max(map(len, words)) > 2


def _is_strong(each: _SingleColumn, target: Target) -> bool:
    if target.task == "regression":
        return each.explained >= STRONG_R2
    return (each.auc or 0) >= STRONG_AUC if len(target.labels) == 2 else each.explained >= STRONG_R2


def _performance(each: _SingleColumn, target: Target) -> str:
    if target.task == "regression":
        return f"it explains {each.right:.1%} of the target's variance"
    constant = target.counts.max() / target.counts.sum()
    auc = "" if each.auc is None else f", AUC {each.auc:.3f}"
    return f"it is right in {each.right:.1%} of rows (constant prediction: {constant:.1%}{auc})"


def _suspect(each: _SingleColumn, target: Target, severe: bool) -> Finding:
    return Finding(
        "leakage", "warning" if severe else "note", (each.name,), (),
        f"{quoted(each.name)} may leak the target: alone, {_performance(each, target)}. Is it "
        f"known before {quoted(target.name)} is? If it follows from the target, leave it out: the "
        "model would fail on new rows.",
        {"drop": (each.name,)},
    )  # fmt: skip


def _outcome_finding(each: _SingleColumn) -> Finding:
    return Finding(
        "leakage", "warning", (each.name,), (),
        f"{quoted(each.name)} may leak the target: it is the best single predictor "
        f"({_short_performance(each)} alone), and its name suggests that it is known only after "
        "the target. If so, leave it out.",
        {"drop": (each.name,)},
    )  # fmt: skip


def _short_performance(each: _SingleColumn) -> str:
    """Return the predictive performance of a column as a short text."""
    return f"AUC {each.auc:.2f}" if each.auc is not None else f"{each.explained:.0%} of the error"


def _single_column(view: TableView, name: str) -> _SingleColumn | None:
    """Return the performance of one column by two-fold cross-validation."""
    target = view.target
    assert target is not None
    valid = target.codes[view.sample] >= 0
    rows = view.sample[valid]
    values = numbers_in(view.parsed(name))
    if values is None:
        groups = view.codes(name)[valid]
        if 2 * (int(groups.max(initial=0)) + 1) > len(groups):
            return None
    else:
        groups = _binned(values[rows])
    half = view.half[valid]
    if target.task == "regression":
        assert target.values is not None
        return _SingleColumn(name, *2 * (_explained(groups, target.values[rows], half),))
    y = target.codes[rows]
    right = _right(groups, y, half)
    constant = np.bincount(y).max() / len(y)
    explained = (right - constant) / (1 - constant) if constant < 1 else 0.0
    auc = _auc(values[rows], y) if values is not None and len(target.labels) == 2 else None
    return _SingleColumn(name, explained, right, auc)


def _binned(values: Values) -> Codes:
    """Return quantile bins; equal values and missing values share a bin."""
    finite = values[~np.isnan(values)]
    levels, codes = np.unique(values, return_inverse=True)
    bins = min(BINS, max(2, int(np.sqrt(len(values)))))
    if len(levels) <= bins or not len(finite):
        return codes.astype(np.int64)
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, bins + 1)[1:-1]))
    groups: Codes = np.searchsorted(edges, values, side="right").astype(np.int64)
    groups[np.isnan(values)] = len(edges) + 1
    return groups


def _right(groups: Codes, y: Codes, half: NDArray[np.bool_]) -> float:
    """Return the held-out accuracy of predicting the majority class of each bin."""
    n_classes = int(y.max()) + 1
    right = 0
    for fitted in (half, ~half):
        pairs, counts = np.unique(groups[fitted] * n_classes + y[fitted], return_counts=True)
        order = np.lexsort((counts, pairs // n_classes))
        answer = np.full(int(groups.max()) + 1, np.bincount(y[fitted]).argmax())
        answer[pairs[order] // n_classes] = (
            pairs[order] % n_classes
        )  # the last one, the most common, stays
        right += int(np.count_nonzero(answer[groups[~fitted]] == y[~fitted]))
    return right / len(y)


def _explained(groups: Codes, y: Values, half: NDArray[np.bool_]) -> float:
    """Return the held-out R2 of the bin means."""
    rest = 0.0
    for fitted in (half, ~half):
        sums = np.bincount(groups[fitted], y[fitted], minlength=int(groups.max()) + 1)
        counts = np.bincount(groups[fitted], minlength=int(groups.max()) + 1)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), y[fitted].mean())
        away = y[~fitted] - means[groups[~fitted]]
        rest += float(away @ away)
    centred = y - y.mean()
    total = float(centred @ centred)
    return 1 - rest / total if total else 0.0


def _auc(values: Values, y: Codes) -> float | None:
    """Return the AUC of a number for two classes, in either direction."""
    known: Any = ~np.isnan(values)
    if known.mean() < 0.5:
        return None
    _, codes = np.unique(values[known], return_inverse=True)
    ones = np.bincount(codes, y[known])
    zeros = np.bincount(codes) - ones
    pairs = float(ones.sum() * zeros.sum())
    if not pairs:
        return None
    below = np.cumsum(zeros) - zeros
    area = float(ones @ (below + zeros / 2)) / pairs
    return max(area, 1 - area)
