"""Write the golden model files that are not there yet: ``python -m tests.model.golden.make``.

Each specimen becomes a file and, beside it, JSON with data and what the model says of it. Files
that are there are never written again: they are what a past version wrote.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from separable.model.files.model_file import FORMAT_VERSION
from tests.model.specimens import Specimen, specimens

if TYPE_CHECKING:
    from separable.model.kinds import Model

FOLDER = Path(__file__).parent
#: Of each learner one with two classes is enough, and one sparse file of votes.
LEFT_OUT = re.compile(r", (sparse|three classes)$")


def file_of(name: str) -> Path:
    """Return the file of a specimen in this version of the format."""
    return FOLDER / f"v{FORMAT_VERSION}" / f"{re.sub('[^a-z0-9]+', '-', name)}.safetensors"


def told(model: Model, data: Any) -> dict[str, Any]:
    """Return all that a model says of some data, as JSON."""
    told: dict[str, Any] = {
        "predict": model.predict(data).tolist(),
        "scores": model.decision_function(data).tolist(),
        "explain": model.explain(data)[:3].to_dict(n=4),
        "feature_names": None if model.feature_names is None else list(model.feature_names),
        "repr": repr(model),
        "classes": None if model.classes is None else str(model.classes.dtype),
    }
    try:
        told["probabilities"] = model.predict_proba(data).tolist()  # type: ignore[union-attr]
    except AttributeError:
        told["probabilities"] = None
    if model.encoder is not None:
        told["by_column"] = {k: v.tolist() for k, v in model.explain(data).by_column().items()}
    return told


def continued(specimen: Specimen, model: Model) -> list[float] | None:
    """Return the scores after a model has learned on the same rows once more, if it can."""
    if not specimen.can_go_on:
        return None
    learner = go_on(type(specimen.estimator), model, specimen.data, specimen.target)
    return learner and learner.model_.decision_function(specimen.data).tolist()


def go_on(learner: Any, model: Model, data: Any, target: Any) -> Any:
    """Return the learner of a model after it has learned on, None if it learns all rows at once."""
    went_on = learner.from_model(model)
    try:
        return went_on.partial_fit(data, target)
    except AttributeError:
        return None


def as_json(data: Any) -> Any:
    """Return raw data as JSON has it: dates are tagged, matrices are lists."""
    if hasattr(data, "toarray"):
        return {"csr": data.toarray().tolist(), "dtype": str(data.dtype)}
    if isinstance(data, pd.DataFrame):
        return {"frame": {name: data[name].tolist() for name in data.columns}}
    if isinstance(data, np.ndarray):
        whole = data.astype(np.int64) if data.dtype.kind == "M" else data
        return {"dense": whole.tolist(), "dtype": str(data.dtype)}
    if isinstance(data, list):
        return [as_json(each) for each in data]
    if isinstance(data, dict):
        return {name: as_json(value) for name, value in data.items()}
    return {"date": data.isoformat()} if isinstance(data, dt.date) else data


def from_json(data: Any) -> Any:
    """Undo `as_json`."""
    from scipy.sparse import csr_array

    if isinstance(data, list):
        return [from_json(each) for each in data]
    if not isinstance(data, dict):
        return data
    if "dtype" in data:
        matrix = np.array(data.get("dense", data.get("csr")), data["dtype"])
        return csr_array(matrix) if "csr" in data else matrix
    if set(data) == {"frame"}:
        return pd.DataFrame(data["frame"])
    if set(data) == {"date"}:
        return dt.date.fromisoformat(data["date"])
    return {name: from_json(value) for name, value in data.items()}


def main() -> None:
    """Write what is missing."""
    for name, make in specimens().items():
        path = file_of(name)
        if LEFT_OUT.search(name) or path.exists():
            continue
        path.parent.mkdir(exist_ok=True)
        specimen = make()
        specimen.model.save(path, include_state=specimen.model.state is not None)
        document = {
            "data": as_json(specimen.data),
            "target": as_json(specimen.target),
            "told": told(specimen.model, specimen.data),
            "continued": continued(specimen, specimen.model),
        }
        path.with_suffix(".json").write_text(json.dumps(document, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
