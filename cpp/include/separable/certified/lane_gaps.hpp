// Duality gaps of models with one score and the l2 penalty, from their products with the rows.
//
//   given    feasible dual points z, scores, and |u|^2, |v|^2, |u - v|^2 of weights u and v = Z'z
//   returns  primal  sum_i c_i loss(y_i, s_i) + 1/2 |u|^2
//            dual    sum_i dual(y_i, c_i, z_i) - 1/2 |v|^2
//            gap     sum_i (Fenchel-Young gap of row i) + 1/2 |u - v|^2, all terms non-negative
//            and the best intercepts, if wanted, which are added to the scores
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "separable/certified/row_products.hpp"
#include "separable/certified/row_terms.hpp"

namespace separable {

struct LaneGaps {
    std::vector<double> intercept, primal, dual, gap;  // [lane]
};

inline LaneGaps lane_gaps(const TileLoss& loss, const RowTargets& rows, const LanePlan& plan,
                          std::int64_t n_rows, std::int64_t stride, const double* z, double* scores,
                          const LaneNorms& norms, bool finds_intercept) {
    const auto lanes = static_cast<std::size_t>(plan.size());
    std::vector<double> b(lanes, 0.0);
    if (finds_intercept) {
        b = best_intercepts(loss, rows, plan, n_rows, stride, scores);
        for (std::int64_t i = 0; i < n_rows; ++i)
            for (std::size_t l = 0; l < lanes; ++l)
                scores[i * stride + static_cast<std::int64_t>(l)] += b[l];
    }
    RowTerms terms =
        row_terms(loss, rows, plan, n_rows, stride, z, scores, std::vector<double>(lanes, 0.0));
    for (std::size_t l = 0; l < lanes; ++l) {
        terms.loss[l] += 0.5 * norms.w[l];
        terms.dual[l] -= 0.5 * norms.v[l];
        terms.gap[l] += 0.5 * norms.away[l];
    }
    return {std::move(b), std::move(terms.loss), std::move(terms.dual), std::move(terms.gap)};
}

}  // namespace separable
