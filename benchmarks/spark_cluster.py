"""Learning on a cluster beside Spark MLlib: same session, same persisted DataFrame, in turn.

The cluster is a master and two workers of one core each, on this machine. Both sides learn from the
same column of vectors; ours encodes it into blocks first, which its time includes. The objective of
MLlib's answer, and a certificate for it, are computed by two passes over the same rows.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.datasets import MissingDataError
from benchmarks.report import Line, Section, judge, markdown_table
from tests.spark.clusters import MISSING, session

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.settings import Settings

__all__ = ["run_cost_model", "run_spark"]

COLUMNS = 30
#: Columns and non-zeros a row of the generated text.
TEXT_COLUMNS, TEXT_NONZEROS = 400_000, 60
PENALTY = 1e-4
GRID = tuple(10.0**k for k in np.linspace(-6, -1, 10))
HEADINGS = ("what", "ours", "MLlib", "ratio", "our objective", "MLlib's", "our gap", "MLlib's gap")
PARTITIONS = 4


def run_spark(settings: Settings) -> Section:
    """One fit, a search of 5 folds x 10 penalties, and wide sparse text."""
    if MISSING:
        raise MissingDataError(MISSING)
    warnings.simplefilter("ignore")
    section = Section()
    dense, text = (200_000, 10_000) if settings.judged else (40_000, 4_000)
    with tempfile.TemporaryDirectory() as folder, session("standalone", Path(folder)) as spark:
        rows = dense_rows(spark, dense)
        _fit(section, rows, dense, f"{dense} x {COLUMNS}, dense", 3.0, settings)
        rows.unpersist()
        rows = dense_rows(spark, dense // 10)
        _search(section, rows, dense // 10, settings)
        rows.unpersist()
        rows = text_rows(spark, text)
        name = f"{text} x {TEXT_COLUMNS}, {TEXT_NONZEROS} non-zeros a row"
        _fit(section, rows, text, name, 5.0, settings)
    print(markdown_table(HEADINGS, [raw["cells"] for raw in section.raw]) + "\n")
    return section


def dense_rows(spark: Any, n: int, partitions: int = PARTITIONS) -> Any:
    """Return n rows of standard normal columns and a label, persisted."""
    from pyspark.ml.feature import VectorAssembler

    names = [f"x{k}" for k in range(COLUMNS)]
    score = " + ".join(f"{(-0.8) ** k:.4f} * x{k}" for k in range(COLUMNS))
    df = spark.range(0, n, 1, partitions).selectExpr(
        *[f"randn({k}) as x{k}" for k in range(COLUMNS)], "rand(99) as u"
    )
    df = df.selectExpr(*names, f"double(u < 1 / (1 + exp(-({score})))) as label")
    df = VectorAssembler(inputCols=names, outputCol="features").transform(df)
    return _persisted(df.select("features", "label"))


def text_rows(spark: Any, n: int) -> Any:
    """Return n rows of Zipf words, hashed to `TEXT_COLUMNS` counts, and a label, persisted."""
    from pyspark.ml.feature import HashingTF, Normalizer

    words = ", ".join(
        f"string(int(pow({TEXT_COLUMNS}.0, rand({k}))))" for k in range(TEXT_NONZEROS)
    )
    df = spark.range(0, n, 1, PARTITIONS).selectExpr(f"array({words}) as words", "rand(98) as u")
    telling = "aggregate(words, 0D, (s, w) -> s + (pmod(hash(w), 3) - 1))"
    df = df.selectExpr("words", f"double(u < 1 / (1 + exp(-0.3 * {telling}))) as label")
    counts = HashingTF(inputCol="words", outputCol="counts", numFeatures=TEXT_COLUMNS)
    scale = Normalizer(inputCol="counts", outputCol="features")
    return _persisted(scale.transform(counts.transform(df)).select("features", "label"))


def _persisted(df: Any) -> Any:
    df = df.persist()
    df.count()
    return df


def _fit(section: Section, rows: Any, n: int, name: str, target: float, settings: Settings) -> None:
    """Compare one logistic regression."""
    from pyspark.ml.classification import LogisticRegression as Peer

    import separable.spark
    from separable import LogisticRegression

    C = 1.0 / (n * PENALTY)

    def ours() -> Any:
        model = separable.spark.fit(LogisticRegression(C=C), rows, "label", features="features")
        return model.weights[0], float(model.intercept[0])

    def peer() -> Any:
        model = Peer(regParam=PENALTY, standardization=False, tol=1e-7, maxIter=200).fit(rows)
        return model.coefficients.toArray(), model.intercept

    times, answers = _timed(ours, peer, 1)
    proofs = [certificate(rows, *answer, C) for answer in answers]
    _report(section, f"one fit, {name}", times, proofs, target, settings)


def _search(section: Section, rows: Any, n: int, settings: Settings) -> None:
    """Compare a search of 5 folds x 10 penalties and the fit of the best."""
    from pyspark.ml.classification import LogisticRegression as Peer
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    import separable.spark
    from separable import LogisticRegressionCV

    chosen: dict[str, float] = {}

    def ours() -> Any:
        Cs = [1.0 / (n * one) for one in GRID]
        search = LogisticRegressionCV(Cs=Cs, cv=5)
        model = separable.spark.fit(search, rows, "label", features="features")
        chosen["ours"] = float(model.evidence["search"]["best"])
        return model.weights[0], float(model.intercept[0])

    def peer() -> Any:
        learner = Peer(standardization=False, tol=1e-7, maxIter=200)
        grid = ParamGridBuilder().addGrid(learner.regParam, list(GRID)).build()
        judge_by = BinaryClassificationEvaluator()
        found = CrossValidator(
            estimator=learner, estimatorParamMaps=grid, evaluator=judge_by, numFolds=5, seed=0
        ).fit(rows)
        chosen["peer"] = 1.0 / (n * found.bestModel.getRegParam())
        return found.bestModel.coefficients.toArray(), found.bestModel.intercept

    times, answers = _timed(ours, peer, 1)
    proofs = [
        certificate(rows, *answer, chosen[who])
        for who, answer in zip(("ours", "peer"), answers, strict=True)
    ]
    name = f"5 folds x {len(GRID)} penalties, {n} x {COLUMNS}, dense"
    _report(section, name, times, proofs, 15.0, settings, same_objective=False)


def _timed(ours: Callable[[], Any], peer: Callable[[], Any], repeats: int) -> tuple[Any, Any]:
    """Return the times of both, in turn, after one untimed run of ours, and the last answers."""
    times: tuple[list[float], list[float]] = ([], [])
    answers: list[Any] = [None, None]
    ours()  # Python workers start, and import what they need
    for _ in range(max(1, repeats)):
        for k, call in enumerate((ours, peer)):
            start = time.perf_counter()
            answers[k] = call()
            times[k].append(time.perf_counter() - start)
    return times, answers


def certificate(rows: Any, w: Any, b: float, C: float) -> Any:
    """Return our certificate of any weights, from two passes over the rows."""
    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.certified.partitioned.summed_certificate import certify_lanes
    from separable.certified.partitioned.summed_objective import LanePoint
    from separable.certified.problem import Lane
    from separable.losses.loss import LOGISTIC
    from separable.spark.encoded_rows import encoded_rows, row_source
    from separable.spark.row_parts import RowParts

    source = row_source(rows, "label", "classification", features="features")
    with encoded_rows(rows, source, RowParts()) as encoded:
        data = encoded.data()
        problem = LaneProblem.prepare(
            data.sums, LOGISTIC, [Lane(C)], is_sparse=data.partitions.is_sparse, n_classes=2
        )
        u, inside = problem.columns.seen(np.asarray(w)[:, None], np.array([b]))
        point = LanePoint(np.ascontiguousarray(u), inside)
        (proof,) = certify_lanes(data.partitions, problem, point, 1e-6).certificates
    return proof


def _report(
    section: Section,
    what: str,
    times: Any,
    proofs: Any,
    target: float,
    settings: Settings,
    *,
    same_objective: bool = True,
) -> None:
    ours, peer = (median(each) for each in times)
    ratio = peer / ours
    worse = same_objective and proofs[0].primal > proofs[1].primal * (1 + 1e-6)
    verdict = judge(ratio, target, at_most=False, judged=settings.judged)
    verdict = "does not count: higher objective" if worse else verdict
    cells = [what, f"{ours:.1f} s", f"{peer:.1f} s", f"{ratio:.2f}"]
    cells += [f"{proof.primal:.8g}" for proof in proofs]
    cells += [f"{proof.relative_gap:.1e}" for proof in proofs]
    line = Line(
        "spark",
        what,
        "wall time",
        cells[1],
        f"MLlib {cells[2]}",
        ratio,
        "x",
        target,
        False,
        verdict,
    )
    print("; ".join(cells), flush=True)
    section.add(line, {"cells": cells, "times": [list(each) for each in times]})


def run_cost_model(settings: Settings) -> Section:
    """Measure the constants of docs/scale.md: 1, 2 and 4 partitions, sizes x 1, 4 and 16."""
    from separable.certified.partitioned.lane_problem import LaneProblem
    from separable.certified.partitioned.summed_objective import LanePoint, ObjectiveTask
    from separable.certified.problem import Lane
    from separable.losses.loss import LOGISTIC
    from separable.spark.encoded_rows import encoded_rows, row_source
    from separable.spark.row_parts import RowParts

    if MISSING:
        raise MissingDataError(MISSING)
    warnings.simplefilter("ignore")
    section, table = Section(), []
    base = 15_000 if settings.judged else 5_000
    with tempfile.TemporaryDirectory() as folder, session("standalone", Path(folder)) as spark:
        for partitions in (1, 2, 4):
            for size in (1, 4, 16):
                rows = dense_rows(spark, base * size, partitions)
                source = row_source(rows, "label", "classification", features="features")
                with encoded_rows(rows, source, RowParts()) as encoded:
                    data = encoded.data()
                    problem = LaneProblem.prepare(
                        data.sums, LOGISTIC, [Lane(1.0)], is_sparse=False, n_classes=2
                    )
                    point = LanePoint(np.zeros((COLUMNS, 1)), np.zeros(1))
                    task = ObjectiveTask(problem, point)
                    data.partitions.sums(task)
                    times = []
                    for _ in range(settings.repeats):
                        start = time.perf_counter()
                        data.partitions.sums(task)
                        times.append(time.perf_counter() - start)
                    megabytes = encoded.partitions().n_bytes / 1e6
                rows.unpersist()
                table.append((partitions, base * size, megabytes, min(times)))
    slots = np.array([min(each[0], 2) for each in table])
    design = np.column_stack(
        [np.ones(len(table)), [each[0] for each in table], [t[2] for t in table] / slots]
    )
    seconds = np.array([each[3] for each in table])
    constants, *_ = np.linalg.lstsq(design / seconds[:, None], np.ones(len(table)), rcond=None)
    cells = [
        [str(p), str(n), f"{mb:.1f}", f"{t:.2f}", f"{row @ constants:.2f}"]
        for (p, n, mb, t), row in zip(table, design, strict=True)
    ]
    headings = ("partitions", "rows", "MB of blocks", "seconds a pass", "predicted")
    print(markdown_table(headings, cells) + "\n")
    job, task_cost, rate = constants
    print(
        f"A job: {job:.3f} s; a partition: {task_cost:.3f} s; "
        f"rows: {1 / max(rate, 1e-9):.0f} MB/s a core.\n"
    )
    off = np.abs(design @ constants / seconds - 1)
    line = Line(
        "spark-scale", "1-4 partitions, sizes x 1-16", "largest error of the model",
        f"{100 * off.max():.0f} %", "", float(off.max()), "", None, True, "-",
    )  # fmt: skip
    section.add(line, {"cells": cells, "constants": constants.tolist()})
    return section
