// max(0, -y s): the perceptron rule is its gradient step; a score of 0 is a mistake.
#pragma once

namespace separable {

struct PerceptronLoss {
    static constexpr const char* kName = "perceptron";
    static constexpr bool kClassesOnly = true, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        return y * s <= T(0) ? -y * s : T(0);
    }
    template <class T>
    T gradient(T s, T y) const {
        return y * s <= T(0) ? -y : T(0);
    }
    template <class T>
    T implicit_gradient(T s, T y, T gain) const {
        const T behind = -y * s;  // beyond a score of 0 the gradient is 0; at 0 the step is whole
        return behind < T(0) ? T(0) : (behind == T(0) || behind > gain ? -y : -y * behind / gain);
    }
};

}  // namespace separable
