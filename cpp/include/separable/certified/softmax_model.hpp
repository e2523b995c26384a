// Coordinate descent on the quadratic model of softmax losses, with penalties that have corners.
//
//   problem   min over v, o of  sum_i [g_i.t_i + c_i/2 (sum_k p_ik t_ik^2 - m_i^2)]
//                               + sum_jk (l1_j |v_jk| + l2_j v_jk^2 / 2)
//             t_ik = sum_j (v_jk - w_jk) x_ij + o_k,  m_i = sum_k p_ik t_ik
//   given     columns x_j, slopes g (n numbers a class), costs c, probabilities p, weights w, and
//             which of these may change
//   returns   v, o and t
//
//   The slope of row i by t_ik is q_ik = g_ik + c_i p_ik (t_ik - m_i). One sweep:
//
//   1. class by class: q_k, then each weight of it to its minimum. A change by e changes o_k by
//      -e times the mean of the column under c_i p_ik (1 - p_ik), which keeps the sum of q_k.
//   2. all o to their minimum: K equations
//   3. of each column the number whose subtraction from all K weights, which changes no loss,
//      makes the penalty least
//
//   When sweeps have cost as much as the equations of the weights that are not 0 would, these are
//   solved instead, up to the first weight that comes to 0.
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

    const double* shares(std::size_t k) const { return p.data() + k * n; }
    const double* slopes(std::size_t k) const { return g.data() + k * n; }
};

struct ChosenColumns {
    std::span<const std::int64_t> column;
    std::span<const double> l1, l2;  // of each

    std::size_t size() const { return column.size(); }
};

class SoftmaxModel {
   public:
    // v, (columns x classes), changes where `may` is not 0; t is written.
    SoftmaxModel(const Columns& columns, SoftmaxRows rows, ChosenColumns chosen, bool fit_intercept,
                 std::span<double> v, std::span<const std::uint8_t> may, std::span<double> t,
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
          in_(may.begin(), may.end()),
          active_(K_),
          first_(v.size()),
          curve_(v.size(), kUnknown),
          total_(K_),
          offset_(K_),
          m_(n_),
          q_(n_),
          h_(n_),
          step_(n_) {
        std::fill(t_.begin(), t_.end(), 0.0);
        for (std::size_t a = 0; a < chosen_.size(); ++a) {
            reach_.push_back(reach_of(a));
            for (std::size_t k = 0; k < K_; ++k)
                if (in_[a * K_ + k]) active_[k].push_back(a);
        }
        if (fit_intercept_) find_intercept_curvature();
    }

    // One pass over the weights that may change; returns the largest slope that it took away.
    double sweep() {
        double largest = 0;
        for (std::size_t k = 0; k < K_; ++k) largest = std::max(largest, sweep_class(k));  // 1
        if (fit_intercept_) largest = std::max(largest, balance());                        // 2
        for (std::size_t a = 0; a < chosen_.size(); ++a) level(a);                         // 3
        return largest;
    }

    // Whether work would have been enough for the equations.
    bool is_worth_equations(double work) const {
        double m = 0, values = 0;
        for (std::size_t k = 0; k < K_; ++k)
            for (const std::size_t a : active_[k])
                if (v_[a * K_ + k] != 0) m += 1, values += size_of(a);
        const double cost = values * (m / 2 + static_cast<double>(K_)) + m * m * m / 3;
        return m > 0 && m <= kMostEquations &&
               ((is_solved_ && m <= kFewEquations) || work >= kShare * cost);
    }

    // Solve the equations of the weights that are not 0.
    void exact() {
        if (fit_intercept_) balance();
        std::vector<Weight> support;
        for (std::size_t k = 0; k < K_; ++k)
            for (const std::size_t a : active_[k])
                if (v_[a * K_ + k] != 0) support.push_back({a, k});
        const std::size_t m = support.size();
        std::vector<double> along(m * K_);  // curvature by a weight and an intercept
        const std::vector<double> matrix = curvature_of(support, along);
        std::vector<double> slope = slopes_of(support), moved(m, 0.0), r;
        std::vector<std::size_t> chosen(m);
        std::iota(chosen.begin(), chosen.end(), std::size_t{0});
        for (int drops = 0; drops < kMostDrops && !chosen.empty(); ++drops) {
            r.resize(chosen.size());
            for (std::size_t s = 0; s < chosen.size(); ++s) r[s] = -slope[chosen[s]];
            Cholesky(matrix, m, chosen).solve(r);
            if (!std::all_of(r.begin(), r.end(), [](double one) { return std::isfinite(one); }))
                break;
            double length = 1;
            for (std::size_t s = 0; s < chosen.size(); ++s) {
                const double now = value(support[chosen[s]]);
                if (now * (now + r[s]) <= 0) length = std::min(length, -now / r[s]);
                const double reach = reach_[support[chosen[s]].column];
                if (std::abs(r[s]) > reach) length = std::min(length, reach / std::abs(r[s]));
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
            for (double& one : slope) one *= 1 - length;  // the way there is straight
            chosen = left;
        }
        move(support, moved, along);
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
    static constexpr double kFarthest = 5;      // that one step of a weight moves a score
    static constexpr double kSmallest = 1e-12;  // of a column's curvature; less is rounding
    static constexpr double kMostEquations = 2048, kFewEquations = 64;
    static constexpr double kShare = 0.5;  // of what equations cost: work that sweeps may do first
    static constexpr int kMostDrops = 16;  // weights that come to 0 in one exact()
    static constexpr std::int64_t kWork = 1 << 22;  // numbers between polls

    Column column(std::size_t a) const { return x_[chosen_.column[a]]; }
    double size_of(std::size_t a) const { return static_cast<double>(column(a).size()); }
    double& value(Weight one) { return v_[one.column * K_ + one.of_class]; }

    void rest(std::int64_t work) {
        if ((done_ += work) > kWork) done_ = 0, poll_();
    }

    // ------------------------------------------------------------------ one class

    void find_slopes(std::size_t k) {
        const double *g = rows_.slopes(k), *p = rows_.shares(k), *t = t_.data() + k * n_;
        for (std::size_t i = 0; i < n_; ++i) q_[i] = g[i] + rows_.c[i] * p[i] * (t[i] - m_[i]);
    }

    void find_curvatures(std::size_t k) {
        const double* p = rows_.shares(k);
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
        curve_[a * K_ + k] = std::max(sums.second - mean * sums.first, kSmallest * sums.second);
    }

    double sweep_class(std::size_t k) {
        if (active_[k].empty()) return 0;
        find_slopes(k);
        find_curvatures(k);
        std::fill(step_.begin(), step_.end(), 0.0);
        double largest = 0, offset = 0;
        for (const std::size_t a : active_[k]) {
            const std::size_t at = a * K_ + k;
            const auto x = column(a);
            rest(2 * x.size());
            if (curve_[at] == kUnknown) find_moments(a, k);
            const double curve = std::max(curve_[at] + chosen_.l2[a], kTiny);
            const double slope = dot(x, q_.data()) + offset * first_[at] + chosen_.l2[a] * v_[at];
            const double next =
                within(a, v_[at], nearest(curve, v_[at] - slope / curve, chosen_.l1[a]));
            const double by = next - v_[at];
            if (by == 0) continue;
            add_curved(x, by, h_.data(), q_.data());
            add(x, by, step_.data());
            offset -= by * mean_of(k, first_[at]);
            v_[at] = next;
            largest =
                std::max(largest, std::min(curve * std::abs(by), std::abs(slope) + chosen_.l1[a]));
        }
        take(k, offset);
        return largest;
    }

    // The v that minimises curve (v - to)^2 / 2 + corner |v|.
    static double nearest(double curve, double to, double corner) {
        const double by = corner / curve;
        return to > by ? to - by : to < -by ? to + by : 0.0;
    }

    // The number next to `to` that is not too far from v: rows that are sure have no curvature, and
    // say nothing of how far to go. 0 is never too far.
    double within(std::size_t a, double v, double to) const {
        return to == 0 ? to : std::clamp(to, v - reach_[a], v + reach_[a]);
    }

    // How far a weight goes in one step: no score changes by more than kFarthest.
    double reach_of(std::size_t a) const {
        const auto x = column(a);
        double most = 0;
        x.for_each([&](std::size_t, double value) { most = std::max(most, std::abs(value)); });
        return most > 0 ? kFarthest / most : 0.0;
    }

    // Add the steps of one class, and a number, to its scores.
    void take(std::size_t k, double offset) {
        const double* p = rows_.shares(k);
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
        balance_.assign(K_ * K_, 0.0);
        double trace = 0;
        for (std::size_t k = 0; k < K_; ++k) {
            const double* p = rows_.shares(k);
            double sum = 0;
            for (std::size_t i = 0; i < n_; ++i) sum += h_[i] = rows_.c[i] * p[i];
            for (std::size_t l = 0; l <= k; ++l)
                balance_[k * K_ + l] =
                    -plain_dot(static_cast<std::int64_t>(n_), h_.data(), rows_.shares(l));
            balance_[k * K_ + k] += sum;
            trace += balance_[k * K_ + k];
            rest(static_cast<std::int64_t>(k * n_));
        }
        // equal intercepts change nothing, and have no curvature: any does
        for (double& one : balance_) one += trace / static_cast<double>(K_ * K_);
    }

    // r becomes the intercepts that take away slopes r.
    void solve_intercepts(std::vector<double>& r) const {
        std::vector<std::size_t> all(K_);
        std::iota(all.begin(), all.end(), std::size_t{0});
        Cholesky(balance_, K_, all).solve(r);
    }

    double balance() {
        std::vector<double> r(K_);
        double largest = 0;
        for (std::size_t k = 0; k < K_; ++k) {
            find_slopes(k);
            r[k] = -std::accumulate(q_.begin(), q_.end(), 0.0);
            largest = std::max(largest, std::abs(r[k]));
        }
        solve_intercepts(r);
        shift(r);
        return largest;
    }

    void shift(const std::vector<double>& by) {
        std::fill(step_.begin(), step_.end(), 0.0);
        for (std::size_t k = 0; k < K_; ++k) take(k, by[k]);
    }

    // ------------------------------------------------------------------ one column

    // Subtract from all weights of a column what makes their penalty least.
    void level(std::size_t a) {
        const double by = middle({v_.data() + a * K_, K_}, chosen_.l1[a], chosen_.l2[a]);
        if (by == 0) return;
        for (std::size_t k = 0; k < K_; ++k) {
            const std::size_t at = a * K_ + k;
            v_[at] = v_[at] == by ? 0.0 : v_[at] - by;
            if (v_[at] != 0 && !in_[at]) in_[at] = 1, active_[k].push_back(a);
        }
    }

    // The d that minimises sum_k l1 |v_k - d| + l2 (v_k - d)^2 / 2: 0 where that does.
    double middle(std::span<const double> v, double l1, double l2) {
        const double n = static_cast<double>(K_), sum = std::accumulate(v.begin(), v.end(), 0.0);
        double below = 0, same = 0;
        for (const double one : v) below += one < 0, same += one == 0;
        if (std::abs(l1 * (2 * below + same - n) - l2 * sum) <= l1 * same) return 0;
        sorted_.assign(v.begin(), v.end());
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t r = 0; r < K_; ++r) {  // the slope grows with d, by 2 l1 at each weight
            const double d = sorted_[r];
            const double slope = l1 * (2 * static_cast<double>(r) - n) + l2 * (n * d - sum);
            if (slope > 0) return l2 > 0 ? d - slope / (l2 * n) : d;
            if (slope + 2 * l1 >= 0) return d;
        }
        return 0;
    }

    // ------------------------------------------------------------------ equations

    std::vector<double> slopes_of(const std::vector<Weight>& support) {
        std::vector<double> slope;
        std::size_t last = K_;
        for (const Weight& one : support) {
            if (one.of_class != last) find_slopes(last = one.of_class);
            const double v = value(one), l1 = chosen_.l1[one.column];
            slope.push_back(dot(column(one.column), q_.data()) + chosen_.l2[one.column] * v +
                            (v > 0 ? l1 : -l1));
        }
        return slope;
    }

    // The curvature of some weights, of which the intercepts are eliminated: the lower triangle.
    std::vector<double> curvature_of(const std::vector<Weight>& support,
                                     std::vector<double>& along) {
        const std::size_t m = support.size();
        std::vector<double> matrix(m * m), spread(n_, 0.0);
        for (std::size_t s = 0; s < m; ++s) {
            const auto x = column(support[s].column);
            std::size_t other = s;
            for (std::size_t l = support[s].of_class; l < K_; ++l) {
                find_spread(support[s], l, spread);
                for (; other < m && support[other].of_class == l; ++other) {
                    const auto y = column(support[other].column);
                    matrix[other * m + s] = dot(y, spread.data());
                    rest(y.size());
                }
            }
            x.for_each([&](std::size_t i, double) { spread[i] = 0; });
            matrix[s * m + s] += chosen_.l2[support[s].column];
            if (fit_intercept_) find_along(support[s], along.data() + s * K_);
        }
        if (fit_intercept_) eliminate(matrix, along, m);
        return matrix;
    }

    // x_ij times the curvature of row i by the scores of the weight's class and of class l.
    void find_spread(Weight one, std::size_t l, std::vector<double>& spread) const {
        const auto x = column(one.column);
        const double *mine = rows_.shares(one.of_class), *p = rows_.shares(l);
        const double own = one.of_class == l ? 1 : 0;
        x.for_each([&](std::size_t i, double value) {
            spread[i] = value * rows_.c[i] * mine[i] * (own - p[i]);
        });
    }

    void find_along(Weight one, double* along) const {
        const auto x = column(one.column);
        const double* mine = rows_.shares(one.of_class);
        std::fill(along, along + K_, 0.0);
        x.for_each([&](std::size_t i, double value) {
            const double h = value * rows_.c[i] * mine[i];
            along[one.of_class] += h;
            for (std::size_t l = 0; l < K_; ++l) along[l] -= h * rows_.p[l * n_ + i];
        });
    }

    void eliminate(std::vector<double>& matrix, const std::vector<double>& along, std::size_t m) {
        for (std::size_t s = 0; s < m; ++s) {
            std::vector<double> back(along.begin() + static_cast<std::ptrdiff_t>(s * K_),
                                     along.begin() + static_cast<std::ptrdiff_t>((s + 1) * K_));
            solve_intercepts(back);
            for (std::size_t r = s; r < m; ++r)
                matrix[r * m + s] -=
                    std::inner_product(back.begin(), back.end(), along.data() + r * K_, 0.0);
        }
    }

    // Scores and intercepts after weights have moved.
    void move(const std::vector<Weight>& support, const std::vector<double>& moved,
              const std::vector<double>& along) {
        std::vector<double> back(K_, 0.0);
        for (std::size_t k = 0, s = 0; k < K_; ++k) {
            std::fill(step_.begin(), step_.end(), 0.0);
            for (; s < support.size() && support[s].of_class == k; ++s) {
                if (moved[s] == 0) continue;
                add(column(support[s].column), moved[s], step_.data());
                for (std::size_t l = 0; l < K_; ++l) back[l] -= moved[s] * along[s * K_ + l];
            }
            take(k, 0.0);
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
    std::vector<std::vector<std::size_t>> active_;  // by class: the columns that may
    std::vector<double> first_, curve_;             // by weight: sum h x, and its curvature
    std::vector<double> reach_;                     // by column: the longest step of a weight
    std::vector<double> total_, offset_, balance_;  // by class; curvature of the intercepts
    std::vector<double> m_, q_, h_, step_;          // by row
    std::vector<double> sorted_;
    std::int64_t done_ = 0;
};

// What minimising a model has cost.
struct ModelCost {
    std::int64_t sweeps;
    double work;  // numbers read since equations were last solved
};

// Sweeps until the slopes that one takes away are small. told is called after each.
inline ModelCost minimise(SoftmaxModel& model, double aim, ModelCost most,
                          const std::function<void()>& told) {
    ModelCost cost{0, most.work};
    while (cost.sweeps < most.sweeps) {
        ++cost.sweeps;
        const double moved = model.sweep();
        cost.work += model.work();
        if (told) told();
        if (moved <= aim) break;
        if (model.is_worth_equations(cost.work)) {
            model.exact();
            cost.work = 0;
        }
    }
    return cost;
}

}  // namespace separable
