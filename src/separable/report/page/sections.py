"""Sections of the page: values for the template, and charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import Absent
from separable.model.metrics.metric_case import case_of
from separable.model.predict.decision import decision_text
from separable.model.voted.voted_model import VotedModel
from separable.plot.displays.ranking_curves import checked
from separable.report.charts import (
    classification_charts,
    effect_charts,
    regression_charts,
    training_charts,
)
from separable.report.charts.chart import Figure
from separable.report.charts.training_charts import target as target_figure
from separable.report.charts.training_charts import weights
from separable.report.page import report_tables
from separable.report.page.report_tables import OPEN, cards
from separable.report.page.wording import (
    MINUS,
    certificate_text,
    clean,
    count,
    headline,
    number,
    plural,
    separability_text,
    setting,
    shortened,
)

if TYPE_CHECKING:
    from separable.model.kinds import Model
    from separable.report.contents import Contents, Measured, Tried

__all__ = ["gather"]

#: Maximum notes and warnings, commands, and characters of each.
NOTES, COMMANDS, LONGEST = 40, 20, 600
#: Maximum number of parameters of the model.
PARAMETERS = 40
#: Why there are no curves if only metrics are known.
NO_ROWS = "Curves need labelled rows, and only the metrics are known here."


def gather(contents: Contents, title: str | None) -> tuple[dict[str, Any], list[Figure]]:
    """Return the values of the template, and the charts among them."""
    values = {
        **_heading(contents, title),
        **_good(contents),
        **_mistakes(contents),
        **_features(contents),
        **_shapes(contents),
        **_hard(contents),
        **_choice(contents),
        **_more_rows(contents),
        **_proofs(contents),
        **_data(contents),
        **_again(contents),
    }
    values["toc"] = _table_of_contents(values)
    result = [each for value in values.values() for each in _figures(value)]
    return values, result


def _figures(value: Any) -> list[Figure]:
    if isinstance(value, Figure):
        return [value]
    return [each for each in value if isinstance(each, Figure)] if isinstance(value, list) else []


def _table_of_contents(values: dict[str, Any]) -> list[tuple[str, str]]:
    mistakes = "Misclassifications" if values["classified"] else "Residuals"
    return [
        ("good", "Performance"),
        *([("mistakes", mistakes)] if values["figures"] else []),
        ("features", "Most important features"),
        *([("shapes", "Curves and interactions")] if values["shapes"] else []),
        ("try", "Try it"),
        ("hard", "Hardest rows"),
        ("choice", "Model selection"),
        ("more-rows", "Learning curve"),
        ("proofs", "Separability and certificate"),
        ("data", "Data"),
        ("again", "Reproduce"),
    ]


def _heading(contents: Contents, title: str | None) -> dict[str, Any]:
    data = contents.data
    return {
        "title": _title(contents, title),
        "learner": shortened(contents.model.learner),
        "lead": _lead(contents),
        "classified": data.task == "classification",
        **_short(contents),
        "warnings": _lines(contents.warnings),
        "warning_count": plural(len(contents.warnings), "warning"),
    }


def _title(contents: Contents, title: str | None) -> str:
    given = title or contents.title
    return shortened(given, 200) if given else f"Predicting {shortened(contents.data.target, 100)}"


def _lead(contents: Contents) -> str:
    """Return a sentence about learner and training data, as far as known."""
    data = contents.data
    used = sum(each.role in USED for each in data.columns)
    rows = [] if data.rows is None else [plural(data.rows, "row")]
    what = " and ".join(rows + ([plural(used, "column")] if used else []))
    name = shortened(data.name, 120) if data.name else ""
    of = f" of {name}" if what and name else name
    learned = f", trained on {what}{of}" if what or name else ""
    return f"{shortened(contents.model.learner)}{learned}."


def _short(contents: Contents) -> dict[str, Any]:
    """Return the headline: of the rows held out in training if the others are training rows."""
    measured, target = contents.measured, contents.data.target
    if isinstance(measured, Absent):
        return {"measured": measured, "headline": None, "caution": ""}
    caution, leading = measured.caution or "", measured
    if measured.is_new is False and contents.held_out is not None:
        leading = contents.held_out
        seen = headline(measured, target)
        caution = (
            f"The metric above is on rows held out in training. {seen.figure} {seen.means}. "
            f"{caution} Everything below is measured on those rows."
        )
    return {"measured": None, "headline": headline(leading, target), "caution": _line(caution)}


#: Roles of columns that are features.
USED = {"number", "category", "boolean", "date", "text"}


def _good(contents: Contents) -> dict[str, Any]:
    measured = contents.measured
    if isinstance(measured, Absent):
        return {"figures": None, "by_class": None, "how": "", "figure_notes": []}
    result = measured.figures
    return {
        "how": " ".join([_sentence(measured.how), *_threshold(contents.model)]),
        "figures": report_tables.figures(result),
        "figure_notes": _lines(result.notes),
        "by_class": report_tables.by_class(result) if result.task == "classification" else None,
    }


def _threshold(model: Model) -> list[str]:
    if model.decision is None:
        return []
    assert model.classes is not None
    return [f"Decision threshold: {decision_text(model.decision, model.classes)}."]


def _mistakes(contents: Contents) -> dict[str, Any]:
    measured = contents.measured
    values: dict[str, Any] = {"confusion": None, "pairs": None, "curves": [], "no_curves": []}
    if isinstance(measured, Absent):
        return values
    if measured.figures.task == "classification":
        values["confusion"] = classification_charts.confusion(measured.figures)
        values["pairs"] = classification_charts.confused_pairs(measured.figures)
    if not len(measured.y_true):
        values["no_curves"] = [NO_ROWS]
    elif measured.figures.task == "classification":
        values["curves"], values["no_curves"] = _class_curves(measured)
    else:
        values["curves"] = _number_curves(contents, measured)
    return values


def _class_curves(measured: Measured) -> tuple[list[Figure], list[str]]:
    """Return the available curves, and reasons for absent ones."""
    case: Any = case_of(
        measured.y_true, measured.predictions, measured.weight, measured.figures.positive
    )
    result: list[Figure] = []
    reasons: list[str] = []
    draw = [classification_charts.roc, classification_charts.precision_recall]
    if case.probabilities is None:
        reasons.append("The model has no probabilities, so there is no calibration curve.")
    else:
        draw += [classification_charts.calibration, classification_charts.sureness]
    for each in draw:
        try:
            result.append(each(checked(case)))
        except ValueError as reason:  # rows of one class, or no scores
            reasons.append(_line(str(reason)))
    return result, list(dict.fromkeys(reasons))


def _number_curves(contents: Contents, measured: Measured) -> list[Figure]:
    y_true = np.asarray(measured.y_true, dtype=np.float64)
    predicted = np.asarray(measured.predictions.predicted, dtype=np.float64)
    y_true, predicted = (each.reshape(len(each), -1)[:, 0] for each in (y_true, predicted))
    drawn = regression_charts.predicted_and_true(y_true, predicted, contents.data.target)
    return [drawn, regression_charts.residuals(y_true, predicted)]


def _features(contents: Contents) -> dict[str, Any]:
    model = contents.model
    common = [label for label, _ in contents.data.target_counts]
    drawn, table = weights(model, common, contents.data.spread)
    text = _about_weights(model, bool(contents.data.spread))
    if not drawn:
        text = f"All weights of {plural(model.n_features, 'feature')} are 0."
    return {"weights": drawn, "weights_text": text, "weights_table": table}


def _shapes(contents: Contents) -> dict[str, Any]:
    model = contents.model
    text = (
        "The model adds up a curve for each of these columns; grey bars are the training rows. "
        "The largest effects are drawn; values beyond the ends count as the ends."
    )
    return {
        "shapes": effect_charts.curves(model),
        "surfaces": effect_charts.pairs(model),
        "shapes_text": text,
    }


def _about_weights(model: Model, effects: bool) -> str:
    features = plural(model.n_features, "feature")
    meaning = "A weight is the change per unit of the feature after scaling and encoding. "
    meaning += (
        "An effect is the weight times the standard deviation of the feature in the training rows: "
        "a rare level has a small one. The largest effects are drawn."
        if effects
        else "The largest weights are drawn."
    )
    if isinstance(model, VotedModel):
        return (
            f"The model is a vote of many weight vectors over {features}; these are their means. "
            f"{meaning}"
        )
    if model.classes is None:
        what = "the prediction" if model.link == "identity" else "the logarithm of the prediction"
    else:
        what = (
            ("one score, whose sign gives the class")
            if model.n_scores == 1
            else "a score of each class"
        )
    return f"The model is linear: {features}, each times its weight, add up to {what}. {meaning}"


def _hard(contents: Contents) -> dict[str, Any]:
    rows = contents.hard_rows
    if isinstance(rows, Absent):
        return {"cards": None, "cards_text": "", "cards_open": 0, "hard_rows": rows}
    classified = contents.data.task == "classification"
    which = "that are misclassified with the most confidence"
    if not classified:
        which = "with the largest errors"
    text = f"Rows {which}: errors in the data often show here first."
    marked = any(row.texts for row in rows)
    marks = (
        f" Words on a solid line (+) count for the prediction, words on a dashed line ({MINUS}) "
        "against it; the darker, the more."
    )
    about = f" {_sentence(contents.hard_rows_about)}" if contents.hard_rows_about else ""
    return {
        "cards": cards(rows, classified),
        "cards_open": OPEN,
        "cards_text": text + about + (marks if marked else ""),
        "hard_rows": None,
    }


def _choice(contents: Contents) -> dict[str, Any]:
    tried, curve = contents.tried, contents.regularization
    values: dict[str, Any] = {
        "tried": not isinstance(tried, Absent),
        "no_tried": tried,
        "no_strengths": curve,
        "strengths": None,
        "learners": None,
        "parameters": [
            (shortened(name, 40), setting(value))
            for name, value in sorted(contents.model.parameters.items())[:PARAMETERS]
        ],
    }
    if not isinstance(tried, Absent):
        values |= {
            "learners": training_charts.learners(tried),
            "standings": report_tables.standings(tried),
            "tried_why": _line(tried.why),
            "tried_how": f"Cross-validation with {tried.folds} folds on {_compared_rows(tried)}.",
        }
    if not isinstance(curve, Absent):
        values["strengths"] = training_charts.regularization(curve)
    return values


def _compared_rows(tried: Tried) -> str:
    every = plural(tried.of_rows, "row")
    return every if tried.rows == tried.of_rows else f"{count(tried.rows)} of {every}"


def _more_rows(contents: Contents) -> dict[str, Any]:
    curve = contents.learning_curve
    if isinstance(curve, Absent):
        return {"learning": None, "no_learning": curve, "learning_how": ""}
    about = f" {_sentence(contents.learning_curve_rows)}" if contents.learning_curve_rows else ""
    how = (
        f"{curve.learner}, in {plural(curve.repeats, 'repetition')}, each with "
        f"{plural(curve.n_test, 'row')} held out.{about}"
    )
    return {"learning": training_charts.learning(curve), "no_learning": None, "learning_how": how}


def _proofs(contents: Contents) -> dict[str, Any]:
    verdict, certificate = contents.separability, contents.certificate
    values: dict[str, Any] = {
        "verdict": None,
        "no_verdict": verdict,
        "verdict_reason": "",
        "separability_rows": _line(contents.separability_rows),
        "certificate": None,
        "no_certificate": certificate,
        "certificate_values": "",
    }
    if not isinstance(verdict, Absent):
        values["verdict"] = separability_text(verdict)
        values["verdict_reason"] = _sentence(verdict.reason)
    if not isinstance(certificate, Absent):
        values["certificate"] = certificate_text(certificate)
        if certificate.primal is not None and certificate.dual is not None:
            values["certificate_values"] = (
                f"Primal objective {number(certificate.primal, 8)}; dual bound "
                f"{number(certificate.dual, 8)}."
            )
    return values


def _data(contents: Contents) -> dict[str, Any]:
    data = contents.data
    return {
        "about_data": _about_data(contents),
        "columns": report_tables.columns(data),
        "typical": bool(data.typical),
        "target_chart": target_figure(data),
        "notes": _lines(contents.notes),
    }


def _about_data(contents: Contents) -> str:
    data = contents.data
    name = shortened(data.name, 120) if data.name else "The data"
    target = shortened(data.target)
    if data.rows is None:
        return f"The number of training rows is unknown. The model predicts {target}."
    rows = plural(data.rows, "row")
    columns = f", and {plural(len(data.columns), 'column')} in all" if data.columns else ""
    return f"{name} has {rows} with a value of the target, {target}{columns}."


def _again(contents: Contents) -> dict[str, Any]:
    again = contents.reproduction
    facts = [(shortened(n, 40), shortened(v, 60)) for n, v in again.versions[:COMMANDS]]
    if again.seed is not None:
        facts.append(("seed", str(again.seed)))
    if again.model_file is not None:
        facts.append(("model file", shortened(again.model_file, 120)))
    if contents.data.sha256 is not None:
        facts.append(("SHA-256 of the data", shortened(contents.data.sha256, 80)))
    commands = "\n".join(clean(each)[: 4 * LONGEST] for each in again.commands[:COMMANDS])
    return {"commands": commands, "facts": facts}


def _lines(texts: tuple[str, ...]) -> list[str]:
    lines = [_line(text) for text in texts[:NOTES]]
    left = len(texts) - len(lines)
    return [*lines, f"{count(left)} more."] if left else lines


def _line(text: str) -> str:
    return shortened(text, LONGEST) if text else ""


def _sentence(text: str) -> str:
    line = _line(text)
    return line[:1].upper() + line[1:] + ("" if not line or line.endswith(".") else ".")
