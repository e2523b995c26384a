// Columns of dense rows in which all but a few pairs of sampled values are close to each other.
//
//   given    every `step`-th row, of which row i and row half + i make a pair; size of each column,
//            by default its range
//   returns  the columns of which at most `most` pairs are farther apart than limit times the size
//
// A column that a few values dominate is among them: each of these is in one pair.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"

namespace separable {

// At least one row; the sizes may be absent.
template <class Value>
std::vector<std::int64_t> close_pairs(const Dense<Value>& rows, std::int64_t step, double limit,
                                      const double* size, std::int64_t most) {
    const std::int64_t d = rows.n_features, half = (rows.n_rows + step - 1) / step / 2;
    std::vector<double> distance(static_cast<std::size_t>(d));
    if (size) {
        for (std::int64_t j = 0; j < d; ++j) distance[j] = limit * size[j];
    } else {
        std::vector<Value> low(rows.row(0).x, rows.row(0).x + d), high = low;
        for (std::int64_t i = 1; i < rows.n_rows; ++i) {
            const Value* x = rows.row(i).x;
            for (std::int64_t j = 0; j < d; ++j) {
                low[j] = x[j] < low[j] ? x[j] : low[j];
                high[j] = x[j] > high[j] ? x[j] : high[j];
            }
        }
        for (std::int64_t j = 0; j < d; ++j)
            distance[j] = limit * (static_cast<double>(high[j]) - static_cast<double>(low[j]));
    }
    std::vector<std::int64_t> apart(static_cast<std::size_t>(d)), close;
    for (std::int64_t i = 0; i < half; ++i) {
        const Value *x = rows.row(i * step).x, *other = rows.row((half + i) * step).x;
        for (std::int64_t j = 0; j < d; ++j)
            apart[j] +=
                std::abs(static_cast<double>(x[j]) - static_cast<double>(other[j])) > distance[j];
    }
    for (std::int64_t j = 0; j < d; ++j)
        if (apart[j] <= most) close.push_back(j);
    return close;
}

}  // namespace separable
