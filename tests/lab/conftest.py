"""A page of the lab in a browser."""

from __future__ import annotations

from contextlib import contextmanager

import pytest


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
