// Products of one column with numbers of the rows, in double. A column of X is a row of X'.
//
//   dot        sum_i x_i q_i
//   moments    sum_i h_i x_i and sum_i h_i x_i^2
//   add        q_i += step x_i;  add_curved: q_i += step h_i x_i
#pragma once

#include <cstdint>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

struct ColumnMoments {
    double first, second;
};

template <Row R>
double dot(const R& column, const double* q) {
    return Single<double>::dot(column, q);
}

template <Row R>
ColumnMoments moments(const R& column, const double* h) {
    constexpr int P = kPerLine<double>;
    const std::int64_t n = column.size();
    Line<double> first = Line<double>::zero(), second = Line<double>::zero();
    std::int64_t k = 0;
    for (; k + P <= n; k += P) {
        const auto x = column.template values<double>(k);
        const auto product = column.weights(h, k) * x;
        first += product;
        second += product * x;
    }
    ColumnMoments sums{first.sum(), second.sum()};
    for (; k < n; ++k) {
        const double x = column.value(k), product = h[column.index(k)] * x;
        sums.first += product;
        sums.second += product * x;
    }
    return sums;
}

template <Row R>
void add(const R& column, double step, double* __restrict q) {
    Single<double>::add(column, step, q);
}

template <Row R>
void add_curved(const R& column, double step, const double* __restrict h, double* __restrict q) {
    for (std::int64_t k = 0; k < column.size(); ++k) {
        const std::int64_t i = column.index(k);
        q[i] += step * h[i] * static_cast<double>(column.value(k));
    }
}

}  // namespace separable
