"""Names and values that try to get out of their quotes, in every language."""

from __future__ import annotations

import re
import sqlite3

import pytest

from separable import LinearModel, TableEncoder, TextEncoder
from separable.export import LANGUAGES, ExportError, export
from separable.export.languages.sql import sql_columns
from separable.export.plan import literals
from tests.export import models
from tests.export.running import agree, answers, self_test

EVERY = pytest.mark.parametrize("language", LANGUAGES)

WORDS = [
    "'; DROP TABLE rows; --",
    '"; DROP TABLE rows; --',
    "*/ evil /*",
    "-- comment",
    "// comment",
    "# comment",
    "new\nline",
    "carriage\r\nreturn",
    "back\\slash",
    "ends with \\",
    "${process.exit(7)}",
    "`tick`",
    "</script><script>alert(1)</script>",
    "<!-- html -->",
    "%s %d %n",
    "??/ trigraph ??=",
    '"""',
    "'''",
    "{x!r}",
    "control \x01\x02\x1b[31m\x7f\x85",
    "emoji \U0001f600\U0001f468\u200d\U0001f469",
    "right-to-left \u202e\u05e9\u05dc\u05d5\u05dd\u202c",
    "line \u2028 paragraph \u2029 separators \ufeff",
    "select",
    "FROM",
    "__proto__",
    "constructor",
    "__class__",
    "lambda",
    "int",
    "a b",
    "a_b",
    "a-b",
    "a.b[0]",
    "c:Q",
    "v0",
    "k1",
    "column_3",
    "scores",
    "prediction",
    " leading and trailing ",
    "long " * 400,
    "\\u0041",
    "\\x41",
    "é",
    "e\u0301",
    "ﬁ",
    "1",
    "nan",
]


def hostile(columns, levels, classes):
    n = len(levels)
    table = {column: levels[i:] + levels[:i] for i, column in enumerate(columns)}
    table["number " + columns[0]] = [float(i) for i in range(n)]
    table["flag " + columns[0]] = [i % 2 == 0 for i in range(n)]
    encoder = TableEncoder(category=list(columns)).fit(table)
    model = models.random_model(encoder, len(classes), "softmax")
    model = LinearModel(
        model.weights, model.intercept, sorted(classes), "softmax", encoder=encoder,
        learner="*/ '; DROP TABLE rows; -- \n",
    )  # fmt: skip
    return model, [*models.rows_of(table, model), tuple([None] * len(table))]


@EVERY
def test_hostile_levels_and_classes(language, tmp_path):
    model, rows = hostile(["c"], WORDS, WORDS[:20])
    agree(model, rows, answers(language, model, rows, tmp_path))
    self_test(language, model, tmp_path)


@EVERY
def test_hostile_columns(language, tmp_path):
    model, rows = hostile(WORDS, WORDS[:6], ["x", "y", "z"])
    agree(model, rows, answers(language, model, rows, tmp_path))
    if language == "sql":
        assert "It holds no test" in export(model, to="sql")
        quiet = [word for word in WORDS if "*/" not in word]
        model, _ = hostile(quiet, WORDS[:6], ["x", "y", "z"])
    self_test(language, model, tmp_path)


@EVERY
def test_texts_with_nul(language, tmp_path):
    """A NUL character is a character like others, but not in names of SQL and strings of ONNX."""
    levels = ["a", "a\0", "a\0b", "\0", "b"]
    model, rows = hostile(["c"], levels, ["x", "y\0", "z"])
    if language == "onnx":  # its runtime takes texts up to the first NUL: another level or class
        with pytest.raises(
            ExportError, match=r"Column 'c' has the level '.*x00.*', which holds a NUL"
        ):
            export(model, to="onnx")
        model, _ = hostile(["c"], ["a", "b", "c"], ["x", "y\0y", "z"])
        with pytest.raises(ExportError, match=r"the class 'y\\x00y', which holds a NUL"):
            export(model, to="onnx")
    else:
        agree(model, rows, answers(language, model, rows, tmp_path))
    model, rows = hostile(["c\0d"], ["a", "b", "c"], ["x", "y", "z"])
    if language == "onnx":  # names of columns are replaced
        agree(model, rows, answers(language, model, rows, tmp_path))
    if language == "sql":
        with pytest.raises(ExportError, match="NUL character, which no name in SQL can"):
            export(model, to="sql")
    else:
        self_test(language, model, tmp_path)


def test_one_statement_and_nothing_else_in_sql():
    """SQLite refuses more than one statement in a call: there is none to be run besides."""
    model, _ = hostile(["c"], WORDS, WORDS[:20])
    base = sqlite3.connect(":memory:")
    base.execute('CREATE TABLE "rows" ("c", "number c", "flag c")')
    base.execute(export(model, to="sql"))
    assert base.execute("SELECT name FROM sqlite_master").fetchall() == [("rows",)]


@pytest.mark.parametrize("name", WORDS)
def test_names_of_tables_and_kept_columns_in_sql(name):
    model = LinearModel([[1.0, 2.0]], [0.0], None, "identity", ["x", "y"])
    quoted = '"' + name.replace('"', '""') + '"'
    base = sqlite3.connect(":memory:")
    base.execute(f"CREATE TABLE {quoted} (x, y, {'id' if name == 'prediction' else quoted})")
    base.execute(f"INSERT INTO {quoted} VALUES (1, 2, 'kept')")
    keep = ["id" if name == "prediction" else name]
    assert base.execute(export(model, to="sql", table=name, keep=keep)).fetchall() == [
        ("kept", 5.0)
    ]


@pytest.mark.parametrize("language", ["python", "js", "c"])
def test_nothing_of_the_data_stands_outside_of_literals(language):
    """Files are ASCII, and hostile texts come in escapes of the language."""
    model, _ = hostile(WORDS, WORDS[:6], ["x", "y", "z"])
    code = export(model, to=language)
    assert code.isascii()
    assert "<script" not in code or language == "python"
    assert "\x01" not in code
    assert "DROP TABLE" in code
    comments = {"python": r"^\s*#.*$|^\"\"\".*?\"\"\"", "js": r"^\s*//.*$", "c": r"/\*.*?\*/"}[
        language
    ]
    flags = re.MULTILINE | (re.DOTALL if language == "c" else 0)
    assert not [found for found in re.findall(comments, code, flags) if "DROP TABLE" in found]


@pytest.mark.parametrize("language", ["python", "js"])
def test_hostile_words_in_texts(language, tmp_path):
    encoder = TextEncoder(analyzer="char_wb", ngram_range=(1, 3), stop_words=None).fit(WORDS)
    model = models.random_model(encoder, 3, "softmax")
    agree(model, WORDS, answers(language, model, WORDS, tmp_path))
    self_test(language, model, tmp_path)


def test_a_script_element_of_a_page_is_not_closed():
    model, _ = hostile(["</script>"], WORDS, ["x", "</script>", "<!--"])
    code = export(model, to="js")
    assert "</script" not in code
    assert "<!--" not in code


@pytest.mark.parametrize("language", ["python", "js"])
def test_large_models_are_held_as_text_of_json(language, tmp_path, monkeypatch):
    monkeypatch.setattr(literals, "LONGEST", 100)
    monkeypatch.setattr(literals, "_LINE", 7)  # so that lines end within escapes
    model, rows = hostile(WORDS[:6], WORDS, ["a", "b", "c"])
    made = export(model, to=language)
    assert ("json.loads(" if language == "python" else "JSON.parse(") in made
    agree(model, rows, answers(language, model, rows, tmp_path))
    model, rows = models.text_column()
    agree(model, rows, answers(language, model, rows, tmp_path))


@pytest.mark.parametrize("most", [60, 3])
def test_levels_that_are_joined_in_sql(most, tmp_path, monkeypatch):
    monkeypatch.setattr(sql_columns, "FEWEST", 2)
    monkeypatch.setattr(sql_columns, "_MOST_JOINS", most)
    model, rows = hostile(WORDS[3:12], WORDS, ["a", "b", "c"])
    made = export(model, to="sql")
    assert made.count("LEFT JOIN") == 2 * min(most, 9)  # the query, and its test
    agree(model, rows, answers("sql", model, rows, tmp_path))
    self_test("sql", model, tmp_path)
    for case in (models.infrequent, lambda: models.rare_levels("error"), models.mushrooms):
        model, rows = case()
        rows = [row for row in rows if row[0] is None or isinstance(row[0], str)]
        agree(model, rows, answers("sql", model, rows, tmp_path))
