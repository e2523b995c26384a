"""The benchmarks run: tiny sizes through the same code, nothing about time is asserted."""

from __future__ import annotations

import gzip
import json
import lzma
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from separable import TextEncoder

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(autouse=True)
def benchmarks_importable(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def tiny(benchmarks_importable):
    from benchmarks.settings import QUICK

    return replace(
        QUICK,
        repeats=2,
        slow_repeats=1,
        epochs=2,
        zipf_rows=300,
        zipf_features=500,
        dense_rows=400,
        sparse_rows=60,
        sparse_columns=200,
        table_rows=600,
        csv_rows=500,
        stream_bytes=200_000,
        most_rows=200,
        copy_bytes=1 << 16,
        calls=5,
        starts=1,
    )


def measured(name, seconds, epochs=10, accuracy=0.9, loss=None):
    from benchmarks.harness import Measure

    n = len(seconds)
    shares = [accuracy] * n
    losses = [] if loss is None else [loss] * n
    return Measure(name, 100, 6000, seconds, seconds, [epochs] * n, shares, shares, 1 << 20, losses)


@pytest.fixture
def two_classes(benchmarks_importable):
    from benchmarks.datasets import Data

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)).astype(np.float32)
    y = (X @ rng.normal(size=5) + 0.5 * rng.normal(size=300) > 0).astype(np.int64)
    return Data("planted", X[:200], y[:200], X[200:], y[200:])


# ------------------------------------------------------------------ whole rows


def test_rows_that_need_no_file_run_and_leave_numbers(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["zipf", "classes-zipf", "one-row"], tiny)
    printed = capsys.readouterr().out
    assert "## All figures" in printed
    assert "no target is judged" in printed
    json.dumps(report)
    first = report["rows"]["zipf"][0]
    names = [measure["name"] for measure in first["measures"]]
    assert names[:2] == ["separable float32", "scikit-learn float32"]
    for measure in first["measures"][:3]:
        assert measure["epochs"] == [2, 2]
        assert len(measure["seconds"]) == tiny.repeats
        assert all(0.4 < accuracy <= 1 for accuracy in measure["train_accuracy"])


def test_reading_whole_and_in_chunks(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["reading-csv", "reading-stream"], tiny)
    whole, stream = report["rows"]["reading-csv"][0], report["rows"]["reading-stream"][0]
    assert whole["apart"] == 0
    assert stream["rows"] > 1000
    assert "CSV to an encoded matrix, 500 x 12" in capsys.readouterr().out


def test_exact_learners_agree_with_their_peers(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["least-squares"], tiny)
    assert [line["difference"] < 1e-6 for line in report["rows"]["least-squares"]] == [True, True]
    json.dumps(report)
    assert "peak memory" in capsys.readouterr().out


def test_searches_of_both_sides_choose_the_same_penalty(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["ridge-folds", "ridge-left-out"], tiny)
    lines = [*report["rows"]["ridge-folds"], *report["rows"]["ridge-left-out"]]
    assert [line["difference"] < 1e-6 for line in lines] == [True] * 3
    json.dumps(report)
    assert "leave-one-out" in capsys.readouterr().out


@pytest.fixture
def few_peers(benchmarks_importable, monkeypatch):
    """Leave out the peers that compile themselves, and R."""
    from benchmarks import glmnet, sparse_peers

    monkeypatch.setattr(sparse_peers, "find_spec", lambda name: None)
    monkeypatch.setattr(glmnet, "_installed", lambda: False)


def test_paths_of_the_lasso_are_raced_to_every_optimum(tiny, few_peers, capsys, monkeypatch):
    from benchmarks.command import run_rows

    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    report = run_rows(["lasso-tall", "lasso-wide", "lasso-search"], tiny)
    json.dumps(report)
    printed = capsys.readouterr().out
    assert "skglm is not installed (extra `bench`): left out." in printed
    assert "optimum of 100 models, relative gap at most" in printed
    loosest, default = report["rows"]["lasso-tall"]
    assert max(loosest["excess"]) <= 1e-4
    assert {each["line"]["target"] for each in (loosest, default)} == {5, None}  # of the quicker
    searches = report["rows"]["lasso-search"]
    assert 1 <= len(searches) <= 2  # paths fold by fold may take so long that they are left out
    assert all(each["difference"] < 1e-3 for each in searches)
    assert {each["line"]["target"] for each in searches} <= {None, 5, 20}
    assert 20 in {each["line"]["target"] for each in searches}


def test_paths_of_logistic_regression_are_judged_by_their_own_optima(tiny, few_peers, capsys):
    from benchmarks import sparse_paths
    from benchmarks.datasets import make_zipf
    from benchmarks.report import Section

    pytest.importorskip("liblinear")
    section = Section()
    sparse_paths._logistic(make_zipf(tiny), tiny, section)
    assert (
        "glmnet is not installed (Rscript and r-cran-glmnet): left out." in capsys.readouterr().out
    )
    assert [line.peer.split(",")[0] for line in section.lines] == ["LIBLINEAR", "LIBLINEAR"]
    assert section.raw[0]["peak_bytes"][1] is None  # it runs once
    assert 0 < section.raw[0]["excess"][1] <= 1e-4
    json.dumps(section.raw)


def test_glmnet_finds_the_same_path(tiny):
    from benchmarks import glmnet
    from benchmarks.sparse_paths import falling_alphas, lasso_values
    from separable import Lasso
    from separable.select import path

    if not glmnet._installed():
        pytest.skip("Rscript with glmnet is not installed")
    rng = np.random.default_rng(0)
    X = sp.random_array((50, 20), density=0.3, rng=rng).tocsr()
    y = X @ rng.normal(size=20) + 0.1 * rng.normal(size=50)
    alphas = falling_alphas(X, y, 10, 1e-2)
    best = [one.dual for (one,) in path(Lasso(), X, y, alphas=alphas).certificates]
    for rows in (X, X.toarray()):
        (peer,) = glmnet.glmnet_path("gaussian", rows, y, alphas)
        found = peer.fit(1e-9)
        np.testing.assert_allclose(lasso_values(X, y, alphas, found), best, rtol=1e-5)
        assert len(found.seconds) == 2


def test_a_search_of_l1_logistic_regression(tiny, capsys):
    from benchmarks import sparse_search
    from benchmarks.datasets import make_zipf
    from benchmarks.report import Section

    section = Section()
    sparse_search.search_on(make_zipf(tiny), tiny, section)
    assert [line.target for line in section.lines] == [20, 1.6]
    assert section.raw[0]["gap"] <= 1e-4
    assert "one fit by" in capsys.readouterr().out


def test_all_classes_together_are_raced(tiny, capsys):
    from benchmarks.datasets import make_zipf, with_classes
    from benchmarks.multinomial import race_on
    from benchmarks.report import Section

    section = Section()
    race_on(with_classes(make_zipf(tiny), 3), 1.0, 3.0, ("lbfgs",), tiny, section)
    assert [raw["excess"][0] <= 1e-4 for raw in section.raw] == [True, True]
    assert "optimum, C = 1" in capsys.readouterr().out


def test_a_peer_that_cannot_be_best_is_left_out_aloud(tiny, capsys):
    from benchmarks.objective_race import Entrant, ObjectiveRace, Weights
    from benchmarks.report import Section

    def entrant(name, seconds, close):
        def fit(tol):
            return Weights(
                [1.0 if tol is not None and tol <= close else 2.0], [0.0], (9.0, seconds)
            )

        return Entrant(name, fit, (1.0, 0.1), once=True)

    race = ObjectiveRace("row", "data", "what", lambda found, _: found.coef[0], {"free": 1.0})
    peers = [entrant("quick", 1.0, 0.1), entrant("slow", 11.0, 0.1), entrant("never", 2.0, 0.0)]
    section = Section()
    race.run(entrant("ours", 1.0, 1.0), peers, 1, tiny, section)
    assert [line.peer.split(" ")[0] for line in section.lines] == ["quick,", "quick,", "never,"]
    printed = capsys.readouterr().out
    assert "slow, tol 1 takes 11 s and ends 1e+00 above its optimum: left out." in printed
    assert "never comes within 0.0001 at none of its tolerances." in printed


def test_a_peer_with_another_answer_does_not_count(tiny, capsys):
    from benchmarks.contest import Contest, Side, run_contest
    from benchmarks.report import Section

    section = Section()
    sides = Side("ours", lambda: 1.0), [Side("peer", lambda: 2.0)]
    contest = Contest("row", "data", "what", *sides, lambda a, b: abs(a - b), 0.5, 3.0)
    run_contest(contest, 1, tiny, section)
    assert section.lines[0].verdict == "does not count: answers differ by 1.0e+00"


def test_separability_agrees_with_highs(tiny, two_classes, capsys):
    from benchmarks import separability
    from benchmarks.report import Section

    section = Section()
    separability.judge_set(two_classes, tiny, section, large=True)
    separable = replace(two_classes, y=(two_classes.X[:, 0] > 0).astype(int))
    separability.judge_set(separable, tiny, section, large=False)
    assert [raw["verdict"]["kind"] for raw in section.raw] == ["overlap", "overlap", "separable"]
    assert all(raw["verdict"]["verified"] for raw in section.raw)
    assert [line.verdict for line in section.lines] == ["not judged"] * 3
    assert [line.target for line in section.lines] == [20, 10, 20]
    json.dumps(section.raw)
    assert "The proof verifies" in capsys.readouterr().out


def test_half_answers_of_highs_make_a_whole_one(benchmarks_importable):
    from benchmarks.highs import Answer
    from benchmarks.separability import by_half_answers, with_numbers

    halves = [
        Answer("HiGHS a", "not separable", 1.0, 1.0),
        Answer("HiGHS b", "not overlap", 2.0, 2.0),
        Answer("HiGHS c", None, 9.0, 9.0),
    ]
    assert by_half_answers(halves[:1]) is None
    both = by_half_answers(halves)
    assert (both.name, both.kind) == ("HiGHS a, then b", "quasi-separable")
    assert both.seconds == 3
    assert with_numbers(halves) is None
    assert with_numbers([*halves, Answer("HiGHS d", "overlap", 2.5, 2.5)]).kind == "overlap"


def test_highs_is_ended_at_the_limit(two_classes):
    from benchmarks.highs import ask

    answer = ask(two_classes.X, two_classes.y, "count", "highs-ds", 0.0)
    assert answer.kind is None


def test_dense_classes_and_the_limit_run_on_small_data(tiny, capsys, monkeypatch):
    from benchmarks import digits, limit
    from benchmarks.datasets import Data

    rng = np.random.default_rng(0)
    X = rng.random((90, 12), dtype=np.float32)
    y = X[:, :3].argmax(axis=1)
    section = digits.run_on(Data("noise", X[:60], y[:60], X[60:], y[60:]), tiny)
    in_order = section.raw[1]["measures"]
    assert in_order[0]["test_accuracy"] == in_order[1]["test_accuracy"]
    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    section = limit.run_limit(tiny)
    assert [line.data for line in section.lines] == ["Zipf", "Zipf"]
    assert "for the generated set only" in capsys.readouterr().out


def test_votes_are_measured_by_the_block(tiny, capsys):
    from benchmarks import voted
    from benchmarks.datasets import make_zipf

    section = voted.run_on(make_zipf(tiny), tiny)
    raw = section.raw[0]
    blocks = raw["seconds"]["votes"] / raw["blocks"] / raw["seconds"]["mean"]
    assert section.lines[0].value == pytest.approx(blocks)
    assert section.lines[0].verdict == "not judged"
    assert "rows/s" in capsys.readouterr().out


def test_discriminants_run_and_agree(tiny, capsys, monkeypatch):
    from benchmarks import lda
    from benchmarks.datasets import Data, make_gauss

    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    section = lda.run_lda(tiny)
    assert "Without one set: SEPARABLE_DATA is not set" in capsys.readouterr().out
    assert [line.verdict for line in section.lines] == ["not judged"] * 2
    assert all(raw["difference"] < 1e-8 for raw in section.raw)
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 12)), rng.integers(3, size=90)
    lda.run_digits(Data("noise", X[:60], y[:60], X[60:], y[60:]), tiny, section)
    lda.run_left_out(make_gauss(tiny, 3), tiny, section)
    left_out, fit = (section.raw[-1]["seconds"][side] for side in ("left out", "fit"))
    assert section.lines[-1].value == pytest.approx(left_out / fit, rel=1e-12)
    json.dumps(section.raw)


def test_naive_bayes_agrees_with_its_peer(tiny, capsys):
    from benchmarks import naive_bayes
    from benchmarks.datasets import make_zipf

    section = naive_bayes.run_on(make_zipf(tiny), tiny)
    assert [line.what for line in section.lines] == [
        "MultinomialNB, fit", "BernoulliNB, fit", "ComplementNB, fit",
    ]  # fmt: skip
    for raw in section.raw:
        assert raw["apart"] < 1e-10
        ours, _, double = raw["measures"]
        assert ours["epochs"] == [1, 1]
        assert ours["test_accuracy"] == double["test_accuracy"]
    assert "differ by at most" in capsys.readouterr().out


def test_text_encoders_agree(tiny, capsys, monkeypatch):
    from benchmarks import text_encoder
    from separable.datasets import __doc__ as text

    texts = [f"{word} film, {text}" for word in ("good", "boring", "Größe")] * 5
    monkeypatch.setattr(text_encoder, "load_reviews", lambda settings: texts)
    for run, lines in ((text_encoder.run_words, 6), (text_encoder.run_pairs, 6)):
        section = run(tiny)
        assert len(section.lines) == lines
        assert all(raw["apart"] < 1e-12 for raw in section.raw)
        json.dumps(section.raw)
    assert "MB/s" in capsys.readouterr().out
    other = TextEncoder().fit_transform(["good film", "film"])
    assert text_encoder.disagreement(other[:1], other[1:]) == np.inf


def test_training_by_the_command_and_by_its_peer(tiny, capsys, monkeypatch):
    import pyarrow as pa
    from pyarrow import parquet

    from benchmarks import train_command
    from separable.workflow.learners import LEARNERS

    def files(settings, folder):
        rng = np.random.default_rng(0)
        words = {
            "pos": ["good", "fine", "great", "lovely", "warm"],
            "neg": ["bad", "dull", "poor", "weak", "cold"],
        }
        labels = np.array(["pos", "neg"])[rng.integers(0, 2, 300)]
        texts = [" ".join(rng.choice([*words[label], "a", "film", "it"], 9)) for label in labels]
        table = pa.table({"label": labels, "text": texts})
        for part in ("train", "test"):
            parquet.write_table(table, folder / f"{part}.parquet")
        return folder / "train.parquet", folder / "test.parquet"

    monkeypatch.setattr(train_command, "imdb_files", files)
    monkeypatch.setattr(train_command, "SOLVERS", ("liblinear",))
    section = train_command.run_train(tiny)
    assert [line.target for line in section.lines] == [20, None]
    assert section.lines[0].verdict == "not judged"
    runs = [run for raw in section.raw for run in raw.values() if "accuracy" in run]
    assert len(runs) == 4
    assert all(run["accuracy"] > 0.95 and run["excess"] > -1e-5 for run in runs)
    assert max(run["excess"] for run in runs if run["name"].startswith("separable")) < 1e-4
    json.dumps(section.raw)
    strength = LEARNERS["logistic-regression"].regularization
    assert strength is not None
    assert strength.values == train_command.STRENGTHS
    assert "5 folds x 10 strengths" in capsys.readouterr().out


def test_encoders_agree_with_their_peers(tiny, capsys, monkeypatch):
    import pandas as pd

    from benchmarks import encoders

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(90) < 0.1, np.nan, rng.normal(size=90)),
            "city": rng.choice(["Rome", "Oslo", "Bern"], 90),
            "size": rng.integers(0, 9, 90).astype(float),
        }
    )
    for name in ("_flights", "_connections"):
        monkeypatch.setattr(encoders, name, lambda settings: ("made up", frame[["city", "size"]]))
    monkeypatch.setattr(encoders, "_adult", lambda settings: frame.fillna({"age": 0.0}))
    for run in (encoders.run_one_hot, encoders.run_table):
        section = run(tiny)
        assert {raw["difference"] < 1e-12 for raw in section.raw} == {True}
        assert {line.verdict for line in section.lines} == {"not judged"}
    assert len(section.lines) == 1


def test_cross_validations_agree(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["cross-validation"], tiny)
    json.dumps(report)
    rows = report["rows"]["cross-validation"]
    assert len(rows) == 4
    assert all(row["apart"] < 1e-8 for row in rows)
    assert {row["line"]["verdict"] for row in rows} == {"-"}
    assert "Scores of folds differ by at most" in capsys.readouterr().out


def test_one_fit_agrees_with_fits_without_a_row(tiny, capsys):
    from benchmarks.command import run_rows

    report = run_rows(["leave-one-out"], tiny)
    json.dumps(report)
    rows = report["rows"]["leave-one-out"]
    assert len(rows) == 8
    assert all(max(row["errors"]) < 0.5 for row in rows)
    assert "rows refitted" in capsys.readouterr().out


def test_same_schedules_run_with_losses_of_both_sides(tiny, capsys, monkeypatch):
    from benchmarks.command import run_rows

    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    report = run_rows(["sgd-same-schedule"], tiny)
    assert "Without one set: SEPARABLE_DATA is not set" in capsys.readouterr().out
    json.dumps(report)
    rows = report["rows"]["sgd-same-schedule"]
    assert [row["what"].split(",")[0] for row in rows] == ["constant step 1"] * 2 + ["optimal"]
    for row in rows:
        assert all(len(measure["test_loss"]) == tiny.repeats for measure in row["measures"])


def test_with_the_same_schedule_both_sides_learn_the_same_weights(two_classes):
    from sklearn.linear_model import SGDClassifier as PeerSGD

    from benchmarks.sgd import schedules
    from separable import SGDClassifier

    for schedule in schedules(0.01, 1e-3):
        same = {"max_iter": 3, "tol": None, "shuffle": False, "loss": "log_loss"}
        ours, peer = (
            make(**same, **schedule.parameters).fit(two_classes.X, two_classes.y)
            for make in (SGDClassifier, PeerSGD)
        )
        np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-3)


def test_races_run_against_plain_and_scaled_peers(tiny, two_classes, capsys):
    from benchmarks.report import Section
    from benchmarks.sgd_race import MOST_EPOCHS, Grid, race_on

    section = Section()
    for scaled in (False, True):
        race_on(two_classes, Grid(((0.1, True, (1, 2)),), scaled), 2, tiny, section)
    names = [measure["name"] for measure in section.raw[3]["measures"]]
    assert names[:MOST_EPOCHS] == ["separable's defaults"] * MOST_EPOCHS
    assert names[MOST_EPOCHS:] == [
        "scikit-learn, step 0.1, averaged, scaled",
        "scikit-learn, step 0.1, averaged, scaled",
        "scikit-learn's defaults, scaled",
    ]
    epochs = [measure["epochs"] for measure in section.raw[3]["measures"]]
    assert epochs[:-1] == [[n, n] for n in (*range(1, MOST_EPOCHS + 1), 1, 2)]
    assert len(section.lines) == 6
    assert "Each setting of the peer" in capsys.readouterr().out
    json.dumps(section.raw)


def test_a_vowpal_wabbit_that_is_not_installed_is_skipped_aloud(tiny, capsys, monkeypatch):
    from benchmarks import vowpal
    from benchmarks.command import run_rows

    monkeypatch.setattr(vowpal, "find_spec", lambda name: None)
    run_rows(["vw"], tiny)
    assert "SKIPPED vw: vowpalwabbit is not installed" in capsys.readouterr().out


def test_vowpal_wabbit_learns_from_its_cache_and_scores_as_it_says(tiny, two_classes, tmp_path):
    workspace = pytest.importorskip("vowpalwabbit").Workspace
    from benchmarks.report import Section
    from benchmarks.vowpal import Vowpal, race_on, write_cache

    cache, bits = write_cache(two_classes, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [cache.name]
    learner = Vowpal(cache, bits, 2.0, 5).fit(None, None)
    learner._workspace.save(tmp_path / "model")
    learned = learner.decision_function(two_classes.X_test)
    theirs = workspace(arg_list=["--quiet", "-t", "-i", str(tmp_path / "model")])
    row = " ".join(f"{j}:{value}" for j, value in enumerate(two_classes.X_test[0]))
    assert theirs.predict(f"| {row}") == pytest.approx(learned[0], rel=1e-4)
    theirs.finish()
    assert learner.score(two_classes.X_test, two_classes.y_test) > 0.8
    section = Section()
    race_on(two_classes, 1, tiny, section)
    assert len(section.lines) == 3


def test_without_intercept_and_shuffling_both_sides_learn_the_same_weights(tiny):
    from benchmarks.datasets import make_zipf
    from benchmarks.sparse_text import contests

    data = make_zipf(tiny)
    contest = next(c for c in contests(3) if "no intercept" in c.what)
    with pytest.warns(match="stopped after 3 epochs"):
        ours = contest.ours(0).fit(data.X, data.y)
    peer = contest.peer(0).fit(data.X, data.y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=0, atol=1e-4)


def test_rows_without_their_file_are_skipped_aloud(tiny, capsys, monkeypatch):
    from benchmarks.command import run_rows

    monkeypatch.delenv("SEPARABLE_DATA", raising=False)
    report = run_rows(["imdb", "mnist", "sgd-time-to-loss"], tiny)
    printed = capsys.readouterr().out
    assert "holds covtype/covtype.data.xz" in printed
    assert report["rows"]["sgd-time-to-loss"] == []
    assert "SKIPPED imdb: SEPARABLE_DATA is not set" in printed
    assert "Skipped for want of data: imdb, mnist." in printed
    assert set(report["rows"]["mnist"]) == {"skipped"}


def test_a_folder_without_the_file_is_named(tiny, tmp_path, monkeypatch):
    from benchmarks.datasets import MissingDataError, load_mnist

    monkeypatch.setenv("SEPARABLE_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"holds no mnist/train-images-idx3-ubyte\.gz"):
        load_mnist(tiny)


def test_an_unknown_row_is_refused(capsys):
    from benchmarks.command import run

    with pytest.raises(SystemExit):
        run(["speed-of-light"])
    assert "no row 'speed-of-light'; choose from imdb, zipf" in capsys.readouterr().err


# ------------------------------------------------------------------ data


def test_generated_set_is_the_same_each_time_and_has_its_shape(tiny):
    from benchmarks.datasets import make_zipf

    one, two = make_zipf(tiny), make_zipf(tiny)
    assert one.X.shape == (300, 500)
    assert one.X_test.shape == (60, 500)
    assert one.X.dtype == np.float32
    assert (one.X != two.X).nnz == 0
    np.testing.assert_array_equal(one.y, two.y)
    assert 50 < one.nonzeros / 300 < 70
    assert 0.3 < one.y.mean() < 0.7
    np.testing.assert_allclose(sp.linalg.norm(one.X, axis=1), 1, rtol=1e-5)


def test_planted_classes_all_occur(tiny):
    from benchmarks.datasets import make_zipf, with_classes

    data = with_classes(make_zipf(tiny), 16)
    assert set(data.y) == set(range(16))
    assert data.y_test.max() < 16


def test_census_and_forest_files_are_read_as_written(tiny, tmp_path, monkeypatch):
    from benchmarks.datasets import load_a9a, load_covtype

    for folder in ("a9a", "covtype"):
        (tmp_path / folder).mkdir()
    (tmp_path / "a9a/a9a.gz").write_bytes(gzip.compress(b"-1 1:1 123:1 \n+1 2:1 \n"))
    (tmp_path / "a9a/a9a.t.gz").write_bytes(gzip.compress(b"+1 3:1 \n"))
    rows = "\n".join(f"{i},{-i},{1 + i % 3}" for i in range(8))
    (tmp_path / "covtype/covtype.data.xz").write_bytes(lzma.compress(rows.encode()))
    monkeypatch.setenv("SEPARABLE_DATA", str(tmp_path))
    census = load_a9a(tiny)
    assert census.X.shape == (2, 123)
    assert census.X.dtype == np.float32
    assert census.X.indices.tolist() == [0, 122, 1]
    assert census.y.tolist() == [0, 1]
    assert census.X_test.indices.tolist() == [2]
    forest, binary = load_covtype(tiny, binary=False), load_covtype(tiny, binary=True)
    assert forest.X.shape == (6, 2)
    assert sorted([*forest.X[:, 0], *forest.X_test[:, 0]]) == list(range(8))
    np.testing.assert_array_equal(forest.y, 1 + forest.X[:, 0] % 3)
    np.testing.assert_array_equal(binary.y, forest.y == 2)


def test_digit_files_are_read_as_written(tmp_path):
    from benchmarks.datasets import read_idx

    images = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    header = b"\x00\x00\x08\x03" + np.array(images.shape, dtype=">u4").tobytes()
    good, bad = tmp_path / "good.gz", tmp_path / "bad.gz"
    good.write_bytes(gzip.compress(header + images.tobytes()))
    bad.write_bytes(gzip.compress(b"\x00\x00\x0d\x01abcd"))
    np.testing.assert_array_equal(read_idx(good), images)
    with pytest.raises(ValueError, match=r"bad\.gz is not an IDX file of bytes"):
        read_idx(bad)


# ------------------------------------------------------------------ judging


def test_ratio_is_of_medians_and_by_epoch_where_epochs_differ():
    ours, peer = measured("ours", [1.0, 2.0, 9.0]), measured("peer", [5.0, 6.0, 7.0])
    assert ours.ratio_to(peer) == 3
    assert ours.ratio_to(measured("peer", [6.0, 6.0, 6.0], epochs=20)) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("peer_seconds", "peer_accuracy", "verdict"),
    [
        (4.0, [0.9], "met"),
        (3.9, [0.9], "missed"),
        (40.0, [0.92], "does not count: less accurate"),
        (40.0, [0.905, 0.93, 0.89], "met"),
    ],
)
def test_a_fast_but_worse_model_does_not_count(peer_seconds, peer_accuracy, verdict):
    from benchmarks.report import compare

    peer = measured("peer", [peer_seconds] * len(peer_accuracy))
    peer.test_accuracy = peer_accuracy
    line = compare("row", "what", "data", measured("ours", [1.0]), peer, target=4, judged=True)
    assert line.verdict == verdict
    assert line.cells()[-2:] == [">= 4 x", verdict]


def test_a_higher_loss_does_not_count():
    from benchmarks.report import compare

    ours, peer = measured("ours", [1.0], loss=0.305), measured("peer", [9.0], loss=0.3)
    line = compare("row", "what", "data", ours, peer, target=2, judged=True)
    assert line.verdict == "does not count: higher loss"
    assert line.ours == "1 s, 90.0%, loss 0.3050"
    peer = measured("peer", [9.0], loss=0.303)
    assert compare("row", "what", "data", ours, peer, target=2, judged=True).verdict == "met"


def test_log_loss_is_that_of_the_probabilities():
    from sklearn.metrics import log_loss as expected

    from benchmarks.losses import log_loss

    rng = np.random.default_rng(0)
    scores, label = rng.normal(size=(50, 3)), rng.integers(3, size=50)
    shares = 1 / (1 + np.exp(-scores))
    probable = shares / shares.sum(axis=1, keepdims=True)
    assert log_loss(scores, label) == pytest.approx(expected(label, probable))
    two = label > 0
    assert log_loss(scores[:, 0], two) == pytest.approx(expected(two, shares[:, 0]))
    assert log_loss(np.array([-1000.0]), np.array([1])) == 1000


def test_a_race_is_to_the_peers_loss_and_a_miss_is_told():
    from benchmarks.race import first_to_reach, goals

    slow, quick = measured("slow", [9.0], loss=0.3), measured("quick", [3.0], loss=0.3014)
    poor = measured("defaults", [1.0], loss=0.4)
    close, best, usual = goals([slow, quick, poor], [poor])
    assert (close.peer, close.loss) == (quick, pytest.approx(0.3015))
    assert (best.peer, best.loss) == (slow, 0.3)
    assert (usual.peer, usual.loss, usual.judged) == (poor, 0.4, False)
    ours = [measured("ours", [n], epochs=n, loss=loss) for n, loss in ((1, 0.35), (2, 0.3012))]
    assert first_to_reach(ours, close.loss) is ours[1]
    assert first_to_reach(ours, best.loss) is None
    assert first_to_reach(ours, usual.loss) is ours[0]


def test_a_race_not_won_is_a_line_without_a_figure():
    from benchmarks.race import Goal, race_line

    ours = [measured("ours", [1.0], epochs=1, loss=0.35), measured("ours", [2.0], loss=0.32)]
    peer = measured("peer", [8.0], epochs=1, loss=0.3)
    line = race_line("row", "data", Goal("best", 0.3, peer, True), ours, target=3, judged=True)
    assert line.cells()[3:5] == ["at best 2 s, 10 epochs, 0.3200", "peer: 8 s, 1 epoch, 0.3000"]
    assert line.cells()[5:] == ["-", ">= 3 x", "not reached"]
    line = race_line("row", "data", Goal("best", 0.33, peer, True), ours, target=3, judged=True)
    assert (line.value, line.verdict) == (4, "met")


def test_runs_take_turns_and_the_first_place_goes_round():
    from benchmarks.harness import interleave

    seen = []
    runs = [lambda turn, k=k: lambda: (k, turn) for k in "ab"]
    times = interleave(runs, 3, lambda which, answer: seen.append((which, *answer)))
    assert seen == [(0, "a", 0), (1, "b", 0), (1, "b", 1), (0, "a", 1), (0, "a", 2), (1, "b", 2)]
    assert [len(run) for run in times] == [3, 3]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_peak_memory_sees_an_array_that_is_gone_again():
    from benchmarks.harness import peak_growth

    def work():
        np.ones(8 << 20).sum()

    assert 60 << 20 < peak_growth(work) < 100 << 20
    assert peak_growth(lambda: None) < 8 << 20


def test_a_failure_in_the_memory_process_is_told():
    from benchmarks.harness import peak_growth

    if not Path("/proc/self/status").exists():
        pytest.skip("the system does not tell")
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        peak_growth(lambda: 1 // 0)


def test_streamed_bytes_are_values_columns_and_starts():
    from benchmarks.datasets import Data
    from benchmarks.limit import streamed_bytes

    X = sp.csr_matrix(np.eye(3, dtype=np.float32))
    y = np.zeros(3)
    assert streamed_bytes(Data("eye", X, y, X, y)) == 3 * 4 + 3 * 4 + 4 * 4


# ------------------------------------------------------------------ readers of text


def test_readers_are_raced_on_the_same_matrix(tiny, tmp_path, capsys):
    from benchmarks.parsers import Text, _race_svmlight
    from benchmarks.report import Section

    path, section = tmp_path / "rows.svm", Section()
    path.write_text("1 1:0.5 3:2\n-1 2:1e-3\n" * 50)
    _race_svmlight(Text("rows", path, 4), 1e9, tiny, section)
    assert [line.what for line in section.lines] == [
        "reading text, all threads",
        "reading text, one thread",
    ]
    assert all(raw["same"] for raw in section.raw)
    assert "The same matrix: yes" in capsys.readouterr().out


def test_features_are_compared_with_those_of_vowpal_wabbit(tmp_path):
    pytest.importorskip("vowpalwabbit")
    from benchmarks.parsers import same_as_vowpal

    path = tmp_path / "rows.vw"
    path.write_text("1 |t good film good\n-1 |t bad |n 12:0.5 :3\n")
    assert same_as_vowpal(path)


def test_forecasts_are_counted(tiny, capsys, monkeypatch):
    from benchmarks import learning_curves
    from benchmarks.command import run_rows

    few = list(islice(learning_curves._problems(tiny), 2))
    monkeypatch.setattr(learning_curves, "_problems", lambda settings: few)
    report = run_rows(["learning-curve"], tiny)
    assert "truth within the interval at 4n" in capsys.readouterr().out
    shares = [row["share"] for row in report["rows"]["learning-curve"] if "share" in row]
    assert len(shares) == 2
    assert all(0 <= share <= 1 for share in shares)
