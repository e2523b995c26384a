"""A pytest plugin that puts our classes in the place of scikit-learn's in its own test modules.

Public modules of scikit-learn show our classes for the whole run. The private modules that define
its classes show ours only while a test module is imported, so scikit-learn's own code stays as it
is. A test counts if it builds one of our classes or calls one of our functions.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from separable.sklearn.patching import HOMES
from tests.sklearn.contract.replacements import replacements

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

#: Names of ours that the current test has used.
_used: set[str] = set()
_results: list[dict[str, Any]] = []


def _recorded(name: str, function: Any) -> Any:
    """Return the function, which then notes that it was called."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        _used.add(name)
        return function(*args, **kwargs)

    return call


def _record(name: str, ours: Any) -> Any:
    if not isinstance(ours, type):
        return _recorded(name, ours)
    ours.__init__ = _recorded(name, ours.__init__)  # type: ignore[misc]
    return ours


@contextmanager
def _shown(private: list[tuple[Any, str, Any]]) -> Iterator[None]:
    """Show our classes in private modules of scikit-learn."""
    theirs = [(module, name, getattr(module, name)) for module, name, _ in private]
    for module, name, ours in private:
        setattr(module, name, ours)
    try:
        yield
    finally:
        for module, name, original in theirs:
            setattr(module, name, original)


_private: list[tuple[Any, str, Any]] = []


def pytest_configure() -> None:
    """Show our classes in the public modules."""
    for name, ours in replacements(os.environ["SEPARABLE_CONTRACT"]).items():
        public = import_module(HOMES[name])
        theirs = getattr(public, name)
        home = sys.modules[theirs.__module__]
        ours = _record(name, ours)
        setattr(public, name, ours)
        if home is not public:
            _private.append((home, name, ours))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    """Import a test module with our classes in it."""
    if not isinstance(collector, pytest.Module):
        return (yield)
    with _shown(_private):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, Any, Any]:
    """Forget what the last test used."""
    _used.clear()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    """Attach the names that the test used to its report."""
    report = yield
    report.user_properties.append(("used", sorted(_used)))
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep the outcome of the call, or of a set-up that failed."""
    if report.when == "call" or (report.when == "setup" and report.failed):
        crash = getattr(report.longrepr, "reprcrash", None)
        _results.append(
            {
                "test": report.nodeid,
                "outcome": "xfailed" if hasattr(report, "wasxfail") else report.outcome,
                "used": dict(report.user_properties).get("used", []),
                "error": "" if crash is None else crash.message[:400],
            }
        )


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Keep test modules that cannot be imported with our classes: as one failed test each."""
    if report.failed:
        error = str(report.longrepr)[-400:]
        _results.append(
            {"test": report.nodeid, "outcome": "failed", "used": ["import"], "error": error}
        )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write the outcomes, in the process that has them all."""
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["SEPARABLE_CONTRACT_RESULTS"]).write_text(json.dumps(_results))
