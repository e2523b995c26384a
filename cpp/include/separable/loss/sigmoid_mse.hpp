// (t - sigma(s))^2 with t = 1 for y = 1 and t = 0 for y = -1: the squared error of a smooth step.
// Not convex in s: its slope vanishes on both sides, so a row that is very wrong pulls no more.
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
    T slope(T s, T y) const {
        const T off = sigmoid(-y * s);
        return T(-2) * y * off * off * sigmoid(y * s);
    }
};

}  // namespace separable
