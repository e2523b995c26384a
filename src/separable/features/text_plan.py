"""The parameters of a TextEncoder, checked, as what has to be done with a text."""

from __future__ import annotations

import codecs
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from separable._core import native
from separable.features.alphabet import SPECIAL, alphabet
from separable.features.text_analyzer import preprocessor_of, tokenizer_of, word_ngrams
from separable.features.texts import TextSource, documents_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["TOKEN_PATTERN", "TextPlan"]

TOKEN_PATTERN = r"(?u)\b\w\w+\b"  # scikit-learn's

#: Texts that the slow path cuts into features at once.
CHUNK = 1024


@dataclass(frozen=True)
class TextPlan:
    """What is done with texts, fixed when fitting starts.

    Parameters are those of `TextEncoder`; ``stop_words`` are a sorted tuple here and ``vocabulary``
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
        """Return the plan of a TextEncoder's parameters, or refuse them."""
        _check_params(params)
        word = params["analyzer"] == "word"
        plan = cls(
            **{name: params[name] for name in _TAKEN},
            lowercase=bool(params["lowercase"]),
            binary=bool(params["binary"]),
            use_idf=bool(params["use_idf"]),
            smooth_idf=bool(params["smooth_idf"]),
            sublinear_tf=bool(params["sublinear_tf"]),
            alternate_sign=bool(params["alternate_sign"]),
            max_df=_df("max_df", params["max_df"]),
            min_df=_df("min_df", params["min_df"]),
            stop_words=_stop_words(params["stop_words"]) if word else (),
            ngram_range=(int(params["ngram_range"][0]), int(params["ngram_range"][1])),
            vocabulary=_terms(params["vocabulary"]),
            dtype=np.dtype(params["dtype"]).name,
        )
        _warn_unused(params)
        plan._warn_stop_words()
        plan._warn_upper_case()
        return plan

    @classmethod
    def restored(cls, params: Mapping[str, Any]) -> TextPlan:
        """Return the plan of the parameters in a file; those of learning have their defaults."""
        learning = {"preprocessor": None, "tokenizer": None, "vocabulary": None}
        limits = {"max_df": 1.0, "min_df": 1, "max_features": None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user has seen them when fitting
            return cls.checked({**params, **learning, **limits})

    # --- which way texts go ---

    @property
    def takes_tokens(self) -> bool:
        """Whether features are made in Python: by a function or a pattern of the user."""
        if callable(self.analyzer):
            return True
        if self.analyzer != "word":
            return False
        return self.tokenizer is not None or self.token_pattern not in _NATIVE_PATTERNS

    @property
    def _prepare(self) -> Callable[[str], str] | None:
        """What Python does to a text before the core gets it."""
        if self.preprocessor is None and not self.strip_accents:
            return None
        return preprocessor_of(self.preprocessor, self.strip_accents, self.lowercase)

    @property
    def _core_lowers(self) -> bool:
        return self.lowercase and self._prepare is None

    def counter(self) -> native.TextCounter:
        """Return a counter that has counted nothing."""
        return native.TextCounter(*self._core_options())

    def hasher(self) -> native.TextHasher:
        """Return a hasher that has met no name."""
        assert self.n_features is not None
        return native.TextHasher(
            *self._core_options(), self.n_features, self.alternate_sign, self.max_names
        )

    def _core_options(self) -> tuple[str, bool, int, int, int, list[str]]:
        if self.takes_tokens:
            return "tokens", False, 1, 1, 1, []
        shortest = _NATIVE_PATTERNS[self.token_pattern or ""] if self.analyzer == "word" else 1
        return (
            self.analyzer,
            self._core_lowers,
            shortest,
            *self.ngram_range,
            list(self.stop_words),
        )

    def source(self) -> TextSource:
        """Return what reads texts."""
        return TextSource(self.input, self.encoding, self.decode_error)

    def documents(self, data: Any) -> native.TextDocuments:
        """Return texts as the core takes them."""
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
        """Return the features of texts, some texts at a time, made in Python."""
        texts = self.source().texts(data)
        analyze = self._analyzer()
        for start in range(0, len(texts), CHUNK):
            lists = [list(analyze(text)) for text in texts[start : start + CHUNK]]
            for row, tokens in enumerate(lists, start):
                _check_tokens(tokens, row)
            yield lists

    def _analyzer(self) -> Callable[[str], Iterable[str]]:
        if callable(self.analyzer):
            function: Callable[[str], Iterable[str]] = self.analyzer
            return function
        prepare, tokenize = self._python_steps()
        low, high = self.ngram_range
        return lambda text: word_ngrams(tokenize(prepare(text)), self._stop_set, low, high)

    def _python_steps(self) -> tuple[Callable[[str], str], Callable[[str], Sequence[str]]]:
        prepare = preprocessor_of(self.preprocessor, self.strip_accents, self.lowercase)
        tokenize = tokenizer_of(self.tokenizer, self.token_pattern or TOKEN_PATTERN)
        return prepare or str, tokenize

    # --- numbers ---

    @property
    def logs(self) -> NDArray[Any] | None:
        """The logarithms of small counts, as NumPy has them, or None."""
        if not self.sublinear_tf:
            return None
        logs = np.zeros(4096, self.dtype)
        np.log(np.arange(1, 4096, dtype=self.dtype), out=logs[1:])
        return logs

    def idf(self, df: NDArray[np.int64], n_documents: int) -> NDArray[Any] | None:
        """Return ``log((n + 1) / (df + 1)) + 1``, without the ones unless smooth, or None."""
        if not self.use_idf:
            return None
        smoothed = df.astype(self.dtype) + np.array(float(self.smooth_idf), self.dtype)
        idf: NDArray[Any] = np.full_like(smoothed, n_documents + int(self.smooth_idf))
        with np.errstate(divide="ignore"):
            idf /= smoothed
        np.log(idf, out=idf)
        idf += 1.0
        return idf

    # --- warnings, as scikit-learn's ---

    def _warn_stop_words(self) -> None:
        if not self.stop_words or self.tokenizer is not None or self.preprocessor is not None:
            return
        prepare, tokenize = self._python_steps()
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
                "such a term is found in no text.",
                UserWarning,
                stacklevel=4,
            )


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

#: Patterns that the core knows, each with the characters that a word has to have.
_NATIVE_PATTERNS = {
    TOKEN_PATTERN: 2,
    r"\b\w\w+\b": 2,
    r"\w\w+": 2,
    r"(?u)\b\w+\b": 1,
    r"\b\w+\b": 1,
    r"\w+": 1,
}


def _wrong(name: str, what: str, value: object) -> ValueError:
    return ValueError(
        f"The {name!r} parameter of TextEncoder must be {what}. Got {value!r:.80} instead."
    )


def _check_params(params: Mapping[str, Any]) -> None:
    for name, allowed in (
        ("input", ("content", "file", "filename")),
        ("decode_error", ("strict", "ignore", "replace")),
        ("norm", ("l1", "l2", None)),
    ):
        if params[name] not in allowed:
            raise _wrong(name, f"one of {', '.join(map(repr, allowed))}", params[name])
    for name, words in (("strip_accents", ("ascii", "unicode", None)), ("analyzer", _ANALYZERS)):
        value = params[name]
        if not callable(value) and (value is not None and not isinstance(value, str)):
            raise _wrong(name, f"one of {', '.join(map(repr, words))} or a function", value)
        if not callable(value) and value not in words:
            raise _wrong(name, f"one of {', '.join(map(repr, words))} or a function", value)
    for name in ("preprocessor", "tokenizer"):
        if params[name] is not None and not callable(params[name]):
            raise _wrong(name, "a function or None", params[name])
    for name in ("lowercase", "binary", "use_idf", "smooth_idf", "sublinear_tf", "alternate_sign"):
        if not isinstance(params[name], (bool, np.bool_)):
            raise _wrong(name, "True or False", params[name])
    limit = params["max_features"]
    if limit is not None and (not _is_int(limit) or limit < 1):
        raise _wrong("max_features", "an int >= 1 or None", limit)
    if not _is_int(params["max_names"]) or params["max_names"] < 1:
        raise _wrong("max_names", "an int >= 1", params["max_names"])
    _check_hashing(params)
    _check_range(params["ngram_range"])
    _check_encoding(params["encoding"])
    _check_pattern(params)
    try:
        dtype = np.dtype(params["dtype"])
    except TypeError:
        dtype = np.dtype(object)
    if dtype not in (np.float32, np.float64):
        raise _wrong("dtype", "float32 or float64", params["dtype"])


_ANALYZERS = ("word", "char", "char_wb")


def _is_int(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))


def _df(name: str, value: Any) -> float | int:
    """Return a number of documents as an int, a share of them as a float."""
    if _is_int(value) and value >= 1:
        return int(value)
    share = isinstance(value, (float, np.floating)) and 0 <= value <= 1
    if not share:
        what = "an int >= 1 (documents) or a float from 0.0 to 1.0 (a share)"
        raise _wrong(name, what, value)
    return float(value)


def _check_hashing(params: Mapping[str, Any]) -> None:
    n_features = params["n_features"]
    if n_features is None:
        return
    if not _is_int(n_features) or not 1 <= n_features < 2**31:
        raise _wrong("n_features", "an int from 1 to 2147483647, or None", n_features)
    usual = {"vocabulary": None, "max_features": None, "max_df": 1.0, "min_df": 1}
    for name, value in (usual | {"sublinear_tf": False}).items():
        if params[name] is not value and params[name] != value:
            raise ValueError(
                f"The {name!r} parameter of TextEncoder needs a vocabulary, and n_features="
                f"{n_features} asks for hashing, which keeps none. Give one of the two."
            )


def _check_range(value: Any) -> None:
    pair = isinstance(value, (tuple, list)) and len(value) == 2 and all(map(_is_int, value))
    if not pair or not 1 <= value[0] <= value[1] <= 1000:
        raise _wrong("ngram_range", "a pair (min_n, max_n) with 1 <= min_n <= max_n <= 1000", value)


def _check_encoding(value: Any) -> None:
    try:
        codecs.lookup(value)
    except (LookupError, TypeError):
        raise _wrong("encoding", "an encoding that Python knows", value) from None


def _check_pattern(params: Mapping[str, Any]) -> None:
    pattern = params["token_pattern"]
    if params["analyzer"] != "word" or params["tokenizer"] is not None:
        return
    try:
        groups = re.compile(pattern).groups
    except (re.error, TypeError):
        raise _wrong("token_pattern", "a regular expression", pattern) from None
    if groups > 1:
        raise _wrong("token_pattern", "a regular expression with at most one group", pattern)


def _stop_words(words: Any) -> tuple[str, ...]:
    if words is None:
        return ()
    if words == "english":
        text = import_module("sklearn.feature_extraction.text")  # the list is theirs
        words = text.ENGLISH_STOP_WORDS
    if isinstance(words, str) or not isinstance(words, Iterable):
        raise _wrong("stop_words", "'english', a list of words or None", words)
    words = set(words)
    if not all(isinstance(word, str) for word in words):
        raise _wrong("stop_words", "'english', a list of words or None", sorted(words, key=repr))
    return tuple(sorted(words))


def _terms(vocabulary: Any) -> tuple[str, ...] | None:
    """Return the terms of a vocabulary by column."""
    if vocabulary is None:
        return None
    if isinstance(vocabulary, str) or not isinstance(vocabulary, Iterable):
        raise _wrong(
            "vocabulary", "a list of terms, a dict of terms to columns or None", vocabulary
        )
    if isinstance(vocabulary, Mapping):
        columns = sorted(vocabulary.values())
        if columns != list(range(len(columns))):
            raise _wrong(
                "vocabulary", "terms with the columns 0, 1, ... each once", dict(vocabulary)
            )
        terms = tuple(sorted(vocabulary, key=vocabulary.__getitem__))
    else:
        terms = tuple(
            sorted(vocabulary) if isinstance(vocabulary, (set, frozenset)) else vocabulary
        )
    if not terms:
        raise _wrong("vocabulary", "a vocabulary with at least one term", vocabulary)
    odd = next((term for term in terms if not isinstance(term, str)), None)
    if odd is not None:
        raise _wrong("vocabulary", "a vocabulary of str", odd)
    if len(set(terms)) < len(terms):
        twice = Counter(terms).most_common(1)[0][0]
        raise ValueError(f"Duplicate term in vocabulary: {twice!r:.80}. Keep it once.")
    return terms


def _check_tokens(tokens: list[str], row: int) -> None:
    for token in tokens:
        if not isinstance(token, str):
            raise ValueError(
                f"The tokenizer or analyzer gave {token!r:.80} for the text in row {row}. It must "
                "give str."
            )


def _warn_unused(params: Mapping[str, Any]) -> None:
    word, function = params["analyzer"] == "word", callable(params["analyzer"])
    pattern = params["token_pattern"]
    unused = []
    if params["tokenizer"] is not None and pattern is not None:
        unused.append(("token_pattern", "'tokenizer' is not None"))
    if params["preprocessor"] is not None and function:
        unused.append(("preprocessor", "'analyzer' is callable"))
    if tuple(params["ngram_range"]) != (1, 1) and function:
        unused.append(("ngram_range", "'analyzer' is callable"))
    if not word:
        if params["stop_words"] is not None:
            unused.append(("stop_words", "'analyzer' != 'word'"))
        if pattern is not None and pattern != TOKEN_PATTERN:
            unused.append(("token_pattern", "'analyzer' != 'word'"))
        if params["tokenizer"] is not None:
            unused.append(("tokenizer", "'analyzer' != 'word'"))
    for name, reason in unused:
        warnings.warn(
            f"The parameter {name!r} will not be used since {reason}", UserWarning, stacklevel=4
        )
