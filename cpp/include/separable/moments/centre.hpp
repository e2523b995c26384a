// Rows centered by group, before their products are summed.
//
//   problem   m_g = sum_{i in g} w_i z_i / W_g  and  sqrt(w_i) (z_i - m_g) for each row i of g,
//             with z = (x - origin) scale
//   given     rows ... a block of dense rows; group[i], default 0; weight[i], default 1;
//             W_g ... the weight of each group; origin, scale of each column
//   returns   mean (groups x columns), the centered rows in double, row i at out + i ld, and the
//             largest |z - m| of each column, which is not finite if a value is not
//   steps     1. add up z by group
//             2. divide by the group's weight
//             3. subtract the mean of the row's group
//   source    the two-pass algorithm: Chan, Golub, LeVeque, Algorithms for computing the sample
//             variance, The American Statistician 37 (1983)
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "separable/data/rows.hpp"

namespace separable {

struct Grouping {
    const std::int32_t* group;  // or nullptr
    const double* weight;       // or nullptr
    const double* total;        // W_g
    std::int64_t n_groups;

    std::int64_t group_of(std::int64_t i) const { return group ? group[i] : 0; }
    double weight_of(std::int64_t i) const { return weight ? weight[i] : 1.0; }
};

template <class Value>
void centre_rows(const Dense<Value>& rows, std::int64_t first, std::int64_t n_rows,
                 const Grouping& by, const double* origin, const double* scale, double* mean,
                 double* largest, double* out, std::int64_t ld) {
    const std::int64_t d = rows.n_features;
    std::fill_n(mean, by.n_groups * d, 0.0);
    std::fill_n(largest, d, 0.0);
    for (std::int64_t i = 0; i < n_rows; ++i) {  // 1
        const Value* x = rows.row(first + i).x;
        double* sum = mean + by.group_of(i) * d;
        double* z = out + i * ld;
        const double w = by.weight_of(i);
        for (std::int64_t j = 0; j < d; ++j) {
            z[j] = (static_cast<double>(x[j]) - origin[j]) * scale[j];
            sum[j] += w * z[j];
        }
    }
    for (std::int64_t g = 0; g < by.n_groups; ++g)  // 2
        for (std::int64_t j = 0; j < d && by.total[g] > 0; ++j) mean[g * d + j] /= by.total[g];
    for (std::int64_t i = 0; i < n_rows; ++i) {  // 3
        const double* m = mean + by.group_of(i) * d;
        double* z = out + i * ld;
        const double root = by.weight ? std::sqrt(by.weight[i]) : 1.0;
        for (std::int64_t j = 0; j < d; ++j) {
            const double gap = z[j] - m[j], size = std::abs(gap);
            largest[j] = size <= largest[j] ? largest[j] : size;  // a NaN is kept until the next
            z[j] = root * gap;                                    // value; the mean stays NaN
        }
    }
}

}  // namespace separable
