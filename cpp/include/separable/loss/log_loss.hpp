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
    T gradient(T s, T y) const {
        return -y * sigmoid(-y * s);
    }
    // With m = y s and a = -y sigma(-x): x - m = gain sigma(-x), by Newton's method. From 0 it is
    // monotone where m <= 0, from the first step beyond m elsewhere. Where the gain is small that
    // first step is the answer; a large one takes more steps, each about 1 long.
    template <class T, int width>
    void implicit_gradients(const T* s, const T* y, const T* g, const T* gain, T* out) const {
        T m[width], first[width], x[width];
        bool all_small = true;
        for (int lane = 0; lane < width; ++lane) {
            m[lane] = y[lane] * s[lane];
            const T h = g[lane] < T(0) ? -g[lane] : g[lane];  // sigma(-m)
            first[lane] = h / (T(1) + gain[lane] * h * (T(1) - h));
            out[lane] = -y[lane] * first[lane];
            all_small = all_small && gain[lane] < kSmallGain;
        }
        if (all_small) return;
        for (int lane = 0; lane < width; ++lane)
            x[lane] = m[lane] > T(0) ? m[lane] + gain[lane] * first[lane] : T(0);
        bool any_large = false;
        for (int lane = 0; lane < width; ++lane) any_large |= gain[lane] > kLargeGain;
        for (int step = 0; step < (any_large ? 12 : 4); ++step)
            for (int lane = 0; lane < width; ++lane) {
                const T h = sigmoid(-x[lane]);
                const T by =
                    (x[lane] - m[lane] - gain[lane] * h) / (T(1) + gain[lane] * h * (T(1) - h));
                x[lane] -= step < 4 || gain[lane] > kLargeGain ? by : T(0);
            }
        for (int lane = 0; lane < width; ++lane)
            if (!(gain[lane] < kSmallGain)) out[lane] = -y[lane] * (x[lane] - m[lane]) / gain[lane];
    }
    static constexpr double kSmallGain = 0.25, kLargeGain = 16;
};

}  // namespace separable
