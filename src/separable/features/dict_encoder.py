"""DictEncoder: dicts of features to sparse rows."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from separable._core import portable
from separable.accepted_parameters import accepts
from separable.data.rows import Rows, as_rows
from separable.data.strings import DeferredTexts, is_texts, pack_strings
from separable.estimator import not_fitted_error
from separable.features.base import Transformer
from separable.features.encoding_report import UnseenLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from separable.features.base import Tensors, Values

__all__ = ["DictEncoder", "dense", "names_of_records", "records_of", "rows_of_records"]

#: Files with at most this many names are decoded when read.
EAGER_NAMES = 1 << 12


@accepts("dtype", "sort")
@dataclass(eq=False, repr=False)
class DictEncoder(Transformer):
    """Encode dicts of feature names to values as sparse rows.

    A number keeps its value under its name. A text is one-hot encoded: ``{"city": "Rome"}`` is 1
    for ``city=Rome``. A list, tuple or set of texts counts each of them. None and NaN mean that the
    row does not have the feature. Names are sorted, and the matrix is that of scikit-learn's
    ``DictVectorizer``. Features unseen in training are ignored and counted in `unseen_`.

    Parameters
    ----------
    separator : str, default "="
        Separator of a feature name and its text.
    sparse : bool, default True
        Whether `transform` returns a sparse matrix.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Output column of each name.
    unseen_ : dict of str to dict
        Unseen features and texts since fit, counted by feature.

    Examples
    --------
    >>> from separable import DictEncoder
    >>> words = [{"word": "the", "length": 3}, {"word": "cat", "tags": ["noun", "animal"]}]
    >>> encoder = DictEncoder(sparse=False)
    >>> encoder.fit_transform(words)
    array([[3., 0., 0., 0., 1.],
           [0., 1., 1., 1., 0.]])
    >>> encoder.feature_names
    ('length', 'tags=animal', 'tags=noun', 'word=cat', 'word=the')
    """

    _: KW_ONLY
    separator: str = "="
    sparse: bool = True

    kind: ClassVar[str] = "dict"

    # --- learning ---

    def fit(self, X: Iterable[Mapping[Any, Any]], y: Any = None) -> Self:
        """Learn the feature names.

        Parameters
        ----------
        X : iterable of dict
        y : ignored

        Returns
        -------
        DictEncoder
            The fitted encoder.
        """
        for name in ("_saved", "_numbers", "_levels"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X, y)

    def partial_fit(self, X: Iterable[Mapping[Any, Any]], y: Any = None) -> Self:  # noqa: ARG002
        """Update the feature names with more rows; columns may move, since names are sorted.

        Parameters
        ----------
        X : iterable of dict
        y : ignored

        Returns
        -------
        DictEncoder
            The fitted encoder.
        """
        numbers, levels = names_of_records(records_of(X))  # if it fails, nothing has changed
        if not hasattr(self, "_numbers"):
            self._learned(numbers, levels)
            return self
        self._numbers.update(numbers)
        for key, texts in levels.items():
            self._levels.setdefault(key, {}).update(texts)
        self._learned(self._numbers, self._levels)
        return self

    def merge(self, other: DictEncoder) -> DictEncoder:
        """Return an encoder with the names of both."""
        levels = {key: dict(texts) for key, texts in self._fitted()._levels.items()}
        for key, texts in other._fitted()._levels.items():
            levels.setdefault(key, {}).update(texts)
        merged = type(self)(**self.get_params())
        merged._learned(self._numbers | other._numbers, levels)
        return merged

    def _learned(self, numbers: dict[Any, int], levels: dict[Any, dict[str, int]]) -> None:
        self._numbers, self._levels = numbers, levels
        self._names: tuple[str, ...] | None = None
        self._unseen = UnseenLedger()

    def _settle(self) -> None:
        """Sort and number the names, if rows were added since."""
        numbers, levels = self._numbers, self._levels
        named = {self._name(key, None) for key in numbers}
        named |= {self._name(key, text) for key, texts in levels.items() for text in texts}
        self._names = tuple(sorted(named))
        index = {name: index for index, name in enumerate(self._names)}
        self._vocabulary = index
        self._number_columns = {key: index[self._name(key, None)] for key in numbers}
        self._level_columns = {
            key: {text: index[self._name(key, text)] for text in texts}
            for key, texts in levels.items()
        }

    def _name(self, key: Any, text: str | None) -> str:
        return str(key) if text is None else f"{key}{self.separator}{text}"

    def _fitted(self) -> Self:
        if not self.__sklearn_is_fitted__():
            raise not_fitted_error(self)
        if self._names is None:
            self._settle()
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return "_numbers" in self.__dict__ or "_saved" in self.__dict__

    # --- fitted attributes ---

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names, as a sequence equal to their tuple."""
        saved = self.__dict__.get("_saved")
        return self._sorted_names() if saved is None else saved.later(self._sorted_names)

    def _sorted_names(self) -> tuple[str, ...]:
        names = self._fitted()._names
        assert names is not None
        return names

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Output column of each name."""
        return self._fitted()._vocabulary

    @property
    def feature_names_(self) -> list[str]:
        """Output feature names, as a list."""
        return list(self.feature_names)

    def restrict(self, support: Any, indices: bool = False) -> Self:
        """Keep some of the columns; they stay sorted by name, and the others count as unseen.

        Parameters
        ----------
        support : array-like
            A mask of the columns, such as that of a feature selector.
        indices : bool, default False
            ``support`` has the indices of the columns instead.

        Returns
        -------
        DictEncoder
            The encoder itself.
        """
        names = np.array(self.feature_names, dtype=object)
        chosen = np.asarray(support)
        if not indices and chosen.shape != names.shape:
            raise ValueError(
                f"support has {len(chosen)} entries and there are {len(names)} columns. Give one "
                "a column, or indices=True."
            )
        kept = set(names[chosen if indices else chosen.astype(bool)].tolist())
        numbers = {key: at for key, at in self._numbers.items() if self._name(key, None) in kept}
        levels = {
            key: {text: at for text, at in texts.items() if self._name(key, text) in kept}
            for key, texts in self._levels.items()
        }
        self._learned(numbers, {key: texts for key, texts in levels.items() if texts})
        return self

    def lookup_tables(self) -> tuple[dict[Any, int], dict[Any, dict[str, int]]]:
        """Return the columns of numeric features, and of each text of the others.

        Returns
        -------
        numbers : dict of feature to int
        levels : dict of feature to dict of str to int
        """
        self._fitted()
        return self._number_columns, self._level_columns

    @property
    def sources(self) -> Sequence[str]:
        """Raw feature of each output feature."""
        saved = self.__dict__.get("_saved")
        return self._sources() if saved is None else saved.later(self._sources)

    def _sources(self) -> tuple[str, ...]:
        source = {self._name(key, None): str(key) for key in self._fitted()._numbers}
        source |= {self._name(k, t): str(k) for k, texts in self._levels.items() for t in texts}
        return tuple(source[name] for name in self._sorted_names())

    @property
    def unseen_(self) -> dict[str, dict[str, Any]]:
        """Unseen features and texts since fit, counted by feature."""
        return self._fitted()._unseen.to_dict()

    # --- encoding ---

    def encode(self, data: Iterable[Mapping[Any, Any]]) -> Rows:
        """Encode dicts as rows of float64.

        Parameters
        ----------
        data : iterable of dict

        Returns
        -------
        Rows
            CSR, with sorted columns and without explicit zeros.
        """
        n_features = len(self._sorted_names())
        rows, n_unseen, examples = rows_of_records(
            records_of(data), self._number_columns, self._level_columns, n_features
        )
        if n_unseen:
            self._note(n_unseen, examples)
        return rows

    def _note(self, n_unseen: int, examples: list[tuple[Any, str | None]]) -> None:
        for key, text in examples:
            self._unseen.add(str(key), {"(a number)" if text is None else text: 1})
        if n_unseen > len(examples):
            self._unseen.add("(others)", {"": n_unseen - len(examples)})

    def transform(self, X: Any) -> Any:
        """Encode dicts as a matrix.

        Parameters
        ----------
        X : iterable of dict

        Returns
        -------
        scipy.sparse.csr_array or ndarray
            Or the data frame type chosen with `set_output`.
        """
        rows = self.encode(X)
        return self._given_out(rows if self.sparse else dense(rows), X)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and encode the same rows."""
        records = records_of(X)
        rows = self.fit(records, y).encode(records)
        return self._given_out(rows if self.sparse else dense(rows), X)

    def inverse_transform(self, X: Any) -> list[dict[str, float]]:
        """Return for each row the names and values of its non-zeros.

        Parameters
        ----------
        X : array-like or sparse matrix

        Returns
        -------
        list of dict
        """
        names, rows = self.feature_names, as_rows(X)
        if rows.indptr is None or rows.indices is None:
            return [
                {names[j]: float(row[j]) for j in np.flatnonzero(row).tolist()}
                for row in rows.values
            ]
        ends = rows.indptr.tolist()
        columns, values = rows.indices.tolist(), rows.values.tolist()
        return [
            {names[columns[k]]: values[k] for k in range(start, stop) if values[k]}
            for start, stop in pairwise(ends)
        ]

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        pairs = [(str(k), text) for k, texts in self._fitted()._levels.items() for text in texts]
        tensors: dict[str, NDArray[Any] | Sequence[str]] = {
            "numbers": tuple(str(key) for key in self._numbers),
            "level_features": tuple(key for key, _ in pairs),
            "level_texts": tuple(text for _, text in pairs),
        }
        return tensors, {"separator": self.separator, "sparse": bool(self.sparse)}

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; the inverse of `to_parts`."""
        parts = [tensors.get(key) for key in ("numbers", "level_features", "level_texts")]
        separator, sparse = values.get("separator"), values.get("sparse")
        texts = all(map(is_texts, parts))
        if not texts or not isinstance(separator, str) or not isinstance(sparse, bool):
            raise ValueError("The saved DictEncoder is damaged: wrong parts.")
        saved = _Saved(*cast("list[Sequence[str]]", parts))
        if len(saved.features) != len(saved.texts) or not saved.count:
            raise ValueError("The saved DictEncoder is damaged: features and texts differ.")
        encoder = cls(separator=separator, sparse=sparse)
        encoder.__dict__["_saved"] = saved
        if saved.count <= EAGER_NAMES or not saved.surely_differ(separator):
            encoder._restore(check=False)
        return encoder

    def __getattr__(self, name: str) -> Any:
        if name in ("_numbers", "_levels", "_names", "_unseen") and "_saved" in self.__dict__:
            self._restore()
            return self.__dict__[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def _restore(self, check: bool = True) -> None:
        """Decode the content of a file."""
        saved: _Saved = self.__dict__.pop("_saved")
        self._learned(*saved.learned())
        if check and len(self._sorted_names()) != saved.count:
            raise ValueError("The saved DictEncoder is damaged: duplicate name.")


class _Saved:
    """Undecoded content of a file: most names may never be used.

    Parameters
    ----------
    numbers, features, texts : sequence of str
        Numeric features; and for each level its feature and its text.
    """

    def __init__(
        self, numbers: Sequence[str], features: Sequence[str], texts: Sequence[str]
    ) -> None:
        self.numbers, self.features, self.texts = numbers, features, texts
        self.count = len(numbers) + len(texts)

    def surely_differ(self, separator: str) -> bool:
        """Return whether names are certainly distinct, without creating them."""
        utf8 = [pack_strings(part)[0].tobytes() for part in (self.numbers, self.features)]
        return separator != "" and not any(separator.encode() in each for each in utf8)

    def learned(self) -> tuple[dict[Any, int], dict[Any, dict[str, int]]]:
        """Return the numeric features, and the texts of the others."""
        levels: dict[Any, dict[str, int]] = {}
        for feature, text in zip(self.features, self.texts, strict=True):
            levels.setdefault(feature, {})[text] = 0
        return dict.fromkeys(self.numbers, 0), levels

    def later(self, make: Callable[[], tuple[str, ...]]) -> Sequence[str]:
        """Return a lazy sequence of all names."""
        return DeferredTexts(self.count, make)


def records_of(X: Any) -> list[Any]:
    """Return the rows as a list; a single dict is one row, as in scikit-learn."""
    if hasattr(X, "columns"):
        raise TypeError(
            f"Expected rows that are dicts, got a {type(X).__name__}. Give a list of dicts, for "
            "example X.to_dict('records') of a pandas frame, or use TableEncoder."
        )
    if hasattr(X, "keys") and not hasattr(X, "iloc"):  # a pandas series of dicts has many rows
        return [X]
    if isinstance(X, (str, bytes, memoryview)):
        what = "memory" if isinstance(X, memoryview) else "text"
        raise TypeError(f"Expected rows that are dicts, got a {what}: {X!r:.80}.")
    return X if type(X) is list else list(X)


def names_of_records(
    records: list[Any], *, keep_missing: bool = False
) -> tuple[dict[Any, int], dict[Any, dict[str, int]]]:
    """Return the numeric features, and the texts of the others, numbered as they first occur."""
    numbers: dict[Any, int] = {}
    levels: dict[Any, dict[str, int]] = {}
    portable.dict_names(records, numbers, levels, keep_missing)
    return numbers, levels


def rows_of_records(
    records: list[Any],
    numbers: Mapping[Any, int],
    levels: Mapping[Any, Mapping[str, int]],
    n_features: int,
    *,
    keep_missing: bool = False,
) -> tuple[Rows, int, list[tuple[Any, str | None]]]:
    """Return the rows, the number of entries without a column, and examples of such entries.

    Parameters
    ----------
    records : list of dict
    numbers : mapping of feature to int
        Column of each numeric feature.
    levels : mapping of feature to mapping of str to int
        Column of each text of the others.
    n_features : int
    keep_missing : bool, default False
        Whether None and NaN become NaN; else the row does not have the feature.
    """
    parts: Any = portable.dict_rows(records, numbers, levels, keep_missing)  # type: ignore[arg-type]
    values, indices, indptr, n_unseen, examples = parts
    if max(len(values), n_features) < np.iinfo(np.int32).max:
        indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
    return Rows(values, n_features, indices, indptr), n_unseen, examples


def dense(rows: Rows) -> Rows:
    """Return rows as a dense array."""
    assert rows.indptr is not None
    assert rows.indices is not None
    out = np.zeros(rows.shape)
    out[np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr)), rows.indices] = rows.values
    return Rows(out, rows.n_features)
