"""Held-out loss of ``separable.train`` beside a pipeline of scikit-learn that is made by hand.

The pipeline is what a careful hand writes for a linear model: imputed and scaled numbers, one-hot
levels with the rare ones together, tf-idf of words and pairs, a searched penalty, and the logarithm
of the target where that is usual. Both see the same training rows; the loss is compared on the same
test rows, row by row.
"""

from __future__ import annotations

import gzip
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.datasets import MissingDataError, data_file
from benchmarks.main_job import ADULT_COLUMNS
from benchmarks.report import Line, Section, judge, markdown_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

__all__ = ["run_main_job_quality"]

#: Most rows of a file, the fraction that is held out, and its seed.
MOST_ROWS, TEST_FRACTION, SEED = 12_000, 0.25, 0

HOUSE_COLUMNS = (
    "longitude", "latitude", "age", "rooms", "bedrooms", "population", "households", "income",
    "value",
)  # fmt: skip
HEADINGS = ("file", "rows", "loss", "separable", "by hand", "difference", "standard error", "model")


@dataclass(frozen=True)
class File:
    """A file: how it is read, its target, and what the hand knows of it.

    Parameters
    ----------
    read : callable
        Returns a frame of pandas.
    target : str
    text : str or None
        The column of texts.
    quantity : bool
        Whether the target is a number.
    log : bool
        Whether the hand predicts its logarithm.
    """

    read: Callable[[], Any]
    target: str
    text: str | None = None
    quantity: bool = False
    log: bool = False


def run_main_job_quality(settings: Settings) -> Section:
    """Compare the losses on every file."""
    section, cells = Section(), []
    for name, file in FILES.items():
        if settings.only not in name:
            continue
        try:
            frame = file.read()
        except MissingDataError as missing:
            print(f"Without one file: {missing}\n")
            continue
        frame = frame[frame[file.target].notna()].reset_index(drop=True)
        rng = np.random.default_rng(SEED)
        order = rng.permutation(len(frame))[: min(MOST_ROWS, settings.most_rows or MOST_ROWS)]
        held_out = int(TEST_FRACTION * len(order))
        test, train = frame.iloc[order[:held_out]], frame.iloc[order[held_out:]]
        ours, model = _ours(file, train, test)
        gaps = ours - _by_hand(file, train, test)
        error = float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
        figure = float(gaps.mean()) / error if error else 0.0
        loss = "squared error" if file.quantity else "log loss"
        means = float(ours.mean()), float((ours - gaps).mean())
        section.add(
            Line("main-job-quality", name, loss, f"{means[0]:.4g}", f"by hand {means[1]:.4g}",
                 figure, "standard errors", 1.0, True,
                 judge(figure, 1.0, at_most=True, judged=settings.judged)),
            {"ours": means[0], "by_hand": means[1], "error": error, "model": model},
        )  # fmt: skip
        cells.append([name, str(len(train)), loss, f"{means[0]:.4g}", f"{means[1]:.4g}",
                      f"{gaps.mean():+.2g}", f"{error:.2g}", model])  # fmt: skip
        print(" ".join(cells[-1]))
    print()
    print(markdown_table(HEADINGS, cells), end="\n\n")
    return section


def _ours(file: File, train: Any, test: Any) -> tuple[np.ndarray, str]:
    """Return the loss of each test row, and the learner that was chosen."""
    import separable

    run = separable.train(train, file.target)
    true = test[file.target]
    if file.quantity:
        return (run.model.predict(test) - true.to_numpy(float)) ** 2, run.model.learner
    return _log_loss(run.model.predict_proba(test), run.model.classes, true), run.model.learner


def _by_hand(file: File, train: Any, test: Any) -> np.ndarray:
    """Return the loss of each test row of the pipeline."""
    pipeline = _pipeline(file, train.drop(columns=file.target))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pipeline.fit(train.drop(columns=file.target), train[file.target])
    features, true = test.drop(columns=file.target), test[file.target]
    if file.quantity:
        return (pipeline.predict(features) - true.to_numpy(float)) ** 2
    return _log_loss(pipeline.predict_proba(features), pipeline.classes_, true)


def _log_loss(probabilities: Any, classes: Any, true: Any) -> np.ndarray:
    column = {str(label): at for at, label in enumerate(np.asarray(classes).tolist())}
    codes = np.array([column[str(label)] for label in true])
    own = np.asarray(probabilities)[np.arange(len(codes)), codes]
    return -np.log(np.maximum(own, np.finfo(float).eps))


def _pipeline(file: File, features: Any) -> Any:
    from sklearn.compose import TransformedTargetRegressor, make_column_transformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegressionCV, RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = features.select_dtypes("number").columns.tolist()
    levels = [name for name in features.columns if name not in (*numbers, file.text)]
    parts: list[Any] = [
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), numbers),
        (OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=5), levels),
    ]
    if file.text is not None:
        words = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True)
        parts.append((words, file.text))
    encoder = make_column_transformer(*parts)
    if not file.quantity:
        search = LogisticRegressionCV(
            Cs=np.logspace(-3, 4, 10), cv=5, scoring="neg_log_loss", max_iter=300
        )
        return make_pipeline(encoder, search)
    ridge = make_pipeline(encoder, RidgeCV(np.logspace(-3, 4, 22)))
    if not file.log:
        return ridge
    return TransformedTargetRegressor(ridge, func=np.log, inverse_func=np.exp)


# ---------------------------------------------------------------------- the files


def _csv(*parts: str, **options: Any) -> Any:
    import pandas as pd

    return pd.read_csv(data_file(*parts), **options)


def _adult() -> Any:
    return _csv("adult", "adult.data.gz", names=ADULT_COLUMNS, skipinitialspace=True,
                na_values="?")  # fmt: skip


def _houses() -> Any:
    return _csv("california-housing", "cal_housing.data.gz", names=HOUSE_COLUMNS)


def _messages() -> Any:
    import pandas as pd

    text = gzip.decompress(data_file("sms-spam", "SMSSpamCollection.gz").read_bytes()).decode()
    pairs = [line.split("\t", 1) for line in io.StringIO(text) if line.strip()]
    return pd.DataFrame(pairs, columns=["label", "message"])


def _sentences() -> Any:
    import pandas as pd

    texts = {
        label: gzip.decompress(data_file("rt-polarity", f"rt-polarity.{label}.gz").read_bytes())
        for label in ("neg", "pos")
    }
    rows = [
        (line, label)
        for label, text in texts.items()
        for line in text.decode("latin-1").splitlines()
    ]
    return pd.DataFrame(rows, columns=["comment", "label"])


#: Every file, with what the hand knows.
FILES = {
    "adult": File(_adult, "income"),
    "bank": File(lambda: _csv("bank-marketing", "bank-additional-full.csv.gz", sep=";"), "y"),
    "houses": File(_houses, "value", quantity=True),
    "diamonds": File(lambda: _csv("diamonds", "diamonds.csv.gz"), "price", quantity=True, log=True),
    "wages": File(
        lambda: _csv("islp", "Wage.csv.gz").drop(columns="logwage"), "wage",
        quantity=True, log=True,
    ),
    "salaries": File(
        lambda: _csv("islp", "Hitters.csv.gz"), "Salary", quantity=True, log=True
    ),
    "messages": File(_messages, "label", text="message"),
    "comments": File(_sentences, "label", text="comment"),
}  # fmt: skip
