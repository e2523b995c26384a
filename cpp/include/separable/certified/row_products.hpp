// Products of rows with the numbers of many models at once, in double: what certificates are made of.
//
//   add_rows     sums[j][l] += sum_i x_ij r[i][l]
//   score_rows   scores[i][l] = sum_j x_ij w[j][l]
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

template <RowFormat F, class Poll>
void score_rows(const F& x, std::int64_t lanes, const double* w, double* scores, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const auto row = x.row(i);
        double* s = scores + i * lanes;
        std::fill_n(s, lanes, 0.0);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const double* mine = w + row.index(k) * lanes;
            const double value = row.value(k);
            for (std::int64_t l = 0; l < lanes; ++l) s[l] += mine[l] * value;
        }
        if ((since += row.size() * lanes) > kWorkBetweenPolls) poll(), since = 0;
    }
}

}  // namespace separable
