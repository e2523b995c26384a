from __future__ import annotations

import json
import subprocess
import sys

import pytest

from separable.datasets import PENGUINS


@pytest.fixture
def bank(tmp_path):
    """A table with a leak, a constant and a clean column."""
    path = tmp_path / "bank.csv"
    rows = [
        f"{17 + row * 7 % 60},{'yes' if row % 3 else 'no'},EUR,{row % 3 > 0:d}" for row in range(90)
    ]
    path.write_text("age,deposit,currency,paid out\n" + "\n".join(rows) + "\n")
    return path


def test_findings_by_severity_with_what_to_type(separable, bank):
    result = separable("check", "bank.csv", "--target", "deposit")
    assert result.code == 0
    assert result.err == ""
    lines = result.out.splitlines()
    assert lines[:5] == [
        "bank.csv: 90 rows",
        "  age       number    numbers",
        "  deposit   target",
        "  currency  drop      constant: every value is 'EUR'",
        "  paid out  number    numbers",
    ]
    assert "1 warning: problems that bias the model or its measured error" in lines
    assert "1 note: worth knowing" in lines
    assert "    -> --drop 'paid out'" in lines
    assert lines[-1] == "  separable train bank.csv --target deposit --drop 'paid out'"
    assert lines.index(
        "1 warning: problems that bias the model or its measured error"
    ) < lines.index("1 note: worth knowing")


def test_the_next_command_keeps_what_was_said(separable, bank):
    result = separable("check", "bank.csv", "--target", "deposit", "--drop", "paid out",
                       "--category", "age")  # fmt: skip
    assert result.out.splitlines()[-1] == (
        "  separable train bank.csv --target deposit --category age --drop 'paid out'"
    )


def test_json(separable, bank):
    result = separable("check", "bank.csv", "--target", "deposit", "--json")
    told = json.loads(result.out)
    assert told["rows"] == 90
    assert told["warnings"] == 1
    assert told["columns"][1] == {
        "name": "deposit", "type": "target", "why": "asked for", "missing": 0,
    }  # fmt: skip
    assert [each["kind"] for each in told["findings"]] == ["leakage", "constant"]
    assert told["findings"][0]["options"] == {"drop": ["paid out"]}


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ((), 0),
        (("--fail-on", "warning"), 3),
        (("--fail-on", "note"), 3),
        (("--fail-on", "warning", "--drop", "paid out"), 0),
        (("--fail-on", "note", "--drop", "paid out"), 3),
        (("--fail-on", "note", "--drop", "paid out", "--drop", "currency"), 0),
    ],
)
def test_fail_on(separable, bank, more, code):
    result = separable("check", "bank.csv", "--target", "deposit", *more)
    assert result.code == code
    assert "90 rows" in result.out


def test_clean_data_and_no_target(separable):
    result = separable("check", PENGUINS, "--target", "species")
    assert "No problems found." in result.out
    result = separable("check", PENGUINS)
    assert result.code == 0
    assert "Next:" not in result.out


def test_types_that_were_asked_for(separable, bank):
    result = separable("check", "bank.csv", "--category", "age", "--text", "currency",
                       "--number", "paid out", "--weight", "deposit")  # fmt: skip
    lines = [line.split()[-1] for line in result.out.splitlines()[1:5]]
    assert lines == ["category", "weight", "text", "number"]


def test_free_text_is_named(separable, tmp_path):
    path = tmp_path / "reviews.jsonl"
    path.write_text("".join(f'{{"text": "this is number {row} of all", "y": {row % 2}}}\n'
                            for row in range(40)))  # fmt: skip
    result = separable("check", path, "--target", "y")
    assert "text  text      40 different texts of 6 words in 40 values" in result.out


@pytest.mark.parametrize(
    ("args", "code", "text"),
    [
        (
            ("bank.csv", "--target", "deposits"),
            1,
            "bank.csv has no column 'deposits' (did you mean",
        ),
        (("bank.csv", "--drop", "agee"), 1, "bank.csv has no column 'agee'"),
        (("none.csv", "--target", "y"), 1, "none.csv"),
        (("bank.csv", "--fail-on", "error"), 2, "'error' is not one of 'warning', 'note'"),
        (("bank.csv", "--number", "currency"), 1, "currency"),
    ],
)
def test_errors(separable, bank, args, code, text):
    result = separable("check", *args)
    assert result.code == code
    assert text in result.err
    assert result.out == ""


def test_a_wide_table_is_cut(separable, tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"c{place}x" for place in range(80)]
    path.write_text(",".join(names) + "\n" + ",".join(["1"] * 80) + "\n")
    assert "  ... and 20 more columns" in separable("check", path).out


def test_a_check_needs_no_training_library(bank):
    code = (
        "import sys; from separable.cli.app import run; "
        f"run(['check', {str(bank)!r}, '--target', 'deposit', '-q']); "
        "sys.exit(len({'sklearn', 'scipy', 'pandas', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True)
    assert done.returncode == 0


def test_types_that_are_asked_for(separable, tmp_path):
    (tmp_path / "d.csv").write_text(
        "day,member,y\n" + "".join(f"2020-01-{k:02},{k % 2},{k % 3}\n" for k in range(1, 29))
    )
    given = ("--target", "y", "--date", "day", "--boolean", "member", "--json")
    told = json.loads(separable("check", "d.csv", *given).out)
    types = {column["name"]: column["type"] for column in told["columns"]}
    assert types == {"day": "date", "member": "boolean", "y": "target"}
