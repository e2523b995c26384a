from __future__ import annotations

import pytest

from separable import TableEncoder
from separable.features.encoding_report import EncodingReport


@pytest.mark.parametrize("step", [1, 2, 3, 5, 100])
def test_the_reports_of_parts_join_to_that_of_the_whole(step):
    encoder = TableEncoder().fit({"x": [1, 2, None], "c": ["a", "b", "a"], "z": [1, 2, 3]})
    rows = [
        {"x": None if i % 3 else i, "c": [None, "a", "p", "q", "q", "r", "s"][i % 7], "z": i}
        for i in range(23)
    ]
    rows[0]["z"] = rows[20]["x"] = None
    starts = range(0, len(rows), step)
    parts = [encoder.encode_with_report(rows[start : start + step])[1] for start in starts]
    whole = encoder.encode_with_report(rows)[1]
    assert EncodingReport.joined(parts, encoder.sources) == whole
