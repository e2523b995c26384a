"""Truncated, flipped, mutated and forged files: a clean error or an equal model, nothing else."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from separable.model.file import ModelFileError, load
from tests.model.mutations import MUTATIONS, judge
from tests.model.specimens import specimens

if TYPE_CHECKING:
    from pathlib import Path

MADE = specimens()
#: Small ones of every kind of part: tensors, texts, state, votes, each encoder.
FLIPPED = ["plain, names", "plain, values", "votes, sparse float32"]
#: A round takes one mutation of each kind of each specimen.
ROUNDS, LONG_ROUNDS = 10, 310


def file_of(name: str, path: Path) -> bytes:
    model = MADE[name]().model
    model.save(path, include_state=model.state is not None)
    return path.read_bytes()


@pytest.mark.parametrize("name", FLIPPED)
def test_cut_at_every_byte(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    good = file_of(name, path)
    for size in range(len(good)):
        path.write_bytes(good[:size])
        with pytest.raises(ModelFileError, match="Cannot load"):
            load(path)


def flip_all(name: str, path: Path) -> None:
    good = file_of(name, path)
    for place in range(len(good)):
        for bit in range(8):
            flipped = bytearray(good)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            with pytest.raises(ModelFileError, match="Cannot load"):
                load(path)


@pytest.mark.parametrize("name", FLIPPED[:1])
def test_flip_of_every_bit(name: str, tmp_path: Path) -> None:
    flip_all(name, tmp_path / "m")


@pytest.mark.long
@pytest.mark.parametrize("name", ["text, pairs", "table, all", "one-hot, objects", *FLIPPED[1:]])
def test_flip_of_every_bit_of_more(name: str, tmp_path: Path) -> None:
    flip_all(name, tmp_path / "m")


def mutate(name: str, rounds: int, path: Path) -> dict[str, int]:
    """Judge mutations of one specimen; return what became of them."""
    specimen, good = MADE[name](), file_of(name, path)
    counts = dict.fromkeys(("refused", "equal", "forged"), 0)
    for number in range(rounds):
        for kind, mutation in MUTATIONS.items():
            seed = f"{name}, {kind}, {number}"
            data = mutation(random.Random(seed), good)
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    counts[judge(specimen, good, data, kind, path)] += 1
                except Exception as error:
                    raise AssertionError(f"mutation {seed!r}: {error!r}") from error
    return counts


@pytest.mark.parametrize("name", MADE)
def test_mutated_files(name: str, tmp_path: Path) -> None:
    mutate(name, ROUNDS, tmp_path / "m")


@pytest.mark.long
@pytest.mark.parametrize("name", MADE)
def test_many_mutated_files(name: str, tmp_path: Path) -> None:
    counts = mutate(name, LONG_ROUNDS, tmp_path / "m")
    assert counts["refused"] > LONG_ROUNDS
