"""Code of separable that is the same on every CPU."""

from collections.abc import Iterable
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def usable_levels() -> list[str]:
    """
    Return the CPU levels that were built and that this machine can run, slowest first.
    """

class Rows:
    """Rows of data, dense or CSR, checked once."""

    def __init__(self, values: Annotated[NDArray, dict(order='C', device='cpu', writable=False)], n_features: int, indices: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None, indptr: Annotated[NDArray, dict(order='C', device='cpu', writable=False)] | None = None) -> None: ...

    def copy_rows(self, order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)], values: Annotated[NDArray, dict(order='C', device='cpu')], indices: Annotated[NDArray, dict(order='C', device='cpu')] | None = None, indptr: Annotated[NDArray, dict(order='C', device='cpu')] | None = None) -> None:
        """Write the given rows, in that order, into arrays of the right size."""

    def largest_squared_norm(self, chosen: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', writable=False)] | None = None) -> float:
        """max |x|^2 over the chosen rows, or all."""

    def squared_norms(self, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C')]) -> None:
        """|x|^2 of each row, in which no column occurs twice."""

    def hashes(self, out: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C')]) -> None:
        """A 64-bit hash of each row, in which no column occurs twice."""

    def has_repeats(self) -> bool:
        """Whether a row has a column more than once."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

class TextDocuments:
    def __init__(self) -> None: ...

    def add_list(self, texts: list) -> int: ...

    @overload
    def add_arrow(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

    @overload
    def add_arrow(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int: ...

    def special(self, flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], flag: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def text(self, i: int) -> str: ...

    def replace(self, i: int, text: str) -> None: ...

    @property
    def is_ascii(self) -> bool: ...

    def __len__(self) -> int: ...

class TextRows:
    def __len__(self) -> int: ...

    def frequencies(self, df: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None: ...

class TextCounter:
    def __init__(self, analyzer: str, lowercase: bool, shortest: int, min_n: int, max_n: int, stop_words: list) -> None: ...

    @property
    def n_documents(self) -> int: ...

    @property
    def n_columns(self) -> int: ...

    def __getstate__(self) -> tuple: ...

    def __setstate__(self, arg: tuple, /) -> None: ...

    def count(self, documents: TextDocuments, flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, lower: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, keep: bool) -> TextRows | None: ...

    def count_tokens(self, chunks: Iterable, keep: bool) -> TextRows | None: ...

    def merge(self, other: TextCounter) -> None: ...

    def order(self, low: float, high: float) -> int: ...

    def label(self) -> None: ...

    def limit(self, marked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def df(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def tf(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

    def set_names(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def names(self, first: int, last: int) -> tuple: ...

    def to_columns(self, rows: TextRows, n_threads: int) -> None: ...

    def encode(self, documents: TextDocuments, flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, lower: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> TextRows: ...

    def encode_tokens(self, chunks: Iterable) -> TextRows: ...

    def matrix64(self, rows: TextRows, binary: bool, norm: str, idf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, log: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> tuple: ...

    def matrix32(self, rows: TextRows, binary: bool, norm: str, idf: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, log: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> tuple: ...

class TextHasher:
    def __init__(self, analyzer: str, lowercase: bool, shortest: int, min_n: int, max_n: int, stop_words: list, n_features: int, alternate_sign: bool, max_names: int) -> None: ...

    def encode(self, documents: TextDocuments, flags: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, lower: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int, learn: bool, keep: bool) -> TextRows | None: ...

    def encode_tokens(self, chunks: Iterable, learn: bool, keep: bool) -> TextRows | None: ...

    def merge(self, other: TextHasher) -> None: ...

    def names(self) -> tuple: ...

    def set_names(self, bytes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], limit: int) -> None: ...

    @property
    def limit(self) -> int: ...

    @property
    def n_names(self) -> float: ...

    def matrix64(self, rows: TextRows, binary: bool, norm: str, n_threads: int) -> tuple: ...

    def matrix32(self, rows: TextRows, binary: bool, norm: str, n_threads: int) -> tuple: ...

class SvmlightParser:
    """svmlight text to rows; see data/svmlight.hpp."""

    def __init__(self, index_base: int | None, n_features: int | None, labels: int, skip: bool, n_threads: int) -> None: ...

    def take(self, most: int) -> tuple:
        """
        The arrays of the rows, the number of columns, labels (numbers or texts), queries.
        """

    @property
    def base(self) -> int: ...

    @property
    def edge_line(self) -> int: ...

    def feed(self, chunk: object) -> None: ...

    def finish(self) -> None: ...

    @property
    def n_rows(self) -> int:
        """Rows that wait to be taken."""

    @property
    def n_faults(self) -> int: ...

    @property
    def faults(self) -> list:
        """Line, byte, reason and text of the first lines refused."""

class VwParser:
    """Vowpal Wabbit text to rows; see data/vw_text.hpp."""

    def __init__(self, bits: int | None, skip: bool, n_threads: int) -> None: ...

    def take(self, most: int) -> tuple:
        """
        The arrays of the rows, the number of columns, labels, weights, base, tags.
        """

    def names(self, first: int) -> list:
        """The names of columns from the first one on."""

    def feed(self, chunk: object) -> None: ...

    def finish(self) -> None: ...

    @property
    def n_rows(self) -> int:
        """Rows that wait to be taken."""

    @property
    def n_faults(self) -> int: ...

    @property
    def faults(self) -> list:
        """Line, byte, reason and text of the first lines refused."""

def number_moments(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write count, least, largest, mean, what it lacks, and deviation of the values of each column that are not NaN; a column is a row of the array. See features/number_moments.hpp.
    """

def factorize_integers(values: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Number different values by first appearance; returns the first place of each.
    """

def factorize_floats(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """As factorize_integers; NaN is one value, and -0 is 0."""

@overload
def factorize_texts(offsets: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], valid: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_bit: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Number different texts of an Arrow column; -1 where one is missing."""

@overload
def factorize_texts(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], valid: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, first_bit: int, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]: ...

class Parts:
    """Encoded columns, in the order of their places."""

    def __init__(self, n_rows: int) -> None: ...

    def add_numbers(self, columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], at: int) -> None:
        """
        Columns of one number a row at consecutive places; a column is a row of the array.
        """

    def add_one_hot(self, codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], places: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], at: int, width: int) -> None:
        """1 at places[code + 1], if that is not -1."""

    def add_csr(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], at: int, width: int) -> None:
        """Sparse rows, moved to a place."""

    def count(self, n_threads: int = 1) -> int:
        """Return how many numbers there are that are not 0."""

    @overload
    def fill(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], indptr: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None:
        """Write the arrays of CSR; comes after count."""

    @overload
    def fill(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], n_threads: int = 1) -> None: ...

    def dense(self, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int = 1) -> None:
        """Write the dense matrix."""

def polynomial_counts(n_columns: int, least: int, highest: int, repeat: bool, constant: bool, sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """The number of products of rows with the given numbers of columns."""

def polynomial_rows(rows: Rows, least: int, highest: int, repeat: bool, constant: bool, starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], indices: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None) -> None:
    """Write the products of columns."""

def factorize_objects(values: object, codes: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')]) -> list:
    """
    Number different objects of each column; returns the first places of each.
    """

def dict_names(records: list, numbers: dict, levels: dict, keep_missing: bool) -> None:
    """Number the names of numbers and of levels in rows that are dicts."""

def dict_rows(records: list, numbers: dict, levels: dict, keep_missing: bool) -> object:
    """
    Turn rows that are dicts into CSR: values, indices, indptr, and what has no place.
    """
