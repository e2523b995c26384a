"""The summary at the top of the page, and the verdicts, in sentences."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from separable.plot.displays.calibration import Z, wilson
from separable.report.page.formatting import LEVEL, as_percent, number, plural, shortened

if TYPE_CHECKING:
    from separable.geometry.verdict import Verdict
    from separable.model.metrics.evaluation import Evaluation
    from separable.report.contents import Certificate, Measured

__all__ = ["Headline", "certificate_text", "headline", "separability_text"]


#: Errors up to this fraction of those of the constant prediction count as 0: rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Headline:
    """Summary of the performance, for everybody.

    Parameters
    ----------
    figure : str
        The one number.
    means : str
        What it is, to be read on from the number.
    interval : str
        Its uncertainty, in a sentence.
    constant_figure, constant_means : str
        The same of the best constant prediction.
    conclusion : str
        How the two compare, in a sentence.
    clear : bool or None
        Whether the model is clearly better; None where there is no interval.
    scale : tuple of float or None
        Places between 0 and 1 of figure, low, high, constant.
    ends : tuple of str
        What 0 and 1 are.
    """

    figure: str
    means: str
    interval: str
    constant_figure: str
    constant_means: str
    conclusion: str
    clear: bool | None
    scale: tuple[float, float, float, float] | None
    ends: tuple[str, str]


def headline(measured: Measured, target: str) -> Headline:
    """Return the figure that counts most, beside the best constant prediction."""
    result = measured.figures
    if result.task == "classification":
        return _of_classes(result, measured.weight is None, _which_rows(measured))
    return _of_numbers(result, target, _which_rows(measured))


def _which_rows(measured: Measured) -> str:
    """Return how many rows a figure is of, and whether the model was trained on them."""
    rows = plural(measured.figures.rows, "row")
    if measured.is_new is None:
        return rows
    if measured.is_new:
        return f"{rows} that the model had not seen"
    seen = "" if measured.seen == measured.figures.rows else f" {measured.seen} of them"
    return f"{rows},{seen} seen in training,"


def _of_classes(evaluation: Evaluation, counted: bool, rows: str) -> Headline:
    accuracy, constant = evaluation.figures["accuracy"], evaluation.constant_figures["accuracy"]
    if counted:
        low, high = (
            float(end[0]) for end in wilson(np.array([accuracy]), np.array([evaluation.rows]))
        )
    else:
        error = evaluation.standard_errors.get("accuracy", math.nan)
        low, high = max(0.0, accuracy - Z * error), min(1.0, accuracy + Z * error)
    return Headline(
        as_percent(accuracy),
        f"accuracy on {rows.rstrip(',')}",
        f"{LEVEL} interval: {as_percent(low)} to {as_percent(high)}.",
        as_percent(constant),
        f"accuracy of always predicting {shortened(evaluation.constant, 40)}",
        _conclusion(1 - accuracy, 1 - constant, (1 - high, 1 - low), "mistakes", "fewer"),
        _clear(1 - constant, (1 - high, 1 - low)),
        (accuracy, low, high, constant),
        (as_percent(0, 0), as_percent(1, 0)),
    )


def _of_numbers(evaluation: Evaluation, target: str, rows: str) -> Headline:
    error, constant = evaluation.figures["mae"], evaluation.constant_figures["mae"]
    if error <= ROUNDING * constant:
        error = 0.0
    deviation = evaluation.standard_errors.get("mae", math.nan)
    low, high = max(0.0, error - Z * deviation), error + Z * deviation
    top = 1.08 * max(high if math.isfinite(high) else error, constant, 1e-300)
    answer = evaluation.constant
    always = "constant means" if isinstance(answer, list) else f"the mean, {number(answer)}"
    known = math.isfinite(deviation) and error > 0
    return Headline(
        number(error, 3),
        f"mean absolute error of the predictions of {shortened(target, 40)}, on {rows.rstrip(',')}",
        f"{LEVEL} interval: {number(low, 3)} to {number(high, 3)}." if known else "",
        number(constant, 3),
        f"mean absolute error of always predicting {always}",
        _conclusion(error, constant, (low, high), "error", "smaller"),
        _clear(constant, (low, high)),
        (error / top, low / top, high / top, constant / top) if known else None,
        ("0", number(top, 3)),
    )


def _clear(constant: float, ends: tuple[float, float]) -> bool | None:
    return None if math.isnan(ends[1]) else ends[1] < constant


def _conclusion(
    error: float, constant: float, ends: tuple[float, float], what: str, less: str
) -> str:
    """Say how errors compare with those of the constant answer."""
    several = what.endswith("s")
    if not constant > 0:
        return "The constant prediction makes no error here, and no model can do better."
    if ends[0] <= constant <= ends[1]:
        return (
            "The difference is within the uncertainty: the model is not clearly better than the "
            "constant."
        )
    if not error:
        return f"The model makes no {'mistake' if several else what} on these rows."
    percent = as_percent(abs(1 - error / constant), 0)
    if error < constant:
        return (
            f"The model makes {percent} {less} {what} than the constant."
            if several
            else f"The model's {what} is {percent} {less} than that of the constant."
        )
    return "The model is worse than the constant prediction."


def separability_text(verdict: Verdict) -> tuple[str, str]:
    """Return a verdict in a phrase, and in sentences what it means."""
    rows, several = plural(verdict.shape[0], "row"), len(verdict.classes) > 2
    first, second = (shortened(label, 40) for label in verdict.classes[:2].tolist())
    border = "hyperplanes between the classes" if several else "a hyperplane"
    if verdict.kind == "separable":
        how = (
            f"Weights of each class put all {rows} on the right side of {border}."
            if several
            else f"A hyperplane has all rows of {first} on one side and all of {second} on the "
            f"other, {rows} in all."
        )
        return "Separable", (
            f"{how} The margin is {number(verdict.margin)}, and the maximal margin is at most "
            f"{number(verdict.margin_bound)}."
        )
    if verdict.kind == "quasi-separable":
        return "Weakly separable", (
            f"The classes can only be separated with some of the {rows} on {border}."
        )
    if verdict.kind == "overlap":
        what = "the classes" if several else f"{first} from {second}"
        return "Not separable", f"No linear model separates {what} without errors on the {rows}."
    return "Undecided", (
        f"Whether a linear model classifies all {rows} correctly is not proved either way."
    )


def certificate_text(certificate: Certificate) -> str:
    """Return in a sentence how far from the optimum the fit is, at most."""
    of = "" if certificate.models == 1 else f" (the largest of {certificate.models} models)"
    gap, tol = number(certificate.relative_gap, 3), number(certificate.tol, 3)
    where = "a local optimum" if certificate.is_local else "the optimum"
    if certificate.converged:
        return (
            f"Certified: the relative gap between the objective and {where} is at most {gap}{of}. "
            f"The tolerance was {tol}."
        )
    return (
        f"The fit stopped before it reached the tolerance {tol}: the relative gap between the "
        f"objective and {where} is at most {gap}{of}. More iterations would help."
    )
