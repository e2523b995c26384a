// max(0, 1 - y s): the loss of the linear support vector machine.
#pragma once

namespace separable {

struct HingeLoss {
    static constexpr const char* kName = "hinge";
    static constexpr bool kClassesOnly = true, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        const T short_of = T(1) - y * s;
        return short_of > T(0) ? short_of : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        return y * s < T(1) ? -y : T(0);
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        const T short_of = T(1) - y * s;
        return short_of > T(0) ? (short_of > gain ? -y : -y * short_of / gain) : T(0);
    }
};

}  // namespace separable
