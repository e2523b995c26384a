"""Named arrays and lists of text, as tensors of a file and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from separable.data.strings import pack_strings, unpack_strings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from separable.data.lazy_texts import PackedTexts

__all__ = ["pack_parts", "unpack_parts"]

UTF8, OFFSETS = ":utf8", ":offsets"


def pack_parts(parts: Mapping[str, Any], prefix: str = "") -> dict[str, NDArray[Any]]:
    """Return the tensors for arrays (one each) and sequences of text (two each)."""
    tensors: dict[str, NDArray[Any]] = {}
    for name, part in parts.items():
        if ":" in name or not name:
            raise ValueError(
                f"{prefix}{name} cannot be saved: a name may not be empty or hold ':'."
            )
        if isinstance(part, np.ndarray):
            tensors[prefix + name] = part
        else:
            tensors[prefix + name + UTF8], tensors[prefix + name + OFFSETS] = pack_strings(part)
    return tensors


def unpack_parts(
    tensors: Mapping[str, NDArray[Any]], prefix: str = ""
) -> dict[str, NDArray[Any] | PackedTexts]:
    """Return the arrays and sequences of text whose tensors' names start with ``prefix``."""
    parts: dict[str, NDArray[Any] | PackedTexts] = {}
    for full in sorted(tensors):
        if not full.startswith(prefix):
            continue
        name, colon, _ = full.removeprefix(prefix).partition(":")
        if not colon:
            parts[name] = tensors[full]
        elif full != prefix + name + UTF8 and full != prefix + name + OFFSETS:
            raise ValueError(f"the tensor {full!r:.80} is not known")
        elif prefix + name in tensors:
            raise ValueError(f"{prefix + name!r:.80} is there both as numbers and as text")
        else:
            pair = [tensors.get(prefix + name + end) for end in (UTF8, OFFSETS)]
            if pair[0] is None or pair[1] is None:
                raise ValueError(f"the text {prefix + name!r:.80} lacks one of its two tensors")
            parts[name] = unpack_strings(pair[0], pair[1], repr(prefix + name)[:80])
    return parts
