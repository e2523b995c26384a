from __future__ import annotations

import io

from separable.data.reading_report import Progress, ProgressLine


def test_a_line_is_written_over_and_ended():
    stream = io.StringIO()
    line = ProgressLine(stream, every=0)
    line(Progress(5_000_000, 10_000_000, 1000))
    line(Progress(10_000_000, 10_000_000, 2000))
    first, last = " 50%  5 MB  1000 rows", "100%  10 MB  2000 rows"
    assert stream.getvalue() == f"\r{first}\r{last.ljust(len(first))}\n"


def test_updates_within_the_interval_are_left_out_but_the_end_is_shown():
    stream = io.StringIO()
    line = ProgressLine(stream, every=1e9)
    for done in (1, 2, 3, 4):
        line(Progress(done * 1_000_000, 4_000_000, done))
    assert stream.getvalue() == "\r 25%  1 MB  1 rows\r100%  4 MB  4 rows\n"


def test_a_total_that_is_not_known():
    assert str(Progress(2_000_000, None, 7)) == "2 MB  7 rows"
