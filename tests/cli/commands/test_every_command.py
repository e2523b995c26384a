"""What every command has in common: found by walking over COMMANDS, so a new one is tested too."""

from __future__ import annotations

import json

import click
import pytest

from separable.cli.app import COMMANDS, app
from separable.cli.options.command import Command
from separable.datasets import PENGUINS
from tests.cli.processes import modules_after

#: What may not be imported: by help, and by the commands that use a model.
HEAVY = {"numpy", "pyarrow", "scipy", "sklearn", "pandas", "polars", "matplotlib", "msgspec"}
TRAINING = {"sklearn", "scipy", "pandas", "polars", "matplotlib"}

SPECIES = ("--target", "species")

#: A run of each command that gives JSON; MODEL is a model of the penguins, OUT a new file.
RUNS = {
    "train": ("train", PENGUINS, *SPECIES, "--model", "lda", "-o", "OUT"),
    "predict": ("predict", "MODEL", PENGUINS),
    "evaluate": ("evaluate", "MODEL", PENGUINS, *SPECIES),
    "explain": ("explain", "MODEL"),
    "update": ("update", "STATE", PENGUINS, "-o", "OUT"),
    "compare": ("compare", PENGUINS, *SPECIES, "--model", "lda", "--model", "perceptron"),
    "path": ("path", PENGUINS, *SPECIES, "--model", "logistic-regression", "--folds", "2"),
    "check": ("check", PENGUINS, *SPECIES),
    "separability": ("separability", PENGUINS, *SPECIES),
    "inspect": ("inspect", "MODEL"),
    "export": ("export", "MODEL", "--to", "python", "-o", "OUT"),
    "report": ("report", "MODEL", "-o", "OUT"),
    "serve": ("serve", "MODEL", "--check"),
    "drift": ("drift", "FRESH", PENGUINS),
    "lab": ("lab", "-o", "OUT"),
    "demo": ("demo",),
    "completion": ("completion", "bash"),
}

#: More runs of those that use a model, for what they import.
USES = [
    RUNS["predict"],
    (*RUNS["predict"], "--json"),
    RUNS["evaluate"],
    (*RUNS["evaluate"], "--json"),
    RUNS["explain"],
    (*RUNS["explain"], "--json"),
    ("explain", "MODEL", PENGUINS, "--row", "4"),
    ("explain", "MODEL", PENGUINS, "--row", "4", "--json"),
    RUNS["serve"],
    RUNS["drift"],
    RUNS["inspect"],
    (*RUNS["inspect"], "--json"),
    RUNS["export"],
    RUNS["completion"],
]

EVERY = pytest.mark.parametrize("name", COMMANDS)


@pytest.fixture(scope="session")
def files(tmp_path_factory, penguins_model):
    """The files that runs are given, by what they are called there."""
    from separable.cli.app import run

    state = tmp_path_factory.mktemp("state") / "penguins.safetensors"
    args = ["train", PENGUINS, *SPECIES, "--stream", "-o", state, "--json"]
    assert run([str(arg) for arg in args]) == 0
    fresh = state.with_name("fresh.safetensors")
    assert run(["train", str(PENGUINS), *SPECIES, "--model", "lda", "-o", str(fresh), "-q"]) == 0
    return {
        "MODEL": penguins_model,
        "FRESH": fresh,
        "STATE": state,
        "OUT": state.with_name("out.safetensors"),
    }


def command(name: str) -> Command:
    found = app.get_command(click.Context(app), name)
    assert isinstance(found, Command)
    return found


@EVERY
def test_help_starts_with_examples_and_has_headings(separable, name):
    result = separable(name, "-h")
    assert (result.code, result.err) == (0, "")
    usage, title, example = result.out.replace("\n\n", "\n").splitlines()[:3]
    assert usage.startswith(f"Usage: separable {name} ")
    assert title == "Examples:"
    assert "separable " in example
    assert "\nOutput:\n" in result.out
    assert result.out.endswith("\n")


@EVERY
def test_examples_can_be_typed(name):
    """Each example is a command with options that there are."""
    found = command(name)
    known = {option for param in found.params for option in param.opts + param.secondary_opts}
    for example in found.examples:
        words = example.partition("  #")[0].split()
        assert f"separable {name}" in example
        given = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert given <= known | {"--help"}


@EVERY
def test_takes_the_options_that_all_take(name):
    known = {option for param in command(name).params for option in param.opts}
    assert {"--json", "-q", "--quiet", "-v", "--verbose", "--debug"} <= known


@EVERY
def test_every_option_says_what_it_does(name):
    options = [param for param in command(name).params if isinstance(param, click.Option)]
    assert [option.name for option in options if not option.help and not option.hidden] == []


@EVERY
def test_has_a_run_here(name):
    assert name in RUNS


@EVERY
@pytest.mark.usefixtures("quick_demo")
def test_json_is_one_document_or_lines(separable, files, name):
    result = separable(*(files.get(arg, arg) for arg in RUNS[name]), "--json", "-q")
    assert result.code == 0
    lines = result.out.splitlines()
    assert len(lines) > 0
    assert all(isinstance(json.loads(line), dict) for line in lines)
    if name not in ("predict", "demo"):
        assert len(lines) == 1


#: Command lines that only tell something.
HELP = [("--help",), ("--version",), *((name, "--help") for name in COMMANDS)]


@pytest.fixture(scope="module")
def modules_after_help() -> list[set[str]]:
    """What is imported after each of HELP."""
    return modules_after(HELP)


@pytest.fixture(scope="module")
def modules_after_use(files) -> list[set[str]]:
    """What is imported after each of USES."""
    return modules_after([files.get(arg, arg) for arg in line] for line in USES)


@pytest.mark.parametrize("args", HELP)
def test_help_imports_nothing_heavy(args, modules_after_help):
    assert modules_after_help[HELP.index(args)].isdisjoint(HEAVY)


@pytest.mark.parametrize("args", USES, ids=lambda args: " ".join(map(str, args[:1] + args[2:])))
def test_using_a_model_imports_no_training_library(args, modules_after_use):
    assert modules_after_use[USES.index(args)].isdisjoint(TRAINING)
