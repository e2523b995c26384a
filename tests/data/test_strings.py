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
    for index in (len(plain), -len(plain) - 1):
        with pytest.raises(
            IndexError, match=f"index {index} is out of range for {len(plain)} texts"
        ):
            lazy[index]


@given(texts, texts)
def test_lazy_texts_are_tuples_to_all_who_look(values: list[str], more: list[str]) -> None:
    alike(packed(values), tuple(values))
    alike(unpack_strings(*pack_strings(values), "them"), tuple(values))
    alike(PrefixedTexts("日:", packed(values)), tuple(f"日:{each}" for each in values))
    alike(ChainedTexts([packed(values), tuple(more), packed(values)]), (*values, *more, *values))
    alike(RepeatedText("a", len(values)), ("a",) * len(values))
    alike(DeferredTexts(len(values), lambda: values), tuple(values))
    assert (packed(values) == packed(more)) == (values == more)
    first = next(iter(pack_strings(packed(values))))
    assert bytes(first) == "".join(values).encode()


@given(texts, st.data())
def test_a_part_is_a_slice(values: list[str], data: st.DataObject) -> None:
    stop = data.draw(st.integers(0, len(values)))
    start = data.draw(st.integers(0, stop))
    assert packed(values).part(start, stop) == tuple(values[start:stop])


def test_many_are_not_all_shown() -> None:
    shown = repr(packed([f"w{index}" for index in range(100_000)]))
    assert shown.startswith("('w0', 'w1', ")
    assert shown.endswith("'w15', ... 100000 texts)")


def test_chunks_come_one_after_the_other() -> None:
    many = [f"é{index}" if index % 3 else "" for index in range(40_000)]
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
