"""Summary table of an unpenalised logistic regression: coefficients, likelihoods, AIC, BIC."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import chdtrc, log_ndtr, ndtri, xlogy

from separable.certified.estimators.fitted import Fitted
from separable.certified.estimators.training_data import TrainingData
from separable.certified.inference.fisher_information import Spread, spread_of
from separable.certified.problem import TOGETHER
from separable.fitting.summary_table import INTERCEPT, SummaryTable, number_of
from separable.losses.softmax import softmax
from separable.model.linear_model import LinearModel
from separable.model.parameters import FRACTION
from separable.model.predict.probability import sigmoid
from separable.typing import Floats


@dataclass(frozen=True)
class LogisticCoefficient:
    """One line of the table.

    Parameters
    ----------
    name : str
        Of the column, or "intercept".
    label, against : object
        The class whose log-odds it adds to, and the class against which; None: all others.
    value, standard_error, z, p : float
        The estimate, its standard error, their ratio, and how likely a ratio so large is if the
        true value is 0. NaN where the rows do not determine them.
    log10_p : float
        The logarithm of p, finite also where p is too small for a number and is shown as 0.
    low, high : float
        The interval.
    """

    name: str
    label: Any
    against: Any
    value: float
    standard_error: float
    z: float
    p: float
    log10_p: float
    low: float
    high: float


@dataclass(frozen=True)
class Inference:
    """What a fit without penalty keeps of its rows: a few numbers a weight.

    Parameters
    ----------
    spreads : list of Spread
        Of each model; of classes learned jointly one.
    n_rows : float
        The weight of all rows.
    log_likelihood, null_log_likelihood : ndarray, shape (models,)
    """

    spreads: list[Spread]
    n_rows: float
    log_likelihood: Floats
    null_log_likelihood: Floats


@dataclass(frozen=True, repr=False)
class LogisticSummary(SummaryTable):
    """What a fit without penalty says of its coefficients and of itself; prints as a table.

    Parameters
    ----------
    classes : tuple
    multi_class : str
        "binary", "multinomial" (coefficients are contrasts with the first class) or "ovr".
    n_rows : float
        The weight of all rows: their number, if each counts once.
    df_model, df_residual : float
        Unknowns besides intercepts that the rows determine, and rows less all unknowns.
    log_likelihood, null_log_likelihood : float
        Of the model, and of intercepts alone, or without these of equal probabilities. Of "ovr"
        the sum over its models.
    deviance, aic, bic : float
        -2 log-likelihood, and it with 2, or log(n_rows), for each unknown.
    pseudo_r2 : float
        McFadden's, 1 - log-likelihood / null log-likelihood.
    likelihood_ratio, p : float
        Twice the difference of the log-likelihoods, and how likely one so large is by chance.
    level : float
        Of the intervals.
    coefficients : tuple of LogisticCoefficient
    notes : tuple of str
        What is to be known of it.
    """

    classes: tuple[Any, ...]
    multi_class: str
    n_rows: float
    df_model: float
    df_residual: float
    log_likelihood: float
    null_log_likelihood: float
    deviance: float
    aic: float
    bic: float
    pseudo_r2: float
    likelihood_ratio: float
    p: float
    level: float
    coefficients: tuple[LogisticCoefficient, ...]
    notes: tuple[str, ...]

    def _title(self) -> str:
        return "Logistic regression without penalty"

    def _pairs(self) -> list[tuple[str, str, str, str]]:
        many = {"binary": "binary", "multinomial": "multinomial", "ovr": "one-vs-rest"}
        return [
            ("Model:", many[self.multi_class], "Log-Likelihood:", f"{self.log_likelihood:.5g}"),
            ("Classes:", str(len(self.classes)), "LL-Null:", f"{self.null_log_likelihood:.5g}"),
            (
                "No. Observations:",
                f"{self.n_rows:g}",
                "LL ratio, p-value:",
                f"{self.likelihood_ratio:.4g}, {self.p:.3g}",
            ),
            ("Df Model:", f"{self.df_model:g}", "Pseudo R-squ.:", f"{self.pseudo_r2:.4f}"),
            ("Df Residuals:", f"{self.df_residual:g}", "AIC:", f"{self.aic:.5g}"),
            ("Deviance:", f"{self.deviance:.5g}", "BIC:", f"{self.bic:.5g}"),
        ]

    def _columns(self) -> Sequence[str]:
        low, high = (1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0
        return "coef", "std err", "z", "P>|z|", f"[{low:.4g}", f"{high:.4g}]"

    def _blocks(self) -> list[tuple[str, list[tuple[str, ...]]]]:
        blocks: list[tuple[str, list[tuple[str, ...]]]] = []
        for line in self.coefficients:
            other = "the rest" if line.against is None else str(line.against)
            heading = f"{line.label} against {other}"
            if not blocks or blocks[-1][0] != heading:
                blocks.append((heading, []))
            blocks[-1][1].append((line.name, *_cells(line)))
        return blocks

    def _notes(self) -> Sequence[str]:
        return self.notes


def _cells(line: LogisticCoefficient) -> list[str]:
    return [
        f"{line.value:.5g}",
        f"{line.standard_error:.4g}",
        number_of(line.z),
        "nan" if math.isnan(line.p) else f"{line.p:.3f}",
        f"{line.low:.4g}",
        f"{line.high:.4g}",
    ]


def check_level(owner: object, level: Any) -> None:
    """Refuse a level of intervals that is none."""
    if not FRACTION.holds(level):
        raise ValueError(
            f"The 'level' parameter of {type(owner).__name__}.summary must be {FRACTION.words}. "
            f"Got {level!r} instead."
        )


def infer(fitted: Fitted, training: TrainingData) -> Inference | None:
    """Return what is kept of the rows of a fit without penalty; None: rows are too few."""
    problem, found = fitted.problem, fitted.solution
    n, d = problem.rows.shape
    if n < d + problem.fit_intercept:
        return None
    c = np.ones(n) if problem.weight is None else problem.weight
    spreads = []
    for model, _ in enumerate(training.models):
        s = found.lane(model).scores
        shares = sigmoid(s) if found.width == 1 else softmax(s)[:, 1:]
        spreads.append(spread_of(problem, c, shares))
    return Inference(
        spreads,
        float(c.sum()),
        -np.array([one.primal for one in fitted.certificates]),
        np.array(list(_null_likelihoods(training, c, fit_intercept=problem.fit_intercept))),
    )


def _null_likelihoods(training: TrainingData, c: Floats, *, fit_intercept: bool) -> Iterator[float]:
    """Yield the log-likelihood of each model without columns."""
    assert training.classes is not None
    counts = np.bincount(training.label, c, len(training.classes))
    for target in training.models:
        mine = counts
        if target != TOGETHER:
            mine = np.array([counts.sum() - counts[target], counts[target]])
        shares = mine / mine.sum() if fit_intercept else np.full(len(mine), 1.0 / len(mine))
        yield float(xlogy(mine, shares).sum())


def summarise(
    kept: Inference,
    model: LinearModel,
    names: Sequence[str],
    *,
    level: float,
    fit_intercept: bool,
) -> LogisticSummary:
    """Return the summary of a model from what its fit kept."""
    assert model.classes is not None
    classes = model.classes.tolist()
    joint = len(classes) > 2 and len(kept.spreads) == 1
    lines = [
        line
        for block in _contrasts(kept, model, classes, joint=joint)
        for line in _lines(*block, names, level=level, fit_intercept=fit_intercept)
    ]
    models = len(classes) - 1 if joint else len(kept.spreads)
    df_model = float(sum(spread.rank for spread in kept.spreads) * (models if joint else 1))
    used = df_model + models * fit_intercept
    n, likelihood = kept.n_rows, float(kept.log_likelihood.sum())
    null = float(kept.null_log_likelihood.sum())
    ratio = max(2.0 * (likelihood - null), 0.0)
    return LogisticSummary(
        classes=tuple(classes),
        multi_class="binary" if len(classes) == 2 else "multinomial" if joint else "ovr",
        n_rows=n,
        df_model=df_model,
        df_residual=n * (1 if joint else models) - used,
        log_likelihood=likelihood,
        null_log_likelihood=null,
        deviance=-2.0 * likelihood,
        aic=2.0 * used - 2.0 * likelihood,
        bic=math.log(n) * used - 2.0 * likelihood,
        pseudo_r2=1.0 - likelihood / null,
        likelihood_ratio=ratio,
        p=float(chdtrc(df_model, ratio)) if df_model > 0 else math.nan,
        level=level,
        coefficients=tuple(lines),
        notes=tuple(_notes(lines, classes, joint=joint, models=models)),
    )


def _contrasts(
    kept: Inference, model: LinearModel, classes: list[Any], *, joint: bool
) -> Iterator[tuple[Any, Any, Floats, float, Floats, float]]:
    """Yield class, class against it, weights, intercept and the standard errors of these."""
    W, b = model.weights, model.intercept
    for k in range(len(W)):
        if joint and k == 0:
            continue
        spread, place = (kept.spreads[0], k - 1) if joint else (kept.spreads[k], 0)
        errors = spread.weights[place], float(spread.intercept[place])
        if joint:
            yield classes[k], classes[0], W[k] - W[0], float(b[k] - b[0]), *errors
        elif len(classes) == 2:
            yield classes[1], classes[0], W[0], float(b[0]), *errors
        else:
            yield classes[k], None, W[k], float(b[k]), *errors


def _lines(
    label: Any,
    against: Any,
    weights: Floats,
    b: float,
    errors: Floats,
    b_error: float,
    names: Sequence[str],
    *,
    level: float,
    fit_intercept: bool,
) -> Iterator[LogisticCoefficient]:
    """Yield the lines of one class, the intercept first."""
    named = [*([INTERCEPT] if fit_intercept else []), *names]
    values = np.concatenate([[b], weights]) if fit_intercept else weights
    errors = np.concatenate([[b_error], errors]) if fit_intercept else errors
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        z = values / errors
        log_p = math.log(2.0) + log_ndtr(-np.abs(z))
        reach = float(ndtri(0.5 + level / 2.0)) * errors
        p = np.exp(log_p)
    columns = values, errors, z, p, log_p / math.log(10.0), values - reach, values + reach
    for name, *numbers in zip(named, *columns, strict=True):
        yield LogisticCoefficient(name, label, against, *map(float, numbers))


def _notes(
    lines: list[LogisticCoefficient], classes: list[Any], *, joint: bool, models: int
) -> Iterator[str]:
    if joint:
        yield f"Coefficients are log-odds of each class against {classes[0]!r}, the first."
    elif models > 1:
        yield "One model a class, against the rest: likelihoods, AIC and BIC are sums over these."
    unknown = list(dict.fromkeys(line.name for line in lines if math.isnan(line.standard_error)))
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        yield (
            f"The rows do not determine {', '.join(unknown[:5])}{more}: constant columns, or "
            "columns that depend on others. Leave some of these out."
        )
