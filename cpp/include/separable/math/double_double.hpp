// Numbers of twice the digits, as the unevaluated sum of two doubles.
//
//   source    T. J. Dekker, A floating-point technique for extending the available precision,
//             Numerische Mathematik 18 (1971); D. E. Knuth, The Art of Computer Programming
//             2, 4.2.2
#pragma once

#include <cmath>

namespace separable {

struct DoubleDouble {
    double high = 0, low = 0;

    // a + b exactly, as a rounded sum and its error.
    static DoubleDouble sum(double a, double b) {
        const double s = a + b, t = s - a;
        return {s, (a - (s - t)) + (b - t)};
    }

    // a b exactly. Without the instruction the library's fma is slower and as exact.
    static DoubleDouble product(double a, double b) {
        const double p = a * b;
        return {p, std::fma(a, b, -p)};
    }

    DoubleDouble& operator+=(DoubleDouble x) {
        DoubleDouble s = sum(high, x.high);
        s.low += low + x.low;
        high = s.high + s.low;
        low = s.low - (high - s.high);
        return *this;
    }
    DoubleDouble& operator+=(double x) { return *this += DoubleDouble{x, 0}; }

    DoubleDouble operator*(double x) const {
        DoubleDouble p = product(high, x);
        p.low += low * x;
        return p;
    }
    DoubleDouble operator-() const { return {-high, -low}; }
};

}  // namespace separable
