"""Comparisons that Ctrl-C or a budget ends, and their progress."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

import separable
from separable import LDA, LogisticRegression
from separable.cli.app import run as command
from separable.datasets import PENGUINS
from separable.errors import OptionError
from separable.workflow.comparison import early_end
from separable.workflow.progress import Listener, listening

TWO = {"target": "species", "model": ["logistic-regression", "lda"], "curves": "no", "folds": 3}
WORDS = ["train", str(PENGUINS), "--target", "species", "--curves", "no", "--folds", "3"]
WORDS += ["--model", "logistic-regression", "--model", "lda", "-o", "out.safetensors"]


def press_ctrl_c(*_: object, **__: object):
    raise KeyboardInterrupt


@pytest.fixture
def lda_interrupted(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(LDA, "fold_fits", press_ctrl_c)


class Clock:
    """A clock that only the test puts forward."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


class Progress(Listener):
    """Keeps what the steps report."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, str]] = []

    @contextmanager
    def step(self, what: str):
        yield lambda share, what: self.reports.append((share, what))


@pytest.mark.usefixtures("lda_interrupted")
def test_ctrl_c_keeps_the_finished_learners():
    run = separable.train(str(PENGUINS), **TWO)
    assert [each.name for each in run.leaderboard] == ["logistic-regression"]
    warned = [str(each) for each in run.warnings]
    assert "The comparison was interrupted. Not compared: lda." in warned
    alone = separable.train(str(PENGUINS), **{**TWO, "model": "logistic-regression"})
    assert run.model.weights.tolist() == alone.model.weights.tolist()
    assert run.evaluation.figures == alone.evaluation.figures


@pytest.mark.usefixtures("lda_interrupted")
def test_the_command_says_so_and_saves_a_model(capsys, tmp_path):
    assert command(WORDS) == 0
    err = capsys.readouterr().err
    assert "Warning: The comparison was interrupted. Not compared: lda." in err
    assert "Press Ctrl-C again to abort." in err
    assert (tmp_path / "out.safetensors").exists()


@pytest.mark.usefixtures("lda_interrupted")
def test_ctrl_c_a_second_time_aborts(monkeypatch, tmp_path):
    monkeypatch.setattr(LogisticRegression, "fit", press_ctrl_c)
    assert command(WORDS) == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("lda_interrupted")
def test_ctrl_c_before_any_learner_is_finished_aborts():
    with pytest.raises(KeyboardInterrupt):
        separable.train(str(PENGUINS), **{**TWO, "model": ["lda", "logistic-regression"]})


@pytest.mark.parametrize(
    ("budget", "compared"),
    [(5, 1), (10, 1), (10.5, 2)],
)
def test_the_budget_ends_the_comparison_after_a_learner(monkeypatch, budget, compared):
    clock, validate = Clock(), early_end._with_progress
    monkeypatch.setattr(early_end, "time", clock)

    def ten_seconds(*given):
        clock.now += 10
        return validate(*given)

    monkeypatch.setattr(early_end, "_with_progress", ten_seconds)
    run = separable.train(str(PENGUINS), budget=budget, **TWO)
    warned = " ".join(str(each) for each in run.warnings)
    assert {each.name for each in run.leaderboard} == set(TWO["model"][:compared])
    assert (f"budget ({budget:g} s). Not compared: lda." in warned) == (compared == 1)
    assert ("depends on the speed of the machine" in warned) == (compared == 1)


@pytest.mark.parametrize("budget", [0, -1, float("nan"), float("inf"), "soon", True])
def test_a_budget_is_a_number_above_0(budget):
    with pytest.raises(OptionError, match="a number of seconds above 0"):
        separable.train(str(PENGUINS), "species", budget=budget)


def test_a_wrong_budget_on_the_command_line(capsys):
    assert command(["train", str(PENGUINS), "--target", "species", "--budget", "soon"]) == 2
    assert "--budget soon: give a number of seconds above 0." in capsys.readouterr().err


def test_a_stream_has_no_budget():
    with pytest.raises(OptionError, match=r"budget=5.* cannot be used with a stream"):
        separable.train(str(PENGUINS), "species", stream=True, budget=5)


def test_the_progress_of_a_comparison_counts_learners_and_fits():
    progress = Progress()
    with listening(progress):
        run = separable.train(str(PENGUINS), **TWO)
    values = len(run.leaderboard["logistic-regression"].tried)
    texts = [what for _, what in progress.reports]
    assert texts[0] == "learner 1 of 2: logistic-regression"
    assert texts[1 : 3 * values + 1] == [
        f"learner 1 of 2: logistic-regression, {fit} of {3 * values} fits"
        for fit in range(1, 3 * values + 1)
    ]
    assert texts[3 * values + 1] == "learner 2 of 2: lda"
    assert texts[-1].startswith("learner 2 of 2: lda, ")
    shares = [share for share, _ in progress.reports]
    assert shares == sorted(shares)
    assert (shares[0], shares[3 * values], shares[-1]) == (0.0, 0.5, 1.0)


def test_the_progress_of_lines_and_curves_counts_rows():
    progress = Progress()
    with listening(progress):
        separable.train(str(PENGUINS), **{**TWO, "curves": "auto"})
    reports = [each for each in progress.reports if "learner" not in each[1]]
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] == 1.0
    assert all(text.endswith(" rows held out") for _, text in reports)
