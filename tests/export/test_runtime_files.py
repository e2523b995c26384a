"""The runtime files of exported code: each is a complete program with an example model."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib.resources import files

import pytest

from separable.export import export
from separable.export.languages.language_registry import runtime, sections_of
from tests.export import models
from tests.export.running import compiled, tool

LANGUAGES = {"c": "runtime.c", "javascript": "runtime.js", "python": "runtime.py"}
FILES = {
    language: files("separable.export.languages") / language / name
    for language, name in LANGUAGES.items()
}
KINDS = {"number", "curve", "category", "boolean", "date", "text", "numbers", "record"}
KINDS |= {"converted", "pair", "number conversion", "date conversion", "duration conversion"}


def run(line):
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("options", [(), ("-DTAKES_NUMBERS",)], ids=["columns", "numbers"])
def test_c_compiles_without_warnings_and_tests_itself(options, tmp_path):
    file = FILES["c"]
    compiled(file, tmp_path / "runtime.o", "-c", *options)
    line = compiled(file, tmp_path / "runtime", "-DSELF_TEST", *options)
    assert run(line) == "1 test rows: all as expected\n"


def test_javascript_is_valid_and_tests_itself():
    assert run([tool("node"), "--check", FILES["javascript"]]) == ""
    assert run([tool("node"), FILES["javascript"]]) == "2 test rows: all as expected\n"


def test_python_is_importable_and_tests_itself():
    from separable.export.languages.python import runtime as module

    assert module.self_test() == []
    line = [sys.executable, "-I", "-S", "-W", "error", FILES["python"]]
    assert run(line) == "2 test rows: all as expected\n"


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_kind_of_step_is_one_of_the_plan(language):
    made = runtime(language, LANGUAGES[language])
    assert set().union(*made.kinds.values()) <= KINDS
    assert made.for_steps(set()) == []


def test_python_sections_hold_whole_definitions():
    made = runtime("python", "runtime.py")
    for text in [*made.for_steps(KINDS), made["main"], made["probabilities"], made["self test"]]:
        assert ast.parse(text).body


@pytest.mark.parametrize(
    ("language", "folder"), [("c", "c"), ("js", "javascript"), ("python", "python")]
)
def test_exported_code_has_the_sections_that_it_needs(language, folder):
    model, _ = models.penguins()
    made = runtime(folder, LANGUAGES[folder])
    code = export(model, to=language)
    assert all(text in code for text in made.for_steps({"number", "category"}))
    assert made["date"] not in code
    assert "section" not in code


def test_text_outside_sections_is_left_out():
    text = "a = 0\n# section one\n\nb = 1\n# end of section\nc = 2\n  // section two\nd = 3\n"
    assert sections_of(text).sections == {"one": "b = 1\n", "two": "d = 3\n"}
