"""Replacement of scikit-learn's classes in code that imports them."""

from __future__ import annotations

import subprocess
import sys

import sklearn.linear_model

import separable.sklearn as faces
from separable.sklearn.patching import HOMES, estimators_of

SCRIPT = """
import sys
from sklearn import svm
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

model = make_pipeline(StandardScaler(), LogisticRegression())
print(type(model[-1]).__module__, type(svm.LinearSVC()).__module__, sys.argv[1:])
"""


def test_patch_replaces_the_names_and_unpatch_restores_them():
    theirs = sklearn.linear_model.Ridge
    done = faces.patch()
    try:
        assert sklearn.linear_model.Ridge is faces.Ridge
        assert len(done.replaced) == len(HOMES)
        assert "sklearn.linear_model.HuberRegressor" in done.kept
    finally:
        faces.unpatch()
    assert sklearn.linear_model.Ridge is theirs


def test_patch_names_what_was_imported_before(monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "Lasso", sklearn.linear_model.Lasso, raising=False)
    done = faces.patch()
    faces.unpatch()
    assert f"{__name__}.Lasso" in done.imported_before
    assert f"{__name__}.Lasso" in str(done)


def test_script_runs_with_ours_and_lists_the_rest(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    run = subprocess.run(
        [sys.executable, "-m", "separable.sklearn", str(script), "one"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == [
        "separable.sklearn.logistic_regression",
        "separable.sklearn.linear_svm",
        "['one']",
    ]
    assert "replaced LinearSVC, LogisticRegression\n" in run.stderr
    assert "scikit-learn's own: StandardScaler\n" in run.stderr


def test_missing_script_is_an_error():
    run = subprocess.run(
        [sys.executable, "-m", "separable.sklearn", "nowhere.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 2
    assert "nowhere.py" in run.stderr


def test_estimators_of_a_script():
    assert estimators_of(SCRIPT) == (["LinearSVC", "LogisticRegression"], ["StandardScaler"])
