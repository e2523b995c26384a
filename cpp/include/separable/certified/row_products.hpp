// Products of rows with the numbers of many models at once, in double: what certificates are made of.
//
//   add_rows     sums[j][l] += sum_i x_ij r[i][l]
//   score_rows   scores[i][l] = sum_j x_ij w[j][l]
//   add_outer    products[j][k] += sum_i c_i x_ij x_ik, each pair of a row's non-zeros once: what is
//                at [j][k] and at [k][j] is to be added up (rows in order fill the upper triangle)
//   add_squares  sums[j] += sum_i c_i x_ij^2
#pragma once

#include <algorithm>
#include <cstdint>

#include "separable/data/rows.hpp"

namespace separable {

inline constexpr std::int64_t kWorkBetweenPolls = std::int64_t{1} << 24;

template <RowFormat F, class Poll>
void add_rows(const F& x, std::int64_t lanes, const double* r, double* sums, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const auto row = x.row(i);
        const double* mine = r + i * lanes;
        if (std::all_of(mine, mine + lanes, [](double value) { return value == 0; })) continue;
        for (std::int64_t k = 0; k < row.size(); ++k) {
            double* sum = sums + row.index(k) * lanes;
            const double value = row.value(k);
            for (std::int64_t l = 0; l < lanes; ++l) sum[l] += mine[l] * value;
        }
        if ((since += row.size() * lanes) > kWorkBetweenPolls) poll(), since = 0;
    }
}

// One score, as four sums side by side.
template <Row R>
double score_row(const R& row, const double* w) {
    double sum[4] = {};
    std::int64_t k = 0;
    for (; k + 4 <= row.size(); k += 4)
        for (int p = 0; p < 4; ++p)
            sum[p] += w[row.index(k + p)] * static_cast<double>(row.value(k + p));
    for (; k < row.size(); ++k) sum[0] += w[row.index(k)] * static_cast<double>(row.value(k));
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

template <RowFormat F, class Poll>
void score_rows(const F& x, std::int64_t lanes, const double* w, double* scores, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const auto row = x.row(i);
        double* s = scores + i * lanes;
        if ((since += row.size() * lanes) > kWorkBetweenPolls) poll(), since = 0;
        if (lanes == 1) {
            *s = score_row(row, w);
            continue;
        }
        std::fill_n(s, lanes, 0.0);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const double* mine = w + row.index(k) * lanes;
            const double value = row.value(k);
            for (std::int64_t l = 0; l < lanes; ++l) s[l] += mine[l] * value;
        }
    }
}

template <RowFormat F, class Poll>
void add_outer(const F& x, const double* c, double* products, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        if (c[i] == 0) continue;
        const auto row = x.row(i);
        for (std::int64_t a = 0; a < row.size(); ++a) {
            double* line = products + row.index(a) * x.n_features;
            const double value = c[i] * static_cast<double>(row.value(a));
            for (std::int64_t b = a; b < row.size(); ++b)
                line[row.index(b)] += value * static_cast<double>(row.value(b));
        }
        if ((since += row.size() * row.size()) > kWorkBetweenPolls) poll(), since = 0;
    }
}

template <RowFormat F, class Poll>
void add_squares(const F& x, const double* c, double* sums, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        if (c[i] == 0) continue;
        const auto row = x.row(i);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const auto value = static_cast<double>(row.value(k));
            sums[row.index(k)] += c[i] * value * value;
        }
        if ((since += row.size()) > kWorkBetweenPolls) poll(), since = 0;
    }
}

}  // namespace separable
