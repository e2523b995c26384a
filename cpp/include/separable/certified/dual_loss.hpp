// The losses of the certified learners, as the dual sees them: one variable a_i for each row.
//
//   problem   P(w, b) = 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)), and its dual
//             D(a) = sum_i d(a_i, c_i) - 1/2 |v|^2,  v = sum_i a_i y_i x_i
//   a step    maximises D over a_i alone: with s the score of the row, q = |x_i|^2 (and what the
//             intercept adds), the score after a change of a_i by h is s + q y_i h
//   a gap     c loss(m) - d(a, c) + a m >= 0, a row's part in P - D; m = y (v.x_i + b)
// Regression has y_i a number, a_i of either sign and v = sum a_i x_i.
#pragma once

#include <algorithm>
#include <cmath>

#include "separable/math/exponential.hpp"

namespace separable {

// max(0, 1 - m): 0 <= a <= c, d = a.
struct HingeDual {
    static constexpr const char* kName = "hinge";
    static constexpr bool kKeepsMargin = false, kRegression = false;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T wanted = a[l] + (T(1) - y[l] * s[l]) / q[l];
            const T after = std::min(std::max(wanted, T(0)), c[l]);
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
        }
    }
    template <class T>
    T loss(T s, T y) const {
        return std::max(T(0), T(1) - y * s);
    }
    template <class T>
    T gap(T s, T y, T c, T a) const {
        const T m = y * s;
        return m < T(1) ? (c - a) * (T(1) - m) : a * (m - T(1));
    }
};

// max(0, 1 - m)^2: a >= 0, d = a - a^2 / 4c.
struct SquaredHingeDual {
    static constexpr const char* kName = "squared_hinge";
    static constexpr bool kKeepsMargin = false, kRegression = false;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T cost = c[l] > T(0) ? c[l] : T(1), slack = T(1) / (T(2) * cost);
            const T wanted = a[l] + (T(1) - y[l] * s[l] - a[l] * slack) / (q[l] + slack);
            const T after = c[l] > T(0) ? std::max(wanted, T(0)) : T(0);
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
        }
    }
    template <class T>
    T loss(T s, T y) const {
        const T left = std::max(T(0), T(1) - y * s);
        return left * left;
    }
    template <class T>
    T gap(T s, T y, T c, T a) const {
        if (!(c > T(0))) return T(0);
        const T m = y * s, left = std::max(T(0), T(1) - m);
        // c left^2 - a + a^2 / 4c + a m, as a square where m < 1
        const T root = left - a / (T(2) * c);
        return m < T(1) ? c * root * root : a * a / (T(4) * c) + a * (m - T(1));
    }
};

// log(1 + e^-m): 0 < a < c, d = -c (u log u + (1 - u) log(1 - u)), u = a / c = sigma(-t), t kept.
//
// The best a_i solves f(t) = t - S - q c sigma(-t) = 0 with S = y s - q a_old. f is concave for
// t > 0 and convex for t < 0, so Newton's method that starts at the inflection, or at the old t if
// that is on the right side, never overshoots and needs no bracket.
struct LogisticDual {
    static constexpr const char* kName = "log_loss";
    static constexpr bool kKeepsMargin = true, kRegression = false;
    static constexpr int kSteps = 5;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T* t, T* change) const {
        T start[width], side[width], x[width];
        for (int l = 0; l < width; ++l) {
            start[l] = y[l] * s[l] - q[l] * a[l];
            side[l] = -start[l] - q[l] * c[l] / T(2) < T(0) ? T(1) : T(-1);
            x[l] = t[l] * side[l] > T(0) ? t[l] : T(0);
        }
        for (int k = 0; k < kSteps; ++k)
            for (int l = 0; l < width; ++l) {
                const T h = sigmoid(-x[l]), room = q[l] * c[l];
                x[l] -= (x[l] - start[l] - room * h) / (T(1) + room * h * (T(1) - h));
                x[l] = x[l] * side[l] > T(0) ? x[l] : T(0);
            }
        for (int l = 0; l < width; ++l) {
            const T after = c[l] * sigmoid(-x[l]);
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
            t[l] = x[l];
        }
    }
    template <class T>
    T loss(T s, T y) const {
        const T m = y * s, size = m < T(0) ? -m : m;
        return (m < T(0) ? size : T(0)) + log_one_plus(exponential(-size));
    }
    // c KL(u || sigma(-m)), from the margin that a stands for.
    template <class T>
    T gap(T s, T y, T c, T a) const {
        if (!(c > T(0))) return T(0);
        const T m = y * s, u = a / c, rest = T(1) - u;
        T entropy = 0;
        if (u > T(0)) entropy += u * std::log(u);
        if (rest > T(0)) entropy += rest * std::log(rest);
        return std::max(T(0), c * (loss(s, y) + entropy + u * m));
    }
};

// max(0, |y - s| - eps) for numbers y: |a| <= c, d = y a - eps |a|.
struct InsensitiveDual {
    static constexpr const char* kName = "epsilon_insensitive";
    static constexpr bool kKeepsMargin = false, kRegression = true;
    double eps = 0.1;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T free = a[l] + (y[l] - s[l]) / q[l], band = static_cast<T>(eps) / q[l];
            const T cut = free > band ? free - band : free < -band ? free + band : T(0);
            const T after = std::min(std::max(cut, -c[l]), c[l]);
            change[l] = after - a[l];
            a[l] = after;
        }
    }
    template <class T>
    T loss(T s, T y) const {
        const T left = y - s;
        return std::max(T(0), (left < T(0) ? -left : left) - static_cast<T>(eps));
    }
    template <class T>
    T gap(T s, T y, T c, T a) const {
        return c * loss(s, y) + static_cast<T>(eps) * (a < T(0) ? -a : a) - a * (y - s);
    }
};

}  // namespace separable
