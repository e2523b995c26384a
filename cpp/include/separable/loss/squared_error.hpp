// (s - y)^2 / 2: least squares.
#pragma once

namespace separable {

struct SquaredErrorLoss {
    static constexpr const char* kName = "squared_error";
    static constexpr bool kClassesOnly = false, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        return (s - y) * (s - y) * T(0.5);
    }
    template <class T>
    T gradient(T s, T y) const {
        return s - y;
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        return (s - y) / (T(1) + gain);
    }
};

}  // namespace separable
