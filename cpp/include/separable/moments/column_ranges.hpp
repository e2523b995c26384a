// The mean and the range of each column of dense rows, from one pass.
//
//   given    weight[i], default 1
//   returns  mean_j = sum_i w_i x_ij / sum_i w_i, low_j = min_i x_ij and high_j = max_i x_ij
//   steps    1. add up differences from the first row, so that large means keep their digits,
//               and a block of rows at a time, so that rounding does not grow with their number
//            2. divide by the sum of weights
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"

namespace separable {

// At least one row.
template <class Value, class Poll>
void column_ranges(const Dense<Value>& rows, const double* weight, double* __restrict mean,
                   double* __restrict low, double* __restrict high, Poll&& poll) {
    constexpr std::int64_t kBlock = 1024;
    const std::int64_t d = rows.n_features;
    std::vector<double> first(rows.row(0).x, rows.row(0).x + d), part(first.size());
    const double* __restrict from = first.data();
    double* __restrict sum = part.data();
    double total = 0;
    std::fill_n(mean, d, 0.0);
    std::copy_n(from, d, low), std::copy_n(from, d, high);
    for (std::int64_t start = 0; start < rows.n_rows; start += kBlock) {  // 1
        poll();
        const std::int64_t stop = std::min(start + kBlock, rows.n_rows);
        double block = 0;
        std::fill_n(sum, d, 0.0);
        for (std::int64_t i = start; i < stop; ++i) {
            const Value* __restrict x = rows.row(i).x;
            const double w = weight ? weight[i] : 1.0;
            block += w;
            for (std::int64_t j = 0; j < d; ++j) {
                const auto value = static_cast<double>(x[j]);
                sum[j] += w * (value - from[j]);
                low[j] = value < low[j] ? value : low[j];
                high[j] = value > high[j] ? value : high[j];
            }
        }
        total += block;
        for (std::int64_t j = 0; j < d; ++j) mean[j] += sum[j];
    }
    for (std::int64_t j = 0; j < d; ++j) mean[j] = from[j] + mean[j] / total;  // 2
}

}  // namespace separable
