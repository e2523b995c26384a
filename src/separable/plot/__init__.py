"""Pictures of models, data and validation, and of the lectures, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.plot.lda import LdaDisplay
    from separable.plot.lda1d import Lda1dDisplay
    from separable.plot.losses import LossesDisplay
    from separable.plot.lp_balls import LpBallsDisplay
    from separable.plot.masked_class import MaskedClassDisplay
    from separable.plot.normal import NormalDisplay
    from separable.plot.polynomial_fits import PolynomialFitsDisplay
    from separable.plot.posterior_lines import PosteriorLinesDisplay
    from separable.plot.regression_as_classifier import RegressionAsClassifierDisplay
    from separable.plot.separable_share import SeparableShareDisplay
    from separable.plot.start_and_order import StartAndOrderDisplay
    from separable.plot.training_frames import TrainingFramesDisplay
    from separable.plot.weight_images import WeightImagesDisplay

__all__ = [
    "Lda1dDisplay",
    "LdaDisplay",
    "LossesDisplay",
    "LpBallsDisplay",
    "MaskedClassDisplay",
    "NormalDisplay",
    "PolynomialFitsDisplay",
    "PosteriorLinesDisplay",
    "RegressionAsClassifierDisplay",
    "SeparableShareDisplay",
    "StartAndOrderDisplay",
    "TrainingFramesDisplay",
    "WeightImagesDisplay",
]

#: Where each public name lives.
_HOMES = {
    "Lda1dDisplay": "separable.plot.lda1d",
    "LdaDisplay": "separable.plot.lda",
    "LossesDisplay": "separable.plot.losses",
    "LpBallsDisplay": "separable.plot.lp_balls",
    "MaskedClassDisplay": "separable.plot.masked_class",
    "NormalDisplay": "separable.plot.normal",
    "PolynomialFitsDisplay": "separable.plot.polynomial_fits",
    "PosteriorLinesDisplay": "separable.plot.posterior_lines",
    "RegressionAsClassifierDisplay": "separable.plot.regression_as_classifier",
    "SeparableShareDisplay": "separable.plot.separable_share",
    "StartAndOrderDisplay": "separable.plot.start_and_order",
    "TrainingFramesDisplay": "separable.plot.training_frames",
    "WeightImagesDisplay": "separable.plot.weight_images",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = lazy_names(__name__, _HOMES)
