"""Files to stream from, and figures computed the slow way."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separable.workflow.stream.stream_rows import Source
from tests.reference.adaptive_sgd import AdaptiveSGD

if TYPE_CHECKING:
    from collections.abc import Iterator

    from separable.data import Dataset

WORDS = ["red", "green", "blue", "warm", "cold", "wide", "narrow", "fast", "slow", "old", "new"]


def table_text(n: int, seed: int = 0, *, classes: int = 2, weights: bool = False) -> bytes:
    """Return a CSV file of rows that a linear model can learn, some targets and values missing."""
    rng = np.random.default_rng(seed)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["size", "city", "note", "kind", "amount", *["w"] * weights])
    for row in range(n):
        size, city = rng.normal(), rng.choice(["Rome", "Oslo", "Lima"])
        words = rng.choice(WORDS, 5)
        score = size + (city == "Oslo") + (words == "warm").sum() + 0.5 * rng.normal()
        kind = "abcdefgh"[int(np.clip(score + classes / 2 - 0.5, 0, classes - 1))]
        writer.writerow(
            [
                "" if row % 17 == 5 else f"{size:.4f}",
                city,
                " ".join(words) + f" {row}",
                "" if row % 29 == 7 else kind,
                "" if row % 31 == 3 else f"{3 * score + 10:.3f}",
                *([rng.choice(["0", "1", "0.5", "2"])] * weights),
            ]
        )
    return out.getvalue().encode()


def log_loss(scores: np.ndarray, place: int) -> float:
    """Return the mean log loss of one-vs-rest scores of one row, in plain Python."""
    signs = [1.0 if k == place else -1.0 for k in range(len(scores))]
    if len(scores) == 1:
        signs = [1.0 if place == 1 else -1.0]
    losses = [math.log1p(math.exp(-t * s)) for t, s in zip(signs, scores, strict=True)]
    return sum(losses) / len(losses)


def one_by_one(learner: Any, X: np.ndarray, y: np.ndarray) -> list[float]:
    """Learn one row at a time; return the log loss of each before it was learned from."""
    labels = np.unique(y).tolist()
    losses = []
    for i, label in enumerate(y.tolist()):
        row, models = X[i : i + 1], 1 if len(labels) == 2 else len(labels)
        scores = learner.decision_function(row).ravel() if i else np.zeros(models)
        losses.append(log_loss(scores, labels.index(label)))
        learner.partial_fit(row, y[i : i + 1], **({} if i else {"classes": labels}))
    return losses


class Followed(AdaptiveSGD):
    """The reference of the default schedule, which notes its scores."""

    def move(self, s: float, y: float, g: float, share: float) -> None:
        self.score = s
        super().move(s, y, g, share)


def by_reference(X: np.ndarray, y: np.ndarray) -> list[float]:
    """Return the same by the reference of the default schedule, which is plain Python."""
    labels = np.unique(y).tolist()
    chosen = labels[1:] if len(labels) == 2 else labels
    models = [Followed(X.shape[1], "log_loss") for _ in chosen]
    losses = []
    for x, label in zip(X, y.tolist(), strict=True):
        for model, own in zip(models, chosen, strict=True):
            model.learn(x, 1.0 if label == own else -1.0, 1.0)
        losses.append(log_loss(np.array([m.score for m in models]), labels.index(label)))
    return losses


def cut_small(monkeypatch: Any, size: int = 37) -> None:
    """Let chunks have few rows."""
    whole = Source.chunks

    def chunks(self: Source, *args: Any, **kwargs: Any) -> Iterator[Dataset]:
        for chunk in whole(self, *args, **kwargs):
            for start in range(0, len(chunk), size):
                stop = min(start + size, len(chunk))
                yield replace(
                    chunk,
                    table=None if chunk.table is None else chunk.table.slice(start, size),
                    rows=None if chunk.rows is None else chunk.rows.slice(start, stop),
                    y=None if chunk.y is None else chunk.y[start:stop],
                    weights=None if chunk.weights is None else chunk.weights[start:stop],
                )

    monkeypatch.setattr(Source, "chunks", chunks)
