// Coordinate descent on the quadratic model of a sum of losses with an elastic-net penalty.
//
//   problem    min over v, db of  sum_i (g_i t_i + h_i t_i^2 / 2)
//                                 + sum_j (l1_j |v_j| + l2_j v_j^2 / 2),
//              t = sum_j (v_j - w_j) x_j + db, and v_j >= 0 on request
//   given      columns x_j, gradients g and curvatures h of the rows, weights w, the active columns
//   returns    v and db
//
//   The intercept is eliminated: each change of v_j by e changes db by -e m_j, m_j the mean of
//   column j under weights h, so that the gradients always sum to 0. With
//   q_i = g_i + h_i (t_i - db):
//
//   1. gradient  p = sum_i x_ij q_i + db sum_i h_i x_ij + l2_j v_j
//   2. minimum   v_j <- soft(a v_j - p, l1_j) / a,  a = sum h x^2 - (sum h x)^2 / sum h + l2_j
//   3. update    q_i += e h_i x_ij,  db -= e m_j
//
//   When the sweeps have cost as much as solving the normal equations of the support, these are
//   solved instead, up to the first v_j that becomes 0; or those of the few columns that sweeps
//   still change.
//
// Source: Friedman, Hastie, Tibshirani 2010 (coordinate descent for generalised linear models).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "separable/certified/coordinate_products.hpp"
#include "separable/data/rows.hpp"
#include "separable/math/cholesky.hpp"

namespace separable {

// The penalty of a weight at one C.
struct ElasticNetPenalty {
    std::span<const double> l1, l2;  // by column
    double scale = 1;                // of both
    bool positive = false;

    double l1_weight(std::int64_t j) const { return scale * l1[static_cast<std::size_t>(j)]; }
    double l2_weight(std::int64_t j) const { return scale * l2[static_cast<std::size_t>(j)]; }

    // The v that minimises a (v - to)^2 / 2 + l1_weight |v|: soft-thresholding.
    double prox(double a, double to, double l1_weight) const {
        const double by = l1_weight / a;
        if (to > by) return to - by;
        return to < -by && !positive ? to + by : 0.0;
    }
    double operator()(std::int64_t j, double v) const {
        return l1_weight(j) * std::abs(v) + 0.5 * l2_weight(j) * v * v;
    }
    // The violation of the optimality condition of a weight, given the gradient of the loss.
    double violation(std::int64_t j, double v, double gradient) const {
        const double p = gradient + l2_weight(j) * v, l1_j = l1_weight(j);
        if (v != 0) return std::abs(p + (v > 0 ? l1_j : -l1_j));
        return std::max(0.0, (positive ? -p : std::abs(p)) - l1_j);
    }
};

class QuadraticModel {
   public:
    // count_work(numbers) is called with the numbers read since the last call; it may throw.
    QuadraticModel(const Columns& columns, bool fit_intercept,
                   std::function<void(std::int64_t)> count_work)
        : x_(columns),
          fit_intercept_(fit_intercept),
          count_work_(std::move(count_work)),
          q_(static_cast<std::size_t>(columns.n_rows)),
          first_(static_cast<std::size_t>(columns.n_columns)),
          curvature_(static_cast<std::size_t>(columns.n_columns)) {}

    // A new model: gradients and curvatures of the rows, and the active columns.
    void begin(const std::vector<double>& g, const std::vector<double>& h,
               const std::vector<std::int64_t>& active) {
        h_ = h.data();
        q_ = g;
        total_ = 0;
        is_solved_ = false;
        for (const double one : h) total_ += one;
        offset_ = 0;
        values_ = 0;
        for (const std::int64_t j : active) {
            const auto column = x_[j];
            const ColumnMoments sums = moments(column, h_);
            const double mean = mean_of(sums.first);
            first_[at(j)] = sums.first;
            curvature_[at(j)] = std::max(sums.second - mean * sums.first, kSmallest * sums.second);
            values_ += column.size();
        }
    }

    // One pass over the columns; returns the largest gradient that it removed. `changing` becomes
    // the columns of which it removed more than `small`.
    double sweep(const ElasticNetPenalty& penalty, const std::vector<std::int64_t>& active,
                 double small, std::vector<double>& v, std::vector<std::int64_t>& changing) {
        double largest = 0;
        changing.clear();
        for (const std::int64_t j : active) {
            const auto column = x_[j];
            double& weight = v[at(j)];
            const double a = std::max(curvature_[at(j)] + penalty.l2_weight(j), kTiny);
            const double p = dot(column, q_.data()) + offset_ * first_[at(j)] +
                             penalty.l2_weight(j) * weight;                             // 1
            const double next = penalty.prox(a, weight - p / a, penalty.l1_weight(j));  // 2
            if (next == weight) continue;
            change(j, next - weight);  // 3
            const double removed = a * std::abs(next - weight);
            if (removed > small) changing.push_back(j);
            largest = std::max(largest, removed);
            weight = next;
        }
        work_ += 2 * values_;
        return largest;
    }

    // Whether sweeps since the last solve_support() have cost as much as another one.
    bool can_afford_solve(const std::vector<std::int64_t>& active,
                          const std::vector<double>& v) const {
        std::int64_t m = 0, values = 0;
        for (const std::int64_t j : active)
            if (v[at(j)] != 0) ++m, values += x_[j].size();
        return m > 0 && m <= kMaxEquations &&
               ((is_solved_ && m <= kFewEquations) || work_ >= m * (values / 2 + m * m / 12));
    }

    // Solve the normal equations of the support; returns whether no weight became 0.
    bool solve_support(const ElasticNetPenalty& penalty, const std::vector<std::int64_t>& active,
                       std::vector<double>& v) {
        std::vector<std::int64_t> support;
        for (const std::int64_t j : active)
            if (v[at(j)] != 0) support.push_back(j);
        const std::size_t m = support.size();
        const std::vector<double> matrix = curvature_of(support, penalty);
        std::vector<double> r(m), gradient(m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[k];
            gradient[k] = dot(x_[j], q_.data()) + offset_ * first_[at(j)] +
                          penalty.l2_weight(j) * v[at(j)] +
                          (v[at(j)] > 0 ? penalty.l1_weight(j) : -penalty.l1_weight(j));
        }
        std::vector<std::size_t> chosen(m);
        for (std::size_t k = 0; k < m; ++k) chosen[k] = k;
        bool is_full_step = true;
        while (!chosen.empty()) {
            r.resize(chosen.size());
            for (std::size_t k = 0; k < chosen.size(); ++k) r[k] = -gradient[chosen[k]];
            factor_of(matrix, support, chosen, penalty).solve(r);
            count_work_(static_cast<std::int64_t>(r.size() * r.size() * r.size() / 6));
            double length = 1;
            for (const double one : r)
                if (!std::isfinite(one)) return false;
            for (std::size_t k = 0; k < chosen.size(); ++k) {
                const double now = v[at(support[chosen[k]])];
                if (now * (now + r[k]) <= 0) length = std::min(length, -now / r[k]);
            }
            std::vector<std::size_t> left;
            for (std::size_t k = 0; k < chosen.size(); ++k) {
                double& weight = v[at(support[chosen[k]])];
                double next = weight + length * r[k];
                if (weight * next <= 0 || -weight / r[k] == length) next = 0;
                change(support[chosen[k]], next - weight);
                weight = next;
                if (next != 0) left.push_back(chosen[k]);
            }
            if (length == 1) break;
            is_full_step = false;
            for (double& one : gradient)
                one *= 1 - length;  // the gradient is linear along the step
            for (std::size_t k = 0; k < m; ++k)
                if (v[at(support[k])] == 0) gradient[k] = 0;
            chosen = left;
        }
        work_ = 0;
        is_solved_ = true;
        return is_full_step;
    }

    double offset() const { return offset_; }

   private:
    static constexpr double kSmallest = 1e-12;  // of a column's curvature; less is rounding
    static constexpr double kTiny = 1e-300;
    static constexpr std::int64_t kMaxEquations = 512, kFewEquations = 128;
    static constexpr std::size_t kMaxProducts = std::size_t{1} << 26;  // of columns read again

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    double mean_of(double sum) const { return fit_intercept_ && total_ > 0 ? sum / total_ : 0.0; }

    void change(std::int64_t j, double by) {
        add_curved(x_[j], by, h_, q_.data());
        offset_ -= by * mean_of(first_[at(j)]);
    }

    // X_S' H X_S without its mean, the lower triangle.
    std::vector<double> curvature_of(const std::vector<std::int64_t>& support,
                                     const ElasticNetPenalty& penalty) const {
        const std::size_t m = support.size();
        std::vector<double> matrix(m * m), weighted(q_.size());
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[k];
            const auto column = x_[j];
            add_curved(column, 1.0, h_, weighted.data());
            const double mean = mean_of(first_[at(j)]);
            for (std::size_t i = k; i < m; ++i)
                matrix[i * m + k] =
                    dot(x_[support[i]], weighted.data()) - mean * first_[at(support[i])];
            matrix[k * m + k] = curvature_[at(j)] + penalty.l2_weight(j);
            column.for_each([&](std::size_t i, double) { weighted[i] = 0; });
            count_work_(static_cast<std::int64_t>(m - k) * column.size());
        }
        return matrix;
    }

    // The factor of the normal equations. If products have lost too many digits, as those of
    // columns with a large common part, it is computed from the columns themselves.
    Cholesky factor_of(const std::vector<double>& matrix, const std::vector<std::int64_t>& support,
                       const std::vector<std::size_t>& chosen,
                       const ElasticNetPenalty& penalty) const {
        Cholesky factor(matrix, support.size(), chosen);
        const std::size_t m = chosen.size(), n = q_.size() + m;
        if (!factor.is_doubtful() || n * m * m > kMaxProducts) return factor;
        std::vector<double> columns(n * m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[chosen[k]];
            const auto column = x_[j];
            double* weight = columns.data() + k * n;
            const double mean = mean_of(first_[at(j)]);
            for (std::size_t i = 0; i < q_.size(); ++i) weight[i] = -mean * std::sqrt(h_[i]);
            column.for_each([&](std::size_t i, double x) { weight[i] += std::sqrt(h_[i]) * x; });
            weight[q_.size() + k] = std::sqrt(penalty.l2_weight(j));
        }
        return Cholesky(columns, m);
    }

    const Columns& x_;
    bool fit_intercept_;
    std::function<void(std::int64_t)> count_work_;
    std::vector<double> q_;
    std::vector<double> first_, curvature_;  // by column: sum h x, and its curvature
    const double* h_ = nullptr;
    double total_ = 0, offset_ = 0;
    std::int64_t work_ = 0, values_ = 0;
    bool is_solved_ = false;  // whether the equations of this model were solved
};

}  // namespace separable
