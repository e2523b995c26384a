// One row's step of multinomial dual coordinate descent: the best point of a simplex.
//
//   problem   over p >= 0 with sum 1, maximise  sum_k s_k h_k - p_k log p_k - room/2 h_k^2,
//             h = p - p_old: s are the row's scores, room = c (|x|^2 + rho)
//   given     s, u = log p_old, p_old
//   returns   d with log p = u + d
//   steps     1. the best p solves  d_k + room p_old_k (e^d_k - 1) = t_k,  t_k = s_k - u_k + m,
//                with one m for all classes; near the optimum t and d are small, so that nothing
//                cancels
//             2. for given m: x = t + z + log z with z = room p_old has  w + log w = x  at
//                w = room p, Wright's omega function. Start: w = z if t is small, else an
//                expansion of omega; then one step of fourth order
//             3. sum_k p_k(m) is convex and rises with m; m by Newton's method, on the logarithm
//                of the sum where that is below 1 and on the sum where it is above, within a
//                bracket; its start is the root of what is linear at p_old
//             4. what is missing to a sum of 1 after a short last step: to first order
//   source    the equation: Yu, Huang, Lin (2011), section 5, who solve it class by class; omega:
//             Lawrence, Corless, Jeffrey, Complex double-precision evaluation of the Wright omega
//             function (2012), after Fritsch, Shafer, Crowley (1973)
//
// Lanes are classes: in a line stand the classes of W / P models, P lanes each, or W classes of one
// model that has several lines. What belongs to a model stands in all lanes of its segment of a
// line. A segment never looks at others; once its m is found it stays.
#pragma once

#include <algorithm>
#include <cstdint>

#include "separable/math/exponential.hpp"
#include "separable/math/lanes.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

// A class that is not there: log p.
template <class T>
inline constexpr T kNoClass = T(-1e30);

// Sums and least numbers over the classes of a model, in all lanes of its segment.
template <class T, int P>
class OverClasses {
   public:
    static constexpr int W = kPerLine<T>;

    static void sums(const T* numbers, int lines, T* out) {
        Line<T> total = Line<T>::load(numbers);
        for (int line = 1; line < lines; ++line) total += Line<T>::load(numbers + line * W);
        total.template segment_sums<P>().store(out);
    }

    static void least(const T* numbers, int lines, T* out) {
        alignas(64) T all[W];
        for (int l = 0; l < W; ++l) all[l] = numbers[l];
        for (int line = 1; line < lines; ++line)
            for (int l = 0; l < W; ++l)
                all[l] = numbers[line * W + l] < all[l] ? numbers[line * W + l] : all[l];
        Line<T>::load(all).template segment_least<P>().store(out);
    }
};

template <class T, int P>
class MultinomialStep {
   public:
    static constexpr int W = kPerLine<T>;
    using Over = OverClasses<T, P>;

    MultinomialStep(int lines, int n_classes)
        : lines_(lines),
          share_(T(1) / static_cast<T>(n_classes)),
          log_share_(logarithm(share_)),
          one_(lines * W),
          two_(lines * W),
          start_(lines * W),
          factor_(lines * W),
          after_(lines * W) {}

    // All but `room`, one a model, are [line][lane].
    void operator()(const T* s, const T* u, const T* p, const T* room, T* d) {
        prepare(s, u, p, room);
        for (int k = 0; k < kMost; ++k) {
            for (int line = 0; line < lines_; ++line) evaluate(line * W, s, u, p, room);
            Over::sums(after_.data(), lines_, sum_);
            Over::sums(two_.data(), lines_, slope_);
            if (!move()) break;
        }
        for (int l = 0; l < W; ++l) sum_[l] = (T(1) - sum_[l]) / slope_[l];
        for (int line = 0; line < lines_; ++line) finish(line * W, room, d);
    }

   private:
    // The most steps on m; a dozen is rare.
    static constexpr int kMost = 60;
    // A step on m after which what is left is taken to first order.
    static constexpr double kFine = 1.0 / 64;
    // A part of 1 + z by which t may move for w to start from z.
    static constexpr double kNear = 0.25;
    // A bracket is wider than its numbers say by this, for their rounding.
    static constexpr T kSlack = T(16) * std::numeric_limits<T>::epsilon();

    void prepare(const T* s, const T* u, const T* p, const T* room) {
        for (int l = 0; l < W; ++l) {
            const T large = room[l] > T(1e-30) ? room[l] : T(1e-30);
            log_room_[l] = logarithm(large);
        }
        T *slope = one_.data(), *rise = two_.data(), *low = start_.data(), *high = factor_.data();
        for (int line = 0; line < lines_; ++line)
            for (int l = 0, i = line * W; l < W; ++l, ++i) {
                slope[i] = p[i] / (T(1) + room[l] * p[i]);
                rise[i] = p[i] + slope[i] * (s[i] - u[i]);
                const T size = s[i] < T(0) ? -s[i] : s[i], slack = kSlack * (T(1) + room[l] + size);
                high[i] = room[l] * (T(1) - p[i]) - s[i] + slack;
                low[i] = room[l] * (share_ - p[i]) + log_share_ - s[i] - slack;
            }
        Over::sums(slope, lines_, slope_);
        Over::sums(rise, lines_, sum_);
        Over::least(low, lines_, low_);
        Over::least(high, lines_, high_);
        for (int l = 0; l < W; ++l) {
            const T linear = (T(1) - sum_[l]) / slope_[l];
            const T above = linear > low_[l] ? linear : low_[l];
            m_[l] = above < high_[l] ? above : high_[l];
        }
    }

    // 2: one line of p and of its slope by m.
    void evaluate(int at, const T* s_all, const T* u_all, const T* p_all, const T* room) {
        const T *s = s_all + at, *u = u_all + at, *p = p_all + at;
        T *start = start_.data() + at, *factor = factor_.data() + at, *after = after_.data() + at,
          *slope = two_.data() + at;
        for (int l = 0; l < W; ++l) {
            const T t = s[l] - u[l] + m_[l], z = room[l] * p[l], size = t < T(0) ? -t : t;
            const T log_z = u[l] + log_room_[l], x = t + z + log_z;
            const T large = x > T(1) ? x : T(1), middle = (x - T(1)) * T(2.0 / 3);
            const T above = logarithm(large) * (T(1) - T(1) / large);
            const T below = x < T(-2) ? x : middle;
            const T guess = (x < T(1) ? below : above) - log_z;
            const bool near = size <= static_cast<T>(kNear) * (T(1) + z);
            const T d = near ? T(0) : guess;
            const T cold = exponential(u[l] + d);
            const T q = near ? p[l] : cold;
            const T w = room[l] * q, left = t - (w - z) - d, wide = T(1) + w;
            const T a = T(2) * wide * (wide + T(2.0 / 3) * left);
            const T e = left / wide * ((a - left) / (a - T(2) * left));
            start[l] = d, factor[l] = e;
            after[l] = q + q * e;
            slope[l] = after[l] / (T(1) + room[l] * after[l]);
        }
    }

    // 3: returns whether some m moved.
    bool move() {
        std::int32_t moves = 0;
        for (int l = 0; l < W; ++l) {
            const bool over = sum_[l] >= T(1);
            high_[l] = over ? m_[l] : high_[l];
            low_[l] = over ? low_[l] : m_[l];
            const T plain = T(1) - sum_[l], in_logs = -logarithm(sum_[l]) * sum_[l];
            const T by = (over ? plain : in_logs) / slope_[l], to = m_[l] + by;
            const T middle = T(0.5) * (low_[l] + high_[l]);
            const T next = (to > low_[l] && to < high_[l]) ? to : middle;
            const T size = by < T(0) ? -by : by;
            const bool done = size <= static_cast<T>(kFine) || middle == m_[l];
            m_[l] = done ? m_[l] : next;
            moves |= done ? 0 : 1;
        }
        return moves != 0;
    }

    // 4
    void finish(int at, const T* room, T* d) const {
        const T *start = start_.data() + at, *factor = factor_.data() + at,
                *after = after_.data() + at;
        for (int l = 0; l < W; ++l) {
            const T rest = sum_[l] / (T(1) + room[l] * after[l]);
            const T both = factor[l] + rest + factor[l] * rest;
            const T cut = both < T(1) ? both : T(1);
            d[at + l] = start[l] + log_one_plus(cut > T(-0.5) ? cut : T(-0.5));
        }
    }

    int lines_;
    T share_, log_share_;
    LineVector<T> one_, two_, start_, factor_, after_;
    alignas(64) T log_room_[W], m_[W], low_[W], high_[W], sum_[W], slope_[W];
};

}  // namespace separable
