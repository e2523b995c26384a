// With r = s - y: r^2 / 2 while |r| <= epsilon, beyond that the straight line that goes on from
// there, epsilon |r| - epsilon^2 / 2. The gradient is at most epsilon.
#pragma once

namespace separable {

struct HuberLoss {
    static constexpr const char* kName = "huber";
    static constexpr bool kClassesOnly = false, kConvex = true;

    double epsilon;

    template <class T>
    T value(T s, T y) const {
        const T e = static_cast<T>(epsilon), r = s - y, size = r < T(0) ? -r : r;
        return size <= e ? r * r * T(0.5) : e * size - e * e * T(0.5);
    }
    template <class T>
    T gradient(T s, T y) const {
        const T e = static_cast<T>(epsilon), r = s - y;
        return r > e ? e : (r < -e ? -e : r);
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        const T e = static_cast<T>(epsilon), a = (s - y) / (T(1) + gain);
        return a > e ? e : (a < -e ? -e : a);
    }
};

}  // namespace separable
