"""Objectives of regularised linear models and bounds on their optima, without rounding.

Problem    P(w, b) = sum_j l1_j |w_j| + l2_j w_j^2 / 2 + sum_i c_i loss(y_i, w.x_i + b)
Dual       D(z) = sum_i d_i(z_i) - sum_j max(0, |(X'z)_j| - l1_j)^2 / (2 l2_j),  z_i in its range,
           with an intercept sum_i z_i = 0, and |(X'z)_j| <= l1_j where l2_j = 0
Then       D(z) <= min P <= P(w, b): any z, made feasible exactly, bounds the optimum from below

Numbers are fractions; logarithms of the logistic losses are decimals of 60 digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

DIGITS = 60


def decimal(x):
    return Decimal(x.numerator) / Decimal(x.denominator)


def log_one_plus_exp(x):
    """log(1 + e^x) of a fraction, as a fraction."""
    with localcontext() as context:
        context.prec = DIGITS
        x = decimal(x)
        if x > 200:
            return Fraction(x + (-x).exp())
        return Fraction((1 + x.exp()).ln())


def x_log_x(u):
    with localcontext() as context:
        context.prec = DIGITS
        return Fraction(decimal(u) * decimal(u).ln()) if u > 0 else Fraction(0)


def fractions(numbers):
    return [Fraction(float(x)) for x in numbers]


@dataclass
class Objective:
    """One model; y is -1 and 1, or numbers."""

    loss: str
    X: list
    y: list
    c: list
    l1: list
    l2: list
    intercept: bool = True
    epsilon: Fraction = Fraction(0)

    def row_loss(self, y, s):
        if self.loss == "squared_error":
            return (y - s) ** 2 / 2
        if self.loss == "insensitive":
            return max(Fraction(0), abs(y - s) - self.epsilon)
        if self.loss == "logistic":
            return log_one_plus_exp(-y * s)
        return max(Fraction(0), 1 - y * s) ** (2 if self.loss == "squared_hinge" else 1)

    def scores(self, w, b=Fraction(0)):
        used = [j for j, each in enumerate(w) if each]
        return [sum((row[j] * w[j] for j in used), b) for row in self.X]

    def penalty(self, w):
        terms = zip(w, self.l1, self.l2, strict=True)
        return sum(l1 * abs(v) + l2 * v * v / 2 for v, l1, l2 in terms)

    def losses(self, s):
        return sum(c * self.row_loss(y, t) for y, t, c in zip(self.y, s, self.c, strict=True))

    def primal(self, w, b):
        return self.penalty(w) + self.losses(self.scores(w, b))

    def best_intercept(self, w):
        """The b that is best for w; of the logistic loss to about 25 digits."""
        if not self.intercept:
            return Fraction(0)
        s = self.scores(w)
        if self.loss == "squared_error":
            rest = sum(c * (y - t) for y, t, c in zip(self.y, s, self.c, strict=True))
            return rest / sum(self.c)
        if self.loss in ("hinge", "insensitive"):
            kinks = [y - t for y, t in zip(self.y, s, strict=True)]
            if self.loss == "insensitive":
                kinks = [k + e for k in kinks for e in (-self.epsilon, self.epsilon)]
            return self._lowest(sorted(kinks), s)
        if self.loss == "squared_hinge":
            return self._squared_hinge(s)
        return self._bisected(s)

    def _lowest(self, points, s):
        """The point of a sorted list with the smallest losses, which are convex in b."""
        low, high = 0, len(points) - 1
        while low < high:
            middle = (low + high) // 2
            here = self.losses([t + points[middle] for t in s])
            if here <= self.losses([t + points[middle + 1] for t in s]):
                high = middle
            else:
                low = middle + 1
        return points[low]

    def _squared_hinge(self, s):
        """Newton's method on a piecewise quadratic: it ends on the right piece."""
        b = self._lowest(sorted(y - t for y, t in zip(self.y, s, strict=True)), s)
        for _ in range(60):
            rows = [k for k, y in enumerate(self.y) if y * (s[k] + b) < 1]
            if not rows:
                return b
            total = sum(self.c[k] for k in rows)
            new = sum(self.c[k] * (self.y[k] - s[k]) for k in rows) / total
            if new == b:
                return b
            b = new
        return b

    def _bisected(self, s):
        low, high = -max(s) - 60, -min(s) + 60
        with localcontext() as context:
            context.prec = DIGITS
            rows = [(y, decimal(t), decimal(c)) for y, t, c in zip(self.y, s, self.c, strict=True)]
            low, high = decimal(low), decimal(high)
            for _ in range(150):
                b = (low + high) / 2
                slope = sum(c * (1 / (1 + (-(t + b)).exp()) - (y > 0)) for y, t, c in rows)
                low, high = (low, b) if slope > 0 else (b, high)
            return Fraction((low + high) / 2)

    # ------------------------------------------------------------------ from below

    def feasible(self, z):
        """z cut to its range, with a sum of 0, and within the l1 penalty."""
        z = [self._cut(*each) for each in zip(z, self.y, self.c, strict=True)]
        if self.intercept:
            over = sum(z)
            for k in sorted(range(len(z)), key=lambda k: -abs(z[k])):
                if over * z[k] > 0:
                    step = min(abs(over), abs(z[k])) * (1 if over > 0 else -1)
                    z[k] -= step
                    over -= step
            assert over == 0
        scale = Fraction(1)
        for v, l1, l2 in zip(self.pulls(z), self.l1, self.l2, strict=True):
            if not l2 and abs(v) > l1:
                scale = min(scale, l1 / abs(v))
        return [scale * each for each in z]

    def _cut(self, z, y, c):
        if self.loss == "squared_error":
            return z
        if self.loss == "insensitive":
            return max(-c, min(c, z))
        top = max(Fraction(0), y * z)
        return y * (top if self.loss == "squared_hinge" else min(c, top))

    def pulls(self, z):
        used = [k for k, each in enumerate(z) if each]
        return [sum(z[k] * self.X[k][j] for k in used) for j in range(len(self.X[0]))]

    def dual(self, z):
        """The dual value of z, made feasible: no weights have a lower objective."""
        z = self.feasible(z)
        value = sum(self._row_dual(*each) for each in zip(z, self.y, self.c, strict=True))
        for v, l1, l2 in zip(self.pulls(z), self.l1, self.l2, strict=True):
            if l2:
                value -= max(Fraction(0), abs(v) - l1) ** 2 / (2 * l2)
        return value

    def _row_dual(self, z, y, c):
        if self.loss == "squared_error":
            return y * z - z * z / (2 * c)
        if self.loss == "insensitive":
            return y * z - self.epsilon * abs(z)
        a = y * z
        if self.loss == "hinge":
            return a
        if self.loss == "squared_hinge":
            return a - a * a / (4 * c)
        return -c * (x_log_x(a / c) + x_log_x(1 - a / c))

    def weights_of(self, z):
        """The weights that a dual point stands for, where there is an l2 penalty."""
        z = self.feasible(z)
        found = []
        for v, l1, l2 in zip(self.pulls(z), self.l1, self.l2, strict=True):
            size = max(Fraction(0), abs(v) - l1)
            found.append((size if v > 0 else -size) / l2 if l2 else Fraction(0))
        return found
