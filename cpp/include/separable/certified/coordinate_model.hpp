// Coordinate descent on the quadratic model of a sum of losses, with penalties that have corners.
//
//   problem    min over v, db of  sum_i (g_i t_i + h_i t_i^2 / 2) + sum_j (l1_j |v_j| + l2_j v_j^2
//   / 2)
//              t = sum_j (v_j - w_j) x_j + db, and v_j >= 0 where weights have to be
//   given      columns x_j, slopes g and curvatures h of the rows, weights w, the columns to change
//   returns    v and db
//
//   The intercept is eliminated: each change of v_j by e changes db by -e m_j, m_j the mean of
//   column j under weights h, so that the slopes always add up to 0. With q_i = g_i + h_i (t_i -
//   db):
//
//   1. slope     p = sum_i x_ij q_i + db sum_i h_i x_ij + l2_j v_j
//   2. minimum   v_j <- soft(a v_j - p, l1_j) / a,  a = sum h x^2 - (sum h x)^2 / sum h + l2_j
//   3. update    q_i += e h_i x_ij,  db -= e m_j
//
//   When sweeps have cost as much as the equations of the columns that are not 0 would, these are
//   solved instead, up to the first v_j that comes to 0; or those of the columns that sweeps still
//   change much, which are few that go together.
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

// Of one strength: what a weight costs.
struct CornerPenalty {
    std::span<const double> l1, l2;  // by column
    double scale = 1;                // of both
    bool positive = false;

    double corner(std::int64_t j) const { return scale * l1[static_cast<std::size_t>(j)]; }
    double curve(std::int64_t j) const { return scale * l2[static_cast<std::size_t>(j)]; }

    // The v that minimises a (v - to)^2 / 2 + corner |v|.
    double nearest(double a, double to, double corner) const {
        const double by = corner / a;
        if (to > by) return to - by;
        return to < -by && !positive ? to + by : 0.0;
    }
    double operator()(std::int64_t j, double v) const {
        return corner(j) * std::abs(v) + 0.5 * curve(j) * v * v;
    }
    // How far from optimal a weight is whose loss has this slope.
    double violation(std::int64_t j, double v, double slope) const {
        const double p = slope + curve(j) * v, corner_ = corner(j);
        if (v != 0) return std::abs(p + (v > 0 ? corner_ : -corner_));
        return std::max(0.0, (positive ? -p : std::abs(p)) - corner_);
    }
};

class CoordinateModel {
   public:
    // rest(numbers) is called with the numbers read since; it may throw.
    CoordinateModel(const Columns& columns, bool fit_intercept,
                    std::function<void(std::int64_t)> rest)
        : x_(columns),
          fit_intercept_(fit_intercept),
          rest_(std::move(rest)),
          q_(static_cast<std::size_t>(columns.n_rows)),
          first_(static_cast<std::size_t>(columns.n_columns)),
          curve_(static_cast<std::size_t>(columns.n_columns)) {}

    // A new model: slopes and curvatures of the rows, and the columns that may change.
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
            curve_[at(j)] = std::max(sums.second - mean * sums.first, kSmallest * sums.second);
            values_ += column.size();
        }
    }

    // One pass over the columns; returns the largest slope that it took away. `restless` become the
    // columns of which it took away more than `still`.
    double sweep(const CornerPenalty& penalty, const std::vector<std::int64_t>& active,
                 double still, std::vector<double>& v, std::vector<std::int64_t>& restless) {
        double largest = 0;
        restless.clear();
        for (const std::int64_t j : active) {
            const auto column = x_[j];
            double& mine = v[at(j)];
            const double a = std::max(curve_[at(j)] + penalty.curve(j), kTiny);
            const double p =
                dot(column, q_.data()) + offset_ * first_[at(j)] + penalty.curve(j) * mine;  // 1
            const double next = penalty.nearest(a, mine - p / a, penalty.corner(j));         // 2
            if (next == mine) continue;
            change(j, next - mine);  // 3
            const double taken = a * std::abs(next - mine);
            if (taken > still) restless.push_back(j);
            largest = std::max(largest, taken);
            mine = next;
        }
        work_ += 2 * values_;
        return largest;
    }

    // Whether sweeps since the last exact() have cost as much as another would.
    bool is_worth_equations(const std::vector<std::int64_t>& active,
                            const std::vector<double>& v) const {
        std::int64_t m = 0, values = 0;
        for (const std::int64_t j : active)
            if (v[at(j)] != 0) ++m, values += x_[j].size();
        return m > 0 && m <= kMostEquations &&
               ((is_solved_ && m <= kFewEquations) || work_ >= m * (values / 2 + m * m / 12));
    }

    // Solve the equations of the columns that are not 0; returns whether no weight came to 0.
    bool exact(const CornerPenalty& penalty, const std::vector<std::int64_t>& active,
               std::vector<double>& v) {
        std::vector<std::int64_t> support;
        for (const std::int64_t j : active)
            if (v[at(j)] != 0) support.push_back(j);
        const std::size_t m = support.size();
        const std::vector<double> matrix = curvature_of(support, penalty);
        std::vector<double> r(m), slope(m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[k];
            slope[k] = dot(x_[j], q_.data()) + offset_ * first_[at(j)] +
                       penalty.curve(j) * v[at(j)] +
                       (v[at(j)] > 0 ? penalty.corner(j) : -penalty.corner(j));
        }
        std::vector<std::size_t> chosen(m);
        for (std::size_t k = 0; k < m; ++k) chosen[k] = k;
        bool is_whole = true;
        while (!chosen.empty()) {
            r.resize(chosen.size());
            for (std::size_t k = 0; k < chosen.size(); ++k) r[k] = -slope[chosen[k]];
            factor_of(matrix, support, chosen, penalty).solve(r);
            rest_(static_cast<std::int64_t>(r.size() * r.size() * r.size() / 6));
            double length = 1;
            for (const double one : r)
                if (!std::isfinite(one)) return false;
            for (std::size_t k = 0; k < chosen.size(); ++k) {
                const double now = v[at(support[chosen[k]])];
                if (now * (now + r[k]) <= 0) length = std::min(length, -now / r[k]);
            }
            std::vector<std::size_t> left;
            for (std::size_t k = 0; k < chosen.size(); ++k) {
                double& mine = v[at(support[chosen[k]])];
                double next = mine + length * r[k];
                if (mine * next <= 0 || -mine / r[k] == length) next = 0;
                change(support[chosen[k]], next - mine);
                mine = next;
                if (next != 0) left.push_back(chosen[k]);
            }
            if (length == 1) break;
            is_whole = false;
            for (double& one : slope) one *= 1 - length;  // the way there is straight
            for (std::size_t k = 0; k < m; ++k)
                if (v[at(support[k])] == 0) slope[k] = 0;
            chosen = left;
        }
        work_ = 0;
        is_solved_ = true;
        return is_whole;
    }

    double offset() const { return offset_; }

   private:
    static constexpr double kSmallest = 1e-12;  // of a column's curvature; less is rounding
    static constexpr double kTiny = 1e-300;
    static constexpr std::int64_t kMostEquations = 512, kFewEquations = 128;
    static constexpr std::size_t kMostProducts = std::size_t{1} << 26;  // of columns read again

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    double mean_of(double sum) const { return fit_intercept_ && total_ > 0 ? sum / total_ : 0.0; }

    void change(std::int64_t j, double by) {
        add_curved(x_[j], by, h_, q_.data());
        offset_ -= by * mean_of(first_[at(j)]);
    }

    // X_S' H X_S without its mean, the lower triangle.
    std::vector<double> curvature_of(const std::vector<std::int64_t>& support,
                                     const CornerPenalty& penalty) const {
        const std::size_t m = support.size();
        std::vector<double> matrix(m * m), spread(q_.size());
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[k];
            const auto column = x_[j];
            add_curved(column, 1.0, h_, spread.data());
            const double mean = mean_of(first_[at(j)]);
            for (std::size_t i = k; i < m; ++i)
                matrix[i * m + k] =
                    dot(x_[support[i]], spread.data()) - mean * first_[at(support[i])];
            matrix[k * m + k] = curve_[at(j)] + penalty.curve(j);
            column.for_each([&](std::size_t i, double) { spread[i] = 0; });
            rest_(static_cast<std::int64_t>(m - k) * column.size());
        }
        return matrix;
    }

    // The factor of the equations of some columns; where their products have lost too many digits,
    // as those of columns with a large common part, it is taken from the columns themselves.
    Cholesky factor_of(const std::vector<double>& matrix, const std::vector<std::int64_t>& support,
                       const std::vector<std::size_t>& chosen, const CornerPenalty& penalty) const {
        Cholesky factor(matrix, support.size(), chosen);
        const std::size_t m = chosen.size(), n = q_.size() + m;
        if (!factor.is_doubtful() || n * m * m > kMostProducts) return factor;
        std::vector<double> columns(n * m);
        for (std::size_t k = 0; k < m; ++k) {
            const std::int64_t j = support[chosen[k]];
            const auto column = x_[j];
            double* mine = columns.data() + k * n;
            const double mean = mean_of(first_[at(j)]);
            for (std::size_t i = 0; i < q_.size(); ++i) mine[i] = -mean * std::sqrt(h_[i]);
            column.for_each([&](std::size_t i, double x) { mine[i] += std::sqrt(h_[i]) * x; });
            mine[q_.size() + k] = std::sqrt(penalty.curve(j));
        }
        return Cholesky(columns, m);
    }

    const Columns& x_;
    bool fit_intercept_;
    std::function<void(std::int64_t)> rest_;
    std::vector<double> q_;
    std::vector<double> first_, curve_;  // by column: sum h x, and its curvature
    const double* h_ = nullptr;
    double total_ = 0, offset_ = 0;
    std::int64_t work_ = 0, values_ = 0;
    bool is_solved_ = false;  // equations of this model
};

}  // namespace separable
