"""Files that are not models, or were tampered with: a clear ModelFileError, nothing else."""

from __future__ import annotations

import json
import os
import random
import resource
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from safetensors.numpy import save as safetensors_bytes

from separable import load
from separable.model.files.container import close_container, open_container
from separable.model.files.model_file import ModelFileError
from separable.model.linear_model import LinearModel, TrainingState

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    model = LinearModel(
        [[4, 2]], [-3], ["ham", "spam"], "score", ["free", "money"],
        learner="Perceptron", family="online", evidence={"rows_seen": 12, "margin": None},
        parameters={"eta": 1.0, "text": "é\x1f"},
        state=TrainingState({"sum": np.ones((1, 2))}, {"t": 5}),
    )  # fmt: skip
    model.save(tmp_path / "good", include_state=True)
    return (tmp_path / "good").read_bytes()


def parts(data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    text, tensors = open_container(data)
    document = json.loads(text)
    del document["sha256"]
    return document, dict(tensors)


def sealed(document: Any, tensors: dict[str, np.ndarray]) -> bytes:
    """A file whose hash is right whatever its content: what a hostile writer can make."""
    return close_container(json.dumps(document, separators=(",", ":")).encode(), tensors)


def refused(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "hostile"
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(f"Cannot load {str(path)!r}: ")


def test_the_helpers_make_a_good_file(tmp_path: Path, good: bytes) -> None:
    (tmp_path / "again").write_bytes(sealed(*parts(good)))
    assert load(tmp_path / "again").weights.tolist() == [[4, 2]]


def raw(header: bytes, body: bytes = b"") -> bytes:
    return len(header).to_bytes(8, "little") + header + body


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b"{}", "only 2 bytes"),
        (b"\x80\x04\x95 a pickle or anything else", "it is not a safetensors file"),
        (b"a,b,c\n1,2,3\n" * 10, "it is not a safetensors file"),
        (b"\xff" * 8 + b"{" + b" " * 50, "its header claims 18446744073709551615 bytes and 51 are"),
        (raw(b"{not json at all}"), "its header cannot be read"),
        (
            raw(b'{"__metadata__":{"separable":3}}'),
            "its header cannot be read.*Expected `str`, got `int`",
        ),
        (raw(b'{"__metadata__":' + b'{"a":' * 50_000), "its header cannot be read"),
        (raw(b'{"a":' + b"[" * 200_000 + b"}"), "its header cannot be read"),
        (raw(b'{"__metadata__":{"separable":"\xff"}}'), "its header cannot be read"),
        (raw(b'{"__metadata__":\n{}}'), "line breaks or tabs"),
        (raw(b'{"__metadata__":{}}'), "not one that separable wrote"),
        (raw(b"{}        "), "not one that separable wrote"),
        (safetensors_bytes({"w": np.ones(3)}, {"format": "pt"}), "not one that separable wrote"),
        (safetensors_bytes({"w": np.ones(3)}, {"separable": "{}", "b": ""}), "and no other"),
        (
            safetensors_bytes({"w": np.ones(3)}, {"separable": "{}"}),
            "missing required field `format`",
        ),
        (
            safetensors_bytes({"w": np.ones(3)}, {"separable": "[" * 100_000}),
            "document cannot be read",
        ),
        (
            raw(
                b'{"__metadata__":{"separable":"{}"},"w":{"dtype":"F64","shape":[1152921504606846976,64],"data_offsets":[0,8]}}',
                b"\0" * 8,
            ),
            "its tensors cannot be read",
        ),
        (
            raw(
                b'{"__metadata__":{"separable":"{}"},"w":{"dtype":"F64","shape":[9000000000],"data_offsets":[0,72000000000]}}',
                b"\0" * 8,
            ),
            "its tensors cannot be read",
        ),
        (
            raw(
                b'{"__metadata__":{"separable":"{}"},"w":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}',
                b"\0" * 8,
            ),
            "its tensors cannot be read|dtype",
        ),
        (
            raw(
                b'{"__metadata__":{"separable":"{}"},"w":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]}}',
                b"\0\x07",
            ),
            "bytes other than 0 and 1",
        ),
    ],
    ids=lambda each: f"{len(each)} bytes" if isinstance(each, bytes) else None,
)
def test_not_a_model_file(tmp_path: Path, data: bytes, message: str) -> None:
    refused(tmp_path, data, message)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no model file .*nowhere.*Check the path"):
        load(tmp_path / "nowhere")
    with pytest.raises(ModelFileError, match="it is a folder"):
        load(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path / "pipe")


Change = Callable[[dict[str, Any], dict[str, np.ndarray]], object]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d, t: d.update(format="other"), "its format is 'other', not 'separable'"),
        (
            lambda d, t: d.update(format_version=3),
            "version 3 and this separable reads up to 2. Upgrade separable",
        ),
        (lambda d, t: d.update(format_version=0), "there is none below 1"),
        (lambda d, t: d.update(format_version="1"), "Expected `int`, got `str`"),
        (lambda d, t: d.update(format_version=1.0), "Expected `int`, got `float`"),
        (lambda d, t: d.update(link="probit"), "Invalid enum value 'probit'"),
        (lambda d, t: d.update(family="other"), "Invalid enum value 'other'"),
        (lambda d, t: d.update(learner=None), "Expected `str`, got `null` - at `\\$.learner`"),
        (lambda d, t: d.update(parameters=[]), "Expected `object`, got `array`"),
        (lambda d, t: d.update(surprise=1), "unknown field `surprise`"),
        (lambda d, t: d.pop("evidence"), "missing required field `evidence`"),
        (lambda d, t: d.update(evidence={"x": {"__float__": "1e5"}}), "must be nan, inf or -inf"),
        (lambda d, t: d.update(evidence={"x": {"__float__": []}}), "must be nan, inf or -inf"),
        (
            lambda d, t: d.update(evidence=json.loads('{"x":' * 90 + "1" + "}" * 90)),
            "nested more than 64",
        ),
        (
            lambda d, t: d.update(encoder={"kind": "magic", "values": {}}),
            "(?i)unknown encoder 'magic'",
        ),
        (lambda d, t: d.update(encoder={"kind": "table"}), "missing required field `values`"),
        (lambda d, t: d.update(encoder={"kind": "table", "values": {}}), "Cannot load"),
        (lambda d, t: d.update(state=None), "has the tensor 'state/sum' and no state"),
        (
            lambda d, t: t.update(
                {"state/a:utf8": np.zeros(0, np.uint8), "state/a:offsets": np.zeros(1, np.int64)}
            ),
            "must be numbers, not text",
        ),
        (
            lambda d, t: t.update({"encoder/x": np.ones(1)}),
            "has the tensor 'encoder/x' and no encoder",
        ),
        (lambda d, t: t.pop("weights"), "it has no tensor 'weights'"),
        (lambda d, t: t.pop("intercept"), "it has no tensor 'intercept'"),
        (lambda d, t: t.pop("classes:offsets"), "'classes' lacks one of its two tensors"),
        (lambda d, t: (t.pop("classes:offsets"), t.pop("classes:utf8")), "'score' without classes"),
        (lambda d, t: t.update(extra=np.ones(1)), "unknown tensor, 'extra'"),
        (lambda d, t: t.update({"weights:odd": np.ones(1)}), "'weights:odd' is not known"),
        (
            lambda d, t: t.update(weights=np.ones((1, 2), np.float32)),
            "'weights' must be float64, not float32",
        ),
        (lambda d, t: t.update(weights=np.ones(2)), r"weights must have shape \(k, d\)"),
        (lambda d, t: t.update(weights=np.ones((3, 2))), "one number for each of 3 rows"),
        (lambda d, t: t.update(weights=np.ones((1, 3))), "one name for each of 3 features. Got 2"),
        (lambda d, t: t.update(weights=np.array([[1, np.nan]])), "weights must be finite"),
        (lambda d, t: t.update(intercept=np.array([np.inf])), "intercept must be finite"),
        (
            lambda d, t: t.update(feature_names=np.ones(2)),
            "'feature_names' is there both as numbers and as text",
        ),
        (
            lambda d, t: (
                t.pop("feature_names:utf8"),
                t.pop("feature_names:offsets"),
                t.update(feature_names=np.ones(2)),
            ),
            "feature names must be text",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.array([0, 12, 9])}),
            "must increase from 0 to 9",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.array([0, -4, 9])}),
            "must increase from 0 to 9",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.array([0, 4, 2**62])}),
            "must increase from 0 to 9",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.array([1, 4, 9])}),
            "must increase from 0 to 9",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.array([0.0, 4, 9])}),
            "must be a 1D array of int64, not float64",
        ),
        (
            lambda d, t: t.update({"feature_names:offsets": np.zeros(0, np.int64)}),
            "must be a 1D array of int64",
        ),
        (
            lambda d, t: t.update({"feature_names:utf8": np.full(9, 0xFF, np.uint8)}),
            "bytes that are not UTF-8",
        ),
        (
            lambda d, t: t.update({"feature_names:utf8": np.ones((3, 3), np.uint8)}),
            "must be a 1D array of uint8",
        ),
        (
            lambda d, t: t.update(
                {
                    "classes:utf8": np.frombuffer(b"spamham", np.uint8),
                    "classes:offsets": np.array([0, 4, 7]),
                }
            ),
            "sorted and unique",
        ),
        (
            lambda d, t: t.update({"classes:utf8": np.frombuffer(b"\xed\xa0\x80aaaa", np.uint8)}),
            "bytes that are not UTF-8",
        ),
    ],
)
def test_tampered_and_sealed_again(
    tmp_path: Path, good: bytes, change: Change, message: str
) -> None:
    document, tensors = parts(good)
    change(document, tensors)
    refused(tmp_path, sealed(document, tensors), message)


def test_document_nested_beyond_the_stack(tmp_path: Path, good: bytes) -> None:
    document, tensors = parts(good)
    text = json.dumps(document | {"evidence": {"x": "HERE"}}).replace(
        '"HERE"', "[" * 50_000 + "]" * 50_000
    )
    refused(tmp_path, close_container(text.encode(), tensors), "document cannot be read")


def test_hash_is_over_everything(tmp_path: Path, good: bytes) -> None:
    refused(tmp_path, good.replace(b"Perceptron", b"PerceptroN"), "does not match its SHA-256")
    refused(
        tmp_path, good[:-1] + bytes([good[-1] ^ 1]), "does not match its SHA-256|cannot be read"
    )
    refused(tmp_path, good.replace(b"sha256", b"sha255"), "does not end in a SHA-256")
    refused(tmp_path, good.replace(b'"state/sum"', b'"state/smu"'), "does not match its SHA-256")


@pytest.mark.parametrize("keep", [1, 7, 8, 9, 100, 0.5, 0.9, -1])
def test_cut_short(tmp_path: Path, good: bytes, keep: float) -> None:
    size = int(len(good) * keep) if isinstance(keep, float) else keep
    refused(tmp_path, good[:size], "only|cut short|not a safetensors|cannot be read")


def test_longer_than_it_should_be(tmp_path: Path, good: bytes) -> None:
    refused(tmp_path, good + b"\0", "its tensors cannot be read")


def test_every_flipped_bit_and_changed_byte_is_noticed(tmp_path: Path, good: bytes) -> None:
    rng = random.Random(0)
    path = tmp_path / "flipped"
    places = [*range(24), *(rng.randrange(len(good)) for _ in range(600))]
    for place in places:
        byte = good[place]
        new = (
            byte ^ (1 << rng.randrange(8))
            if rng.random() < 0.5
            else (byte + rng.randrange(1, 256)) % 256
        )
        path.write_bytes(good[:place] + bytes([new]) + good[place + 1 :])
        with pytest.raises(ModelFileError):
            load(path)


def test_swapped_stretches_are_noticed(tmp_path: Path, good: bytes) -> None:
    rng = random.Random(1)
    path = tmp_path / "swapped"
    for _ in range(200):
        a, b, c = sorted(rng.sample(range(len(good) + 1), 3))
        mixed = good[:a] + good[b:c] + good[a:b] + good[c:]
        if mixed != good:
            path.write_bytes(mixed)
            with pytest.raises(ModelFileError):
                load(path)


def test_a_header_cannot_make_the_loader_allocate(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for shape, end in (([2**40], 2**43), ([2**20, 2**20, 2**10], 2**53), ([0, 2**62], 0)):
        info = {"dtype": "F64", "shape": shape, "data_offsets": [0, end]}
        header = json.dumps({"__metadata__": {"separable": "{}"}, "weights": info}).encode()
        refused(tmp_path, raw(header), "tensors cannot be read|document cannot be read")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kilobytes


def test_hostile_encoder_parts(tmp_path: Path, toy_encoder: Any) -> None:
    encoder = toy_encoder(("Dream", "Biscoe"), 2.0)
    LinearModel([[1, 2, 3]], [0], [0, 1], "score", encoder=encoder).save(tmp_path / "m")
    document, tensors = parts((tmp_path / "m").read_bytes())
    fewer = {name: tensor for name, tensor in tensors.items() if name != "encoder/scale"}
    refused(
        tmp_path,
        sealed(document, fewer),
        r"its 'toy' encoder cannot be rebuilt \(KeyError: 'scale'\)",
    )
    bad = document | {"encoder": {"kind": "toy", "values": {"missing": "guess"}}}
    refused(tmp_path, sealed(bad, tensors), "missing must be 'refuse'")
    one = tensors | {"encoder/levels:offsets": np.array([0, 11])}
    refused(
        tmp_path, sealed(document, one), "encoder.sources must name the raw column of each of 3"
    )
