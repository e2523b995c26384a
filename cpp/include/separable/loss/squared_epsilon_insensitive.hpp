// max(0, |s - y| - epsilon)^2, without a factor 1/2, as scikit-learn has it.
#pragma once

namespace separable {

struct SquaredEpsilonInsensitiveLoss {
    static constexpr const char* kName = "squared_epsilon_insensitive";
    static constexpr bool kClassesOnly = false, kConvex = true;

    double epsilon;

    template <class T>
    T value(T s, T y) const {
        const T r = s - y, over = (r < T(0) ? -r : r) - static_cast<T>(epsilon);
        return over > T(0) ? over * over : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        const T e = static_cast<T>(epsilon), r = s - y;
        return r > e ? T(2) * (r - e) : (r < -e ? T(2) * (r + e) : T(0));
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        return gradient(s, y) / (T(1) + T(2) * gain);
    }
};

}  // namespace separable
