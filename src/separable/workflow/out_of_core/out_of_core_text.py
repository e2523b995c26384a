"""The result of training out of core, as text and as JSON values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separable.model.words import byte_text, column_lines, counted, number, shown
from separable.model.words import table as aligned
from separable.workflow.learners import LEARNERS
from separable.workflow.options import file_name
from separable.workflow.target import SHOWN_CLASSES
from separable.workflow.training_text import TOP_WEIGHTS, certificate_text, weights_text

if TYPE_CHECKING:
    from separable.errors import Spelling
    from separable.workflow.out_of_core.partition_training import OutOfCoreRun, Trial

__all__ = ["run_dict", "run_text"]


def run_text(run: OutOfCoreRun) -> str:
    """Return the results as text for a terminal."""
    sections = [
        _rows_text(run),
        _trials_text(run),
        _test_text(run),
        _fit_text(run),
        weights_text(run.model),
    ]
    return "\n\n".join(filter(None, sections))


def run_dict(run: OutOfCoreRun, spelling: Spelling) -> dict[str, Any]:
    """Return the results as JSON values."""
    record: Any = run.model.evidence["train"]
    proof = run.certificate
    return {
        "learner": run.model.learner,
        **{name: record[name] for name in ("task", "target", "weight", "rows", "constant")},
        "classes": None if run.found.classes is None else run.found.classes.tolist(),
        "columns": _columns(run),
        "n_features": run.model.n_features,
        "rows_without_target": run.found.missing,
        "block_bytes": run.block_bytes,
        "trials": [_trial_dict(trial) for trial in run.trials],
        "test": run.test or None,
        "certificate": None
        if proof is None
        else {
            name: getattr(proof, name)
            for name in ("primal", "dual", "gap", "relative_gap", "converged")
        },
        "top_weights": run.model.top_weights(TOP_WEIGHTS).to_dict(),
        "notes": [each.spelled(spelling) for each in run.notes],
        "warnings": [each.spelled(spelling) for each in run.warnings],
    }


def _columns(run: OutOfCoreRun) -> list[dict[str, Any]]:
    return [
        {"name": row.column, "type": row.type, "features": row.numbers_out}
        | ({"reason": row.why} if row.type == "dropped" else {})
        for row in run.found.encoder.columns_
    ]


def _rows_text(run: OutOfCoreRun) -> str:
    found = run.found
    what = "numbers"
    if found.classes is not None:
        labels = found.classes.tolist()
        more = ", ..." if len(labels) > SHOWN_CLASSES else ""
        listed = ", ".join(shown(label) for label in labels[:SHOWN_CLASSES])
        what = f"{len(labels)} classes ({listed}{more})"
    lines = [(shown(run.target_name), "target", what)]
    for column in _columns(run):
        about = shown(column["reason"], 150) if "reason" in column else ""
        if column["type"] in ("category", "date", "text"):
            about = counted(column["features"], "feature")
        lines.append((shown(column["name"]), column["type"], about))
    head = (
        f"{file_name(run.data)}: {counted(found.rows, 'row')}, "
        f"{byte_text(run.block_bytes)} of encoded blocks"
    )
    return "\n".join([head, *column_lines(lines)])


def _trials_text(run: OutOfCoreRun) -> str:
    by_loss = all(trial.has_loss for trial in run.trials)
    is_number = run.found.classes is None
    name = "rmse" if is_number else "log loss" if by_loss else "error"
    rows = [("learner", "best", name)]
    rows += [
        (trial.name, _value_text(trial), number(_figure(trial, by_loss, is_number)))
        for trial in run.trials
    ]
    folds = run.trials[0].losses.shape[1]
    return "\n".join([f"Mean {name} of {folds} folds, by the best value:", aligned(rows)])


def _figure(trial: Trial, by_loss: bool, is_number: bool) -> float:
    scores = (trial.losses if by_loss else trial.errors)[trial.best]
    mean = float(scores.mean())
    return mean**0.5 if is_number else mean


def _value_text(trial: Trial) -> str:
    regularization, value = LEARNERS[trial.name].regularization, trial.values[trial.best]
    if regularization is None or value is None:
        return ""
    at_edge = len(trial.values) > 1 and trial.best in (0, len(trial.values) - 1)
    edge = ", at the edge of the grid" if at_edge else ""
    return f"{regularization.name}={value:g}{edge}"


def _trial_dict(trial: Trial) -> dict[str, Any]:
    return {
        "learner": trial.name,
        "values": list(trial.values),
        "best": trial.values[trial.best],
        "losses": trial.losses.tolist() if trial.has_loss else None,
        "errors": trial.errors.tolist(),
    }


def _test_text(run: OutOfCoreRun) -> str:
    if not run.test:
        return "No rows were held out for a test."
    rows = [("", "the model", "the best constant")]
    for name in ("log_loss", "accuracy", "rmse", "mae", "r2"):
        if name in run.test:
            constant = run.test.get(f"constant_{name}")
            beside = "" if constant is None else number(constant)
            rows.append((name.replace("_", " "), number(run.test[name]), beside))
    held_out = counted(int(run.test["rows"]), "held-out row")
    return "\n".join([f"{held_out}, by a model of the others:", aligned(rows)])


def _fit_text(run: OutOfCoreRun) -> str:
    text = f"{run.model.learner} of all rows with {counted(run.model.n_features, 'feature')}"
    proof = run.certificate
    if proof is None:
        return f"{text}, solved from sums of one pass"
    return f"{text}\n  {certificate_text(run.model)}"
