// Residuals of least squares and of the normal equations, in twice the working precision.
//
//   problem   r_i = y_i - b - sum_j w_j x_ij,  g_j = sum_i c_i r_i (x_ij - m_j),
//             g_0 = sum_i c_i r_i,  squares = sum_i c_i r_i^2
//   given     rows, y (one target), c ... weights, default 1; w (default 0) and b as sums of two
//             doubles, the low part of w 0 by default; m ... the center of the columns, default 0
//   returns   g_0, squares and, on request, g and every r_i, rounded to double
//   steps     1. the residual of a row    2. its term of every sum
//   source    iterative refinement: A. Bjorck, Numerical Methods for Least Squares Problems, 1996,
//             section 2.9
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/double_double.hpp"

namespace separable {

struct ResidualSums {
    double intercept = 0, squares = 0;
};

// Rows whose residuals are summed in parallel, to hide the latency of additions.
inline constexpr std::int64_t kResidualRows = 16;

// Numbers of rows side by side, to which numbers are added in twice the digits.
struct RowLanes {
    double high[kResidualRows] = {}, low[kResidualRows] = {};

    // Adds the products of the rows' numbers with others.
    void add(const RowLanes& c, const double* x) {
        for (int k = 0; k < kResidualRows; ++k) {
            DoubleDouble s{high[k], low[k]};
            s += DoubleDouble{c.high[k], c.low[k]} * x[k];
            high[k] = s.high, low[k] = s.low;
        }
    }
    // Takes away the products of numbers with w.
    void subtract(double w, const double* x) {
        for (int k = 0; k < kResidualRows; ++k) {
            DoubleDouble s{high[k], low[k]};
            s += DoubleDouble::product(-w, x[k]);
            high[k] = s.high, low[k] = s.low;
        }
    }
    void subtract(double w, double w_low, const double* x) {
        for (int k = 0; k < kResidualRows; ++k) {
            DoubleDouble s{high[k], low[k]};
            s += DoubleDouble::product(-w, x[k]);
            s += -w_low * x[k];
            high[k] = s.high, low[k] = s.low;
        }
    }
    DoubleDouble sum() const {
        DoubleDouble total;
        for (int k = 0; k < kResidualRows; ++k) total += DoubleDouble{high[k], low[k]};
        return total;
    }
};

// The columns of a whole block of dense rows: `visit(j, x)` with the number of each row.
template <RowFormat F, class Visit>
void each_column(const F& rows, std::int64_t first, Visit&& visit) {
    double x[kResidualRows];
    decltype(rows.row(first).x) from[kResidualRows];
    for (int k = 0; k < kResidualRows; ++k) from[k] = rows.row(first + k).x;
    for (std::int64_t j = 0; j < rows.n_features; ++j) {
        for (int k = 0; k < kResidualRows; ++k) x[k] = static_cast<double>(from[k][j]);
        visit(j, x);
    }
}

// Step 1 for `count` rows from `first` on; a row is summed in the order of its columns.
template <RowFormat F>
void row_residuals(const F& rows, std::int64_t first, std::int64_t count, const double* y,
                   const double* w, const double* w_low, double b, double b_low, DoubleDouble* r) {
    for (std::int64_t k = 0; k < count; ++k) {
        r[k] = DoubleDouble::sum(y[first + k], -b);
        r[k] += -b_low;
    }
    if (!w) return;
    if constexpr (requires { typename F::DenseRow; }) {
        if (count == kResidualRows) {
            RowLanes rest;
            for (int k = 0; k < kResidualRows; ++k)
                rest.high[k] = r[k].high, rest.low[k] = r[k].low;
            if (w_low)
                each_column(rows, first, [&](std::int64_t j, const double* x) {
                    rest.subtract(w[j], w_low[j], x);
                });
            else
                each_column(rows, first,
                            [&](std::int64_t j, const double* x) { rest.subtract(w[j], x); });
            for (int k = 0; k < kResidualRows; ++k) r[k] = {rest.high[k], rest.low[k]};
            return;
        }
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const auto row = rows.row(first + i);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const std::int64_t j = row.index(k);
            const double x = row.value(k);
            r[i] += -DoubleDouble::product(w[j], x);
            if (w_low) r[i] += -w_low[j] * x;
        }
    }
}

// Step 2: the sums, and what is added to them.
class ResidualTerms {
   public:
    // The gradient may be left out: then `d` is 0.
    explicit ResidualTerms(std::int64_t d)
        : d_(d),
          is_narrow_(d <= kMostLanes),
          sums_(static_cast<std::size_t>(d)),
          lanes_(is_narrow_ ? static_cast<std::size_t>(d) : 0) {}

    template <RowFormat F>
    void add(const F& rows, std::int64_t first, std::int64_t count, const double* weight,
             const DoubleDouble* r) {
        if constexpr (requires { typename F::DenseRow; }) {
            if (count == kResidualRows && is_narrow_) {
                add_lanes(rows, first, weight, r);
                return;
            }
        }
        for (std::int64_t i = 0; i < count; ++i) {
            const auto row = rows.row(first + i);
            const DoubleDouble c = weight ? r[i] * weight[first + i] : r[i];
            for (std::int64_t k = 0; d_ > 0 && k < row.size(); ++k)
                sums_[static_cast<std::size_t>(row.index(k))] +=
                    c * static_cast<double>(row.value(k));
            total_ += c;
            squares_ += c * r[i].high;
        }
    }

    void end() {
        total_ += total_lanes_.sum(), squares_ += square_lanes_.sum();
        for (std::size_t j = 0; j < lanes_.size(); ++j) sums_[j] += lanes_[j].sum();
    }

    ResidualSums sums() const { return {total_.high, squares_.high}; }

    // The gradient about the centre m, which may be 0.
    void write(const double* m, double* gradient) {
        for (std::int64_t j = 0; j < d_; ++j) {
            DoubleDouble& sum = sums_[static_cast<std::size_t>(j)];
            if (m) sum += -(total_ * m[j]);
            gradient[j] = sum.high;
        }
    }

   private:
    static constexpr std::int64_t kMostLanes = 512;  // sums of all columns fit the cache

    template <class F>
    void add_lanes(const F& rows, std::int64_t first, const double* weight, const DoubleDouble* r) {
        RowLanes c;
        double high[kResidualRows], ones[kResidualRows];
        for (int k = 0; k < kResidualRows; ++k) {
            const DoubleDouble one = weight ? r[k] * weight[first + k] : r[k];
            c.high[k] = one.high, c.low[k] = one.low;
            high[k] = r[k].high, ones[k] = 1;
        }
        total_lanes_.add(c, ones), square_lanes_.add(c, high);
        if (d_ == 0) return;
        each_column(rows, first, [&](std::int64_t j, const double* x) {
            lanes_[static_cast<std::size_t>(j)].add(c, x);
        });
    }

    std::int64_t d_;
    bool is_narrow_;
    std::vector<DoubleDouble> sums_;
    std::vector<RowLanes> lanes_;
    RowLanes total_lanes_, square_lanes_;
    DoubleDouble total_, squares_;
};

template <RowFormat F, class Poll>
ResidualSums residual_sums(const F& rows, const double* y, const double* weight, const double* w,
                           const double* w_low, double b, double b_low, const double* m,
                           double* gradient, double* residuals, Poll&& poll) {
    ResidualTerms terms(gradient ? rows.n_features : 0);
    DoubleDouble r[kResidualRows];
    std::int64_t since = 0;
    for (std::int64_t first = 0; first < rows.n_rows; first += kResidualRows) {
        const std::int64_t count = std::min(kResidualRows, rows.n_rows - first);
        row_residuals(rows, first, count, y, w, w_low, b, b_low, r);  // 1
        for (std::int64_t i = 0; residuals && i < count; ++i) residuals[first + i] = r[i].high;
        terms.add(rows, first, count, weight, r);  // 2
        for (std::int64_t i = 0; i < count; ++i) since += rows.row(first + i).size();
        if (since > (std::int64_t{1} << 24)) poll(), since = 0;
    }
    terms.end();
    terms.write(m, gradient);
    return terms.sums();
}

}  // namespace separable
