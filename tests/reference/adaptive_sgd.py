"""The adaptive schedule of stochastic gradient descent, in plain numbers: one model, dense rows.

The compiled code keeps each column in a unit of its own. That is a matter of storage, so there are
no units here: everything is in the coordinates of the data.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize

from separable.learn.plain import SLOPES

SMALL_GAIN = 0.25  # below it the first step of Newton's method is taken for the implicit slope


def implicit_slope(loss, s, y, gain, e):
    """Return a with a = slope(s - gain a), the slope at the score that the step leads to."""
    if loss in ("squared_error", "huber"):
        a = (s - y) / (1 + gain)
        return a if loss == "squared_error" else np.clip(a, -e, e)
    if loss == "squared_hinge":
        return -2 * y * max(0.0, 1 - y * s) / (1 + 2 * gain)
    if loss == "modified_huber":  # the smaller of the steps on the parabola and on the line
        return -y * min(4.0, 2 * max(0.0, 1 - y * s) / (1 + 2 * gain))
    if loss == "squared_epsilon_insensitive":
        return np.sign(s - y) * 2 * max(0.0, abs(s - y) - e) / (1 + 2 * gain)
    if loss == "sigmoid_mse":  # not convex: divided by a bound on the curvature instead
        return SLOPES[loss](s, y, e) / (1 + gain / 4)
    if loss == "log_loss":
        if gain < SMALL_GAIN:
            h = 1 / (1 + np.exp(y * s))
            return -y * h / (1 + gain * h * (1 - h))
        equation = lambda a: a - 1 / (1 + np.exp(y * s + gain * a))  # noqa: E731
        return -y * scipy.optimize.brentq(equation, 0.0, 1.0, xtol=1e-300, rtol=1e-15)
    # the others are 0 up to a kink and straight beyond it: a whole step, or one that ends there
    beyond = {"hinge": 1 - y * s, "perceptron": -y * s, "epsilon_insensitive": abs(s - y) - e}[loss]
    if loss == "perceptron" and beyond == 0:
        return -y
    size = min(1.0, max(0.0, beyond) / gain)
    return size * (np.sign(s - y) if loss == "epsilon_insensitive" else -y)


class Columns:
    """What the rows so far have shown of each column."""

    def __init__(self, d, centres):
        self.centres, self.rows, self.total = centres, 0, 0.0
        self.count, self.sum, self.squares = np.zeros(d), np.zeros(d), np.zeros(d)
        self.centred = np.zeros(d, dtype=bool)
        self.mean, self.spread, self.record = np.zeros(d), np.zeros(d), np.full(d, -1.0)

    def present(self, x, k, model):
        """Take a row in; set z, the z from the centres before, and the rates 1 / s."""
        self.rows, self.total, t = self.rows + 1, self.total + k, self.total + k
        d = len(x)
        self.z, self.before, self.drift, self.rate = (np.zeros(d) for _ in range(4))
        self.in_play = np.zeros(d, dtype=bool)
        for j in range(d):
            if x[j] == 0 and not self.centred[j]:
                continue
            self.in_play[j] = True
            earlier = self.count[j], self.sum[j], self.squares[j]
            if x[j] != 0:
                self.count[j] += k
            if not self.centred[j]:
                self.sum[j] += k * x[j]
                self.squares[j] += k * x[j] ** 2
                if self.centres and 2 * self.count[j] >= t:
                    self.join(j, x[j], t - k, earlier, model)
            if self.centred[j]:
                self.centre(j, x[j], k, model)
            else:
                self.pass_by(j, x[j], earlier, model)

    def present_again(self, x):
        """Take a row in that was presented before: nothing new is known of its columns."""
        self.rows += 1
        d = len(x)
        self.in_play = (x != 0) | self.centred
        self.z = np.where(self.centred, x - self.mean, x)
        self.before, self.drift, self.rate = self.z, np.zeros(d), np.zeros(d)
        for j in np.flatnonzero(self.in_play):
            if not self.centred[j]:
                self.rate[j] = np.sqrt(self.count[j] / self.squares[j])
            elif self.spread[j] / self.total > (1e-14 * self.mean[j]) ** 2:
                self.rate[j] = np.sqrt(self.total / self.spread[j])

    def join(self, j, x, earlier_total, earlier, model):
        _, total, squares = earlier
        self.mean[j] = total / earlier_total if earlier_total > 0 else x
        spread = squares - total * self.mean[j] if earlier_total > 0 else 0.0
        self.spread[j] = spread if spread > 1e-6 * squares else 0.0
        self.record[j], self.centred[j] = -1.0, True
        model.b += self.mean[j] * model.w[j]

    def centre(self, j, x, k, model):
        self.before[j] = x - self.mean[j]
        self.drift[j] = self.before[j] * k / self.total
        self.mean[j] += self.drift[j]
        self.z[j] = x - self.mean[j]
        self.spread[j] += k * self.before[j] * self.z[j]
        variance = self.spread[j] / self.total
        if variance > (1e-14 * self.mean[j]) ** 2:
            self.rate[j] = 1 / np.sqrt(variance)
        if variance > self.record[j]:
            if self.record[j] > 0:
                model.w[j] *= np.sqrt(self.record[j] / variance)
            self.record[j] = variance

    def pass_by(self, j, x, earlier, model):
        self.z[j] = self.before[j] = x
        mean_square = self.squares[j] / self.count[j]
        if earlier[0] > 0 and mean_square > 1.5 * earlier[2] / earlier[0]:
            model.w[j] *= np.sqrt(earlier[2] / earlier[0] / mean_square)
        self.rate[j] = 1 / np.sqrt(mean_square)

    def release(self, model):
        """Centre no more what less than a quarter of the rows have, after 1, 2, 4, ... rows."""
        if self.rows & (self.rows - 1):
            return
        for j in np.flatnonzero(self.centred & (4 * self.count < self.total)):
            model.b -= self.mean[j] * model.w[j]
            self.squares[j] = self.spread[j] + self.total * self.mean[j] ** 2
            self.sum[j] = self.total * self.mean[j]
            self.centred[j] = False


class AdaptiveSGD:
    """w and b, with b from the centres of the columns; ``raw()`` has b as the data sees it."""

    def __init__(
        self, d, loss, eta=0.15, l1=0.0, l2=0.0, epsilon=0.1, intercept=True, number=False
    ):
        self.loss, self.eta, self.l1, self.l2, self.epsilon = loss, eta, l1, l2, epsilon
        self.intercept, self.number = intercept, number
        self.columns = Columns(d, intercept)
        self.w, self.b, self.a, self.a0 = np.zeros(d), 0.0, np.zeros(d), 0.0
        self.due, self.taken, self.last = np.zeros(d), np.zeros(d), np.zeros(d)
        self.y_mean = self.y_spread = 0.0
        self.joined, self.released = 0, 0  # so that a test can say that both have happened

    def learn(self, x, y, share, again=False):
        """Learn from a row; ``again``: all rows were presented before, in an earlier epoch."""
        columns = self.columns
        if self.number and not again:
            self.meet(y, share)
        was = columns.centred.copy()
        if again:
            columns.present_again(x)
        else:
            columns.present(x, share, self)  # 1
        self.joined += int((columns.centred & ~was).sum())
        self.penalise(np.flatnonzero(columns.in_play))
        s = self.w @ columns.before + self.b  # 2
        self.b += self.w @ columns.drift
        g = SLOPES[self.loss](s, y, self.epsilon)
        if g != 0:
            self.move(s, y, g, share)
        was = columns.centred.copy()
        if not again:
            columns.release(self)
        self.released += int((was & ~columns.centred).sum())

    def meet(self, y, share):
        if self.columns.rows == 0 and self.intercept:
            self.b = self.y_mean = y
            return
        off = y - self.y_mean
        if self.intercept:
            self.y_mean += share * off / (self.columns.total + share)
        self.y_spread += share * off * (y - self.y_mean)

    def step_size(self):
        return self.eta * np.sqrt(self.y_spread / self.columns.total if self.number else 1.0)

    def move(self, s, y, g, share):
        eta, z, rate = self.step_size(), self.columns.z, self.columns.rate
        self.a0 += share * g**2 * self.intercept  # 3
        self.a += share * g**2 * z**2
        d0 = eta / np.sqrt(self.a0) if self.intercept else 0.0  # 4
        d = np.divide(eta * rate * z, np.sqrt(self.a), out=np.zeros_like(z), where=z != 0)
        gain = share * (d0 + d @ z)  # 5
        if gain == 0:
            return
        size = share * implicit_slope(self.loss, s, y, gain, self.epsilon)  # 6
        self.w = self.w - size * d  # 7
        self.b -= size * d0

    def penalise(self, which):
        """Take the penalty of all rows since each weight's last turn."""
        for j in which:
            rows, self.last[j] = self.columns.rows - self.last[j], self.columns.rows
            self.w[j] = self.shrunk(j, rows, self.columns.rate[j])

    def shrunk(self, j, rows, rate):
        if self.a[j] == 0:
            return self.w[j]
        step = self.step_size() * rate / np.sqrt(self.a[j]) * rows
        keep = 1 / (1 + self.l2 * step)
        self.due[j] = keep * self.due[j] + self.l1 * step
        self.taken[j] *= keep
        w = keep * self.w[j]
        left = max(0.0, abs(w) - (self.due[j] + np.sign(w) * self.taken[j])) * np.sign(w)
        self.taken[j] += left - w
        return left

    def raw(self):
        means = np.where(self.columns.centred, self.columns.mean, 0.0)
        return self.w.copy(), self.b - self.w @ means

    def settle(self):
        """Take the penalty that is still due, and return w and b."""
        columns = self.columns
        for j in np.flatnonzero(columns.count > 0):
            rows, self.last[j] = columns.rows - self.last[j], columns.rows
            rate = np.sqrt(columns.count[j] / columns.squares[j]) if rows else 0.0
            self.w[j] = self.shrunk(j, rows, rate)
        return self.raw()


def adaptive_sgd(X, y, loss, *, weight=None, epochs=1, orders=None, mean_from=0, **settings):
    """Return w, b, the mean of each over the steps after ``mean_from``, and the learner.

    ``orders`` are those of the rows in each epoch of a shuffled fit, which measures columns in the
    first only. Without them the epochs are a stream: the rows, over and over again.
    """
    model = AdaptiveSGD(X.shape[1], loss, **settings)
    sum_w, sum_b, count = np.zeros(X.shape[1]), 0.0, 0
    for epoch, order in enumerate(orders or [range(len(X))] * epochs):
        for i in order:
            left = 1.0 if weight is None else weight[i]
            while left > 0:
                model.learn(X[i], y[i], min(left, 1.0), again=orders is not None and epoch > 0)
                if model.columns.rows > mean_from:
                    w, b = model.raw()
                    sum_w, sum_b, count = sum_w + w, sum_b + b, count + 1
                left -= 1
    return *model.settle(), sum_w / max(1, count), sum_b / max(1, count), model
