"""L19: features from dicts: a row says what it has, and nothing else."""

from __future__ import annotations

import pytest

from separable import AveragedPerceptron, DictEncoder

pytestmark = pytest.mark.native


def features(word: str) -> dict[str, object]:
    """Return what the lecture looks at in a name: its ends and its length."""
    return {
        "first": word[0].lower(),
        "last": word[-1],
        "last two": word[-2:],
        "pairs": [word[i : i + 2].lower() for i in range(len(word) - 1)],
        "length": len(word) / 10,
    }


NAMES = {
    "f": [
        "Anna",
        "Maria",
        "Julia",
        "Laura",
        "Sofia",
        "Emma",
        "Clara",
        "Lucia",
        "Elena",
        "Chiara",
        "Giulia",
        "Sara",
    ],
    "m": [
        "Peter",
        "Robert",
        "Anton",
        "Martin",
        "Oliver",
        "Jonas",
        "Lukas",
        "David",
        "Simon",
        "Stefan",
        "Viktor",
        "Bruno",
    ],
}


def test_a_row_is_its_non_zeros():
    encoder = DictEncoder().fit([features("Anna"), features("Peter")])
    rows = encoder.encode([features("Anna")])
    names = [encoder.feature_names[index] for index in rows.indices.tolist()]
    ends = ["first=a", "last two=na", "last=a"]
    assert names == [*ends, "length", "pairs=an", "pairs=na", "pairs=nn"]
    assert rows.values.tolist() == [1, 1, 1, 0.4, 1, 1, 1]
    assert rows.n_features == len(encoder.feature_names) > rows.values.size


def test_names_are_classified_by_their_ends():
    words = [word for group in NAMES.values() for word in group]
    labels = [label for label, group in NAMES.items() for _ in group]
    encoder = DictEncoder()
    X = encoder.fit_transform([features(word) for word in words])
    learner = AveragedPerceptron(max_iter=20).fit(X, labels)
    assert learner.score(X, labels) == 1
    new = encoder.transform([features(word) for word in ("Martina", "Hektor")])
    assert learner.predict(new).tolist() == ["f", "m"]
    weight = dict(zip(encoder.feature_names, learner.coef_[0], strict=True))
    assert weight["last=a"] == min(weight.values())  # speaks most for "f", the first class
    assert encoder.unseen_  # some pairs were new, and are told
