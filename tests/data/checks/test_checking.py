from __future__ import annotations

import datetime as dt
import io
import zipfile

import numpy as np
import pytest

from separable.data import TableError, check, duplicates_between, read
from separable.data.checks.duplicate_rows import equal_by_chance
from separable.data.checks.leakage import _auc, _explained, _right
from separable.datasets import PENGUINS
from tests.data_files import data_file

RNG = np.random.default_rng(3)
N = 400


def clean(n=N, seed=0):
    """A table of which there is nothing to say."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, 2))
    return {
        "height": x[:, 0] * 7 + 170,
        "width": x[:, 1] + 30,
        "colour": rng.choice(["red", "green", "blue"], n),
        "bought": np.where(x[:, 0] + rng.standard_normal(n) > 0, "yes", "no"),
    }


def only(findings, kind):
    finding = findings.of_kind(kind)
    assert len(finding) == 1, findings
    return finding[0]


def test_nothing_is_said_of_clean_data():
    assert len(check(clean(), "bought")) == 0
    assert str(check(clean(), "bought")) == "nothing found"
    assert len(check(clean())) == 0
    assert len(check(PENGUINS, "species")) == 0


# --- leakage ---


def test_the_target_in_other_words():
    table = clean() | {"flag": np.where(clean()["bought"] == "yes", 1, 0)}
    finding = only(check(table, "bought"), "leakage")
    assert finding.severity == "warning"
    assert finding.columns == ("flag",)
    assert finding.options == {"drop": ("flag",)}
    assert "'flag' encodes the target 'bought'" in finding.text


def test_a_number_that_is_the_target_in_another_unit():
    table = clean()
    table["miles"] = table["height"] / 1.609
    finding = only(check(table, "miles", drop=["bought"]), "leakage")
    assert finding.columns == ("height",)


def test_a_column_that_alone_gives_the_target_away_is_a_suspect():
    rng = np.random.default_rng(1)
    table = clean()
    delay = rng.normal(0, 30, N)
    table["bought"] = np.where(delay > 15, "late", "in time")
    table["delay"] = delay
    finding = only(check(table, "bought"), "leakage")
    assert finding.severity == "warning"
    assert finding.columns == ("delay",)
    assert "may leak the target" in finding.text
    assert "AUC 1.000" in finding.text


def test_a_strong_but_honest_column_is_none():
    rng = np.random.default_rng(1)
    table = clean()
    table["score"] = (table["bought"] == "yes") + rng.normal(0, 0.5, N)
    assert not check(table, "bought").of_kind("leakage")


def test_many_levels_do_not_predict_by_having_one_row_each():
    rng = np.random.default_rng(1)
    table = clean() | {"street": rng.integers(0, 150, N).astype(str)}
    assert not check(table, "bought").of_kind("leakage")


def test_few_rows_prove_nothing():
    table = {"x": np.arange(30.0) % 7, "z": np.arange(30.0), "y": np.repeat(["a", "b"], 15)}
    assert not check(table, "y").of_kind("leakage")


def test_a_name_after_the_target_needs_less():
    rng = np.random.default_rng(1)
    table = clean()
    same = rng.random(N) < 0.93
    other = np.where(table["bought"] == "yes", "no", "yes")
    table["bought_before"] = np.where(same, table["bought"], other)
    assert only(check(table, "bought"), "leakage").columns == ("bought_before",)
    table["liked"] = table.pop("bought_before")
    assert not check(table, "bought").of_kind("leakage")


def test_a_name_that_says_afterwards():
    rng = np.random.default_rng(1)
    table = clean()
    table["call_duration"] = (table["bought"] == "yes") + rng.normal(0, 0.8, N)
    finding = only(check(table, "bought"), "leakage")
    assert finding.columns == ("call_duration",)
    assert "its name suggests that it is known only after the target" in finding.text


def test_a_sum_of_columns():
    rng = np.random.default_rng(1)
    parts = rng.poisson(50, (N, 2))
    table = {"rain": rng.random(N), "a": parts[:, 0], "b": parts[:, 1]}
    table["all"] = parts @ [1, 2] + 3
    finding = only(check(table, "all"), "leakage")
    assert finding.columns == ("a", "b")
    assert "all = a + 2 b" in finding.text
    table["all"] = table["all"] + rng.normal(0, 1, N)
    assert not check(table, "all").of_kind("leakage")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_right_answers_of_the_other_half(n_classes):
    rng = np.random.default_rng(n_classes)
    groups, y = rng.integers(0, 9, 200), rng.integers(0, n_classes, 200)
    half = rng.random(200) < 0.5
    right = 0
    for fitted in (half, ~half):
        common = np.bincount(y[fitted]).argmax()
        for group, actual in zip(groups[~fitted], y[~fitted], strict=True):
            here = y[fitted][groups[fitted] == group]
            counts = np.bincount(here, minlength=n_classes)
            best = np.flatnonzero(counts == counts.max())  # the largest of equals
            right += (best[-1] if len(here) else common) == actual
    assert _right(groups, y, half) == right / 200


def test_explained_variance_of_the_other_half():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 5, 300)
    y = groups + rng.normal(0, 1, 300)
    half = rng.random(300) < 0.5
    away = 0.0
    for fitted in (half, ~half):
        means = [y[fitted & (groups == group)].mean() for group in range(5)]
        away += sum((y[~fitted] - np.array(means)[groups[~fitted]]) ** 2)
    assert _explained(groups, y, half) == pytest.approx(1 - away / sum((y - y.mean()) ** 2))


def test_area_under_the_curve():
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    values, y = rng.integers(0, 20, 200).astype(float), rng.integers(0, 2, 200)
    expected = roc_auc_score(y, values)
    assert _auc(values, y) == pytest.approx(max(expected, 1 - expected))


# --- rows ---


def test_rows_that_come_again():
    table = {name: np.append(values, values[:40]) for name, values in clean().items()}
    finding = only(check(table, "bought"), "duplicate rows")
    assert finding.severity == "warning"
    assert finding.rows == (400, 401, 402, 403, 404)
    assert "40 of 440 rows (9.1%)" in finding.text
    assert "data row 401 repeats data row 1" in finding.text


def test_rows_of_few_values_come_again_by_chance():
    rng = np.random.default_rng(0)
    table = {name: rng.choice(["a", "b"], 1000) for name in "pqr"}
    assert not check(table, "r").of_kind("duplicate rows")


def test_rows_that_contradict_bound_the_accuracy():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = {name: rng.integers(0, 9, 500) for name in "pqr"} | {"y": rng.choice(["a", "b"], 500)}
    frame = pandas.DataFrame(table)
    groups = frame.groupby(["p", "q", "r"])["y"].agg(lambda each: each.value_counts().max())
    finding = only(check(table, "y"), "contradicting rows")
    assert f"more than {groups.sum() / 500:.2%} of these rows" in finding.text
    first, second = finding.rows
    assert (frame.loc[first, ["p", "q", "r"]] == frame.loc[second, ["p", "q", "r"]]).all()
    assert frame.loc[first, "y"] != frame.loc[second, "y"]


def test_duplicates_between_tables_like_a_join():
    rng = np.random.default_rng(0)
    dates = np.array(["2024-01-01", "2024-02-01", "NaT"], dtype="datetime64[us]")

    def table(n):
        return {
            "n": rng.choice([0.0, -0.0, 1.5, np.nan], n),
            "c": rng.choice(np.array(["a", "b", None], dtype=object), n),
            "t": dates[rng.integers(0, 3, n)],
            "b": rng.random(n) < 0.5,
        }

    train, test = table(20), table(60)

    def rows(table):
        as_text = [
            [str(v + 0.0) if isinstance(v, float) else str(v) for v in column]
            for column in table.values()
        ]
        return list(zip(*as_text, strict=True))

    known = rows(train)
    expected = [row for row, values in enumerate(rows(test)) if values in known]
    count, examples = duplicates_between(train, test)
    assert count == len(expected)
    assert [row for _, row in examples] == expected[:5]
    assert all(rows(train)[ours] == rows(test)[theirs] for ours, theirs in examples)


def test_duplicates_between_tables_of_other_types_and_columns():
    assert duplicates_between({"x": [1, 2], "y": [0, 1]}, {"x": ["2", "3"], "z": [0, 0]}) == (
        1,
        [(1, 0)],
    )
    assert duplicates_between({"x": [1]}, {"y": [1]}) == (0, [])
    assert duplicates_between({"x": []}, {"x": [1]}) == (0, [])


# --- the target ---


def test_a_target_that_is_missing():
    table = clean()
    table["bought"] = np.where(np.arange(N) == 7, None, table["bought"])
    finding = only(check(table, "bought"), "missing target")
    assert finding.severity == "note"
    assert finding.rows == (7,)
    assert "1 of 400 rows" in finding.text


def test_uneven_and_rare_classes():
    rng = np.random.default_rng(0)
    table = clean() | {
        "bought": np.array(["no"] * 390 + ["yes"] * 9 + ["maybe"])[rng.permutation(N)]
    }
    finding = check(table, "bought")
    assert "97.5% of the rows are 'no'" in only(finding, "imbalance").text
    rare = only(finding, "rare classes")
    assert rare.severity == "warning"
    assert "'maybe', 'yes' (1, 9 rows)" in rare.text


def test_a_target_that_drifts():
    table = clean()
    place = np.arange(N) / N
    table["bought"] = np.where(np.random.default_rng(0).random(N) < place, "yes", "no")
    finding = only(check(table, "bought"), "drift")
    assert "drifts along the file" in finding.text
    day = np.datetime64("2024-01-01") + np.arange(N)
    mixed = np.random.default_rng(1).permutation(N)
    table = {name: values[mixed] for name, values in (table | {"day": day}).items()}
    finding = only(check(table, "bought"), "drift")
    assert finding.options == {"time": ("day",)}
    assert not check(table, "bought", time="day").of_kind("drift")


def test_a_file_sorted_by_its_target_does_not_drift():
    order = np.argsort(clean()["bought"], kind="stable")
    table = {name: values[order] for name, values in clean().items()}
    assert not check(table, "bought").of_kind("drift")
    order = np.argsort(clean()["height"])
    table = {name: values[order] for name, values in clean().items()}
    assert not check(table, "height").of_kind("drift")


# --- columns ---


def finding_of(**columns):
    findings = check(clean() | columns, "bought")
    assert len(findings) == 1, findings
    return findings[0]


def test_columns_that_say_nothing():
    assert finding_of(city=["Rome"] * N).kind == "constant"
    assert finding_of(city=[None] * N).kind == "empty"
    assert finding_of(age=[np.nan] * (N - 2) + [1, 2]).kind == "nearly empty"


def test_identifiers():
    row = finding_of(nr=np.arange(1, N + 1))
    assert (row.kind, row.severity) == ("identifier", "warning")
    number = finding_of(customer_id=RNG.permutation(N) * 7)
    assert (number.kind, number.severity) == ("identifier", "warning")
    text = finding_of(ticket=[f"A{row}" for row in range(N)])
    assert (text.kind, text.severity) == ("identifier", "note")
    assert len(check(clean() | {"note": [f"this is the note of {row}" for row in range(N)]})) == 0


def test_codes_and_groups():
    code = finding_of(zip_code=RNG.integers(10_000, 10_040, N))
    assert (code.kind, code.options) == ("code", {"category": ("zip_code",)})
    table = clean() | {"zip_code": RNG.integers(10_000, 10_040, N)}
    assert not check(table, "bought", asked=["zip_code"])
    group = finding_of(patientId=[f"p{row}" for row in RNG.integers(0, 60, N)])
    assert (group.kind, group.options) == ("group", {"group": ("patientId",)})
    table = clean() | {"patient_id": [f"p{row}" for row in RNG.integers(0, 60, N)]}
    assert not check(table, "bought", group="patient_id")


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (np.where(np.arange(N) % 40 == 3, -999, RNG.normal(20, 5, N)), "is -999 in 10 rows"),
        (np.where(np.arange(N) % 40 == 3, 9999, RNG.normal(20, 5, N)), "is 9999 in 10 rows"),
    ],
)
def test_numbers_that_stand_for_missing_values(values, text):
    finding = finding_of(pressure=values)
    assert finding.kind == "missing as a number"
    assert finding.rows[0] == 3
    assert text in finding.text


def test_zeros_that_stand_for_missing_values():
    pressure = np.round(RNG.normal(70, 8, N))
    assert (
        finding_of(pressure=np.where(np.arange(N) % 9 == 4, 0, pressure)).kind == "missing as zero"
    )
    counts = RNG.poisson(30, N) * (RNG.random(N) > 0.1) + RNG.poisson(2, N)
    assert not check(clean() | {"counts": counts}, "bought")


def test_an_outlier_that_dominates():
    age = RNG.integers(18, 90, N).astype(float)
    age[77] = 34_000
    finding = finding_of(age=age)
    assert (finding.kind, finding.rows) == ("outlier", (77,))
    assert "is 34000 in data row 78; all others lie from 18 to 89" in finding.text
    assert not check(clean() | {"income": np.exp(RNG.normal(10, 1, N))}, "bought")


def test_a_row_of_totals_is_named():
    months = [f"m{k}" for k in range(40)]
    (found,) = (
        f for f in check({"m": [*months, "Total"], "x": [*range(40), 780]}) if f.kind == "totals"
    )
    assert (found.columns, found.rows) == (("m",), (40,))
    assert "Remove that row" in found.text
    below = {"m": [*months, "Summe:", "* preliminary"], "x": [*range(40), 780, None]}
    (found,) = [f for f in check(below) if f.kind == "totals"]
    assert found.rows == (40,)
    assert "and those below it" in found.text
    assert not [f for f in check({"m": ["Total", *months], "x": range(41)}) if f.kind == "totals"]
    assert not [f for f in check({"m": ["Total", "part"] * 20}) if f.kind == "totals"]


def test_numbers_but_for_a_few_values():
    values = [str(v) for v in RNG.integers(0, 1000, N)]
    values[30], values[31] = "oops", "1-5"
    finding = finding_of(age=values)
    assert (finding.kind, finding.severity) == ("words as missing", "warning")
    assert "2 values count as missing: 'oops' (1), '1-5' (1)" in finding.text
    assert not check(clean() | {"age": values}, "bought", asked=["age"])
    values[30:60] = [f"oops {'x' * i}" for i in range(30)]
    finding = finding_of(age=values)
    assert (finding.kind, finding.rows[0]) == ("mixed types", 30)
    assert "30 of its 400 values are not plain numbers" in finding.text


def test_dates_that_are_texts_or_numbers():
    days = [dt.date(2020, 1, 1) + dt.timedelta(int(day)) for day in RNG.integers(0, 200, N)]
    assert not check(clean() | {"day": [f"{d:%d/%m/%Y}" for d in days]}, "bought")
    assert not check(clean() | {"day": [f"{d:%d %b %Y}" for d in days]}, "bought")
    early = [d.replace(day=1 + d.day % 12) for d in days]
    finding = finding_of(day=[f"{d:%d/%m/%Y}" for d in early])
    assert finding.kind == "not converted"
    assert finding.options == {"convert": ("day=day-first",)}
    early_days = {"day": [f"{d:%d/%m/%Y}" for d in early]}
    assert not check(clean() | early_days, "bought", conversions={"day": "day-first"})
    assert finding_of(day=[int(f"{d:%Y%m%d}") for d in days]).kind == "date as a number"
    assert not check(clean() | {"day": [d.isoformat() for d in days]}, "bought")


def test_one_level_in_two_spellings():
    finding = finding_of(answer=RNG.choice(["Yes", "yes ", "no"], N))
    assert finding.kind == "spellings"
    assert "'Yes'" in finding.text
    assert "'yes '" in finding.text
    table = clean()
    table["bought"] = np.where(np.arange(N) % 5 == 0, "YES", table["bought"])
    assert only(check(table, "bought"), "spellings").severity == "warning"


@pytest.mark.parametrize(
    "text", ["caf\u00c3\u00a9", "it\u00e2\u20ac\u2122s", "a\ufffdb", "it\x92s"]
)
def test_letters_of_another_encoding(text):
    values = np.where(np.arange(N) % 4 == 2, text, "a plain word")
    finding = finding_of(place=values)
    assert (finding.kind, finding.rows[0]) == ("encoding", 2)


def test_letters_of_other_languages_are_none():
    words = ["caf\u00e9", "\u00c3 bient\u00f4t", "\u6771\u4eac", "na\u00efve", "\u20ac 5"]
    assert not check(clean() | {"place": RNG.choice(words, N)}, "bought")


def test_columns_that_say_the_same():
    table = clean()
    table["inches"] = table["height"] / 2.54
    finding = only(check(table, "bought"), "duplicate columns")
    assert finding.columns == ("height", "inches")
    names = {"red": "rot", "green": "gruen", "blue": "blau"}
    finding = finding_of(farbe=[names[colour] for colour in clean()["colour"]])
    assert "one to one with 'colour'" in finding.text
    finding = finding_of(again=clean()["colour"])
    assert "the same values as 'colour'" in finding.text


def test_many_findings_of_a_kind_are_folded():
    wide = {f"copy{place}": clean()["height"] ** 1 + place for place in range(3)}
    wide |= {f"when{place}": ["01/02/2020", "03/04/2021", "05/06/2022"] * 133 + ["01/02/2020"]
             for place in range(9)}  # fmt: skip
    texts = [each.text for each in check(clean() | wide, "bought").of_kind("not converted")]
    assert len(texts) == 5
    assert "The same in 5 more places" in texts[-1]


# --- the call ---


def test_columns_that_are_not_learned_from_are_not_looked_at():
    table = clean() | {"w": ["1"] * N, "flag": clean()["bought"]}
    assert len(check(table, "bought", weight="w", drop=["flag"])) == 0


def test_a_target_by_its_place_and_a_path(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,b,y\n" + "".join(f"{row % 13},x,{row % 3}\n" for row in range(60)))
    assert check(path, -1).notes[-1].columns == ("b",)
    assert check(path, 2).n_rows == 60


def test_what_cannot_be_checked():
    with pytest.raises(TableError, match=r"no column 'boght' \(did you mean 'bought'\?\)"):
        check(clean(), "boght")
    with pytest.raises(TableError, match="no column 'w'"):
        check(clean(), "bought", weight="w")
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TableError, match="sparse matrix has no named columns"):
        check(sparse.eye_array(3).tocsr())


def test_findings_as_json_values():
    import json

    table = clean() | {"city": ["Rome"] * N}
    plain = check(table, "bought").to_dict()
    assert json.loads(json.dumps(plain))["findings"][0]["options"] == {"drop": ["city"]}
    assert (plain["rows"], plain["rows_sampled"]) == (N, N)


def test_a_large_table_is_sampled(monkeypatch):
    from separable.data.checks import table_view

    monkeypatch.setattr(table_view, "SAMPLE_ROWS", 150)
    table = clean() | {"flag": clean()["bought"]}
    finding = check(table, "bought")
    assert (finding.n_rows, finding.n_sampled) == (N, 150)
    assert [each.kind for each in finding] == ["leakage"]


@pytest.mark.parametrize("seed", range(30))
def test_no_table_is_too_odd(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([0, 1, 2, 5, 60, 150]))
    values = [
        lambda: rng.choice([np.nan, np.inf, -np.inf, 0.0, 1e308, -1e308, 5e-324], n),
        lambda: rng.choice(np.array(["", " ", "\x00", "a", None], dtype=object), n),
        lambda: np.full(n, np.nan),
        lambda: np.array([None] * n, dtype=object),
        lambda: rng.random(n) < 0.5,
        lambda: rng.choice(np.array(["NaT", "2020-01-01", "1677-09-22"], "datetime64[us]"), n),
        lambda: np.full(n, 3.0),
        lambda: rng.standard_normal(n),
        lambda: np.arange(n),
    ]
    names = [f"user_id{place}" for place in range(int(rng.integers(1, 6)))]
    table = {name: values[rng.integers(len(values))]() for name in names}
    for target in (None, names[-1]):
        for task in (None, "classification"):
            str(check(table, target, task=task))


# --- real data ---


@pytest.mark.parametrize(
    ("parts", "target", "options", "expected"),
    [
        (("iris", "iris.data"), -1, {"header": False}, set()),
        (("bank-marketing", "bank-additional-full.csv.gz"), "y", {}, {"duration", "pdays"}),
        (("imdb", "imdb.parquet"), "label", {}, {"rating"}),
        (("islp", "Smarket.csv.gz"), "Direction", {}, {"Today"}),
        (("islp", "Wage.csv.gz"), "wage", {}, {"logwage"}),
        (
            ("pima-diabetes", "pima-indians-diabetes.data"),
            -1,
            {"header": False},
            {"c2", "c3", "c4", "c5", "c6"},
        ),
        (("california-housing", "cal_housing.data.gz"), -1, {"header": False}, set()),
        (("adult", "adult.data.gz"), -1, {"header": False}, {"c11"}),
    ],
)
def test_known_traps(parts, target, options, expected):
    table = read(data_file(*parts), **options).table
    finding = check(table, target)
    assert {name for each in finding.warnings for name in each.columns} == expected
    assert len(finding.notes) <= 2


def test_the_sum_of_the_bicycles():
    archive = zipfile.ZipFile(data_file("bike-sharing", "Bike-Sharing-Dataset.zip"))
    table = read(io.BytesIO(archive.read("hour.csv"))).table
    finding = check(table, "cnt")
    assert finding.warnings[0].columns == ("casual", "registered")
    assert "cnt = casual + registered" in finding.warnings[0].text


def test_rounded_multiples_of_the_target_name_no_other_columns():
    rng = np.random.default_rng(4)
    rent, area, rooms = (
        rng.uniform(300, 2000, 400),
        rng.uniform(20, 140, 400),
        rng.uniform(1, 6, 400),
    )
    table = {"rent": rent.round(2), "area": area, "rooms": rooms, "deposit": (2 * rent).round(2)}
    finding = check(table, target="rent", task="regression").warnings[0]
    assert finding.columns == ("deposit",)
    assert "rent = 0.5 deposit, up to a constant. Leave it out" in finding.text


def test_words_for_missing_among_classes():
    labels = ["ja", "nein"] * 20 + ["k.A."]
    found = check({"x": [*range(41)], "y": labels}, target="y")
    (finding,) = [f for f in found if f.kind == "missing as a class"]
    assert finding.options == {"missing": ("k.A.",)}
    plain = check({"x": [*range(41)], "y": [*labels[:-1], "unknown"]}, target="y")
    assert not [f for f in plain if f.kind == "missing as a class"]


def test_swapped_letters_are_typos_beside_few_rows():
    def kinds(labels):
        found = check({"x": [*range(len(labels))], "y": labels}, target="y")
        return [f.kind for f in found if f.kind == "typo in the target"]

    assert kinds(["nein"] * 3 + ["Nien"] + ["ja"] * 6)
    assert not kinds(["rein"] * 3 + ["nein"] + ["ja"] * 6)
    assert kinds(["reins"] * 30 + ["neins"] + ["ja"] * 6)


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_more_lines_of_a_header_are_named(lines):
    rng = np.random.default_rng(0)
    levels = np.array(["agree", "neutral", "disagree"])
    heads = [f"line {k}" for k in range(lines)]
    table = {
        "a": [f"a {head}" for head in heads] + levels[rng.integers(0, 3, 200)].tolist(),
        "b": [f"b {head}" for head in heads] + [f"{v:.2f}" for v in rng.normal(size=200)],
        "id": [f"x{k}" for k in range(200 + lines)],
        "y": [f"y {head}" for head in heads] + ["yes", "no"] * 100,
    }
    (found,) = [each for each in check(table, "y") if each.kind == "header lines"]
    assert found.rows == tuple(range(lines))
    assert "'a line 0'" in found.text
    assert ("first row is" if lines == 1 else f"first {lines} rows are") in found.text
    data = {name: column[lines:] for name, column in table.items()}
    assert not [each for each in check(data, "y") if each.kind == "header lines"]


def test_a_first_row_of_rare_levels_is_data():
    rng = np.random.default_rng(0)
    levels = np.array(["agree", "neutral", "disagree"])
    for _ in range(20):
        table = {f"q{k}": levels[rng.integers(0, 3, 40)].tolist() for k in range(3)}
        table["q0"][0] = "other"
        table["x"] = rng.normal(size=40).tolist()
        assert not [each for each in check(table) if each.kind == "header lines"]


def test_rows_that_are_equal_by_chance():
    rng = np.random.default_rng(0)
    few = {"a": rng.integers(0, 4, 500).tolist(), "b": rng.integers(0, 3, 500).tolist()}
    assert equal_by_chance(few) == 1.0
    some = {name: rng.integers(0, 40, 500).tolist() for name in "abc"}
    again = {name: rng.integers(0, 40, 20_000).tolist() for name in "abc"}
    expected = duplicates_between(some, again)[0] / 20_000
    assert equal_by_chance(some) == pytest.approx(expected, rel=0.3)
    assert equal_by_chance({"c": rng.normal(size=500).tolist(), **few}) < 0.2
