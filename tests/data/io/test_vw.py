"""Vowpal Wabbit text against a slow reference, its own hashes, and lines that should not be."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data.io.readers import LineError
from separable.data.io.vw import VwReader
from tests.data.io.feeding import fed
from tests.reference import vw_text as reference

pytestmark = pytest.mark.native


def read(data, cuts=(), **options):
    """Read the bytes in pieces; return the rows as the reference has them, and the reader."""
    reader = fed(VwReader(**options), data, cuts)
    batch = reader.take()
    return ([] if batch is None else as_tuples(batch, reader.feature_names)), reader


def batch_of(data, **options):
    """Read the bytes; return the batch of all rows, or None."""
    return fed(VwReader(**options), data).take()


def as_tuples(batch, names):
    rows = batch.rows
    assert rows.n_features == len(names)
    result = []
    for i in range(len(batch)):
        part = slice(rows.indptr[i], rows.indptr[i + 1])
        columns = [names[j] for j in rows.indices[part]]
        assert len(set(columns)) == len(columns)
        label = None if math.isnan(batch.labels[i]) else float(batch.labels[i])
        beside = float(batch.weights[i]), float(batch.base[i]), batch.tags[i]
        result.append((label, *beside, dict(zip(columns, rows.values[part].tolist(), strict=True))))
    return result


# ------------------------------------------------------------------ what is read


def test_a_line_with_everything():
    data = "\ufeff-1.5 2 0.25 'tag |house price:.5 old\tnew:-1e2|straße:2 quiet:.5 loud | x\r\n"
    rows, reader = read(data.encode())
    features = {
        "house^price": 0.5, "house^old": 1.0, "house^new": -100.0,
        "straße^quiet": 1.0, "straße^loud": 2.0, "x": 1.0,
    }  # fmt: skip
    assert rows == [(-1.5, 2.0, 0.25, "tag", features)]
    assert reader.feature_names == tuple(features)


@pytest.mark.parametrize(
    ("head", "label", "weight", "base", "tag"),
    [
        ("", None, 1, 0, ""),
        ("1 ", 1, 1, 0, ""),
        ("3 0.5 ", 3, 0.5, 0, ""),
        ("3 0.5 -7 ", 3, 0.5, -7, ""),
        ("1 2 3 me", 1, 2, 3, "me"),
        ("1 'me ", 1, 1, 0, "me"),
        ("1 me", 1, 1, 0, "me"),
        ("'me", None, 1, 0, "me"),
        ("1", None, 1, 0, "1"),
        ("1 2", 1, 1, 0, "2"),
        ("\t1\t2 ", 1, 2, 0, ""),
    ],
)
def test_what_stands_before_the_bar(head, label, weight, base, tag):
    assert read(f"{head}|a b".encode())[0] == [(label, weight, base, tag, {"a^b": 1.0})]


def test_features_that_stand_twice_are_added():
    rows, _ = read(b"1 |a x:1 y x:2.5 |b x |a x:-0.5 y:0\n")
    assert rows[0][-1] == {"a^x": 3.0, "a^y": 1.0, "b^x": 1.0}


def test_features_without_a_name_are_numbered():
    rows, _ = read(b"1 |a :3 x :4 |a :5 1:1\n")
    assert rows[0][-1] == {"a^0": 8.0, "a^x": 1.0, "a^1": 5.0}


def test_bars_without_features():
    assert [row[-1] for row in read(b"1 |\n2 ||a |\n| |\n")[0]] == [{}, {}, {}]


def test_blank_lines_are_passed_over():
    rows, reader = read(b"\n\r\n1 |a b\n \n\n2 |a b\n\n")
    assert [row[0] for row in rows] == [1, 2]
    assert not reader.skipped


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"\xef\xbb\xbf"])
def test_nothing_to_read(data):
    assert batch_of(data) is None


def test_rows_are_handed_out_as_asked():
    reader = VwReader()
    data = b"".join(b"%d %d t%d|n f%d\n" % (i, i, i, i) for i in range(10))
    labels, tags, columns, widths = [], [], [], []
    for start in range(0, len(data), 9):
        reader.feed(data[start : start + 9])
        while batch := reader.take(2):
            labels += batch.labels.tolist()
            tags += batch.tags
            columns += batch.rows.indices.tolist()
            widths.append(batch.rows.n_features)
    assert labels == columns == list(range(10))
    assert tags == [f"t{i}" for i in range(10)]
    assert widths == sorted(widths)
    assert reader.feature_names == tuple(f"n^f{i}" for i in range(10))


def test_a_long_line_in_small_chunks():
    n = 100_000
    line = b"1 |n " + b" ".join(b"feature%d:%d.5" % (i, i) for i in range(n)) + b"\n"
    reader = VwReader()
    for start in range(0, len(line), 4096):
        reader.feed(memoryview(line)[start : start + 4096])
    batch = reader.take()
    assert batch.rows.indices.tolist() == list(range(n))
    assert batch.rows.values.tolist() == [i + 0.5 for i in range(n)]


@functools.cache
def many_lines() -> bytes:
    rng = np.random.default_rng(0)
    words = rng.zipf(1.3, size=400_000) % 50_000
    lines = [
        " ".join([f"{i % 3} 'r{i} |t", *(f"w{w}:{1 / w if w else 1:.6g}" for w in chosen)])
        for i, chosen in enumerate(np.split(words, 20_000))
    ]
    lines[15_000] = "1 |t w1:x new"
    return "\n".join(lines).encode()


@pytest.mark.slow
@pytest.mark.parametrize("n_features", [None, 1 << 12])
@pytest.mark.parametrize("n_jobs", [2, 5, -1])
def test_threads_give_the_same_rows(n_jobs, n_features):
    data = many_lines()
    assert len(data) > 3 << 20

    def run(jobs):
        reader = VwReader(n_features, "skip", n_jobs=jobs)
        reader.feed(data)
        reader.finish()
        return reader.take(), reader.skipped, reader.feature_names

    (one, skipped, names), (many, *others) = run(None), run(n_jobs)
    assert [skipped, names] == others
    assert skipped.count == 1
    assert names is None or "t^new" not in names
    for ours, theirs in zip(one.rows.arrays(), many.rows.arrays(), strict=True):
        assert ours.tobytes() == theirs.tobytes()
    assert one.tags == many.tags


# ------------------------------------------------------------------ hashes


def hashed(data, bits):
    batch = batch_of(data, n_features=1 << bits)
    assert batch.rows.n_features == 1 << bits
    return dict(zip(batch.rows.indices.tolist(), batch.rows.values.tolist(), strict=True))


@given(
    st.text(alphabet="ab1ü", max_size=9),
    st.text(alphabet="xyz09é", min_size=1, max_size=9),
    st.integers(1, 31),
)
def test_hashes_are_those_of_the_reference(space, name, bits):
    seed = reference.vowpal_hash(space.encode(), 0) if space else 0
    column = reference.vowpal_hash(name.encode(), seed) % (1 << bits)
    assert hashed(f"|{space} {name}:2".encode(), bits) == {column: 2.0}


def test_columns_are_those_of_vowpal_wabbit():
    vowpalwabbit = pytest.importorskip("vowpalwabbit")
    workspace = vowpalwabbit.Workspace(quiet=True, noconstant=True, bit_precision=18)
    line = "1 |house price:0.5 old 17 017 :3 |7 x:2 9 | y 12:4 |straße café"
    example = workspace.parse(line)
    theirs = {}
    for space in range(example.num_namespaces()):
        for i in range(example.num_features_in(space)):
            column = example.feature(space, i) & ((1 << 18) - 1)
            theirs[column] = theirs.get(column, 0) + example.feature_weight(space, i)
    workspace.finish_example(example)
    workspace.finish()
    assert hashed(line.encode(), 18) == theirs


def test_colliding_features_are_added():
    row = hashed(b"| 0:1 2:4 4:8 1:16\n", 1)
    assert row == {0: 13.0, 1: 16.0}


# ------------------------------------------------------------------ what is refused

BAD = [
    (b"1 a:2", 1, "bar_missing", "no \\| in the line, which starts with '1'"),
    (b"spam |a b", 1, "label_malformed", "'spam' is not a number"),
    (b"1:2:0.5 |a b", 1, "label_malformed", "several parts"),
    (b"nan |a b", 1, "label_not_finite", "not a finite number"),
    (b"1e999 |a b", 1, "label_not_finite", "not a finite number"),
    (b"1 2 3 4 |a b", 7, "words_too_many", "'4' is one word too many"),
    (b"1 2 3 4 5 6 7 'tag|a b", 7, "words_too_many", "one word too many"),
    (b"1 x |a b", 3, "weight_malformed", "importance 'x'"),
    (b"1 -2 |a b", 3, "weight_negative", "Write 0"),
    (b"1 2 x |a b", 5, "base_malformed", "base 'x'"),
    (b"1 |:2 b", 4, "namespace_missing", "without a namespace"),
    (b"1 |a: b", 6, "scale_malformed", "the scale ''"),
    (b"1 |a:x b", 6, "scale_malformed", "the scale 'x'"),
    (b"1 |a:inf b", 6, "value_not_finite", "'inf' is not a finite"),
    (b"1 |a b:", 8, "value_malformed", "the value ''"),
    (b"1 |a b:red", 8, "value_malformed", "colour=red"),
    (b"1 |a b:0x1", 8, "value_malformed", "0x1"),
    (b"1 |a b:1:2", 8, "value_malformed", "1:2"),
    (b"1 |a b:NaN", 8, "value_not_finite", "Leave the feature out"),
    (b"1 |a b:1e999", 8, "value_too_large", "overflows float64"),
    (b"1 |a:1e300 b:1e300", 12, "value_too_large", "'b:1e300', times the scale"),
    (b"1 |a b:1e308 b:1e308", 14, "value_too_large", "Scale the feature"),
    (b"1 |a b\0c", 6, "nul_byte", "NUL byte"),
    (b"1 |a\0 b", 4, "nul_byte", "NUL byte"),
    (b"\0 |a b", 1, "nul_byte", "NUL byte"),
    (b"1 t\0|a b", 3, "nul_byte", "UTF-8 text"),
    (b"1 |a caf\xe9", 6, "not_utf8", "not UTF-8"),
    (b"1 |caf\xe9 b", 4, "not_utf8", "not UTF-8"),
    (b"1 caf\xe9|a b", 3, "not_utf8", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "column", "kind", "match"), BAD)
def test_bad_lines_are_named(line, column, kind, match):
    data = b"1 |a x\n\n" + line + b"\n1 |a y\n" + line
    with pytest.raises(LineError, match=f"train.vw:3:{column}: .*{match}.*skip"):
        batch_of(data, name="train.vw")
    rows, reader = read(data, on_error="skip")
    assert [row[-1] for row in rows] == [{"a^x": 1.0}, {"a^y": 1.0}]
    assert reader.feature_names == ("a^x", "a^y")
    assert [each.line for each in reader.skipped.examples] == [3, 5]
    refused = reader.skipped.examples[0]
    assert (refused.column, refused.kind) == (column, kind)
    assert reference.read(data, skip=True) == (rows, [(3, kind), (5, kind)])


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_features": 100}, "'n_features' parameter of VwReader must be a power of 2"),
        ({"n_features": 1}, "power of 2 from 2 to 2\\^31"),
        ({"n_features": 2**32}, "power of 2"),
        ({"on_error": "ignore"}, "'on_error' parameter of VwReader"),
    ],
)
def test_parameters_are_checked(options, match):
    with pytest.raises(ValueError, match=match):
        VwReader(**options)


PIECES = [
    b"1", b"-1.5", b"2", b" ", b" ", b" ", b"\t", b"\r\n", b"\n", b"\n", b"|", b"|", b"|a ",
    b"|b:2 ", b"x", b"y", b":", b":0.5", b":1e300", b":1e308", b":nan", b"-", b"'t", b"0", b"12",
    b"\0", b"\xff", "ü".encode(), b"\xef\xbb\xbf", b"^", b"\x0b", b"\x01", b"inf",
    b"longer_name_than_eight",
]  # fmt: skip
ANY = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map(b"".join),
    st.binary(max_size=60),
    st.text(alphabet="01 :.|\n-eab'", max_size=60).map(str.encode),
)


@given(ANY, st.lists(st.integers(0, 100), max_size=4), st.booleans())
def test_any_bytes_in_any_chunks_give_what_the_reference_gives(data, cuts, skip):
    expected, refused = reference.read(data, skip=skip)
    cuts = [min(cut, len(data)) for cut in cuts]
    if refused and not skip:
        with pytest.raises(LineError) as error:
            read(data, cuts)
        assert (error.value.refused.line, error.value.refused.kind) == refused[0]
        return
    rows, reader = read(data, cuts, on_error="skip")
    assert [(each.line, each.kind) for each in reader.skipped.examples] == refused[:10]
    assert reader.skipped.count == len(refused)
    assert rows == expected
    names = list(dict.fromkeys(name for row in expected for name in row[-1]))
    assert reader.feature_names == tuple(names)


@given(ANY, st.integers(1, 31))
def test_hashing_refuses_nothing_that_names_allow(data, bits):
    _, refused = reference.read(data, skip=True)
    reader = VwReader(1 << bits, "skip")
    reader.feed(data)
    reader.finish()
    reader.take()
    assert reader.skipped.count <= len(refused) + data.count(b"1e308")
