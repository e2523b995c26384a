"""scikit-learn's text vectorizers over ``TextEncoder``.

The compiled encoder tokenizes and counts. Checks of parameters, analyzers, names and the inverse
are those of scikit-learn's classes.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from separable.features.text.text_encoder import TextEncoder
from separable.features.text.text_plan import inverse_document_frequency
from separable.sklearn.base import quiet
from separable.sklearn.theirs import aligned, check_is_fitted, feature_text, validate_data

if TYPE_CHECKING:
    from typing import Self

__all__ = ["CountVectorizer", "HashingVectorizer", "TfidfTransformer", "TfidfVectorizer"]

FLOATS = (np.float32, np.float64)


class _TextFace:
    """What the vectorizers share: the encoder for the current parameters."""

    #: Parameters that the encoder has under the same name.
    _encoder_parameters: tuple[str, ...] = (
        *("input", "encoding", "decode_error", "strip_accents", "lowercase", "preprocessor"),
        *("tokenizer", "analyzer", "stop_words", "token_pattern", "ngram_range", "binary"),
    )

    def _make_encoder(self: Any, **options: Any) -> TextEncoder:
        shared = {name: getattr(self, name) for name in self._encoder_parameters}
        return TextEncoder(**shared | {"norm": None, "use_idf": False} | options)

    def _check_texts(self: Any, texts: Any) -> None:
        """Refuse one text, and warn of stop words that no text can have."""
        if isinstance(texts, str):
            raise ValueError("Iterable over raw text documents expected, string object received.")
        self._validate_ngram_range()
        self.build_analyzer()

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        state.pop("_counter", None)
        return state


class CountVectorizer(_TextFace, feature_text.CountVectorizer):
    """Counts of words, n-grams or characters, with scikit-learn's parameters and attributes."""

    def fit(self, raw_documents: Any, y: Any = None) -> Self:
        """Learn the vocabulary."""
        self.fit_transform(raw_documents, y)
        return self

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn the vocabulary and return the counts."""
        del y
        return aligned(self._fit_counts(raw_documents))

    def _fit_counts(self, texts: Any) -> Any:
        self._validate_params()
        self._warn_for_unused_params()
        self._check_texts(texts)
        self._validate_vocabulary()
        limits = {"max_df": self.max_df, "min_df": self.min_df, "max_features": self.max_features}
        if self.fixed_vocabulary_:
            self._warn_upper_case()
            return self._count(texts)
        with quiet(UserWarning):
            encoder = self._make_encoder(**limits)
            counts = encoder.fit_transform(texts).astype(self.dtype)
        self.vocabulary_ = encoder.vocabulary_
        return counts

    def transform(self, raw_documents: Any) -> Any:
        """Return the counts of the terms of the vocabulary."""
        return aligned(self._transform_counts(raw_documents))

    def _transform_counts(self, texts: Any) -> Any:
        self._check_texts(texts)
        self._check_vocabulary()
        return self._count(texts)

    def _count(self, texts: Any) -> Any:
        with quiet(UserWarning):
            return self._encoder().transform(texts).astype(self.dtype)

    def _encoder(self) -> TextEncoder:
        """Return the encoder with the vocabulary; a new one after a change of either."""
        params = {name: getattr(self, name) for name in self._encoder_parameters}
        vocabulary, known, encoder = self.__dict__.get("_counter", (None, None, None))
        if vocabulary is not self.vocabulary_ or params != known:
            encoder = self._make_encoder(vocabulary=self.vocabulary_)
            self._counter = self.vocabulary_, params, encoder
        assert isinstance(encoder, TextEncoder)
        return encoder

    def _warn_upper_case(self) -> None:
        if self.lowercase and any(map(str.isupper, "".join(self.vocabulary))):
            warnings.warn(
                "Upper case characters found in vocabulary while 'lowercase' is True. These "
                "entries will not be matched with any documents",
                stacklevel=4,
            )


class HashingVectorizer(  # type: ignore[call-arg]
    _TextFace, feature_text.HashingVectorizer, auto_wrap_output_keys=None
):
    """Hashed counts of terms, with scikit-learn's parameters."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        del y
        self._validate_params()
        self._warn_for_unused_params()
        self._check_texts(X)
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; there is nothing to learn."""
        del X, y
        self._validate_params()
        return self

    def transform(self, X: Any) -> Any:
        """Return the hashed counts, scaled to ``norm``."""
        self._check_texts(X)
        options = {"n_features": self.n_features, "alternate_sign": self.alternate_sign}
        with quiet(UserWarning):
            encoder = self._make_encoder(**options, norm=self.norm, max_names=1)
            return aligned(encoder.transform(X).astype(self.dtype))


class TfidfTransformer(  # type: ignore[call-arg]
    feature_text.TfidfTransformer, auto_wrap_output_keys=None
):
    """Tf-idf weights of counts, with scikit-learn's parameters and attributes."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the idf from the number of rows that have each column."""
        del y
        self._validate_params()
        X = validate_data(self, X, accept_sparse=("csr", "csc"))
        if self.use_idf:
            self.idf_ = _idf(self, sparse.csr_array(X))
        return self

    def transform(self, X: Any, copy: bool = True) -> Any:
        """Weight and scale counts."""
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], copy=copy, reset=False
        )
        weighted = X if sparse.issparse(X) else sparse.csr_array(X)
        return aligned(_weigh(weighted, self, getattr(self, "idf_", None)))


class TfidfVectorizer(CountVectorizer, feature_text.TfidfVectorizer):
    """Tf-idf weights of texts, with scikit-learn's parameters and attributes."""

    __init__ = feature_text.TfidfVectorizer.__init__

    def fit_transform(self, raw_documents: Any, y: Any = None) -> Any:
        """Learn vocabulary and idf, and return the weights."""
        del y
        self._check_params()
        counts = self._fit_counts(raw_documents)
        shared = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
        self._tfidf = TfidfTransformer(**{name: getattr(self, name) for name in shared})
        self._tfidf.fit(counts)
        return self._tfidf.transform(counts, copy=False)

    def transform(self, raw_documents: Any) -> Any:
        """Return the weights of the terms of the vocabulary."""
        check_is_fitted(self, msg="The TF-IDF vectorizer is not fitted")
        return aligned(
            _weigh(
                _floats(self._transform_counts(raw_documents)),
                self._tfidf,
                getattr(self._tfidf, "idf_", None),
            )
        )


def _floats(counts: Any) -> Any:
    return counts if counts.dtype in FLOATS else counts.astype(np.float64)


def _idf(face: Any, counts: Any) -> Any:
    dtype = counts.dtype if counts.dtype in FLOATS else np.dtype(np.float64)
    df = np.bincount(counts.indices, minlength=counts.shape[1])
    if not face.smooth_idf and not df.all():
        warnings.warn(
            "divide by zero encountered: the idf of columns without rows is infinite",
            RuntimeWarning,
            stacklevel=4,
        )
    return inverse_document_frequency(df, counts.shape[0], dtype.name, smooth=face.smooth_idf)


def _weigh(counts: Any, face: Any, idf: Any) -> Any:
    """Scale the values of a CSR matrix in place."""
    if face.sublinear_tf:
        np.log(counts.data, counts.data)
        counts.data += 1.0
    if idf is not None:
        counts.data *= np.asarray(idf)[counts.indices]
    if face.norm is not None:
        sizes = np.abs(counts.data) if face.norm == "l1" else counts.data**2
        sums = np.add.reduceat(np.append(sizes, 0), counts.indptr[:-1])
        sums[np.diff(counts.indptr) == 0] = 1
        norms = sums if face.norm == "l1" else np.sqrt(sums)
        norms[norms == 0] = 1
        counts.data /= np.repeat(norms, np.diff(counts.indptr)).astype(counts.dtype)
    return counts
