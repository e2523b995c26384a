"""Linear models end to end: trained, certified, explained, saved and shipped.

Names are imported when first used, so that ``import separable`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from separable._lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from separable.certified.estimators.elastic_net import ElasticNet
    from separable.certified.estimators.group_lasso import GroupLasso
    from separable.certified.estimators.group_lasso_classifier import GroupLassoClassifier
    from separable.certified.estimators.lasso import Lasso
    from separable.certified.estimators.linear_svm import LinearSVM
    from separable.certified.estimators.linear_svr import LinearSVR
    from separable.certified.estimators.logistic_regression import LogisticRegression
    from separable.certified.estimators.lp_regression import LpRegression
    from separable.features.dict_encoder import DictEncoder
    from separable.features.one_hot.one_hot_encoder import OneHotEncoder
    from separable.features.polynomial_encoder import PolynomialEncoder
    from separable.features.spline.spline_encoder import SplineEncoder
    from separable.features.table.table_encoder import TableEncoder
    from separable.features.text.text_encoder import TextEncoder
    from separable.model.explain.explanation import Explanation
    from separable.model.files.model_file import load
    from separable.model.linear_model import LinearModel
    from separable.model.voted.voted_model import VotedModel
    from separable.moments.discriminant.lda import LDA
    from separable.moments.discriminant.least_squares_classifier import LeastSquaresClassifier
    from separable.moments.naive_bayes.bernoulli_nb import BernoulliNB
    from separable.moments.naive_bayes.complement_nb import ComplementNB
    from separable.moments.naive_bayes.linear_gaussian_nb import LinearGaussianNB
    from separable.moments.naive_bayes.multinomial_nb import MultinomialNB
    from separable.moments.regression.bayesian_regression import BayesianRegression
    from separable.moments.regression.least_squares import LeastSquares
    from separable.moments.regression.ridge import Ridge
    from separable.online.averaged_perceptron import AveragedPerceptron
    from separable.online.batch_perceptron import BatchPerceptron
    from separable.online.perceptron import Perceptron
    from separable.online.sgd_classifier import SGDClassifier
    from separable.online.sgd_regressor import SGDRegressor
    from separable.online.voted_perceptron import VotedPerceptron
    from separable.online.widrow_hoff import WidrowHoff
    from separable.select.estimators.elastic_net_cv import ElasticNetCV
    from separable.select.estimators.lasso_cv import LassoCV
    from separable.select.estimators.linear_svm_cv import LinearSVMCV
    from separable.select.estimators.logistic_regression_cv import LogisticRegressionCV
    from separable.select.estimators.ridge_cv import RidgeCV
    from separable.statistics.moments import Moments
    from separable.table.table_learner import TableClassifier, TableRegressor
    from separable.workflow.training import train

#: Where each public name lives. The imports above tell type checkers the same.
_HOMES = {
    "AveragedPerceptron": "separable.online.averaged_perceptron",
    "BatchPerceptron": "separable.online.batch_perceptron",
    "BayesianRegression": "separable.moments.regression.bayesian_regression",
    "BernoulliNB": "separable.moments.naive_bayes.bernoulli_nb",
    "ComplementNB": "separable.moments.naive_bayes.complement_nb",
    "DictEncoder": "separable.features.dict_encoder",
    "ElasticNet": "separable.certified.estimators.elastic_net",
    "ElasticNetCV": "separable.select.estimators.elastic_net_cv",
    "Explanation": "separable.model.explain.explanation",
    "GroupLasso": "separable.certified.estimators.group_lasso",
    "GroupLassoClassifier": "separable.certified.estimators.group_lasso_classifier",
    "LDA": "separable.moments.discriminant.lda",
    "Lasso": "separable.certified.estimators.lasso",
    "LassoCV": "separable.select.estimators.lasso_cv",
    "LeastSquares": "separable.moments.regression.least_squares",
    "LeastSquaresClassifier": "separable.moments.discriminant.least_squares_classifier",
    "LinearGaussianNB": "separable.moments.naive_bayes.linear_gaussian_nb",
    "LinearModel": "separable.model.linear_model",
    "LinearSVM": "separable.certified.estimators.linear_svm",
    "LinearSVMCV": "separable.select.estimators.linear_svm_cv",
    "LinearSVR": "separable.certified.estimators.linear_svr",
    "LogisticRegression": "separable.certified.estimators.logistic_regression",
    "LogisticRegressionCV": "separable.select.estimators.logistic_regression_cv",
    "LpRegression": "separable.certified.estimators.lp_regression",
    "Moments": "separable.statistics.moments",
    "MultinomialNB": "separable.moments.naive_bayes.multinomial_nb",
    "OneHotEncoder": "separable.features.one_hot.one_hot_encoder",
    "Perceptron": "separable.online.perceptron",
    "PolynomialEncoder": "separable.features.polynomial_encoder",
    "Ridge": "separable.moments.regression.ridge",
    "RidgeCV": "separable.select.estimators.ridge_cv",
    "SGDClassifier": "separable.online.sgd_classifier",
    "SGDRegressor": "separable.online.sgd_regressor",
    "SplineEncoder": "separable.features.spline.spline_encoder",
    "TableClassifier": "separable.table.table_learner",
    "TableEncoder": "separable.features.table.table_encoder",
    "TableRegressor": "separable.table.table_learner",
    "TextEncoder": "separable.features.text.text_encoder",
    "VotedModel": "separable.model.voted.voted_model",
    "VotedPerceptron": "separable.online.voted_perceptron",
    "WidrowHoff": "separable.online.widrow_hoff",
    "load": "separable.model.files.model_file",
    "train": "separable.workflow.training",
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
    "SplineEncoder",
    "TableClassifier",
    "TableEncoder",
    "TableRegressor",
    "TextEncoder",
    "VotedModel",
    "VotedPerceptron",
    "WidrowHoff",
    "__version__",
    "load",
    "train",
]


if not TYPE_CHECKING:  # type checkers know the names above and should miss all others
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
