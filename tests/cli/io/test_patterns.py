"""Model files whose token pattern may take very long: refused unless the user trusts them."""

from __future__ import annotations

from dataclasses import replace

import click
import pytest

from separable import SGDClassifier, TextEncoder
from separable.cli.app import COMMANDS, app

TEXTS, LABELS = ["aa aab b", "ab b! aa", "aa aa", "b b"], ["no", "yes", "no", "yes"]
#: A run of each command that loads a model.
RUNS = {
    "predict": ("predict", "MODEL", "DATA"),
    "evaluate": ("evaluate", "MODEL", "DATA", "--target", "label"),
    "explain": ("explain", "MODEL"),
    "explain a text": ("explain", "MODEL", "--text", "aa b"),
    "export": ("export", "MODEL", "--to", "python", "-o", "OUT"),
    "report": ("report", "MODEL", "-o", "OUT"),
    "update": ("update", "MODEL", "DATA", "--target", "label", "-o", "OUT"),
}


@pytest.fixture
def files(tmp_path):
    encoder = TextEncoder(token_pattern=r"\w+!?").fit(TEXTS)
    learner = SGDClassifier(max_iter=1, shuffle=False)
    learner.partial_fit(encoder.transform(TEXTS), LABELS, classes=["no", "yes"])
    replace(learner.model_, encoder=encoder).save(tmp_path / "model.sep", include_state=True)
    data = tmp_path / "data.csv"
    lines = [f'"{text}",{label}' for text, label in zip(TEXTS, LABELS, strict=True)]
    data.write_text("\n".join(["text,label", *lines]) + "\n")
    return {"MODEL": tmp_path / "model.sep", "DATA": data, "OUT": tmp_path / "out"}


@pytest.mark.parametrize("name", RUNS)
def test_a_command_loads_what_the_user_trusts(name, files, separable):
    args = [str(files.get(each, each)) for each in RUNS[name]]
    refused = separable(*args)
    assert refused.code != 0
    assert "--allow-patterns" in refused.err
    trusted = separable(*args, "--allow-patterns")
    assert "allow-patterns" not in trusted.err
    if name == "update":  # it loads the model, and takes tables only
        assert "Give a table with the same columns" in trusted.err
    else:
        assert trusted.code == 0, trusted.err


def test_each_command_with_a_model_has_the_option():
    """`inspect` alone makes no encoder of what a file holds."""
    context, loads = click.Context(app), set()
    for name in COMMANDS:
        params = app.get_command(context, name).params
        if any(isinstance(each, click.Argument) and each.name == "model" for each in params):
            loads.add(name)
            assert ("--allow-patterns" in {o for each in params for o in each.opts}) == (
                name != "inspect"
            )
    runs = {args[0] for args in RUNS.values()} | {"drift"}  # which needs a model of `train`
    assert loads - {"inspect"} == runs
