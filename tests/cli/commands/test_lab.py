"""``separable lab``: messages, exit codes, and files that are not overwritten."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from separable.cli.app import run
from separable.lab import lab


@pytest.mark.parametrize(
    ("text", "options", "message", "code"),
    [
        ("a,b,c\n1,2,x\n3,4,x\n", ["--target", "c"], "needs two", 1),
        ("a,c\nu,x\nv,y\n", ["--target", "c"], "needs a column of numbers", 1),
        ("a,b,c\n1,2,x\n3,4,y\n", ["--target", "d"], "no column 'd'", 1),
        ("a,b,c\n1,2,x\n3,4,y\n", [], "needs --target", 2),
    ],
)
def test_messages(text, options, message, code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(text)
    assert run(["lab", "t.csv", *options]) == code
    assert message in capsys.readouterr().err
    assert not Path("lab.html").exists()


def test_options_of_data_need_data(capsys):
    assert run(["lab", "--target", "y"]) == 2
    assert "need DATA" in capsys.readouterr().err


def test_it_writes_and_never_overwrites(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["lab"]) == 0
    assert "Wrote lab.html" in capsys.readouterr().err
    assert Path("lab.html").read_text(encoding="utf-8") == lab()
    assert run(["lab"]) == 1
    assert "exists already" in capsys.readouterr().err


def test_a_sample_of_many_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,c\n" + "1,2,x\n3,4,y\n" * 1500)
    assert run(["lab", "t.csv", "--target", "c"]) == 0
    page = Path("lab.html").read_text(encoding="utf-8")
    assert "(2000 of 3000 rows, a random sample)" in page
    shown = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])["file"]
    assert len(shown["X"]) == len(shown["y"]) == 2000
    assert 900 < shown["y"].count(1) < 1100


def test_columns_of_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("a,b,c,k\n1,2,3,x\n3,4,7,y\n")
    assert run(["lab", "t.csv", "--target", "k", "--columns", "c, a", "-o", "t.html"]) == 0
    page = Path("t.html").read_text(encoding="utf-8")
    assert page == lab("t.csv", "k", columns=["c", "a"])
    assert '"columns": ["c", "a"]' in page
