"""Vowpal Wabbit text, line by line, with regular expressions and Python's own numbers."""

from __future__ import annotations

import re

BLANK = rb"[ \t\r\v\f]"
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
NO_NUMBER = re.compile(rb"[+-]?(nan|inf|infinity)", re.IGNORECASE)
INFINITY = float("inf")


class RefusedError(Exception):
    pass


def read(data, skip=False):
    """Return rows [(label, weight, base, tag, {name: value})] and [(line, kind)] refused."""
    rows, refused = [], []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        line = re.sub(BLANK, b" ", line).strip(b" ")
        if not line:
            continue
        try:
            rows.append(read_line(line))
        except RefusedError as reason:
            refused.append((number, str(reason)))
            if not skip:
                break
    return rows, refused


def read_line(line):
    head, bar, rest = line.partition(b"|")
    words = [word for word in head.split(b" ") if word]
    refuse(not bar, words[0] if words else b"", "bar_missing")
    tag = b""
    if words and (head.endswith(words[-1]) or words[-1].startswith(b"'")):
        tag = words.pop()
    refuse(len(words) > 3, words[3] if len(words) > 3 else b"", "words_too_many")
    label, weight, base = read_head(words)
    refuse(b"\0" in tag, tag, "nul_byte")
    tag = decoded(tag.removeprefix(b"'") if tag.startswith(b"'") else tag)
    features = {}
    for part in rest.split(b"|"):
        read_namespace(part, features)
    return label, weight, base, tag, features


def read_head(words):
    label, weight, base = None, 1.0, 0.0
    if words:
        word = words[0]
        if NO_NUMBER.fullmatch(word) or (NUMBER.fullmatch(word) and abs(float(word)) == INFINITY):
            raise RefusedError("label_not_finite")
        refuse(not NUMBER.fullmatch(word), word, "label_malformed")
        label = float(word)
    if len(words) > 1:
        weight = finite(words[1], "weight_malformed")
        refuse(weight < 0, words[1], "weight_negative")
    if len(words) > 2:
        base = finite(words[2], "base_malformed")
    return label, weight, base


def finite(word, kind):
    refuse(not NUMBER.fullmatch(word) or abs(float(word)) == INFINITY, word, kind)
    return float(word)


def read_namespace(part, features):
    first, *words = part.split(b" ")
    name, colon, scale_text = first.partition(b":")
    refuse(b"\0" in name, name, "nul_byte")
    refuse(colon and not name, first, "namespace_missing")
    scale = number(scale_text, "scale_malformed") if colon else 1.0
    prefix = decoded(name) + "^" if name else ""
    nameless = 0
    for word in words:
        if not word:
            continue
        feature, colon, text = word.partition(b":")
        refuse(b"\0" in feature, word, "nul_byte")
        value = scale * (number(text, "value_malformed") if colon else 1.0)
        if not feature:
            feature, nameless = str(nameless).encode(), nameless + 1
        full = prefix + decoded(feature)
        features[full] = features[full] + value if full in features else value
        refuse(abs(features[full]) == INFINITY, word, "value_too_large")


def number(text, malformed):
    refuse(NO_NUMBER.fullmatch(text), text, "value_not_finite")
    refuse(not NUMBER.fullmatch(text), text, malformed)
    refuse(abs(float(text)) == INFINITY, text, "value_too_large")
    return float(text)


def decoded(name):
    try:
        return name.decode()
    except UnicodeDecodeError:
        raise RefusedError("not_utf8") from None


def refuse(when, word, kind):
    if when:
        raise RefusedError("nul_byte" if b"\0" in word else kind)


def murmur(name, seed):
    """MurmurHash3 of 32 bits."""
    low, h = 0xFFFFFFFF, seed & 0xFFFFFFFF
    padded = name + bytes(-len(name) % 4)
    for start in range(0, len(padded), 4):
        k = int.from_bytes(padded[start : start + 4], "little") * 0xCC9E2D51 & low
        h ^= ((k << 15 | k >> 17) & low) * 0x1B873593 & low
        if start + 4 <= len(name):
            h = ((h << 13 | h >> 19) & low) * 5 + 0xE6546B64 & low
    h ^= len(name)
    h = (h ^ h >> 16) * 0x85EBCA6B & low
    h = (h ^ h >> 13) * 0xC2B2AE35 & low
    return h ^ h >> 16


def vowpal_hash(name, seed):
    """Vowpal Wabbit's number of a name: of digits, the number itself."""
    digits = re.fullmatch(rb"[0-9]*", name)
    return (int(name or b"0") if digits else murmur(name, seed) - seed) + seed
