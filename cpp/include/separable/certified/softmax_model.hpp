// Coordinate descent on the quadratic model of softmax losses with an elastic-net penalty.
//
//   problem   min over v, o of  sum_i [g_i.t_i + c_i/2 (sum_k p_ik t_ik^2 - m_i^2)]
//                               + sum_jk (l1_j |v_jk| + l2_j v_jk^2 / 2)
//             t_ik = sum_j (v_jk - w_jk) x_ij + o_k,  m_i = sum_k p_ik t_ik
//   given     columns x_j, gradients g (n per class), costs c, probabilities p, weights w, and
//   which
//             of these may change
//   returns   v, o and t
//
//   The gradient of row i by t_ik is q_ik = g_ik + c_i p_ik (t_ik - m_i). One sweep:
//
//   1. class by class: q_k, then each weight of the class to its minimum. A change by e changes o_k
//      by -e times the mean of the column under c_i p_ik (1 - p_ik), which keeps the sum of q_k.
//   2. all o to their minimum: K equations
//   3. for each column, subtract from all K weights the number that minimises the penalty; the
//      loss does not change
//
//   When the sweeps have cost as much as solving the normal equations of the support, these are
//   solved instead, up to the first weight that becomes 0.
//
// Source: Friedman, Hastie, Tibshirani 2010 (coordinate descent; step 3 is their section 4.1).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "separable/certified/coordinate_products.hpp"
#include "separable/data/rows.hpp"
#include "separable/math/cholesky.hpp"

namespace separable {

struct SoftmaxRows {
    std::size_t n, n_classes;
    std::span<const double> c, p, g;  // p and g: n numbers of the first class, then of the next

    const double* probabilities(std::size_t k) const { return p.data() + k * n; }
    const double* gradients(std::size_t k) const { return g.data() + k * n; }
};

struct ChosenColumns {
    std::span<const std::int64_t> column;
    std::span<const double> l1, l2;  // of each

    std::size_t size() const { return column.size(); }
};

class SoftmaxModel {
   public:
    // v, (columns x classes), changes where `may_change` is not 0; t is written.
    SoftmaxModel(const Columns& columns, SoftmaxRows rows, ChosenColumns chosen, bool fit_intercept,
                 std::span<double> v, std::span<const std::uint8_t> may_change, std::span<double> t,
                 std::function<void()> poll)
        : x_(columns),
          rows_(rows),
          chosen_(chosen),
          n_(rows.n),
          K_(rows.n_classes),
          fit_intercept_(fit_intercept),
          v_(v),
          t_(t),
          poll_(std::move(poll)),
          in_(may_change.begin(), may_change.end()),
          active_(K_),
          first_(v.size()),
          curvature_(v.size(), kUnknown),
          total_(K_),
          offset_(K_),
          m_(n_),
          q_(n_),
          h_(n_),
          step_(n_) {
        std::fill(t_.begin(), t_.end(), 0.0);
        for (std::size_t a = 0; a < chosen_.size(); ++a) {
            max_step_.push_back(max_step_of(a));
            for (std::size_t k = 0; k < K_; ++k)
                if (in_[a * K_ + k]) active_[k].push_back(a);
        }
        if (fit_intercept_) find_intercept_curvature();
    }

    // One pass over the weights that may change; returns the largest gradient that it removed.
    double sweep() {
        double largest = 0;
        for (std::size_t k = 0; k < K_; ++k) largest = std::max(largest, sweep_class(k));  // 1
        if (fit_intercept_) largest = std::max(largest, solve_intercept_step());           // 2
        for (std::size_t a = 0; a < chosen_.size(); ++a) center_column(a);                 // 3
        return largest;
    }

    // Whether the work so far would have paid for solving the equations.
    bool can_afford_solve(double work) const {
        double m = 0, values = 0;
        for (std::size_t k = 0; k < K_; ++k)
            for (const std::size_t a : active_[k])
                if (v_[a * K_ + k] != 0) m += 1, values += size_of(a);
        const double cost = values * (m / 2 + static_cast<double>(K_)) + m * m * m / 3;
        return m > 0 && m <= kMaxEquations &&
               ((is_solved_ && m <= kFewEquations) || work >= kCostFraction * cost);
    }

    // Solve the normal equations of the support.
    void solve_support() {
        if (fit_intercept_) solve_intercept_step();
        std::vector<Weight> support;
        for (std::size_t k = 0; k < K_; ++k)
            for (const std::size_t a : active_[k])
                if (v_[a * K_ + k] != 0) support.push_back({a, k});
        const std::size_t m = support.size();
        std::vector<double> cross(m * K_);  // curvature by a weight and an intercept
        const std::vector<double> matrix = curvature_of(support, cross);
        std::vector<double> gradient = gradients_of(support), moved(m, 0.0), r;
        std::vector<std::size_t> chosen(m);
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        for (int drops = 0; drops < kMaxDrops && !chosen.empty(); ++drops) {
            r.resize(chosen.size());
            for (std::size_t s = 0; s < chosen.size(); ++s) r[s] = -gradient[chosen[s]];
            Cholesky(matrix, m, chosen).solve(r);
            if (!std::all_of(r.begin(), r.end(), [](double one) { return std::isfinite(one); }))
                break;
            double length = 1;
            for (std::size_t s = 0; s < chosen.size(); ++s) {
                const double now = value(support[chosen[s]]);
                if (now * (now + r[s]) <= 0) length = std::min(length, -now / r[s]);
                const double limit = max_step_[support[chosen[s]].column];
                if (std::abs(r[s]) > limit) length = std::min(length, limit / std::abs(r[s]));
            }
            std::vector<std::size_t> left;
            for (std::size_t s = 0; s < chosen.size(); ++s) {
                double& now = value(support[chosen[s]]);
                double next = now + length * r[s];
                if (now * next <= 0 || -now / r[s] == length) next = 0;
                moved[chosen[s]] += next - now;
                now = next;
                if (next != 0) left.push_back(chosen[s]);
            }
            if (length == 1) break;
            for (double& one : gradient)
                one *= 1 - length;  // the gradient is linear along the step
            chosen = left;
        }
        move(support, moved, cross);
        is_solved_ = true;
    }

    // Numbers that a sweep reads and writes.
    double work() const {
        double values = 0;
        for (std::size_t k = 0; k < K_; ++k)
            for (const std::size_t a : active_[k]) values += size_of(a);
        return 2 * values;
    }

    const std::vector<double>& offset() const { return offset_; }

   private:
    struct Weight {
        std::size_t column, of_class;
    };

    static constexpr double kUnknown = -1;
    static constexpr double kTiny = 1e-200;
    static constexpr double kMaxScoreStep =
        5;  // the largest change of a score by one step of a weight
    static constexpr double kSmallest = 1e-12;  // of a column's curvature; less is rounding
    static constexpr double kMaxEquations = 2048, kFewEquations = 64;
    static constexpr double kCostFraction =
        0.5;  // of the cost of the equations: work of sweeps before them
    static constexpr int kMaxDrops = 16;            // weights that become 0 in one solve_support()
    static constexpr std::int64_t kWork = 1 << 22;  // numbers between polls

    Column column(std::size_t a) const { return x_[chosen_.column[a]]; }
    double size_of(std::size_t a) const { return static_cast<double>(column(a).size()); }
    double& value(Weight one) { return v_[one.column * K_ + one.of_class]; }

    void count_work(std::int64_t work) {
        if ((done_ += work) > kWork) done_ = 0, poll_();
    }

    // ------------------------------------------------------------------ one class

    void find_gradients(std::size_t k) {
        const double *g = rows_.gradients(k), *p = rows_.probabilities(k), *t = t_.data() + k * n_;
        for (std::size_t i = 0; i < n_; ++i) q_[i] = g[i] + rows_.c[i] * p[i] * (t[i] - m_[i]);
    }

    void find_curvatures(std::size_t k) {
        const double* p = rows_.probabilities(k);
        total_[k] = 0;
        for (std::size_t i = 0; i < n_; ++i) total_[k] += h_[i] = rows_.c[i] * p[i] * (1 - p[i]);
    }

    double mean_of(std::size_t k, double sum) const {
        return fit_intercept_ && total_[k] > 0 ? sum / total_[k] : 0.0;
    }

    void find_moments(std::size_t a, std::size_t k) {
        const ColumnMoments sums = moments(column(a), h_.data());
        const double mean = mean_of(k, sums.first);
        first_[a * K_ + k] = sums.first;
        curvature_[a * K_ + k] = std::max(sums.second - mean * sums.first, kSmallest * sums.second);
    }

    double sweep_class(std::size_t k) {
        if (active_[k].empty()) return 0;
        find_gradients(k);
        find_curvatures(k);
        std::fill(step_.begin(), step_.end(), 0.0);
        double largest = 0, offset = 0;
        for (const std::size_t a : active_[k]) {
            const std::size_t at = a * K_ + k;
            const auto x = column(a);
            count_work(2 * x.size());
            if (curvature_[at] == kUnknown) find_moments(a, k);
            const double curvature = std::max(curvature_[at] + chosen_.l2[a], kTiny);
            const double gradient =
                dot(x, q_.data()) + offset * first_[at] + chosen_.l2[a] * v_[at];
            const double next =
                clip_step(a, v_[at], prox(curvature, v_[at] - gradient / curvature, chosen_.l1[a]));
            const double by = next - v_[at];
            if (by == 0) continue;
            add_curved(x, by, h_.data(), q_.data());
            add(x, by, step_.data());
            offset -= by * mean_of(k, first_[at]);
            v_[at] = next;
            largest = std::max(
                largest, std::min(curvature * std::abs(by), std::abs(gradient) + chosen_.l1[a]));
        }
        add_steps(k, offset);
        return largest;
    }

    // The v that minimises curvature (v - to)^2 / 2 + l1 |v|: soft-thresholding.
    static double prox(double curvature, double to, double l1) {
        const double by = l1 / curvature;
        return to > by ? to - by : to < -by ? to + by : 0.0;
    }

    // `to`, clipped to the longest step from v: confident rows have almost no curvature and do not
    // limit the step. A step to 0 is never clipped.
    double clip_step(std::size_t a, double v, double to) const {
        return to == 0 ? to : std::clamp(to, v - max_step_[a], v + max_step_[a]);
    }

    // The longest step of a weight: no score changes by more than kMaxScoreStep.
    double max_step_of(std::size_t a) const {
        const auto x = column(a);
        double largest_value = 0;
        x.for_each([&](std::size_t, double value) {
            largest_value = std::max(largest_value, std::abs(value));
        });
        return largest_value > 0 ? kMaxScoreStep / largest_value : 0.0;
    }

    // Add the steps of one class and an offset to its scores.
    void add_steps(std::size_t k, double offset) {
        const double* p = rows_.probabilities(k);
        double* t = t_.data() + k * n_;
        for (std::size_t i = 0; i < n_; ++i) {
            const double by = step_[i] + offset;
            t[i] += by;
            m_[i] += p[i] * by;
        }
        offset_[k] += offset;
    }

    // ------------------------------------------------------------------ intercepts

    void find_intercept_curvature() {
        intercept_hessian_.assign(K_ * K_, 0.0);
        double trace = 0;
        for (std::size_t k = 0; k < K_; ++k) {
            const double* p = rows_.probabilities(k);
            double sum = 0;
            for (std::size_t i = 0; i < n_; ++i) sum += h_[i] = rows_.c[i] * p[i];
            for (std::size_t l = 0; l <= k; ++l)
                intercept_hessian_[k * K_ + l] =
                    -plain_dot(static_cast<std::int64_t>(n_), h_.data(), rows_.probabilities(l));
            intercept_hessian_[k * K_ + k] += sum;
            trace += intercept_hessian_[k * K_ + k];
            count_work(static_cast<std::int64_t>(k * n_));
        }
        // equal intercepts change nothing and have no curvature: any positive one will do
        for (double& one : intercept_hessian_) one += trace / static_cast<double>(K_ * K_);
    }

    // Replaces gradients r by the intercepts that remove them.
    void solve_intercepts(std::vector<double>& r) const {
        std::vector<std::size_t> all(K_);
        std::iota(all.begin(), all.end(), std::size_t{0});
        Cholesky(intercept_hessian_, K_, all).solve(r);
    }

    double solve_intercept_step() {
        std::vector<double> r(K_);
        double largest = 0;
        for (std::size_t k = 0; k < K_; ++k) {
            find_gradients(k);
            r[k] = -std::accumulate(q_.begin(), q_.end(), 0.0);
            largest = std::max(largest, std::abs(r[k]));
        }
        solve_intercepts(r);
        shift(r);
        return largest;
    }

    void shift(const std::vector<double>& by) {
        std::fill(step_.begin(), step_.end(), 0.0);
        for (std::size_t k = 0; k < K_; ++k) add_steps(k, by[k]);
    }

    // ------------------------------------------------------------------ one column

    // Subtract from all weights of a column the number that minimises their penalty.
    void center_column(std::size_t a) {
        const double by = best_shift({v_.data() + a * K_, K_}, chosen_.l1[a], chosen_.l2[a]);
        if (by == 0) return;
        for (std::size_t k = 0; k < K_; ++k) {
            const std::size_t at = a * K_ + k;
            v_[at] = v_[at] == by ? 0.0 : v_[at] - by;
            if (v_[at] != 0 && !in_[at]) in_[at] = 1, active_[k].push_back(a);
        }
    }

    // The d that minimises sum_k l1 |v_k - d| + l2 (v_k - d)^2 / 2, preferably 0.
    double best_shift(std::span<const double> v, double l1, double l2) {
        const double n = static_cast<double>(K_), sum = std::accumulate(v.begin(), v.end(), 0.0);
        double below = 0, same = 0;
        for (const double one : v) below += one < 0, same += one == 0;
        if (std::abs(l1 * (2 * below + same - n) - l2 * sum) <= l1 * same) return 0;
        sorted_.assign(v.begin(), v.end());
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t r = 0; r < K_; ++r) {  // the derivative rises by 2 l1 at each weight
            const double d = sorted_[r];
            const double gradient = l1 * (2 * static_cast<double>(r) - n) + l2 * (n * d - sum);
            if (gradient > 0) return l2 > 0 ? d - gradient / (l2 * n) : d;
            if (gradient + 2 * l1 >= 0) return d;
        }
        return 0;
    }

    // ------------------------------------------------------------------ equations

    std::vector<double> gradients_of(const std::vector<Weight>& support) {
        std::vector<double> gradient;
        std::size_t last = K_;
        for (const Weight& one : support) {
            if (one.of_class != last) find_gradients(last = one.of_class);
            const double v = value(one), l1 = chosen_.l1[one.column];
            gradient.push_back(dot(column(one.column), q_.data()) + chosen_.l2[one.column] * v +
                               (v > 0 ? l1 : -l1));
        }
        return gradient;
    }

    // The Hessian of the support with the intercepts eliminated: the lower triangle.
    std::vector<double> curvature_of(const std::vector<Weight>& support,
                                     std::vector<double>& cross) {
        const std::size_t m = support.size();
        std::vector<double> matrix(m * m), weighted(n_, 0.0);
        for (std::size_t s = 0; s < m; ++s) {
            const auto x = column(support[s].column);
            std::size_t other = s;
            for (std::size_t l = support[s].of_class; l < K_; ++l) {
                find_weighted(support[s], l, weighted);
                for (; other < m && support[other].of_class == l; ++other) {
                    const auto y = column(support[other].column);
                    matrix[other * m + s] = dot(y, weighted.data());
                    count_work(y.size());
                }
            }
            x.for_each([&](std::size_t i, double) { weighted[i] = 0; });
            matrix[s * m + s] += chosen_.l2[support[s].column];
            if (fit_intercept_) find_cross(support[s], cross.data() + s * K_);
        }
        if (fit_intercept_) eliminate(matrix, cross, m);
        return matrix;
    }

    // x_ij times the curvature of row i by the scores of the weight's class and of class l.
    void find_weighted(Weight one, std::size_t l, std::vector<double>& weighted) const {
        const auto x = column(one.column);
        const double *own_p = rows_.probabilities(one.of_class), *p = rows_.probabilities(l);
        const double own = one.of_class == l ? 1 : 0;
        x.for_each([&](std::size_t i, double value) {
            weighted[i] = value * rows_.c[i] * own_p[i] * (own - p[i]);
        });
    }

    void find_cross(Weight one, double* cross) const {
        const auto x = column(one.column);
        const double* own_p = rows_.probabilities(one.of_class);
        std::fill(cross, cross + K_, 0.0);
        x.for_each([&](std::size_t i, double value) {
            const double h = value * rows_.c[i] * own_p[i];
            cross[one.of_class] += h;
            for (std::size_t l = 0; l < K_; ++l) cross[l] -= h * rows_.p[l * n_ + i];
        });
    }

    void eliminate(std::vector<double>& matrix, const std::vector<double>& cross, std::size_t m) {
        for (std::size_t s = 0; s < m; ++s) {
            std::vector<double> back(cross.begin() + static_cast<std::ptrdiff_t>(s * K_),
                                     cross.begin() + static_cast<std::ptrdiff_t>((s + 1) * K_));
            solve_intercepts(back);
            for (std::size_t r = s; r < m; ++r)
                matrix[r * m + s] -=
                    std::inner_product(back.begin(), back.end(), cross.data() + r * K_, 0.0);
        }
    }

    // Scores and intercepts after weights have moved.
    void move(const std::vector<Weight>& support, const std::vector<double>& moved,
              const std::vector<double>& cross) {
        std::vector<double> back(K_, 0.0);
        for (std::size_t k = 0, s = 0; k < K_; ++k) {
            std::fill(step_.begin(), step_.end(), 0.0);
            for (; s < support.size() && support[s].of_class == k; ++s) {
                if (moved[s] == 0) continue;
                add(column(support[s].column), moved[s], step_.data());
                for (std::size_t l = 0; l < K_; ++l) back[l] -= moved[s] * cross[s * K_ + l];
            }
            add_steps(k, 0.0);
        }
        if (!fit_intercept_) return;
        solve_intercepts(back);
        shift(back);
    }

    const Columns& x_;
    SoftmaxRows rows_;
    ChosenColumns chosen_;
    std::size_t n_, K_;
    bool fit_intercept_, is_solved_ = false;
    std::span<double> v_, t_;
    std::function<void()> poll_;
    std::vector<std::uint8_t> in_;                  // by weight: whether it may change
    std::vector<std::vector<std::size_t>> active_;  // by class: the columns that may change
    std::vector<double> first_, curvature_;         // by weight: sum h x, and its curvature
    std::vector<double> max_step_;                  // by column: the longest step of a weight
    std::vector<double> total_, offset_,
        intercept_hessian_;                 // by class; curvature of the intercepts
    std::vector<double> m_, q_, h_, step_;  // by row
    std::vector<double> sorted_;
    std::int64_t done_ = 0;
};

// The cost of minimising a model.
struct ModelCost {
    std::int64_t sweeps;
    double work;  // numbers read since equations were last solved
};

// Sweeps until the gradients that one removes are small. Calls callback after each.
inline ModelCost minimise(SoftmaxModel& model, double tol, ModelCost largest_value,
                          const std::function<void()>& callback) {
    ModelCost cost{0, largest_value.work};
    while (cost.sweeps < largest_value.sweeps) {
        ++cost.sweeps;
        const double moved = model.sweep();
        cost.work += model.work();
        if (callback) callback();
        if (moved <= tol) break;
        if (model.can_afford_solve(cost.work)) {
            model.solve_support();
            cost.work = 0;
        }
    }
    return cost;
}

}  // namespace separable
