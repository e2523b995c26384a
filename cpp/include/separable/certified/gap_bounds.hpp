// Duality gaps of published weights with bounds on rounding, from the sizes of rows and weights.
//
//   add_errors   gaps with what errors of scores and of v = Z'z may add; the derivation is in
//                certified/duality/rounding.py
//   bound_gaps   the same with errors bounded without a pass over the rows
//
//   source  N. Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "separable/certified/dual_loss.hpp"
#include "separable/certified/gap_model.hpp"
#include "separable/certified/lane_targets.hpp"
#include "separable/certified/row_terms.hpp"

namespace separable {

constexpr double kUnit = 0x1p-53;     // relative error of one rounded operation
constexpr double kExtraSteps = 8;     // of a score beside its products: shift, scale, intercept, y
constexpr double kCompensated = 4;    // rounded operations of a compensated sum of any length
constexpr double kSeriesRatio = 1e7;  // gaps below the variance times its inverse have a series

// Bounds on the errors of what a gap is computed from, of one lane.
struct LaneErrors {
    double score;            // of any score
    double vector, largest;  // |error of v|, and of any of its numbers
    double imbalance;        // |sum z|, which should be 0
    double scores_within;    // the largest score
    double weights;          // |u|
};

// The gap of one lane: `more` and `unbalanced` are those of gap_errors, 0 if classes are joint.
inline double add_errors(const GapModel& model, std::int64_t n_rows, double cost, double plain,
                         double primal, double more, double unbalanced, const LaneErrors& error) {
    double gap = plain * (1 + kUnit * static_cast<double>(n_rows)) + more, away = 0;
    if (model.is_joint) unbalanced = 2 * error.imbalance;
    if (model.curvature >= 0) away = error.score * std::sqrt(0.5 * model.curvature * cost);
    if (model.is_penalised && model.l2 > 0) {
        const double vector =
            error.vector + error.imbalance * model.length + 2 * kUnit * model.l2 * error.weights;
        away = std::hypot(away, vector / std::sqrt(2 * model.l2));
    } else if (model.is_penalised) {  // z has to be scaled down until |v_j| <= l1 exactly
        gap += (error.largest + error.imbalance * model.largest) / model.l1 * primal;
    }
    const double root = std::sqrt(gap) + away;
    gap = root * root + unbalanced;
    if (model.has_logarithms) {  // rows that are not close enough for a series
        const double within = error.scores_within;
        const double apart = model.is_joint ? 1 : std::exp(std::min(within, 700.0));
        gap += 32 * kUnit * std::min(primal, kSeriesRatio * apart * (2 + 2 * within) * plain);
    }
    return gap + 6 * kUnit * primal;
}

// sum_i c_i of each lane.
inline std::vector<double> total_costs(const RowTargets& rows, const LanePlan& plan,
                                       std::int64_t n_rows) {
    std::vector<double> totals(static_cast<std::size_t>(plan.size()), 0.0);
    for (std::size_t l = 0; l < totals.size(); ++l) {
        if (rows.weight.empty() && rows.fold.empty()) {
            totals[l] = plan.C[l] * static_cast<double>(n_rows);
            continue;
        }
        for (std::size_t i = 0; i < static_cast<std::size_t>(n_rows); ++i)
            if (rows.fold.empty() || rows.fold[i] != plan.fold[l])
                totals[l] += plan.C[l] * (rows.weight.empty() ? 1.0 : rows.weight[i]);
    }
    return totals;
}

// The sum of numbers, rounded once (J. Shewchuk, 1997).
class ExactSum {
   public:
    void add(double x) {
        std::size_t kept = 0;
        for (double y : parts_) {
            if (std::abs(x) < std::abs(y)) std::swap(x, y);
            const double high = x + y, low = y - (high - x);
            if (low != 0) parts_[kept++] = low;
            x = high;
        }
        parts_.resize(kept);
        parts_.push_back(x);
    }

    double rounded() const {
        std::size_t n = parts_.size();
        if (n == 0) return 0;
        double high = parts_[--n], low = 0;
        while (n > 0 && low == 0) {
            const double x = high, y = parts_[--n];
            high = x + y, low = y - (high - x);
        }
        // half way between two numbers, the next part decides
        if (n > 0 && low != 0 && (low < 0) == (parts_[n - 1] < 0)) {
            const double twice = 2 * low, next = high + twice;
            if (twice == next - high) high = next;
        }
        return high;
    }

   private:
    std::vector<double> parts_;
};

// b + shift.w - level of each model, rounded once; of numbers that overflow, as they sum up.
inline std::vector<double> centred_intercepts(std::int64_t n_columns, std::int64_t n_models,
                                              const double* shift, const double* w, const double* b,
                                              double level) {
    std::vector<double> centred(static_cast<std::size_t>(n_models));
    for (std::int64_t k = 0; k < n_models; ++k) {
        ExactSum sum;
        double plain = b[k] - level;
        bool is_finite = std::isfinite(b[k]);
        sum.add(-level), sum.add(b[k]);
        for (std::int64_t j = 0; j < n_columns && is_finite; ++j) {
            const double product = shift[j] * w[j * n_models + k];
            sum.add(product), sum.add(std::fma(shift[j], w[j * n_models + k], -product));
            is_finite = std::isfinite(product);
        }
        if (!is_finite)
            for (std::int64_t j = 0; j < n_columns; ++j) plain += shift[j] * w[j * n_models + k];
        centred[static_cast<std::size_t>(k)] = is_finite ? sum.rounded() : plain;
    }
    return centred;
}

// Published models: k lanes of m classes, tables [column][lane m].
struct PublishedModels {
    std::int64_t n_columns, n_models;
    const double *w, *b;          // of raw columns
    const double* intercept;      // of scaled ones, before rounding; -inf: a class that is absent
    const double *shift, *scale;  // of columns z = (x - shift) scale; null: 0 and 1
    double level;                 // taken off the target
    const double* extent;         // at least |x - shift| of each column
    double terms;                 // stored values of a row
    bool fit_intercept;
};

// |intercept as published, about the centred columns - intercept before rounding| of each model; if
// classes are joint, about the means of those present, which change no probability.
inline std::vector<double> moved_intercepts(const PublishedModels& published, bool is_joint,
                                            std::size_t m) {
    const auto models = static_cast<std::size_t>(published.n_models);
    const auto centred = [&](double level) {
        if (published.shift)
            return centred_intercepts(published.n_columns, published.n_models, published.shift,
                                      published.w, published.b, level);
        std::vector<double> plain(published.b, published.b + models);
        for (double& each : plain) each -= level;
        return plain;
    };
    const auto mean = [&](const double* values, std::size_t first) {
        double sum = 0, present = 0;
        for (std::size_t k = first; k < first + m; ++k)
            if (std::isfinite(published.intercept[k])) sum += values[k], present += 1;
        return sum / present;
    };
    std::vector<double> moved = centred(published.level);
    if (is_joint) moved = centred(mean(moved.data(), 0));
    for (std::size_t l = 0; l < models; l += m) {
        const double middle = is_joint ? mean(published.intercept, l) : 0.0;
        for (std::size_t k = l; k < l + m; ++k)
            moved[k] = std::abs(moved[k] - (published.intercept[k] - middle));
    }
    return moved;
}

// Returns gaps, and what rounding may change the primal by, to first order.
inline std::pair<std::vector<double>, std::vector<double>> bound_gaps(
    const GapModel& model, const TileLoss& loss, const RowTargets& rows, const LanePlan& plan,
    std::int64_t n_rows, const double* z, const double* scores, const PublishedModels& published,
    const double* gap, const double* primal) {
    const auto lanes = static_cast<std::size_t>(plan.size());
    const auto models = static_cast<std::size_t>(published.n_models), m = models / lanes;
    std::vector<double> square(models), product(models);
    for (std::int64_t j = 0; j < published.n_columns; ++j) {
        const double* w = published.w + j * published.n_models;
        const double scale = published.scale ? published.scale[j] : 1.0;
        for (std::size_t l = 0; l < models; ++l) {
            const double u = scale > 0 ? w[l] / scale : 0.0;
            square[l] += u * u;
            product[l] += published.extent[j] * std::abs(w[l]);
        }
    }
    const std::vector<double> moved_by = moved_intercepts(published, model.is_joint, m);
    const RowSizes sizes = row_sizes(n_rows, published.n_models, z, scores);
    double target = 0;
    for (const double y : rows.number) target = std::max(target, std::abs(y));
    std::vector<LaneErrors> errors(lanes);
    std::vector<double> score(lanes), imbalance(lanes), moved(lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
        double away = 0, mass = 0, most = 0, offset = 0, weights = 0;
        LaneErrors& error = errors[l];
        error = {};
        for (std::size_t k = l * m; k < (l + 1) * m; ++k) {
            mass += sizes.mass[k], error.imbalance += sizes.imbalance[k];
            error.scores_within = std::max(error.scores_within, sizes.largest[k]);
            if (model.is_joint && !std::isfinite(published.intercept[k])) continue;
            away = std::max(away, moved_by[k]);
            offset = std::max(offset, std::abs(published.intercept[k]));
            weights += square[k];
            most = std::max(most, std::min(product[k], model.length * std::sqrt(square[k])));
        }
        const auto n = static_cast<double>(n_rows);
        error.score = kUnit * ((published.terms + kExtraSteps) * most + 2 * target +
                               kExtraSteps * (error.scores_within + offset)) +
                      away;
        const double sums = kUnit * (n + kExtraSteps) * mass;
        error.vector = sums * model.length, error.largest = sums * model.largest;
        error.imbalance += kUnit * kCompensated * mass;
        if (!published.fit_intercept) error.imbalance = 0;
        error.weights = std::sqrt(weights);
        score[l] = error.score, imbalance[l] = error.imbalance, moved[l] = error.score * mass;
    }
    std::vector<double> costs(lanes), bounds(lanes);
    GapErrors rest{{}, std::vector<double>(lanes), std::vector<double>(lanes)};
    if (model.curvature >= 0) costs = total_costs(rows, plan, n_rows);
    if (!model.is_joint)
        rest = gap_errors(loss, rows, plan, n_rows, z, scores, false, score.data(), true,
                          imbalance.data());
    for (std::size_t l = 0; l < lanes; ++l)
        bounds[l] = add_errors(model, n_rows, costs[l], gap[l], primal[l], rest.more[l],
                               rest.unbalanced[l], errors[l]);
    return {std::move(bounds), std::move(moved)};
}

}  // namespace separable
