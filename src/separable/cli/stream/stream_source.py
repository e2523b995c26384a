"""Where the rows of a stream come from: files of any size, globs, standard input, in chunks.

They can be read in several passes, and known again when a checkpoint goes on.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from separable.cli.io.input_tables import in_options, skipped_text
from separable.data.io.formats import formats_of
from separable.data.io.reading import checked_options, files_of
from separable.data.io.sources import inputs_of
from separable.data.table import NotANumberError, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from separable.cli.options.options import ReadingOptions
    from separable.data.dataset import Dataset
    from separable.data.progress import Progress
    from separable.data.table import ColumnType

__all__ = ["CHUNK_BYTES", "Source"]

#: About how much text is read at a time.
CHUNK_BYTES = 1 << 22


class Source:
    """Files that are read in chunks, once or several times.

    Parameters
    ----------
    data : str
        As the user named it.
    reading : ReadingOptions
        How to read it.
    index_base : {"auto", 0, 1}
        Where svmlight text counts columns from; once it was read, what was found.
    """

    def __init__(self, data: str, reading: ReadingOptions, index_base: Any = "auto") -> None:
        self.data, self.index_base = data, index_base
        self.inputs = inputs_of(data)
        self._options = reading.for_read()
        self.format: str = self._options.pop("format", None) or formats_of(self.inputs)
        self.notes: list[str] = []
        self.report: Any = None
        self.progress: Callable[[Progress], None] | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are sparse and have no named columns."""
        return self.format in ("svmlight", "vw")

    @property
    def again(self) -> bool:
        """Whether it can be read more than once."""
        return all(one.again for one in self.inputs)

    def prints(self) -> list[dict[str, Any]]:
        """Return what shows whether the files are still the same: size, and hash of the start.

        Of what can be read only once, as standard input, nothing is known before.
        """
        return [
            {
                "name": Path(one.name).name,
                "bytes": one.size,
                "start": hashlib.sha256(one.head()).hexdigest()[:16] if one.again else None,
            }
            for one in self.inputs
        ]

    def chunks(
        self, column_types: Mapping[str, ColumnType] | None = None, n_features: int | None = None
    ) -> Iterator[Dataset]:
        """Read from the start; give the rows some at a time.

        Parameters
        ----------
        column_types : mapping of str to str, optional
            The types of some columns.
        n_features : int, optional
            The number of columns of sparse rows.
        """
        options = checked_options(
            column_types=column_types,
            n_features=n_features,
            index_base=self.index_base,
            **self._options,
        )
        files: Any = files_of(self.inputs, None, self.format, options, self._tell)
        try:
            self.report = files.report
            yield from files.datasets(CHUNK_BYTES, None)
        except NotANumberError:
            raise  # whoever asked for the type has a remedy of its own
        except TableError as error:
            raise TableError(in_options(str(error))) from None
        finally:
            self.index_base = getattr(files, "index_base", "auto")
            self._note()

    def _tell(self, progress: Progress) -> None:
        if self.progress is not None:
            self.progress(progress)

    def _note(self) -> None:
        """Keep what a reading found; the same is found by each."""
        report = self.report
        if report is None:
            return
        self.notes = [in_options(message) for message in report.notes]
        if report.skipped:
            self.notes.append(skipped_text(self.data, report.skipped, report.examples[0]))
