"""Warnings of a training run: problems of the data, of the test rows, and of the fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable.errors import Message, Option, by_spelling
from separable.model.metrics.evaluation import figure
from separable.model.metrics.metric_registry import METRICS
from separable.model.words import counted, shown
from separable.workflow.progress import step

if TYPE_CHECKING:
    import pyarrow as pa

    from separable.data.checks.findings import Finding
    from separable.features.table.table_encoder import TableEncoder
    from separable.model.kinds import Model
    from separable.model.metrics.evaluation import Evaluation
    from separable.workflow.training_problem import Problem


__all__ = ["constant_warning", "data_warnings", "fit_warning", "remedies_of", "shared_rows"]

#: Notes of `separable.data.check` that matter as much as its warnings.
MATTER = ("imbalance",)

#: Minimum fraction of test rows that are also training rows for a warning.
SHARED = 0.05


def data_warnings(problem: Problem) -> list[Message]:
    """Return the important findings of `separable.data.check`, one line each."""
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
            conversions=dict(options.conversions),
        )
    return [
        Message(each.text, *_in_brackets(remedies_of(each)))
        for each in result
        if (each.severity == "warning" or each.kind in MATTER)
        and not (each.kind == "imbalance" and (options.cost or options.threshold))
    ]


def remedies_of(finding: Finding) -> list[Option]:
    """Return the options that resolve a finding."""
    return [Option(name, value) for name, values in finding.options.items() for value in values]


def _in_brackets(options: list[Option]) -> list[str | Option]:
    parts: list[str | Option] = []
    for option in dict.fromkeys(options):
        parts += [" " if parts else " (", option]
    return [*parts, ")"] if parts else []


def constant_warning(figures: Evaluation) -> Message | None:
    """Return a warning if a model is no better on test rows than the best constant.

    Measured by log loss, or by the accuracy or the RMSE; better by less than a standard error is
    not better. A log loss that one row makes large is no such case if the accuracy is better.
    """
    metrics = ("log_loss", "accuracy", "rmse")
    name = next((each for each in metrics if _is_compared(figures, each)), None)
    if name is None or _gain(figures, name) > _error(figures, name):
        return None
    gain, value = _gain(figures, name), figures.figures[name]
    has_accuracy = gain > 0 and _is_compared(figures, "accuracy")
    if has_accuracy and _gain(figures, "accuracy") > 2 * _error(figures, "accuracy"):
        return None
    constant = figures.constant_figures[name]
    always = shown(figures.constant if figures.task == "classification" else "the mean", 24)
    how = "No better" if gain <= 0 else "Better by less than a standard error"
    return Message(
        f"{how} than always {always}: {METRICS[name].text} {figure(name, value)} on the test "
        f"rows, {figure(name, constant)} for the constant. The columns may not predict the target, "
        "or not linearly: look at ",
        by_spelling("separable.data.check", "separable check"),
        ", and add columns or rows.",
    )


def _is_compared(figures: Evaluation, name: str) -> bool:
    """Return whether a metric is known of the model and of the constant."""
    return name in figures.figures and figures.constant_figures.get(name) is not None


def _gain(figures: Evaluation, name: str) -> float:
    sign = 1 if METRICS[name].greater_is_better else -1
    return sign * (figures.figures[name] - figures.constant_figures[name])


def _error(figures: Evaluation, name: str) -> float:
    return figures.standard_errors.get(name) or 0.0


def shared_rows(train: pa.Table, test: pa.Table) -> list[Message]:
    """Return a warning about test rows that are also training rows, unless by chance."""
    from separable.data.checks.checking import duplicates_between
    from separable.data.checks.duplicate_rows import equal_by_chance

    with step("Comparing training and test rows"):
        count, examples = duplicates_between(train, test)
        least = max(SHARED, 2 * equal_by_chance(train)) * test.num_rows
        if count < least:
            return []
    are = "is" if count == 1 else "are"
    return [
        Message(
            f"{count} of the {test.num_rows} test rows {are} also in the training rows, such as "
            f"row {examples[0][1] + 1} of the test rows: the metrics may be too optimistic. Remove "
            "duplicates, or keep related rows together with ",
            Option("group"),
            ".",
        )
    ]


def fit_warning(
    message: Warning | str, model: Model, n_rows: int, encoder: TableEncoder | None = None
) -> Message | None:
    """Return a warning of a learner in one line, in terms of columns and options.

    Returns None if the columns depend only because they are the levels of a category.
    """
    from separable.estimator import convergence_warning
    from separable.moments.regression.rank_warning import DependentColumns

    if isinstance(message, DependentColumns) and encoder is not None:
        if not message.forget_levels(encoder.sources):
            return None
        return Message(message.text(lambda column: shown(encoder.feature_names[column])))
    evidence, k = model.evidence, model.n_scores
    counts_mistakes = {"epochs", "training_mistakes"} <= evidence.keys()
    if not isinstance(message, convergence_warning()) or not counts_mistakes:
        return Message(" ".join(str(message).split()))
    which = f" for at least one of its {k} one-vs-rest models" if k > 1 else ""
    return Message(
        f"{model.learner} stopped after {counted(evidence['epochs'], 'epoch')} and did not "
        f"converge: {evidence['training_mistakes']} of {n_rows} training rows are "
        f"misclassified{which}. The classes may not be linearly separable: try ",
        Option("model", "logistic-regression"),
        ".",
    )
