"""Warnings of ``train``: problems in the data, and warnings of learners in terms of the options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.cli.io.output import counted
from separable.cli.render.check_text import options_text
from separable.cli.render.messages import step
from separable.model.words import shown

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.cli.training.training_data import Problem
    from separable.data.checks.findings import Finding
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model


__all__ = ["data_warnings", "fit_warning", "shared_rows"]

#: Notes of `separable.data.check` that matter to a trained model as much as its warnings do.
MATTER = ("imbalance",)

#: Minimum fraction of test rows that are also training rows for a warning.
SHARED = 0.01


def data_warnings(problem: Problem) -> list[str]:
    """Return what `separable.data.check` finds that matters, each in one line."""
    from separable.data.checks.checking import check

    options = problem.options
    named = [name for names in options.columns.values() for name in names]
    with step("Checking the data"):
        result = check(
            problem.whole,
            options.target,
            weight=options.weight,
            group=options.group,
            time=options.time,
            drop=options.columns["drop"],
            task=problem.task,
            asked=[name for name in named if name not in options.columns["drop"]],
        )
    return [
        " ".join([each.text, *_remedy(each)])
        for each in result
        if each.severity == "warning" or each.kind in MATTER
    ]


def _remedy(finding: Finding) -> list[str]:
    """Return what to type, in brackets."""
    remedy = options_text([finding])
    return [f"({remedy})"] if remedy else []


def shared_rows(train: pa.Table, test: pa.Table) -> list[str]:
    """Warn of rows tested on that were learned from too."""
    from separable.data.checks.checking import duplicates_between

    with step("Comparing training and test rows"):
        count, examples = duplicates_between(train, test)
    if count < SHARED * test.num_rows:
        return []
    are = "is" if count == 1 else "are"
    return [
        f"{count} of the {test.num_rows} test rows {are} also in the training rows, such as row "
        f"{examples[0][1] + 1} of the test rows: the metrics may be too optimistic. Remove "
        "duplicates, or keep related rows together with --group."
    ]


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
