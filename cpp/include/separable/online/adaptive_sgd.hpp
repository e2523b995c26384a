// The descent with a step for each weight, from what its column and its gradients were so far.
//
//   problem   see descent.hpp; penalty(w) = l2 |w|^2 / 2 + l1 |w|_1, b is free
//   given     eta, a pure number
//   returns   w and b, in the units and from the centres that columns.hpp keeps; with u their mean
//   steps     of one row:
//             1. columns.hpp takes the row in: z, the values from their centres, and rates 1 / s
//             2. s = w.z + b
//             3. g = d loss / d s; A_0 += g^2 and A_j += g^2 z_j^2
//             4. D_0 = eta / sqrt(A_0) and D_j = eta z_j / (s_j sqrt(A_j))
//             5. gain = D_0 + D.z: a step of size a along D moves the score by -a gain
//             6. a = the slope of the loss at the score it leads to, so no step overshoots
//             7. w -= a D, b -= a D_0
//             In regression eta is in units of the deviation of y, and b starts at the first y
//             unless a start is given.
//             A penalty is taken from a weight when a row uses it next, for all rows since.
//   source    AdaGrad: Duchi, Hazan, Singer 2011, and McMahan, Streeter 2010; implicit steps:
//             Kivinen, Warmuth 1997, Kulis, Bartlett 2010
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/loss/losses.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/columns.hpp"

namespace separable {

// The numbers that move with the steps and are the same in every lane.
struct AdaptiveClock {
    ColumnClock columns;
    double y_mean = 0, y_spread = 0;  // of the numbers to predict
    double mean_count = 0;            // steps in the mean

    // What eta is measured in: the deviation of y, or 1 for classes.
    double y_unit(bool regression) const {
        return regression ? std::sqrt(y_spread / columns.total) : 1.0;
    }
};

// The sums of n terms in every lane, in the order of lanes.hpp: the k-th term goes to partial sum
// k mod P, and the partial sums are added by halves. term(k, out) writes the k-th.
template <class Lane, class Term>
void sum_terms(std::size_t n, Term term, typename Lane::T* out) {
    using T = typename Lane::T;
    constexpr std::size_t P = kPerLine<T>, width = Lane::kWidth;
    alignas(kLineBytes) T sums[P * width];
    if constexpr (width == 1) {
        std::fill_n(sums, P, T(0));
        std::size_t k = 0;
        for (; k + P <= n; k += P)
            for (std::size_t p = 0; p < P; ++p) sums[p] += term(k + p, 0);
        for (std::size_t p = 0; k + p < n; ++p) sums[p] += term(k + p, 0);
        for (std::size_t half = P / 2; half > 0; half /= 2)
            for (std::size_t p = 0; p < half; ++p) sums[p] += sums[p + half];
        *out = sums[0];
    } else {
        for (std::size_t k = 0; k < n; ++k) {
            T* sum = sums + (k % P) * width;
            if (k < P)
                for (std::size_t lane = 0; lane < width; ++lane) sum[lane] = term(k, lane);
            else
                for (std::size_t lane = 0; lane < width; ++lane) sum[lane] += term(k, lane);
        }
        for (std::size_t half = P / 2; half > 0; half /= 2)
            for (std::size_t p = 0; p < half && p + half < n; ++p)
                for (std::size_t lane = 0; lane < width; ++lane)
                    sums[p * width + lane] += sums[(p + half) * width + lane];
        if (n > 0)
            std::copy_n(sums, width, out);
        else
            std::fill_n(out, width, T(0));
    }
}

template <class Lane>
class AdaptiveDescent {
   public:
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    static constexpr int width = Lane::kWidth;

    struct Arrays {
        T* wa;                // [feature][2][lane]: w_j and A_j side by side, fetched as one
        double *b, *a0;       // [lane]
        double* u = nullptr;  // with u_b: the mean is kept
        double* u_b = nullptr;
        double* last = nullptr;  // [feature], rows before a weight's last turn; null: no penalty
        double *due = nullptr, *q = nullptr;  // [feature][lane], of the l1 penalty, see lanes.hpp
    };
    struct Settings {
        double eta, l1, l2, mean_from;
        bool fit_intercept, regression, given_start;
    };

    AdaptiveDescent(const Arrays& arrays, Column* columns, const CentredColumns& centred,
                    const Settings& settings, AdaptiveClock& clock)
        : a_(arrays),
          set_(settings),
          clock_(clock),
          columns_(columns, centred, settings.fit_intercept, clock.columns) {
        if (a_.u) raw_intercepts(raw_b_);
    }

    // Row `far` comes soon, row `near` next: its columns and weights are fetched.
    void prefetch(const Products<Lane>& x, std::int64_t far, std::int64_t near) {
        x.prefetch(far, near, a_.wa);
        x.non_zeros(near, next_);
        next_row_ = near;
        for (std::size_t k = 0; k < next_.size; ++k) {
            const std::int64_t j = next_.index[k];
            columns_.prefetch(j);
            __builtin_prefetch(w_of(j), 1);
            if constexpr (width > 1) __builtin_prefetch(a_of(j), 1);
        }
    }

    Score score(const Products<Lane>& x, std::int64_t i, const T* y, double share) {
        if (set_.regression) meet(y[0], share);
        if (i == next_row_)
            std::swap(row_, next_);
        else
            x.non_zeros(i, row_);
        next_row_ = -1;
        columns_.present(row_, share, *this);  // 1
        if (a_.last) penalise();
        T s[width];  // 2
        add_up(columns_.in.size, columns_.in.before.data(), s);
        for (int lane = 0; lane < width; ++lane) s[lane] = static_cast<T>(a_.b[lane] + s[lane]);
        return Lane::load(s);
    }

    void step(const Products<Lane>&, std::int64_t, const LanesLoss<Lane>& loss, const T* s,
              const T* y, double share) {
        drift();
        T g[width];
        loss.slopes(s, y, g);
        if (Lane::any(Lane::load(g))) move(loss, s, y, g, share);
        columns_.release(*this);
        if (averages()) count_intercepts(), clock_.mean_count += 1;
    }

    // --- what columns.hpp tells the weights

    // The unit of column j grows by a factor.
    void change_unit(std::int64_t j, double by) {
        for (int lane = 0; lane < width; ++lane) {
            const double w = by * static_cast<double>(w_of(j)[lane]), most = kMost;
            w_of(j)[lane] = static_cast<T>(std::clamp(w, -most, most));  // the scale follows
            a_of(j)[lane] = static_cast<T>(a_of(j)[lane] / by / by);
        }
        for (double* each : {a_.u, a_.due, a_.q})
            if (each)
                for (int lane = 0; lane < width; ++lane) each[j * width + lane] *= by;
    }

    void scale(std::int64_t j, double by) {
        if (set_.given_start) return;  // weights that somebody knew are not due to odd first rows
        for (int lane = 0; lane < width; ++lane)
            set_weight(j, lane, static_cast<T>(w_of(j)[lane] * by));
    }

    // The centre of column j moves; the scores stay.
    void move_centre(std::int64_t j, double by) {
        for (int lane = 0; lane < width; ++lane)
            a_.b[lane] += by * static_cast<double>(w_of(j)[lane]);
    }

   private:
    static constexpr T kTiny = std::numeric_limits<T>::min() * T(1e8);
    static constexpr T kMostGain = T(1e30), kMost = std::numeric_limits<T>::max() / 4;

    T* w_of(std::int64_t j) const { return a_.wa + 2 * j * width; }
    T* a_of(std::int64_t j) const { return a_.wa + (2 * j + 1) * width; }

    bool averages() const { return a_.u && clock_.columns.rows > set_.mean_from; }

    void set_weight(std::int64_t j, int lane, T value) {
        T& w = w_of(j)[lane];
        if (averages())
            a_.u[j * width + lane] +=
                clock_.mean_count * (static_cast<double>(value) - static_cast<double>(w));
        w = value;
    }

    // Another number to predict.
    void meet(double y, double share) {
        const double total = clock_.columns.total + share, off = y - clock_.y_mean;
        if (clock_.columns.rows == 0 && set_.fit_intercept && !set_.given_start) {
            a_.b[0] = clock_.y_mean = y;
            return;
        }
        if (set_.fit_intercept) clock_.y_mean += share * off / total;
        clock_.y_spread += share * off * (y - clock_.y_mean);
    }

    // out = sum of w z over the first n columns in play
    void add_up(std::size_t n, const T* z, T* out) const {
        const std::int64_t* index = columns_.in.index.data();
        const T* wa = a_.wa;
        sum_terms<Lane>(
            n,
            [=](std::size_t k, std::size_t lane) {
                return wa[2 * index[k] * width + static_cast<std::int64_t>(lane)] * z[k];
            },
            out);
    }

    // The centres have moved with this row; b follows, so that no score changes.
    void drift() {
        T by[width];
        add_up(columns_.in.centred, columns_.in.drift.data(), by);
        for (int lane = 0; lane < width; ++lane) a_.b[lane] += by[lane];
    }

    void move(const LanesLoss<Lane>& loss, const T* s, const T* y, const T* g, double share) {
        const double eta = set_.eta * clock_.y_unit(set_.regression);
        T squares[width], gain[width], size[width], first[width] = {};
        for (int lane = 0; lane < width; ++lane)
            squares[lane] = static_cast<T>(share) * g[lane] * g[lane];
        if (set_.fit_intercept)
            for (int lane = 0; lane < width; ++lane) {
                a_.a0[lane] += squares[lane];
                const double sum = a_.a0[lane] > 0 ? a_.a0[lane] : 1.0;
                first[lane] = static_cast<T>(a_.a0[lane] > 0 ? eta / std::sqrt(sum) : 0.0);
            }
        find_steps(squares, static_cast<T>(eta));  // 3, 4
        const T *step = steps_.data(), *z = columns_.in.z.data();
        sum_terms<Lane>(  // 5
            columns_.in.size,
            [=](std::size_t k, std::size_t lane) { return step[k * width + lane] * z[k]; }, gain);
        for (int lane = 0; lane < width; ++lane) {
            gain[lane] = (gain[lane] + first[lane]) * static_cast<T>(share);
            const bool moves = g[lane] != T(0) && gain[lane] > T(0) && gain[lane] < kMostGain;
            gain[lane] = moves ? gain[lane] : T(0);
        }
        loss.implicit_slopes(s, y, gain, size);  // 6
        for (int lane = 0; lane < width; ++lane) {
            size[lane] = gain[lane] > T(0) ? size[lane] * static_cast<T>(share) : T(0);
            a_.b[lane] -= static_cast<double>(size[lane]) * static_cast<double>(first[lane]);  // 7
        }
        take_steps(size);
    }

    void find_steps(const T* squares, T eta) {
        const auto& in = columns_.in;
        if (steps_.size() < in.size * width) steps_.resize(2 * in.size * width);
        T* step = steps_.data();
        for (std::size_t k = 0; k < in.size; ++k) {
            T* a = a_of(in.index[k]);
            const T z2 = in.z[k] * in.z[k];
            for (int lane = 0; lane < width; ++lane)
                step[k * width + lane] = a[lane] += squares[lane] * z2;
        }
        const T *z = in.z.data(), *rate = in.rate.data();
        for (std::size_t k = 0; k < in.size; ++k)
            for (int lane = 0; lane < width; ++lane) {
                const T sum = step[k * width + lane] > kTiny ? step[k * width + lane] : kTiny;
                step[k * width + lane] = eta * rate[k] * z[k] / std::sqrt(sum);
            }
    }

    void take_steps(const T* size) {
        const auto& in = columns_.in;
        const bool mean = averages();
        for (std::size_t k = 0; k < in.size; ++k) {
            T* w = w_of(in.index[k]);
            for (int lane = 0; lane < width; ++lane) {
                const T value = w[lane] - size[lane] * steps_[k * width + lane];
                if (mean)
                    set_weight(in.index[k], lane, value);
                else
                    w[lane] = value;
            }
        }
    }

    // The penalty of all rows since each weight's last turn.
    void penalise() {
        const auto& in = columns_.in;
        const double eta = set_.eta * clock_.y_unit(set_.regression);
        for (std::size_t k = 0; k < in.size; ++k) {
            const std::int64_t j = in.index[k];
            const double rows = columns_.rows() - a_.last[j];
            const double unit = columns_[j].unit();
            a_.last[j] = columns_.rows();
            for (int lane = 0; lane < width; ++lane) {
                const std::int64_t at = j * width + lane;
                const double sum = a_of(j)[lane];
                if (sum <= 0) continue;
                const double rate = eta * in.rate[k] / (std::sqrt(sum) * unit) * rows;
                const double keep = 1 / (1 + set_.l2 * rate / unit);
                T w = static_cast<T>(keep * w_of(j)[lane]);
                if (a_.q) {
                    a_.due[at] = keep * a_.due[at] + set_.l1 * rate;
                    a_.q[at] *= keep;
                    shrink_weights<1>(a_.due[at], a_.q + at, &w);
                }
                set_weight(j, lane, w);
            }
        }
    }

    // b as it is without centres
    void raw_intercepts(double* raw) const {
        std::copy_n(a_.b, width, raw);
        for (std::size_t c = 0; c < static_cast<std::size_t>(clock_.columns.centred); ++c) {
            const T* w = w_of(columns_.centred_index(c));
            for (int lane = 0; lane < width; ++lane)
                raw[lane] -= columns_.mean(c) * static_cast<double>(w[lane]);
        }
    }

    void count_intercepts() {
        double raw[width];
        raw_intercepts(raw);
        for (int lane = 0; lane < width; ++lane) {
            a_.u_b[lane] += clock_.mean_count * (raw[lane] - raw_b_[lane]);
            raw_b_[lane] = raw[lane];
        }
    }

    Arrays a_;
    Settings set_;
    AdaptiveClock& clock_;
    ColumnScales<T> columns_;
    NonZeros<T> row_, next_;
    std::int64_t next_row_ = -1;
    std::vector<T> steps_;  // [column in play][lane], D
    double raw_b_[width] = {};
};

}  // namespace separable
