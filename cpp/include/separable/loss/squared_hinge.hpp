// max(0, 1 - y s)^2, without a factor 1/2, as scikit-learn has it.
#pragma once

namespace separable {

struct SquaredHingeLoss {
    static constexpr const char* kName = "squared_hinge";
    static constexpr bool kClassesOnly = true, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        const T short_of = T(1) - y * s;
        return short_of > T(0) ? short_of * short_of : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        const T short_of = T(1) - y * s;
        return short_of > T(0) ? T(-2) * y * short_of : T(0);
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        return gradient(s, y) / (T(1) + T(2) * gain);
    }
};

}  // namespace separable
