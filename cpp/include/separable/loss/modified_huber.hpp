// max(0, 1 - y s)^2 while y s >= -1, beyond that the straight line that goes on from there, -4 y s.
#pragma once

namespace separable {

struct ModifiedHuberLoss {
    static constexpr const char* kName = "modified_huber";
    static constexpr bool kClassesOnly = true, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        const T short_of = T(1) - y * s;
        if (short_of > T(2)) return T(4) * (short_of - T(1));
        return short_of > T(0) ? short_of * short_of : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        return implicit_gradient(s, y, T(0));
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        const T short_of = T(1) - y * s;
        const T size = short_of > T(0) ? T(2) * short_of / (T(1) + T(2) * gain) : T(0);
        return -y * (size > T(4) ? T(4) : size);
    }
};

}  // namespace separable
