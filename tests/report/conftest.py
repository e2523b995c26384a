from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def browser():
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
