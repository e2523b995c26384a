"""Loading takes no more memory than four times the file and 50 MB, whatever the file claims."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from separable import DictEncoder, LinearModel, PolynomialEncoder, TableEncoder, TextEncoder
from separable.data.strings import pack_strings
from separable.model.files.container import KEY, close_container
from tests.model.mutations import parts
from tests.model.specimens import encoder_specimen, fitted

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="the peak of memory is not told here"
)

MEGABYTE = 2**20
#: Loads a small model of the same kind, so that all that is needed is imported, and then the file.
MEASURE = """
import sys
from separable import load
def peak():  # not ru_maxrss, which begins with that of the process that started this one
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
load(sys.argv[1])
before = peak()
try:
    load(sys.argv[2])
    print("loaded", peak() - before)
except ValueError as error:
    print(type(error).__name__, peak() - before)
"""


def measured(small: Path, large: Path) -> tuple[str, int]:
    """Return what became of loading a file, and the memory that it took beyond that before."""
    command = [sys.executable, "-c", MEASURE, str(small), str(large)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    what, grown = done.stdout.split()
    return what, int(grown)


def check(tmp_path: Path, small: bytes, large: bytes, outcome: str) -> None:
    (tmp_path / "small").write_bytes(small)
    (tmp_path / "large").write_bytes(large)
    what, grown = measured(tmp_path / "small", tmp_path / "large")
    assert what == outcome
    assert grown <= 4 * len(large) + 50 * MEGABYTE, f"{grown / MEGABYTE:.0f} MB"


def bytes_of(model: Any, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def changed(small: bytes, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> bytes:
    document, tensors = parts(small)
    change(document, tensors)
    return close_container(json.dumps(document).encode(), tensors)


def plain() -> LinearModel:
    return LinearModel([[1.0, 2.0]], [0], [0, 1], "score", ["a", "b"])


def raw(header: dict[str, Any] | bytes, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def many_tensors(n: int) -> bytes:
    info = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    return raw({"__metadata__": {KEY: "{}"}, **{f"{i:x}": info for i in range(n)}})


CLAIMS: dict[str, tuple[Callable[[], Any], Callable[[bytes], bytes]]] = {
    "a long header": (plain, lambda small: raw({"__metadata__": {KEY: "x" * 30 * MEGABYTE}})),
    "many tensors": (plain, lambda small: many_tensors(250_000)),
    "many lists": (plain, lambda small: raw({"__metadata__": {KEY: "[" + "[]," * 5_000_000}})),
    "many lists in evidence": (
        plain,
        lambda small: small.replace(b'\\"evidence\\":{}', b'\\"evidence\\":{' + b"[]," * 2_000_000),
    ),
    "a large shape": (
        plain,
        lambda small: raw(
            {
                "__metadata__": {KEY: "{}"},
                "weights": {"dtype": "F64", "shape": [2**40], "data_offsets": [0, 2**43]},
            }
        ),
    ),
    "wide classes": (
        lambda: LinearModel(np.eye(3), [0, 0, 0], ["a", "b", "c"], "score"),
        lambda small: changed(
            small,
            lambda d, t: t.update(
                {
                    "weights": np.zeros((2000, 1)),
                    "intercept": np.zeros(2000),
                    **dict(
                        zip(
                            ("classes:utf8", "classes:offsets"),
                            pack_strings([*(f"{i:05}" for i in range(1999)), "z" * 500_000]),
                            strict=True,
                        )
                    ),
                }
            ),
        ),
    ),
    "many hashed columns": (
        lambda: encoder_specimen("text", "hashed").model,
        lambda small: changed(
            small, lambda d, t: d["encoder"]["values"].update(n_features=2**31 - 1)
        ),
    ),
    "many hashed columns of a table": (
        lambda: encoder_specimen("table", "hashed").model,
        lambda small: changed(
            small, lambda d, t: d["encoder"]["values"]["texts"][0].update(n_features=2**31 - 1)
        ),
    ),
    "many products": (
        lambda: encoder_specimen("polynomial", "squares").model,
        lambda small: changed(small, lambda d, t: d["encoder"]["values"].update(n_columns=60_000)),
    ),
    "many stop words": (
        lambda: encoder_specimen("text", "pattern").model,
        lambda small: changed(
            small,
            lambda d, t: t.update(
                {
                    "encoder/stop_words:utf8": np.frombuffer(
                        b"".join(b"%06x" % i for i in range(2_000_000)), np.uint8
                    ),
                    "encoder/stop_words:offsets": 6 * np.arange(2_000_001),
                }
            ),
        ),
    ),
}


@pytest.mark.parametrize("name", CLAIMS)
def test_what_a_file_claims_is_not_allocated(name: str, tmp_path: Path) -> None:
    make, forge = CLAIMS[name]
    small = bytes_of(make(), tmp_path / "m")
    check(tmp_path, small, forge(small), "ModelFileError")


def many_terms(n: int) -> LinearModel:
    encoder = TextEncoder(ngram_range=(2, 2)).fit(["word next"])
    tensors, values = encoder.to_parts()
    terms = [f"word{i // 1000} next{i % 1000}" for i in range(n)]
    utf8, offsets = pack_strings(terms)
    more = {"terms": utf8, "term_offsets": offsets, "idf": np.ones(n)}
    encoder = TextEncoder.from_parts({**tensors, **more}, values)
    return LinearModel(np.ones((1, n)), [0], ["no", "yes"], "score", encoder=encoder)


def many_levels(n: int) -> LinearModel:
    encoder = TableEncoder(category=["id"], min_count=1).fit({"id": [f"{i:06}" for i in range(n)]})
    return LinearModel(np.ones((1, n)), [0], ["no", "yes"], "score", encoder=encoder)


def text_in_a_table(n: int) -> LinearModel:
    encoder, _ = fitted("table", "texts")
    tensors, values = encoder.to_parts()
    words = [f"w{i}" for i in range(n)]
    utf8, offsets = pack_strings(words)
    more = {"text/0/terms": utf8, "text/0/term_offsets": offsets, "text/0/idf": np.ones(n)}
    encoder = TableEncoder.from_parts({**tensors, **more}, values)
    d = len(encoder.sources)
    return LinearModel(np.ones((1, d)), [0], ["no", "yes"], "score", encoder=encoder)


def many_products(n: int) -> LinearModel:
    encoder = PolynomialEncoder().fit(np.ones((1, n)))
    d = encoder.n_output_features_
    return LinearModel(np.ones((1, d)), [0], ["no", "yes"], "score", encoder=encoder)


def many_names(n: int) -> LinearModel:
    return LinearModel(np.ones((1, n)), [0], ["no", "yes"], "score", [f"n{i}" for i in range(n)])


def many_keys(n: int) -> LinearModel:
    encoder = DictEncoder().fit([{"id": f"{i:06}"} for i in range(n)])
    return LinearModel(np.ones((1, n)), [0], ["no", "yes"], "score", encoder=encoder)


LARGE: dict[str, tuple[Callable[[int], LinearModel], int]] = {
    "n-grams": (many_terms, 500_000),
    "words of a table": (text_in_a_table, 500_000),
    "levels": (many_levels, 500_000),
    "products": (many_products, 1000),
    "names of dicts": (many_keys, 500_000),
    "names": (many_names, 1_000_000),
}


#: Their encoders learn for seconds.
SLOW = ("levels", "names of dicts")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in LARGE]
)
def test_a_large_model_is_loaded(name: str, tmp_path: Path) -> None:
    make, n = LARGE[name]
    small, large = (bytes_of(make(size), tmp_path / "m") for size in (3, n))
    check(tmp_path, small, large, "loaded")


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_ten_million_n_grams(tmp_path: Path) -> None:
    small, large = (bytes_of(many_terms(size), tmp_path / "m") for size in (3, 10_000_000))
    check(tmp_path, small, large, "loaded")
