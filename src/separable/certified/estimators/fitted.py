"""A solved problem: models, certificates, and the warning if it did not converge."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separable.certified.duality.certificate import Certificate, CertifiedSolution
from separable.certified.duality.published import Published
from separable.certified.problem import Problem
from separable.estimator import convergence_warning
from separable.typing import Floats


@dataclass(frozen=True)
class Fitted:
    """The fitted models of all classes.

    Parameters
    ----------
    problem : Problem
    solution : CertifiedSolution
    published : Published
        The numbers of the models and their certificates.
    passes : ndarray, shape (k,)
    solvers : list of str
    is_penalised : bool
        Whether C is finite.
    calibration : ndarray, shape (k, 2), or None
        Slope and offset of each model's scores.
    doubt : str
        Without a penalty, what is to be said where the fit does not prove that it has an optimum.
    """

    problem: Problem
    solution: CertifiedSolution
    published: Published
    passes: NDArray[np.int64]
    solvers: list[str]
    is_penalised: bool = True
    calibration: Floats | None = None
    doubt: str = ""

    @staticmethod
    def side_by_side(parts: Sequence[Fitted]) -> Fitted:
        """Return the models of several targets of the same rows as those of one fit."""
        published = [part.published for part in parts]
        return replace(
            parts[0],
            published=replace(
                published[0],
                weights=np.hstack([one.weights for one in published]),
                intercept=np.concatenate([one.intercept for one in published]),
                certificates=[each for one in published for each in one.certificates],
                dual=np.hstack([one.dual for one in published]),
                rounding=next((one.rounding for one in published if one.rounding), None),
            ),
            passes=np.concatenate([part.passes for part in parts]),
            solvers=[name for part in parts for name in part.solvers],
            doubt=next((part.doubt for part in parts if part.doubt), ""),
        )

    @property
    def certificates(self) -> list[Certificate]:
        """Of the published numbers, one a model."""
        return self.published.certificates

    def reason(self, names: Sequence[str] | None = None) -> str:
        """Return why it has not converged, where that is known; columns by their names."""
        rounding = self.published.rounding
        return self.doubt if rounding is None else rounding.text(names)


def warn_of_gap(
    name: str,
    regularization: str | None,
    certificates: Sequence[Certificate],
    n_iter: int,
    reason: str = "",
    *,
    stacklevel: int = 2,
) -> None:
    """Warn of models that did not converge.

    Parameters
    ----------
    name : str
        The learner.
    regularization : {"C", "alpha"}
        The parameter that the advice names.
    certificates : sequence of Certificate
    n_iter : int
        Passes, the most of any model.
    reason : str, default ""
        Why they did not converge, or may have no optimum, where that is known.
    stacklevel : int, default 2
        Whom the warning is for; 1 is the caller.
    """
    short = [one for one in certificates if not one.converged]
    if short:
        worst = max(short, key=lambda one: one.relative_gap)
        text = _local(worst, n_iter) if worst.is_local else ""
        of = "" if len(certificates) == 1 else f" for {len(short)} of {len(certificates)} classes"
        reason = text or (
            f" stopped{of} after {n_iter} passes with a relative gap of {worst.relative_gap:.1e}; "
            f"{worst.tol:.1e} was asked for. {reason or _advice(worst, regularization)}"
        )
    elif reason:
        reason = f": {reason}"
    if reason:
        warnings.warn(f"{name}{reason}", convergence_warning(), stacklevel=stacklevel + 1)


def _local(certificate: Any, n_iter: int) -> str:
    return (
        f" stopped after {max(1, n_iter)} passes where a change of one weight still takes "
        f"{certificate.left / certificate.primal:.1e} of the objective away; "
        f"{certificate.tol:.1e} was asked for. More passes (max_iter) bring it closer to a local "
        "optimum."
    )


def _advice(worst: Certificate, regularization: str | None) -> str:
    """Return what to do where a fit did not converge."""
    if not worst.is_penalised:
        return (
            "Without a penalty there may be no optimum: classes that can be separated have none. A "
            "finite C has one."
        )
    other, close = "a larger alpha", ""
    if regularization == "C":
        other = "a smaller C"
        if math.isfinite(worst.distance):
            close = f"The weights are at most {worst.distance:.1e} from the optimum. "
    return (
        f"{close}More passes (max_iter), scaled columns (standardize=True) or {other} bring it "
        "closer."
    )
