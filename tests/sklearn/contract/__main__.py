"""Run scikit-learn's own tests with our classes: ``python -m tests.sklearn.contract``.

The tests are those that pip installed with scikit-learn: its wheels ship them. If a distribution
left them out, pip downloads the wheel, and the run uses that. The outcomes are compared with
``expected.toml``, the committed list of differences with their reasons.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import sklearn

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "sklearn"
EXPECTED = Path(__file__).with_name("expected.toml")

#: Test modules that build our classes: first those of the classes themselves.
OWN = (
    "linear_model/tests",
    "svm/tests/test_svm.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_naive_bayes.py",
    "feature_extraction/tests",
    "preprocessing/tests/test_encoders.py",
    "preprocessing/tests/test_polynomial.py",
)
USERS = (
    "model_selection/tests",
    "tests/test_calibration.py",
    "tests/test_multiclass.py",
    "tests/test_multioutput.py",
    "tests/test_pipeline.py",
    "feature_selection/tests",
    "inspection/tests",
    "ensemble/tests/test_stacking.py",
    "ensemble/tests/test_voting.py",
)
SMOKE = (
    "linear_model/tests/test_base.py",
    "linear_model/tests/test_bayes.py",
    "linear_model/tests/test_coordinate_descent.py",
    "tests/test_discriminant_analysis.py",
    "tests/test_naive_bayes.py",
)


def main() -> int:
    """Run the tests and print which differences are new."""
    arguments = _parser().parse_args()
    chosen = SMOKE if arguments.smoke else tuple(arguments.tests) or OWN + USERS
    folder = _tests()
    if folder is None:
        print(
            "test-sklearn: SKIPPED, scikit-learn's tests are not installed and pip cannot get them"
        )
        return 0
    outcomes = _run(folder, arguments.package, chosen, arguments.jobs)
    return _report(outcomes, verbose=arguments.verbose)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tests.sklearn.contract", description=__doc__)
    parser.add_argument("tests", nargs="*", help="test files below sklearn; all by default")
    parser.add_argument("--package", default="separable.sklearn", help="where our classes are")
    parser.add_argument("--smoke", action="store_true", help="a few modules, within a minute")
    parser.add_argument("--jobs", default="2", help="processes")
    parser.add_argument("--verbose", action="store_true", help="print the error of each test")
    return parser


def _tests() -> Path | None:
    """Return the folder `sklearn` with the tests: installed, or from a wheel that pip downloads."""
    installed = Path(sklearn.__file__).parent
    if (installed / "linear_model" / "tests" / "test_ridge.py").exists():
        return installed
    wanted = f"scikit-learn=={sklearn.__version__}"
    options = ("-qq", "--no-deps", "--only-binary", ":all:", "--dest", str(BUILD))
    command = (sys.executable, "-m", "pip", "download", *options, wanted)
    if subprocess.run(command, check=False).returncode:
        return None
    (wheel,) = BUILD.glob(f"scikit_learn-{sklearn.__version__}-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(BUILD / "wheel")
    return BUILD / "wheel" / "sklearn"


def _run(folder: Path, package: str, chosen: tuple[str, ...], jobs: str) -> list[dict[str, Any]]:
    BUILD.mkdir(parents=True, exist_ok=True)
    results = BUILD / f"{package}.json"
    results.unlink(missing_ok=True)
    installed = folder == Path(sklearn.__file__).parent
    paths = (ROOT,) if installed else (ROOT, folder.parent)
    variables = {
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "SEPARABLE_CONTRACT": package,
        "SEPARABLE_CONTRACT_RESULTS": str(results),
        "OPENBLAS_NUM_THREADS": "1",
    }
    options = ["-q", "--tb=short", "-p", "no:cacheprovider"]
    options += ["-p", "tests.sklearn.contract.plugin", "-c", str(_settings()), "-n", jobs]
    with (BUILD / f"{package}.txt").open("w") as output:
        subprocess.run(
            [sys.executable, "-m", "pytest", *options, f"--rootdir={folder}"]
            + [str(folder / each) for each in chosen],
            env=os.environ | variables,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        )
    if not results.exists():
        sys.exit((BUILD / f"{package}.txt").read_text()[-4000:])
    outcomes: list[dict[str, Any]] = json.loads(results.read_text())
    return [each for each in outcomes if each["used"] and each["outcome"] != "skipped"]


def _settings() -> Path:
    """Return an empty file of settings, so that ours do not apply."""
    path = BUILD / "pytest.ini"
    path.write_text("[pytest]\ntimeout = 120\n")
    return path


def _report(outcomes: list[dict[str, Any]], *, verbose: bool) -> int:
    expected = _expected()
    failed = [each for each in outcomes if each["outcome"] == "failed"]
    new = [each for each in failed if _reason(each["test"], expected) is None]
    known = Counter(_reason(each["test"], expected) for each in failed)
    for each in new if verbose else ():
        print(f"{each['test']}\n    {' '.join(each['error'].split())}")
    _print_modules(outcomes, expected)
    for reason, count in known.most_common():
        if reason is not None:
            print(f"{count:5}  {reason}")
    for test in _stale(outcomes, expected):
        print(f"listed in {EXPECTED.name}, but passes: {test}")
    n_passed = len(outcomes) - len(failed)
    print(
        f"scikit-learn {sklearn.__version__}: {len(outcomes)} tests build one of ours; "
        f"{n_passed} passed as is ({n_passed / max(len(outcomes), 1):.1%}), "
        f"{len(failed) - len(new)} expected, {len(new)} new"
    )
    return 1 if new else 0


def _print_modules(outcomes: list[dict[str, Any]], expected: dict[str, str]) -> None:
    """Print for each test module how many tests passed as is, were expected to fail, or are new."""
    modules: dict[str, Counter[str]] = {}
    for each in outcomes:
        known = _reason(each["test"], expected) is not None
        kind = "passed" if each["outcome"] != "failed" else "expected" if known else "new"
        modules.setdefault(each["test"].partition("::")[0], Counter())[kind] += 1
    print(f"{'passed':>7} {'expected':>9} {'new':>5}")
    for module, counts in sorted(modules.items()):
        print(f"{counts['passed']:7} {counts['expected']:9} {counts['new']:5}  {module}")


def _expected() -> dict[str, str]:
    """Return the reason for each test that is expected to differ."""
    listed = tomllib.loads(EXPECTED.read_text()).get("difference", [])
    return {test: entry["reason"] for entry in listed for test in entry["tests"]}


def _stale(outcomes: list[dict[str, Any]], expected: dict[str, str]) -> list[str]:
    """Return the listed tests that ran and did not fail with any of their parameters."""
    failed = {each["test"] for each in outcomes if each["outcome"] == "failed"}
    failed |= {test.partition("[")[0] for test in failed}
    ran = {each["test"] for each in outcomes}
    ran |= {test.partition("[")[0] for test in ran}
    return sorted(test for test in expected if test in ran and test not in failed)


def _reason(test: str, expected: dict[str, str]) -> str | None:
    """Return the reason listed for a test, with its parameters or without."""
    return expected.get(test, expected.get(test.partition("[")[0]))


if __name__ == "__main__":
    sys.exit(main())
