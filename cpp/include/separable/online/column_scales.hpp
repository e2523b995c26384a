// Running scale of each column of a stream, and its center if it has one.
//
//   problem   learn from columns of unknown scale and center
//   given     rows, one after the other, with weights k
//   returns   for each row the active columns with their values in the column's own units and
//             the rate 1 / s_j, s_j being the column's deviation so far
//   steps     of one row, t being the sum of weights with it:
//             1. a column first seen gets a unit, the power of two below |x|; all numbers here
//                are in units, so neither float32 nor squares overflow
//             2. a column that at least half of the rows have (2 count >= t) is centred from then
//                on: it is active in every row, 0 or not, with z = x - mean
//             3. the others are active where they are not 0, with z = x
//             4. where the deviation jumps the column's weights are scaled down with it, so that
//                a scale learned from odd first rows does no harm
//             5. when the number of rows is a power of two, columns that less than a quarter of
//                the rows have are centred no more
//             Rows that were all presented before (a later epoch of a fit) change none of this:
//             their columns are known. (Epochs without shuffling are a stream, in which every row
//             counts.)
//   source    online standardisation after Ross, Mineiro, Langford 2013 (Normalized online
//             learning); means and squares: Welford 1962
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// One column: half a cache line.
struct Column {
    double count;    // the weight of the rows that have it
    double squares;  // sum of k x^2, while it is not centred
    double sum;      // sum of k x; of a centred column its place in the list
    double inverse;  // 1 / unit, a power of two; negative for a centred column; 0: not seen yet

    bool centred() const { return inverse < 0; }
    double unit() const { return 1 / std::abs(inverse); }
    std::size_t place() const { return static_cast<std::size_t>(sum); }
};

// The centred columns, side by side.
struct CentredColumns {
    std::int64_t* index;
    double *mean, *spread, *record;  // spread: sum of k z^2; record: the largest variance so far
    std::size_t capacity;
};

// The numbers that move with the rows.
struct ColumnClock {
    double rows = 0, total = 0;  // presentations, and the sum of their weights
    double centred = 0;          // how many columns are
};

// Active columns, side by side: the i-th has the value z[i] and the rate 1 / s. Up to a whole line
// they go on with zeros.
template <class T>
struct Strip {
    LineVector<T> z, rate;
    std::size_t size = 0;
};

inline constexpr double kFar = 0x1p40;       // a value this many units away changes the unit
inline constexpr double kJump = 1.5;         // of the mean square of a loose column
inline constexpr double kLostDigits = 1e-6;  // of squares that a mean was taken from
inline constexpr double kConstant = 1e-14;   // deviations this far below the mean are noise
inline constexpr double kNever = std::numeric_limits<double>::infinity();

inline bool jumps(double count_before, double count, double squares_before, double squares) {
    return squares * count_before > kJump * squares_before * count;
}

// The two loops over contiguous numbers are not inlined: as functions with __restrict parameters
// they vectorize.

// n loose columns take x in, weighted k: counts, squares, z and rates. Returns whether one of them
// is odd: it needs step 1, 2 (its count being `join` or more) or 4, which it has not got yet.
template <class T>
[[gnu::noinline]] bool count_loose(std::size_t n, double k, double join, const double* __restrict x,
                                   double* __restrict count, double* __restrict squares,
                                   std::int64_t* __restrict odd, T* __restrict z,
                                   T* __restrict rate) {
    std::int64_t any = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double count_before = count[i], squares_before = squares[i];
        const double count_now = count_before + k, squares_now = squares_before + k * x[i] * x[i];
        odd[i] = !(std::abs(x[i]) < kFar) | (x[i] == 0) | (count_now >= join) |
                 jumps(count_before, count_now, squares_before, squares_now);
        any |= odd[i];
        count[i] = count_now, squares[i] = squares_now;
        z[i] = static_cast<T>(x[i]);
        rate[i] = std::sqrt(static_cast<T>(count_now) / static_cast<T>(squares_now));
    }
    return any != 0;
}

// n centred columns take x in, weighted k, the sum of weights being `total` with it; x is 0 then.
// Returns whether a variance is above its record.
template <class T>
[[gnu::noinline]] bool count_centred(std::size_t n, double k, double total, double* __restrict x,
                                     double* __restrict mean, double* __restrict spread,
                                     const double* __restrict record, T* __restrict before,
                                     T* __restrict drift, T* __restrict z, T* __restrict rate) {
    const double fraction = k / total;
    const T rounded_total = static_cast<T>(total);
    std::int64_t jump = 0;
    for (std::size_t c = 0; c < n; ++c) {
        const double z_before = x[c] - mean[c], by = z_before * fraction;
        const double mean_now = mean[c] + by, z_now = x[c] - mean_now;
        const double spread_now = spread[c] + k * z_before * z_now;
        const double noise = kConstant * mean_now;
        const double known = spread_now > noise * noise * total ? spread_now : kNever;
        x[c] = 0;
        mean[c] = mean_now, spread[c] = spread_now;
        before[c] = static_cast<T>(z_before), drift[c] = static_cast<T>(by);
        z[c] = static_cast<T>(z_now);
        rate[c] = std::sqrt(rounded_total / static_cast<T>(known));
        jump |= spread_now > record[c] * total;
    }
    return jump != 0;
}

// z of n centred columns whose means are known; x is 0 then.
template <class T>
[[gnu::noinline]] void center_known(std::size_t n, double* __restrict x,
                                    const double* __restrict mean, T* __restrict z) {
    for (std::size_t c = 0; c < n; ++c) z[c] = static_cast<T>(x[c] - mean[c]), x[c] = 0;
}

// The same of a row that has all columns: its values and 1 / unit of each column.
template <class T>
[[gnu::noinline]] void center_whole(std::size_t n, const T* __restrict value,
                                    const double* __restrict inverse, const double* __restrict mean,
                                    T* __restrict z) {
    for (std::size_t c = 0; c < n; ++c)
        z[c] = static_cast<T>(static_cast<double>(value[c]) * inverse[c] - mean[c]);
}

template <class T>
class ColumnScales {
   public:
    // `known`: all rows were presented before.
    ColumnScales(Column* columns, std::int64_t n_features, const CentredColumns& centred,
                 bool centres, bool known, ColumnClock& clock)
        : columns_(columns), c_(centred), centres_(centres), known_(known), clock_(clock) {
        make_room(0);
        if (known_) know_columns(n_features);
    }

    Strip<T> centred, loose;
    std::vector<std::int64_t> loose_index;
    LineVector<T> before, drift;  // of the centred ones: z from the centre before, how far it moved

    // z of the centred columns from their centres before this row.
    const T* z_before() const { return known_ ? centred.z.data() : before.data(); }
    bool centres_move() const { return !known_; }

    const Column& operator[](std::int64_t j) const { return columns_[j]; }
    double rows() const { return clock_.rows; }
    double mean(std::size_t place) const { return c_.mean[place]; }
    const std::int64_t* centred_index() const { return c_.index; }

    // Takes a row in. Weights are told of changes of units, scales and centres, and which columns
    // are active.
    template <class Weights>
    void present(const NonZeros<T>& row, double k, Weights& weights) {
        clock_.rows += 1;
        if (!known_) clock_.total += k;
        make_room(row.size);
        weights.make_room(n_centred() + row.size, row.size);
        if (known_) return place_known(row, weights);
        bring(row, weights);
        take(row, k, weights);
        centre(k, weights);
    }

    // Writes back the i-th loose column.
    void put_back(std::size_t i, double k) {
        if (known_) return;
        Column& column = columns_[loose_index[i]];
        column.count = count_[i], column.squares = squares_[i];
        column.sum += k * loose_x_[i];
    }

    // Step 5, when the row has been learned from.
    template <class Weights>
    void release(Weights& weights) {
        if (known_) return;
        const auto rows = static_cast<std::uint64_t>(clock_.rows);
        if ((rows & (rows - 1)) != 0) return;
        const std::size_t n = n_centred();
        std::size_t kept = 0;
        for (std::size_t c = 0; c < n; ++c) {
            Column& column = columns_[c_.index[c]];
            if (4 * column.count >= clock_.total) {
                c_.index[kept] = c_.index[c];
                c_.mean[kept] = c_.mean[c], c_.spread[kept] = c_.spread[c];
                c_.record[kept] = c_.record[c];
                weights.change_place(c, kept);
                column.sum = static_cast<double>(kept++);
                continue;
            }
            weights.leave(c_.index[c], c, c_.mean[c]);
            column.inverse = -column.inverse;
            column.squares = c_.spread[c] + clock_.total * c_.mean[c] * c_.mean[c];
            column.sum = clock_.total * c_.mean[c];
        }
        clock_.centred = static_cast<double>(kept);
        for (auto* each : {&centred.z, &centred.rate, &before, &drift})
            std::fill_n(each->data() + kept, n - kept, T(0));
    }

   private:
    // Whether every column is centred, in its own order.
    bool all_centred(std::size_t n_features) const {
        if (n_centred() != n_features) return false;
        for (std::size_t c = 0; c < n_features; ++c)
            if (c_.index[c] != static_cast<std::int64_t>(c)) return false;
        return true;
    }

    // A column that changes no more: 1 / unit, negative for a centred one, and its rate or place.
    struct KnownColumn {
        double inverse, rate_or_place;
    };

    void know_columns(std::int64_t n_features) {
        known_columns_.resize(static_cast<std::size_t>(n_features));
        for (std::int64_t j = 0; j < n_features; ++j) {
            const Column& column = columns_[j];
            const T count = static_cast<T>(column.count), squares = static_cast<T>(column.squares);
            const T rate = squares > 0 ? std::sqrt(count / squares) : T(0);
            known_columns_[j] = {column.inverse, column.centred() ? column.sum : rate};
        }
        centred.size = n_centred();
        if (all_centred(known_columns_.size())) {
            inverse_.resize(centred.size);
            for (std::size_t c = 0; c < centred.size; ++c)
                inverse_[c] = std::abs(columns_[c].inverse);
        }
        const T total = static_cast<T>(clock_.total);
        for (std::size_t c = 0; c < centred.size; ++c) {
            const double noise = kConstant * c_.mean[c];
            const bool varies = c_.spread[c] > noise * noise * clock_.total;
            centred.rate[c] = varies ? std::sqrt(total / static_cast<T>(c_.spread[c])) : T(0);
        }
    }

    // The values of a row whose columns are known. Which ones are centred is the same in most rows,
    // so a branch is foreseen.
    template <class Weights>
    void place_known(const NonZeros<T>& row, Weights& weights) {
        if (!inverse_.empty() && row.size == inverse_.size()) {
            center_whole<T>(row.size, row.value.data(), inverse_.data(), c_.mean, centred.z.data());
            return;
        }
        const std::int64_t* from = row.index.data();
        std::size_t n = 0;
        for (std::size_t i = 0; i < row.size; ++i) {
            const std::int64_t j = from[i], ahead = from[i + row.kAhead];
            __builtin_prefetch(known_columns_.data() + ahead), weights.prefetch(ahead);
            const KnownColumn& column = known_columns_[j];
            const double x = static_cast<double>(row.value[i]) * column.inverse;
            if (column.inverse < 0) {
                x_[static_cast<std::size_t>(column.rate_or_place)] = -x;
                continue;
            }
            loose_index[n] = j;
            loose.z[n] = static_cast<T>(x);
            loose.rate[n] = static_cast<T>(column.rate_or_place);
            weights.bring(j, n++);
        }
        loose.size = n;
        std::fill_n(loose.z.data() + n, kPerLine<T>, T(0));
        center_known<T>(centred.size, x_.data(), c_.mean, centred.z.data());
    }

    std::size_t n_centred() const { return static_cast<std::size_t>(clock_.centred); }
    bool can_join() const { return centres_ && clock_.centred < static_cast<double>(c_.capacity); }

    void make_room(std::size_t row_size) {
        const std::size_t most = n_centred() + row_size + kPerLine<T>;
        if (x_.size() < most) {
            x_.resize(2 * most, 0.0);
            for (auto* each : {&centred.z, &centred.rate, &before, &drift}) each->resize(2 * most);
        }
        if (loose.z.size() < row_size + kPerLine<T>) {
            const std::size_t n = 2 * row_size + kPerLine<T>;
            loose.z.resize(n), loose.rate.resize(n);
            for (auto* each : {&loose_x_, &count_, &squares_}) each->resize(n);
            odd_.resize(n), loose_index.resize(n), here_.resize(n), place_.resize(n);
        }
    }

    // Brings the numbers of the row's loose columns side by side. It is hard to foresee which ones
    // are loose, so there is no branch: a centred column is brought too, and the next one
    // overwrites it.
    template <class Weights>
    void bring(const NonZeros<T>& row, Weights& weights) {
        const std::int64_t* from = row.index.data();
        const T* value = row.value.data();
        std::int64_t* index = loose_index.data();
        std::size_t *here = here_.data(), *place = place_.data();
        double *x = loose_x_.data(), *count = count_.data(), *squares = squares_.data();
        std::size_t n = 0, n_here = 0;
        for (std::size_t i = 0; i < row.size; ++i) {
            const std::int64_t j = from[i], ahead = from[i + row.kAhead];
            __builtin_prefetch(columns_ + ahead, 1), weights.prefetch(ahead);
            const Column& column = columns_[j];
            index[n] = j, here[n_here] = place[n] = i;
            x[n] = static_cast<double>(value[i]) * column.inverse;
            count[n] = column.count, squares[n] = column.squares;
            weights.bring(j, n);
            n_here += column.centred(), n += !column.centred();
        }
        loose.size = n, n_here_ = n_here;
    }

    // All columns take the row in, but for the means of the centred ones.
    template <class Weights>
    void take(const NonZeros<T>& row, double k, Weights& weights) {
        for (std::size_t h = 0; h < n_here_; ++h) {
            const std::int64_t j = row.index[here_[h]];
            const double value = row.value[here_[h]];
            Column& column = columns_[j];
            if (!(std::abs(value * column.inverse) < kFar)) [[unlikely]]  // 1
                change_unit(j, power_of_two(value), weights);
            column.count += k;
            x_[column.place()] = -value * column.inverse;
        }
        if (find_rates(k))
            for (std::size_t i = 0; i < loose.size; ++i)
                if (odd_[i] != 0) take_odd(i, row.value[place_[i]], k, weights);
    }

    // 3; returns whether a column needs more than that: steps 1, 2 or 4.
    bool find_rates(double k) {
        constexpr std::size_t P = kPerLine<T>;
        const std::size_t n = loose.size;
        const double join = can_join() ? clock_.total / 2 : kNever;
        std::fill_n(loose_x_.data() + n, P, 1.0);
        std::fill_n(count_.data() + n, P, 0.0), std::fill_n(squares_.data() + n, P, 1.0);
        const bool any =
            count_loose<T>(whole_lines<T>(n), k, join, loose_x_.data(), count_.data(),
                           squares_.data(), odd_.data(), loose.z.data(), loose.rate.data());
        std::fill_n(loose.z.data() + n, P, T(0));
        return any;
    }

    // Takes the row in for one loose column, from the start.
    template <class Weights>
    void take_odd(std::size_t i, double value, double k, Weights& weights) {
        const std::int64_t j = loose_index[i];
        Column& column = columns_[j];
        if (!(std::abs(loose_x_[i]) < kFar && loose_x_[i] != 0))  // 1
            change_unit(j, power_of_two(value), weights);
        const double x = value * column.inverse;
        const double count = column.count + k, squares = column.squares + k * x * x;
        count_[i] = count, squares_[i] = squares;
        if (can_join() && 2 * count >= clock_.total) {  // 2
            join(j, x, k, weights);
            loose_x_[i] = 0, loose.z[i] = 0, loose.rate[i] = 0;  // it is active elsewhere
            weights.leave_out(i);
            return;
        }
        if (jumps(column.count, count, column.squares, squares))  // 4
            weights.scale(j, std::sqrt(column.squares * count / (column.count * squares)));
        loose_x_[i] = x, loose.z[i] = static_cast<T>(x);
        loose.rate[i] = std::sqrt(static_cast<T>(count) / static_cast<T>(squares));
        weights.bring(j, i);
    }

    // A column becomes centred: its mean and spread before this row, from the sums.
    template <class Weights>
    void join(std::int64_t j, double x, double k, Weights& weights) {
        Column& column = columns_[j];
        const std::size_t c = n_centred();
        const double earlier = clock_.total - k;
        const double mean = earlier > 0 ? column.sum / earlier : x;
        const double spread = earlier > 0 ? column.squares - column.sum * mean : 0;
        c_.index[c] = j;
        c_.mean[c] = mean;
        c_.spread[c] = spread > kLostDigits * column.squares ? spread : 0;
        c_.record[c] = -1;
        weights.join(j, c, mean);
        column.inverse = -column.inverse;
        column.sum = static_cast<double>(c);
        clock_.centred += 1;
        x_[c] = x;
    }

    // All centred columns take the row in.
    template <class Weights>
    void centre(double k, Weights& weights) {
        centred.size = n_centred();
        const bool jump = count_centred<T>(centred.size, k, clock_.total, x_.data(), c_.mean,
                                           c_.spread, c_.record, before.data(), drift.data(),
                                           centred.z.data(), centred.rate.data());
        if (jump) follow_jumps(weights);
    }

    template <class Weights>
    void follow_jumps(Weights& weights) {  // 4
        for (std::size_t c = 0; c < centred.size; ++c) {
            const double variance = c_.spread[c] / clock_.total;
            if (variance <= c_.record[c]) continue;
            if (c_.record[c] > 0) weights.scale(c_.index[c], std::sqrt(c_.record[c] / variance));
            c_.record[c] = variance;
        }
    }

    template <class Weights>
    void change_unit(std::int64_t j, double unit, Weights& weights) {
        Column& column = columns_[j];
        if (column.inverse == 0) {
            column.inverse = 1 / unit;
            weights.change_unit(j, unit);
            return;
        }
        const double by = unit * std::abs(column.inverse);
        if (by <= 1) return;  // a value too small to be seen beside the unit
        weights.change_unit(j, by);
        column.inverse = std::copysign(1 / unit, column.inverse);  // by may be infinite
        if (column.centred()) {
            const std::size_t c = column.place();
            c_.mean[c] /= by;
            c_.spread[c] /= by * by, c_.record[c] /= by * by;
        } else {
            column.sum /= by, column.squares /= by * by;
        }
    }

    // The power of two below |value|, kept where ratios of two of them are numbers too.
    static double power_of_two(double value) {
        constexpr std::uint64_t kMantissa = 52, kBias = 1023, kMost = 511;
        const std::uint64_t exponent = (std::bit_cast<std::uint64_t>(value) >> kMantissa) & 0x7ff;
        return std::bit_cast<double>(std::clamp(exponent, kBias - kMost, kBias + kMost)
                                     << kMantissa);
    }

    Column* columns_;
    CentredColumns c_;
    bool centres_, known_;
    ColumnClock& clock_;
    std::vector<KnownColumn> known_columns_;
    std::vector<double> inverse_;  // 1 / unit if all columns are known and centred; else empty
    std::vector<double> x_;        // the row's values of the centred columns; zeros between rows
    // of the row's loose columns
    LineVector<double> loose_x_, count_, squares_;
    LineVector<std::int64_t> odd_;    // not 0: it needs steps 1, 2 or 4
    std::vector<std::size_t> place_;  // where in the row
    std::vector<std::size_t> here_;   // where in the row the centred columns are
    std::size_t n_here_ = 0;
};

}  // namespace separable
