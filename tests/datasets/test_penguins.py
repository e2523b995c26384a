from __future__ import annotations

from separable.data import read
from separable.data.table import missing_counts
from separable.datasets import PENGUINS


def test_the_published_counts():
    table = read(PENGUINS).table
    assert table.num_rows == 344
    species = table["species"].to_pylist()
    assert [species.count(s) for s in ("Adelie", "Chinstrap", "Gentoo")] == [152, 68, 124]
    assert sum(missing_counts(table).values()) == 19
    assert (PENGUINS.parent / "README.md").read_text().count("Horst") == 1
