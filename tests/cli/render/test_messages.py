from __future__ import annotations

import io
import time

from separable.cli.render import messages
from separable.cli.render.messages import Step
from separable.data.reading_report import Progress


def test_a_long_step_shows_how_far_it_is_and_wipes_its_line(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(messages, "PATIENCE", 0.001)
    step = Step("Reading a.csv", shown=True)
    for say, text in (
        (lambda: step.reading(Progress(5_000_000, 10_000_000, 9)), " ... 50%  5 MB  9 rows  0 s"),
        (lambda: step(3, 8, "folds"), " ... 3 of 8 folds  0 s"),
        (lambda: step(4), " ... 4  0 s"),
    ):
        say()
        while text.rsplit("  ", 1)[0] not in stream.getvalue():
            time.sleep(0.001)
    step.end()
    last = stream.getvalue().rsplit("\r", 2)
    assert last[1].strip() == last[2] == ""
    assert len(last[1]) >= len("Reading a.csv ... 4  0 s")


def test_a_step_that_nobody_sees_writes_nothing(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    step = Step("Reading", shown=False)
    step(1, 2)
    step.end()
    assert stream.getvalue() == ""
