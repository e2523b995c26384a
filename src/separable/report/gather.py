"""What a report says of rows that a model is measured on, besides its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.report.contents import Absent
from separable.report.learning_curve_part import learning_curve_of
from separable.report.separability_part import NUMBERS_PREDICTED, separability_of

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.report.scored_rows import ScoredRows

__all__ = ["growth_of", "learner_of", "separability_part"]


def separability_part(scored: ScoredRows, of_what: str = "", seed: int = 0) -> dict[str, Any]:
    """Return whether rows are separable, as fields of `Contents`.

    Parameters
    ----------
    scored : JudgedRows
    of_what : str
        Which rows these are, behind their number.
    seed : int, default 0
    """
    model = scored.model
    if model.classes is None:
        return {"separability": Absent(NUMBERS_PREDICTED), "separability_rows": ""}
    verdict, about = separability_of(
        scored.rows, scored.labels(), of_what=of_what, feature_names=model.feature_names, seed=seed
    )
    return {"separability": verdict, "separability_rows": about}


def growth_of(
    scored: ScoredRows, how: str = "", seconds: float = 5.0, learner: Any = None
) -> dict[str, Any]:
    """Return the learning curve of rows with a model's learner, as fields of `Contents`.

    Parameters
    ----------
    scored : JudgedRows
    how : str
        Behind the number of rows: which these are.
    seconds : float, default 5
        It takes about so long.
    learner : estimator, optional
        Not fitted. By default that of the model, with its parameters.
    """
    learner = learner_of(scored.model) if learner is None else learner
    if learner is None:
        reason = f"{scored.model.learner} cannot be retrained."
        return {"learning_curve": Absent(reason)}
    curve, about = learning_curve_of(
        learner,
        scored.rows.to_matrix(),
        scored.labels(),
        seconds=seconds,
        is_classifier=scored.model.classes is not None,
        weight=scored.weight,
        how=how,
    )
    return {"learning_curve": curve, "learning_curve_rows": about}


def learner_of(model: Model) -> Any:
    """Return the learner of a model with its parameters, not fitted; None where there is none."""
    import separable

    if model.learner not in separable._HOMES:
        return None
    try:
        return getattr(separable, model.learner)(**model.parameters)
    except TypeError:  # parameters of another version
        return None
