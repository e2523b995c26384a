// Adaptive SGD: a step size per weight, from the scale of its column and its past gradients.
//
//   problem   see descent.hpp; penalty(w) = l2 |w|^2 / 2 + l1 |w|_1, b is free
//   given     eta, a pure number
//   returns   w and b, in the units and centers of column_scales.hpp; with u their mean
//   steps     of one row:
//             1. column_scales.hpp: z, the centered values, and rates 1 / s
//             2. s = w.z + b
//             3. g = d loss / d s; A_0 += g^2 and A_j += g^2 z_j^2
//             4. D_0 = eta / sqrt(A_0) and D_j = eta z_j / (s_j sqrt(A_j))
//             5. gain = D_0 + D.z: a step of size a along D moves the score by -a gain
//             6. a = the gradient of the loss at the score it leads to, so no step overshoots
//             7. w -= a D, b -= a D_0
//             In regression eta is in units of the deviation of y, and b starts at the first y
//             unless a start is given.
//             A penalty is taken from a weight when a row uses it next, for all rows since.
//   source    AdaGrad: Duchi, Hazan, Singer 2011, and McMahan, Streeter 2010; implicit steps:
//             Kivinen, Warmuth 1997, Kulis, Bartlett 2010
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/loss/losses.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/column_scales.hpp"

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
        bool known_columns;  // all rows were presented before
    };

    AdaptiveDescent(const Arrays& arrays, Column* columns, std::int64_t n_features,
                    const CentredColumns& centred, const Settings& settings, AdaptiveClock& clock)
        : a_(arrays),
          set_(settings),
          clock_(clock),
          columns_(columns, n_features, centred, settings.fit_intercept, settings.known_columns,
                   clock.columns) {
        make_room(n_centred(), 0);
        for (std::size_t c = 0; c < n_centred(); ++c) centred_.bring(c, at(c));
        if (set_.known_columns) eta_ = set_.eta * clock_.y_unit(set_.regression);
        if (a_.u) start_mean();
    }

    ~AdaptiveDescent() {
        for (std::size_t c = 0; c < n_centred(); ++c) centred_.put_back(c, at(c));
        if (a_.u && set_.known_columns) add_means();
    }

    AdaptiveDescent(const AdaptiveDescent&) = delete;

    // Row `far` comes soon, row `near` next.
    void prefetch(const Products<Lane>& x, std::int64_t far, std::int64_t near) const {
        x.prefetch(far, near, a_.wa);
    }

    Score score(const Products<Lane>& x, std::int64_t i, const T* y, double fraction) {
        if (set_.regression && !set_.known_columns) meet(y[0], fraction);
        x.non_zeros(i, row_);
        columns_.present(row_, fraction, *this);  // 1
        loose_.end(columns_.loose.size);
        if (a_.last) penalise();
        typename Lane::Sum sum, drift;  // 2
        sum.add(columns_.centred.size, centred_.w.data(), columns_.z_before());
        sum.add(columns_.loose.size, loose_.w.data(), columns_.loose.z.data());
        T s[width];
        Lane::store(sum.total(), s);
        for (int lane = 0; lane < width; ++lane) s[lane] = static_cast<T>(a_.b[lane] + s[lane]);
        if (columns_.centres_move()) {  // with this row, and no score changes
            T by[width];
            drift.add(columns_.centred.size, centred_.w.data(), columns_.drift.data());
            Lane::store(drift.total(), by);
            for (int lane = 0; lane < width; ++lane) a_.b[lane] += by[lane];
        }
        return Lane::load(s);
    }

    void step(const Products<Lane>&, std::int64_t, const LanesLoss<Lane>& loss, const T* s,
              const T* y, double fraction) {
        T g[width];
        loss.gradients(s, y, g);
        if (Lane::any(Lane::load(g))) move(loss, s, y, g, fraction);
        const std::int64_t* index = columns_.loose_index.data();
        for (std::size_t k = 0; k < columns_.loose.size; ++k) {
            columns_.put_back(k, fraction);
            loose_.put_back(k, pair(index[k]));
        }
        columns_.release(*this);
        if (averages()) count_intercepts(), clock_.mean_count += 1;
    }

    // --- what columns.hpp tells the weights

    void make_room(std::size_t n_centred, std::size_t n_loose) {
        centred_.make_room(n_centred), loose_.make_room(n_loose);
    }

    // The numbers of column j are needed soon.
    void prefetch(std::int64_t j) const {
        __builtin_prefetch(pair(j), 1);
        if constexpr (width > 1) __builtin_prefetch(pair(j) + width, 1);
    }

    // Column j is the i-th loose one.
    void bring(std::int64_t j, std::size_t i) { loose_.bring(i, pair(j)); }

    // The i-th loose one is none any more.
    void leave_out(std::size_t i) { loose_.forget(i); }

    // The unit of column j grows by a factor.
    void change_unit(std::int64_t j, double by) {
        T *w = w_of(j), *a = a_of(j);
        for (int lane = 0; lane < width; ++lane) {
            if (w[lane] == T(0) && a[lane] == T(0)) continue;  // as in most columns seen first
            const double weight = by * static_cast<double>(w[lane]), most = kMost;
            w[lane] = static_cast<T>(std::clamp(weight, -most, most));  // the scale follows
            a[lane] = static_cast<T>(a[lane] / by / by);
        }
        for (double* each : {a_.u, a_.due, a_.q})
            if (each)
                for (int lane = 0; lane < width; ++lane) each[j * width + lane] *= by;
    }

    void scale(std::int64_t j, double by) {
        if (set_.given_start) return;  // given weights do not come from atypical first rows
        T* w = w_of(j);
        for (int lane = 0; lane < width; ++lane)
            set_weight(j, lane, w[lane], static_cast<T>(w[lane] * by));
    }

    // Column j gets a centre, and its weights a place; the scores stay.
    void join(std::int64_t j, std::size_t place, double mean) {
        centred_.bring(place, pair(j));
        move_intercepts(place, mean);
    }

    void change_place(std::size_t from, std::size_t to) { centred_.move(from, to); }

    // It has no centre any more.
    void leave(std::int64_t j, std::size_t place, double mean) {
        move_intercepts(place, -mean);
        centred_.put_back(place, pair(j));
    }

   private:
    static constexpr T kTiny = std::numeric_limits<T>::min() * T(1e8);
    static constexpr T kMostGain = T(1e30), kMost = std::numeric_limits<T>::max() / 4;

    // Of active columns, side by side: w, A, and the D of a row. Zeros up to a whole line.
    struct Numbers {
        LineVector<T> w, a, step;

        void make_room(std::size_t n) {
            if (w.size() >= width * (n + kPerLine<T>)) return;
            for (auto* each : {&w, &a, &step}) each->resize(width * (2 * n + kPerLine<T>));
        }
        void bring(std::size_t k, const T* pair) {
            std::copy_n(pair, width, w.data() + k * width);
            std::copy_n(pair + width, width, a.data() + k * width);
        }
        void forget(std::size_t k) {
            for (auto* each : {&w, &a}) std::fill_n(each->data() + k * width, width, T(0));
        }
        void put_back(std::size_t k, T* pair) const {
            std::copy_n(w.data() + k * width, width, pair);
            std::copy_n(a.data() + k * width, width, pair + width);
        }
        void move(std::size_t from, std::size_t to) {
            if (from == to) return;
            std::copy_n(w.data() + from * width, width, w.data() + to * width);
            std::copy_n(a.data() + from * width, width, a.data() + to * width);
        }
        void end(std::size_t n) {  // of a strip whose length changes
            if constexpr (width == 1) std::fill_n(w.data() + n, kPerLine<T>, T(0));
        }
    };

    std::size_t n_centred() const { return static_cast<std::size_t>(clock_.columns.centred); }
    T* pair(std::int64_t j) const { return a_.wa + 2 * j * width; }
    T* at(std::size_t place) const { return pair(columns_.centred_index()[place]); }

    T* w_of(std::int64_t j) {
        return columns_[j].centred() ? centred_.w.data() + columns_[j].place() * width : pair(j);
    }
    T* a_of(std::int64_t j) {
        return columns_[j].centred() ? centred_.a.data() + columns_[j].place() * width
                                     : pair(j) + width;
    }

    double step_size() const {
        return set_.known_columns ? eta_ : set_.eta * clock_.y_unit(set_.regression);
    }

    bool averages() const { return a_.u && clock_.columns.rows > set_.mean_from; }

    void set_weight(std::int64_t j, int lane, T& w, T value) {
        if (averages())
            a_.u[j * width + lane] +=
                clock_.mean_count * (static_cast<double>(value) - static_cast<double>(w));
        w = value;
    }

    void move_intercepts(std::size_t place, double by) {
        for (int lane = 0; lane < width; ++lane)
            a_.b[lane] += by * static_cast<double>(centred_.w[place * width + lane]);
    }

    // Another number to predict.
    void meet(double y, double fraction) {
        const double total = clock_.columns.total + fraction, off = y - clock_.y_mean;
        if (clock_.columns.rows == 0 && set_.fit_intercept && !set_.given_start) {
            a_.b[0] = clock_.y_mean = y;
            return;
        }
        if (set_.fit_intercept) clock_.y_mean += fraction * off / total;
        clock_.y_spread += fraction * off * (y - clock_.y_mean);
    }

    void move(const LanesLoss<Lane>& loss, const T* s, const T* y, const T* g, double fraction) {
        const double eta = step_size();
        T squares[width], gain[width], size[width], first[width] = {};
        for (int lane = 0; lane < width; ++lane)
            squares[lane] = static_cast<T>(fraction) * g[lane] * g[lane];
        if (set_.fit_intercept)
            for (int lane = 0; lane < width; ++lane) {
                a_.a0[lane] += squares[lane];
                const double sum = a_.a0[lane] > 0 ? a_.a0[lane] : 1.0;
                first[lane] = static_cast<T>(a_.a0[lane] > 0 ? eta / std::sqrt(sum) : 0.0);
            }
        typename Lane::Sum sum;
        for (auto [strip, numbers] : in_play()) {  // 3, 4, 5
            find_steps(strip, squares, static_cast<T>(eta), numbers);
            sum.add(strip.size, numbers.step.data(), strip.z.data());
        }
        Lane::store(sum.total(), gain);
        for (int lane = 0; lane < width; ++lane) {
            gain[lane] = (gain[lane] + first[lane]) * static_cast<T>(fraction);
            const bool moves = g[lane] != T(0) && gain[lane] > T(0) && gain[lane] < kMostGain;
            gain[lane] = moves ? gain[lane] : T(0);
        }
        loss.implicit_gradients(s, y, g, gain, size);  // 6
        for (int lane = 0; lane < width; ++lane) {
            size[lane] = gain[lane] > T(0) ? size[lane] * static_cast<T>(fraction) : T(0);
            a_.b[lane] -= static_cast<double>(size[lane]) * static_cast<double>(first[lane]);  // 7
        }
        if (!averages()) {
            for (auto [strip, numbers] : in_play()) take_steps(strip.size, size, numbers);
            return;
        }
        for (auto [strip, numbers] : in_play()) {
            if (&numbers == &centred_ && set_.known_columns)
                count_centred_steps(strip.size, size);
            else
                count_steps(strip, numbers, size);
            take_steps(strip.size, size, numbers);
        }
    }

    // A line of numbers at a time: P columns of one model, or one column of P.
    static void find_steps(const Strip<T>& strip, const T* squares, T eta, Numbers& numbers) {
        constexpr std::size_t P = kPerLine<T>, columns = P / width;
        const auto by_lane = [](const T* x) {
            return width == 1 ? Line<T>::broadcast(*x) : Line<T>::load(x);
        };
        const auto by_column = [](const T* x) {
            return width == 1 ? Line<T>::load(x) : Line<T>::broadcast(*x);
        };
        const Line<T> square = by_lane(squares), size = Line<T>::broadcast(eta);
        T *a = numbers.a.data(), *step = numbers.step.data();
        for (std::size_t k = 0; k < strip.size; k += columns, a += P, step += P) {
            const Line<T> z = by_column(strip.z.data() + k);
            const Line<T> sums = Line<T>::load(a) + square * (z * z);
            sums.store(a);
            (size * by_column(strip.rate.data() + k) * z * sums.at_least(kTiny).inverse_sqrt())
                .store(step);
        }
    }

    static void take_steps(std::size_t n, const T* size, Numbers& numbers) {
        constexpr std::size_t P = kPerLine<T>, columns = P / width;
        T* __restrict w = numbers.w.data();
        const T* __restrict step = numbers.step.data();
        for (std::size_t k = 0; k < n; k += columns, w += P, step += P)
            for (std::size_t p = 0; p < P; ++p) w[p] -= size[p % width] * step[p];
    }

    // The mean follows the steps that are about to be taken.
    void count_steps(const Strip<T>& strip, const Numbers& numbers, const T* size) {
        const std::int64_t* index = index_of(strip);
        for (std::size_t k = 0; k < strip.size; ++k)
            for (int lane = 0; lane < width; ++lane) {
                const std::size_t here = k * width + lane;
                T w = numbers.w[here];
                set_weight(index[k], lane, w, w - size[lane] * numbers.step[here]);
            }
    }

    // The same of the centred columns while these are known: side by side.
    void count_centred_steps(std::size_t n, const T* size) {
        constexpr std::size_t P = kPerLine<T>, columns = P / width;
        const T* __restrict w = centred_.w.data();
        const T* __restrict step = centred_.step.data();
        double* __restrict u = centred_u_.data();
        const double count = clock_.mean_count;
        for (std::size_t k = 0; k < n; k += columns, w += P, step += P, u += P)
            for (std::size_t p = 0; p < P; ++p) {
                const T next = w[p] - size[p % width] * step[p];
                u[p] += count * (static_cast<double>(next) - static_cast<double>(w[p]));
            }
    }

    struct StripNumbers {
        const Strip<T>& strip;
        Numbers& numbers;
    };
    std::array<StripNumbers, 2> in_play() {
        return {{{columns_.centred, centred_}, {columns_.loose, loose_}}};
    }
    const std::int64_t* index_of(const Strip<T>& strip) const {
        return &strip == &columns_.loose ? columns_.loose_index.data() : columns_.centred_index();
    }

    // The penalty of all rows since each weight's last turn.
    void penalise() {
        for (auto [strip, numbers] : in_play())
            for (std::size_t k = 0; k < strip.size; ++k)
                penalise(index_of(strip)[k], static_cast<double>(strip.rate[k]),
                         numbers.w.data() + k * width, numbers.a.data() + k * width);
    }

    void penalise(std::int64_t j, double rate, T* w, const T* a) {
        const double eta = step_size(), rows = columns_.rows() - a_.last[j];
        const double unit = columns_[j].unit();
        a_.last[j] = columns_.rows();
        for (int lane = 0; lane < width; ++lane) {
            const std::int64_t at = j * width + lane;
            const double sum = a[lane];
            if (sum <= 0) continue;
            const double size = eta * rate / (std::sqrt(sum) * unit) * rows;
            const double keep = 1 / (1 + set_.l2 * size / unit);
            T value = static_cast<T>(keep * w[lane]);
            if (a_.q) {
                a_.due[at] = keep * a_.due[at] + set_.l1 * size;
                a_.q[at] *= keep;
                shrink_weights<1>(a_.due[at], a_.q + at, &value);
            }
            set_weight(j, lane, w[lane], value);
        }
    }

    // b as it is without centres
    void raw_intercepts(double* raw) const {
        std::copy_n(a_.b, width, raw);
        for (std::size_t c = 0; c < n_centred(); ++c)
            for (int lane = 0; lane < width; ++lane)
                raw[lane] -= columns_.mean(c) * static_cast<double>(centred_.w[c * width + lane]);
    }

    // Known centres do not move, so that their part of the mean is that of the weights: it is taken
    // off when the run ends.
    void start_mean() {
        if (!set_.known_columns) return raw_intercepts(raw_b_);
        std::copy_n(a_.b, width, raw_b_);
        centred_u_.resize(centred_.w.size());
        for (std::size_t c = 0; c < n_centred(); ++c) {
            const double* u = a_.u + columns_.centred_index()[c] * width;
            u_before_.insert(u_before_.end(), u, u + width);
        }
    }

    void add_means() {
        for (std::size_t c = 0; c < n_centred(); ++c) {
            double* u = a_.u + columns_.centred_index()[c] * width;
            for (int lane = 0; lane < width; ++lane) {
                u[lane] += centred_u_[c * width + lane];
                a_.u_b[lane] -= columns_.mean(c) * (u[lane] - u_before_[c * width + lane]);
            }
        }
    }

    void count_intercepts() {
        double raw[width];
        if (set_.known_columns)
            std::copy_n(a_.b, width, raw);
        else
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
    NonZeros<T> row_;
    Numbers centred_, loose_;       // those of centred columns stay here while a run goes on
    LineVector<double> centred_u_;  // changes of u in this run, of the centred columns
    std::vector<double> u_before_;  // their u before this run
    double eta_ = 0;                // the step size while columns are known
    double raw_b_[width] = {};
};

}  // namespace separable
