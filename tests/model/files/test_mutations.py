"""Truncated, flipped, mutated and forged files: a clean error or an equal model, nothing else."""

from __future__ import annotations

import random
import warnings
from typing import TYPE_CHECKING

import numpy as np
import pytest

from separable.model.files.model_file import ModelFileError, load
from tests.model.mutations import MUTATIONS, judge
from tests.model.specimens import specimens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from separable.model.kinds import Model

MADE = specimens()
#: Small ones of every kind of part: tensors, texts, state, votes, each encoder.
FLIPPED = ["plain, names", "plain, values", "votes, sparse float32"]
#: A round takes one mutation of each kind of each specimen.
ROUNDS, LONG_ROUNDS = 4, 310


def file_of(model: Model, path: Path) -> bytes:
    model.save(path, include_state=model.state is not None)
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("name", FLIPPED)
def test_cut_at_every_byte(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m"
    good = file_of(MADE[name]().model, path)
    for size in range(len(good)):
        path.write_bytes(good[:size])
        with pytest.raises(ModelFileError, match="Cannot load"):
            load(path)


def flip(name: str, path: Path, bits: Callable[[int], Iterable[int]]) -> None:
    """Flip some bits of each byte, one at a time."""
    good = file_of(MADE[name]().model, path)
    for place in range(len(good)):
        for bit in bits(place):
            flipped = bytearray(good)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            with pytest.raises(ModelFileError, match="Cannot load"):
                load(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FLIPPED[:1])
def test_flip_of_a_bit_of_every_byte(name: str, tmp_path: Path) -> None:
    flip(name, tmp_path / "m", lambda place: [place % 8])


@pytest.mark.long
@pytest.mark.parametrize("name", ["text, pairs", "table, all", "one-hot, objects", *FLIPPED])
def test_flip_of_every_bit(name: str, tmp_path: Path) -> None:
    flip(name, tmp_path / "m", lambda _: range(8))


def mutate(name: str, rounds: int, path: Path) -> dict[str, int]:
    """Judge mutations of one specimen; return what became of them."""
    specimen = MADE[name]()
    good = file_of(specimen.model, path)
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
