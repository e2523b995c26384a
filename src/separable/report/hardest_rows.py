"""The rows with the largest errors, each with its explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.explain.text_highlights import highlighted_texts
from separable.model.words import cell_text, label_value, number
from separable.report.contents import Absent, HardRow, Mark

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.model.explain.explanation import Explanation, Terms
    from separable.model.explain.text_highlights import HighlightedText
    from separable.report.scored_rows import ScoredRows
    from separable.typing import Floats


__all__ = ["MOST", "hard_rows"]

#: Maximum rows, and raw values and contributions per row.
MOST, VALUES, CONTRIBUTIONS = 10, 12, 8

#: Maximum characters of a text: the stretch with the largest contributions is shown.
LONGEST = 1200

SEVERAL = "The model predicts several numbers per row, which are not compared here."


def hard_rows(scored: ScoredRows, most: int = MOST) -> tuple[tuple[HardRow, ...] | Absent, str]:
    """Return the rows that a model is most wrong about, the worst first, and a word on them.

    Of classes these are rows misclassified, those first whose true class has the smallest
    probability, or without probabilities the one whose score falls short most; rows of a class that
    the model does not know are left out. Of numbers they are those with the largest residuals.

    Parameters
    ----------
    scored : JudgedRows
    most : int
        How many at most.

    Returns
    -------
    rows : tuple of HardRow, or Absent
    about : str
        How many are wrong, and which of them these are.
    """
    if scored.predictions.predicted.ndim > 1:
        return Absent(SEVERAL), ""
    has_weight = (
        np.ones(len(scored.y_true), dtype=bool) if scored.weight is None else scored.weight > 0
    )
    if scored.predictions.classes is None:
        short = np.abs(scored.y_true.astype(np.float64) - scored.predictions.predicted)
        order = _first(has_weight, (-short,), most)
        return _taken_apart(scored, order, short, None), f"Of {_rows(int(has_weight.sum()))}, " + (
            "the largest error." if len(order) == 1 else f"the {len(order)} largest errors."
        )
    wrong, known, short, chance = _mistakes(scored)
    keys = (-short,) if chance is None else (-short, chance)  # the last one comes first
    order = _first(has_weight & wrong & known, keys, most)
    return _taken_apart(scored, order, short, chance), _about(has_weight, wrong, known, len(order))


def _mistakes(
    scored: ScoredRows,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Floats, Floats | None]:
    """Return which rows are wrong, whose class is known, by how much, and the truth's chance."""
    from separable.model.metrics.metric_case import ClassCase, case_of

    predictions = scored.predictions
    case = case_of(scored.y_true, predictions)
    assert isinstance(case, ClassCase)
    n = len(case.y_true)
    wrong, known = case.y_true != case.predicted, case.y_true < case.n_known
    y_true = np.where(known, case.y_true, 0)
    short = np.zeros(n)
    if predictions.scores is not None and predictions.scores.ndim == 1:
        short = np.where(wrong, np.abs(predictions.scores), 0.0)
    elif predictions.scores is not None:
        each = np.arange(n)
        short = predictions.scores[each, case.predicted] - predictions.scores[each, y_true]
    chances = predictions.probabilities
    return wrong, known, short, None if chances is None else chances[np.arange(n), y_true]


def _first(chosen: NDArray[np.bool_], keys: tuple[Floats, ...], most: int) -> NDArray[np.intp]:
    """Return the places of the first of the chosen rows in the order of some keys."""
    indices = np.flatnonzero(chosen)
    order = np.lexsort([key[indices] for key in keys])
    first: NDArray[np.intp] = indices[order[:most]]
    return first


def _about(
    has_weight: NDArray[np.bool_], wrong: NDArray[np.bool_], known: NDArray[np.bool_], shown: int
) -> str:
    n, mistakes = int(has_weight.sum()), int((has_weight & wrong).sum())
    if not mistakes:
        return f"All {_rows(n)} are classified correctly."
    strange = int((has_weight & ~known).sum())
    sentence = f"{mistakes} of {_rows(n)} {'is' if mistakes == 1 else 'are'} misclassified"
    if strange:
        sentence += f", {strange} of them because the model does not know their class"
    if not shown:
        return f"{sentence}."
    if shown == mistakes - strange:
        return f"{sentence}: the most confident errors first."
    return f"{sentence}; these are the {shown} most confident errors."


def _rows(n: int) -> str:
    return f"{n} row{'s' * (n != 1)}"


def _taken_apart(
    scored: ScoredRows, indices: NDArray[np.intp], short: Floats, chance: Floats | None
) -> tuple[HardRow, ...]:
    """Return some rows, each with what adds to its score."""
    if not len(indices):
        return ()
    explanation, labels = scored.model.explain(scored.rows.take(indices)), scored.labels()
    result = []
    for index, one in zip(indices.tolist(), explanation, strict=True):
        raw = {} if scored.raw is None else scored.raw(index)
        predicted, sign = label_value(scored.predictions.predicted[index]), 1.0
        classes = scored.model.classes
        if classes is not None and len(classes) == 2 and predicted == label_value(classes[0]):
            sign = -1.0  # one score speaks for the second class
        terms = one.terms()
        texts = _texts(one, terms, raw, sign)
        result.append(
            HardRow(
                row=int(scored.row_indices[index]) + 1,
                y_true=label_value(labels[index]),
                predicted=predicted,
                probability=None if chance is None else float(chance[index]),
                margin=float(short[index]),
                values=_values(one, terms, raw, {name for name, _, _ in texts}),
                contributions=tuple(
                    (term.feature, sign * term.contribution) for term in terms.shown[:CONTRIBUTIONS]
                ),
                texts=texts,
            )
        )
    return tuple(result)


def _values(
    one: Explanation, terms: Terms, raw: Mapping[str, Any], texts: set[str]
) -> tuple[tuple[str, str], ...]:
    """Return raw values, those first that add most; without an encoder those of the features."""
    if one.model.encoder is None or not raw:
        return tuple((term.feature, number(term.value)) for term in terms.shown[:VALUES])
    adds = {name: abs(float(part[0])) for name, part in one.by_column().items()}
    names = sorted((name for name in adds if name in raw), key=lambda name: -adds[name])
    shown = [name for name in names if name not in texts][:VALUES]
    return tuple((name, cell_text(raw[name])) for name in shown)


def _texts(
    one: Explanation, terms: Terms, raw: Mapping[str, Any], sign: float
) -> tuple[tuple[str, str, tuple[Mark, ...]], ...]:
    """Return columns of free text with the words that count."""
    given = {name: value for name, value in raw.items() if isinstance(value, str)}
    return tuple(
        (highlighted.column, *_shortened(highlighted, sign))
        for highlighted in highlighted_texts(one, terms, given)
    )


def _shortened(highlighted: HighlightedText, sign: float) -> tuple[str, tuple[Mark, ...]]:
    """Return a text and its marks; of a long one the stretch whose words count most."""
    marks = highlighted.marked()
    start, stop = 0, len(highlighted.text)
    if stop > LONGEST:
        start = _strongest_stretch(highlighted)
        stop = start + LONGEST
    begin = "... " if start else ""
    text = begin + highlighted.text[start:stop] + (" ..." if stop < len(highlighted.text) else "")
    shift = len(begin) - start
    return text, tuple(
        Mark(span.start + shift, span.end + shift, sign * fraction)
        for span, fraction in marks
        if start <= span.start and span.end <= stop
    )


def _strongest_stretch(highlighted: HighlightedText) -> int:
    """Return where the stretch begins whose words add most, at the start of a word."""
    spans = highlighted.spans or []
    if not spans:
        return 0
    starts, ends = np.array([(span.start, span.end) for span in spans]).T
    sums = np.concatenate([[0.0], np.cumsum(np.abs(highlighted.contributions))])
    last = np.searchsorted(ends, starts + LONGEST, side="right")
    best = int((sums[last] - sums[np.arange(len(spans))]).argmax())
    full = int(
        np.searchsorted(starts, len(highlighted.text) - LONGEST)
    )  # later ones would be shorter
    best = min(best, full)
    return 0 if best == 0 else int(starts[best])
