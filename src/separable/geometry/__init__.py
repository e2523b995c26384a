"""Is it separable? The verdict with a proof anyone can check, margins, and what to add."""

from separable.geometry.margins import Margins, margins
from separable.geometry.proofs import Overlap, QuasiSeparation, Separation
from separable.geometry.separability import separability
from separable.geometry.verdict import Verdict

__all__ = [
    "Margins",
    "Overlap",
    "QuasiSeparation",
    "Separation",
    "Verdict",
    "margins",
    "separability",
]
