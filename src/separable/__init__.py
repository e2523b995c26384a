"""Linear models end to end: trained, certified, explained, saved and shipped.

Names are imported when first used, so that ``import separable`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from separable.certified.elastic_net import ElasticNet
    from separable.certified.elastic_net_cv import ElasticNetCV
    from separable.certified.group_lasso import GroupLasso
    from separable.certified.group_lasso_classifier import GroupLassoClassifier
    from separable.certified.lasso import Lasso
    from separable.certified.lasso_cv import LassoCV
    from separable.certified.linear_svm import LinearSVM
    from separable.certified.linear_svm_cv import LinearSVMCV
    from separable.certified.linear_svr import LinearSVR
    from separable.certified.logistic_regression import LogisticRegression
    from separable.certified.logistic_regression_cv import LogisticRegressionCV
    from separable.certified.lp_regression import LpRegression
    from separable.features.dict_encoder import DictEncoder
    from separable.features.one_hot_encoder import OneHotEncoder
    from separable.features.polynomial_encoder import PolynomialEncoder
    from separable.features.table_encoder import TableEncoder
    from separable.features.text_encoder import TextEncoder
    from separable.model.explanation import Explanation
    from separable.model.file import load
    from separable.model.linear_model import LinearModel
    from separable.model.voted_model import VotedModel
    from separable.moments.bayesian_regression import BayesianRegression
    from separable.moments.bernoulli_nb import BernoulliNB
    from separable.moments.complement_nb import ComplementNB
    from separable.moments.lda import LDA
    from separable.moments.least_squares import LeastSquares
    from separable.moments.least_squares_classifier import LeastSquaresClassifier
    from separable.moments.linear_gaussian_nb import LinearGaussianNB
    from separable.moments.moments import Moments
    from separable.moments.multinomial_nb import MultinomialNB
    from separable.moments.ridge import Ridge
    from separable.moments.ridge_cv import RidgeCV
    from separable.online.averaged_perceptron import AveragedPerceptron
    from separable.online.batch_perceptron import BatchPerceptron
    from separable.online.perceptron import Perceptron
    from separable.online.sgd_classifier import SGDClassifier
    from separable.online.sgd_regressor import SGDRegressor
    from separable.online.voted_perceptron import VotedPerceptron
    from separable.online.widrow_hoff import WidrowHoff
    from separable.table.table_classifier import TableClassifier
    from separable.table.table_regressor import TableRegressor

#: Where each public name lives. The imports above tell type checkers the same.
_HOMES = {
    "AveragedPerceptron": "separable.online.averaged_perceptron",
    "BatchPerceptron": "separable.online.batch_perceptron",
    "BayesianRegression": "separable.moments.bayesian_regression",
    "BernoulliNB": "separable.moments.bernoulli_nb",
    "ComplementNB": "separable.moments.complement_nb",
    "DictEncoder": "separable.features.dict_encoder",
    "ElasticNet": "separable.certified.elastic_net",
    "ElasticNetCV": "separable.certified.elastic_net_cv",
    "Explanation": "separable.model.explanation",
    "GroupLasso": "separable.certified.group_lasso",
    "GroupLassoClassifier": "separable.certified.group_lasso_classifier",
    "LDA": "separable.moments.lda",
    "Lasso": "separable.certified.lasso",
    "LassoCV": "separable.certified.lasso_cv",
    "LeastSquares": "separable.moments.least_squares",
    "LeastSquaresClassifier": "separable.moments.least_squares_classifier",
    "LinearGaussianNB": "separable.moments.linear_gaussian_nb",
    "LinearModel": "separable.model.linear_model",
    "LinearSVM": "separable.certified.linear_svm",
    "LinearSVMCV": "separable.certified.linear_svm_cv",
    "LinearSVR": "separable.certified.linear_svr",
    "LogisticRegression": "separable.certified.logistic_regression",
    "LogisticRegressionCV": "separable.certified.logistic_regression_cv",
    "LpRegression": "separable.certified.lp_regression",
    "Moments": "separable.moments.moments",
    "MultinomialNB": "separable.moments.multinomial_nb",
    "OneHotEncoder": "separable.features.one_hot_encoder",
    "Perceptron": "separable.online.perceptron",
    "PolynomialEncoder": "separable.features.polynomial_encoder",
    "Ridge": "separable.moments.ridge",
    "RidgeCV": "separable.moments.ridge_cv",
    "SGDClassifier": "separable.online.sgd_classifier",
    "SGDRegressor": "separable.online.sgd_regressor",
    "TableClassifier": "separable.table.table_classifier",
    "TableEncoder": "separable.features.table_encoder",
    "TableRegressor": "separable.table.table_regressor",
    "TextEncoder": "separable.features.text_encoder",
    "VotedModel": "separable.model.voted_model",
    "VotedPerceptron": "separable.online.voted_perceptron",
    "WidrowHoff": "separable.online.widrow_hoff",
    "load": "separable.model.file",
}

__all__ = [
    "LDA",
    "AveragedPerceptron",
    "BatchPerceptron",
    "BayesianRegression",
    "BernoulliNB",
    "ComplementNB",
    "DictEncoder",
    "ElasticNet",
    "ElasticNetCV",
    "Explanation",
    "GroupLasso",
    "GroupLassoClassifier",
    "Lasso",
    "LassoCV",
    "LeastSquares",
    "LeastSquaresClassifier",
    "LinearGaussianNB",
    "LinearModel",
    "LinearSVM",
    "LinearSVMCV",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "LpRegression",
    "Moments",
    "MultinomialNB",
    "OneHotEncoder",
    "Perceptron",
    "PolynomialEncoder",
    "Ridge",
    "RidgeCV",
    "SGDClassifier",
    "SGDRegressor",
    "TableClassifier",
    "TableEncoder",
    "TableRegressor",
    "TextEncoder",
    "VotedModel",
    "VotedPerceptron",
    "WidrowHoff",
    "__version__",
    "load",
]


if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
