"""to_onnx: outputs and input types as of skl2onnx, predictions as of the learner."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separable
import separable.sklearn as faces
from separable.export import to_onnx

onnxruntime = pytest.importorskip("onnxruntime")

LEARNERS = [
    separable.LogisticRegression(standardize=True),
    separable.LinearSVM(),
    separable.LDA(),
    separable.SGDClassifier("log_loss"),
    separable.Ridge(),
    faces.LogisticRegression(max_iter=1000),
    faces.Lasso(),
]


def run(made, X):
    session = onnxruntime.InferenceSession(made.SerializeToString())
    return dict(
        zip([one.name for one in session.get_outputs()], session.run(None, {"X": X}), strict=True)
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("learner", LEARNERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_runs_as_the_learner_predicts(learner, load, dtype):
    X, y = load(return_X_y=True)
    learner.fit(X, y)
    rows = X.astype(dtype)
    found = run(to_onnx(learner, rows), rows)
    assert next(iter(found)) == "prediction"
    expected = learner.predict(rows)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found["prediction"], expected, rtol=1e-6)
    else:
        np.testing.assert_array_equal(found["prediction"], expected)
    if hasattr(learner, "predict_proba"):
        np.testing.assert_allclose(
            found["probabilities"], learner.predict_proba(rows), rtol=1e-6, atol=1e-9
        )


def test_several_targets_and_a_model_that_was_set():
    X, y = load_iris(return_X_y=True)
    learner = separable.Lasso(0.1).fit(X, np.column_stack([y, -y]))
    np.testing.assert_allclose(run(to_onnx(learner), X)["prediction"], learner.predict(X))
    learner.coef_ = 2 * learner.coef_
    np.testing.assert_allclose(run(to_onnx(learner), X)["prediction"], learner.predict(X))


def test_a_pipeline_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="got Pipeline"):
        to_onnx(make_pipeline(StandardScaler(), separable.Ridge()).fit(X, y), X)
