"""scikit-learn's names, signatures, defaults and attributes over the learners of separable."""

from __future__ import annotations

from separable.sklearn.bayesian_ridge import BayesianRidge
from separable.sklearn.dict_vectorizer import DictVectorizer
from separable.sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from separable.sklearn.elastic_net import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    enet_path,
    lasso_path,
)
from separable.sklearn.least_squares import LinearRegression, Ridge, RidgeClassifier
from separable.sklearn.linear_svm import LinearSVC, LinearSVR
from separable.sklearn.logistic_regression import LogisticRegression
from separable.sklearn.logistic_regression_cv import LogisticRegressionCV
from separable.sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from separable.sklearn.one_hot_encoder import OneHotEncoder
from separable.sklearn.patching import patch, unpatch
from separable.sklearn.polynomial_features import PolynomialFeatures
from separable.sklearn.ridge_cv import RidgeClassifierCV, RidgeCV
from separable.sklearn.stochastic_gradient import Perceptron, SGDClassifier, SGDRegressor
from separable.sklearn.text import (
    CountVectorizer,
    HashingVectorizer,
    TfidfTransformer,
    TfidfVectorizer,
)

__all__ = [
    "BayesianRidge",
    "BernoulliNB",
    "ComplementNB",
    "CountVectorizer",
    "DictVectorizer",
    "ElasticNet",
    "ElasticNetCV",
    "GaussianNB",
    "HashingVectorizer",
    "Lasso",
    "LassoCV",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultinomialNB",
    "OneHotEncoder",
    "Perceptron",
    "PolynomialFeatures",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "SGDClassifier",
    "SGDRegressor",
    "TfidfTransformer",
    "TfidfVectorizer",
    "enet_path",
    "lasso_path",
    "patch",
    "unpatch",
]
