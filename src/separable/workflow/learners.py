"""Registry of learners for the commands. A new learner is one entry of `LEARNERS`.

An entry names the task, the class, the regularization parameter with the values to try, and the
data for which ``--model auto`` tries it. The commands ``train``, ``compare`` and ``path``, their
help and completion follow from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "AUTO",
    "LEARNERS",
    "Facts",
    "Learner",
    "Regularization",
    "Task",
    "classifier",
    "learners_of",
    "names_of",
    "new_learner",
    "regressor",
    "takes",
]

Task: TypeAlias = Literal["classification", "regression"]

#: Default of --model: all learners that suit the data.
AUTO = "auto"

#: Maximum features for learners in auto that store a matrix of features x features.
MANY_FEATURES = 600

#: Maximum features for which certified learners solve systems of features x features.
SYSTEM_FEATURES = 512

#: Products per row to compare a certified learner over its whole grid: for each pair of
#: non-zeros up to SYSTEM_FEATURES features, for each non-zero beyond.
PAIR, SINGLE = 1.0, 12.0

#: Relative cost of piecewise linear losses (hinge, absolute) up to SYSTEM_FEATURES features, and
#: the maximum work for which auto tries them: about ten seconds.
PIECEWISE_LINEAR_COST = 20.0
MOST_WORK = 5e7
MOST_WORK_MANY = 3e8

#: Work budget of a model in the comparison of auto, in passes times non-zeros: about ten seconds
#: for the 50 models of five folds, on any machine and with any threads. At least this many passes
#: are run.
MODEL_WORK, MIN_PASSES = 7e7, 15
#: Maximum passes for piecewise linear losses with more than SYSTEM_FEATURES features. Beyond,
#: another solver would factor systems of features x features.
PIECEWISE_LINEAR_PASSES = 60

#: Maximum features for the lasso in auto: its working set grows with them.
LASSO_FEATURES = 20_000

#: A row costs at least as much as one with this many non-zeros.
LEAST_NONZEROS = 20.0

#: Maximum features for least squares in auto: beyond, ridge regression is as good, and dependent
#: columns are slow.
EXACT_FEATURES = 64


@dataclass(frozen=True)
class Facts:
    """Properties of encoded data that decide which learners suit it.

    Parameters
    ----------
    rows, features : int
    classes : int
        0 for regression.
    nonzeros : float
        Mean over the rows.
    nonnegative : bool
        No encoded value is negative: there are only texts and categories.
    text : bool
        Whether there are columns of free text.
    deviation : float, default 1.0
        The standard deviation of a regression target.
    smoothed : bool
        Whether smoothing levels of curves and pairs are estimated from the rows.
    interactions : bool
        Whether there are products of columns.
    constrained : bool
        Whether effects of columns have a given direction.
    """

    rows: int
    features: int
    classes: int
    nonzeros: float
    nonnegative: bool
    text: bool
    deviation: float = 1.0
    smoothed: bool = False
    interactions: bool = False
    constrained: bool = False

    @property
    def work(self) -> float:
        """Cost per row of comparing a certified learner with a smooth loss over its whole grid."""
        models = self.classes if self.classes > 2 else 1
        if self.features > SYSTEM_FEATURES:
            return models * SINGLE * self.nonzeros
        return models * PAIR * max(self.nonzeros, LEAST_NONZEROS) ** 2


@dataclass(frozen=True)
class Regularization:
    """A regularization parameter and the values to try.

    Parameters
    ----------
    name : str
    values : tuple of float
    per_row : bool, default False
        Whether the values are multiplied by the number of rows, as the sum of squared errors
        grows with it.
    unit : callable, optional
        Factor of the values, given the standard deviation of the target and the parameters that
        were set; 1 by default.
    near_levels : tuple of float
        The values to try where smoothing levels are estimated, which it multiplies; empty: all.
    mean_loss : bool, default False
        Whether these are divided by the number of rows, as the loss is a mean.
    """

    name: str
    values: tuple[float, ...]
    per_row: bool = False
    unit: Callable[[float, Mapping[str, Any]], float] | None = None
    near_levels: tuple[float, ...] = ()
    mean_loss: bool = False

    def grid(
        self,
        rows: int,
        deviation: float = 1.0,
        given: Mapping[str, Any] | None = None,
        *,
        smoothed: bool = False,
    ) -> tuple[float, ...]:
        """Return the values to try, scaled to the rows and the target, with two digits."""
        if smoothed and self.near_levels:
            unit = 1.0 / rows if self.mean_loss else 1.0
            return tuple(float(f"{value * unit:.3g}") for value in self.near_levels)
        if not self.per_row and self.unit is None:
            return self.values
        unit = 1.0 if self.unit is None else self.unit(deviation, given or {})
        unit *= rows if self.per_row else 1.0
        return tuple(float(f"{value * unit:.2g}") for value in self.values)


def _deviation(deviation: float, given: Mapping[str, Any]) -> float:
    """Return the unit of alpha: at this alpha all weights of standardized columns are 0."""
    del given
    return deviation


def _of_power(deviation: float, given: Mapping[str, Any]) -> float:
    """Return the scale of squared errors divided by that of the p-th power of weights."""
    from separable.certified.estimators.lp_regression import exponent_of

    exponent = exponent_of(given.get("p", 1))
    return deviation if exponent is None else float(deviation ** (2.0 - exponent))


C = Regularization(
    "C",
    (0.001, 0.00464, 0.0215, 0.1, 0.464, 2.15, 10.0, 46.4, 215.0, 1000.0),
    near_levels=(0.215, 1.0, 4.64),
)
#: The hinge loss needs smaller values than the logistic loss, and large ones are slow.
HINGE_C = Regularization("C", (0.0001, 0.001, 0.00464, 0.0215, 0.1, 0.316, 1.0, 3.16, 10.0, 31.6))
#: Smaller values hardly differ from least squares and are slow if columns are dependent.
ALPHA = Regularization(
    "alpha",
    (1e-5, 6e-5, 4e-4, 2e-3, 0.01, 0.06, 0.4, 2.0, 10.0, 60.0),
    per_row=True,
    near_levels=(0.16, 1.0, 6.0),
)
#: The largest leaves few weights, if any; the smallest hardly differs from least squares.
L1_ALPHA = Regularization(
    "alpha",
    (1e-4, 3e-4, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5),
    unit=_deviation,
)
#: The values of ALPHA, for the mean of the squared errors.
MEAN_ALPHA = replace(ALPHA, per_row=False, mean_loss=True)
#: The same for any power of the weights.
LP_ALPHA = Regularization("alpha", L1_ALPHA.values, unit=_of_power)
SMOOTHING = Regularization("alpha", (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0))


@dataclass(frozen=True)
class Learner:
    """A learner that is not imported yet.

    Parameters
    ----------
    task : {"classification", "regression"}
        Classification or regression.
    import_path : str
        Its module and class, ``module:Class``.
    regularization : Strength, optional
        The parameter to search.
    suits : callable, optional
        Whether ``--model auto`` tries it on such data; None: never.
    cost : float, default 0
        Cost relative to a certified learner with a smooth loss, up to SYSTEM_FEATURES features;
        0: so cheap that the number of rows does not matter.
    given : mapping of str to object
        Defaults that differ from those of the class.
    has_scores : bool, default True
        Whether it ends in scores, which can be calibrated to probabilities; not in votes.
    """

    task: Task
    import_path: str
    regularization: Regularization | None = None
    suits: Callable[[Facts], bool] | None = None
    cost: float = 0.0
    given: Mapping[str, Any] = field(default_factory=dict)
    has_scores: bool = True

    @property
    def smooths(self) -> bool:
        """Whether its penalty multiplies the estimated smoothing levels."""
        return self.regularization is not None and bool(self.regularization.near_levels)

    def work(self, facts: Facts) -> float:
        """Return the cost per row of comparing it."""
        cost = self.cost if facts.features <= SYSTEM_FEATURES else min(self.cost, 1.0)
        return cost * facts.work

    def passes(self, facts: Facts, rows: int) -> int | None:
        """Return the maximum passes over some rows in a comparison; None: as many as it needs."""
        if not self.cost or facts.features <= SYSTEM_FEATURES:
            return None
        models = facts.classes if facts.classes > 2 else 1
        passes = max(MIN_PASSES, int(MODEL_WORK / (models * rows * max(facts.nonzeros, 1.0))))
        return passes if self.cost == 1.0 else min(passes, PIECEWISE_LINEAR_PASSES)

    def load(self) -> Any:
        """Return its class."""
        module, _, name = self.import_path.partition(":")
        return getattr(import_module(module), name)


def classifier(
    import_path: str,
    regularization: Regularization | None = None,
    suits: Callable[[Facts], bool] | None = None,
    cost: float = 0.0,
    **given: Any,
) -> Learner:
    """Return the entry of a classifier."""
    return Learner("classification", import_path, regularization, suits, cost, given)


def regressor(
    import_path: str,
    regularization: Regularization | None = None,
    suits: Callable[[Facts], bool] | None = None,
    cost: float = 0.0,
    **given: Any,
) -> Learner:
    """Return the entry of a regressor."""
    return Learner("regression", import_path, regularization, suits, cost, given)


def _always(facts: Facts) -> bool:  # noqa: ARG001
    return True


def _matrix_fits(facts: Facts) -> bool:
    return facts.features <= MANY_FEATURES


def _many_features(facts: Facts) -> bool:
    return facts.features > MANY_FEATURES


def _more_rows_than_features(facts: Facts) -> bool:
    return facts.features <= EXACT_FEATURES and facts.features < facts.rows


def _no_text(facts: Facts) -> bool:
    return not facts.text


def _fast_piecewise_linear(facts: Facts) -> bool:
    if facts.features > SYSTEM_FEATURES:
        return facts.work * facts.rows <= MOST_WORK_MANY
    return PIECEWISE_LINEAR_COST * facts.work * facts.rows <= MOST_WORK


def _fast_absolute_errors(facts: Facts) -> bool:
    return _fast_piecewise_linear(facts) and facts.work * facts.rows <= MOST_WORK


def _constrained(facts: Facts) -> bool:
    return facts.constrained


def _few_for_lasso(facts: Facts) -> bool:
    return facts.features <= LASSO_FEATURES


def _counts(facts: Facts) -> bool:
    return facts.nonnegative


#: In order of preference among equally good learners.
LEARNERS = {
    "logistic-regression": classifier(
        "separable.certified.estimators.logistic_regression:LogisticRegression",
        C,
        _always,
        cost=1.0,
    ),
    "linear-svm": classifier(
        "separable.certified.estimators.linear_svm:LinearSVM",
        HINGE_C,
        _fast_piecewise_linear,
        cost=PIECEWISE_LINEAR_COST,
    ),
    "group-lasso-classifier": classifier(
        "separable.certified.estimators.group_lasso_classifier:GroupLassoClassifier",
        L1_ALPHA,
        cost=PIECEWISE_LINEAR_COST,
        groups="columns",
    ),
    "lda": classifier("separable.moments.discriminant.lda:LDA", None, _matrix_fits),
    "linear-gaussian-nb": classifier(
        "separable.moments.naive_bayes.linear_gaussian_nb:LinearGaussianNB", None, _no_text
    ),
    "multinomial-nb": classifier(
        "separable.moments.naive_bayes.multinomial_nb:MultinomialNB", SMOOTHING, _counts
    ),
    "complement-nb": classifier(
        "separable.moments.naive_bayes.complement_nb:ComplementNB", SMOOTHING, _counts
    ),
    "bernoulli-nb": classifier(
        "separable.moments.naive_bayes.bernoulli_nb:BernoulliNB", SMOOTHING, _counts
    ),
    "averaged-perceptron": classifier(
        "separable.online.averaged_perceptron:AveragedPerceptron", None, _always
    ),
    "perceptron": classifier("separable.online.perceptron:Perceptron"),
    "batch-perceptron": classifier("separable.online.batch_perceptron:BatchPerceptron"),
    "voted-perceptron": replace(
        classifier("separable.online.voted_perceptron:VotedPerceptron"), has_scores=False
    ),
    "sgd-classifier": classifier("separable.online.sgd_classifier:SGDClassifier"),
    "least-squares-classifier": classifier(
        "separable.moments.discriminant.least_squares_classifier:LeastSquaresClassifier"
    ),
    "ridge": regressor("separable.moments.regression.ridge:Ridge", ALPHA, _always),
    "lasso": regressor("separable.certified.estimators.lasso:Lasso", L1_ALPHA, _few_for_lasso),
    "elastic-net": regressor("separable.certified.estimators.elastic_net:ElasticNet", L1_ALPHA),
    "monotone-ridge": regressor(
        "separable.certified.estimators.elastic_net:ElasticNet",
        MEAN_ALPHA,
        _constrained,
        l1_ratio=0.0,
    ),
    "group-lasso": regressor(
        "separable.certified.estimators.group_lasso:GroupLasso",
        L1_ALPHA,
        cost=PIECEWISE_LINEAR_COST,
        groups="columns",
    ),
    "lp-regression": regressor(
        "separable.certified.estimators.lp_regression:LpRegression",
        LP_ALPHA,
        cost=PIECEWISE_LINEAR_COST,
    ),
    "linear-svr": regressor(
        "separable.certified.estimators.linear_svr:LinearSVR",
        C,
        _fast_absolute_errors,
        cost=PIECEWISE_LINEAR_COST,
    ),
    "bayesian-regression": regressor(
        "separable.moments.regression.bayesian_regression:BayesianRegression", None, _matrix_fits
    ),
    "least-squares": regressor(
        "separable.moments.regression.least_squares:LeastSquares", None, _more_rows_than_features
    ),
    "sgd-regressor": regressor("separable.online.sgd_regressor:SGDRegressor", None, _many_features),
    "widrow-hoff": regressor("separable.online.widrow_hoff:WidrowHoff"),
}


def new_learner(name: str, seed: int = 0, threads: int = 1, **given: Any) -> Any:
    """Return an unfitted learner; seed and threads are passed if it has these parameters.

    Parameters
    ----------
    name : str
        A key of `LEARNERS`.
    seed, threads : int
    **given
        Its parameters.
    """
    import inspect

    entry = LEARNERS[name]
    learner = entry.load()
    takes = inspect.signature(learner).parameters
    own = {"random_state": seed, "n_jobs": threads}
    known = {key: value for key, value in own.items() if key in takes}
    return learner(**{**known, **entry.given, **given})


def takes(name: str, parameter: str) -> bool:
    """Return whether a learner has a parameter."""
    import inspect

    return parameter in inspect.signature(LEARNERS[name].load()).parameters


def names_of(task: Task) -> list[str]:
    """Return the names of the learners of a task, sorted."""
    return sorted(name for name, learner in LEARNERS.items() if learner.task == task)


def learners_of(task: Task, facts: Facts) -> list[str]:
    """Return the learners of a task that suit the data, in order of preference.

    Products of columns are left to the learners whose penalty smooths them.
    """
    return [
        name
        for name, learner in LEARNERS.items()
        if learner.task == task
        and learner.suits is not None
        and learner.suits(facts)
        and (not facts.interactions or learner.smooths)
        and (not facts.constrained or takes(name, "monotonic_cst"))
    ]
