"""The benchmarks run: tiny sizes through the same code, nothing about time is asserted."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def benchmarks_importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def tiny(benchmarks_importable):
    from benchmarks.settings import QUICK

    return replace(
        QUICK,
        repeats=2,
        slow_repeats=1,
        epochs=2,
        zipf_rows=300,
        zipf_features=500,
        most_rows=200,
        copy_bytes=1 << 16,
        calls=5,
        starts=1,
    )


def measured(name, seconds, epochs=10, accuracy=0.9):
    from benchmarks.harness import Measure

    n = len(seconds)
    return Measure(
        name, 100, 6000, seconds, seconds, [epochs] * n, [accuracy] * n, [accuracy] * n, 1 << 20
    )


# ------------------------------------------------------------------ whole rows


def test_rows_that_need_no_file_run_and_leave_numbers(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["zipf", "classes-zipf", "one-row"], tiny)
    printed = capsys.readouterr().out
    assert "## All figures" in printed
    assert "no target is judged" in printed
    json.dumps(report)
    first = report["rows"]["zipf"][0]
    names = [measure["name"] for measure in first["measures"]]
    assert names[:2] == ["separable float32", "scikit-learn float32"]
    for measure in first["measures"][:3]:
        assert measure["epochs"] == [2, 2]
        assert len(measure["seconds"]) == tiny.repeats
        assert all(0.4 < accuracy <= 1 for accuracy in measure["train_accuracy"])


def test_dense_classes_and_the_limit_run_on_small_data(tiny, capsys, monkeypatch):
    from benchmarks import digits, limit
    from benchmarks.datasets import Data

    rng = np.random.default_rng(0)
    X = rng.random((90, 12), dtype=np.float32)
    y = X[:, :3].argmax(axis=1)
    section = digits.run_on(Data("noise", X[:60], y[:60], X[60:], y[60:]), tiny)
    in_order = section.raw[1]["measures"]
    assert in_order[0]["test_accuracy"] == in_order[1]["test_accuracy"]
    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    section = limit.run_limit(tiny)
    assert [line.data for line in section.lines] == ["Zipf", "Zipf"]
    assert "for the generated set only" in capsys.readouterr().out


def test_votes_are_measured_by_the_block(tiny, capsys):
    from benchmarks import voted
    from benchmarks.datasets import make_zipf

    section = voted.run_on(make_zipf(tiny), tiny)
    raw = section.raw[0]
    blocks = raw["seconds"]["votes"] / raw["blocks"] / raw["seconds"]["mean"]
    assert section.lines[0].value == pytest.approx(blocks)
    assert section.lines[0].verdict == "not judged"
    assert "rows/s" in capsys.readouterr().out


def test_without_intercept_and_shuffling_both_sides_learn_the_same_weights(tiny):
    from benchmarks.datasets import make_zipf
    from benchmarks.sparse_text import contests

    data = make_zipf(tiny)
    contest = next(c for c in contests(3) if "no intercept" in c.what)
    with pytest.warns(match="stopped after 3 epochs"):
        ours = contest.ours(0).fit(data.X, data.y)
    peer = contest.peer(0).fit(data.X, data.y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-4)


def test_rows_without_their_file_are_skipped_aloud(tiny, capsys, monkeypatch):
    from benchmarks.command import run_rows

    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    report = run_rows(["imdb", "mnist"], tiny)
    printed = capsys.readouterr().out
    assert "SKIPPED imdb: SEPARABLE_DATA is not set" in printed
    assert "Skipped for want of data: imdb, mnist." in printed
    assert set(report["rows"]["mnist"]) == {"skipped"}


def test_a_folder_without_the_file_is_named(tiny, tmp_path, monkeypatch):
    from benchmarks.datasets import MissingDataError, load_mnist

    monkeypatch.setenv("SEPARABLE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"holds no mnist/train-images-idx3-ubyte\.gz"):
        load_mnist(tiny)


def test_an_unknown_row_is_refused(capsys):
    from benchmarks.command import run

    with pytest.raises(SystemExit):
        run(["speed-of-light"])
    assert "no row 'speed-of-light'; choose from imdb, zipf" in capsys.readouterr().err


# ------------------------------------------------------------------ data


def test_generated_set_is_the_same_each_time_and_has_its_shape(tiny):
    from benchmarks.datasets import make_zipf

    one, two = make_zipf(tiny), make_zipf(tiny)
    assert one.X.shape == (300, 500)
    assert one.X_test.shape == (60, 500)
    assert one.X.dtype == np.float32
    assert (one.X != two.X).nnz == 0
    np.testing.assert_array_equal(one.y, two.y)
    assert 50 < one.nonzeros / 300 < 70
    assert 0.3 < one.y.mean() < 0.7
    np.testing.assert_allclose(sp.linalg.norm(one.X, axis=1), 1, rtol=1e-5)


def test_planted_classes_all_occur(tiny):
    from benchmarks.datasets import make_zipf, with_classes

    data = with_classes(make_zipf(tiny), 16)
    assert set(data.y) == set(range(16))
    assert data.y_test.max() < 16


def test_digit_files_are_read_as_written(tmp_path):
    from benchmarks.datasets import read_idx

    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    header = b"\x00\x00\x08\x03" + np.array(images.shape, dtype=">u4").tobytes()
    good, bad = tmp_path / "good.gz", tmp_path / "bad.gz"
    good.write_bytes(gzip.compress(header + images.tobytes()))
    bad.write_bytes(gzip.compress(b"\x00\x00\x0d\x01abcd"))
    np.testing.assert_array_equal(read_idx(good), images)
    with pytest.raises(ValueError, match=r"bad\.gz is not an IDX file of bytes"):
        read_idx(bad)


# ------------------------------------------------------------------ judging


def test_ratio_is_of_medians_and_by_epoch_where_epochs_differ():
    ours, peer = measured("ours", [1.0, 2.0, 9.0]), measured("peer", [5.0, 6.0, 7.0])
    assert ours.ratio_to(peer) == 3
    assert ours.ratio_to(measured("peer", [6.0, 6.0, 6.0], epochs=20)) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("peer_seconds", "peer_accuracy", "verdict"),
    [
        (4.0, [0.9], "met"),
        (3.9, [0.9], "missed"),
        (40.0, [0.92], "does not count: less accurate"),
        (40.0, [0.905, 0.93, 0.89], "met"),
    ],
)
def test_a_fast_but_worse_model_does_not_count(peer_seconds, peer_accuracy, verdict):
    from benchmarks.report import compare

    peer = measured("peer", [peer_seconds] * len(peer_accuracy))
    peer.test_accuracy = peer_accuracy
    line = compare("row", "what", "data", measured("ours", [1.0]), peer, target=4, judged=True)
    assert line.verdict == verdict
    assert line.cells()[-2:] == [">= 4 x", verdict]


def test_runs_take_turns_and_the_first_place_goes_round():
    from benchmarks.harness import interleave

    seen = []
    runs = [lambda turn, k=k: lambda: (k, turn) for k in "ab"]
    times = interleave(runs, 3, lambda which, answer: seen.append((which, *answer)))
    assert seen == [(0, "a", 0), (1, "b", 0), (1, "b", 1), (0, "a", 1), (0, "a", 2), (1, "b", 2)]
    assert [len(run) for run in times] == [3, 3]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_peak_memory_sees_an_array_that_is_gone_again():
    from benchmarks.harness import peak_growth

    def work():
        np.ones(8 << 20).sum()

    assert 60 << 20 < peak_growth(work) < 100 << 20
    assert peak_growth(lambda: None) < 8 << 20


def test_a_failure_in_the_memory_process_is_told():
    from benchmarks.harness import peak_growth

    if not Path("/proc/self/status").exists():
        pytest.skip("the system does not tell")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        peak_growth(lambda: 1 // 0)


def test_streamed_bytes_are_values_columns_and_starts():
    from benchmarks.datasets import Data
    from benchmarks.limit import streamed_bytes

    X = sp.csr_matrix(np.eye(3, dtype=np.float32))
    y = np.zeros(3)
    assert streamed_bytes(Data("eye", X, y, X, y)) == 3 * 4 + 3 * 4 + 4 * 4
