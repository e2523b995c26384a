// A dual point made feasible, its weights and their scores, all in double: what a certificate is
// computed from, and nothing that the solver kept.
//
//   given     a (any float type) as passes left it; rows; lanes
//   returns   z = a y with 0 <= a <= c (regression: z = a, |a| <= c) and, where there is an
//             intercept, sum z = 0; v = sum z x and the scores v.x_i, in every lane
//   steps     1. cut a to its range
//             2. scale the heavier class so that both sum to the same
//             3. add up v    4. score every row
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "separable/certified/dual_descent.hpp"
#include "separable/data/rows.hpp"

namespace separable {

struct DualPoint {
    double* z;       // [row][lane]
    double* v;       // [feature][lane]
    double* scores;  // [row][lane]
};

inline double cost_in(const DualRows& rows, const LanePlan& plan, std::int64_t i, int l) {
    if (!rows.fold.empty() && rows.fold[i] == plan.fold[l]) return 0.0;
    return plan.strength[l] * (rows.weight.empty() ? 1.0 : rows.weight[i]);
}

template <class T>
void make_feasible(const DualRows& rows, const LanePlan& plan, const T* a, std::int64_t n_rows,
                   std::int64_t width, bool bounded, double* z) {
    const auto lanes = static_cast<int>(plan.strength.size());
    const bool numbers = !rows.number.empty();
    std::vector<double> up(lanes, 0.0), down(lanes, 0.0);
    for (std::int64_t i = 0; i < n_rows; ++i)
        for (int l = 0; l < lanes; ++l) {  // 1
            const double c = cost_in(rows, plan, i, l), raw = static_cast<double>(a[i * width + l]);
            const double most = bounded || c == 0 ? c : std::numeric_limits<double>::infinity();
            double value = std::clamp(raw, numbers ? -most : 0.0, most);
            if (!numbers && plan.class_of[l] != rows.label[i]) value = -value;
            z[i * lanes + l] = value;
            (value > 0 ? up : down)[l] += std::abs(value);
        }
    for (std::int64_t i = 0; i < n_rows; ++i)
        for (int l = 0; l < lanes; ++l) {  // 2
            if (plan.rho[l] == 0) continue;
            const double least = std::min(up[l], down[l]);
            const double mine = z[i * lanes + l] > 0 ? up[l] : down[l];
            if (mine > least) z[i * lanes + l] *= least / mine;
        }
}

template <RowFormat F, class Poll>
void weights_and_scores(const F& x, std::int64_t lanes, DualPoint point, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {  // 3
        const auto row = x.row(i);
        const double* z = point.z + i * lanes;
        if (std::all_of(z, z + lanes, [](double value) { return value == 0; })) continue;
        for (std::int64_t k = 0; k < row.size(); ++k) {
            double* v = point.v + row.index(k) * lanes;
            const double value = row.value(k);
            for (std::int64_t l = 0; l < lanes; ++l) v[l] += z[l] * value;
        }
        if ((since += row.size() * lanes) > (std::int64_t{1} << 24)) poll(), since = 0;
    }
    for (std::int64_t i = 0; i < x.n_rows; ++i) {  // 4
        const auto row = x.row(i);
        double* s = point.scores + i * lanes;
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const double* v = point.v + row.index(k) * lanes;
            const double value = row.value(k);
            for (std::int64_t l = 0; l < lanes; ++l) s[l] += v[l] * value;
        }
        if ((since += row.size() * lanes) > (std::int64_t{1} << 24)) poll(), since = 0;
    }
}

}  // namespace separable
