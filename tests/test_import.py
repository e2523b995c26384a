"""``import separable`` is light, and still shows every public name."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import separable
import separable.data
import separable.datasets
import separable.features
import separable.lab
import separable.learn
import separable.plot
import separable.report

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
        "from separable.model.voted.voters import Voters\n"
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
    assert sorted(separable.__all__) == sorted([*separable._HOMES, "__version__"])
    assert set(separable.__all__) <= set(dir(separable))
    for package in PACKAGES[1:]:
        assert sorted(package.__all__) == sorted(package._HOMES)


PACKAGES = (
    separable,
    separable.data,
    separable.features,
    separable.lab,
    separable.learn,
    separable.plot,
    separable.report,
)


@pytest.mark.parametrize(
    ("package", "name"),
    [(package, name) for package in PACKAGES for name in sorted(package._HOMES)],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_every_public_name_resolves(package, name):
    value = getattr(package, name)
    home = import_module(package._HOMES[name])
    assert value is getattr(home, name)
    assert name in home.__all__


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_unknown_name(package):
    message = f"module '{package.__name__}' has no attribute 'nonsense'"
    with pytest.raises(AttributeError, match=message):
        package.nonsense  # noqa: B018


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_type_checkers_are_told_the_same_names(package):
    tree = ast.parse(Path(package.__file__).read_text())
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
    assert told == package._HOMES


def test_every_encoder_of_the_package_is_one_of_features():
    encoders = {name for name in separable.__all__ if name.endswith("Encoder")}
    assert encoders == set(separable.features.__all__)
