from __future__ import annotations

import io
import time

import pytest

from separable.cli.render import messages
from separable.cli.render.messages import Step
from separable.data.reading_report import Progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def impatient(monkeypatch):
    """No waiting before lines."""
    for name in ("PATIENCE", "LINE_INTERVAL", "LOG_INTERVAL"):
        monkeypatch.setattr(messages, name, 0.001)


def shown(stream: io.StringIO, text: str) -> None:
    """Wait until the text is shown."""
    while text not in stream.getvalue():
        time.sleep(0.001)


@pytest.mark.usefixtures("impatient")
def test_a_long_step_shows_how_far_it_is_and_wipes_its_line():
    stream = Screen()
    step = Step("Reading a.csv", stream)
    step.reading(Progress(5_000_000, 10_000_000, 9))
    shown(stream, "\rReading a.csv ... 50%  5 MB  9 rows  0 s")
    step(0.25, "learner 1 of 4: lda")
    shown(stream, "\rReading a.csv ... learner 1 of 4: lda  25%  0 s  about 0 s left")
    step.end()
    assert "\n" not in stream.getvalue()
    last = stream.getvalue().rsplit("\r", 2)
    assert last[1].strip() == last[2] == ""
    assert len(last[1]) >= len("Reading a.csv ... learner 1 of 4: lda  25%  0 s  about 0 s left")


@pytest.mark.usefixtures("impatient")
def test_a_line_is_no_wider_than_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = Screen()
    step = Step("Reading a file with a long name", stream)
    shown(stream, "Reading")
    step.end()
    assert max(map(len, stream.getvalue().split("\r"))) == 19


def test_the_time_left(monkeypatch):
    step = Step("Comparing", None)
    step(0.2, "lda")
    monkeypatch.setattr(Step, "seconds", 30.0)
    assert step.line() == "Comparing ... lda  20%  30 s  about 120 s left"


@pytest.mark.usefixtures("impatient")
def test_a_log_gets_whole_lines():
    stream = io.StringIO()
    step = Step("Comparing", stream, logs=True)
    step(0.5, "learner 2 of 3: lda")
    shown(stream, "Comparing ... learner 2 of 3: lda  50%  0 s  about 0 s left\n")
    step.end()
    assert "\r" not in stream.getvalue()
    assert stream.getvalue().endswith("\n")


@pytest.mark.parametrize("stream", [Screen(), io.StringIO()])
def test_short_work_shows_nothing(stream):
    step = Step("Comparing", stream, logs=True)
    step(0.5, "lda")
    step.end()
    assert stream.getvalue() == ""


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize(("verbosity", "lines"), [(-1, False), (0, True)])
def test_quiet_shows_no_progress(monkeypatch, verbosity, lines):
    stream = Screen()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(messages, "verbosity", lambda: verbosity)
    with messages.step("Reading"):
        if lines:
            shown(stream, "Reading")
        else:
            time.sleep(0.05)
    assert bool(stream.getvalue()) == lines


def test_a_log_that_nobody_asked_for_stays_empty():
    step = Step("Reading", io.StringIO())
    assert step._thread is None
