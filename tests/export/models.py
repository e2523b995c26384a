"""Models to export, with raw rows: values in the order of the columns."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np

from separable import (
    BernoulliNB,
    DictEncoder,
    LinearModel,
    LogisticRegression,
    OneHotEncoder,
    PolynomialEncoder,
    Ridge,
    SplineEncoder,
    TableClassifier,
    TableEncoder,
    TextEncoder,
)
from separable.data import read
from separable.datasets import PENGUINS

Case = tuple[LinearModel, list[Any]]


def random_model(encoder: Any, k: int = 1, link: str = "score", seed: int = 0, **more: Any) -> Any:
    rng = np.random.default_rng(seed)
    d = len(encoder.feature_names)
    classes: Any = [f"class {c:02}" for c in range(max(k, 2))] if link != "identity" else None
    weights, intercept = rng.normal(size=(k, d)), rng.normal(size=k)
    return LinearModel(weights, intercept, classes, link, encoder=encoder, **more)


def rows_of(table: dict[str, list[Any]], model: Any, n: int = 60) -> list[Any]:
    names = list(dict.fromkeys(model.encoder.sources))
    return [tuple(table[name][i] for name in names) for i in range(min(n, len(table[names[0]])))]


def census(n: int = 400, seed: int = 0) -> dict[str, list[Any]]:
    """People, as in the Adult data: numbers, categories, booleans, dates, much of it missing."""
    rng = np.random.default_rng(seed)

    def some(values: Any, missing: float) -> list[Any]:
        lost = rng.random(n) < missing
        return [None if gone else v for v, gone in zip(values, lost, strict=True)]

    days = rng.integers(-20000, 30000, n)
    moments = np.datetime64("1970-01-01T00:00:00") + days * np.timedelta64(1, "D")
    moments = moments + rng.integers(0, 86400, n) * np.timedelta64(1, "s")
    return {
        "age": some(rng.integers(17, 90, n).tolist(), 0),
        "capital gain": some((rng.random(n) * 1e5).tolist(), 0.2),
        "tiny": some((rng.normal(size=n) * 1e-12 + 3e-9).tolist(), 0),
        "huge": some((rng.normal(size=n) * 1e200).tolist(), 0.1),
        "workclass": some(rng.choice(["Private", "State-gov", "Self-emp"], n).tolist(), 0.1),
        "country": some(rng.choice([f"country {i}" for i in range(30)], n).tolist(), 0),
        "married": some((rng.random(n) < 0.5).tolist(), 0),
        "union": some((rng.random(n) < 0.2).tolist(), 0.3),
        "born": some([str(m).replace("T", " ") for m in moments], 0.1),
        "hired": some([str(m)[:10] for m in moments[::-1]], 0),
    }


@cache
def penguins() -> Case:
    table = read(PENGUINS).table
    learned = TableClassifier(LogisticRegression()).fit(table, "species").model_
    return learned, rows_of(table.to_pydict(), learned, 50)


@cache
def digits() -> Case:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    learned = LogisticRegression(C=0.01).fit(X[:300], y[:300]).model_
    return learned, [tuple(row) for row in X[300:340].tolist()]


@cache
def mushrooms() -> Case:
    """Categories alone, by OneHotEncoder, with a threshold, as naive Bayes of indicators has it."""
    rng = np.random.default_rng(3)
    letters = rng.choice(list("abcdefg"), (200, 12)).astype(object)
    y = np.where((letters[:, 0] > "c") ^ (rng.random(200) < 0.1), "poisonous", "edible")
    encoder = OneHotEncoder(handle_unknown="ignore").fit(letters)
    learned = BernoulliNB().fit(encoder.transform(letters), y).model_
    parts = {name: getattr(learned, name) for name in ("threshold", "learner", "link")}
    model = LinearModel(
        learned.weights, learned.intercept, learned.classes, encoder=encoder, **parts
    )
    return model, [tuple(row) for row in letters[:40].tolist()] + [("?",) * 12]


@cache
def census_case(
    k: int, link: str, threshold: float | None = None, calibrated: bool = False
) -> Case:
    table = census()
    encoder = TableEncoder(number={"age": {"scale": False}}).fit(table)
    pairs = [(0.5 + 0.25 * i, 1.0 - i) for i in range(k)] if calibrated else None
    if threshold is not None and threshold < 0:  # a threshold below 0 needs dense rows
        encoder = TableEncoder(drop=["country", "born", "hired"]).fit(table)
    model = random_model(encoder, k, link, threshold=threshold, calibration=pairs)
    return model, rows_of(table, model, 40)


@cache
def rare_levels(unseen: str) -> Case:
    table = {"a": ["x"] * 5 + ["y"] * 5 + ["z", "q", "r"], "b": [1, 2] * 6 + [3]}
    encoder = TableEncoder(min_count=3, unseen=unseen, category=["a"]).fit(table)
    model = random_model(encoder, 1, "logistic")
    rows = [(v, 1) for v in ("x", "z", "q", "never", None, 7, 7.5, True, "7")]
    return model, [row if model.encoder.columns_[0].column == "a" else row[::-1] for row in rows]


@cache
def numbers(k: int, named: bool) -> Case:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 6)) * 10.0 ** rng.integers(-8, 8, 6)
    names = ["a", "b c", "select", "x0", "1", "é"] if named else None
    learned = Ridge().fit(X, X @ rng.normal(size=(6, k)) if k > 1 else X[:, 0]).model_
    model = LinearModel(learned.weights, learned.intercept, None, "identity", names)
    return model, [tuple(row) for row in X[:20].tolist()]


@cache
def polynomial(degree: int, threshold: float | None = None) -> Case:
    rng = np.random.default_rng(6)
    encoder = PolynomialEncoder(degree, include_bias=True).fit(np.zeros((1, 4)))
    model = random_model(encoder, 3, "softmax", threshold=threshold)
    return model, [tuple(row) for row in rng.normal(size=(20, 4)).tolist()]


@cache
def curves(
    k: int, link: str, threshold: float | None = None, named: bool = True, **options: Any
) -> Case:
    """Curves of columns of every kind, with rows at the knots, between and far beyond them."""
    rng = np.random.default_rng(8)
    X = np.column_stack(
        [
            rng.normal(size=300),
            rng.integers(0, 24, 300) + rng.random(300).round(2),
            np.where(rng.random(300) < 0.6, 0.0, rng.exponential(1e4, 300)),
            np.where(rng.random(300) < 0.2, np.nan, rng.integers(0, 3, 300)),
            np.where(rng.random(300) < 0.2, np.nan, 7.0),
            np.full(300, 1.0),
        ]
    )
    names = ["a", "hour of day", "gain", "x3", "seven", "one"]
    table: Any = dict(zip(names, X.T, strict=True)) if named else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns without a curve
        encoder = SplineEncoder(6, periods={names[1] if named else 1: 24}, **options).fit(table)
    model = random_model(encoder, k, link, threshold=threshold)
    knots = [each.knots if len(each.knots) else np.array([1.0]) for each in encoder.columns_]
    inner = np.column_stack([each[np.arange(8) % len(each)] for each in knots])
    far = np.array([[-50, -5, -1e9, -3, 7, 1], [50, 47.5, 1e9, 9, 8, 2], [0, 24, 0, 0, 7, 1]])
    rows = np.vstack([X[:20], inner, far]).tolist()
    return model, [tuple(None if v != v else v for v in row) for row in rows]


@cache
def curves_of_table() -> Case:
    people = census()
    table = {name: people[name] for name in ("age", "capital gain", "tiny", "workclass")}
    table["kg"] = [f"{i % 90 + 0.5} kg" if i % 7 else "n/a" for i in range(400)]
    model = random_model(TableEncoder(curves=True).fit(table), 3, "softmax")
    return model, rows_of(table, model)


@cache
def typed_levels(unknown: str) -> Case:
    table = np.array(
        [["s", 1, 2.5, None], ["m", 2, 3.5, "u"], ["l", 3, -1, "v"], ["xl", 3, 1e9, "v"]],
        dtype=object,
    )
    encoder = OneHotEncoder(handle_unknown=unknown, drop=["s", 1, 2.5, "v"]).fit(table)
    model = random_model(encoder, 1, "score")
    rows = [tuple(row) for row in table.tolist()]
    return model, rows if unknown == "error" else [*rows, ("S", 4, 7.0, "w"), ("m", 2, 3.5, None)]


@cache
def infrequent() -> Case:
    table = np.array([["a"], ["a"], ["a"], ["b"], ["b"], ["b"], ["c"], ["d"]], dtype=object)
    encoder = OneHotEncoder(min_frequency=2, handle_unknown="infrequent_if_exist").fit(table)
    return random_model(encoder, 3, "logistic"), [("a",), ("b",), ("c",), ("d",), ("never",)]


@cache
def records() -> Case:
    people = [
        {"age": 3, "tags": ["x", "y", "x"], "city": "Rome"},
        {"age": 1.5, "city": "Oslo", "sé=": "='\n"},
        {"__proto__": 1.0, "constructor": "toString", "tags": "x"},
    ]
    model = random_model(DictEncoder().fit(people), 3, "softmax")
    new = [{"city": "never", "age": None}, {}, {"age": float(2**60), "other": 1, "tags": []}]
    return model, [*people, *new]


REVIEWS = [
    "A GOOD film, really good: well-played & moving!",
    "Not good. Not bad, either\tsimply  dull...",
    "Ein großer Film — STRASSE, Straße, ﬁnal ﬂoor, naïve café",
    "ΟΔΥΣΣΕΥΣ ΣΑΣ, Σ και σοφός; İstanbul I'da \u0131l\u0131k",
    "東京は良い映画です。 とても良い",
    "фильм ХОРОШИЙ и плохой",
    "emoji 😀😀 and \u202eright-to-left\u202c שלום עולם مرحبا",
    "x\u0301 combining e\u0301, \u1e9b\u0323 and \ufb01 \u2460 \u00b2 ½ Ⅷ ٣٤",
    "zero\u200bwidth non\u00a0breaking\u3000space\x1cseparator\x85next",
    "snake_case_1 2x4 o'neil C3PO ǅungla ŉ ẞ",
    "",
    "  ",
    "a",
    "\U0001d518\U0001d52b\U0001d526\U0001d520\U0001d52c\U0001d521\U0001d522 𐐀𐐁 𐐨 good",
]

TEXT_OPTIONS: dict[str, dict[str, Any]] = {
    "words": {},
    "pairs": {"ngram_range": (1, 2), "sublinear_tf": True},
    "three": {"ngram_range": (2, 3), "norm": "l1", "use_idf": False},
    "stop words": {"stop_words": ["good", "film", "a"], "ngram_range": (1, 2), "binary": True},
    "one letter": {"token_pattern": r"(?u)\b\w+\b", "lowercase": False, "norm": None},
    "characters": {"analyzer": "char", "ngram_range": (1, 4)},
    "inside words": {"analyzer": "char_wb", "ngram_range": (2, 5)},
    "only long": {"analyzer": "char_wb", "ngram_range": (6, 7), "lowercase": False},
    "no accents": {"strip_accents": "unicode", "ngram_range": (1, 2)},
    "ascii": {"strip_accents": "ascii", "analyzer": "char", "ngram_range": (2, 3)},
    "hashed": {"n_features": 64, "ngram_range": (1, 2)},
    "hashed signs": {"n_features": 50, "alternate_sign": False, "norm": "l1"},
    "hashed binary": {"n_features": 16, "binary": True, "analyzer": "char", "norm": None},
}


@cache
def texts(name: str) -> Case:
    encoder = TextEncoder(**TEXT_OPTIONS[name]).fit(REVIEWS)
    model = random_model(encoder, 3, "softmax")
    new = ["Ένας ΚΑΛΌΣ. ΣΣ Σ.", "good good GOOD film film", "\ud7ff \ue000 ǰ ΐ İ", "a  b \n\n c"]
    return model, [*REVIEWS, *new]


@cache
def interactions() -> Case:
    rng = np.random.default_rng(3)
    table = {
        "x": rng.normal(size=60).tolist(),
        "price": [f"$ {k},{k:03d}" for k in range(10, 70)],
        "open": (rng.random(60) < 0.5).tolist(),
        "city": rng.choice(["Oslo", "Rome", "Bern"], 60).tolist(),
    }
    table["x"][3] = table["city"][5] = None
    pairs = [("x", "city"), ("x", "price"), ("open", "city")]
    encoder = TableEncoder(curves=True, interactions=pairs).fit(table)
    model = random_model(encoder, 3, "softmax")
    rows = list(zip(*table.values(), strict=True))[:12]
    return model, [*rows, (1e9, "$ 5", None, "never"), (None, None, True, None)]


@cache
def text_column() -> Case:
    table = {
        "review": [*REVIEWS[:9], None],
        "stars": [1, 2, 3, 4, 5, 1, 2, 3, None, 5],
    }
    encoder = TableEncoder(text=["review"]).fit(table)
    model = random_model(encoder, 1, "logistic")
    return model, [*rows_of(table, model), (7, 1.0), (True, 2.0), (7.5, None)]


#: Models that every language takes.
TABLES: dict[str, Any] = {
    "penguins": penguins,
    "digits": digits,
    "mushrooms": mushrooms,
    "census, two classes": lambda: census_case(1, "logistic"),
    "census, one-vs-rest": lambda: census_case(4, "logistic"),
    "census, softmax": lambda: census_case(3, "softmax"),
    "census, calibrated": lambda: census_case(3, "score", calibrated=True),
    "census, calibrated, two": lambda: census_case(1, "score", calibrated=True),
    "census, threshold": lambda: census_case(1, "score", threshold=0.25),
    "census, threshold below 0": lambda: census_case(3, "softmax", threshold=-0.5),
    "census, numbers": lambda: census_case(1, "identity"),
    "census, two numbers": lambda: census_case(2, "identity"),
    "numbers": lambda: numbers(1, True),
    "two targets": lambda: numbers(2, False),
    "polynomial": lambda: polynomial(3),
    "polynomial, threshold": lambda: polynomial(2, -0.25),
    "infrequent": infrequent,
    "curves of a table": curves_of_table,
    "curves": lambda: curves(1, "logistic"),
    "curves, softmax": lambda: curves(3, "softmax", named=False),
    "curves, linear": lambda: curves(1, "identity", continuation="linear"),
    "curves, threshold": lambda: curves(1, "score", threshold=0.25),
    "curves, threshold below 0": lambda: curves(1, "score", threshold=-0.5, sparse_output=False),
}
