"""A small fitted model of every learner and with every encoder, found through the registries.

A public learner is covered without a change here. A kind in ``ENCODERS`` wants its
specimens in ``ENCODED``; without them the tests that walk the registries fail.
"""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from inspect import isclass, signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.base import is_classifier

import separable
from separable import (
    DictEncoder,
    LinearModel,
    OneHotEncoder,
    PolynomialEncoder,
    SplineEncoder,
    TableEncoder,
    TextEncoder,
)
from separable.estimator import Estimator
from separable.features.base import Transformer
from separable.model.linear_model import TrainingState
from separable.model.predict.decision import Costs, Decision

if TYPE_CHECKING:
    from separable.model.kinds import Model


def _public_learners() -> dict[str, Any]:
    """Return the classes of all learners, tables apart, by the stem of their files."""
    public = [getattr(separable, name) for name in separable.__all__]
    classes = [each for each in public if isclass(each) and issubclass(each, Estimator)]
    classes = [each for each in classes if not issubclass(each, Transformer)]
    return {
        each.__module__.rpartition(".")[2].replace("_", "-"): each
        for each in classes
        if not each.__module__.startswith("separable.table")
    }


LEARNERS = _public_learners()


def task_of(name: str) -> str:
    """Return what a learner predicts."""
    return "classification" if is_classifier(LEARNERS[name]()) else "regression"


@dataclass(frozen=True)
class Specimen:
    """A model, data that it takes, and what it may learn on, if it can."""

    model: Model
    data: Any
    estimator: Any = None
    target: Any = field(default=None)

    @property
    def can_go_on(self) -> bool:
        """Whether its training can be continued from a file."""
        return self.model.state is not None and hasattr(type(self.estimator), "from_model")


def matrix(columns: int = 3) -> np.ndarray:
    """Counts, so that naive Bayes takes them too; no column is constant."""
    return np.random.default_rng(7).poisson(2.0, (24, columns)).astype(np.float64)


def target_of(task: str, n_classes: int, X: np.ndarray) -> np.ndarray:
    """Classes that every fold has, or numbers that the columns tell of."""
    if task == "regression":
        return X @ np.arange(1.0, X.shape[1] + 1) + np.sin(np.arange(len(X)))
    return np.array(["no", "yes", "maybe"])[np.arange(len(X)) % n_classes]


def learner_specimen(name: str, n_classes: int = 2, sparse: bool = False) -> Specimen:
    """Return a learner of the registry, fitted; with three classes where it predicts classes."""
    X = matrix()
    y = target_of(task_of(name), n_classes, X)
    rows: Any = csr_array(X) if sparse else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of convergence: any model will do
        estimator = short(LEARNERS[name]).fit(rows, y)
        return Specimen(estimator.model_, rows, estimator, y)


def short(learner: Any) -> Any:
    """Return a learner that stops soon; files of online ones hold every epoch."""
    options = signature(learner).parameters
    if learner.__module__.startswith("separable.online") and "max_iter" in options:
        return learner(max_iter=20)
    return learner(Cs=[0.1, 1.0]) if "Cs" in options else learner()


# --- encoders ---

TEXTS = ["a good film", "bad, bad film", "no good", "Très bon 日本 film", "", "good good bad"]
DICTS = [
    {"word": "the", "length": 3.0},
    {"word": "cat", "tags": ["noun", "animal"]},
    {"length": 2.5, "word": "日本"},
]
RECORDS = [
    {"age": 31.5, "city": "Rome", "member": True, "since": dt.date(2020, 2, 29), "note": TEXTS[0]},
    {"age": 44.0, "city": "Oslo", "member": False, "since": dt.date(2021, 7, 1), "note": TEXTS[1]},
    {"age": None, "city": "Rome", "member": None, "since": None, "note": None},
    {"age": 27.0, "city": None, "member": True, "since": dt.date(2019, 12, 31), "note": TEXTS[3]},
    {"age": 61.0, "city": "日本", "member": True, "since": dt.date(2021, 1, 5), "note": TEXTS[5]},
    {"age": 18.0, "city": "Oslo", "member": False, "since": dt.date(2022, 5, 9), "note": TEXTS[2]},
]
LEVELS = {"size": ["s", "l", "s", "s", "m", "l"], "colour": ["red", None, "日本", "red", "", "red"]}
OBJECTS = [["a", 1], [None, 2.5], ["b", float("nan")], ["a", None], ["é", True], ["", -3]]
GRID = np.array([[1, 3], [2, 3], [1, 4], [2, 5], [1, 3], [2, 4]])
KINDS = {
    "number": ["age"],
    "category": ["city"],
    "boolean": ["member"],
    "date": ["since"],
    "text": ["note"],
}


def kinds(*names: str, **options: Any) -> tuple[TableEncoder, list[dict[str, Any]]]:
    """Return a TableEncoder of some columns of the records, and those."""
    chosen = {name: KINDS[name] for name in names}
    columns = {column for listed in chosen.values() for column in listed}
    records = [{k: v for k, v in record.items() if k in columns} for record in RECORDS]
    return TableEncoder(**{**chosen, **options}), records


Fresh = Callable[[], tuple[Any, Any]]
#: For each kind of encoder: ways to set it up, each with its raw data.
CONVERTED = {
    "price": ["$1,133.98", "(1,200)", "$5", "n/a"] * 2,
    "cost": ["1.234,50 EUR", "12,00 EUR", "3 EUR", "5,5"] * 2,
    "share": ["38.4%", "5%", "1.25%", "100%"] * 2,
    "when": ["05.03.2024", "6.3.24 14:30", "17.03.2024", "unknown"] * 2,
    "born": ["Mar 5, 1990", "6 Apr 1991", "1/31/1992 2:05 pm", "2000-01-01"] * 2,
    "took": ["1h 30m", "45m", "2 h", "1:15"] * 2,
}
ENCODED: dict[str, dict[str, Fresh]] = {
    "table": {
        "numbers": lambda: kinds("number"),
        "unscaled": lambda: kinds("number", scale=False),
        "categories": lambda: kinds("category"),
        "rare": lambda: kinds("number", "category", min_count=2, unseen="other"),
        "booleans": lambda: kinds("boolean"),
        "dates": lambda: kinds("date"),
        "texts": lambda: kinds("text"),
        "all": lambda: kinds(*KINDS),
        "hashed": lambda: kinds("number", "text", text={"note": {"n_features": 16}}),
        "converted": lambda: (TableEncoder(), CONVERTED),
        "curves": lambda: kinds("number", "category", curves=True),
    },
    "text": {
        "words": lambda: (TextEncoder(), TEXTS),
        "pairs": lambda: (TextEncoder(ngram_range=(1, 2), sublinear_tf=True, norm="l1"), TEXTS),
        "letters": lambda: (
            TextEncoder(analyzer="char_wb", ngram_range=(2, 3), dtype=np.float32),
            TEXTS,
        ),
        "counts": lambda: (TextEncoder(use_idf=False, norm=None, binary=True), TEXTS),
        "pattern": lambda: (
            TextEncoder(token_pattern=r"[a-z]{3,}", stop_words=["film"], strip_accents="unicode"),
            TEXTS,
        ),
        "hashed": lambda: (TextEncoder(n_features=16), TEXTS),
        "few names": lambda: (TextEncoder(n_features=8, max_names=3, dtype=np.float32), TEXTS),
    },
    "one-hot": {
        "texts": lambda: (OneHotEncoder(handle_unknown="ignore"), LEVELS),
        "numbers": lambda: (OneHotEncoder(drop="if_binary", sparse_output=False), GRID),
        "small numbers": lambda: (OneHotEncoder(dtype=np.float32), GRID.astype(np.int8)),
        "objects": lambda: (OneHotEncoder(), np.array(OBJECTS, dtype=object)),
        "times": lambda: (OneHotEncoder(), (GRID * 40).astype("datetime64[D]")),
        "rare": lambda: (
            OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist", drop="first"),
            LEVELS,
        ),
        "given": lambda: (
            OneHotEncoder(categories=[["l", "s", "xl"], ["", "red", "日本"]], drop=["s", "red"]),
            {"size": ["s", "l"], "colour": ["red", "日本"]},
        ),
    },
    "spline": {
        "ages": lambda: (SplineEncoder(4), {"age": [31.5, 44.0, None, 27.0, 61.0, 18.0]}),
        "cycle": lambda: (SplineEncoder(periods={"x1": 5}, continuation="linear"), matrix()),
        "dense": lambda: (
            SplineEncoder(3, sparse_output=False),
            pd.DataFrame(matrix()[:6], columns=["a", "é", "c"]),
        ),
    },
    "polynomial": {
        "squares": lambda: (PolynomialEncoder(), GRID.astype(np.float64)),
        "pairs": lambda: (
            PolynomialEncoder((2, 2), interaction_only=True, include_bias=True),
            csr_array(matrix()),
        ),
        "names": lambda: (
            PolynomialEncoder(3),
            pd.DataFrame(matrix()[:6], columns=["a", "é", "c"]),
        ),
    },
    "dict": {
        "mixed": lambda: (DictEncoder(), DICTS),
        "dense": lambda: (DictEncoder(separator="::", sparse=False), DICTS),
    },
}


def fitted(kind: str, way: str) -> tuple[Any, Any]:
    """Return a fitted encoder and raw data for it."""
    encoder, data = ENCODED[kind][way]()
    return encoder.fit(data), data


def encoder_specimen(kind: str, way: str, n_classes: int = 2) -> Specimen:
    """Return a model with this encoder, with weights that are nobody's."""
    encoder, data = fitted(kind, way)
    d = len(encoder.feature_names)
    k = 1 if n_classes < 3 else n_classes
    weights = np.sin(np.arange(1.0, k * d + 1)).reshape(k, d)
    classes = ["a", "b", "c", "d"][:n_classes] if n_classes else None
    link: Any = "logistic" if n_classes else "identity"
    return Specimen(LinearModel(weights, np.arange(k) / 7, classes, link, encoder=encoder), data)


# --- what neither brings ---


def _plain(**changes: Any) -> Specimen:
    parts: dict[str, Any] = {
        "weights": [[0.5, -2.0, 1e-300]],
        "intercept": [0.25],
        "classes": ["no", "yes"],
        "link": "score",
    }
    return Specimen(LinearModel(**(parts | changes)), matrix())


#: Links, classes of every dtype, values of every kind.
PLAIN: dict[str, Callable[[], Specimen]] = {
    "names": lambda: _plain(feature_names=["é", "", "日本 \n\x00 x"]),
    "calibrated": lambda: _plain(calibration=[[1.5, -0.25]]),
    "threshold": lambda: _plain(threshold=1.5),
    "decision": lambda: _plain(
        calibration=[[1.5, -0.25]],
        decision=Decision(0, 0.0625, "cost", Costs(1, 15), 0.5, 0.125, 0.75, rows=40),
    ),
    "one class": lambda: _plain(classes=["only"]),
    "softmax": lambda: _plain(
        weights=np.eye(3) - 0.5, intercept=[0, 0.5, 1], classes=[1, 2, 3], link="softmax"
    ),
    "two targets": lambda: _plain(
        weights=[[1, 2, 3], [4, 5, 6]], intercept=[0, 1], classes=None, link="identity"
    ),
    **{
        f"{dtype} classes": lambda dtype=dtype: _plain(classes=np.array([0, 1], dtype))
        for dtype in (
            *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
            *("float16", "float32", "float64"),
        )
    },
    "values": lambda: _plain(
        learner="Nobody",
        family="online",
        parameters={"C": float("inf"), "seeds": [1, 2**63, -1], "deep": {"a": [None, True, "é"]}},
        evidence={"gap": float("nan"), "low": float("-inf"), "zero": -0.0},
        state=TrainingState(
            {
                "0-d": np.array(7),
                "empty": np.zeros((0, 3), np.float32),
                "flags": np.array([True, False]),
                "bytes": np.arange(5, dtype=np.uint8),
            },
            {"t": 3, "best": float("inf")},
        ),
    ),
}


def voted_specimen(n_classes: int, sparse: bool, dtype: str) -> Specimen:
    """Return votes over rows of another dtype."""
    whole = learner_specimen("voted-perceptron", n_classes, sparse)
    rows = whole.data.astype(dtype)
    estimator = LEARNERS["voted-perceptron"](max_voters=9).fit(rows, whole.target)
    return Specimen(estimator.model_, rows, estimator, whole.target)


def specimens() -> dict[str, Callable[[], Specimen]]:
    """Return how to make each specimen, by name."""
    made: dict[str, Callable[[], Specimen]] = {f"plain, {name}": PLAIN[name] for name in PLAIN}
    for name in LEARNERS:
        made[name] = lambda name=name: learner_specimen(name)  # type: ignore[misc]
        made[f"{name}, sparse"] = lambda name=name: learner_specimen(name, sparse=True)  # type: ignore[misc]
        if task_of(name) == "classification":
            made[f"{name}, three classes"] = lambda name=name: learner_specimen(name, 3)  # type: ignore[misc]
    for kind, ways in ENCODED.items():
        for way in ways:
            made[f"{kind}, {way}"] = lambda kind=kind, way=way: encoder_specimen(kind, way)  # type: ignore[misc]
    for dtype in ("float32", "float64"):
        made[f"votes, dense {dtype}"] = lambda dtype=dtype: voted_specimen(2, False, dtype)  # type: ignore[misc]
        made[f"votes, sparse {dtype}"] = lambda dtype=dtype: voted_specimen(3, True, dtype)  # type: ignore[misc]
    return made


def without_state(model: Model) -> Model:
    """Return the model as it is loaded from a file without training state."""
    return replace(model, state=None)
