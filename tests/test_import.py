"""``import separable`` is light, and still shows every public name."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import separable

HEAVY = {"sklearn", "scipy", "pandas", "polars", "matplotlib", "numpy", "pyarrow"}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_the_package_imports_nothing_heavy():
    roots = run("import sys, separable; print(*{name.split('.')[0] for name in sys.modules})")
    assert "separable" in roots.split()
    assert not HEAVY & set(roots.split())


def test_loading_and_predicting_import_no_training_library():
    code = (
        "import sys; from separable import LinearModel, TableEncoder, load\n"
        "LinearModel([[1.0]], [0.0], [0, 1], 'score').explain([[1.0]])\n"
        "from separable import VotedModel; from separable.data.rows import as_rows\n"
        "from separable.model.voters import Voters\n"
        "voters = Voters([0], [1.0], [2.0], [0, 1], [0.0], [0.0])\n"
        "votes = VotedModel(as_rows([[1.0]]), voters, [0, 1])\n"
        "assert votes.predict([[1.0], [-2.0]]).tolist() == [1, 0]\n"
        "votes.explain([[1.0]]).to_dict(), votes.top_weights()\n"
        "print(*{name.split('.')[0] for name in sys.modules})"
    )
    assert not {"sklearn", "scipy", "pandas", "polars", "matplotlib"} & set(run(code).split())


def test_listing_the_names_imports_nothing():
    assert run("import sys, separable; dir(separable); print('numpy' in sys.modules)") == "False"


def test_every_public_name_is_listed():
    homes = separable._HOMES
    assert sorted(separable.__all__) == sorted([*homes, "__version__"])
    assert set(separable.__all__) <= set(dir(separable))


@pytest.mark.parametrize("name", sorted(separable._HOMES))
def test_every_public_name_resolves(name):
    value = getattr(separable, name)
    home = import_module(separable._HOMES[name])
    assert value is getattr(home, name)
    assert name in home.__all__


def test_unknown_name():
    with pytest.raises(AttributeError, match="module 'separable' has no attribute 'nonsense'"):
        separable.nonsense  # noqa: B018


def test_type_checkers_are_told_the_same_names():
    tree = ast.parse(Path(separable.__file__).read_text())
    guarded = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    assert len(guarded) == 1
    told = {}
    for statement in guarded[0].body:
        assert isinstance(statement, ast.ImportFrom)
        told |= {alias.name: statement.module for alias in statement.names}
    assert told == separable._HOMES
