"""The command line: which rows run, the closing table, the file of raw numbers."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from threadpoolctl import threadpool_limits

from benchmarks.datasets import MissingDataError
from benchmarks.machine import describe_machine, load_average
from benchmarks.report import Line, markdown_table
from benchmarks.settings import FULL, QUICK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.report import Section
    from benchmarks.settings import Settings

__all__ = ["ROWS", "run", "run_rows"]

#: Every row: where it lives and what it measures.
ROWS = {
    "everyday": ("everyday:run_everyday", "all learners on small and middle tables, at defaults"),
    "everyday-raw": ("everyday:run_raw", "the same on other sets, in their own units"),
    "everyday-strangers": (
        "strangers:run_strangers",
        "the same on generated tables of other shapes",
    ),
    "everyday-equal": (
        "everyday_equal:run_equal",
        "the same, the peer at the solver and tolerance that reach our objective",
    ),
    "everyday-predict": ("everyday_equal:run_predict", "prediction of one row and of all rows"),
    "imdb": ("sparse_text:run_imdb", "perceptrons on film reviews, words and pairs"),
    "zipf": ("sparse_text:run_zipf", "perceptrons on a generated text-like set"),
    "mnist": ("digits:run_mnist", "ten dense classes"),
    "classes-imdb": ("many_classes:run_imdb", "16 classes against one, film reviews"),
    "classes-zipf": ("many_classes:run_zipf", "16 classes against one, generated"),
    "voted": ("voted:run_voted", "predicting by vote, film reviews"),
    "limit": ("limit:run_limit", "an epoch beside the memory's bandwidth"),
    "serve": (
        "serving:run_serving",
        "the web service, one row and many, beside MLflow and FastAPI",
    ),
    "cold-start": ("cold_start:run_cold_start", "the command in a new process"),
    "sgd-defaults": ("sgd_defaults:run_sgd_defaults", "SGD at defaults, beside its held-out loss"),
    "sgd-same-schedule": ("sgd:run_same_schedule", "SGD with scikit-learn's own schedules"),
    "sgd-time-to-loss": ("sgd_race:run_time_to_loss", "SGD as it comes, to a held-out loss"),
    "vw": ("vowpal:run_vowpal", "the same against Vowpal Wabbit"),
    "lda": ("lda:run_lda", "linear discriminant analysis, and leaving out each row"),
    "least-squares": ("least_squares:run_least_squares", "100 dense columns, exactly"),
    "ridge-folds": ("ridge:run_folds", "choosing the penalty of ridge by folds"),
    "ridge-left-out": ("ridge:run_left_out", "choosing it by leaving out one row"),
    "naive-bayes": ("naive_bayes:run_imdb", "naive Bayes on film reviews"),
    "cross-validation": (
        "cross_validation:run_cross_validation",
        "five folds of least squares from sums",
    ),
    "learning-curve": (
        "learning_curves:run_forecasts",
        "forecasts of learning curves, and the truth",
    ),
    "leave-one-out": ("left_out:run_left_out", "leaving out each row, from one fit beside n"),
    "certified-text": ("certified:run_text", "one certified fit, sparse text, to an objective"),
    "certified-norms": ("certified:run_not_unit_norm", "the same where rows are not of unit norm"),
    "certified-classes": ("certified:run_many_classes", "20 and 150 classes, one-vs-rest"),
    "search-logistic": ("certified_search:run_logistic_search", "5 folds x 12 C, one pass"),
    "search-svm": ("certified_search:run_svm_search", "the same for the hinge SVM"),
    "certified-dense": ("certified:run_dense", "raw, ill-conditioned columns"),
    "lasso-tall": ("sparse_paths:run_lasso_tall", "a path of the lasso, many more rows"),
    "lasso-wide": ("sparse_paths:run_lasso_wide", "the same, many more columns"),
    "lasso-search": ("lasso_search:run_lasso_search", "choosing the penalty of the lasso by folds"),
    "l1-logistic-path": ("sparse_paths:run_logistic", "a path of l1 logistic regression"),
    "search-l1": ("sparse_search:run_l1_search", "5 folds x 20 C of l1 logistic regression"),
    "multinomial": ("multinomial:run_multinomial", "all classes together, to an objective"),
    "separability": ("separability:run_separability", "is it separable, with proof"),
    "text-words": ("text_encoder:run_words", "film reviews to words, hashed and by vocabulary"),
    "text-pairs": ("text_encoder:run_pairs", "film reviews to tf-idf of words and pairs"),
    "svmlight": ("parsers:run_svmlight", "reading svmlight text"),
    "vw-text": ("parsers:run_vw_text", "reading Vowpal Wabbit text"),
    "reading-csv": ("reading:run_csv", "CSV to an encoded matrix, beside pyarrow's own reading"),
    "reading-stream": ("reading:run_stream", "a CSV of 1 GB in chunks, within 500 MB of memory"),
    "one-row": ("one_row:run_one_row", "partial_fit of a row, predicting a raw record"),
    "one-hot": ("encoders:run_one_hot", "categories, one-hot"),
    "table": ("encoders:run_table", "a table of numbers and categories"),
    "train": ("train_command:run_train", "the command, from a Parquet file to a model"),
    "curves": ("curves:run_curves", "curves of numeric columns against boosted trees"),
    "spark": ("spark_cluster:run_spark", "a local cluster of two workers, beside Spark MLlib"),
    "spark-scale": ("spark_cluster:run_cost_model", "the constants of the cost model of passes"),
    "main-job": ("main_job:run_main_job", "the command with no option, on nine files"),
    "main-job-quality": (
        "main_job_quality:run_main_job_quality",
        "its held-out loss, beside a pipeline of scikit-learn made by hand",
    ),
}


def run(arguments: Sequence[str]) -> int:
    """Run the rows named, or all, and print the closing table; return the exit status."""
    parsed = _parse(arguments)
    settings = replace(QUICK if parsed.quick else FULL, only=parsed.only)
    machine = describe_machine()
    print(f"{machine['cpu']}, {machine['cores']} cores, level {machine['level']}\n")
    report = run_rows(parsed.names or list(ROWS), settings)
    report = {"machine": machine, "quick": parsed.quick} | report
    if parsed.json:
        parsed.json.write_text(json.dumps(report, indent=1) + "\n")
    return 0


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    rows = "\n".join(f"  {name:17} {what}" for name, (_, what) in ROWS.items())
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"rows (default: all):\n{rows}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="a row of the list above")
    parser.add_argument("--quick", action="store_true", help="small sizes, nothing judged")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all raw numbers")
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="everyday tables whose set or learner has it"
    )
    parsed = parser.parse_args(arguments)
    unknown = [name for name in parsed.names if name not in ROWS]
    if unknown:
        parser.error(f"no row {unknown[0]!r}; choose from {', '.join(ROWS)}")
    return parsed


def run_rows(names: Sequence[str], settings: Settings) -> dict[str, object]:
    """Run rows one after the other in one thread and print them; return all numbers."""
    load_before = load_average()
    lines: list[Line] = []
    raw: dict[str, object] = {}
    with threadpool_limits(limits=1):
        for name in names:
            print(f"## {name}\n")
            try:
                section = _run_row(name, settings)
            except MissingDataError as missing:
                print(f"SKIPPED {name}: {missing}\n")
                raw[name] = {"skipped": str(missing)}
                continue
            lines += section.lines
            raw[name] = section.raw
    load = {"before": load_before, "after": load_average()}
    _print_closing(lines, raw, load, settings)
    return {"settings": vars(settings), "load_average": load, "rows": raw}


def _run_row(name: str, settings: Settings) -> Section:
    module, function = ROWS[name][0].split(":")
    section: Section = getattr(import_module(f"benchmarks.{module}"), function)(settings)
    return section


def _print_closing(
    lines: list[Line], raw: dict[str, object], load: Mapping[str, object], settings: Settings
) -> None:
    print("## All figures\n")
    print(markdown_table(Line.HEADINGS, [line.cells() for line in lines]))
    skipped = [name for name, found in raw.items() if isinstance(found, dict)]
    if skipped:
        print(f"\nSkipped for want of data: {', '.join(skipped)}.")
    if not settings.judged:
        print("\nA quick run: small sizes, so no target is judged.")
    print(f"\nLoad average before {load['before']}, after {load['after']}: 1 is this run alone.")
