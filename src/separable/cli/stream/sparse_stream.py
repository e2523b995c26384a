"""A stream of svmlight or Vowpal Wabbit text, whose rows are numbers already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click
import numpy as np

from separable.cli.io.output import file_name
from separable.cli.render.messages import step
from separable.cli.stream.stream_rows import RowStream, Targets
from separable.cli.stream.stream_target import settled_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from separable.cli.stream.stream_rows import Wanted
    from separable.cli.stream.stream_source import Source
    from separable.cli.stream.stream_target import StreamTarget
    from separable.data.dataset import Dataset
    from separable.data.rows import Rows
    from separable.features.encoding_report import EncodingReport

__all__ = ["SparseStream"]

#: Vowpal Wabbit's own default.
BITS = 18


class SparseStream(RowStream):
    """Rows of svmlight or Vowpal Wabbit text, which are numbers already. See `RowStream`."""

    def __init__(
        self,
        source: Source,
        wanted: Wanted,
        target: StreamTarget | None = None,
        n_features: int | None = None,
    ) -> None:
        super().__init__(source, wanted, target)
        self._width = n_features
        named: dict[str, Any] = {"--target": wanted.target, "--weight": wanted.weight}
        named |= {f"--{kind}": names for kind, names in wanted.columns.items()}
        if source.format == "vw" and wanted.features is not None:
            raise click.UsageError("--features is for svmlight files. Use --bits.")
        if source.format == "svmlight" and wanted.bits is not None:
            raise click.UsageError("--bits: the columns of svmlight files are numbers already.")
        odd = next((option for option, given in named.items() if given), None)
        if odd is not None:
            raise click.UsageError(
                f"{odd}: {source.format} text has no named columns, and each line begins with its "
                "target. Leave the option out."
            )

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        assert self._width is not None
        return self._width

    def begin(self) -> None:
        """Settle the width, and what is predicted by the first rows."""
        if self.source.format == "vw":
            self._width = 1 << (self.wanted.bits or BITS)
        else:
            self._width = self.wanted.features or self._counted_width()
        result = [chunk.y for chunk in self._first() if chunk.y is not None]
        values = np.concatenate(result) if result else np.zeros(0)
        self._target = settled_target(
            f"{file_name(self.source.data)}: the target of each line",
            np.unique(values, return_counts=True),
            self.wanted.task,
            self.wanted.classes,
        )
        self._tell_order(values)

    def _counted_width(self) -> int:
        if not self.source.again:
            raise click.UsageError(
                f"The number of columns of {file_name(self.source.data)} must be known before "
                "reading: give --features N."
            )
        with step(f"Counting the columns of {file_name(self.source.data)}"):
            return max(chunk.rows.n_features for chunk in self.source.chunks() if chunk.rows)

    def _chunks(self) -> Iterator[Dataset]:
        return self.source.chunks(n_features=self._width)

    def _targets(self, chunk: Dataset, first_row: int) -> Targets:
        n = len(chunk)
        if chunk.y is None:
            none = np.zeros(n, dtype=np.bool_)
            return Targets(none, none, np.zeros(0), None)
        y, mask = self.target.of_values(chunk.y, first_row)
        if chunk.weights is None:
            return Targets(mask, mask, y, None)
        weight = chunk.weights.astype(np.float64)
        keep = weight > 0
        return Targets(mask, keep, y[keep], weight[keep])

    def _encoded(
        self, chunk: Dataset, kept: NDArray[np.intp], first_row: int
    ) -> tuple[Rows, EncodingReport | None]:
        del first_row
        assert chunk.rows is not None
        start, stop = int(kept[0]), int(kept[-1]) + 1
        rows = chunk.rows.slice(start, stop)
        return (rows if len(kept) == stop - start else rows.take(kept - start)), None
