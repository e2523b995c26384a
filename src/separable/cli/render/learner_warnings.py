"""What learners warn of, in the words of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.cli.io.output import counted
from separable.model.words import shown

if TYPE_CHECKING:
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model

__all__ = ["fit_warning"]


def fit_warning(
    message: Warning | str, model: Model, n_rows: int, encoder: TableEncoder | None = None
) -> str:
    """Return a warning of a learner in one line, with the names and options known here.

    That the levels of a category make up each other is how it is encoded: '' is returned.
    """
    from sklearn.exceptions import ConvergenceWarning

    from separable.moments.regression.rank_warning import DependentColumns

    if isinstance(message, DependentColumns) and encoder is not None:
        if not message.forget_levels(encoder.sources):
            return ""
        return message.text(lambda column: shown(encoder.feature_names[column]))
    evidence, k = model.evidence, model.n_scores
    counts_mistakes = {"epochs", "training_mistakes"} <= evidence.keys()
    if not isinstance(message, ConvergenceWarning) or not counts_mistakes:
        return " ".join(str(message).split())
    which = f" for at least one of its {k} one-vs-rest models" if k > 1 else ""
    return (
        f"{model.learner} stopped after {counted(evidence['epochs'], 'epoch')} and did not "
        f"converge: {evidence['training_mistakes']} of {n_rows} training rows are "
        f"misclassified{which}. The classes may not be linearly separable: try --model "
        "logistic-regression."
    )
