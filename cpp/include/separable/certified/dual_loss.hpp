// The losses of the certified learners, as the dual sees them: one variable a_i for each row.
//
//   problem   P(w, b) = 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)), and its dual
//             D(a) = sum_i d(a_i, c_i) - 1/2 |v|^2,  v = sum_i a_i y_i x_i
//   step      maximises D over a_i alone: with s the score of the row, q = |x_i|^2 (and what the
//             intercept adds), the score after a change of a_i by h is s + q y_i h
//   gap       c loss(m) - d(a, c) + a m >= 0, a row's part in P - D; m = y (v.x_i + b)
//   violation the size of the projected gradient of D by a_i; where a_i is at a bound and that is
//             0, minus the change of the score at which a_i would leave the bound
//   project   the nearest a at which D is finite
//   intercept the b at which the derivative of the sum of losses is 0: first and second
//             derivatives for Newton's method, or the breakpoints of a piecewise linear loss
//
// Regression has y_i a number, a_i of either sign and v = sum a_i x_i.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "separable/math/exponential.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

template <class T>
inline T magnitude(T x) {
    return x < T(0) ? -x : x;
}

// a / c, and 0 for rows of cost 0, which have a = 0; without a branch.
template <class T>
inline T ratio(T a, T c) {
    return a / (c + std::numeric_limits<T>::min());
}

// The derivative of a piecewise linear loss by b rises by `by` at `at`.
struct Breakpoint {
    double at, by;
};

// max(0, 1 - m): 0 <= a <= c, d = a.
struct HingeDual {
    static constexpr const char* kName = "hinge";
    static constexpr bool kKeepsMargin = false, kRegression = false, kShrinks = true,
                          kSmooth = false;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T wanted = a[l] + (T(1) - y[l] * s[l]) / q[l];
            const T positive = wanted > T(0) ? wanted : T(0);
            const T after = positive < c[l] ? positive : c[l];
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
        }
    }
    template <class T>
    T violation(T s, T y, T c, T a) const {
        const T rise = T(1) - y * s;
        const T inside = magnitude(rise);
        const T held = a == c ? -rise : inside;
        return a == T(0) ? rise : held;
    }
    template <class T>
    T loss(T s, T y) const {
        const T left = T(1) - y * s;
        return left > T(0) ? left : T(0);
    }
    template <class T>
    T dual(T, T, T a) const {
        return a;
    }
    template <class T>
    T project(T c, T a) const {
        return std::min(std::max(a, T(0)), c);
    }
    template <class T>
    T gap(T s, T y, T c, T a) const {
        return residual_gap(y - s, y, c, a);
    }
    template <class T>
    T residual_gap(T r, T y, T c, T a) const {
        const T left = y * r;
        return left > T(0) ? (c - a) * left : -a * left;
    }
    template <class T>
    T running_gap(T s, T y, T c, T a, T) const {
        return gap(s, y, c, a);
    }
    // The derivative as b goes to -infinity is minus the cost of the positive rows.
    template <class Add>
    double breakpoints(double s, double y, double c, Add add) const {
        add(Breakpoint{y - s, c});
        return y > 0 ? -c : 0;
    }
};

// max(0, 1 - m)^2: a >= 0, d = a - a^2 / 4c.
struct SquaredHingeDual {
    static constexpr const char* kName = "squared_hinge";
    static constexpr bool kKeepsMargin = false, kRegression = false, kShrinks = true,
                          kSmooth = true;
    static constexpr double kBracket = 1;  // bounds |b + s| at the best b for some row

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T cost = c[l] > T(0) ? c[l] : T(1), slack = T(1) / (T(2) * cost);
            const T wanted = a[l] + (T(1) - y[l] * s[l] - a[l] * slack) / (q[l] + slack);
            const T positive = wanted > T(0) ? wanted : T(0);
            const T after = c[l] > T(0) ? positive : T(0);
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
        }
    }
    template <class T>
    T violation(T s, T y, T c, T a) const {
        const T cost = c > T(0) ? c : T(1);
        const T rise = T(1) - y * s - a / (T(2) * cost);
        return a == T(0) ? rise : magnitude(rise);
    }
    template <class T>
    T loss(T s, T y) const {
        const T left = T(1) - y * s, positive = left > T(0) ? left : T(0);
        return positive * positive;
    }
    template <class T>
    T dual(T, T c, T a) const {
        const T cost = c > T(0) ? c : T(1);
        return a * (T(1) - a / (T(4) * cost));  // a * a is 0 where a is tiny
    }
    template <class T>
    T project(T c, T a) const {
        return c > T(0) ? std::max(a, T(0)) : T(0);
    }
    // c left^2 - a + a^2 / 4c + a m, as a square where m < 1
    template <class T>
    T gap(T s, T y, T c, T a) const {
        const T cost = c > T(0) ? c : T(1);
        const T over = y * s - T(1), half = a / (T(2) * cost), root = over + half;
        return over < T(0) ? c * root * root : half * a / T(2) + a * over;
    }
    template <class T>
    T running_gap(T s, T y, T c, T a, T) const {
        return gap(s, y, c, a);
    }
    void derivatives(double s, double y, double c, double& first, double& second) const {
        const double left = 1 - y * s;
        first = left > 0 ? -2 * c * y * left : 0;
        second = left > 0 ? 2 * c : 0;
    }
};

// log(1 + e^-m): 0 < a < c, d = -c (u log u + (1 - u) log(1 - u)), u = a / c = sigma(-t), t kept.
//
// The best a_i solves f(t) = t - S - q c sigma(-t) = 0 with S = y s - q a_old. f is concave for
// t > 0 and convex for t < 0, so Newton's method that starts at the inflection, or at the old t if
// that is on the right side, never overshoots and needs no bracket. |f''| <= f', so that the error
// after a step is at most half its square: a lane stops after a step below kFine.
struct LogisticDual {
    static constexpr const char* kName = "log_loss";
    static constexpr bool kKeepsMargin = true, kRegression = false, kShrinks = false,
                          kSmooth = true;
    static constexpr double kBracket = 40, kFine = 1.0 / 64;
    static constexpr int kSteps = 5;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T* t, T* change) const {
        alignas(64) T start[width], side[width], x[width], h[width], go[width], scale[width];
        for (int l = 0; l < width; ++l) {
            start[l] = y[l] * s[l] - q[l] * a[l];
            scale[l] = q[l] * c[l];
            side[l] = -start[l] - scale[l] / T(2) < T(0) ? T(1) : T(-1);
            h[l] = ratio(a[l], c[l]);  // sigma(-t), up to rounding
            go[l] = T(1);
        }
        for (int l = 0; l < width; ++l) {
            const bool same = t[l] * side[l] > T(0);
            x[l] = same ? t[l] : T(0);
            h[l] = same ? h[l] : T(0.5);
        }
        for (int k = 0; k < kSteps; ++k) {
            std::int32_t going = 0;
            for (int l = 0; l < width; ++l) {
                const T by =
                    (x[l] - start[l] - scale[l] * h[l]) / (T(1) + scale[l] * h[l] * (T(1) - h[l]));
                const T moved = x[l] - go[l] * by;
                x[l] = moved * side[l] > T(0) ? moved : T(0);
                h[l] = sigmoid(-x[l]);
                go[l] = magnitude(by) < static_cast<T>(kFine) ? T(0) : go[l];
                going |= go[l] > T(0) ? 1 : 0;
            }
            if (going == 0) break;
        }
        for (int l = 0; l < width; ++l) {
            const T after = c[l] * h[l];
            change[l] = y[l] * (after - a[l]);
            a[l] = after;
            t[l] = x[l];
        }
    }
    template <class T>
    T loss(T s, T y) const {
        const T m = y * s, size = magnitude(m);
        return (m < T(0) ? size : T(0)) + log_one_plus(exponential(-size));
    }
    template <class T>
    T dual(T, T c, T a) const {
        return -c * entropy(c, a);
    }
    template <class T>
    T project(T c, T a) const {
        return std::min(std::max(a, T(0)), c);
    }
    // c KL(u || v), v = sigma(-m); as a series where u is close to v, for there logarithms cancel.
    template <class T>
    T gap(T s, T y, T c, T a) const {
        const T m = y * s, u = ratio(a, c), v = sigmoid(-m);
        const T away = u - v, scale = v * (T(1) - v), part = scale > T(0) ? away / scale : T(1);
        const T series = c * away * part * (T(0.5) - (T(1) - T(2) * v) * part / T(6));
        const T whole = c * (loss(s, y) + entropy(c, a) + u * m);
        const T value = magnitude(part) < T(1e-3) ? series : whole;
        return value < T(0) ? T(0) : value;
    }
    // The same, from the margin t that a stands for: a series in m - t, or an upper bound.
    template <class T>
    T running_gap(T s, T y, T c, T a, T t) const {
        const T m = y * s, u = ratio(a, c), d = m - t, scale = u * (T(1) - u);
        const T d2 = d * d;
        const T series =
            scale * d2 *
            (T(0.5) + (T(2) * u - T(1)) * d / T(6) + (T(1) - T(6) * scale) * d2 / T(24));
        const T size = magnitude(d), most = size < T(8) ? d2 / T(8) : size;
        const T value = size < T(1) ? series : most;
        return value > T(0) ? c * value : T(0);
    }
    void derivatives(double s, double y, double c, double& first, double& second) const {
        const double p = sigmoid(-y * s);
        first = -c * y * p;
        second = c * p * (1 - p);
    }

   private:
    // u log u + (1 - u) log(1 - u), from the smaller of u and 1 - u, which has all of its digits.
    template <class T>
    static T entropy(T c, T a) {
        constexpr T kLeast = std::numeric_limits<T>::min();  // a normal number, for its logarithm
        const T u = ratio(a, c), rest = T(1) - u, p = u < rest ? u : rest;
        return p * logarithm(p > kLeast ? p : kLeast) - (T(1) - p) * log_one_plus(p / (T(1) - p));
    }
};

// max(0, |y - s| - eps) for numbers y: |a| <= c, d = y a - eps |a|.
struct InsensitiveDual {
    static constexpr const char* kName = "epsilon_insensitive";
    static constexpr bool kKeepsMargin = false, kRegression = true, kShrinks = true,
                          kSmooth = false;
    double eps = 0.1;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T free = a[l] + (y[l] - s[l]) / q[l], band = static_cast<T>(eps) / q[l];
            const T below = free < -band ? free + band : T(0);
            const T project = free > band ? free - band : below;
            const T low = project < -c[l] ? -c[l] : project;
            const T after = low < c[l] ? low : c[l];
            change[l] = after - a[l];
            a[l] = after;
        }
    }
    template <class T>
    T violation(T s, T y, T c, T a) const {
        const T left = y - s, rise = left - static_cast<T>(eps), fall = left + static_cast<T>(eps);
        const T up = a == c ? -rise : magnitude(rise);    // a > 0
        const T down = a == -c ? fall : magnitude(fall);  // a < 0
        const T at_rest = rise > -fall ? rise : -fall;    // a = 0
        const T moving = a > T(0) ? up : down;
        return a == T(0) ? at_rest : moving;
    }
    template <class T>
    T loss(T s, T y) const {
        const T left = magnitude(y - s) - static_cast<T>(eps);
        return left > T(0) ? left : T(0);
    }
    template <class T>
    T dual(T y, T, T a) const {
        return y * a - static_cast<T>(eps) * magnitude(a);
    }
    template <class T>
    T project(T c, T a) const {
        return std::min(std::max(a, -c), c);
    }
    // (c - a) (r - eps) where the residual r > eps lies on the side of a, and so on: no term of
    // these is negative
    template <class T>
    T gap(T s, T y, T c, T a) const {
        return residual_gap(y - s, y, c, a);
    }
    template <class T>
    T residual_gap(T r, T, T c, T a) const {
        const T size = magnitude(r), spent = magnitude(a);
        const T over = size - static_cast<T>(eps);
        const bool same = r * a >= T(0);
        const T against = same ? T(0) : T(2) * spent * size;
        return (over > T(0) ? (c - spent) * over : -spent * over) + against;
    }
    template <class T>
    T running_gap(T s, T y, T c, T a, T) const {
        return gap(s, y, c, a);
    }
    template <class Add>
    double breakpoints(double s, double y, double c, Add add) const {
        add(Breakpoint{y - s - eps, c});
        add(Breakpoint{y - s + eps, c});
        return -c;
    }
};

// (y - s)^2 / 2 for numbers y: any a, d = y a - a^2 / 2c.
struct SquaredErrorDual {
    static constexpr const char* kName = "squared_error";
    static constexpr bool kKeepsMargin = false, kRegression = true, kShrinks = false,
                          kSmooth = true;

    template <class T, int width>
    void step(const T* y, const T* s, const T* q, const T* c, T* a, T*, T* change) const {
        for (int l = 0; l < width; ++l) {
            const T cost = c[l] > T(0) ? c[l] : T(1), slack = T(1) / cost;
            const T wanted = a[l] + (y[l] - s[l] - a[l] * slack) / (q[l] + slack);
            const T after = c[l] > T(0) ? wanted : T(0);
            change[l] = after - a[l];
            a[l] = after;
        }
    }
    template <class T>
    T loss(T s, T y) const {
        return (y - s) * (y - s) / T(2);
    }
    template <class T>
    T dual(T y, T c, T a) const {
        return a * (y - ratio(a, c) / T(2));
    }
    template <class T>
    T project(T c, T a) const {
        return c > T(0) ? a : T(0);
    }
    template <class T>
    T gap(T s, T y, T c, T a) const {
        return residual_gap(y - s, y, c, a);
    }
    template <class T>
    T residual_gap(T r, T, T c, T a) const {
        const T away = r - ratio(a, c);
        return c * away * away / T(2);
    }
    template <class T>
    T running_gap(T s, T y, T c, T a, T) const {
        return gap(s, y, c, a);
    }
    void derivatives(double s, double y, double c, double& first, double& second) const {
        first = c * (s - y);
        second = c;
    }
};

}  // namespace separable
