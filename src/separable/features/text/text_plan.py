"""Validated parameters of a TextEncoder, resolved to processing steps; spans of words in a text."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separable._core import portable
from separable.features.text.analyzer import (
    SPECIAL,
    TextSource,
    alphabet,
    char_ngrams,
    char_wb_ngrams,
    documents_of,
    preprocessor_of,
    tokenizer_of,
    word_ngrams,
)
from separable.features.text.parameter_checks import (
    TOKEN_PATTERN,
    check_params,
    document_limit,
    stop_words_of,
    terms_of,
    warn_unused,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray


__all__ = [
    "Span",
    "TextPlan",
    "contributions_of_words",
    "inverse_document_frequency",
    "word_spans",
]

#: Texts tokenized at a time on the slow path.
CHUNK_TEXTS = 1024


@dataclass(frozen=True)
class TextPlan:
    """Processing of texts, fixed when fitting starts.

    Parameters are those of `TextEncoder`; ``stop_words`` is a sorted tuple here and ``vocabulary``
    a tuple of the terms by column, or None.
    """

    input: str
    encoding: str
    decode_error: str
    strip_accents: Any
    lowercase: bool
    preprocessor: Any
    tokenizer: Any
    analyzer: Any
    stop_words: tuple[str, ...]
    token_pattern: str | None
    ngram_range: tuple[int, int]
    max_df: float | int
    min_df: float | int
    max_features: int | None
    vocabulary: tuple[str, ...] | None
    binary: bool
    dtype: str
    norm: str | None
    use_idf: bool
    smooth_idf: bool
    sublinear_tf: bool
    n_features: int | None
    alternate_sign: bool
    max_names: int
    _stop_set: frozenset[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_stop_set", frozenset(self.stop_words))

    @classmethod
    def checked(cls, params: Mapping[str, Any]) -> TextPlan:
        """Return the plan for a TextEncoder's parameters, after validation."""
        plan = cls._unwarned(params)
        warn_unused(params)
        plan._warn_stop_words()
        plan._warn_upper_case()
        return plan

    @classmethod
    def _unwarned(cls, params: Mapping[str, Any]) -> TextPlan:
        check_params(params)
        word = params["analyzer"] == "word"
        return cls(
            **{name: params[name] for name in _TAKEN},
            lowercase=bool(params["lowercase"]),
            binary=bool(params["binary"]),
            use_idf=bool(params["use_idf"]),
            smooth_idf=bool(params["smooth_idf"]),
            sublinear_tf=bool(params["sublinear_tf"]),
            alternate_sign=bool(params["alternate_sign"]),
            max_df=document_limit("max_df", params["max_df"]),
            min_df=document_limit("min_df", params["min_df"]),
            stop_words=stop_words_of(params["stop_words"]) if word else (),
            ngram_range=(int(params["ngram_range"][0]), int(params["ngram_range"][1])),
            vocabulary=terms_of(params["vocabulary"]),
            dtype=np.dtype(params["dtype"]).name,
        )

    @classmethod
    def restored(cls, params: Mapping[str, Any]) -> TextPlan:
        """Return the plan for the parameters in a file; fitting parameters have their defaults."""
        learning = {"preprocessor": None, "tokenizer": None, "vocabulary": None}
        limits = {"max_df": 1.0, "min_df": 1, "max_features": None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the pattern: shown to the user when fitting
            return cls._unwarned({**params, **learning, **limits})

    # --- choice of the code path ---

    @property
    def takes_tokens(self) -> bool:
        """Whether tokenization happens in Python: a custom function or pattern."""
        if callable(self.analyzer):
            return True
        if self.analyzer != "word":
            return False
        return self.tokenizer is not None or self.token_pattern not in _NATIVE_PATTERNS

    @property
    def shortest(self) -> int | None:
        """Minimum characters of a word; None for a custom pattern."""
        return _NATIVE_PATTERNS.get(self.token_pattern or "")

    @property
    def _prepare(self) -> Callable[[str], str] | None:
        """Preprocessing in Python before the core."""
        if self.preprocessor is None and not self.strip_accents:
            return None
        return preprocessor_of(self.preprocessor, self.strip_accents, self.lowercase)

    @property
    def _core_lowers(self) -> bool:
        return self.lowercase and self._prepare is None

    def counter(self) -> portable.TextCounter:
        """Return a new counter."""
        return portable.TextCounter(*self._core_options())

    def hasher(self) -> portable.TextHasher:
        """Return a new hasher."""
        assert self.n_features is not None
        return portable.TextHasher(
            *self._core_options(), self.n_features, self.alternate_sign, self.max_names
        )

    def _core_options(self) -> tuple[str, bool, int, int, int, list[str]]:
        if self.takes_tokens:
            return "tokens", False, 1, 1, 1, []
        shortest = (self.shortest or 1) if self.analyzer == "word" else 1
        return (
            self.analyzer,
            self._core_lowers,
            shortest,
            *self.ngram_range,
            list(self.stop_words),
        )

    def source(self) -> TextSource:
        """Return the reader of texts."""
        own = self.preprocessor is not None or callable(self.analyzer)
        return TextSource(self.input, self.encoding, self.decode_error, any_type=own)

    def documents(self, data: Any) -> portable.TextDocuments:
        """Return texts for the core."""
        prepare = self._prepare
        if prepare is None:
            documents = self.source().documents(data)
        else:
            documents = documents_of([prepare(text) for text in self.source().texts(data)])
        if self._core_lowers and not documents.is_ascii:
            for i in documents.special(alphabet()[0], SPECIAL).tolist():
                documents.replace(i, documents.text(i).lower())
        return documents

    def token_lists(self, data: Any) -> Iterable[list[list[str]]]:
        """Yield the tokens of texts in batches, from Python."""
        texts = self.source().texts(data)
        analyze = self._analyzer()
        for start in range(0, len(texts), CHUNK_TEXTS):
            lists = [list(analyze(text)) for text in texts[start : start + CHUNK_TEXTS]]
            for row, tokens in enumerate(lists, start):
                _check_tokens(tokens, row)
            yield lists

    def preprocessing(self) -> Callable[[str], str]:
        """Return the function that prepares a text."""
        prepare = preprocessor_of(self.preprocessor, self.strip_accents, self.lowercase)
        return prepare or str

    def tokenizing(self) -> Callable[[str], Sequence[str]]:
        """Return the function that splits a prepared text into tokens."""
        return tokenizer_of(self.tokenizer, self.token_pattern or TOKEN_PATTERN)

    def terms(self, document: Any) -> list[str]:
        """Return the terms of a document, in their order."""
        (text,) = self.source().texts([document])
        if callable(self.analyzer) or self.analyzer == "word":
            return list(self._analyzer()(text))
        ngrams = char_ngrams if self.analyzer == "char" else char_wb_ngrams
        return ngrams(self.preprocessing()(text), *self.ngram_range)

    def _analyzer(self) -> Callable[[str], Iterable[str]]:
        if callable(self.analyzer):
            function: Callable[[str], Iterable[str]] = self.analyzer
            return function
        prepare, tokenize = self.preprocessing(), self.tokenizing()
        low, high = self.ngram_range
        return lambda text: word_ngrams(tokenize(prepare(text)), self._stop_set, low, high)

    # --- numbers ---

    @property
    def logs(self) -> NDArray[Any] | None:
        """Logarithms of small counts, as NumPy computes them, or None."""
        if not self.sublinear_tf:
            return None
        logs = np.zeros(4096, self.dtype)
        np.log(np.arange(1, 4096, dtype=self.dtype), out=logs[1:])
        return logs

    def idf(self, df: NDArray[np.int64], n_documents: int) -> NDArray[Any] | None:
        """Return ``log((n + 1) / (df + 1)) + 1``, without the smoothing if disabled, or None."""
        if not self.use_idf:
            return None
        return inverse_document_frequency(df, n_documents, self.dtype, smooth=self.smooth_idf)

    # --- warnings, as scikit-learn's ---

    def _warn_stop_words(self) -> None:
        if not self.stop_words or self.tokenizer is not None or self.preprocessor is not None:
            return
        prepare, tokenize = self.preprocessing(), self.tokenizing()
        tokens = {token for word in self.stop_words for token in tokenize(prepare(word))}
        odd = sorted(tokens - self._stop_set)
        if odd:
            warnings.warn(
                "Your stop_words may be inconsistent with your preprocessing. Tokenizing the stop "
                f"words generated tokens {odd!r:.200} not in stop_words.",
                UserWarning,
                stacklevel=4,
            )

    def _warn_upper_case(self) -> None:
        if self.vocabulary is None or not self.lowercase or self.preprocessor is not None:
            return
        upper = next((term for term in self.vocabulary if any(map(str.isupper, term))), None)
        if upper is not None:
            warnings.warn(
                f"The vocabulary has upper case, as in {upper!r:.80}, while 'lowercase' is True: "
                "such a term never occurs.",
                UserWarning,
                stacklevel=4,
            )


def inverse_document_frequency(
    df: NDArray[np.int64], n_documents: int, dtype: str, *, smooth: bool
) -> NDArray[Any]:
    """Return ``log(n / df) + 1``, with 1 added to n and df if ``smooth``."""
    smoothed = df.astype(dtype) + np.array(float(smooth), dtype)
    idf: NDArray[Any] = np.full_like(smoothed, n_documents + int(smooth))
    with np.errstate(divide="ignore"):
        idf /= smoothed
    np.log(idf, out=idf)
    idf += 1.0
    return idf


_TAKEN = (
    "input",
    "encoding",
    "decode_error",
    "strip_accents",
    "preprocessor",
    "tokenizer",
    "analyzer",
    "token_pattern",
    "max_features",
    "norm",
    "n_features",
    "max_names",
)

#: Patterns that the core implements, each with the minimum characters of a word.
_NATIVE_PATTERNS = {
    TOKEN_PATTERN: 2,
    r"\b\w\w+\b": 2,
    r"\w\w+": 2,
    r"(?u)\b\w+\b": 1,
    r"\b\w+\b": 1,
    r"\w+": 1,
}


def _check_tokens(tokens: list[str], row: int) -> None:
    for token in tokens:
        if not isinstance(token, str):
            raise ValueError(
                f"The tokenizer or analyzer returned {token!r:.80} for the text in row {row}. It "
                "must return str."
            )


class Span(NamedTuple):
    """A word of a text.

    Parameters
    ----------
    start, end : int
        Position in the original text.
    word : str
        The token, for example in lower case.
    """

    start: int
    end: int
    word: str


def word_spans(plan: TextPlan, text: str) -> list[Span] | None:
    """Return the tokens with their positions, without stop words.

    Parameters
    ----------
    plan : TextPlan
        Preprocessing and tokenization of the encoder.
    text : str

    Returns
    -------
    list of Span, or None
        None if the encoder counts characters or the output of a function, or if positions cannot be
        mapped back to the original text.
    """
    if plan.analyzer != "word" or plan.tokenizer is not None or plan.preprocessor is not None:
        return None
    prepare = preprocessor_of(None, plan.strip_accents, plan.lowercase)
    prepared = text if prepare is None else prepare(text)
    pieces = [len(c if prepare is None else prepare(c)) for c in text]
    if sum(pieces) != len(prepared):
        return None
    origin = np.repeat(
        np.arange(len(text)), pieces
    )  # index in the text of each preprocessed character
    pattern = re.compile(plan.token_pattern or TOKEN_PATTERN)
    stop_words = frozenset(plan.stop_words)
    group = pattern.groups
    return [
        Span(int(origin[match.start(group)]), int(origin[match.end(group) - 1]) + 1, match[group])
        for match in pattern.finditer(prepared)
        if match[group] and match[group] not in stop_words
    ]


def contributions_of_words(
    spans: list[Span], ngram_range: tuple[int, int], parts: Mapping[str, float]
) -> list[float]:
    """Return the contribution of each word: that of an n-gram is split equally among its words.

    Parameters
    ----------
    spans : list of Span
    ngram_range : (int, int)
    parts : mapping of str to float
        Contribution of each term; an n-gram is its words joined by blanks.

    Returns
    -------
    list of float
        One per span. The sum equals the total of the terms that the text has.
    """
    words = [span.word for span in spans]
    ranges_of: dict[str, list[range]] = {}
    low, high = ngram_range
    for n in range(low, min(high, len(words)) + 1):
        for start in range(len(words) - n + 1):
            term = " ".join(words[start : start + n])
            if term in parts:
                ranges_of.setdefault(term, []).append(range(start, start + n))
    contributions = [0.0] * len(words)
    for term, ranges in ranges_of.items():
        each = parts[term] / sum(map(len, ranges))
        for inside in ranges:
            for origin in inside:
                contributions[origin] += each
    return contributions
