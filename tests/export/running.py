"""Runs exported files where they are meant to run, and says what they answer."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from separable.export import export

if TYPE_CHECKING:
    from pathlib import Path

#: What stands for an answer that was refused.
REFUSED = "refused"


@dataclass(frozen=True)
class Answer:
    scores: list[float]
    prediction: Any
    probabilities: list[float] | None


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: make system installs what Debian has of it")
    return found


def answers(language: str, model: Any, rows: list[Any], folder: Path, **options: Any) -> list[Any]:
    """Return an `Answer`, or REFUSED, for each raw row: values in the order of the columns."""
    runner = {"python": _python, "js": _js, "c": _c, "sql": _sql, "onnx": _onnx}[language]
    return runner(model, rows, folder, options)


def self_test(language: str, model: Any, folder: Path, **options: Any) -> None:
    """Export a model and run the test that is in the file."""
    made = export(model, to=language, **options)
    if language == "sql":
        query = made[made.index("/*") + 2 : made.index("*/")]
        found = sqlite3.connect(":memory:").execute(query).fetchall()
        assert found
        assert [ok for _, ok in found] == [1] * len(found)
        return
    if language == "onnx":
        _onnx_self_test(made)
        return
    file = folder / f"self_test.{language}"
    file.write_text(made, encoding="utf-8")
    if language == "c":
        line = compiled(file, folder / "self_test", "-DSELF_TEST")
    else:
        line = [sys.executable, "-I", "-S", file] if language == "python" else [tool("node"), file]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert done.stdout.endswith("all as expected\n")


def compiled(file: Path, program: Path, *options: str) -> list[Any]:
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-overlength-strings", "-pedantic"]
    line = [tool("gcc"), *flags, *options, "-x", "c", file, "-lm", "-o", program]
    subprocess.run(line, check=True)
    return [program]


# --- the languages ---

_PYTHON = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("model", sys.argv[1])
model = importlib.util.module_from_spec(spec)
spec.loader.exec_module(model)
for row in json.load(sys.stdin):
    if model.MODEL["takes"] == "record":
        row = dict(row)
    try:
        shares = model.probabilities(row) if hasattr(model, "probabilities") else None
        print(json.dumps([model.scores(row), model.predict(row), shares]))
    except ValueError as error:
        print(json.dumps(str(error)))
"""

_NODE = """
const model = require(process.argv[2]);
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const given of rows) {
  const row = process.argv[3] === "record" ? new Map(given) : given;
  try {
    const shares = model.probabilities ? model.probabilities(row) : null;
    console.log(JSON.stringify([model.scores(row), model.predict(row), shares]));
  } catch (error) {
    if (error.constructor !== Error) throw error;
    console.log(JSON.stringify(error.message));
  }
}
"""


def _read(lines: str) -> list[Any]:
    found = [json.loads(line) for line in lines.strip().split("\n")]
    return [REFUSED if isinstance(each, str) else Answer(*each) for each in found]


def _json_rows(rows: list[Any]) -> str:
    return json.dumps([list(row.items()) if isinstance(row, dict) else row for row in rows])


def _python(model: Any, rows: list[Any], folder: Path, options: dict[str, Any]) -> list[Any]:
    file = folder / "exported.py"
    file.write_text(export(model, to="python", **options), encoding="utf-8")
    return _run([sys.executable, "-I", "-S", "-W", "error", "-c", _PYTHON, file], rows)


def _js(model: Any, rows: list[Any], folder: Path, options: dict[str, Any]) -> list[Any]:
    (folder / "exported.js").write_text(export(model, to="js", **options), encoding="utf-8")
    (folder / "driver.js").write_text(_NODE)
    kind = "record" if rows and isinstance(rows[0], dict) else "row"
    return _run([tool("node"), folder / "driver.js", folder / "exported.js", kind], rows)


def _run(line: list[Any], rows: list[Any]) -> list[Any]:
    done = subprocess.run(line, input=_json_rows(rows), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return _read(done.stdout)


def _c(model: Any, rows: list[Any], folder: Path, options: dict[str, Any]) -> list[Any]:
    (folder / "exported.c").write_text(export(model, to="c", **options))
    numbers = model.encoder is None or model.encoder.kind == "polynomial"
    write = (lambda value: repr(float(value))) if numbers else _c_value
    values = ["{" + ", ".join(map(write, row)) + "}" for row in rows]
    linear = model
    classes = linear.classes is not None
    shares = classes and (linear.link != "score" or linear.calibration is not None)
    driver = f"""
#include "exported.c"
int main(void) {{
    int i, k, problem, place = 0;
    double scores[MODEL_N_SCORES], shares[MODEL_N_CLASSES + 1] = {{0}};
    static const model_cell rows[][MODEL_N_COLUMNS] = {{ {", ".join(values)} }};
    for (i = 0; i < {len(rows)}; ++i) {{
        problem = model_scores(rows[i], scores);
        if (problem) {{ printf("\\"problem %d\\"\\n", problem); continue; }}
        {"model_predict(rows[i], &place);" if classes else ""}
        {"model_probabilities(rows[i], shares);" if shares else ""}
        printf("[[");
        for (k = 0; k < MODEL_N_SCORES; ++k) printf("%s%.17g", k ? "," : "", scores[k]);
        printf("], %d, [", place);
        for (k = 0; k < MODEL_N_CLASSES; ++k) printf("%s%.17g", k ? "," : "", shares[k]);
        printf("]]\\n");
    }}
    return 0;
}}
"""
    (folder / "driver.c").write_text(driver)
    program = compiled(folder / "driver.c", folder / "driver")
    found = _read(subprocess.run(program, capture_output=True, text=True, check=True).stdout)
    return [each if each == REFUSED else _c_answer(linear, each, shares) for each in found]


def _c_answer(model: Any, found: Answer, shares: bool) -> Answer:
    if model.classes is None:
        scores = found.scores
        return Answer(scores, scores[0] if len(scores) == 1 else scores, None)
    label = model.classes[found.prediction].item()
    return Answer(found.scores, label, found.probabilities if shares else None)


def _c_value(value: Any) -> str:
    if value is None:
        return '{MODEL_MISSING, 0, "", 0}'
    if isinstance(value, bool):
        return f'{{MODEL_BOOLEAN, {int(value)}, "", 0}}'
    if isinstance(value, (int, float)):
        number = {np.inf: "INFINITY", -np.inf: "-INFINITY"}.get(float(value), repr(float(value)))
        return f'{{MODEL_NUMBER, {number}, "", 0}}'
    data = value.encode()
    text = "".join(f"\\{byte:03o}" for byte in data)
    return f'{{MODEL_TEXT, 0, "{text}", {len(data)}}}'


def _sql(model: Any, rows: list[Any], folder: Path, options: dict[str, Any]) -> list[Any]:
    query = export(model, to="sql", keep=["the id"], **options)
    columns = [name.replace('"', '""') for name in column_names(model)]
    listed = ", ".join(f'"{name}"' for name in ["the id", *columns])
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE rows ({listed})")
    marks = ", ".join("?" * (len(columns) + 1))
    base.executemany(
        f"INSERT INTO rows VALUES ({marks})", [(i, *row) for i, row in enumerate(rows)]
    )
    found = sorted(base.execute(query).fetchall())
    assert [row[0] for row in found] == list(range(len(rows)))
    return [_sql_answer(model, row[1:]) for row in found]


def _sql_answer(model: Any, row: tuple[Any, ...]) -> Any:
    if any(value is None for value in row):
        return REFUSED
    if model.classes is None:
        scores = list(row)
        return Answer(scores, scores[0] if len(scores) == 1 else scores, None)
    label, k = row[0], model.n_scores
    label = bool(label) if model.classes.dtype.kind == "b" else label
    return Answer(list(row[1 : 1 + k]), label, list(row[1 + k :]) or None)


def _onnx(model: Any, rows: list[Any], folder: Path, options: dict[str, Any]) -> list[Any]:
    onnx, runtime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    made = export(model, to="onnx", **options)
    onnx.checker.check_model(onnx.load_from_string(made), full_check=True)
    session = runtime.InferenceSession(made)
    columns = json.loads(session.get_modelmeta().custom_metadata_map["separable.columns"])
    if "missing" not in columns[0]:  # one matrix, not one input per column
        feed = {"X": np.array(rows, dtype=np.float64)}
    else:
        feed = {
            column["input"]: _onnx_values([row[at] for row in rows], column)
            for at, column in enumerate(columns)
        }
    return _onnx_answers(session, feed)


def _onnx_answers(session: Any, feed: dict[str, Any]) -> list[Any]:
    out = dict(zip([o.name for o in session.get_outputs()], session.run(None, feed), strict=True))
    assert out["scores"].dtype == np.float64
    shares = out.get("probabilities")
    return [
        REFUSED
        if not np.isfinite(scores).all()
        else Answer(
            scores.tolist(),
            out["prediction"][i].tolist()
            if hasattr(out["prediction"][i], "tolist")
            else out["prediction"][i],
            None if shares is None else shares[i].tolist(),
        )
        for i, scores in enumerate(out["scores"])
    ]


def _onnx_values(values: list[Any], column: dict[str, Any]) -> Any:
    if column["takes"] == "text":
        texts = [column["missing"] if v is None else str(v) for v in values]
        return np.array(texts, dtype=object)[:, None]
    if column["takes"].startswith("seconds"):
        values = [None if v is None else _seconds(v) for v in values]
    if "converted_from" in column:
        values = [_converted(v, column["converted_from"]) for v in values]
    return np.array([np.nan if v is None else float(v) for v in values])[:, None]


def _converted(text: str | None, how: dict[str, Any]) -> str | None:
    """Return the number in a text, as the caller of a graph has to read it."""
    if text is None or text.lower() in how.get("missing", ("n/a",)):
        return None
    for unit in how.get("units", ()):
        text = text.replace(unit, "")
    group = how.get("group", "")
    return (text.replace(group, "") if group else text).replace(how["decimal"], ".")


def _seconds(text: str) -> float:
    moment = dt.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=dt.UTC)
    return (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) / dt.timedelta(seconds=1)


def _onnx_self_test(made: bytes) -> None:
    """Run the rows that are in the metadata."""
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(made)
    known = session.get_modelmeta().custom_metadata_map
    tests = json.loads(known["separable.test_rows"])
    columns = json.loads(known["separable.columns"])
    rows = [test["row"] for test in tests]
    if "missing" not in columns[0]:  # one matrix, not one input per column
        feed = {"X": np.array(rows, dtype=np.float64)}
    else:
        feed = {
            column["input"]: np.array(
                [[row[at]] for row in rows], object if column["takes"] == "text" else np.float64
            )
            for at, column in enumerate(columns)
        }
    for found, test in zip(_onnx_answers(session, feed), tests, strict=True):
        error = np.abs(np.array(found.scores) - test["scores"])
        assert (error <= 1e-9 * np.array(test["sizes"])).all()
        if json.loads(known["separable.classes"]) is not None:
            assert found.prediction == test["prediction"]


# --- what the model itself says ---


def column_names(model: Any) -> list[str]:
    """Return the raw columns in the order of an exported file, or none."""
    encoder = model.encoder
    if encoder is None:
        return list(model.feature_names or (f"x{j}" for j in range(model.n_features)))
    if encoder.kind == "table":
        return list(getattr(encoder, "column_types", dict.fromkeys(encoder.sources)))
    if encoder.kind in ("one-hot", "polynomial", "spline"):
        named = getattr(encoder, "feature_names_in_", None)
        return (
            list(named) if named is not None else [f"x{j}" for j in range(encoder.n_features_in_)]
        )
    return []


def data_of(model: Any, row: Any) -> Any:
    """Return one row as ``model.predict`` takes it."""
    kind = getattr(model.encoder, "kind", None)
    if kind in (None, "polynomial"):
        return np.array([row], dtype=np.float64)
    if kind in ("text", "dict"):
        return [row]
    if kind == "one-hot":
        table = np.empty((1, len(row)), dtype=object)
        table[0] = row
        return table
    return [dict(zip(column_names(model), row, strict=True))]


def expected(model: Any, row: Any) -> tuple[Any, Any]:
    """Return what the model says to a row, REFUSED if it refuses it, and the scores' sizes."""
    try:
        rows = model.explain(data_of(model, row)).rows
    except (ValueError, TypeError):
        return REFUSED, None
    model = replace(model, threshold=None)  # these rows are indicators already
    scores = model.decision_function(rows).reshape(-1).tolist()
    shares = None
    if model.classes is not None and (model.link != "score" or model.calibration is not None):
        shares = model.predict_proba(rows)[0].tolist()
    return Answer(scores, model.predict(rows)[0].tolist(), shares), _sizes(model, rows)


def _sizes(model: Any, rows: Any) -> np.ndarray:
    """Return the sum of absolute contributions to each score."""
    dense = np.zeros(rows.n_features)
    if rows.indices is None:
        dense += rows.values[0]
    else:
        np.add.at(dense, rows.indices, rows.values)
    return np.abs(model.intercept) + np.abs(model.weights) @ np.abs(dense)


KNOWN: dict[int, tuple[Any, list[Any]]] = {}


def _all_expected(model: Any, rows: list[Any]) -> list[Any]:
    if id(model) not in KNOWN or len(KNOWN[id(model)][1]) != len(rows):
        KNOWN[id(model)] = model, [expected(model, row) for row in rows]
    return KNOWN[id(model)][1]


def agree(model: Any, rows: list[Any], found: list[Any], precision: float = 1e-9) -> None:
    """Compare what an exported file answers with what the model says."""
    assert len(found) == len(rows)
    for row, answer, (wanted, size) in zip(rows, found, _all_expected(model, rows), strict=True):
        if wanted == REFUSED or answer == REFUSED:
            assert answer == wanted, row
            continue
        error = np.abs(np.array(answer.scores) - np.array(wanted.scores))
        assert (error <= precision * size).all(), (row, error / size)
        if model.classes is not None:
            assert answer.prediction == wanted.prediction, row
            assert type(answer.prediction) is type(wanted.prediction)
        if wanted.probabilities is None:
            assert answer.probabilities is None
        else:
            np.testing.assert_allclose(
                answer.probabilities,
                wanted.probabilities,
                rtol=0,
                atol=precision * (1 + size.max()),
            )
