"""What must hold on every kind of cluster; run in a process of its own, which has one session.

``python -m tests.spark.checks local same_answers ...`` prints a JSON object: the error of each
check, or null.
"""

from __future__ import annotations

import io
import json
import os
import signal
import sys
import tempfile
import threading
import traceback
import warnings
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import separable.spark
from separable import (
    LDA,
    BayesianRegression,
    BernoulliNB,
    ElasticNet,
    LeastSquares,
    LinearGaussianNB,
    LinearSVM,
    LinearSVR,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeCV,
    TableClassifier,
    TableEncoder,
    TableRegressor,
)
from separable.data.table import TableError
from separable.estimator import is_classifier
from separable.spark.cluster_jobs import SparkJobError
from tests.spark.clusters import executors, session

if TYPE_CHECKING:
    from collections.abc import Callable

TOL = 1e-7


def table(n: int = 600, seed: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age, city = rng.normal(40, 10, n), rng.choice(["Oslo", "Rome", "Bern"], n)
    words = [
        " ".join(rng.choice(["red", "green", "blue", "dog", "cat", "runs"], 4)) for _ in range(n)
    ]
    score = 0.1 * (age - 40) + (city == "Rome") + rng.logistic(size=n)
    return pa.table(
        {
            "age": pa.array([None if i % 17 == 0 else x for i, x in enumerate(age)]),
            "city": pa.array([None if i % 11 == 0 else x for i, x in enumerate(city)]),
            "note": words,
            "key": rng.integers(0, 40, n),
            "weight": rng.integers(0, 3, n).astype(float),
            "yes": np.where(score > 0, "yes", "no"),
            "rent": 20 * age + 100 * (city == "Rome") + rng.normal(0, 30, n),
        }
    )


def frame(spark: Any, rows: pa.Table, partitions: int = 3) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return spark.createDataFrame(rows).repartition(partitions)


def on_one_machine(learner: Any, rows: pa.Table, target: str, weight: Any = None) -> Any:
    kind = TableClassifier if is_classifier(learner) else TableRegressor
    return kind(learner).fit(rows, target, sample_weight=weight).model_


def same_moments(spark: Any) -> None:
    rows = table()
    df = frame(spark, rows)
    for learner in (LinearGaussianNB(), Ridge()):
        target = "yes" if is_classifier(learner) else "rent"
        used = ["age", "city", "key", target]
        ours = separable.spark.fit(learner, df.select(*used), target)
        other = on_one_machine(learner, rows.select(used), target)
        size = np.abs(other.weights).max()
        np.testing.assert_allclose(ours.weights, other.weights, atol=1e-12 * size, rtol=1e-11)
        assert ours.encoder.feature_names == other.encoder.feature_names


def all_moments(spark: Any) -> None:
    rows = table()
    used = ["age", "city", "note", "yes"]
    for learner in (LDA(shrinkage=0.1), BernoulliNB()):
        ours = separable.spark.fit(learner, frame(spark, rows.select(used)), "yes")
        other = on_one_machine(learner, rows.select(used), "yes")
        size = np.abs(other.weights).max()
        np.testing.assert_allclose(ours.weights, other.weights, atol=1e-11 * size)
    used = ["age", "city", "rent"]
    ours = separable.spark.fit(LeastSquares(), frame(spark, rows.select(used)), "rent")
    other = on_one_machine(LeastSquares(), rows.select(used), "rent")
    np.testing.assert_allclose(ours.weights, other.weights, rtol=1e-11)
    used = ["age", "city", "weight", "rent"]
    ours = separable.spark.fit(
        BayesianRegression(), frame(spark, rows.select(used)), "rent", weight="weight"
    )
    weight = rows["weight"].to_numpy()
    kept = rows.filter(pa.array(weight > 0))
    other = on_one_machine(
        BayesianRegression(), kept.select(["age", "city", "rent"]), "rent", weight[weight > 0]
    )
    np.testing.assert_allclose(ours.weights, other.weights, rtol=1e-9)


def certified(spark: Any, learner: Any, target: str, rows: pa.Table, df: Any) -> Any:
    """Check that both answers are optimal within both certificates."""
    ours = separable.spark.fit(learner, df, target)
    other = on_one_machine(learner, rows, target)
    a, b = ours.evidence, other.evidence
    assert a["converged"]
    assert a["relative_gap"] <= a["tol"]
    slack = 1e-9 * abs(a["primal"])
    assert a["dual"] <= b["primal"] + slack
    assert b["dual"] <= a["primal"] + slack
    return ours


def same_optimum(spark: Any) -> None:
    rows = table().select(["age", "city", "note", "yes"])
    certified(spark, LogisticRegression(C=0.5, tol=TOL), "yes", rows, frame(spark, rows))


def all_optima(spark: Any) -> None:
    rows = table(3000)
    used = ["age", "city", "yes"]
    df = frame(spark, rows.select(used)).cache()
    for learner in (LinearSVM(C=0.1), LinearSVM(C=0.1, loss="hinge")):
        certified(spark, learner, "yes", rows.select(used), df)
    used = ["age", "city", "rent"]
    df = frame(spark, rows.select(used)).cache()
    for learner in (LinearSVR(C=0.1, epsilon=5.0), ElasticNet(alpha=0.3)):
        certified(spark, learner, "rent", rows.select(used), df)
    used = ["age", "yes", "city"]
    certified(spark, LogisticRegression(), "city", *_complete(spark, rows.select(used)))


def _complete(spark: Any, rows: pa.Table) -> tuple[pa.Table, Any]:
    kept = rows.filter(pa.array(rows["city"].is_valid()))
    return kept, frame(spark, kept)


def searches(spark: Any) -> None:
    rows = table(1200).append_column("fold", pa.array(np.arange(1200) % 3))
    used = ["age", "city", "fold", "yes"]
    df = frame(spark, rows.select(used))
    search = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], cv=3)
    ours = separable.spark.fit(search, df, "yes", folds="fold").evidence["search"]
    encoder = TableEncoder().fit(rows.select(["age", "city"]))
    X, y = encoder.transform(rows), rows["yes"].to_numpy(zero_copy_only=False)
    fold = np.arange(1200) % 3
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    other = LogisticRegressionCV(Cs=[0.01, 1.0, 100.0], cv=splits, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(-np.array(ours["folds"]).T, other.scores_[:, 0], rtol=2e-3)
    assert ours["best"] == other.C_
    # the same folds however the rows are cut into partitions
    first = separable.spark.fit(RidgeCV(cv=4), _rent(spark, rows, 2), "rent", key="key")
    again = separable.spark.fit(RidgeCV(cv=4), _rent(spark, rows, 5), "rent", key="key")
    one, two = (each.evidence["search"]["folds"] for each in (first, again))
    np.testing.assert_allclose(one, two, rtol=1e-9)


def _rent(spark: Any, rows: pa.Table, partitions: int) -> Any:
    return frame(spark, rows.select(["age", "city", "key", "rent"]), partitions)


def training(spark: Any) -> None:
    rows = table(2000)
    df = frame(spark, rows.select(["age", "city", "key", "yes"]))
    run = separable.spark.train(df, "yes", key="key")
    record = run.model.evidence["train"]
    assert record["rows"] == 2000
    assert run.certificate is None or run.certificate.converged
    assert 0.65 < run.test["accuracy"] < 0.8  # the noise of the table allows about 0.74
    assert run.test["rows"] / 2000 == pytest.approx(0.2, abs=0.1)
    assert "logistic-regression" in run.summary()
    again = separable.spark.train(df.repartition(5), "yes", key="key")
    assert again.test == pytest.approx(run.test, rel=1e-6)
    with tempfile.TemporaryDirectory() as folder:
        run.save(f"{folder}/model.safetensors")
        loaded = separable.load(f"{folder}/model.safetensors")
    assert loaded.predict(rows).tolist() == run.model.predict(rows).tolist()
    numbers = separable.spark.train(
        frame(spark, rows.select(["age", "city", "rent"])), "rent", models="ridge", test_size=0.1
    )
    assert numbers.test["r2"] > 0.9


def predictions(spark: Any) -> None:
    rows = table(200)
    df = frame(spark, rows)
    for learner, target in ((LogisticRegression(), "yes"), (LDA(), "city"), (Ridge(), "rent")):
        used, known = ["age", "note", target], rows
        if target == "city":
            known, _ = _complete(spark, rows)
        model = on_one_machine(learner, known.select(used), target)
        made = separable.spark.predict(model, df).toArrow()
        assert made["prediction"].to_pylist() == model.predict(made).tolist()
        told = separable.spark.explain(model, df).toArrow()
        total = np.array([sum(dict(one).values()) for one in told["contributions"].to_pylist()])
        total += told["intercept"].to_numpy()
        np.testing.assert_allclose(total, told["score"].to_numpy(), rtol=1e-10)
        assert told["prediction"].to_pylist() == made["prediction"].to_pylist()
        if target != "rent":
            proba = np.array(made["probability"].to_pylist())
            np.testing.assert_allclose(proba, model.predict_proba(made), rtol=1e-12)


def uneven_partitions(spark: Any) -> None:
    """Empty partitions, one with nearly all rows, one class in each."""
    rows = table(400).select(["age", "city", "yes"])
    other = on_one_machine(LinearGaussianNB(), rows, "yes")
    df = frame(spark, rows)
    skewed = df.repartition(7, "yes")
    ours = separable.spark.fit(LinearGaussianNB(), skewed, "yes")
    np.testing.assert_allclose(ours.weights, other.weights, rtol=1e-9, atol=1e-12)
    certified(spark, LogisticRegression(tol=TOL), "yes", rows, skewed)
    single = df.limit(1).union(df.limit(0)).union(df)
    assert separable.spark.fit(LinearGaussianNB(), single, "yes").classes.tolist() == ["no", "yes"]


def raises(kind: type[Exception], words: str, call: Callable[[], Any]) -> None:
    try:
        call()
    except kind as error:
        missing = [word for word in words.split("|") if word not in str(error)]
        assert not missing, f"{missing} not in {error}"  # noqa: PT017
        return
    raise AssertionError(f"nothing was raised: {words}")


def errors(spark: Any) -> None:
    rows = table(300)
    fit = separable.spark.fit
    df = frame(spark, rows.select(["age", "city", "yes"]))
    raises(TableError, "'no_such'", lambda: fit(Ridge(), df, "no_such"))
    raises(TypeError, "all rows in memory", lambda: fit(_perceptron(), df, "yes"))
    raises(
        ValueError, "no curves", lambda: fit(LDA(), df, "yes", encoder=TableEncoder(curves=True))
    )
    nulls = frame(spark, rows.select(["age", "city"]))
    raises(
        TableError,
        "partition |'city'|missing|dropna",
        lambda: fit(LogisticRegression(), nulls, "city"),
    )


def more_errors(spark: Any) -> None:
    rows, fit = table(300), separable.spark.fit
    constant = frame(spark, rows.select(["age"]).append_column("y", pa.array(["a"] * 300)))
    raises(TableError, "single class", lambda: fit(LogisticRegression(), constant, "y"))
    # a column of numbers as texts that changes late, after the first rows decided
    texts = pa.array([f"{i} kg" if i < 11_000 else "heavy" for i in range(11_200)])
    late = pa.table({"size": texts, "y": pa.array(np.arange(11_200) % 2)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = spark.createDataFrame(late).coalesce(1)
    raises(
        ValueError,
        "partition 0|'size'|heavy",
        lambda: fit(LogisticRegression(), changed, "y"),
    )
    infinite = rows.select(["age", "rent"]).set_column(
        1, "rent", pa.array([float("inf") if i == 7 else 1.0 * i for i in range(300)])
    )
    raises(TableError, "'rent'|infinity", lambda: fit(Ridge(), frame(spark, infinite), "rent"))


def _perceptron() -> Any:
    from separable import VotedPerceptron

    return VotedPerceptron()


def other_rows_each_time(spark: Any) -> None:
    """A DataFrame that is not deterministic and lost its blocks is refused, not learned from."""
    from separable.spark.encoded_rows import encoded_rows, row_source
    from separable.spark.row_parts import RowParts

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        df = spark.range(0, 400, 1, 2).mapInArrow(_random, "x double, y long")
    df = df.withColumn("y", df["y"] % 2)
    source = row_source(df, "y", "classification")
    with encoded_rows(df, source, RowParts()) as rows:
        partitions = rows.partitions()
        assert partitions.n_rows == 400  # the first job, with which others are compared
        rows.blocks.unpersist(True)
        raises(
            SparkJobError,
            "other rows each time",
            lambda: partitions.results(_count),
        )


def _random(batches: Any) -> Any:
    for batch in batches:
        x = np.random.default_rng().normal(size=batch.num_rows)
        yield pa.RecordBatch.from_arrays([pa.array(x), batch.column(0)], ["x", "y"])


def _count(batches: Any) -> int:
    return sum(len(batch) for batch in batches)


def guide(spark: Any) -> None:
    """The example of the guide runs."""
    text = (Path(__file__).parents[2] / "docs/guides/spark.md").read_text()
    example = text.partition("```python\n")[2].partition("```")[0]
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, redirect_stdout(io.StringIO()):
        os.chdir(folder)
        try:
            exec(compile(example, "spark.md", "exec"), {})
            assert separable.load("visits.safetensors").evidence["converged"]
        finally:
            os.chdir(here)


def lost_executor(spark: Any) -> None:
    """An executor is killed while the passes of a fit run; the answer has the same bits."""
    rows = table(20_000).select(["age", "city", "yes"])
    with tempfile.TemporaryDirectory() as folder:
        frame(spark, rows, 4).write.parquet(f"{folder}/rows")
        df = spark.read.parquet(f"{folder}/rows")
        learner = LinearSVM(C=0.1, loss="hinge")
        before = separable.spark.fit(learner, df, "yes")
        victims = executors()
        assert len(victims) == 2
        timer = threading.Timer(8.0, os.kill, (victims[0], signal.SIGKILL))
        timer.start()
        after = separable.spark.fit(learner, df, "yes")
        timer.join()
        assert victims[0] not in executors()
        assert after.weights.tobytes() == before.weights.tobytes()


CHECKS = [
    same_moments,
    same_optimum,
    predictions,
    uneven_partitions,
    errors,
    more_errors,
    other_rows_each_time,
    all_moments,
    all_optima,
    searches,
    training,
    guide,
    lost_executor,
]


def main(mode: str, *names: str) -> None:
    """Run checks and print their errors."""
    found: dict[str, str | None] = {}
    with tempfile.TemporaryDirectory() as folder, session(mode, Path(folder)) as spark:
        for check in CHECKS:
            if check.__name__ in names:
                try:
                    check(spark)
                    found[check.__name__] = None
                except Exception:
                    found[check.__name__] = traceback.format_exc()
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
