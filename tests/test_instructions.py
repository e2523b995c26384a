"""The comparison of instruction counts: it fails for a kernel that has grown, and only then."""

from __future__ import annotations

import json

import pytest

from benchmarks import instructions


@pytest.mark.parametrize(("growth", "code"), [(1.0, 0), (1.015, 0), (0.5, 0), (1.03, 1)])
def test_a_kernel_that_has_grown_fails(tmp_path, monkeypatch, capsys, growth, code):
    committed = dict.fromkeys(instructions.FUNCTIONS, 1000)
    counts = tmp_path / "counts.json"
    counts.write_text(json.dumps({"c++ 1": committed}))
    monkeypatch.setattr(instructions, "COUNTS", counts)
    monkeypatch.setattr(instructions, "compiler", lambda: "c++ 1")
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    grown = {**committed, "scores": round(1000 * growth)}
    monkeypatch.setattr(instructions, "instructions", lambda program, kernel: grown[kernel])
    assert instructions.main("program", update=False) == code
    assert ("committed: scores." in capsys.readouterr().out) == bool(code)


def test_another_compiler_has_nothing_to_compare_with(tmp_path, monkeypatch, capsys):
    counts = tmp_path / "counts.json"
    counts.write_text("{}")
    monkeypatch.setattr(instructions, "COUNTS", counts)
    monkeypatch.setattr(instructions, "compiler", lambda: "c++ 2")
    monkeypatch.setattr(instructions.shutil, "which", lambda name: name)
    monkeypatch.setattr(instructions, "instructions", lambda program, kernel: 7)
    assert instructions.main("program", update=False) == 0
    assert "No counts of this compiler are committed: c++ 2." in capsys.readouterr().out
    assert instructions.main("program", update=True) == 0
    assert json.loads(counts.read_text())["c++ 2"]["scores"] == 7
