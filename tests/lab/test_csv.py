"""CSV files that are dropped on the lab: data, or a message that says what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.lab.in_node import in_node

READ = "given.map((text) => { try { return csv.dataOf(text); } catch (e) { return e.message; } })"
SCRIPT = "<img src=x onerror=alert(1)>"


def read(text):
    return in_node(READ, [text])[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n2\n", "one column"),
        ("a,b\n1,2\n3,4\n", "between 2 and 20 classes"),
        ("a,b,c\nx,y,u\nz,w,v\n", "a column of numbers"),
        ("a,b,c\n1,2,u\n3,4.5,u\n7.5,6,u\n", "one class"),
        ("a,b,c\n" + "1,2,u\n" * 3000, "between 2 and 20 classes"),
        (" " * 2_000_001, "larger than 2 MB"),
        ("", "no rows"),
        ("a,b,c\n", "no rows"),
        ('a,b,c\n1,2,"u\n3,4,v\n', "no rows"),
    ],
    ids=range(9),
)
def test_messages(text, message):
    answer = read(text)
    assert isinstance(answer, str), answer
    assert message in answer


def test_separators_quotes_and_missing_numbers():
    text = '"x; 1";b;c\r\n1.5;2;"say ""no"""\r\n3;4;v\r\n' + "5;6;v\r\n" * 9 + ";7;v\r\n"
    data = read(text)
    assert data["columns"] == ["x; 1", "b"]
    assert data["classes"] == ['say "no"', "v"]
    assert len(data["X"]) == 11
    assert data["X"][0] == [1.5, 2]
    assert data["y"][:2] == [-1, 1]


def test_a_sample_of_many_rows():
    rows = "".join(f"{i},{i % 5},{'uv'[i % 2]}\n" for i in range(100_000))
    answer = in_node(
        "(() => { const t = csv.tableOf(given); const { X } = csv.dataOf(t); "
        "return [t.count, X.map((x) => x[0])]; })()",
        "i,b,c\n" + rows,
    )
    assert answer[0] == 100_000
    assert len(set(answer[1])) == 2000
    assert answer[1] == sorted(answer[1])
    assert 40_000 < np.mean(answer[1]) < 60_000


def test_one_column_of_numbers_is_enough():
    data = read("a,b\n1,x\n2,y\n")
    assert (data["columns"], data["X"], data["y"]) == (["a"], [[1], [2]], [-1, 1])


def test_classes_and_columns_can_be_chosen():
    text = "id,a,b,c,kind\n1,5,0,7,u\n2,6,1,8,v\n3,7,0,9,w\n4,8,1,5,v\n"
    chosen = "given[1].map((choice) => csv.dataOf(given[0], choice))"
    kinds, numbers = in_node(
        chosen, [text, [{"target": 4, "columns": [1, 3], "negative": "v"}, {"target": 2}]]
    )
    assert kinds["columns"] == ["a", "c"]
    assert kinds["classes"] == ["v", "any other"]
    assert kinds["y"] == [1, -1, 1, -1]
    assert numbers["columns"] == ["id", "a"]
    assert numbers["classes"] == ["0", "1"]
    none = "(() => { try { return csv.dataOf(given, { columns: [] }); } catch (e) { return e.message; } })()"  # noqa: E501
    assert "at least one column" in in_node(none, text)


def test_decimal_commas():
    data = read("a;b;k\n1,5;2;u\n-0,25;3;v\n4;5,0;u\n7;8;v\n")
    assert data["X"] == [[1.5, 2], [-0.25, 3], [4, 5], [7, 8]]


HOSTILE = [
    "__proto__,constructor,toString\n1,2,x\n3,4,y\n5,6,x\n",
    "a,b,k\n1e999,2,x\n3,4,y\n5,6,x\n" + "7,8,y\n" * 20,
    "=cmd|calc,b,k\n1,2,=1+1\n3,4,@x\n5,6,=1+1\n",
    "a,b,k\n" + "1,2,\x00\n3,4,\u202e\n" * 3,
    "a,b,k\n1,2,x,extra\n3\n5,6,y\n7,8,x\n" + "9,1,y\n" * 20,
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(5))
def test_strange_files_are_finite_rows_of_two_classes(text):
    data = read(text)
    assert np.isfinite(data["X"]).all()
    assert {len(row) for row in data["X"]} == {len(data["columns"])}
    assert set(data["y"]) == {-1, 1}
    assert len(data["y"]) == len(data["X"])


def test_scripts_are_text():
    data = read(f'"{SCRIPT}",b,c\n1,2,"</script>"\n3,4,v\n5,6,v\n7,8.5,v\n')
    assert data["classes"] == ["</script>", "v"]
    assert data["columns"] == [SCRIPT, "b"]


def test_of_numbers_only_the_last_column_with_few_values_is_the_class():
    data = read("a,b,c\n1,2,0\n3,4,1\n5,6,0\n")
    assert data["columns"] == ["a", "b"]
    assert data["classes"] == ["0", "1"]
    assert read("a,b,c\n1,2,u\n3,4,v\n5,6,w\n")["classes"] == ["u", "any other"]
