"""Linear separability of the classes of a table, in the features that learners see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.errors import InputError, OptionError
from separable.model.linear_model import LinearModel
from separable.model.words import counted
from separable.workflow.input_tables import naming_file
from separable.workflow.options import COLUMN_KINDS, ProblemOptions, ReadingOptions, file_name
from separable.workflow.progress import remembering_files, step
from separable.workflow.training_problem import Encoded, read_problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.geometry.verdict import Verdict, Verdicts
    from separable.model.kinds import Model

__all__ = ["TableSeparability", "separability", "separability_text", "table_separability"]

#: Rows of the sample on which `separability_text` looks for overlap, and most values in it.
SAMPLE_ROWS, SAMPLE_VALUES = 1000, 100_000

#: Most features for which weak separability is decided: exact arithmetic takes seconds for more.
MOST_DECIDED = 40


@dataclass(frozen=True, eq=False, repr=False)
class TableSeparability:
    """The verdict on a table.

    Parameters
    ----------
    verdict : Verdict or Verdicts
    rows : Rows
        The encoded rows that it is about.
    labels : ndarray, shape (n,)
    name : str
        The data.
    """

    verdict: Verdict | Verdicts
    rows: Rows
    labels: NDArray[Any]
    name: str

    def verify(self, *, exact: bool = True) -> bool:
        """Return whether the proof holds for these rows, by default in exact arithmetic."""
        return self.verdict.verify(self.rows, self.labels, exact=exact)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict and its proof as JSON values."""
        return self.verdict.to_dict()

    def __repr__(self) -> str:
        rows, features = counted(self.rows.n_rows, "row"), counted(self.rows.n_features, "feature")
        return f"{self.name}: {rows}, {features}\n{self.verdict.to_text()}"


def separability(
    data: Any,
    target: str,
    *,
    multi_class: str = "joint",
    columns: Mapping[str, Sequence[str]] | None = None,
    **reading: Any,
) -> TableSeparability:
    """Decide whether the classes of a file or a table are linearly separable, and prove it.

    Parameters
    ----------
    data : str, path, data frame, pyarrow.Table, dict of columns or list of dicts
    target : str
        The column of classes.
    multi_class : {"joint", "pairs", "ovr"}, default "joint"
        For three or more classes, as in `separable.geometry.separability`.
    columns : mapping of str to sequence of str, optional
        Columns by type: "number", "category", "boolean", "date", "text" or "drop".
    **reading
        Overrides of the detected file format, as in `separable.train`.

    Returns
    -------
    TableSeparability

    Examples
    --------
    >>> from separable.datasets import PENGUINS
    >>> from separable.workflow import separability
    >>> result = separability(PENGUINS, "species")
    >>> result.verdict.kind, result.verify()
    ('separable', True)
    """
    import os

    data = os.fspath(data) if isinstance(data, os.PathLike) else data
    given = {kind: list((columns or {}).get(kind, ())) for kind in COLUMN_KINDS}
    options = ProblemOptions(
        target, task="classification", columns=given, reading=ReadingOptions(**reading)
    )
    try:
        return table_separability(data, options, multi_class)
    except InputError as error:
        error.spelling = "train"
        raise


def table_separability(
    data: Any, options: ProblemOptions, multi_class: str = "joint"
) -> TableSeparability:
    """Return the verdict on a table; see `separability`."""
    from separable.geometry.separability import separability as decide

    if not options.target:
        raise OptionError("Name the column of classes.")
    with remembering_files():
        problem = read_problem(data, options)
        encoder, rows = Encoded(problem, np.arange(len(problem)))()
        with step("Deciding separability"), naming_file(data):
            verdict = decide(
                rows,
                problem.target.values,
                multi_class=multi_class,
                feature_names=encoder.feature_names,
            )
    return TableSeparability(verdict, rows, problem.target.values, file_name(data))


def separability_text(model: Model, rows: Rows, y: NDArray[Any], seed: int) -> str:
    """Return one line on the separability of training rows; empty if it is not decided quickly.

    A linear model without a training error shows that the classes are separable. Otherwise the two
    classes that it confuses most, or a random sample of them, may prove that no linear model
    divides all rows.

    Parameters
    ----------
    model : LinearModel or VotedModel
        Trained on the rows.
    rows : Rows
    y : ndarray
    seed : int
        Of the sample.
    """
    if not isinstance(model, LinearModel) or model.classes is None or model.threshold is not None:
        return ""
    codes = np.searchsorted(model.classes, y)
    predicted = _predicted(model, rows, codes)
    if (predicted == codes).all():
        return "the classes are linearly separable: the model divides all rows"
    pair = _most_confused(codes, predicted, len(model.classes))
    of_pair = np.flatnonzero(np.isin(codes, pair))
    most = min(SAMPLE_ROWS, SAMPLE_VALUES // max(rows.n_features, 1))
    if most < 2 * rows.n_features:
        return ""  # so few rows are separable by chance
    chosen = of_pair
    if len(of_pair) > most:
        chosen = np.sort(np.random.default_rng(seed).permutation(of_pair)[:most])
    if len(np.unique(codes[chosen])) < 2:
        return ""
    with step("Deciding separability"):
        kind = _kind(rows.take(chosen), codes[chosen])
    several = len(model.classes) > 2
    names = [f"{model.classes.tolist()[k]}" for k in pair]
    classes = f"the classes {names[0]} and {names[1]}" if several else "the classes"
    where = "" if len(chosen) == len(of_pair) else f" (proved by a sample of {most} rows)"
    if kind == "overlap":
        return f"{classes} overlap: no linear model divides all rows{where}"
    if kind != "quasi-separable":
        return ""
    if where:
        return f"{classes} are not strictly separable: no linear model divides all rows{where}"
    return f"{classes} are separable only weakly: some rows lie on every boundary"


def _kind(rows: Rows, codes: NDArray[Any]) -> str:
    """Return the kind of verdict on two classes; of many features, only overlap is proved."""
    from separable.geometry.separability import overlap, separability

    if rows.n_features > MOST_DECIDED:
        return "overlap" if overlap(rows, codes) else ""
    return str(separability(rows, codes).to_dict()["kind"])


def _predicted(model: LinearModel, rows: Rows, codes: NDArray[Any]) -> NDArray[Any]:
    """Return the code of the class of the highest score; of ties, one that is wrong."""
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        return np.where(scores == 0, 1 - codes, scores > 0).astype(codes.dtype)
    every = np.arange(len(codes))
    own = scores[every, codes].copy()
    scores[every, codes] = -np.inf
    return np.where(own > scores.max(axis=1), codes, scores.argmax(axis=1))


def _most_confused(codes: NDArray[Any], predicted: NDArray[Any], classes: int) -> tuple[int, int]:
    """Return the two classes that are most often predicted for each other."""
    counts = np.bincount(codes * classes + predicted, minlength=classes**2)
    counts = counts.reshape(classes, classes)
    both = np.triu(counts + counts.T, k=1)
    first, second = np.unravel_index(int(both.argmax()), both.shape)
    return int(first), int(second)
