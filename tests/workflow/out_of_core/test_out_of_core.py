"""``train(..., out_of_core=True)``: the same models as in memory, after kills and damage too."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import separable
from separable import LogisticRegression, load
from separable.errors import InputError, OptionError
from separable.workflow.out_of_core import block_store, out_of_core_training
from separable.workflow.out_of_core.block_encoding import RowSplit
from separable.workflow.out_of_core.block_store import BlockStore

if TYPE_CHECKING:
    from pathlib import Path


def messy(n: int = 3000, seed: int = 0) -> pa.Table:
    """Return numbers, categories, a date, holes, and a target with a hole."""
    rng = np.random.default_rng(seed)
    age, city = rng.integers(18, 90, n), rng.integers(0, 5, n)
    z = 0.05 * (age - 50) + 0.4 * (city - 2) + rng.logistic(size=n)
    y = np.where(z > 0, "yes", "no").astype(object)
    y[7] = None
    spend: Any = rng.lognormal(3, 1, n).round(2).astype(object)
    spend[::50] = None
    return pa.table(
        {
            "age": age,
            "spend": pa.array(list(spend), pa.float64()),
            "city": [f"c{k}" for k in city],
            "pay": (20.0 * age + 5.0 * city + rng.standard_normal(n)).round(3),
            "y": pa.array(list(y), pa.string()),
        }
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Return a folder with two Parquet files."""
    table = messy()
    for number, start in enumerate((0, 1800)):
        part = table.slice(start, 1800 if number == 0 else None)
        pyarrow.parquet.write_table(part, tmp_path / f"part{number}.parquet")
    return tmp_path


def trained(files: Path, **options: Any) -> Any:
    return separable.train(f"{files}/*.parquet", "y", out_of_core=True, **options)


def test_the_model_is_that_of_all_rows_in_memory(files: Path) -> None:
    run = trained(files, drop="pay", model="logistic-regression", set={"C": 0.5})
    table = messy().drop_columns(["pay"])
    table = table.filter(table["y"].is_valid())
    other = LogisticRegression(C=0.5).fit(
        run.model.encoder.encode(table.drop_columns(["y"])), np.array(table["y"].to_pylist())
    )
    assert run.certificate.converged
    away = float(np.linalg.norm(run.model.weights - other.coef_))
    assert away <= run.certificate.distance + other.certificate_.distance
    assert (
        run.model.predict(table).tolist()
        == other.model_.predict(run.model.encoder.encode(table.drop_columns(["y"]))).tolist()
    )
    assert run.found.missing == 1


def test_the_encoder_has_seen_the_training_rows_only(files: Path) -> None:
    run = trained(files, model="lda")
    table = messy()
    train = ~RowSplit(0.25, 5).is_test(np.arange(len(table)))
    encoder = separable.TableEncoder().fit(table.filter(train).drop_columns(["y"]))
    expected = encoder.encode(table.drop_columns(["y"]))
    np.testing.assert_allclose(
        run.model.encoder.encode(table.drop_columns(["y"])).values, expected.values, rtol=1e-9
    )


def test_summary_json_and_file(files: Path, tmp_path: Path) -> None:
    run = trained(files, drop="pay")
    text = run.summary()
    for part in (
        "logistic-regression",
        "lda",
        "held-out rows",
        "certificate: relative duality gap",
        "age",
    ):
        assert part in text
    result = run.to_dict()
    assert result["certificate"]["converged"]
    assert 0.6 < result["test"]["accuracy"] < 0.9
    assert any("no curves" in note for note in result["notes"])
    run.save(tmp_path / "m.safetensors")
    table = messy()
    assert load(tmp_path / "m.safetensors").predict(table).tolist() == (
        run.model.predict(table).tolist()
    )
    assert "OutOfCoreRun" in repr(run)


def test_regression(files: Path) -> None:
    run = separable.train(f"{files}/*.parquet", "pay", drop="y", out_of_core=True)
    assert run.test["r2"] > 0.99  # type: ignore[union-attr,index]


def test_a_folder_of_blocks_is_used_again_and_damage_is_repaired(files: Path) -> None:
    cache = files / "cache"
    first = trained(files, drop="pay", model="lda", cache=str(cache))
    blocks = sorted(cache.glob("*-*.block"))
    whole = {path.name: path.read_bytes() for path in blocks}
    data = bytearray(whole[blocks[0].name])
    data[-3] ^= 1
    blocks[0].write_bytes(bytes(data))
    (cache / "end.block").unlink()
    blocks[-1].unlink()
    again = trained(files, drop="pay", model="lda", cache=str(cache))
    assert {path.name: path.read_bytes() for path in cache.glob("*-*.block")} == whole
    assert np.array_equal(first.model.weights, again.model.weights)


def test_changed_files_and_options_are_refused(files: Path) -> None:
    cache = files / "cache"
    trained(files, drop="pay", model="lda", cache=str(cache))
    with pytest.raises(OptionError, match="other data or options"):
        trained(files, model="lda", cache=str(cache))
    os.utime(files / "part0.parquet", (1, 1))
    with pytest.raises(OptionError, match="the files have changed"):
        trained(files, drop="pay", model="lda", cache=str(cache))


def test_a_folder_that_is_no_cache_is_left_alone(files: Path) -> None:
    with pytest.raises(OptionError, match="is not empty and no cache"):
        trained(files, cache=str(files))
    assert (files / "part0.parquet").exists()


def test_a_full_disk_is_said(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(block_store, "write_atomically", full)
    with pytest.raises(InputError, match=r"is full\. Free some space"):
        trained(files, cache=str(files / "cache"))


def test_blocks_that_do_not_fit_are_refused_before_they_are_written(tmp_path: Path) -> None:
    store = BlockStore(tmp_path / "cache", {})
    with pytest.raises(InputError, match="need about 1e"):
        store.check_space(10**18)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"curves": "yes"}, "needs all rows in memory"),
        ({"group": "city"}, "needs all rows in memory"),
        ({"model": "averaged-perceptron"}, "needs all rows in memory"),
        ({"test": "other.csv"}, "needs all rows in memory"),
        ({"model": "ridge", "task": "classification"}, "ridge is for regression"),
    ],
)
def test_what_needs_memory_is_refused(files: Path, options: Any, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        trained(files, **options)


def test_tables_in_memory_and_missing_columns_are_refused(files: Path) -> None:
    with pytest.raises(OptionError, match="Name a file"):
        separable.train(messy(), "y", out_of_core=True)
    with pytest.raises(InputError, match="nothing"):
        separable.train(f"{files}/*.parquet", "nothing", out_of_core=True)


def test_size_decides(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_core_training, "available_bytes", lambda: 1000)
    run = separable.train(f"{files}/*.parquet", "y", drop="pay", model="lda")
    assert any("too large for memory" in str(note) for note in run.notes)
    run = separable.train(f"{files}/*.parquet", "y", model="lda", out_of_core=False)
    assert type(run).__name__ == "TrainingRun"


def test_threads_change_no_bit(files: Path) -> None:
    one, two = (trained(files, drop="pay", model="logistic-regression", threads=k) for k in (1, 3))
    assert np.array_equal(one.model.weights, two.model.weights)


COMMAND = (
    "import sys, separable; from separable.data.io.csv import records\n"
    "separable.train(sys.argv[1], 'y', model='logistic-regression', out_of_core=True,"
    " cache=sys.argv[2]).save(sys.argv[3])"
)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_killed_process_continues_to_the_same_bytes(tmp_path: Path) -> None:
    pyarrow.csv.write_csv(messy(100_000), tmp_path / "big.csv")

    def command(cache: str, output: str) -> list[str]:
        data = str(tmp_path / "big.csv")
        return [sys.executable, "-c", COMMAND, data, str(tmp_path / cache), str(tmp_path / output)]

    start = time.monotonic()
    subprocess.run(command("whole", "whole.safetensors"), check=True)
    seconds = time.monotonic() - start
    for moment in np.linspace(0.15, 0.95, 10):
        with subprocess.Popen(command("killed", "killed.safetensors")) as process:
            time.sleep(seconds * moment)
            process.send_signal(signal.SIGKILL)
    subprocess.run(command("killed", "killed.safetensors"), check=True)
    whole, killed = (
        (tmp_path / f"{name}.safetensors").read_bytes() for name in ("whole", "killed")
    )
    assert whole == killed
