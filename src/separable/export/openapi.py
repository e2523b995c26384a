"""OpenAPI document of a model: the columns of a row, with types, levels, ranges and an example."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.model.input_schema import LARGEST_NUMBER, example_row, input_schema
from separable.model.predict.probability import model_probabilities

if TYPE_CHECKING:
    from separable.model.input_schema import InputColumn
    from separable.model.kinds import Model

__all__ = ["document", "row_schema", "write"]

#: Levels of a column that are listed.
MOST_LEVELS = 1000
EXPLAIN = {
    "name": "explain",
    "in": "query",
    "description": "Number of largest contributions of each row.",
    "schema": {"type": "integer", "minimum": 0, "maximum": 9999, "default": 0},
}


def write(model: Model) -> str:
    """Return the document of a model as JSON text."""
    return json.dumps(document(model), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def document(model: Model, name: str = "model", version: str = "1") -> dict[str, Any]:
    """Return the OpenAPI 3.1 document of the service of a model.

    Parameters
    ----------
    model : LinearModel or VotedModel
    name, version : str

    Examples
    --------
    >>> from separable import LinearModel
    >>> model = LinearModel([[2, -1]], [0.5], None, "identity", ["width", "height"])
    >>> schemas = document(model)["components"]["schemas"]
    >>> schemas["Row"]["required"]
    ['width', 'height']
    """
    columns = input_schema(model)
    example = {} if columns is None else example_row(columns)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{name}: predictions of a {model.learner} model",
            "version": version,
            "description": "Rows in, predictions out; unusual values are listed in warnings.",
        },
        "paths": {
            "/predict": {
                "post": _operation("Predict rows.", _body(example), "Predictions")
                | {"parameters": [EXPLAIN]}
            },
            "/invocations": {
                "post": _operation("Predict as MLflow does.", _mlflow_body(example), "Values")
            },
        },
        "components": {
            "schemas": {
                "Row": row_schema(columns),
                "Prediction": _prediction_schema(model),
                "Predictions": _predictions_schema(),
                "Values": {
                    "type": "object",
                    "properties": {"predictions": {"type": "array"}},
                    "required": ["predictions"],
                },
                "Error": {
                    "type": "object",
                    "properties": {
                        "error": {"type": "string"},
                        "column": {"type": "string"},
                        "row": {"type": "integer"},
                    },
                    "required": ["error"],
                },
            }
        },
    }


def row_schema(columns: tuple[InputColumn, ...] | None) -> dict[str, Any]:
    """Return the JSON schema of a row."""
    if columns is None:
        return {"type": "object", "description": "Any keys, with numbers or texts as values."}
    return {
        "type": "object",
        "properties": {column.name: _column_schema(column) for column in columns},
        "required": [column.name for column in columns],
    }


def _column_schema(column: InputColumn) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": _types(column)}
    notes = [column.kind, f"missing: {column.policy}"]
    if column.kind == "number":
        schema |= {"minimum": -LARGEST_NUMBER, "maximum": LARGEST_NUMBER}
    if column.levels:
        shown = column.levels[:MOST_LEVELS]
        schema["examples"] = list(shown)
        notes.append(f"levels of the training data: {len(column.levels)}; others count as unseen")
    if column.low is not None:
        notes.append(f"training data: from {column.low:g} to {column.high:g}")
    if column.kind == "date":
        notes.append("an ISO date, 2024-01-31 or 2024-01-31T14:30:00")
    if column.converted:
        notes.append("texts are converted as in the training data")
    if not column.needs_value and column.kind in ("number", "date", "boolean"):
        notes.append("what cannot be converted counts as missing, with a warning")
    if column.example is not None and "examples" not in schema:
        schema["examples"] = [column.example]
    schema["description"] = "; ".join(notes)
    return schema


#: JSON types of values by kind of column, the usual one first.
TYPES = {
    "number": ["number", "string", "boolean"],
    "boolean": ["boolean", "string", "number"],
    "date": ["string", "number", "boolean"],
    "category": ["string", "number", "boolean"],
    "text": ["string", "number", "boolean"],
}


def _types(column: InputColumn) -> list[str]:
    """Return the JSON types that are answered: any value, if there is a policy for odd ones."""
    if column.needs_value:
        return TYPES[column.kind][: 1 if column.kind == "number" else None]
    return [*TYPES[column.kind], "null"]


def _prediction_schema(model: Model) -> dict[str, Any]:
    """Return the schema of one prediction."""
    if model.classes is None:
        names = {"prediction": {"type": "number"}}
        if model.n_scores > 1:
            names = {f"prediction_{k}": {"type": "number"} for k in range(model.n_scores)}
        return {"type": "object", "properties": names, "required": list(names)}
    labels = model.classes.tolist()
    properties: dict[str, Any] = {"prediction": {"enum": labels}}
    scores = ["score"] if len(labels) <= 2 else [f"score_{label}" for label in labels]
    properties |= {name: {"type": "number"} for name in scores}
    if model_probabilities(model, np.zeros((1, model.n_scores))) is not None:
        properties |= {
            f"probability_{label}": {"type": "number", "minimum": 0, "maximum": 1}
            for label in labels
        }
    return {"type": "object", "properties": properties, "required": list(properties)}


def _predictions_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "model": {"type": "object"},
            "predictions": {"type": "array", "items": {"$ref": "#/components/schemas/Prediction"}},
            "warnings": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "column": {"type": "string"},
                        "kind": {"enum": ["missing", "unseen", "out_of_range", "unconvertible"]},
                        "count": {"type": "integer"},
                        "rows": {"type": "array", "items": {"type": "integer"}},
                        "values": {"type": "array"},
                    },
                },
            },
        },
        "required": ["predictions", "warnings"],
    }


def _body(example: dict[str, Any]) -> dict[str, Any]:
    row = {"$ref": "#/components/schemas/Row"}
    records = {"type": "array", "items": row, "minItems": 1}
    return {"schema": records, "example": [example]}


def _mlflow_body(example: dict[str, Any]) -> dict[str, Any]:
    row = {"$ref": "#/components/schemas/Row"}
    return {
        "schema": {
            "type": "object",
            "properties": {"dataframe_records": {"type": "array", "items": row, "minItems": 1}},
            "required": ["dataframe_records"],
        },
        "example": {"dataframe_records": [example]},
    }


def _operation(summary: str, body: dict[str, Any], answer: str) -> dict[str, Any]:
    error = {"$ref": "#/components/schemas/Error"}
    refused = {"description": "Refused", "content": {"application/json": {"schema": error}}}
    fine = {"schema": {"$ref": f"#/components/schemas/{answer}"}}
    statuses = ("400", "401", "408", "413", "415", "422", "503")
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": {"application/json": body}},
        "responses": {
            "200": {"description": "Predictions", "content": {"application/json": fine}},
            **dict.fromkeys(statuses, refused),
        },
    }
