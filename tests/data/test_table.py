"""Names of columns in messages."""

from __future__ import annotations

import pytest

from separable.data.table import TableError, require_columns


def test_a_missing_column_suggests_close_names_and_lists_what_there_is():
    with pytest.raises(
        TableError,
        match=r"data\.csv has no column 'Speces' \(did you mean 'species'\?\)\. Its columns are "
        r"'species', 'island'\.$",
    ):
        require_columns(["Speces"], ["species", "island"], "data.csv")


def test_a_header_line_that_reads_like_data_is_remarked_on():
    with pytest.raises(TableError, match=r"looks like data.*a header line may be missing"):
        require_columns(["y"], ["5.1", "3.5", "setosa"], "iris.data")


def test_names_by_position_say_that_there_may_be_no_header_line():
    with pytest.raises(TableError, match=r"A table without a header line has columns 'c1', 'c2'"):
        require_columns(["species"], ["c1", "c2"], "iris.data")
    with pytest.raises(TableError, match=r"Its columns are 'c1', 'c3'\.$"):
        require_columns(["species"], ["c1", "c3"], "iris.data")
