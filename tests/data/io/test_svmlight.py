"""svmlight text against a slow reference, scikit-learn, and lines that should not be."""

from __future__ import annotations

import functools
import io
import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from separable.data.io.readers import LineError
from separable.data.io.svmlight import SvmlightReader
from tests.data.io.feeding import fed
from tests.reference import svmlight as reference

pytestmark = pytest.mark.native


def read(data, cuts=(), **options):
    """Read the bytes in pieces; return the rows as the reference has them, and the reader."""
    reader = fed(SvmlightReader(**options), data, cuts)
    batch = reader.take()
    return ([] if batch is None else as_tuples(batch)), reader


def batch_of(data, **options):
    """Read the bytes; return the batch of all rows, or None."""
    return fed(SvmlightReader(**options), data).take()


def as_tuples(batch):
    rows, qid = batch.rows, batch.qid
    result = []
    for i in range(len(batch)):
        begin, end = rows.indptr[i], rows.indptr[i + 1]
        columns = rows.indices[begin:end].tolist()
        assert columns == sorted(set(columns))
        assert not columns or 0 <= columns[0] <= columns[-1] < rows.n_features
        values = rows.values[begin:end].tolist()
        label = batch.labels[i]
        label = label if isinstance(label, str) else float(label)
        result.append(
            (label, -1 if qid is None else int(qid[i]), dict(zip(columns, values, strict=True)))
        )
    return result


def texts(rows):
    """The labels as a file with text among its labels has them."""
    return [label for label, _, _ in rows]


# ------------------------------------------------------------------ what is read


def test_a_line_with_everything():
    rows, reader = read(b"\xef\xbb\xbf# head\r\n\r\n 1.5\tqid:7 3:-.5  10:1e2 # 4:4\r\n-1 2:+3#x")
    assert rows == [(1.5, 7, {2: -0.5, 9: 100.0}), (-1.0, -1, {1: 3.0})]
    assert reader.index_base == 1
    assert not reader.skipped


@pytest.mark.slow
def test_a_zero_anywhere_means_that_columns_count_from_0():
    rows, reader = read(b"1 1:1\n2 2:2\n" * 50_000 + b"3 0:7\n")
    assert reader.index_base == 0
    assert rows[0][2] == {1: 1.0}
    assert rows[-1][2] == {0: 7.0}


@pytest.mark.parametrize("base", [0, 1])
def test_the_base_can_be_given(base):
    rows, _ = read(b"1 1:5\n", index_base=base)
    assert rows[0][2] == {1 - base: 5.0}


def test_the_width_is_given_or_grows():
    reader = SvmlightReader()
    reader.feed(b"1 2:1\n")
    assert reader.take().rows.shape == (1, 2)
    reader.feed(b"1 9:1\n1 1:1\n")
    assert reader.take().rows.shape == (2, 9)
    assert batch_of(b"1 2:1\n", n_features=50).rows.shape == (1, 50)


def test_columns_out_of_order_are_sorted():
    assert read(b"1 5:5 2:2 9:9 1:1\n")[0] == [(1.0, -1, {0: 1.0, 1: 2.0, 4: 5.0, 8: 9.0})]


def test_text_labels_and_several_labels():
    rows, _ = read("1 1:1\nspam 1:2\nüber,3 1:3\n+ 1:4\n".encode())
    assert texts(rows) == ["1", "spam", "über,3", "+"]
    batch = batch_of(b"01 1:1\n 2:1\n1,2 1:1\n", labels="text")
    assert batch.labels == ("01", "", "1,2")


def test_a_row_may_be_empty():
    batch = batch_of(b"1\n0 1:1\n1 # nothing\n")
    assert batch.rows.indptr.tolist() == [0, 0, 1, 1]


def test_queries_that_come_late():
    rows, _ = read(b"1 1:1\n2 qid:3 1:1\n3 1:1\n")
    assert [qid for _, qid, _ in rows] == [-1, 3, -1]


@pytest.mark.parametrize("data", [b"", b"\n\r\n", b"# only\n#a comment", b"\xef\xbb\xbf"])
def test_nothing_to_read(data):
    assert batch_of(data) is None


def test_columns_beyond_32_bits():
    batch = batch_of(b"1 1:1\n" * 3 + b"1 1:1 4294967296:2 4611686018427387904:3\n")
    assert batch.rows.indices.dtype == batch.rows.indptr.dtype == np.int64
    assert batch.rows.indices.tolist() == [0, 0, 0, 0, 2**32 - 1, 2**62 - 1]
    assert batch.rows.n_features == 2**62
    assert batch_of(b"1 2147483647:1\n").rows.indices.dtype == np.int32
    assert batch_of(b"1 2147483648:1\n").rows.indices.dtype == np.int64


def test_rows_are_handed_out_as_asked():
    data = b"".join(b"%d qid:%d %d:%d\n" % (i, i, i + 1, i) for i in range(10))
    reader = SvmlightReader(index_base=1)
    sizes, labels, columns = [], [], []
    for start in range(0, len(data), 7):
        reader.feed(data[start : start + 7])
        while batch := reader.take(2):
            sizes.append(len(batch))
            labels += batch.labels.tolist()
            columns += batch.rows.indices.tolist()
            assert batch.qid.tolist() == batch.labels.tolist()
    reader.finish()
    assert labels == columns == list(range(10))
    reader = SvmlightReader()
    reader.feed(data)
    assert [len(reader.take(n)) for n in (3, 4, 9)] == [3, 4, 3]
    assert reader.take() is None
    with pytest.raises(ValueError, match="at least 1"):
        reader.take(0)


def test_a_long_line_in_small_chunks():
    n = 200_000
    line = b"1 " + b" ".join(b"%d:%d.5" % (i, i) for i in range(1, n)) + b"\n"
    reader = SvmlightReader()
    for start in range(0, len(line), 4096):
        reader.feed(memoryview(line)[start : start + 4096])
    batch = reader.take()
    assert batch.rows.indices.tolist() == list(range(n - 1))
    assert batch.rows.values.tolist() == [i + 0.5 for i in range(1, n)]


@pytest.mark.long
def test_a_line_of_100_megabytes():
    pair = b" 7654321:0.123456789"
    n = 100_000_000 // len(pair)
    line = b"1" + b"".join(b" %d:0.123456789" % (i + 10**7) for i in range(n)) + b"\n"
    batch = batch_of(line + b"1 1:1\n")
    assert batch.rows.indptr.tolist() == [0, n, n + 1]


@functools.cache
def many_lines() -> bytes:
    rng = np.random.default_rng(0)
    lines = []
    for i in range(60_000):
        size = rng.integers(0, 9)
        pairs = [
            f"{j}:{x:.6g}"
            for j, x in zip(rng.integers(1, 99, size), rng.normal(size=size), strict=True)
        ]
        lines.append(" ".join([str(i % 3), *pairs]))
    lines[41_234] = "2 qid:5 0:1"
    lines[51_234] = "2 99999999999:1"
    return "\n".join(lines).encode()


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [2, 5, -1])
def test_threads_give_the_same_rows(n_jobs):
    data = many_lines()
    assert len(data) > 1 << 20
    one, many = (_read_and_count(data, jobs) for jobs in (None, n_jobs))
    assert one[1] == many[1]
    assert one[1].count > 0
    for ours, theirs in zip(one[0].rows.arrays(), many[0].rows.arrays(), strict=True):
        assert ours.dtype == theirs.dtype
        assert ours.tobytes() == theirs.tobytes()
    assert one[0].labels.tobytes() == many[0].labels.tobytes()
    assert one[0].qid.tobytes() == many[0].qid.tobytes()


def _read_and_count(data, n_jobs):
    reader = SvmlightReader(on_error="skip", n_jobs=n_jobs)
    reader.feed(data)
    reader.finish()
    return reader.take(), reader.skipped


# ------------------------------------------------------------------ numbers


@pytest.mark.parametrize(
    "text",
    [
        "1", "-1", "+1", "0", "-0", "00012", "5.", ".5", "-.5e-3", "1E5", "0.1", "123456789.125",
        "9007199254740993", "9007199254740992.5", "18446744073709551615", "18446744073709551616",
        "0.30000000000000004", "2.2250738585072014e-308", "4.9e-324", "2.4e-324", "2.5e-324",
        "1e-999",
        "1.7976931348623157e308", "0." + "0" * 300 + "1", "1" + "0" * 300, "3." + "14159265" * 125,
        "9" * 300 + "e-299", "0e99999999999999999999", "1e-99999999999999999999", "8.5e27", "1e-27",
        "12345678901234567890e-27", "0.0003456789021491998",
    ],
)  # fmt: skip
def test_numbers_are_rounded_as_python_does(text):
    value = batch_of(f"1 1:{text}\n".encode()).rows.values[0]
    assert value == float(text)
    assert math.copysign(1, value) == math.copysign(1, float(text))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1), st.integers(0, 20))
def test_every_float_is_read_back(numbers, digits):
    for write in (repr, lambda x: f"{x:.{digits}e}", lambda x: f"{x:.{digits}f}"):
        words = [write(x) for x in numbers if abs(float(write(x))) < math.inf]
        pairs = " ".join(f"{j}:{word}" for j, word in enumerate(words))
        batch = batch_of(f"1 {pairs}\n".encode(), index_base=0)
        assert batch.rows.values.tobytes() == np.array(words, dtype=float).tobytes()


@given(st.integers(0, 2**64 + 9), st.integers(-40, 40))
def test_whole_numbers_times_powers_of_ten(number, power):
    batch = batch_of(f"1 1:{number}e{power}\n".encode())
    assert batch.rows.values[0] == float(f"{number}e{power}")


@given(st.integers(2**52, 2**53 - 1), st.integers(-60, 10), st.sampled_from(["", "1", "000001"]))
def test_halfway_cases(mantissa, power, more):
    from fractions import Fraction

    half = (Fraction(2 * mantissa + 1)) * Fraction(2) ** power
    digits = max(0, -power)
    text = str(half.numerator * 10**digits // half.denominator).rjust(digits + 1, "0")
    text = f"{text[: len(text) - digits]}.{text[len(text) - digits :]}{more}"
    assert batch_of(f"1 1:{text}\n".encode()).rows.values[0] == float(text)


# ------------------------------------------------------------------ what is refused

BAD = [
    (b"1:2 3:4", 1, "label_missing", "has no label"),
    (b"1 1:1 x", 7, "pair_malformed", "'x' is not a pair"),
    (b"1 1:1 2", 7, "pair_malformed", "'2' is not a pair"),
    (b"1 1:1 :2", 7, "pair_malformed", "':2' is not a pair"),
    (b"1 1.5:2", 3, "pair_malformed", "'1.5:2' is not a pair"),
    (b"1 +1:2", 3, "pair_malformed", "not a pair"),
    (b"1 1:1 qid:3", 7, "pair_malformed", "'qid:3' is not a pair"),
    (b"1 -2:1", 3, "column_negative", "negative"),
    (b"1 4611686018427387905:1", 3, "column_too_large", "above 2\\^62"),
    (b"1 99999999999999999999999:1", 3, "column_too_large", "above 2\\^62"),
    (b"1 18446744073709551617:1", 3, "column_too_large", "above 2\\^62"),
    (b"1 3:", 5, "value_malformed", "the value '' is not a decimal number"),
    (b"1 3:a", 5, "value_malformed", "the value 'a' is not a decimal"),
    (b"1 3:0x10", 5, "value_malformed", "0x10"),
    (b"1 3:1e", 5, "value_malformed", "1e"),
    (b"1 3:1_0", 5, "value_malformed", "1_0"),
    (b"1 3:1,5", 5, "value_malformed", "1,5"),
    (b"1 3:1:2", 5, "value_malformed", "1:2"),
    (b"1 3:--1", 5, "value_malformed", "--1"),
    (b"1 3:nan", 5, "value_not_finite", "Leave the pair out"),
    (b"1 3:-Inf", 5, "value_not_finite", "not a finite number"),
    (b"1 3:infinity", 5, "value_not_finite", "not a finite number"),
    (b"1 3:1e999", 5, "value_too_large", "overflows float64"),
    (b"1 3:" + b"9" * 1000, 5, "value_too_large", "'9{60}'\\.\\.\\. overflows float64"),
    (b"1 3:1 4:2 3:5", 11, "column_twice", "'3:5' appears twice"),
    (b"1 3:1 3:5", 7, "column_twice", "Keep one"),
    (b"1 qid:x 1:1", 3, "qid_no_number", "'qid:x' is not a query"),
    (b"1 qid:-1 1:1", 3, "qid_no_number", "an integer"),
    (b"nan 1:1", 1, "label_not_finite", "the label 'nan' is not a finite"),
    (b"1e999 1:1", 1, "label_not_finite", "not a finite"),
    (b"a\0b 1:1", 1, "nul_byte", "NUL byte"),
    (b"1 1:1\0 2:2", 5, "nul_byte", "NUL byte"),
    (b"1\0 1:1", 1, "nul_byte", "UTF-8 text"),
    (b"caf\xe9 1:1", 1, "not_utf8", "not UTF-8"),
    (b"\xed\xa0\x80 1:1", 1, "not_utf8", "not UTF-8"),
]


@pytest.mark.parametrize(("line", "column", "kind", "match"), BAD)
def test_bad_lines_are_named(line, column, kind, match):
    data = b"1 1:1\n# comment\n" + line + b"\n1 1:1\n"
    with pytest.raises(LineError, match=f"train.svm:3:{column}: .*{match}.*skip"):
        batch_of(data, name="train.svm")
    rows, reader = read(data, on_error="skip")
    assert len(rows) == 2
    assert reader.skipped.count == 1
    (refused,) = reader.skipped.examples
    assert (refused.line, refused.column, refused.kind) == (3, column, kind)
    assert reference.read(data, skip=True) == (rows, [(3, kind)])


def test_a_column_outside_is_named():
    with pytest.raises(LineError, match=r":2:3: .*'4:1' is outside the 3 requested columns"):
        batch_of(b"1 3:1\n1 4:1\n", n_features=3)
    with pytest.raises(LineError, match=r":1:3: .*index_base=1 if"):
        batch_of(b"1 3:1\n", n_features=3, index_base=0)
    with pytest.raises(ValueError, match=r"f:2: column 3 is outside .*counts columns from 0"):
        batch_of(b"1 1:1\n1 3:1\n1 0:1\n", n_features=3, name="f")


def test_a_zero_after_rows_were_handed_out():
    reader = SvmlightReader(name="f")
    reader.feed(b"1 1:1\n")
    reader.take()
    with pytest.raises(LineError, match=r"f:2:3: .*'0:1' is 0.* Pass index_base=0"):
        reader.feed(b"1 0:1\n")


def test_a_text_label_after_numbers_were_handed_out():
    reader = SvmlightReader()
    reader.feed(b"1 1:1\n")
    reader.take()
    with pytest.raises(LineError, match=r":2:1: .*'spam' is not a number.*labels='text'"):
        reader.feed(b"spam 1:1\n")
    with pytest.raises(LineError, match="not a number"):
        batch_of(b"spam 1:1\n", labels="number")


def test_an_error_stays():
    reader = SvmlightReader()
    with pytest.raises(LineError):
        reader.feed(b"1 x\n")
    for call in (reader.take, lambda: reader.feed(b"1 1:1\n"), reader.finish):
        with pytest.raises(LineError, match=":1:"):
            call()


def test_only_the_first_skipped_lines_are_kept():
    _, reader = read(b"1 x\n" * 1000 + b"1 1:1\n", on_error="skip")
    assert reader.skipped.count == 1000
    assert [each.line for each in reader.skipped.examples] == list(range(1, 11))
    assert str(reader.skipped.examples[0]).startswith("line 1, byte 3: 'x' is not a pair")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"index_base": 2}, "'index_base' parameter of SvmlightReader must be one of 'auto', 0, 1"),
        ({"index_base": True}, "index_base"),
        ({"on_error": "ignore"}, "'on_error' parameter"),
        ({"labels": "int"}, "'labels' parameter"),
        ({"n_features": 0}, "'n_features' parameter .* from 1 to 2\\^62"),
        ({"n_jobs": 0}, "'n_jobs' parameter of SvmlightReader must be None"),
    ],
)
def test_parameters_are_checked(options, match):
    with pytest.raises(ValueError, match=match):
        SvmlightReader(**options)


def test_calls_out_of_order():
    reader = SvmlightReader()
    reader.finish()
    reader.finish()
    with pytest.raises(ValueError, match="after finish"):
        reader.feed(b"1")
    with pytest.raises(TypeError):
        SvmlightReader().feed("text")


# ------------------------------------------------------------------ against others


def test_the_same_matrix_as_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 30)) * (rng.random((200, 30)) < 0.2)
    y = rng.normal(size=200)
    for zero_based in (True, False):
        file = io.BytesIO()
        dump_svmlight_file(X, y, file, zero_based=zero_based, query_id=np.arange(200), comment="c")
        path = tmp_path / "data.svm"
        path.write_bytes(file.getvalue())
        batch = batch_of(file.getvalue())
        theirs, labels, qid = load_svmlight_file(str(path), query_id=True)
        assert (batch.rows.to_matrix() != theirs).nnz == 0
        assert batch.rows.to_matrix().shape == theirs.shape
        np.testing.assert_array_equal(batch.labels, labels)
        np.testing.assert_array_equal(batch.qid, qid)


LINES = st.lists(
    st.sampled_from(
        [
            b"1", b"-1.5", b"spam", b" ", b" ", b" ", b"\t", b"\r\n", b"\n", b"\n", b"#", b"qid:3",
            b"qid:", b"1:1", b"2:0.5", b"3:-1e3", b"0:1", b"7:nan", b"8:1e999", b"-1:2",
            b"99999999:5", b"12345678:1", b"4611686018427387904:1", b"4611686018427387905:1", b":",
            b"1", b"0", b".", b"e", b"+", b"-", b"\0", b"\xff", "ü".encode(), b"\xef\xbb\xbf", b",",
            b"inf", b"\x0b",
        ]
    ),
    max_size=40,
).map(b"".join)  # fmt: skip
ANY = st.one_of(
    LINES, st.binary(max_size=60), st.text(alphabet="01 :.#\n-eq", max_size=60).map(str.encode)
)


@given(
    ANY,
    st.sampled_from(["auto", 0, 1]),
    st.sampled_from([None, 3]),
    st.sampled_from(["auto", "number", "text"]),
    st.lists(st.integers(0, 100), max_size=4),
    st.booleans(),
)
def test_any_bytes_in_any_chunks_give_what_the_reference_gives(
    data, index_base, n_features, labels, cuts, skip
):
    options = {"index_base": index_base, "n_features": n_features, "labels": labels}
    expected, refused = reference.read(data, skip=skip, **options)
    cuts = [min(cut, len(data)) for cut in cuts]
    if refused and not skip:
        with pytest.raises(LineError) as error:
            read(data, cuts, **options)
        result = error.value.refused
        assert (result.line, result.kind) == refused[0]
        return
    if n_features is not None and any(n_features in columns for _, _, columns in expected):
        with pytest.raises(ValueError, match="counts columns from 0"):
            read(data, cuts, on_error="skip", **options)
        return
    rows, reader = read(data, cuts, on_error="skip", **options)
    assert [(each.line, each.kind) for each in reader.skipped.examples] == refused[:10]
    assert reader.skipped.count == len(refused)
    if any(isinstance(label, str) for label, _, _ in expected):
        assert all(isinstance(label, str) for label, _, _ in rows)
        rows = [
            (same_kind(row[0], theirs[0]), *row[1:])
            for row, theirs in zip(rows, expected, strict=True)
        ]
    assert rows == expected


def same_kind(label, theirs):
    return label if isinstance(theirs, str) else float(label)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("chunk", [7, 1 << 16, 1 << 30])
@pytest.mark.parametrize("line", [b"1:5 2:1\n", b"nan 1:1\n"])
def test_a_text_label_before_does_not_change_what_a_line_is(n_jobs, chunk, line):
    data = b"spam 1:1\n" + b"ham 1:1 2:2\n" * 50_000 + line
    cuts = range(chunk, min(len(data), 500 * chunk), chunk)
    with pytest.raises(LineError, match=r":50002:.* labels='text'"):
        read(data, cuts, n_jobs=n_jobs)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 9)), max_size=30),
    st.sampled_from(["number", "text"]),
)
def test_rows_taken_in_parts_between_pieces(sizes, steps, labels):
    lines = [
        f"{i} qid:{i} " + " ".join(f"{k + 1}:{i + k}" for k in range(n)) + "\n"
        for i, n in enumerate(sizes)
    ]
    data, result, offset = "".join(lines).encode(), [], 0
    reader = SvmlightReader(1, 9, labels=labels)
    for size, most in steps:
        reader.feed(data[offset : offset + size])
        offset += size
        batch = reader.take(most)
        result += [] if batch is None else as_tuples(batch)
    reader.feed(data[offset:])
    reader.finish()
    batch = reader.take()
    result += [] if batch is None else as_tuples(batch)
    assert result == read(data, index_base=1, n_features=9, labels=labels)[0]


MEMORY = """
import resource
from separable.data import scan
from separable.data.io.vw import VwReader

class Lines:
    left = 400
    def read(self, size=-1):
        self.left -= 1
        return b"1 1:0.5 2:0.25 7:3 9:1 11:4\\n" * 10_000 if self.left >= 0 else b""

most = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
"""


def megabytes(code):
    done = subprocess.run([sys.executable, "-c", MEMORY + code], capture_output=True, check=True)
    return int(done.stdout)


@pytest.mark.slow
def test_chunks_of_rows_do_not_pile_up():
    code = "before = most()\nfor chunk in scan(Lines(), format='svmlight', chunk_rows=7001): pass\n"
    assert megabytes(code + "print(most() - before)") < 180  # all rows are 300 MB


@pytest.mark.slow
def test_a_long_line_that_is_refused_takes_little_memory():
    code = "reader = VwReader(on_error='skip')\nbefore = most()\n"
    code += "reader.feed(b'1 |f ' + b'a' * 16_000_000 + b'\\0\\n')\nreader.finish()\n"
    assert megabytes(code + "print(most() - before)") < 400
