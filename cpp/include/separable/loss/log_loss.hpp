// log(1 + e^(-y s)): logistic regression; sigma(s) is the probability of y = 1.
#pragma once

#include "separable/math/exponential.hpp"

namespace separable {

struct LogLoss {
    static constexpr const char* kName = "log_loss";
    static constexpr bool kClassesOnly = true, kConvex = true;

    template <class T>
    T value(T s, T y) const {
        const T margin = y * s, size = margin < T(0) ? -margin : margin;
        return (margin < T(0) ? size : T(0)) + log_one_plus(exponential(-size));
    }
    template <class T>
    T slope(T s, T y) const {
        return -y * sigmoid(-y * s);
    }
};

}  // namespace separable
