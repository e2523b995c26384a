from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separable.data.strings import (
    ChainedTexts,
    DeferredTexts,
    PackedTexts,
    PrefixedTexts,
    RepeatedText,
    groups_of,
    pack_strings,
    unpack_strings,
)

if TYPE_CHECKING:
    from separable.data.strings import LazyTexts

texts = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=6), max_size=6)


def packed(given: list[str]) -> PackedTexts:
    return PackedTexts(*pack_strings(given))


def alike(lazy: LazyTexts, plain: tuple[str, ...]) -> None:
    assert lazy == plain
    assert plain == lazy
    assert hash(lazy) == hash(plain)
    assert repr(lazy) == repr(plain)
    assert list(lazy) == list(plain)
    assert len(lazy) == len(plain)
    assert lazy[1:] == plain[1:]
    assert lazy[::-2] == plain[::-2]
    assert [lazy[i] for i in range(-len(plain), len(plain))] == [*plain, *plain]
    assert lazy != (*plain, "more")
    assert lazy != 3
    assert pickle.loads(pickle.dumps(lazy)) == plain
    assert np.array(lazy, dtype=object).tolist() == list(plain)
    for place in (len(plain), -len(plain) - 1):
        with pytest.raises(
            IndexError, match=f"index {place} is out of range for {len(plain)} texts"
        ):
            lazy[place]


@given(texts, texts)
def test_lazy_texts_are_tuples_to_all_who_look(some: list[str], more: list[str]) -> None:
    alike(packed(some), tuple(some))
    alike(unpack_strings(*pack_strings(some), "them"), tuple(some))
    alike(PrefixedTexts("日:", packed(some)), tuple(f"日:{each}" for each in some))
    alike(ChainedTexts([packed(some), tuple(more), packed(some)]), (*some, *more, *some))
    alike(RepeatedText("a", len(some)), ("a",) * len(some))
    alike(DeferredTexts(len(some), lambda: some), tuple(some))
    assert (packed(some) == packed(more)) == (some == more)
    first = next(iter(pack_strings(packed(some))))
    assert bytes(first) == "".join(some).encode()


@given(texts, st.data())
def test_a_part_is_a_slice(some: list[str], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(some)))
    start = data.draw(st.integers(0, stop))
    assert packed(some).part(start, stop) == tuple(some[start:stop])


def test_many_are_not_all_shown() -> None:
    shown = repr(packed([f"w{place}" for place in range(100_000)]))
    assert shown.startswith("('w0', 'w1', ")
    assert shown.endswith("'w15', ... 100000 texts)")


def test_chunks_come_one_after_the_other() -> None:
    many = [f"é{place}" if place % 3 else "" for place in range(40_000)]
    assert list(packed(many)) == many


def test_groups_are_numbered_by_first_place() -> None:
    chained = ChainedTexts([RepeatedText("b", 2), ("a", "b"), RepeatedText("c", 1)])
    names, codes = groups_of(chained)
    assert names == ("b", "a", "c")
    assert codes.tolist() == [0, 0, 1, 0, 2]
    assert groups_of(("x", "y", "x"))[1].tolist() == [0, 1, 0]


def test_texts_that_end_inside_a_character_are_refused() -> None:
    letters = np.frombuffer("é".encode(), np.uint8)
    with pytest.raises(ValueError, match=r"not UTF-8 .a text ends inside a character"):
        unpack_strings(letters, np.array([0, 1, 2]), "them")
    with pytest.raises(ValueError, match="not UTF-8"):
        unpack_strings(letters[:1], np.array([0, 1]), "them")
