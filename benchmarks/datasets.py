"""The data of the benchmarks: generated, or read from the folder ``SEPARABLE_DATA`` names."""

from __future__ import annotations

import gzip
import hashlib
import lzma
import os
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from benchmarks.settings import Settings

__all__ = [
    "Data",
    "MissingDataError",
    "cached_file",
    "data_file",
    "imdb_files",
    "imdb_texts",
    "load_a9a",
    "load_breast_cancer",
    "load_clinc150",
    "load_covtype",
    "load_farm_ads",
    "load_imdb",
    "load_imdb_words",
    "load_leukemia",
    "load_mnist",
    "load_mushroom",
    "load_newsgroups",
    "load_reviews",
    "load_spambase",
    "load_w8a",
    "make_gauss",
    "make_sparse_plane",
    "make_zipf",
    "missing_is_told",
    "with_classes",
]

#: What the cached text matrices are; part of their key, so that a change makes them anew.
IMDB_RECIPE = "tf-idf of words and pairs, min_df=2, float32, rows in seeded order 0"
ZIPF_NONZEROS = 60
#: Columns, the commonest ones, that carry the labels planted in a set.
PLANTED_COLUMNS = 2_000
#: Share of the forest rows that is held out, after one seeded shuffle.
COVTYPE_HELD_OUT = 0.25
W8A_COLUMNS = 300
FARM_ADS_COLUMNS = 54_877
A9A_COLUMNS = 123


class MissingDataError(Exception):
    """A file that a benchmark needs is not there; the message says what to do."""


@contextmanager
def missing_is_told() -> Iterator[None]:
    """Print what is missing and go on: for a row with several sets."""
    try:
        yield
    except MissingDataError as missing:
        print(f"Without one set: {missing}\n")


@dataclass(frozen=True)
class Data:
    """Training and test rows of one set.

    Parameters
    ----------
    name : str
        As printed.
    X, X_test : ndarray or CSR matrix
        The rows.
    y, y_test : ndarray
        Their classes.
    """

    name: str
    X: Any
    y: NDArray[Any]
    X_test: Any
    y_test: NDArray[Any]

    @property
    def nonzeros(self) -> int:
        """The numbers one epoch reads: non-zeros, or all entries of a dense set."""
        return int(self.X.nnz if sp.issparse(self.X) else self.X.size)

    def astype(self, dtype: type) -> Data:
        """Return the same set in another float type."""
        return replace(self, X=self.X.astype(dtype), X_test=self.X_test.astype(dtype))

    def whole(self) -> Data:
        """Return all rows as training rows."""
        stack = sp.vstack if sp.issparse(self.X) else np.vstack
        return replace(
            self, X=stack([self.X, self.X_test]), y=np.concatenate([self.y, self.y_test])
        )

    def of_classes(self, *classes: int) -> Data:
        """Return the rows of these classes."""
        train, test = (np.isin(labels, classes) for labels in (self.y, self.y_test))
        name = f"{self.name} {' and '.join(map(str, classes))}"
        return Data(name, self.X[train], self.y[train], self.X_test[test], self.y_test[test])

    def first(self, rows: int | None) -> Data:
        """Return at most so many training and test rows."""
        if rows is None:
            return self
        return replace(
            self,
            X=self.X[:rows],
            y=self.y[:rows],
            X_test=self.X_test[:rows],
            y_test=self.y_test[:rows],
        )


# ---------------------------------------------------------------------- generated


def make_zipf(settings: Settings) -> Data:
    """Return a text-like set: word frequencies by Zipf's law, tf-idf, a noisy planted model."""
    rng = np.random.default_rng(0)
    rows, features = settings.zipf_rows, settings.zipf_features
    X = _zipf_matrix(rng, rows + rows // 5, features)
    score = X @ rng.normal(size=features).astype(np.float32)
    noisy = score + 0.3 * score.std() * rng.normal(size=len(score))
    y = (noisy > np.median(score)).astype(np.int64)
    return Data("Zipf", X[:rows], y[:rows], X[rows:], y[rows:])


def _zipf_matrix(rng: np.random.Generator, rows: int, features: int) -> Any:
    chance = np.cumsum(1 / np.arange(1, features + 1))
    draws = _draws_for(ZIPF_NONZEROS, features)
    words = np.searchsorted(chance, rng.random((rows, draws)) * chance[-1])
    column = rng.permutation(features)[np.minimum(words, features - 1)]
    where = np.repeat(np.arange(rows), draws)
    ones = np.ones(column.size, dtype=np.float32)
    X = sp.csr_matrix((ones, (where, column.ravel())), shape=(rows, features))
    X.sum_duplicates()
    idf = np.log((1 + rows) / (1 + np.bincount(X.indices, minlength=features))) + 1
    X.data = ((1 + np.log(X.data)) * idf[X.indices]).astype(np.float32)
    norm = np.sqrt(np.add.reduceat(X.data.astype(np.float64) ** 2, X.indptr[:-1]))
    X.data /= np.repeat(norm, np.diff(X.indptr)).astype(np.float32)
    return X


def _draws_for(nonzeros: int, features: int) -> int:
    """Return how many draws give so many different words on average."""
    chance = 1 / np.arange(1, features + 1)
    chance /= chance.sum()
    draws = nonzeros
    while -np.expm1(draws * np.log1p(-chance)).sum() < min(nonzeros, features / 2):
        draws += 1
    return draws


def with_classes(data: Data, classes: int) -> Data:
    """Return the set with so many planted classes, of similar size, that can be learned.

    The class is the largest of ``classes`` noisy linear scores, each over the commonest columns.
    """
    rng = np.random.default_rng(1)
    counts = np.bincount(data.X.indices, minlength=data.X.shape[1])
    common = np.argsort(-counts, kind="stable")[:PLANTED_COLUMNS]
    planted = rng.normal(size=(len(common), classes)).astype(np.float32)
    train, test = data.X[:, common] @ planted, data.X_test[:, common] @ planted
    mean, spread = train.mean(axis=0), train.std(axis=0)
    y, y_test = (
        ((scores - mean) / spread + 0.3 * rng.normal(size=scores.shape)).argmax(axis=1)
        for scores in (train, test)
    )
    return replace(data, name=f"{data.name}, {classes} planted classes", y=y, y_test=y_test)


def make_gauss(settings: Settings, classes: int) -> Data:
    """Return correlated Gaussian classes that share their covariance, dense float64."""
    rng = np.random.default_rng(0)
    rows, d = settings.dense_rows, 100
    y = rng.integers(0, classes, rows + rows // 10)
    mixing = np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)
    X = rng.normal(size=(len(y), d)) @ mixing + 0.3 * rng.normal(size=(classes, d))[y]
    return Data(f"Gauss, {classes} classes", X[:rows], y[:rows], X[rows:], y[rows:])


def make_sparse_plane(settings: Settings) -> Data:
    """Return sparse columns, many more than rows, and a noisy plane over 100 of them."""
    rng = np.random.default_rng(0)
    rows, columns = settings.sparse_rows, settings.sparse_columns
    X = sp.random_array((rows, columns), density=0.01, rng=rng, data_sampler=rng.standard_normal)
    X = sp.csr_matrix(X)
    w = np.zeros(columns)
    w[rng.permutation(columns)[:100]] = rng.normal(size=100)
    signal = X @ w
    y = signal + 0.3 * signal.std() * rng.normal(size=rows)
    return Data(f"generated {rows} x {columns}, sparse", X, y / y.std(), X, y / y.std())


# ---------------------------------------------------------------------- read


def data_file(*parts: str) -> Path:
    """Return the path of a file in the folder that ``SEPARABLE_DATA`` names."""
    root = os.environ.get("SEPARABLE_DATA")
    if not root:
        raise MissingDataError(
            f"SEPARABLE_DATA is not set: it names the folder that holds {'/'.join(parts)}."
        )
    path = Path(root).expanduser().joinpath(*parts)
    if not path.exists():
        raise MissingDataError(f"SEPARABLE_DATA={root} holds no {'/'.join(parts)}.")
    return path


def load_imdb(settings: Settings) -> Data:
    """Return the film reviews as tf-idf of words and pairs; made once, then cached."""
    source = data_file("imdb", "imdb.parquet")
    key = hashlib.sha256(source.read_bytes() + IMDB_RECIPE.encode()).hexdigest()[:16]
    folder = _cache_folder() / f"imdb-{key}"
    if not folder.exists():
        print(f"Making the imdb matrices once, in {folder}; this takes about a minute ...")
        _write_folder(folder, lambda target: _make_imdb(source, target))
    train, test = (sp.load_npz(folder / f"{part}.npz") for part in ("train", "test"))
    y, y_test = (np.load(folder / f"{part}.npy") for part in ("train", "test"))
    return Data("imdb", train, y, test, y_test).first(settings.most_rows)


def load_reviews(settings: Settings) -> list[str]:
    """Return the film reviews of the training half as texts."""
    import pyarrow.parquet as pq

    source = data_file("imdb", "imdb.parquet")
    table = pq.read_table(source, columns=["split", "text"], use_threads=False)
    chosen = np.array(table["split"].to_pylist()) == "train"
    texts: list[str] = table["text"].filter(chosen).to_pylist()
    return texts[: settings.most_rows]


def _cache_folder() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "separable-bench"


def _write_folder(folder: Path, make: Callable[[Path], None]) -> None:
    """Fill a folder beside the wanted one, then rename it: no half-made cache is ever read."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        target = Path(scratch) / "made"
        target.mkdir()
        make(target)
        target.rename(folder)


def cached_file(name: str, write: Callable[[Path], None]) -> Path:
    """Return a file of the cache, written once; never one that is half written."""
    path = _cache_folder() / name
    if not path.exists():
        print(f"Writing {name} once, in {path.parent} ...")
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            made = Path(scratch) / name
            write(made)
            made.rename(path)
    return path


def imdb_texts(settings: Settings) -> tuple[list[str], list[str]]:
    """Return the film reviews of the training half and their labels, "pos" and "neg"."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_file("imdb", "imdb.parquet"), use_threads=False)
    columns = [table[name].to_pylist() for name in ("split", "text", "label")]
    chosen = [
        (text, label) for split, text, label in zip(*columns, strict=True) if split == "train"
    ]
    texts, labels = zip(*chosen[: settings.most_rows], strict=True)
    return list(texts), list(labels)


def imdb_files(settings: Settings, folder: Path) -> tuple[Path, Path]:
    """Write the film reviews as two Parquet files of texts and labels: to train, and to test."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_file("imdb", "imdb.parquet"), columns=["split", "label", "text"])
    split = np.array(table["split"].to_pylist())
    for part in ("train", "test"):
        rows = np.random.default_rng(0).permutation(np.flatnonzero(split == part))
        chosen = table.take(rows[: settings.most_rows]).drop_columns(["split"])
        pq.write_table(chosen, folder / f"{part}.parquet")
    return folder / "train.parquet", folder / "test.parquet"


def _make_imdb(source: Path, target: Path) -> None:
    import pyarrow.parquet as pq
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pq.read_table(source, columns=["split", "text", "label"], use_threads=False)
    split, text, label = (np.array(column.to_pylist(), dtype=object) for column in table.columns)
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), min_df=2, dtype=np.float32)
    for part, encode in (("train", vectorizer.fit_transform), ("test", vectorizer.transform)):
        # The file lists one class after the other: a stream in that order teaches nothing.
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(split == part))
        sp.save_npz(target / f"{part}.npz", encode(text[chosen]), compressed=False)
        np.save(target / f"{part}.npy", (label[chosen] == "pos").astype(np.int64))


def load_mnist(settings: Settings) -> Data:
    """Return the handwritten digits, dense float32 in [0, 1]."""
    parts = []
    for prefix in ("train", "t10k"):
        images = read_idx(data_file("mnist", f"{prefix}-images-idx3-ubyte.gz"))
        labels = read_idx(data_file("mnist", f"{prefix}-labels-idx1-ubyte.gz"))
        parts += [images.reshape(len(images), -1).astype(np.float32) / 255, labels.astype(np.int64)]
    X, y, X_test, y_test = parts
    return Data("MNIST", X, y, X_test, y_test).first(settings.most_rows)


def load_a9a(settings: Settings) -> Data:
    """Return the census rows of LIBSVM's a9a and a9a.t: 123 columns of 0 and 1, sparse float32."""
    from sklearn.datasets import load_svmlight_file

    parts: list[Any] = []
    for name in ("a9a.gz", "a9a.t.gz"):
        X, y = load_svmlight_file(
            str(data_file("a9a", name)), n_features=A9A_COLUMNS, zero_based=False, dtype=np.float32
        )
        parts += [_small_indices(X), (y > 0).astype(np.int64)]
    return Data("a9a", *parts).first(settings.most_rows)


def load_w8a(settings: Settings) -> Data:
    """Return the web pages of LIBSVM's w8a: 300 sparse columns of 0 and 1."""
    return _svmlight("w8a", data_file("w8a", "w8a.gz"), W8A_COLUMNS, settings)


def load_farm_ads(settings: Settings) -> Data:
    """Return the farm advertisements: 54 877 sparse columns of words."""
    path = data_file("farm-ads", "farm-ads-vect.svm.gz")
    return _svmlight("farm-ads", path, FARM_ADS_COLUMNS, settings)


def _svmlight(name: str, path: Path, columns: int, settings: Settings) -> Data:
    """Return a set of two classes of which a tenth is held out."""
    from sklearn.datasets import load_svmlight_file

    X, y = load_svmlight_file(str(path), n_features=columns, zero_based=False, dtype=np.float32)
    X, y = _small_indices(X), (y > 0).astype(np.int64)
    order = np.random.default_rng(0).permutation(len(y))
    cut = len(y) // 10
    test, train = order[:cut], order[cut:]
    return Data(name, X[train], y[train], X[test], y[test]).first(settings.most_rows)


def _small_indices(X: Any) -> Any:
    """Return sparse rows with indices of 32 bits, which some peers ask for."""
    places = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sp.csr_matrix((X.data, *places), shape=X.shape)


def load_breast_cancer(settings: Settings) -> Data:
    """Return scikit-learn's breast-cancer rows as they are, dense."""
    from sklearn.datasets import load_breast_cancer as load

    X, y = load(return_X_y=True)
    return Data("breast cancer, raw", X, y, X, y).first(settings.most_rows)


def load_leukemia(settings: Settings) -> Data:
    """Return the 7 129 gene expressions of 72 patients, standardised; y: of which kind."""
    from pyarrow import csv

    path = data_file("leukemia", "leukemia.csv.gz")
    table = csv.read_csv(path, read_options=csv.ReadOptions(use_threads=False))
    y = (np.array(table["class"].to_pylist()) == "AML").astype(np.int64)
    genes = [name for name in table.column_names if name not in ("split", "sample", "class")]
    X = np.column_stack([table[name].to_numpy() for name in genes]).astype(np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return Data("leukemia", X, y, X, y).first(settings.most_rows)


def load_spambase(settings: Settings) -> Data:
    """Return the 57 counts and shares of 4 601 emails, dense."""
    with gzip.open(data_file("spambase", "spambase.data.gz"), "rt") as lines:
        table = np.loadtxt(lines, delimiter=",")
    X, y = table[:, :-1], table[:, -1].astype(np.int64)
    return Data("spambase", X, y, X, y).first(settings.most_rows)


def load_mushroom(settings: Settings) -> Data:
    """Return the categories of 8 124 mushrooms, one-hot and sparse; y: whether poisonous."""
    from separable import OneHotEncoder

    with gzip.open(data_file("mushroom", "agaricus-lepiota.data.gz"), "rt") as lines:
        table = np.array([line.strip().split(",") for line in lines if line.strip()])
    X = OneHotEncoder().fit_transform(table[:, 1:])
    y = (table[:, 0] == "p").astype(np.int64)
    return Data("mushroom", X, y, X, y).first(settings.most_rows)


def load_imdb_words(settings: Settings) -> Data:
    """Return the film reviews of the training half as tf-idf of words."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts, labels = imdb_texts(replace(settings, most_rows=None))
    X = TfidfVectorizer(dtype=np.float32).fit_transform(texts)
    # The file lists one class after the other.
    order = np.random.default_rng(0).permutation(len(texts))[: settings.most_rows]
    X, y = X[order], (np.array(labels)[order] == "pos").astype(np.int64)
    return Data("imdb, words", X, y, X, y)


def load_newsgroups(settings: Settings) -> Data:
    """Return the 20 newsgroups as tf-idf of words."""
    import pyarrow.parquet as pq

    table = pq.read_table(data_file("20newsgroups", "20news_bydate.parquet"), use_threads=False)
    columns = {name: table[name].to_pylist() for name in table.column_names}
    return _tfidf("20 newsgroups", columns["split"], columns["text"], columns["group"], settings)


def load_clinc150(settings: Settings) -> Data:
    """Return the 150 intents of CLINC150 as tf-idf of words."""
    import json

    found = json.loads(gzip.decompress(data_file("clinc150", "data_full.json.gz").read_bytes()))
    split, text, label = [], [], []
    for part in ("train", "test"):
        for sentence, intent in found[part]:
            split.append(part)
            text.append(sentence)
            label.append(intent)
    return _tfidf("clinc150", split, text, label, settings)


def _tfidf(
    name: str, split: Sequence[str], text: Sequence[str], label: Sequence[str], settings: Settings
) -> Data:
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    parts: list[Any] = []
    for part, encode in (("train", vectorizer.fit_transform), ("test", vectorizer.transform)):
        places = [k for k, mine in enumerate(split) if mine == part]
        parts += [encode([text[k] for k in places]), np.array([label[k] for k in places])]
    return Data(name, *parts).first(settings.most_rows)


def load_covtype(settings: Settings, *, binary: bool) -> Data:
    """Return the forest rows as they are, dense float32; binary: class 2 against the rest."""
    table = read_integers(data_file("covtype", "covtype.data.xz"))
    table = table[np.random.default_rng(0).permutation(len(table))]
    X, y = table[:, :-1].astype(np.float32), table[:, -1].astype(np.int64)
    if binary:
        y = (y == 2).astype(np.int64)
    held_out = round(COVTYPE_HELD_OUT * len(y))
    name = "covtype, class 2 or not" if binary else "covtype, 7 classes"
    data = Data(name, X[held_out:], y[held_out:], X[:held_out], y[:held_out])
    return data.first(settings.most_rows)


def read_integers(path: Path) -> NDArray[np.int64]:
    """Return a comma-separated table of whole numbers without headings, packed by xz."""
    from pyarrow import csv

    with lzma.open(path) as file:
        table = csv.read_csv(
            file,
            read_options=csv.ReadOptions(autogenerate_column_names=True, use_threads=False),
        )
    return np.column_stack([column.to_numpy() for column in table.columns])


def read_idx(path: Path) -> NDArray[np.uint8]:
    """Return the bytes of an IDX file: two zeros, type 8, the number of axes, their lengths."""
    raw = gzip.decompress(path.read_bytes())
    if raw[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path.name} is not an IDX file of bytes: it starts with {raw[:4]!r}.")
    axes = raw[3]
    shape = np.frombuffer(raw, dtype=">u4", count=axes, offset=4)
    return np.frombuffer(raw, dtype=np.uint8, offset=4 + 4 * axes).reshape(shape)
