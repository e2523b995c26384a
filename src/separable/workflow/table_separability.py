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
from separable.workflow.training_data import Encoded, read_problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from separable.data.rows import Rows
    from separable.geometry.verdict import Verdict, Verdicts
    from separable.model.kinds import Model

__all__ = ["TableSeparability", "separability", "separability_text", "table_separability"]

#: Rows of the sample on which `separability_text` looks for overlap, and most values in it.
SAMPLE_ROWS, SAMPLE_VALUES = 1000, 100_000

#: Most classes of that sample: three or more are decided jointly.
SAMPLE_CLASSES = 5


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

    A linear model without a training error shows that the classes are separable. Otherwise a
    random sample whose classes overlap proves that all rows do.

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
    if _separates(model, rows, y):
        return "the classes are linearly separable: the model divides all rows"
    classes, n = len(model.classes), rows.n_rows
    most = min(SAMPLE_ROWS, SAMPLE_VALUES // max(rows.n_features, 1))
    if classes > SAMPLE_CLASSES or most < 2 * rows.n_features:
        return ""  # so few rows are separable by chance
    from separable.geometry.separability import separability as decide

    chosen = np.arange(n)
    if n > most:
        chosen = np.sort(np.random.default_rng(seed).permutation(n)[:most])
    if len(np.unique(y[chosen])) < 2:
        return ""
    with step("Deciding separability"):
        verdict = decide(rows.take(chosen), y[chosen])
    if verdict.separable is not False:
        return ""
    where = "" if n <= most else f" (proved by a sample of {most} rows)"
    touch = verdict.to_dict().get("kind") == "quasi-separable"
    if touch:
        return f"the classes are separable only weakly: some rows lie on every boundary{where}"
    return f"the classes overlap: no linear model divides all rows{where}"


def _separates(model: LinearModel, rows: Rows, y: NDArray[Any]) -> bool:
    """Whether every row lies strictly on the side of its class."""
    assert model.classes is not None
    codes = np.searchsorted(model.classes, y)
    scores = model.decision_function(rows)
    if scores.ndim == 1:
        return bool((np.where(codes == 1, scores, -scores) > 0).all())
    own = scores[np.arange(len(codes)), codes]
    others = scores.copy()
    others[np.arange(len(codes)), codes] = -np.inf
    return bool((own > others.max(axis=1)).all())
