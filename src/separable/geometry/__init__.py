"""Linear separability with a checkable proof, margins, and features that make data separable."""

from separable.fitting.separation_error import SeparationError
from separable.geometry.margins import Margins, margins
from separable.geometry.proofs.proof import Overlap, QuasiSeparation, Separation
from separable.geometry.separability import separability
from separable.geometry.suggest_features import Suggestion, suggest_features
from separable.geometry.verdict import Verdict, Verdicts

__all__ = [
    "Margins",
    "Overlap",
    "QuasiSeparation",
    "Separation",
    "SeparationError",
    "Suggestion",
    "Verdict",
    "Verdicts",
    "margins",
    "separability",
    "suggest_features",
]
