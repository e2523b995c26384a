"""One of each display of estimators and results, small, as functions of the axes to draw on."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris

from separable import (
    LDA,
    Lasso,
    LinearSVM,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    TableClassifier,
    TableEncoder,
    TableRegressor,
)
from separable.plot import (
    BoundaryDisplay,
    CalibrationDisplay,
    ConfusionMatrixDisplay,
    CrossValidationDisplay,
    CurvesDisplay,
    InteractionsDisplay,
    LearningCurveDisplay,
    MarginsDisplay,
    PathDisplay,
    Planes3dDisplay,
    PrecisionRecallDisplay,
    RocDisplay,
    WeightsDisplay,
)
from separable.select import learning_curve, path


@cache
def iris() -> tuple[Any, Any]:
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@cache
def cancer() -> tuple[Any, Any]:
    data = load_breast_cancer(as_frame=True)
    return data.data, data.target_names[data.target]


@cache
def cancer_model() -> Any:
    return LogisticRegression(standardize=True).fit(*cancer())


@cache
def cancer_curves() -> Any:
    X, y = cancer()
    table = X.iloc[:, :4].assign(malignant=np.where(y == "malignant", "yes", "no"))
    learner = TableClassifier(LogisticRegression(), TableEncoder(curves=True))
    return learner.fit(table, "malignant")


@cache
def iris_svm() -> Any:
    X, y = iris()
    return LinearSVM(loss="hinge").fit(X.iloc[50:, 1:], y[50:])


@cache
def cancer_search() -> Any:
    return LogisticRegressionCV(Cs=[0.01, 0.1, 1, 10], standardize=True).fit(*cancer())


@cache
def lasso_path() -> Any:
    X, y = cancer()
    return path(Lasso(), X, (y == "benign").astype(float), alphas=20)


@cache
def interaction_model() -> Any:
    rng = np.random.default_rng(0)
    X = {name: rng.normal(size=300) for name in ("size", "dose", "age")}
    pairs = [("size", "dose"), ("size", "age"), ("dose", "age")]
    encoder = TableEncoder(curves=True, interactions=pairs)
    return TableRegressor(Ridge(), encoder).fit(X, X["size"] * X["dose"])


@cache
def curve() -> Any:
    return learning_curve(LDA(), *cancer(), sizes=[50, 100, 200, 380], repeats=3)


SPECIMENS = {
    "BoundaryDisplay": lambda ax: BoundaryDisplay.from_estimator(cancer_model(), *cancer(), ax=ax),
    "CalibrationDisplay": lambda ax: CalibrationDisplay.from_estimator(
        cancer_model(), *cancer(), ax=ax
    ),
    "ConfusionMatrixDisplay": lambda ax: ConfusionMatrixDisplay.from_estimator(
        cancer_model(), *cancer(), ax=ax
    ),
    "CrossValidationDisplay": lambda ax: CrossValidationDisplay.from_estimator(
        cancer_search(), ax=ax
    ),
    "CurvesDisplay": lambda ax: CurvesDisplay.from_estimator(cancer_curves(), ax=ax),
    "InteractionsDisplay": lambda ax: InteractionsDisplay.from_estimator(
        interaction_model(), ax=ax
    ),
    "LearningCurveDisplay": lambda ax: LearningCurveDisplay.from_curve(curve(), ax=ax),
    "MarginsDisplay": lambda ax: MarginsDisplay.from_estimator(cancer_model(), *cancer(), ax=ax),
    "PathDisplay": lambda ax: PathDisplay.from_path(
        lasso_path(), feature_names=list(cancer()[0].columns), ax=ax
    ),
    "Planes3dDisplay": lambda ax: Planes3dDisplay.from_estimator(
        iris_svm(), iris()[0].iloc[50:, 1:], np.asarray(iris()[1][50:]), ax=ax
    ),
    "PrecisionRecallDisplay": lambda ax: PrecisionRecallDisplay.from_estimator(
        cancer_model(), *cancer(), ax=ax
    ),
    "RocDisplay": lambda ax: RocDisplay.from_estimator(cancer_model(), *cancer(), ax=ax),
    "WeightsDisplay": lambda ax: WeightsDisplay.from_estimator(cancer_model(), ax=ax),
}
