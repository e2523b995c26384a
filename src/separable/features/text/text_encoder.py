"""TextEncoder: bag of words or n-grams, with a vocabulary or hashed."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from separable.data.resources import n_threads
from separable.data.rows import as_rows
from separable.data.strings import RepeatedText
from separable.estimator import not_fitted_error
from separable.features.base import Transformer
from separable.features.text.parameter_checks import TOKEN_PATTERN
from separable.features.text.terms import TextHashing, TextVocabulary
from separable.features.text.text_plan import TextPlan, word_spans
from separable.features.text.text_serialization import parts_of, state_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Self

    from numpy.typing import DTypeLike, NDArray

    from separable.data.rows import Rows
    from separable.features.base import Tensors, Values
    from separable.features.text.text_plan import Span
    from separable.features.text.text_serialization import State

__all__ = ["TextEncoder"]


@dataclass(eq=False, repr=False)
class TextEncoder(Transformer):
    r"""Encode texts as counts or tf-idf weights of words, n-grams or characters.

    A text d becomes ``x_j = tf(j, d) * idf(j) / norm``, with ``tf`` the count of term j in d,
    ``idf(j) = log((n + 1) / (df(j) + 1)) + 1``, and df(j) the number of the n training texts that
    have term j. Parameters, defaults and the matrix are those of scikit-learn's
    ``TfidfVectorizer``; with ``use_idf=False, norm=None`` the matrix is that of its
    ``CountVectorizer``. The matrix is the same on any number of threads.

    Parameters
    ----------
    input : {"content", "file", "filename"}, default "content"
        Type of the items: texts, open files or paths.
    encoding, decode_error : str
        How bytes are decoded.
    strip_accents : {"ascii", "unicode"}, function or None
        Strip accents.
    lowercase : bool, default True
        Convert texts to lower case first, as ``str.lower`` does.
    preprocessor : function, optional
        Replaces `strip_accents` and `lowercase`.
    tokenizer : function, optional
        Replaces `token_pattern`. Functions take a slower path to the same result.
    analyzer : {"word", "char", "char_wb"} or function, default "word"
        Words, characters, or characters within words; or a function from a text to its terms.
    stop_words : {"english"}, list of str or None
        Words to ignore; ``"english"`` is scikit-learn's list.
    token_pattern : str
        Regular expression of a word. The default matches words of two or more characters.
    ngram_range : (int, int), default (1, 1)
        Shortest and longest n-grams.
    max_df, min_df : float or int
        Ignore terms in more or fewer documents; an int is a number of documents, a float a
        fraction.
    max_features : int, optional
        Maximum number of terms; the most frequent are kept.
    vocabulary : list of str or dict of str to int, optional
        The terms, instead of those of the training texts.
    binary : bool, default False
        Count a term at most once per text.
    dtype : {float64, float32}
        Type of the output.
    norm : {"l2", "l1"} or None, default "l2"
        Norm of each row after scaling.
    use_idf, smooth_idf, sublinear_tf : bool
        Weight by idf; add one to document frequencies and n; use ``1 + log(tf)`` for tf.
    n_features : int, optional
        Hash terms into this many columns instead of keeping a vocabulary. The matrix is that of
        scikit-learn's ``HashingVectorizer``: signed counts, scaled to `norm`, without idf, whatever
        `use_idf` is. Options that need a vocabulary raise an error.
    alternate_sign : bool, default True
        Hashing only: count half of the terms as -1, so that collisions cancel on average.
    max_names : int, default 2**20
        Hashing only: maximum number of term names kept when fitting.
    n_jobs : int or None, default None
        Number of threads; None is 1, -1 all cores.

    Attributes
    ----------
    vocabulary_ : dict of str to int
        Column of each term.
    idf_ : ndarray
        Weight of each column, if ``use_idf``.
    n_documents_ : int
        Number of training texts.
    collisions_ : dict of int to tuple of str
        Hashing only: columns shared by several kept names, with those names.
    n_names_ : int
        Hashing only: number of distinct names; an estimate above `max_names`.

    Examples
    --------
    >>> from separable import TextEncoder
    >>> encoder = TextEncoder(norm=None, use_idf=False)
    >>> X = encoder.fit_transform(["A good film", "A boring, boring film"])
    >>> encoder.feature_names
    ('boring', 'film', 'good')
    >>> X.toarray()
    array([[0., 1., 1.],
           [2., 1., 0.]])
    """

    _: KW_ONLY
    input: str = "content"
    encoding: str = "utf-8"
    decode_error: str = "strict"
    strip_accents: str | Callable[[str], str] | None = None
    lowercase: bool = True
    preprocessor: Callable[[str], str] | None = None
    tokenizer: Callable[[str], Sequence[str]] | None = None
    analyzer: str | Callable[[str], Iterable[str]] = "word"
    stop_words: str | Iterable[str] | None = None
    token_pattern: str | None = TOKEN_PATTERN
    ngram_range: tuple[int, int] = (1, 1)
    max_df: float | int = 1.0
    min_df: float | int = 1
    max_features: int | None = None
    vocabulary: Mapping[str, int] | Iterable[str] | None = None
    binary: bool = False
    dtype: DTypeLike = np.float64
    norm: str | None = "l2"
    use_idf: bool = True
    smooth_idf: bool = True
    sublinear_tf: bool = False
    n_features: int | None = None
    alternate_sign: bool = True
    max_names: int = 2**20
    n_jobs: int | None = None

    kind: ClassVar[str] = "text"
    _input_tags: ClassVar[dict[str, bool]] = {"two_d_array": False, "string": True}

    # --- learning ---

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the vocabulary and the document frequencies.

        Parameters
        ----------
        X : list, array or series of str or bytes, or Arrow array
            The texts. Missing texts raise an error: fill them with ``""``.
        y : ignored

        Returns
        -------
        TextEncoder
            The fitted encoder.
        """
        self._learn(X, keep=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        """Fit and transform in one pass."""
        return self._given_out(self._learn(X, keep=True), X)

    def _learn(self, X: Any, *, keep: bool) -> Any:
        threads = n_threads(self.n_jobs, "TextEncoder")
        state = self._new_state()
        rows = state.count(X, threads, keep=keep)
        state.settle()
        self._set_state(state)
        if rows is None:
            return None
        return state.matrix(state.columns_of(rows, threads), threads)

    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Update the fit with more texts.

        Terms and document frequencies are exact over all chunks. Columns are chosen and numbered
        again on the next access, so matrices made before and after differ.

        Parameters
        ----------
        X : list, array or series of str or bytes, or Arrow array
        y : ignored

        Returns
        -------
        TextEncoder
            The fitted encoder.
        """
        threads = n_threads(self.n_jobs, "TextEncoder")
        if not hasattr(self, "_state"):
            state = self._new_state()
            state.count(X, threads, keep=False)
        else:
            state = self._learning_state("partial_fit")
            state.count(X, threads, keep=False)
        self._set_state(state)
        return self

    def merge(self, other: TextEncoder) -> TextEncoder:
        """Return the encoder fitted to the texts of both.

        Parameters
        ----------
        other : TextEncoder
            Fitted with the same parameters.

        Returns
        -------
        TextEncoder
            A new encoder.
        """
        if not isinstance(other, TextEncoder):
            raise ValueError(f"Only a TextEncoder can be merged. Got {type(other).__name__}.")
        ours, theirs = self._learning_state("merge"), other._learning_state("merge")
        for name in ours.plan.__dataclass_fields__:
            if getattr(ours.plan, name) != getattr(theirs.plan, name):
                raise ValueError(
                    f"The encoders cannot be merged: their {name!r} differs, "
                    f"{getattr(ours.plan, name)!r:.80} and {getattr(theirs.plan, name)!r:.80}. "
                    "Fit both with the same parameters."
                )
        made = type(self)(**self.get_params())
        made._set_state(ours.merged(theirs))  # type: ignore[arg-type]  # plans are the same
        return made

    def choose_min_df(self, min_df: int) -> None:
        """Set ``min_df`` after counting; columns are chosen again on the next access."""
        state = self._learning_state("choose another min_df")
        if not isinstance(state, TextVocabulary):
            raise ValueError("Hashed columns are not chosen by min_df. Leave n_features out.")
        self.min_df = min_df
        state.change_min_df(min_df)
        self._set_state(state)

    def copy_to_learn_on(self, min_df: float | int) -> TextEncoder:
        """Return a copy with its own counts and another ``min_df``."""
        state = self._learning_state("learn on")
        made = type(self)(**{**self.get_params(), "min_df": min_df})
        made._set_state(made._new_state().merged(state))  # type: ignore[arg-type]  # of one kind
        return made

    def _new_state(self) -> State:
        plan = TextPlan.checked(self.get_params())
        return TextVocabulary(plan) if plan.n_features is None else TextHashing(plan)

    def _set_state(self, state: State) -> None:
        self._state = state
        self._names: Sequence[str] | None = None

    def _learning_state(self, what: str) -> State:
        state = self._fitted()
        if not state.complete:
            raise ValueError(
                "This TextEncoder was loaded from a file, which has the columns but not all "
                f"counts, so it cannot {what}. Fit a new one on the texts."
            )
        return state

    def _fitted(self) -> State:
        if not hasattr(self, "_state"):
            if self.n_features is None and (self.vocabulary is None or self.use_idf):
                raise not_fitted_error(self)
            state = self._new_state()  # hashing and counts of a given vocabulary need no fit
            if isinstance(state, TextVocabulary):
                state.assume()
            self._set_state(state)
        return self._state

    def _settled(self) -> State:
        state = self._fitted()
        state.settle()
        return state

    # --- fitted attributes ---

    @property
    def feature_names(self) -> Sequence[str]:
        """Output feature names: the terms, as a sequence equal to their tuple."""
        state = self._settled()
        if self._names is None:
            self._names = state.names()
        return self._names

    @property
    def plan(self) -> TextPlan:
        """Preprocessing and tokenization: the parameters at the time of fitting."""
        return self._fitted().plan

    @property
    def sources(self) -> Sequence[str]:
        """Raw column of each output feature: ``"text"``."""
        return RepeatedText("text", self._settled().n_features)

    @property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each term."""
        if isinstance(self._settled(), TextHashing):
            raise AttributeError("A TextEncoder with n_features keeps no vocabulary_.")
        return {name: column for column, name in enumerate(self.feature_names)}

    @property
    def idf_(self) -> NDArray[Any]:
        """Weight of each column."""
        idf = self._settled().idf
        if idf is None:
            raise AttributeError("A TextEncoder with use_idf=False or n_features has no idf_.")
        return idf

    @property
    def collisions_(self) -> dict[int, tuple[str, ...]]:
        """Columns shared by several kept names, with those names."""
        named = self._hashing("collisions_").by_column()
        return {column: names for column, names in named.items() if len(names) > 1}

    @property
    def n_names_(self) -> int:
        """Number of distinct names; an estimate above `max_names`."""
        return self._hashing("n_names_").n_names

    def _hashing(self, what: str) -> TextHashing:
        state = self._fitted()
        if not isinstance(state, TextHashing):
            raise AttributeError(f"A TextEncoder without n_features has no {what}.")
        return state

    @property
    def n_documents_(self) -> int:
        """Number of training texts."""
        return self._fitted().n_documents

    @property
    def fixed_vocabulary_(self) -> bool:
        """Whether the vocabulary was given."""
        return self._fitted().plan.vocabulary is not None

    def get_stop_words(self) -> frozenset[str]:
        """Return the stop words."""
        return frozenset(self._fitted().plan.stop_words)

    def build_preprocessor(self) -> Callable[[str], str]:
        """Return the function that prepares a text for its tokenization."""
        return TextPlan.checked(self.get_params()).preprocessing()

    def build_tokenizer(self) -> Callable[[str], Sequence[str]]:
        """Return the function that splits a prepared text into its tokens."""
        return TextPlan.checked(self.get_params()).tokenizing()

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """Return the function from a document to the terms that are counted.

        Examples
        --------
        >>> from separable import TextEncoder
        >>> TextEncoder(ngram_range=(1, 2)).build_analyzer()("A good film")
        ['good', 'film', 'good film']
        """
        return TextPlan.checked(self.get_params()).terms

    def inverse_transform(self, X: Any) -> list[NDArray[Any]]:
        """Return the terms of the non-zeros of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)

        Returns
        -------
        list of ndarray of str
        """
        if isinstance(self._settled(), TextHashing):
            raise AttributeError(
                "A TextEncoder with n_features has no inverse_transform: several terms share a "
                "column."
            )
        terms, rows = np.array(self.feature_names), as_rows(X)
        if rows.indptr is None or rows.indices is None:
            row, columns = np.nonzero(rows.values)
            ends = np.searchsorted(row, np.arange(1, rows.n_rows))
        else:
            kept = np.append(0, np.cumsum(rows.values != 0))
            columns, ends = rows.indices[rows.values != 0], kept[rows.indptr[1:-1]]
        return np.split(terms[columns], ends) if rows.n_rows else []

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state") or self.n_features is not None

    # --- encoding ---

    def word_spans(self, text: str) -> list[Span] | None:
        """Return the positions of the counted words in the original text.

        Parameters
        ----------
        text : str

        Returns
        -------
        list of Span, or None
            None if the encoder counts characters or the output of a function.

        Examples
        --------
        >>> from separable import TextEncoder
        >>> TextEncoder().fit(["good film"]).word_spans("A GOOD film")
        [Span(start=2, end=6, word='good'), Span(start=7, end=11, word='film')]
        """
        return word_spans(self._fitted().plan, text)

    def encode(self, data: Any) -> Rows:
        """Encode texts as rows.

        Parameters
        ----------
        data : list, array or series of str or bytes, or Arrow array

        Returns
        -------
        Rows
            CSR, with sorted columns.
        """
        threads = n_threads(self.n_jobs, "TextEncoder")
        state = self._settled()
        return state.matrix(state.encode(data, threads), threads)

    # --- files ---

    def to_parts(self) -> tuple[dict[str, NDArray[Any] | Sequence[str]], dict[str, Any]]:
        """Return the fitted state as tensors and JSON values."""
        return parts_of(self._settled())

    @classmethod
    def from_parts(cls, tensors: Tensors, values: Values) -> Self:
        """Rebuild a fitted encoder; it encodes bit-identically but cannot be fitted further."""
        state, params = state_of(tensors, values)
        encoder = cls(**params)
        encoder._set_state(state)
        return encoder
