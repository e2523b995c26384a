"""Epochs of the perceptron that end with a proof if no hyperplane separates the classes.

The perceptron converges exactly if the classes are linearly separable, and says nothing otherwise.
So after some epochs with mistakes left, each unconverged model is checked on few rows, those
nearest to its boundary. They overlap if weighted means of the two sides coincide:

    margin of any hyperplane  <=  |p - q| / 2,    p, q weighted means of the two sides

and all rows overlap if some of them do. If a hyperplane separates these rows, the rows that violate
it are added, until none does: then all rows are separable.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from separable.data.rows import Rows, core_rows
from separable.model.predict.scores import linear_scores
from separable.online.runs import Run, run_epochs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from separable.online.runs import Rule, TrainingBatch
    from separable.online.state import OnlineState
    from separable.typing import Floats, Indices

__all__ = ["Separability", "check_separability", "run_until_decided"]

#: Epochs before the check: the first number, reduced to the second for large data (values read).
CHECK_EPOCHS, MIN_EPOCHS, CHECK_VALUES = 20, 5, 2e7
#: The other models get 1 / OVERLAP_DIVISOR of the epochs if the classes of one overlap.
OVERLAP_DIVISOR = 50
#: The same fraction, but at least these epochs, if the mistake bound (R / gamma)^2 of a model
#: exceeds the possible updates by this factor.
HOPELESS_EPOCHS, HOPELESS_RATIO = 10_000, 1e6
#: Final epochs of the pocket: minimum, maximum, and values to read in between. The pocket may read
#: as many values again to evaluate weights.
MIN_POCKET, MAX_POCKET, POCKET_VALUES = 5, 100, 2_000_000
#: Rows of the first check: at least the first number, and this multiple of the non-zeros of a row.
#: (Fewer than two rows per column are separable in general.) Each further check at least doubles.
FIRST_ROWS, FIRST_MULTIPLE = 100, 3
#: Limit on rows x min(rows, columns) of a check.
MAX_CHECK_SIZE = 1_000_000
#: Largest distance of coinciding means, relative to the ranges of the columns.
MEAN_TOLERANCE = 1e-9


class Separability(NamedTuple):
    """Whether a hyperplane separates one class from the rest.

    ``kind`` is "separable", "overlap" or "undecided". ``margin`` is a lower bound on the largest
    margin of separable classes, an upper bound on that of overlapping ones. ``n_rows`` is the
    number of rows whose weighted means coincide.
    """

    kind: str
    margin: float = 0.0
    n_rows: int = 0


UNDECIDED = Separability("undecided")


def run_until_decided(state: OnlineState, batch: TrainingBatch, rule: Rule) -> Run:
    """Run epochs until no mistake is left, overlap is proved, or the limit of the rule.

    If one class overlaps the rest, no number of epochs ends without a mistake, so the other models
    get only a fraction of them. So do all models if the margin of one is so small relative to the
    rows that the allowed epochs are unlikely to suffice. All models with mistakes left end with the
    best weights of the last epochs (the pocket).

    Parameters
    ----------
    state : OnlineState
        One-vs-rest models, trained in place.
    batch, rule
        The rows, and the settings with the maximum number of epochs.
    """
    epochs = np.clip(CHECK_VALUES / max(1, batch.rows.values.size), MIN_EPOCHS, CHECK_EPOCHS)
    first = rule._replace(max_epochs=min(int(epochs), rule.max_epochs))
    run = Run(run_epochs(state, batch, first))
    done = len(run.mistakes)
    if run.converged or done == rule.max_epochs:
        return run
    unconverged = run.mistakes[-1] > 0
    verdicts = [
        _check_model(state, batch, model, rule.fit_intercept) if unconverged[model] else None
        for model in range(state.n_models)
    ]
    overlaps = np.array([verdict is not None and verdict.kind == "overlap" for verdict in verdicts])
    rest, left, far = unconverged & ~overlaps, rule.max_epochs - done, False
    if rest.any():
        epochs = max(1, left // OVERLAP_DIVISOR if overlaps.any() else left - MIN_POCKET)
        far = epochs > HOPELESS_EPOCHS and _is_far(verdicts, batch, left * batch.n_counted)
        if far:
            epochs = max(HOPELESS_EPOCHS, left // OVERLAP_DIVISOR)
        later = rule._replace(first_epoch=rule.first_epoch + done, max_epochs=epochs)
        run = run.followed_by(Run(run_epochs(state, batch, later, learning=rest)))
        rest, done = rest & (run.mistakes[-1] > 0), len(run.mistakes)
    if (overlaps | rest).any() and done < rule.max_epochs:
        later = rule._replace(
            first_epoch=rule.first_epoch + done, max_epochs=rule.max_epochs - done
        )
        run = run.followed_by(_run_pocket(state, batch, later, overlaps | rest))
    run.verdicts, run.overlaps, run.is_far = verdicts, overlaps, far
    run.converged = bool(run.converged_models.all())
    return run


def _is_far(verdicts: list[Separability | None], batch: TrainingBatch, updates: float) -> bool:
    """Return whether the mistake bound of a separable class is far beyond the possible updates."""
    margins = [each.margin for each in verdicts if each is not None and each.kind == "separable"]
    least = min(margins, default=np.inf)
    return bool(batch.core.largest_squared_norm() > HOPELESS_RATIO * updates * least**2)


def _run_pocket(
    state: OnlineState, batch: TrainingBatch, rule: Rule, learning: NDArray[np.bool_]
) -> Run:
    """Run the last epochs and keep the best weights met.

    The best weights of two classes are looked for within each epoch. Of more classes they are those
    after an epoch with which ``predict`` makes the fewest mistakes: the fewest of each one-vs-rest
    model alone would favour models that never name their class.
    """
    values = max(1, batch.rows.values.size)
    epochs = min(int(np.clip(POCKET_VALUES // values, MIN_POCKET, MAX_POCKET)), rule.max_epochs)
    if state.n_models == 1:
        pocket = rule._replace(max_epochs=epochs, pocket_values=POCKET_VALUES)
        return Run(run_epochs(state, batch, pocket, learning=learning))
    run: Run | None = None
    fewest, best = _mistakes(state, batch), state.copy().lanes
    for epoch in range(rule.first_epoch, rule.first_epoch + epochs):
        one = rule._replace(first_epoch=epoch, max_epochs=1)
        later = Run(run_epochs(state, batch, one, learning=learning))
        run = later if run is None else run.followed_by(later)
        mistakes = _mistakes(state, batch)
        if mistakes < fewest:
            fewest, best = mistakes, state.copy().lanes
    assert run is not None
    state.lanes.update(best)
    run.pocket_mistakes = [fewest]
    return run


def _mistakes(state: OnlineState, batch: TrainingBatch) -> float:
    """Return the weight of the rows that the models together predict wrongly."""
    wrong = linear_scores(batch.rows, *state.weights()).argmax(axis=1) != batch.target
    if batch.counted.weight is not None:
        return float(batch.counted.weight[wrong].sum())
    return float(np.count_nonzero(wrong if batch.present is None else wrong[batch.present]))


def _check_model(
    state: OnlineState, batch: TrainingBatch, model: int, fit_intercept: bool
) -> Separability:
    """Check the class of one model against the rest, from the rows nearest to its boundary."""
    w, b = state.weights()
    rows, target = batch.rows, batch.target
    if batch.present is not None:
        rows, target = rows.take(batch.present), target[batch.present]
    sign = np.where(target == state.first_class + model, 1.0, -1.0)
    with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers prove nothing
        try:
            scores = linear_scores(rows, w[model : model + 1], b[model : model + 1])[:, 0]
            return check_separability(rows, sign, np.abs(scores), fit_intercept=fit_intercept)
        except ValueError:  # scores that overflow
            return UNDECIDED


def check_separability(
    rows: Rows, sign: Floats, distance: Floats, *, fit_intercept: bool
) -> Separability:
    """Decide whether a hyperplane separates two sides, from as few rows as possible.

    Parameters
    ----------
    rows : Rows
        Finite rows.
    sign : ndarray, shape (n,)
        The side of each row, -1.0 or 1.0.
    distance : ndarray, shape (n,)
        Rows with the smallest are checked first.
    fit_intercept : bool
        Whether the hyperplane has an intercept.
    """
    size = max(FIRST_ROWS, FIRST_MULTIPLE * rows.values.size // rows.n_rows)
    chosen = _smallest(distance, size)
    while len(chosen) * min(len(chosen), rows.n_features) <= MAX_CHECK_SIZE:
        part, columns = _occupied_columns(rows.take(chosen))
        result = _check_part(part, sign[chosen], fit_intercept)
        if isinstance(result, Separability):
            return result
        measure = distance
        if result is not None:
            w = np.zeros((1, rows.n_features))
            w[0, columns] = result[: len(columns)]
            b = result[len(columns) :] if fit_intercept else np.zeros(1)
            measure = sign * linear_scores(rows, w, b)[:, 0]
            margin = _sure_margin(rows, w[0], b[0], measure)
            if margin > 0:
                return Separability("separable", margin)
        more = np.union1d(chosen, _smallest(measure, 2 * len(chosen)))
        if len(more) == len(chosen):
            break
        chosen = more
    return UNDECIDED


def _smallest(numbers: Floats, count: int) -> Indices:
    """Return the indices of the smallest numbers, ascending."""
    if count >= len(numbers):
        return np.arange(len(numbers))
    return np.sort(np.argpartition(numbers, count)[:count])


def _occupied_columns(rows: Rows) -> tuple[Rows, Indices]:
    """Return sparse rows without empty columns, and the columns left; dense rows as they are."""
    if rows.indices is None:
        return rows, np.arange(rows.n_features)
    if core_rows(rows).has_repeats():
        rows = rows.sum_duplicates()
    assert rows.indices is not None
    columns, index = np.unique(rows.indices, return_inverse=True)
    index = index.astype(rows.indices.dtype)
    return Rows(rows.values, len(columns), index, rows.indptr), columns


def _check_part(rows: Rows, sign: Floats, fit_intercept: bool) -> Separability | Floats | None:
    """Return a proof of overlap, a separating direction, or None if neither was found."""
    from separable.geometry.cone.signed_rows import SeenRows, SignedRows
    from separable.geometry.search.max_margin import bracket_of
    from separable.geometry.search.verdict_search import search

    if rows.n_features == 0 or (sign == sign[0]).all():
        return None
    cone = SignedRows(rows, sign, fit_intercept)
    result = search(cone)
    reduction = result.reduction
    if reduction is None:
        return None if result.bracket is None else result.bracket.u
    if not reduction.a.any():
        return reduction.u
    # in units of the columns' ranges, so that neither their sizes nor their means matter
    if not bracket_of(SeenRows(cone), reduction.a).bound <= MEAN_TOLERANCE:
        return None
    bound = bracket_of(cone, reduction.a).bound
    return Separability("overlap", bound, int(np.count_nonzero(reduction.a)))


def _sure_margin(rows: Rows, w: Floats, b: float, scores: Floats) -> float:
    """Return the margin of a hyperplane, rounded down; not positive if it does not separate."""
    if not (scores > 0).all():
        return 0.0
    length = float(np.linalg.norm(w))
    terms = rows.n_features if rows.indptr is None else int(np.diff(rows.indptr).max(initial=0))
    magnitude = np.abs(rows.values).max(initial=0.0) * np.abs(w).sum() + abs(b)
    lost = 2.0**-52 * (terms + 2) * float(magnitude)
    return (float(scores.min()) - lost) / length if length > 0 else 0.0
