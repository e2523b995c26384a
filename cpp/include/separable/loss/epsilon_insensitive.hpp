// max(0, |s - y| - epsilon): what is within epsilon costs nothing.
#pragma once

namespace separable {

struct EpsilonInsensitiveLoss {
    static constexpr const char* kName = "epsilon_insensitive";
    static constexpr bool kClassesOnly = false, kConvex = true;

    double epsilon;

    template <class T>
    T value(T s, T y) const {
        const T r = s - y, over = (r < T(0) ? -r : r) - static_cast<T>(epsilon);
        return over > T(0) ? over : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        const T e = static_cast<T>(epsilon), r = s - y;
        return r > e ? T(1) : (r < -e ? T(-1) : T(0));
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        const T r = s - y, over = (r < T(0) ? -r : r) - static_cast<T>(epsilon);
        const T size = over > T(0) ? (over > gain ? T(1) : over / gain) : T(0);
        return r < T(0) ? -size : size;
    }
};

}  // namespace separable
