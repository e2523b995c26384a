// Residuals of least squares in twice the digits, and what the normal equations leave of them.
//
//   problem   r_i = y_i - b - sum_j w_j x_ij,  g_j = sum_i c_i r_i (x_ij - m_j),  g_0 = sum_i c_i
//   r_i,
//             squares = sum_i c_i r_i^2
//   given     rows, y (one number a row), c ... weights or none; w as a sum of two doubles for each
//             column, b as a sum of two doubles; m ... the point to centre at
//   returns   g, g_0, squares and, where asked for, every r_i, rounded to double
//   steps     1. the residual of a row    2. its share of every sum
//   source    iterative refinement: A. Bjorck, Numerical Methods for Least Squares Problems
//   (1996), 2.9
#pragma once

#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/double_double.hpp"

namespace separable {

struct ResidualSums {
    double intercept = 0, squares = 0;
};

template <RowFormat F, class Poll>
ResidualSums residual_sums(const F& rows, const double* y, const double* weight, const double* w,
                           const double* w_low, double b, double b_low, const double* m,
                           double* gradient, double* residuals, Poll&& poll) {
    const std::int64_t d = rows.n_features;
    std::vector<DoubleDouble> g(static_cast<std::size_t>(d));
    DoubleDouble total, squares;
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        const auto row = rows.row(i);
        DoubleDouble r = DoubleDouble::sum(y[i], -b);  // 1
        r += -b_low;
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const std::int64_t j = row.index(k);
            const double x = row.value(k);
            r += -DoubleDouble::product(w[j], x);
            r += -w_low[j] * x;
        }
        if (residuals) residuals[i] = r.high;
        const DoubleDouble c = weight ? r * weight[i] : r;  // 2
        for (std::int64_t k = 0; k < row.size(); ++k)
            g[static_cast<std::size_t>(row.index(k))] += c * static_cast<double>(row.value(k));
        total += c;
        squares += c * r.high;
        if ((since += row.size()) > (std::int64_t{1} << 24)) poll(), since = 0;
    }
    for (std::int64_t j = 0; j < d; ++j) {
        g[static_cast<std::size_t>(j)] += -(total * m[j]);
        gradient[j] = g[static_cast<std::size_t>(j)].high;
    }
    return {total.high, squares.high};
}

}  // namespace separable
