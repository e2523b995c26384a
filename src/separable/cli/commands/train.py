"""``separable train``: compare, test, explain and save a model of a table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from separable.cli.io.output import json_bytes, write_data
from separable.cli.options.command import OUTPUT, STREAMS, command, heading
from separable.cli.options.options import json_option, talk_options
from separable.cli.options.training_options import (
    TESTING,
    budget_option,
    constraint_options,
    curves_option,
    decision_options,
    interactions_option,
    problem_options,
    stream_options,
)
from separable.cli.render.messages import say, verbosity
from separable.workflow.options import TEST_SIZE

if TYPE_CHECKING:
    from separable.workflow.options import ProblemOptions, StreamOptions

__all__ = ["train"]


def _fraction(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:  # noqa: ARG001
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a fraction. Give a number from 0 to less than 1.")
    return value


@command(
    short_help="Compare learners by cross-validation, test the best on held-out rows, save it.",
    examples=(
        "separable train reviews.csv --target sentiment",
        "separable train visits.csv --target paid --group customer --model logistic-regression",
        "separable train sales.csv --target units --time day --drop id",
        "separable train reviews.csv --target sentiment --report reviews.html",
        "separable train 'logs/*.csv' --target clicked --stream --checkpoint clicks.part",
    ),
)
@click.argument("data", metavar="DATA")
@problem_options
@curves_option
@interactions_option
@constraint_options
@decision_options
@budget_option
@heading(
    TESTING,
    click.option("--test", metavar="FILE", help="Test on this file, and train on all of DATA."),
    click.option(
        "--test-size",
        type=click.FloatRange(0, 1, max_open=True),
        callback=_fraction,
        metavar="X",
        help=f"Fraction of rows to hold out; 0: no test.  [default: {TEST_SIZE}]",
    ),
)
@heading(
    OUTPUT,
    click.option(
        "-o", "--output", metavar="FILE", help="Model file.  [default: DATA's name.safetensors]"
    ),
    click.option(
        "--report",
        metavar="FILE",
        help="Also write a report as one HTML page.",
    ),
)
@json_option()
@talk_options
@heading(
    STREAMS,
    click.option(
        "--out-of-core/--in-memory",
        "out_of_core",
        default=None,
        help="Learn from encoded blocks on disk, or in memory.  [default: by the size of DATA]",
    ),
    click.option(
        "--cache",
        metavar="FOLDER",
        help="Folder of these blocks, which is kept.  [default: a temporary one]",
    ),
    click.option(
        "--spark",
        metavar="MASTER",
        help="Learn on this cluster of Apache Spark: local[4], spark://HOST:7077, yarn, sc://HOST.",
    ),
)
@stream_options
def train(
    data: str,
    output: str | None,
    report: str | None,
    test: str | None,
    test_size: float | None,
    options: ProblemOptions,
    stream: StreamOptions | None,
    out_of_core: bool | None,
    cache: str | None,
    spark: str | None,
    as_json: bool,
) -> None:
    """Train a model on DATA, a table (CSV, JSON lines, Parquet; also compressed).

    DATA may be a glob, a folder or -; without a header, columns are c1, c2, ...

    Learners and their regularization are compared by cross-validation. The best is tested on
    held-out rows, refitted on all rows, and saved. Numbers are standardized, categories one-hot
    encoded, texts split into words.
    """
    from separable.cli.io.output import check_report, model_path, save_noted, write_report

    inputs = {} if test is None else {"test": test}
    path = model_path(output, data, **inputs)
    if stream is not None:
        _check_checkpoint(data, path, stream)
        inputs |= {} if stream.checkpoint is None else {"checkpoint": stream.checkpoint}
    if report is not None:
        check_report(report, "--report", model=path, data=data, **inputs)
    run: Any
    if spark is not None:
        given = {"--stream": stream, "--out-of-core": out_of_core, "--cache": cache}
        _refuse_with_spark(given | {"--test": test, "--report": report})
        _refuse_threads()
        run = _train_on_cluster(data, options, spark, test_size)
    elif stream is not None:
        _refuse_with_stream(out_of_core, cache)
        run = _train_stream(data, options, stream, test, test_size)
    else:
        from separable.workflow.training import train_in_or_out_of_core

        if report is not None and out_of_core:
            raise click.UsageError("--report needs all rows in memory: use --in-memory.")
        out_of_core = False if report is not None else out_of_core
        run = train_in_or_out_of_core(
            data, options, out_of_core, cache, test, test_size, keep=report is not None
        )
    save_noted(run.model, path)
    if report is not None:
        from separable.report.reporting import contents_of_run

        write_report(contents_of_run(run, path), report)
    if as_json:
        write_data(json_bytes({"model": path, "report": report, **run.to_dict("command")}))
    else:
        is_table = hasattr(run, "leaderboard")
        more = {"verbose": verbosity() > 0} if is_table else {}
        click.echo(f"{run.summary(**more)}\n\n{_next_text(run, path, report)}")


def _train_stream(
    data: str,
    options: ProblemOptions,
    stream: StreamOptions,
    test: str | None,
    test_size: float | None,
) -> Any:
    from separable.model.words import counted
    from separable.workflow.stream.stream_training import train_stream

    for name, value in (("--test", test), ("--test-size", test_size)):
        if value is not None:
            raise click.UsageError(
                f"{name} cannot be used with --stream, which validates progressively. Leave one "
                "of them out."
            )
    run = train_stream(data, options, stream)
    rate = run.rows_read / max(run.seconds, 1e-9)
    rows = counted(run.rows_read, "row")
    say(f"{rows} learned in {run.seconds:.1f} s, {rate:.0f} per second.")
    return run


def _train_on_cluster(
    data: str, options: ProblemOptions, master: str, test_size: float | None
) -> Any:
    from separable.spark.cluster_training import train_frame
    from separable.spark.session import frame_of_files, session_of

    if options.reading.given():
        name = options.reading.given()[0].spelled("command")
        raise click.UsageError(f"{name} cannot be used with --spark: Spark reads the files.")
    frame = frame_of_files(session_of(master), data)
    return train_frame(frame, options, test_size, name=data, master=master)


def _refuse_with_spark(others: dict[str, Any]) -> None:
    for name, value in others.items():
        if value is not None:
            raise click.UsageError(f"{name} cannot be used with --spark. Leave one of them out.")


def _refuse_threads() -> None:
    """Refuse a number of threads, which every executor has of its own."""
    from click.core import ParameterSource

    given = click.get_current_context().get_parameter_source("threads")
    if given not in (None, ParameterSource.DEFAULT):
        raise click.UsageError(
            "--threads cannot be used with --spark. Choose cores by the master, as in local[4], or "
            "by spark.executor.cores."
        )


def _refuse_with_stream(out_of_core: bool | None, cache: str | None) -> None:
    if out_of_core or cache is not None:
        name = "--out-of-core" if out_of_core else "--cache"
        raise click.UsageError(f"{name} cannot be used with --stream. Leave one of them out.")


def _check_checkpoint(data: str, output: str, stream: StreamOptions) -> None:
    """Refuse, before the work, a checkpoint that cannot be written."""
    from pathlib import Path

    from separable.cli.io.output import check_output

    if stream.checkpoint is None:
        return
    if Path(stream.checkpoint).resolve() == Path(output).resolve():
        raise click.UsageError(f"--checkpoint {stream.checkpoint} and -o are the same file.")
    check_output(stream.checkpoint, data=data)


def _next_text(run: Any, path: str, report: str | None) -> str:
    """Return the files that were written, and the next commands."""
    import shlex

    model = shlex.quote(path)
    wrote = "" if report is None else f" The report is {report}: open it in a browser."
    return "\n".join(
        [f"Saved {path}.{wrote} Next:", *(f"  {line}" for line in run.next_commands(model))]
    )
