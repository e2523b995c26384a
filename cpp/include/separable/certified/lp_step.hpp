// One weight under a power of its size: the x that minimises
//
//   h/2 x^2 - m x + lambda |x|^p,    h > 0, lambda >= 0
//
// exactly, for p = 0 (a count), 1/2, 2/3, 1, 4/3, 3/2, 2. With t = |m| / h and mu = lambda / h it
// is the proximal operator of mu |x|^p at t, with the sign of m.
//
// Below p = 1 there are up to two local minima, 0 and the larger root of the derivative; 0 is the
// lower one up to t = (2 - p) / (2 (1 - p)) (2 mu (1 - p))^(1 / (2 - p)), and is taken there.
//   p = 1/2   the root by the cosine (Xu, Chang, Xu and Zhang, 2012)
//   p = 2/3   x = w^3 with w^4 - t w + 2 mu / 3 = 0: Newton from the right, where it is convex
//   p = 4/3   x = w^3 with w^3 + (4/3) mu w - t = 0: the same
//   p = 3/2   x = w^2 with w^2 + (3/2) mu w - t = 0
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

namespace separable {

enum class Power { kCount, kHalf, kTwoThirds, kOne, kFourThirds, kThreeHalves, kTwo };

// The largest root of a polynomial that is convex to the right of it, by Newton's method from w.
template <class Value, class Derivative>
double root_from_the_right(double w, Value&& value, Derivative&& derivative) {
    for (int step = 0; step < 60; ++step) {
        const double s = derivative(w);
        if (!(s > 0)) break;
        const double next = w - value(w) / s;
        if (!(next < w)) break;
        w = next;
    }
    return w;
}

template <Power power>
double shrunk_size(double t, double mu) {
    if (mu == 0) return t;
    if constexpr (power == Power::kCount) {
        return t * t > 2 * mu ? t : 0.0;
    } else if constexpr (power == Power::kHalf) {
        if (t <= 1.5 * std::cbrt(mu * mu)) return 0.0;
        const double third = t / 3;
        const double angle = std::acos(std::clamp(0.25 * mu / (third * std::sqrt(third)), -1., 1.));
        return 2 * third * (1 + std::cos(2 * (std::numbers::pi - angle) / 3));
    } else if constexpr (power == Power::kTwoThirds) {
        const double a = 2 * mu / 3;
        if (t <= 2 * std::sqrt(a * std::sqrt(a))) return 0.0;
        const double w = root_from_the_right(
            std::cbrt(t), [&](double v) { return v * (v * v * v - t) + a; },
            [&](double v) { return 4 * v * v * v - t; });
        return w * w * w;
    } else if constexpr (power == Power::kOne) {
        return std::max(t - mu, 0.0);
    } else if constexpr (power == Power::kFourThirds) {
        const double a = 4 * mu / 3;
        const double w = root_from_the_right(
            std::min(std::cbrt(t), t / a), [&](double v) { return v * (v * v + a) - t; },
            [&](double v) { return 3 * v * v + a; });
        return w * w * w;
    } else if constexpr (power == Power::kThreeHalves) {
        const double a = 1.5 * mu;
        const double w = 2 * t / (a + std::sqrt(a * a + 4 * t));
        return w * w;
    } else {
        return t / (1 + 2 * mu);
    }
}

// Steps of blocks that are one weight each.
template <Power power>
struct LpStep {
    const double* lambda;  // of each weight

    // Given m of a block, writes its weights.
    template <class Block>
    void operator()(const Block& block, const double* m, double* x) const {
        const double h = block.curvature(0);
        x[0] = h > 0 ? std::copysign(shrunk_size<power>(std::abs(*m) / h, lambda[block.number] / h),
                                     *m)
                     : 0.0;
    }
};

}  // namespace separable
