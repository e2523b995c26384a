"""The peers of ``separable serve``: MLflow's scoring server, and FastAPI, with one pipeline.

They run in an environment of their own, `ENVIRONMENT`, which ``make bench-serve`` makes.
"""

from __future__ import annotations

import json
import subprocess
import textwrap
from pathlib import Path
from typing import Any

__all__ = ["ENVIRONMENT", "peers"]

ENVIRONMENT = Path(__file__).parents[1] / ".venv-serving"

FIT = """
    import json, pickle, sys
    from pathlib import Path
    import pandas as pd
    import mlflow.sklearn
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    folder = Path(sys.argv[1])
    table, y = json.loads((folder / "table.json").read_text())
    names = list(table)
    columns = make_column_transformer(
        (StandardScaler(), names[:10]), (OneHotEncoder(handle_unknown="ignore"), names[10:])
    )
    pipeline = make_pipeline(columns, LogisticRegression()).fit(pd.DataFrame(table), y)
    (folder / "model.pickle").write_bytes(pickle.dumps(pipeline))
    mlflow.sklearn.save_model(pipeline, str(folder / "mlflow"), serialization_format="cloudpickle")
"""

FASTAPI = """
    import pickle, sys
    import pandas as pd
    import uvicorn
    from fastapi import FastAPI
    from pydantic import create_model

    pipeline = pickle.load(open(sys.argv[1], "rb"))
    columns = {f"n{j}": (float, ...) for j in range(10)} | {f"c{j}": (str, ...) for j in range(10)}
    Row = create_model("Row", **columns)
    app = FastAPI()

    @app.post("/predict")
    def predict(rows: list[Row]) -> dict:
        frame = pd.DataFrame([row.model_dump() for row in rows])
        names = pipeline.predict(frame).tolist()
        return {"predictions": names, "p": pipeline.predict_proba(frame).tolist()}

    uvicorn.run(app, port=int(sys.argv[2]), log_level="error", access_log=False)
"""


def peers(folder: Path, table: dict[str, list[Any]], y: list[str]) -> dict[str, list[str]]:
    """Fit the pipeline of the peers; return the command of each, ``PORT`` standing for its port."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        print("No peers: make bench-serve installs them.\n")
        return {}
    (folder / "table.json").write_text(json.dumps([table, y]))
    for name, text in (("fit.py", FIT), ("fastapi_server.py", FASTAPI)):
        (folder / name).write_text(textwrap.dedent(text))
    subprocess.run([python, folder / "fit.py", folder], check=True, capture_output=True)
    mlflow = ["-m", "mlflow", "models", "serve", "-m", str(folder / "mlflow")]
    return {
        "MLflow": [str(python), *mlflow, "--env-manager", "local", "-p", "PORT"],
        "FastAPI": [
            str(python), str(folder / "fastapi_server.py"), str(folder / "model.pickle"), "PORT",
        ],
    }  # fmt: skip
