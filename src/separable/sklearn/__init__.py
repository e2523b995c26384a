"""scikit-learn's names, signatures, defaults and attributes over the learners of separable."""

from __future__ import annotations

from separable.sklearn.bayesian_ridge import BayesianRidge
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
from separable.sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from separable.sklearn.ridge_cv import RidgeClassifierCV, RidgeCV

__all__ = [
    "BayesianRidge",
    "BernoulliNB",
    "ComplementNB",
    "ElasticNet",
    "ElasticNetCV",
    "GaussianNB",
    "Lasso",
    "LassoCV",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LinearSVC",
    "LinearSVR",
    "LogisticRegression",
    "MultinomialNB",
    "Ridge",
    "RidgeCV",
    "RidgeClassifier",
    "RidgeClassifierCV",
    "enet_path",
    "lasso_path",
]
