"""Engines for few columns: provisional."""

from __future__ import annotations

from typing import Any

import numpy as np

from separable.certified.interior_point import Box, interior_point
from separable.certified.judge import judge
from separable.certified.losses import is_smooth
from separable.certified.newton import newton
from separable.certified.scaled_rows import ScaledRows


class FewColumns:
    def __init__(self, problem: Any) -> None:
        self.problem = problem

    def solve(
        self, lane: Any, *, tol: float, max_iter: int, start: Any = None, on_step: Any = None
    ):
        p = self.problem
        y, c = p.targets(lane), p.costs(lane)
        d = p.rows.n_features
        shift = p.columns.shift if p.columns.shift is not None else np.zeros(d)
        scale = p.columns.scale if p.columns.scale is not None else np.ones(d)
        m = p.rows.to_matrix()
        sd = np.sqrt(
            np.maximum(
                np.asarray((m.multiply(m) if p.rows.is_sparse else m**2).mean(axis=0)).ravel()
                - shift**2,
                0,
            )
        )
        sd[sd <= 1e-300] = 1.0
        x = ScaledRows(p.rows, shift, sd)
        pen = 1.0 / np.where(scale > 0, (sd * scale) ** 2, 1.0)
        pen = pen * 1.0
        best = [None]
        n = [0]
        small = p.rows.n_rows * d <= 1_000_000

        def good(z: Any) -> bool:
            n[0] += 1
            found = judge(p, [lane], z[:, None], tol)
            if best[0] is None or found.certificates[0].gap < best[0].certificates[0].gap:
                best[0] = found
            goal = 1e-14 if small else tol
            if on_step is not None and on_step(n[0], best[0].certificates[0].relative_gap):
                return True
            return best[0].certificates[0].relative_gap <= goal

        if is_smooth(p.loss):
            newton(
                x,
                p.loss,
                y,
                c,
                pen,
                fit_intercept=p.fit_intercept,
                good_enough=good,
                max_iter=min(max_iter, 60),
            )
        else:
            used = c > 0
            if p.is_regression:
                box = Box(
                    np.stack([np.ones_like(y), -np.ones_like(y)]),
                    np.stack([p.loss.epsilon - y, p.loss.epsilon + y]),
                    c,
                )
            else:
                box = Box(y[None], -np.ones((1, len(y))), np.where(used, c, 1e-300))
            interior_point(
                x,
                box,
                pen,
                fit_intercept=p.fit_intercept,
                good_enough=good,
                max_iter=min(max_iter, 60),
            )
        return best[0], n[0]
