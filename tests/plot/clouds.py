"""Rows for pictures."""

from __future__ import annotations

import numpy as np


def two_clouds(n=24, seed=0, gap=1.6):
    """Two separable clouds in the plane, classes taking turns."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    X = rng.normal(size=(n, 2))
    X[:, 0] = np.where(y == 1, 1, -1) * (np.abs(X[:, 0]) + 0.3 * gap)
    X[:, 1] += np.where(y == 1, gap, -gap) / 2
    return X, y


def texts_of(display):
    """Everything written on a picture."""
    from matplotlib.text import Text

    return [text.get_text() for text in display.figure_.findobj(Text) if text.get_text()]
