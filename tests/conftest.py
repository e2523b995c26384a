"""Hypothesis profiles, and running some cases of each test.

A failure prints the decorator that brings it back.

The examples are not random, but some are constants of the modules imported so far: a test that
runs alone, or after others, may take other examples.

``HYPOTHESIS_PROFILE`` chooses one; ``make test-all`` asks for ``long``, ``make test-fast`` for
``fast``.

``--cases some`` runs an eighth of the cases of each test function and at least four, ``--cases
first`` one: always the same ones, chosen by their names, so that they do not follow the order of
parameters. With ``first`` the others are not even collected, which takes a third of the time;
``some`` runs all cases of a function marked ``every_case``.
"""

from __future__ import annotations

import os
import shutil
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

# No deadlines: tests never time anything.
settings.register_profile(
    "default", derandomize=True, deadline=None, max_examples=25, print_blob=True
)
settings.register_profile("fast", settings.get_profile("default"), max_examples=5)
settings.register_profile(
    "long",
    derandomize=False,
    deadline=None,
    max_examples=1000,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or "default")


#: The fewest cases of a test function that ``--cases some`` runs; above, it runs an eighth.
LEAST_CASES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", choices=["all", "some", "first"], default="all", help="of each test function"
    )


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    yield
    calls = metafunc._calls
    if metafunc.config.getoption("--cases") == "first" and len(calls) > 1:
        slow = {"long", "slow"}
        quick = [call for call in calls if slow.isdisjoint(mark.name for mark in call.marks)]
        calls[:] = [min(quick or calls, key=lambda call: zlib.crc32(call.id.encode()))]


@pytest.hookimpl(trylast=True)  # when marks have been looked at
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    cases = config.getoption("--cases")
    if cases == "all":
        return
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    kept: set[pytest.Item] = set()
    for each in functions.values():
        each.sort(key=lambda item: zlib.crc32(item.nodeid.encode()))
        count = 1 if cases == "first" else max(LEAST_CASES, len(each) // 8)
        kept.update(each if each[0].get_closest_marker("every_case") else each[:count])
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a network, or a skip where there is none."""
    playwright = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("chromium is not installed: make system installs it")
    options = ["--no-sandbox"] if os.getuid() == 0 else []
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=chromium, args=options)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Return a function that opens a page; any request, message or error fails the test."""

    @contextmanager
    def opening(text, address="", width=1280, **options):
        file = tmp_path / "lab.html"
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(
            offline=True, viewport={"width": width, "height": 900}, **options
        )
        page = context.new_page()
        events = []
        page.on("console", lambda message: events.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: events.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (events.append("dialog"), dialog.dismiss()))
        page.on("request", lambda request: events.append(f"request: {request.url[:200]}"))
        page.goto(file.as_uri() + address)
        assert events.pop(0).startswith(f"request: {file.as_uri()}")
        yield page
        context.close()
        assert events == []

    return opening
