"""Pictures of models, data and validation, and of the lectures, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

if TYPE_CHECKING:
    from separable.plot.lda1d_display import Lda1dDisplay
    from separable.plot.lda_display import LdaDisplay
    from separable.plot.losses_display import LossesDisplay
    from separable.plot.lp_balls_display import LpBallsDisplay
    from separable.plot.masked_class_display import MaskedClassDisplay
    from separable.plot.normal_display import NormalDisplay
    from separable.plot.polynomial_fits_display import PolynomialFitsDisplay
    from separable.plot.posterior_lines_display import PosteriorLinesDisplay
    from separable.plot.regression_as_classifier_display import RegressionAsClassifierDisplay
    from separable.plot.separable_share_display import SeparableShareDisplay
    from separable.plot.start_and_order_display import StartAndOrderDisplay
    from separable.plot.training_frames_display import TrainingFramesDisplay
    from separable.plot.weight_images_display import WeightImagesDisplay

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
    "Lda1dDisplay": "separable.plot.lda1d_display",
    "LdaDisplay": "separable.plot.lda_display",
    "LossesDisplay": "separable.plot.losses_display",
    "LpBallsDisplay": "separable.plot.lp_balls_display",
    "MaskedClassDisplay": "separable.plot.masked_class_display",
    "NormalDisplay": "separable.plot.normal_display",
    "PolynomialFitsDisplay": "separable.plot.polynomial_fits_display",
    "PosteriorLinesDisplay": "separable.plot.posterior_lines_display",
    "RegressionAsClassifierDisplay": "separable.plot.regression_as_classifier_display",
    "SeparableShareDisplay": "separable.plot.separable_share_display",
    "StartAndOrderDisplay": "separable.plot.start_and_order_display",
    "TrainingFramesDisplay": "separable.plot.training_frames_display",
    "WeightImagesDisplay": "separable.plot.weight_images_display",
}

if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = lazy_names(__name__, _HOMES)
