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
inline constexpr std::int64_t kResidualRows = 8;

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
            constexpr std::int64_t kColumns = 64;
            double x[kColumns][kResidualRows], high[kResidualRows], low[kResidualRows];
            for (int k = 0; k < kResidualRows; ++k) high[k] = r[k].high, low[k] = r[k].low;
            for (std::int64_t start = 0; start < rows.n_features; start += kColumns) {
                const std::int64_t n = std::min(kColumns, rows.n_features - start);
                for (int k = 0; k < kResidualRows; ++k) {
                    const auto* from = rows.row(first + k).x + start;
                    for (std::int64_t j = 0; j < n; ++j) x[j][k] = static_cast<double>(from[j]);
                }
                for (std::int64_t j = 0; j < n; ++j) {
                    const double wj = w[start + j], lowj = w_low ? w_low[start + j] : 0.0;
                    for (int k = 0; k < kResidualRows; ++k) {
                        DoubleDouble s{high[k], low[k]};
                        s += -DoubleDouble::product(wj, x[j][k]);
                        s += -lowj * x[j][k];
                        high[k] = s.high, low[k] = s.low;
                    }
                }
            }
            for (int k = 0; k < kResidualRows; ++k) r[k] = {high[k], low[k]};
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

template <RowFormat F, class Poll>
ResidualSums residual_sums(const F& rows, const double* y, const double* weight, const double* w,
                           const double* w_low, double b, double b_low, const double* m,
                           double* gradient, double* residuals, Poll&& poll) {
    const std::int64_t d = rows.n_features;
    std::vector<DoubleDouble> sums(gradient ? static_cast<std::size_t>(d) : 0);
    DoubleDouble total, squares;
    DoubleDouble r[kResidualRows];
    std::int64_t since = 0;
    for (std::int64_t first = 0; first < rows.n_rows; first += kResidualRows) {
        const std::int64_t count = std::min(kResidualRows, rows.n_rows - first);
        row_residuals(rows, first, count, y, w, w_low, b, b_low, r);  // 1
        for (std::int64_t i = 0; i < count; ++i) {                    // 2
            const auto row = rows.row(first + i);
            if (residuals) residuals[first + i] = r[i].high;
            const DoubleDouble c = weight ? r[i] * weight[first + i] : r[i];
            for (std::int64_t k = 0; gradient && k < row.size(); ++k)
                sums[row.index(k)] += c * static_cast<double>(row.value(k));
            total += c;
            squares += c * r[i].high;
            if ((since += row.size()) > (std::int64_t{1} << 24)) poll(), since = 0;
        }
    }
    for (std::int64_t j = 0; gradient && j < d; ++j) {
        if (m) sums[j] += -(total * m[j]);
        gradient[j] = sums[j].high;
    }
    return {total.high, squares.high};
}

}  // namespace separable
