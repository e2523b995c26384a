"""Numbers as lines, as curves, or as curves with interactions: compared on rows held out.

Each way is an additive model with a smoothing level for each term, fitted to the same rows: by
penalized least squares, or of classes, and with constraints, by a learner with these levels and the
best of a few C, as the final fit searches one too. Squared errors, or log losses, on the rows of
one or more folds decide. The simplest way within a standard error of the best is taken. Pairs of
columns are screened on the rows that the models are fitted to, never on those held out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.columns import as_columns
from separable.data.table import TableError
from separable.errors import Message, Option
from separable.features.table.curve_column import CurveColumn
from separable.fitting.penalty_basis import (
    additive_fit,
    basis_of,
    constrain,
    targets_of,
    terms_of,
)
from separable.fitting.smoothing import DEFAULT_OPTIONS as SMOOTHING
from separable.model.metrics.evaluation import figure
from separable.model.metrics.metric_registry import METRICS
from separable.select.pair_screen import ScreenedPair, ScreenOptions, screen_pairs
from separable.workflow.columns.sampled_table import encoder_of, narrow
from separable.workflow.holdout_splits import folds_of, part_of
from separable.workflow.learners import new_learner
from separable.workflow.progress import detail, step
from separable.workflow.training_problem import adds_counts, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from separable.data.rows import Rows as EncodedRows
    from separable.features.table.table_encoder import TableEncoder
    from separable.fitting.smoothing import AdditiveFit
    from separable.typing import Floats
    from separable.workflow.target import Rows
    from separable.workflow.training_problem import Problem

__all__ = ["DEFAULT_OPTIONS", "TrialOptions", "with_curves"]


@dataclass(frozen=True)
class TrialOptions:
    """Limits of the comparison.

    Parameters
    ----------
    rows : int
        Most rows.
    least_rows : int
        Fewest rows on which curves are compared.
    held_out : int
        Folds are held out one after the other until this many rows were.
    least_pair_rows : int
        Fewest rows on which interactions are compared.
    pair_rows : int
        Rows for each interaction: 1000 rows have at most 20 of them.
    C_of_lines, C_of_curves : tuple of float
        Of the logistic regression. With curves, C multiplies estimated levels, which are too small
        where a class is rare: of two classes, the next C is tried as long as the last
        one was better.
    tol : float
        Of the logistic regression.
    least_probability : float
        Smaller probabilities of the class of a row count as this one.
    cells : float
        Most rows x numbers a row x scores of a final fit: beyond, curves and interactions have to
        be asked for.
    """

    rows: int = 8000
    least_rows: int = 60
    held_out: int = 1200
    least_pair_rows: int = 300
    pair_rows: int = 50
    C_of_lines: tuple[float, ...] = (0.1, 2.15, 46.4, 1000.0)
    C_of_curves: tuple[float, ...] = (1.0, 0.2, 0.04, 0.008)
    tol: float = 1e-3
    least_probability: float = 1e-6
    cells: float = 1e8


DEFAULT_OPTIONS = TrialOptions()

#: The ways, from the simplest, and how messages name them.
LINES, CURVES, PAIRS = "lines", "curves", "curves and interactions"
#: Non-zeros of the product of two tents.
PAIR_NUMBERS = 4


def with_curves(problem: Problem, chosen: Rows, options: TrialOptions = DEFAULT_OPTIONS) -> Problem:
    """Return the problem with numbers as curves, and pairs of columns, where that is better.

    Parameters
    ----------
    problem : Problem
        ``options.curves`` is "auto", "yes" or "no"; ``options.interactions`` is "auto", "no" or a
        number of pairs.
    chosen : ndarray of int
        The training rows; only these are used.
    options : TrialOptions
    """
    curves, pairs = problem.options.curves, problem.options.interactions
    if _only_counts(problem) and curves == "auto":
        curves = "no"
    ways = [way for way in (LINES, CURVES, PAIRS) if _is_allowed(way, curves, pairs)]
    if ways == [LINES]:
        return problem
    if ways == [CURVES]:
        return replace(problem, curves=True)
    with step("Comparing lines, curves and interactions") as progress:
        trial = _Trial.of(problem, chosen, options)
        if trial is None:
            return replace(problem, curves=curves == "yes")
        if pairs == "auto" and len(trial.part) < options.least_pair_rows:
            ways.remove(PAIRS)
        large = [way for way in ways[1:] if trial.cells(way) > options.cells]
        ways = [way for way in ways if way not in large]
        errors = trial.errors(ways, progress) if len(ways) > 1 else None
        way = ways[0] if errors is None else _simplest(errors)
        screened = trial.screened() if way == PAIRS else []
    if large:
        problem = replace(problem, notes=(*problem.notes, _large_note(large[0])))
    if errors is not None:
        message = _note(problem, errors, way, trial)
        if way == LINES:
            detail(message.spelled("command"))
        else:
            problem = replace(problem, notes=(*problem.notes, message))
    if way == PAIRS and screened:
        problem = replace(problem, notes=(*problem.notes, _pairs_note(screened)))
    names = tuple(pair.columns for pair in screened)
    return replace(problem, curves=way != LINES, interactions=names)


def _is_allowed(way: str, curves: str, pairs: str | int) -> bool:
    if isinstance(pairs, int):  # a number of pairs
        return way == PAIRS and curves != "no"
    if way == LINES:
        return curves != "yes"
    return curves != "no" and (way == CURVES or pairs == "auto")


def _only_counts(problem: Problem) -> bool:
    """Return whether all requested learners count values or binarize them, so have no curves."""
    learners = [new_learner(model) for model in problem.options.models]
    return bool(learners) and all(adds_counts(one) or hasattr(one, "binarize") for one in learners)


def _simplest(errors: dict[str, Floats]) -> str:
    """Return the first way whose mean error is within a standard error of the least."""
    best = min(errors, key=lambda way: float(errors[way].mean()))
    for way, each in errors.items():
        loss = each - errors[best]
        if float(loss.mean()) <= float(loss.std(ddof=1)) / np.sqrt(len(loss)):
            return way
    return best


@dataclass(frozen=True)
class _Trial:
    """A bounded sample of the training rows."""

    problem: Problem
    options: TrialOptions
    part: Rows
    table: pa.Table
    targets: Floats
    weight: Floats | None
    n_curves: int

    @classmethod
    def of(cls, problem: Problem, chosen: Rows, options: TrialOptions) -> _Trial | None:
        """Return the sample; None if there are too few rows, or no column becomes a curve."""
        part = chosen[part_of(problem, chosen, options.rows, problem.options.seed)]
        if len(part) < options.least_rows:
            return None
        table = problem.take(part)
        columns = _curved_columns(problem, table)
        classes = problem.task == "classification"
        targets = targets_of(problem.fit_values(part), classes)
        if not columns and not isinstance(problem.options.interactions, int):
            return None
        narrowed = narrow(problem, table, columns)
        weight = problem.weight_of(part)
        return cls(problem, options, part, narrowed, targets, weight, len(columns))

    def cells(self, way: str) -> float:
        """Return the size of a final fit, rows x numbers a row x scores."""
        curved, columns = self.n_curves, self.problem.features.num_columns
        pairs = min(ScreenOptions().pairs, curved * (curved - 1) // 2) if way == PAIRS else 0
        targets = self.problem.fit_values(self.part)
        scores = len(np.unique(targets)) if self.problem.task == "classification" else 1
        numbers = columns + curved + PAIR_NUMBERS * pairs
        return float(len(self.problem)) * numbers * (scores if scores > 2 else 1)

    def errors(
        self, ways: list[str], progress: Callable[[float, str], None]
    ) -> dict[str, Floats] | None:
        """Return the errors of the rows held out by each way; None if they fail."""
        options = self.problem.options
        folds = folds_of(self.problem, self.part, options.folds, options.seed)
        parts: dict[str, list[Floats]] = {way: [] for way in ways}
        scored, wanted = 0, min(self.options.held_out, len(self.part))
        for train, test in folds or ():
            if scored >= wanted:
                break
            try:
                made = self._fold_errors(ways, np.asarray(train), np.asarray(test))
            except TableError:
                return None
            for way, each in made.items():
                parts[way].append(each)
            scored += len(test)
            progress(min(scored / wanted, 1.0), f"{scored} rows held out")
        if scored < 2:
            return None
        joined = {way: np.concatenate(each) for way, each in parts.items()}
        both = CURVES in joined and PAIRS in joined
        if both and np.array_equal(joined[CURVES], joined[PAIRS]):
            del joined[PAIRS]  # no fold had a pair
        return joined

    def _fold_errors(self, ways: list[str], train: Rows, test: Rows) -> dict[str, Floats]:
        made: dict[str, Floats] = {}
        pairs: list[ScreenedPair] = []
        for way in ways:
            if way == PAIRS:
                pairs = self.screened(train)
                if not pairs and CURVES in made:
                    made[PAIRS] = made[CURVES]
                    continue
            try:
                wrong = self._losses(way, train, test, pairs)
            except TableError:
                if way != PAIRS or CURVES not in made:
                    raise
                made[PAIRS] = made[CURVES]  # too many features with pairs
                continue
            weight = None if self.weight is None else self.weight[test]
            made[way] = wrong * (1.0 if weight is None else weight / weight.mean())
        return made

    def _losses(self, way: str, train: Rows, test: Rows, pairs: list[ScreenedPair]) -> Floats:
        """Return the squared error or the log loss of each row held out."""
        later = as_columns(rows_of(self.table, test))
        if self.problem.task == "regression" and not self.problem.options.constraints:
            encoder, fit = self._fit(way, train, pairs)
            return np.asarray((self.targets[test] - fit.predict(encoder.encode(later)))[:, 0] ** 2)
        encoder, rows = self._encoded(way, train, pairs)
        values = self.problem.fit_values(self.part)
        weight = None if self.weight is None else self.weight[train]
        later_rows = encoder.encode(later)
        tried: list[Floats] = []
        several = self.problem.task == "classification" and len(np.unique(values)) > 2
        for C in self.options.C_of_lines if way == LINES else self.options.C_of_curves:
            if way != LINES and several and tried:
                break  # each fit takes long
            if way != LINES and len(tried) > 1 and tried[-1].mean() >= tried[-2].mean():
                break
            learner = self._learner(C, len(train))
            constrain(learner, encoder)
            basis = basis_of(encoder, learner, rows, values[train], weight)
            inside, outside = rows, later_rows
            if basis is not None:
                inside, outside = basis.rows(rows), basis.rows(later_rows)
            learner.fit(inside, values[train], sample_weight=weight)
            if self.problem.task == "regression":
                tried.append((values[test] - learner.predict(outside)) ** 2)
                continue
            of_class = learner.classes_ == values[test][:, None]
            own = (learner.predict_proba(outside) * of_class).sum(axis=1)  # 0: an unseen class
            tried.append(-np.log(np.maximum(own, self.options.least_probability)))
        return np.asarray(min(tried, key=lambda losses: float(losses.mean())))

    def _learner(self, C: float, n_rows: int) -> Any:
        """Return the learner of classes, or of numbers with constraints."""
        tol = self.options.tol
        if self.problem.task == "regression":
            return new_learner("monotone-ridge", alpha=1.0 / (C * n_rows), tol=tol)
        return new_learner("logistic-regression", C=C, tol=tol)

    def _encoded(
        self, way: str, train: Rows, pairs: list[ScreenedPair]
    ) -> tuple[TableEncoder, EncodedRows]:
        """Fit the encoder of one way to some rows of the sample, and encode them."""
        columns = as_columns(rows_of(self.table, train))
        encoder = encoder_of(self.problem, (), self.table.column_names)
        names = [pair.columns for pair in pairs]
        encoder.set_params(curves=way != LINES, interactions=names or None)
        rows = encoder.fit(columns).encode(columns)
        if rows.n_features > SMOOTHING.features:
            raise TableError("The sample has too many features to compare.")
        return encoder, rows

    def _fit(
        self, way: str, train: Rows, pairs: list[ScreenedPair]
    ) -> tuple[TableEncoder, AdditiveFit]:
        """Fit one way to some rows of the sample, by least squares."""
        encoder, rows = self._encoded(way, train, pairs)
        weight = None if self.weight is None else self.weight[train]
        fit = additive_fit(rows, terms_of(encoder), self.targets[train], weight)
        assert fit is not None  # there are few enough features
        return encoder, fit

    def screened(self, train: Rows | None = None) -> list[ScreenedPair]:
        """Return the best pairs of some rows of the sample, by residuals of curves."""
        train = np.arange(len(self.part)) if train is None else train
        try:
            encoder, fit = self._fit(CURVES, train, [])
        except TableError:
            return []
        asked = self.problem.options.interactions
        most = ScreenOptions().pairs if asked == "auto" else int(asked)
        if asked == "auto":
            most = min(most, len(train) // self.options.pair_rows)
        columns = as_columns(rows_of(self.table, train))
        residuals = self.targets[train] - fit.predict(encoder.encode(columns))
        weight = None if self.weight is None else self.weight[train]
        return screen_pairs(
            columns,
            residuals,
            encoder=encoder,
            sample_weight=weight,
            options=ScreenOptions(pairs=most),
        )


def _curved_columns(problem: Problem, table: pa.Table) -> list[str]:
    """Return the columns that become curves."""
    encoder = encoder_of(problem, ()).set_params(curves=True)
    try:
        encoder.fit(as_columns(table))
    except TableError:
        return []
    return [each.name for each in encoder.column_encoders if isinstance(each, CurveColumn)]


def _note(problem: Problem, errors: dict[str, Floats], way: str, trial: _Trial) -> Message:
    is_number = problem.task == "regression"
    name = "rmse" if is_number else "log_loss"
    figures = {
        each: float(np.sqrt(wrong.mean()) if is_number else wrong.mean())
        for each, wrong in errors.items()
    }
    what = METRICS[name].text
    listed = ", ".join(f"{figure(name, value)} with {each}" for each, value in figures.items())
    rows = len(next(iter(errors.values())))
    option = Option("interactions", "no") if way == PAIRS else Option("curves", "no")
    if way == LINES:
        option = Option("curves", "yes")
    return Message(
        f"Numbers are {way}: {what} {listed} ({rows} rows held out of {len(trial.part)}). To "
        "decide yourself: ",
        option,
        ".",
    )


def _large_note(way: str) -> Message:
    """Return a note that a way was not compared, with the option that takes it all the same."""
    option = Option("curves", "yes") if way == CURVES else Option("interactions", 10)
    return Message(
        f"{way.capitalize()} are not compared: fits to all rows would take long. To have them: ",
        option,
        ".",
    )


def _pairs_note(pairs: list[ScreenedPair]) -> Message:
    """Return a note that lists the pairs with their gain and its standard error."""
    shown = ", ".join(
        f"{pair.first} x {pair.second} ({pair.gain:.0f} ± {pair.standard_error:.0f})"
        for pair in pairs[:5]
    )
    others = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
    return Message(
        f"Interactions, with the decrease of the squared error in units of its variance: {shown}"
        f"{others}."
    )
