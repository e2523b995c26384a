// What a stream has shown of each column: its scale, and its centre where it has one.
//
//   problem   learn from columns whose scale and centre nobody told
//   given     rows, one after the other, with weights k
//   returns   for each row the columns in play with their values in the column's own units and
//             the rate 1 / s_j, s_j being the column's deviation so far
//   steps     of one row, t being the sum of weights with it:
//             1. a column first seen gets a unit, the power of two below |x|; all numbers here
//                are in units, so neither float32 nor squares overflow
//             2. a column that at least half of the rows have (2 count >= t) is centred from then
//                on: it is in play in every row, 0 or not, with z = x - mean
//             3. the others are in play where they are not 0, with z = x
//             4. where the deviation jumps the column's weights are scaled down with it, so that
//                a scale learned from odd first rows does no harm
//             5. when the number of rows is a power of two, columns that less than a quarter of
//                the rows have are centred no more
//   source    online standardisation after Ross, Mineiro, Langford 2013 (Normalized online
//             learning); means and squares: Welford 1962
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "separable/data/products.hpp"

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

// Columns in play, the centred ones first: column index[i] with value z[i] from its new centre,
// before[i] from the centre before this row, which has drifted by drift[i]; rate[i] = 1 / s.
template <class T>
struct InPlay {
    std::vector<std::int64_t> index;
    std::vector<T> z, before, drift, rate;
    std::size_t size = 0, centred = 0;

    void reserve(std::size_t n) {
        if (z.size() >= n) return;
        n += n / 2 + 64;
        index.resize(n), z.resize(n), before.resize(n), drift.resize(n), rate.resize(n);
    }
};

template <class T>
class ColumnScales {
   public:
    ColumnScales(Column* columns, const CentredColumns& centred, bool centres, ColumnClock& clock)
        : columns_(columns), c_(centred), centres_(centres), clock_(clock) {}

    InPlay<T> in;

    const Column& operator[](std::int64_t j) const { return columns_[j]; }
    double rows() const { return clock_.rows; }
    double mean(std::size_t place) const { return c_.mean[place]; }
    std::int64_t centred_index(std::size_t place) const { return c_.index[place]; }
    void prefetch(std::int64_t j) const { __builtin_prefetch(columns_ + j, 1); }

    // Takes a row in. Weights are told of changes of units, scales and centres.
    template <class Weights>
    void present(const NonZeros<T>& row, double k, Weights& weights) {
        clock_.rows += 1;
        clock_.total += k;
        const auto n_before = static_cast<std::size_t>(clock_.centred);
        if (x_.size() < n_before + row.size) x_.resize(2 * (n_before + row.size), 0.0);
        loose_.reserve(row.size);
        loose_.size = 0;
        for (std::size_t i = 0; i < row.size; ++i) take(row.index[i], row.value[i], k, weights);
        const auto n = static_cast<std::size_t>(clock_.centred);
        in.reserve(n + loose_.size);
        in.size = n + loose_.size, in.centred = n;
        centre(k, weights);
        for (std::size_t i = 0; i < loose_.size; ++i) {
            in.index[n + i] = loose_.index[i];
            in.z[n + i] = in.before[n + i] = loose_.z[i];
            in.rate[n + i] = std::sqrt(loose_.count[i] / loose_.squares[i]);
        }
    }

    // Step 5, when the row has been learned from.
    template <class Weights>
    void release(Weights& weights) {
        const auto rows = static_cast<std::uint64_t>(clock_.rows);
        if ((rows & (rows - 1)) != 0) return;
        const auto n = static_cast<std::size_t>(clock_.centred);
        std::size_t kept = 0;
        for (std::size_t c = 0; c < n; ++c) {
            Column& column = columns_[c_.index[c]];
            if (4 * column.count >= clock_.total) {
                c_.index[kept] = c_.index[c];
                c_.mean[kept] = c_.mean[c], c_.spread[kept] = c_.spread[c];
                c_.record[kept] = c_.record[c];
                column.sum = static_cast<double>(kept++);
                continue;
            }
            weights.move_centre(c_.index[c], -c_.mean[c]);
            column.inverse = -column.inverse;
            column.squares = c_.spread[c] + clock_.total * c_.mean[c] * c_.mean[c];
            column.sum = clock_.total * c_.mean[c];
        }
        clock_.centred = static_cast<double>(kept);
    }

   private:
    static constexpr double kFar = 0x1p40;       // a value so many units away changes the unit
    static constexpr double kJump = 1.5;         // of the mean square of a loose column
    static constexpr double kLostDigits = 1e-6;  // of squares that a mean was taken from
    static constexpr double kConstant = 1e-14;   // deviations this far below the mean are noise

    // The columns in play that are not centred.
    struct Loose {
        std::vector<std::int64_t> index;
        std::vector<T> z, count, squares;
        std::size_t size = 0;

        void reserve(std::size_t n) {
            if (z.size() < n)
                index.resize(2 * n), z.resize(2 * n), count.resize(2 * n), squares.resize(2 * n);
        }
    };

    double capacity() const { return static_cast<double>(c_.capacity); }

    template <class Weights>
    void take(std::int64_t j, double value, double k, Weights& weights) {
        Column& column = columns_[j];
        double x = value * column.inverse;
        if (!(std::abs(x) < kFar && x != 0)) {  // 1
            change_unit(j, power_of_two(value), weights);
            x = value * column.inverse;
        }
        if (column.centred()) {
            column.count += k;
            x_[column.place()] = -x;
            return;
        }
        const double count = column.count, squares = column.squares;
        column.count += k;
        column.squares += k * x * x;
        column.sum += k * x;
        if (centres_ && 2 * column.count >= clock_.total && clock_.centred < capacity()) {  // 2
            join(j, x, k, weights);
            return;
        }
        if (column.squares * count > kJump * squares * column.count)  // 4
            weights.scale(j, std::sqrt(squares * column.count / (count * column.squares)));
        const std::size_t i = loose_.size++;  // 3
        loose_.index[i] = j;
        loose_.z[i] = static_cast<T>(x);
        loose_.count[i] = static_cast<T>(column.count);
        loose_.squares[i] = static_cast<T>(column.squares);
    }

    // A column becomes centred: its mean and spread before this row, from the sums.
    template <class Weights>
    void join(std::int64_t j, double x, double k, Weights& weights) {
        Column& column = columns_[j];
        const auto c = static_cast<std::size_t>(clock_.centred);
        const double earlier = clock_.total - k, sum = column.sum - k * x;
        const double squares = column.squares - k * x * x;
        const double mean = earlier > 0 ? sum / earlier : x;
        const double spread = earlier > 0 ? squares - sum * mean : 0;
        c_.index[c] = j;
        c_.mean[c] = mean;
        c_.spread[c] = spread > kLostDigits * squares ? spread : 0;
        c_.record[c] = -1;
        weights.move_centre(j, mean);
        column.inverse = -column.inverse;
        column.sum = static_cast<double>(c);
        clock_.centred += 1;
        x_[c] = x;
    }

    // All centred columns take the row in.
    template <class Weights>
    void centre(double k, Weights& weights) {
        const double share = k / clock_.total, total = clock_.total;
        double jump = 0;
        for (std::size_t c = 0; c < in.centred; ++c) {
            const double z_before = x_[c] - c_.mean[c], drift = z_before * share;
            const double mean = c_.mean[c] + drift, z = x_[c] - mean;
            const double spread = c_.spread[c] + k * z_before * z;
            const double noise = kConstant * mean, least = noise * noise * total;
            x_[c] = 0;
            c_.mean[c] = mean;
            c_.spread[c] = spread;
            in.z[c] = static_cast<T>(z);
            in.before[c] = static_cast<T>(z_before);
            in.drift[c] = static_cast<T>(drift);
            const double safe = spread > least ? spread : 1.0;
            in.rate[c] = static_cast<T>(spread > least ? std::sqrt(total / safe) : 0.0);
            const double above = spread - c_.record[c] * total;
            jump = above > jump ? above : jump;
        }
        std::copy_n(c_.index, in.centred, in.index.data());
        if (jump > 0) follow_jumps(weights);
    }

    template <class Weights>
    void follow_jumps(Weights& weights) {  // 4
        for (std::size_t c = 0; c < in.centred; ++c) {
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
        int exponent = 0;
        std::frexp(value, &exponent);
        return std::ldexp(1.0, std::clamp(exponent - 1, -511, 511));
    }

    Column* columns_;
    CentredColumns c_;
    bool centres_;
    ColumnClock& clock_;
    std::vector<double> x_;  // the row's values of the centred columns; zeros between rows
    Loose loose_;
};

}  // namespace separable
