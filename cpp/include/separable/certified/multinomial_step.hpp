// One row's step of multinomial dual coordinate descent: the best point of a simplex.
//
//   problem   over p >= 0 with sum 1, maximise  sum_k s_k h_k - p_k log p_k - curvature/2 h_k^2,
//             h = p - p_old: s are the row's scores, curvature = c (|x|^2 + rho)
//   given     s, u = log p_old, p_old
//   returns   d with log p = u + d
//   steps     1. the best p solves  d_k + curvature p_old_k (e^d_k - 1) = t_k,  t_k = s_k - u_k +
//   m,
//                with one m for all classes; near the optimum t and d are small, so that nothing
//                cancels
//             2. for given m: x = t + z + log z with z = curvature p_old has  w + log w = x  at
//                w = curvature p, Wright's omega function. Start: w = z if t is small, else an
//                expansion of omega; then one step of fourth order
//             3. sum_k p_k(m) is convex and rises with m; m by Newton's method, on the logarithm
//                of the sum where that is below 1 and on the sum where it is above, within a
//                bracket; its start is the root of what is linear at p_old
//             4. what is missing to a sum of 1 after a short last step: to first order
//   source    the equation: Yu, Huang, Lin (2011), section 5, who solve it class by class; omega:
//             Lawrence, Corless, Jeffrey, Complex double-precision evaluation of the Wright omega
//             function (2012), after Fritsch, Shafer, Crowley (1973)
//
// Lanes are classes: a line holds the classes of W / P models, P lanes each, or W classes of one
// model that has several lines. Values of a model are repeated in all lanes of its segment of a
// line. Segments are independent; once its m has converged a segment does not change.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "separable/math/exponential.hpp"
#include "separable/math/lanes.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

// log p of an absent class.
template <class T>
inline constexpr T kNoClass = T(-1e30);

// Sums and least numbers over the classes of a model, in all lanes of its segment of a line.
template <class T>
class OverClasses {
   public:
    static constexpr int W = kPerLine<T>;

    OverClasses(int lines, int segment) : lines_(lines), segment_(segment) {}

    void sums(const T* numbers, T* out) const {
        Line<T> total = Line<T>::load(numbers);
        for (int line = 1; line < lines_; ++line) total += Line<T>::load(numbers + line * W);
        with_segment([&]<int P>() { total.template segment_sums<P>().store(out); });
    }

    void least(const T* numbers, T* out) const {
        alignas(64) T all[W];
        for (int l = 0; l < W; ++l) all[l] = numbers[l];
        for (int line = 1; line < lines_; ++line)
            for (int l = 0; l < W; ++l)
                all[l] = numbers[line * W + l] < all[l] ? numbers[line * W + l] : all[l];
        with_segment([&]<int P>() { Line<T>::load(all).template segment_least<P>().store(out); });
    }

   private:
    // Calls run<P>() with the lanes of a segment.
    template <class Run>
    void with_segment(Run run) const {
        if (segment_ == 2) return run.template operator()<2>();
        if (segment_ == 4) return run.template operator()<4>();
        if constexpr (W > 8)
            if (segment_ == 8) return run.template operator()<8>();
        return run.template operator()<W>();
    }

    int lines_, segment_;
};

template <class T>
class MultinomialStep {
   public:
    static constexpr int W = kPerLine<T>;

    MultinomialStep(int lines, int n_classes, const OverClasses<T>& over)
        : lines_(lines),
          over_(over),
          uniform_(T(1) / static_cast<T>(n_classes)),
          log_uniform_(logarithm(uniform_)),
          start_(lines * W),
          factor_(lines * W),
          after_(lines * W),
          derivative_of_(lines * W) {}

    // All but `curvature`, one a model, are [line][lane].
    void operator()(const T* s, const T* u, const T* p, const T* curvature, T* d) {
        prepare(s, u, p, curvature);
        for (int k = 0; k < kMaxSteps; ++k) {
            for (int at = 0; at < lines_ * W; at += W)
                evaluate(s + at, u + at, p + at, curvature, log_curvature_, m_, &start_[at],
                         &factor_[at], &after_[at], &derivative_of_[at]);
            over_.sums(after_.data(), sum_);
            over_.sums(derivative_of_.data(), derivative_);
            if (!newton_step(sum_, derivative_, low_, high_, m_)) break;
        }
        for (int l = 0; l < W; ++l) sum_[l] = (T(1) - sum_[l]) / derivative_[l];
        for (int at = 0; at < lines_ * W; at += W)
            finish(curvature, sum_, &start_[at], &factor_[at], &after_[at], d + at);
    }

   private:
    // The largest number of Newton steps on m; a dozen is rare.
    static constexpr int kMaxSteps = 60;
    // A step on m after which the rest is taken to first order.
    static constexpr double kSmallStep = 1.0 / 64;
    // w starts from z if |t| is at most this fraction of 1 + z.
    static constexpr double kNear = 0.25;
    // Brackets are widened by this relative margin for rounding.
    static constexpr T kSlack = T(16) * std::numeric_limits<T>::epsilon();

    void prepare(const T* s, const T* u, const T* p, const T* curvature) {
        logarithms(curvature, log_curvature_);
        for (int at = 0; at < lines_ * W; at += W)
            linearise(s + at, u + at, p + at, curvature, &derivative_of_[at], &after_[at],
                      &start_[at], &factor_[at]);
        over_.sums(derivative_of_.data(), derivative_);
        over_.sums(after_.data(), sum_);
        over_.least(start_.data(), low_);
        over_.least(factor_.data(), high_);
        first(sum_, derivative_, low_, high_, m_);
    }

    static void logarithms(const T* __restrict curvature, T* __restrict out) {
        for (int l = 0; l < W; ++l)
            out[l] = logarithm(curvature[l] > T(1e-30) ? curvature[l] : T(1e-30));
    }

    // One line of the derivative of p by m, of p at m = 0 to first order, and of the ends of a
    // bracket: m at which p would be 1 / K and 1.
    void linearise(const T* __restrict s, const T* __restrict u, const T* __restrict p,
                   const T* __restrict curvature, T* __restrict derivative, T* __restrict rise,
                   T* __restrict low, T* __restrict high) const {
        const T uniform = uniform_, log_uniform = log_uniform_;
        for (int l = 0; l < W; ++l) {
            derivative[l] = p[l] / (T(1) + curvature[l] * p[l]);
            rise[l] = p[l] + derivative[l] * (s[l] - u[l]);
            const T size = s[l] < T(0) ? -s[l] : s[l],
                    slack = kSlack * (T(1) + curvature[l] + size);
            high[l] = curvature[l] * (T(1) - p[l]) - s[l] + slack;
            low[l] = curvature[l] * (uniform - p[l]) + log_uniform - s[l] - slack;
        }
    }

    static void first(const T* __restrict sum, const T* __restrict derivative,
                      const T* __restrict low, const T* __restrict high, T* __restrict m) {
        for (int l = 0; l < W; ++l) {
            const T linear = (T(1) - sum[l]) / derivative[l];
            const T above = linear > low[l] ? linear : low[l];
            m[l] = above < high[l] ? above : high[l];
        }
    }

    // 2: one line of p and of its derivative by m.
    static void evaluate(const T* __restrict s, const T* __restrict u, const T* __restrict p,
                         const T* __restrict curvature, const T* __restrict log_curvature,
                         const T* __restrict m, T* __restrict start, T* __restrict factor,
                         T* __restrict after, T* __restrict derivative) {
        alignas(64) T x[W], far[W], near[W];
        std::int32_t distant = 0;
        for (int l = 0; l < W; ++l) {
            const T t = s[l] - u[l] + m[l], z = curvature[l] * p[l], size = t < T(0) ? -t : t;
            x[l] = t + z + (u[l] + log_curvature[l]);
            near[l] = size <= static_cast<T>(kNear) * (T(1) + z) ? T(1) : T(0);
            distant |= near[l] > T(0) ? 0 : 1;
            start[l] = T(0), after[l] = p[l];
        }
        if (distant != 0) {
            for (int l = 0; l < W; ++l) far[l] = x[l] > T(1) ? x[l] : T(1);
            for (int l = 0; l < W; ++l) far[l] = logarithm(far[l]) * (T(1) - T(1) / far[l]);
            for (int l = 0; l < W; ++l) {
                const T middle = (x[l] - T(1)) * T(2.0 / 3), below = x[l] < T(-2) ? x[l] : middle;
                far[l] = (x[l] < T(1) ? below : far[l]) - (u[l] + log_curvature[l]);
                start[l] = near[l] > T(0) ? T(0) : far[l];
            }
            for (int l = 0; l < W; ++l) far[l] = exponential(u[l] + start[l]);
            for (int l = 0; l < W; ++l) after[l] = near[l] > T(0) ? p[l] : far[l];
        }
        for (int l = 0; l < W; ++l) {
            const T t = s[l] - u[l] + m[l], q = after[l], w = curvature[l] * q, wide = T(1) + w;
            const T left = t - (w - curvature[l] * p[l]) - start[l];
            const T a = T(2) * wide * (wide + T(2.0 / 3) * left);
            const T e = left * (a - left) / (wide * (a - T(2) * left));
            factor[l] = e;
            after[l] = q + q * e;
            derivative[l] = after[l] / (T(1) + curvature[l] * after[l]);
        }
    }

    // 3: returns whether any m moved.
    static bool newton_step(const T* __restrict sum, const T* __restrict derivative,
                            T* __restrict low, T* __restrict high, T* __restrict m) {
        alignas(64) T in_logs[W], middle[W], to[W];
        for (int l = 0; l < W; ++l) in_logs[l] = -logarithm(sum[l]) * sum[l];
        std::int32_t moves = 0;
        for (int l = 0; l < W; ++l) {
            const T plain = T(1) - sum[l];
            high[l] = plain > T(0) ? high[l] : m[l];
            low[l] = plain > T(0) ? m[l] : low[l];
            middle[l] = T(0.5) * (low[l] + high[l]);
            to[l] = m[l] + (plain > T(0) ? in_logs[l] : plain) / derivative[l];
        }
        for (int l = 0; l < W; ++l) {
            const T by = to[l] - m[l], size = by < T(0) ? -by : by;
            const T above = to[l] > low[l] ? to[l] : middle[l];
            const T next = above < high[l] ? above : middle[l];
            const T after = size > static_cast<T>(kSmallStep) ? next : m[l];  // NaN moves nothing
            moves |= after < m[l] || after > m[l] ? 1 : 0;
            m[l] = after;
        }
        return moves != 0;
    }

    // 4: `rest` is the remaining change of m.
    static void finish(const T* __restrict curvature, const T* __restrict rest,
                       const T* __restrict start, const T* __restrict factor,
                       const T* __restrict after, T* __restrict d) {
        alignas(64) T by[W];
        for (int l = 0; l < W; ++l) {
            const T more = rest[l] / (T(1) + curvature[l] * after[l]);
            by[l] = factor[l] + more + factor[l] * more;
            by[l] = by[l] < T(1) ? by[l] : T(1);
            by[l] = by[l] > T(-0.5) ? by[l] : T(-0.5);
        }
        for (int l = 0; l < W; ++l) d[l] = start[l] + log_one_plus(by[l]);
    }

    int lines_;
    OverClasses<T> over_;
    T uniform_, log_uniform_;
    LineVector<T> start_, factor_, after_, derivative_of_;
    alignas(64) T log_curvature_[W], m_[W], low_[W], high_[W], sum_[W], derivative_[W];
};

}  // namespace separable
