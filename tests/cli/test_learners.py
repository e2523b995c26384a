from __future__ import annotations

import pytest

from separable.cli.learners import DEFAULT_LEARNER, LEARNERS, learner_class


@pytest.mark.parametrize("name", LEARNERS)
def test_every_registered_learner_takes_a_seed(name):
    assert learner_class(name)(random_state=3).random_state == 3


def test_the_default_is_registered():
    assert DEFAULT_LEARNER in LEARNERS
