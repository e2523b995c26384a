"""The learners that ``separable train --model`` knows. A new one is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "DEFAULT_LEARNERS",
    "LEARNERS",
    "Learner",
    "Task",
    "classifier",
    "new_learner",
    "options_for",
    "regressor",
]

Task: TypeAlias = Literal["classification", "regression"]


@dataclass(frozen=True)
class Learner:
    """A learner that is not imported yet.

    Parameters
    ----------
    task : {"classification", "regression"}
        Whether it predicts classes or numbers.
    place : str
        Its module and class, ``module:Class``.
    """

    task: Task
    place: str

    def load(self) -> Any:
        """Return its class."""
        module, _, name = self.place.partition(":")
        return getattr(import_module(module), name)


def classifier(place: str) -> Learner:
    """Return a learner of classes."""
    return Learner("classification", place)


def regressor(place: str) -> Learner:
    """Return a learner of numbers."""
    return Learner("regression", place)


LEARNERS = {
    "averaged-perceptron": classifier("separable.online.averaged_perceptron:AveragedPerceptron"),
    "batch-perceptron": classifier("separable.online.batch_perceptron:BatchPerceptron"),
    "bayesian-regression": regressor("separable.moments.bayesian_regression:BayesianRegression"),
    "bernoulli-nb": classifier("separable.moments.bernoulli_nb:BernoulliNB"),
    "complement-nb": classifier("separable.moments.complement_nb:ComplementNB"),
    "lda": classifier("separable.moments.lda:LDA"),
    "least-squares": regressor("separable.moments.least_squares:LeastSquares"),
    "least-squares-classifier": classifier(
        "separable.moments.least_squares_classifier:LeastSquaresClassifier"
    ),
    "linear-gaussian-nb": classifier("separable.moments.linear_gaussian_nb:LinearGaussianNB"),
    "linear-svm": classifier("separable.certified.linear_svm:LinearSVM"),
    "linear-svm-cv": classifier("separable.certified.linear_svm_cv:LinearSVMCV"),
    "linear-svr": regressor("separable.certified.linear_svr:LinearSVR"),
    "logistic-regression": classifier("separable.certified.logistic_regression:LogisticRegression"),
    "logistic-regression-cv": classifier(
        "separable.certified.logistic_regression_cv:LogisticRegressionCV"
    ),
    "multinomial-nb": classifier("separable.moments.multinomial_nb:MultinomialNB"),
    "perceptron": classifier("separable.online.perceptron:Perceptron"),
    "ridge": regressor("separable.moments.ridge:Ridge"),
    "ridge-cv": regressor("separable.moments.ridge_cv:RidgeCV"),
    "sgd-classifier": classifier("separable.online.sgd_classifier:SGDClassifier"),
    "sgd-regressor": regressor("separable.online.sgd_regressor:SGDRegressor"),
    "voted-perceptron": classifier("separable.online.voted_perceptron:VotedPerceptron"),
    "widrow-hoff": regressor("separable.online.widrow_hoff:WidrowHoff"),
}

#: Without --model: they search their own strength of regularisation.
DEFAULT_LEARNERS: dict[Task, str] = {
    "classification": "logistic-regression-cv",
    "regression": "ridge-cv",
}


def new_learner(name: str, seed: int, values: NDArray[Any] | None = None) -> Any:
    """Return a learner to be fitted; the seed goes to those that take one.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    seed : int
    values : ndarray, optional
        What it is to learn: where a class has too few rows for folds, a learner that searches is
        replaced by the plain one.
    """
    import inspect

    learner = LEARNERS[name].load()
    seeded = "random_state" in inspect.signature(learner).parameters
    made = learner(random_state=seed) if seeded else learner()
    if values is not None and hasattr(made, "can_search") and not made.can_search(values):
        return made.without_search()
    return made


def options_for(task: Task) -> str:
    """Return what to type for the learners of a task, with "or" between, or ''."""
    names = (name for name, learner in LEARNERS.items() if learner.task == task)
    return " or ".join(f"--model {name}" for name in names)
