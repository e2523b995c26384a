"""Options of ``separable train --stream``."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separable.cli.options.help import heading

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Every", "StreamOptions", "stream_options"]

F = TypeVar("F", bound="Callable[..., Any]")


@dataclass(frozen=True)
class Every:
    """An interval between repeated actions, in rows or in seconds."""

    rows: int | None = None
    seconds: float | None = None


class _EveryType(click.ParamType):  # type: ignore[type-arg]  # in new stubs only
    """Rows, or seconds with an s behind them."""

    name = "every"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Every:
        if isinstance(value, Every):
            return value
        result = re.fullmatch(r"([0-9]+)(s?)", str(value))
        if result is None or int(result[1]) == 0:
            self.fail(f"{value!r} is neither rows (100000) nor seconds (60s).", param, ctx)
        number = int(result[1])
        return Every(seconds=float(number)) if result[2] else Every(rows=number)


@dataclass(frozen=True)
class StreamOptions:
    """What is said about a stream; None: not said."""

    passes: int | None = None
    classes: str | None = None
    encode_rows: int | None = None
    bits: int | None = None
    features: int | None = None
    checkpoint: str | None = None
    every: Every | None = None
    resume: str | None = None


_OPTIONS = (
    click.option("--stream", is_flag=True,
                 help="Train on DATA as a stream, in bounded memory. Progressive validation: "
                      "each row is predicted before it is learned; nothing is held out. The "
                      "options below need --stream."),
    click.option("--passes", type=click.IntRange(min=1), metavar="N",
                 help="Number of passes over DATA.  [default: 1]"),
    click.option("--classes", metavar="A,B,...",
                 help="All classes of the target.  [default: the classes of the first rows]"),
    click.option("--encode-rows", type=click.IntRange(min=1), metavar="N",
                 help="Derive the encoding of the columns from the first N rows (at most 16 MB). "
                      " [default: 100000]"),
    click.option("--bits", type=click.IntRange(1, 31), metavar="N",
                 help="Hash texts, or the features of Vowpal Wabbit text, into 2^N columns."
                 "  [default: words for the former, 18 for the latter]"),
    click.option("--features", type=click.IntRange(min=1), metavar="N",
                 help="Number of columns of an svmlight file.  [default: counted]"),
    click.option("--checkpoint", metavar="FILE",
                 help="Save a checkpoint at intervals and on Ctrl-C."),
    click.option("--every", type=_EveryType(), metavar="N|Ns",
                 help="Checkpoint interval in rows or seconds.  [default: 60s]"),
    click.option("--resume", metavar="FILE",
                 help="Continue from a checkpoint. The model is the same, bit for bit."),
)  # fmt: skip


def stream_options(command: F) -> F:
    """Add ``--stream`` and its options: with it the command becomes `train_stream`.

    To be put right above the command, below the other options.
    """

    @wraps(command)
    def train_or_stream(*args: Any, **options: Any) -> Any:
        streams = options.pop("stream")
        own = {each.name: options.pop(each.name) for each in fields(StreamOptions)}
        given = StreamOptions(**own)
        if streams:
            from separable.cli.stream.stream_training import train_stream

            return train_stream(click.get_current_context(), given, **options)
        for each in fields(StreamOptions):
            if getattr(given, each.name) is not None:
                name = each.name.replace("_", "-")
                raise click.UsageError(f"--{name} needs --stream. Add it, or leave this out.")
        return command(*args, **options)

    decorated: Any = train_or_stream
    result: F = heading("Streams", *_OPTIONS)(decorated)
    return result
