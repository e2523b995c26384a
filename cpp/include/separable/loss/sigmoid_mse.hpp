// (t - sigma(s))^2 with t = 1 for y = 1 and t = 0 for y = -1: the squared error of a smooth step.
// Not convex in s: the gradient vanishes on both sides, so badly misclassified rows have no effect.
#pragma once

#include "separable/math/exponential.hpp"

namespace separable {

struct SigmoidMse {
    static constexpr const char* kName = "sigmoid_mse";
    static constexpr bool kClassesOnly = true, kConvex = false;

    // t - sigma(s) = y sigma(-y s)
    template <class T>
    T value(T s, T y) const {
        const T off = sigmoid(-y * s);
        return off * off;
    }
    template <class T>
    T gradient(T s, T y) const {
        const T off = sigmoid(-y * s);
        return T(-2) * y * off * off * sigmoid(y * s);
    }
    // The equation may have several solutions; this divides by a bound on the curvature instead,
    // which never overshoots either.
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        return gradient(s, y) / (T(1) + gain * T(0.25));
    }
};

}  // namespace separable
