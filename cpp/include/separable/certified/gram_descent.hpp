// The elastic net by coordinate descent on the Gram matrix.
//
//   minimise over w   1/2 (q - 2 c'w + w'Gw) + sum_j (l_j |w_j| + m_j / 2 w_j^2),   w >= 0 on
//   request
//
// Given: G = Z'Z, c = Z'y and q = y'y of columns and a target that are centered if there is an
// intercept, with weights and divided by their sum; penalties l_j = l L_j and m_j = m M_j.
// Returns: w, and the duality gap, computed from G, c and q anew rather than from running sums.
//
// Steps, for each penalty level of a path, warm-started from the level before:
//   1. r = c - Gw, the correlations with the residual; columns with |r_j| > l_j become active
//   2. coordinate descent over the active columns: w_j = S(r_j + G_jj w_j, l_j) / (G_jj + m_j),
//      S(v, l) = sign(v) max(0, |v| - l), and r is updated
//   3. once the sweeps have cost as much as a factorization: solve for the support with its signs.
//      If a sign changes, step to the first weight that becomes 0; if columns are linearly
//      dependent, move along the null space to the first 0
//   4. r from w; stop at the requested gap, or if no column becomes active and 3 was exact
//
// The gap at the dual point s (y - Zw) is a sum of non-negative terms:
//   (1 - s)^2 / 2 |y - Zw|^2 + sum_j (p_j(w_j) + p_j*(s r_j) - s r_j w_j),
// p_j the penalty of a weight and p_j* its conjugate, max(0, |v| - l_j)^2 / (2 m_j).
//
// Friedman, Hastie, Tibshirani 2010 (covariance updates); Osborne, Presnell, Turlach 2000 (step 3).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "separable/math/cholesky.hpp"

namespace separable {

struct GramProblem {
    std::int64_t d;
    const double* gram;   // d x d, both halves
    const double* cross;  // c
    double squares;       // q
    const double* l1;     // L
    const double* l2;     // M
    bool positive;
};

// l L_j, 0 also where L_j is infinite: the penalty of a column of zeros.
inline double scaled(double level, double of_column) { return level > 0 ? level * of_column : 0.0; }

// l_j and m_j of all columns.
struct NetPenalty {
    std::int64_t d;
    double l, m;
    const double *l1_of_column, *l2_of_column;
    bool positive;

    double l1(std::int64_t j) const { return scaled(l, l1_of_column[j]); }
    double l2(std::int64_t j) const { return scaled(m, l2_of_column[j]); }
};

struct Gap {
    double primal, gap;
};

// The gap at the dual point s (y - Zw). Given: r = Z'(y - Zw) and residual = |y - Zw|^2.
inline double gap_at(double s, const NetPenalty& p, const double* w, const double* r,
                     double residual) {
    double gap = 0.5 * (1 - s) * (1 - s) * residual;
    for (std::int64_t j = 0; j < p.d; ++j) {
        const double v = std::copysign(1.0, w[j]) * s * r[j];  // towards the weight's side
        const double size = std::abs(w[j]), l = p.l1(j), m = p.l2(j);
        if (v > l && m > 0) {
            const double away = m * size - (v - l);
            gap += away * away / (2 * m);
            continue;
        }
        if (size != 0) gap += std::max(0.0, l - v) * size + 0.5 * m * size * size;
        if (v < -l && m > 0 && !p.positive) gap += (v + l) * (v + l) / (2 * m);
    }
    return gap;
}

// The objective and the smaller gap of two dual points: the largest s, up to the best one, at
// which no correlation exceeds its l_j, and, if all columns have an m_j, s = 1.
inline Gap elastic_net_gap(const NetPenalty& p, const double* w, const double* r, double residual) {
    double inner = 0, penalty = 0, limit = std::numeric_limits<double>::infinity();
    bool smooth = true;  // a correlation above its l_j has an m_j
    for (std::int64_t j = 0; j < p.d; ++j) {
        const double size = p.positive ? r[j] : std::abs(r[j]);
        if (size > 0) limit = std::min(limit, p.l1(j) / size);
        if (size > p.l1(j) && !(p.l2(j) > 0)) smooth = false;
        if (w[j] == 0) continue;
        inner += w[j] * r[j];
        penalty += p.l1(j) * std::abs(w[j]) + 0.5 * p.l2(j) * w[j] * w[j];
    }
    const double best = residual > 0 ? std::max(0.0, 1.0 + inner / residual) : 1.0;
    double gap = gap_at(std::min(best, limit), p, w, r, residual);
    if (smooth) gap = std::min(gap, gap_at(1.0, p, w, r, residual));
    return {0.5 * residual + penalty, gap};
}

struct GramFit {
    double primal, gap;
    std::int64_t steps;  // passes over columns, and solutions of equations
    bool stopped;        // whether the callback stopped the work
};

// y += a x
inline void add_times(double a, const double* __restrict x, double* __restrict y, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) y[k] += a * x[k];
}

// The Cholesky factor U of A = U'U, the normal equations of a support.
class GramFactor {
   public:
    bool fits(const std::vector<std::int64_t>& columns, double m) const {
        return m == m_ && columns == columns_;
    }
    void forget() { columns_.clear(), m_ = std::numeric_limits<double>::quiet_NaN(); }

    // Returns the number of columns before the first linearly dependent one, or of all columns.
    template <class Poll>
    std::int64_t make(const GramProblem& p, const std::vector<std::int64_t>& columns, double m,
                      const Poll& poll) {
        forget();
        const auto k = static_cast<std::int64_t>(columns.size());
        whole_.resize(static_cast<std::size_t>(k * k));
        for (std::int64_t i = 0; i < k; ++i) {
            const double* row = p.gram + columns[i] * p.d;
            for (std::int64_t j = 0; j < k; ++j) whole_[i * k + j] = row[columns[j]];
            whole_[i * k + i] += m * p.l2[columns[i]];
        }
        factor_ = whole_;
        for (std::int64_t i = 0; i < k; ++i) {
            double* row = &factor_[i * k];
            if (!(row[i] > kDependent * whole_[i * k + i])) return i;
            const double root = std::sqrt(row[i]);
            for (std::int64_t j = i; j < k; ++j) row[j] /= root;
            for (std::int64_t below = i + 1; below < k; ++below)
                add_times(-row[below], row + below, &factor_[below * k + below], k - below);
            poll((k - i) * (k - i) / 2);
        }
        columns_ = columns, m_ = m;
        return k;
    }

    // A null vector of the k columns: 1 for the dependent column.
    void null_direction(std::int64_t dependent, std::vector<double>& v) const {
        const auto k = static_cast<std::int64_t>(v.size());
        std::fill(v.begin(), v.end(), 0.0);
        v[dependent] = 1.0;
        for (std::int64_t i = dependent; i-- > 0;) {
            const double* row = &factor_[i * k];
            v[i] = -plain_dot(dependent - i, row + i + 1, v.data() + i + 1) / row[i];
        }
    }

    // The solution for a right-hand side, with one step of iterative refinement.
    void solve(const std::vector<double>& right, std::vector<double>& found) {
        const auto k = static_cast<std::int64_t>(right.size());
        found = right;
        substitute(found);
        left_ = right;
        for (std::int64_t i = 0; i < k; ++i) add_times(-found[i], &whole_[i * k], left_.data(), k);
        substitute(left_);
        add_times(1.0, left_.data(), found.data(), k);
    }

   private:
    // A pivot below this fraction of the diagonal is rounding.
    static constexpr double kDependent = 1e-11;

    void substitute(std::vector<double>& x) const {
        const auto k = static_cast<std::int64_t>(x.size());
        for (std::int64_t i = 0; i < k; ++i) {
            const double* row = &factor_[i * k];
            x[i] /= row[i];
            add_times(-x[i], row + i + 1, x.data() + i + 1, k - i - 1);
        }
        for (std::int64_t i = k; i-- > 0;) {
            const double* row = &factor_[i * k];
            x[i] = (x[i] - plain_dot(k - i - 1, row + i + 1, x.data() + i + 1)) / row[i];
        }
    }

    std::vector<std::int64_t> columns_;
    double m_ = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> whole_, factor_, left_;
};

class GramDescent {
   public:
    using Callback = std::function<bool(std::int64_t, double)>;

    GramDescent(const GramProblem& problem, std::function<void()> poll)
        : p_(problem), poll_(std::move(poll)), r_(problem.d), is_active_(problem.d) {}

    // Steps 1 to 4 for one penalty level, from the weights in w.
    GramFit solve(double* w, double l, double m, double tol, std::int64_t max_steps,
                  const Callback& callback) {
        l_ = l, m_ = m, w_ = w;
        std::fill(is_active_.begin(), is_active_.end(), 0);
        columns_.clear();
        spent_ = 0;
        std::int64_t steps = 0;
        bool solved = false;
        double best = std::numeric_limits<double>::infinity();
        int idle = 0;
        compute_correlations();
        bool more = add_violators();
        for (;;) {
            GramFit fit = certify();
            fit.steps = steps;
            fit.stopped = callback && callback(steps, fit.primal > 0 ? fit.gap / fit.primal : 0.0);
            idle = fit.primal < best / kRounding ? 0 : idle + 1;
            best = std::min(best, fit.primal);
            const bool done = fit.gap <= tol * fit.primal || (solved && (!more || idle >= kIdle));
            if (done || fit.stopped || steps >= max_steps) return fit;
            const std::int64_t sweeps = std::min<std::int64_t>(kSweepsPerCheck, max_steps - steps);
            solved = false;
            if (!more && is_factored()) {
                solved = solve_support();
                ++steps;
            }
            double moved = 1.0;
            for (std::int64_t k = 0; k < sweeps && !solved && moved > 0; ++k, ++steps) {
                moved = sweep();
                if (!can_afford_solve()) continue;
                solved = solve_support();
                ++steps;
                break;  // r is out of date
            }
            compute_correlations();
            more = add_violators();
            solved = solved || moved == 0;
        }
    }

   private:
    // Sweeps between two computations of the gap.
    static constexpr std::int64_t kSweepsPerCheck = 10;
    // Checks without a lower objective after which only rounding is left.
    static constexpr int kIdle = 3;
    // Sign changes in a row before coordinate descent continues.
    static constexpr int kCrossings = 4;
    // Linearly dependent columns removed at once.
    static constexpr int kFreed = 64;
    // Rounding of a correlation at its threshold.
    static constexpr double kRounding = 1.0 + 4 * std::numeric_limits<double>::epsilon();
    static constexpr std::int64_t kWorkBetweenPolls = 1 << 25;

    double l1(std::int64_t j) const { return scaled(l_, p_.l1[j]); }
    double l2(std::int64_t j) const { return scaled(m_, p_.l2[j]); }
    double diagonal(std::int64_t j) const { return p_.gram[j * p_.d + j]; }

    void work(std::int64_t amount) {
        worked_ += amount;
        if (worked_ >= kWorkBetweenPolls) worked_ = 0, poll_();
    }

    // Step 1 and 4: r = c - Gw.
    void compute_correlations() {
        std::copy(p_.cross, p_.cross + p_.d, r_.begin());
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) add_times(-w_[j], p_.gram + j * p_.d, r_.data(), p_.d), work(p_.d);
    }

    double threshold(double v, double l) const {
        if (v > l * kRounding) return v - l;
        if (v < -l * kRounding && !p_.positive) return v + l;
        return 0.0;
    }

    // Adds the support and the columns that violate optimality; returns whether any violates.
    bool add_violators() {
        bool more = false;
        for (std::int64_t j = 0; j < p_.d; ++j) {
            if (!(diagonal(j) > 0)) continue;
            const bool leaves_zero = w_[j] == 0 && threshold(r_[j], l1(j)) != 0;
            more = more || leaves_zero;
            if (is_active_[j] || (w_[j] == 0 && !leaves_zero)) continue;
            is_active_[j] = 1;
            columns_.push_back(j);
        }
        return more;
    }

    // Step 2, once over the columns; the objective fell by half of what it returns, or more.
    double sweep() {
        double moved = 0;
        for (const std::int64_t j : columns_) {
            const double old = w_[j], g = diagonal(j), curvature = g + l2(j);
            const double now = threshold(r_[j] + g * old, l1(j)) / curvature;
            if (now == old) continue;
            w_[j] = now;
            add_times(old - now, p_.gram + j * p_.d, r_.data(), p_.d);
            moved += curvature * (now - old) * (now - old);
        }
        const std::int64_t cost = p_.d * static_cast<std::int64_t>(columns_.size());
        spent_ += cost;
        work(cost);
        return moved;
    }

    void find_support() {
        support_.clear();
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) support_.push_back(j);
    }

    bool is_factored() {
        find_support();
        return !support_.empty() && factor_.fits(support_, m_);
    }

    bool can_afford_solve() {
        find_support();
        const auto k = static_cast<std::int64_t>(support_.size());
        return k == 0 || factor_.fits(support_, m_) || spent_ >= k * k * k / 3;
    }

    // Step 3. True if all signs are kept.
    bool solve_support() {
        int crossed = 0, freed = 0;
        while (crossed < kCrossings && freed < kFreed) {
            find_support();
            if (support_.empty()) return false;  // coordinate descent decides whether 0 is optimal
            const auto k = static_cast<std::int64_t>(support_.size());
            if (!factor_.fits(support_, m_)) {
                spent_ = 0;
                const std::int64_t independent =
                    factor_.make(p_, support_, m_, [this](std::int64_t cost) { work(cost); });
                if (independent < k) {
                    if (!move_along_null_space(independent)) return false;
                    ++freed;
                    continue;
                }
            }
            right_.resize(support_.size());
            for (std::int64_t i = 0; i < k; ++i) {
                const std::int64_t j = support_[i];
                right_[i] = p_.cross[j] - std::copysign(l1(j), w_[j]);
            }
            factor_.solve(right_, solution_);
            work(2 * k * k);
            if (step_to_solution()) return true;
            ++crossed;
        }
        return false;
    }

    // For linearly dependent columns: moves along the null space in the direction in which the
    // penalty falls, to the first 0; false if the penalty is smallest before that.
    bool move_along_null_space(std::int64_t dependent) {
        solution_.resize(support_.size());
        factor_.null_direction(dependent, solution_);
        double slope = 0, curvature = 0;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const std::int64_t j = support_[i];
            slope += (std::copysign(l1(j), w_[j]) + l2(j) * w_[j]) * solution_[i];
            curvature += l2(j) * solution_[i] * solution_[i];
        }
        const double side = slope > 0 ? -1.0 : 1.0;
        double length = std::numeric_limits<double>::infinity();
        if (curvature > 0) length = std::abs(slope) / curvature;
        std::int64_t first = -1;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const double at = w_[support_[i]], moves = side * solution_[i];
            if ((at > 0) == (moves > 0) || moves == 0) continue;
            if (-at / moves < length) length = -at / moves, first = support_[i];
        }
        if (!std::isfinite(length)) return false;
        for (std::size_t i = 0; i < support_.size(); ++i)
            w_[support_[i]] += length * side * solution_[i];
        if (first >= 0) w_[first] = 0.0;
        return first >= 0;
    }

    // Moves to the solution, or to the first 0 on the way; returns whether it reached the solution.
    bool step_to_solution() {
        double length = 1.0;
        std::int64_t first = -1;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const double old = w_[support_[i]], now = solution_[i];
            if ((old > 0 && now > 0) || (old < 0 && now < 0)) continue;
            const double part = old / (old - now);
            if (part < length || first < 0) length = part, first = support_[i];
        }
        for (std::size_t i = 0; i < support_.size(); ++i) {
            double& at = w_[support_[i]];
            at = first < 0 ? solution_[i] : at + length * (solution_[i] - at);
        }
        if (first >= 0) w_[first] = 0.0;
        return first < 0;
    }

    // The objective and the gap, from the current r.
    GramFit certify() const {
        double residual = p_.squares;
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) residual -= w_[j] * (p_.cross[j] + r_[j]);
        const Gap found = elastic_net_gap({p_.d, l_, m_, p_.l1, p_.l2, p_.positive}, w_, r_.data(),
                                          std::max(residual, 0.0));
        return {found.primal, found.gap, 0, false};
    }

    const GramProblem p_;
    std::function<void()> poll_;
    double l_ = 0, m_ = 0;
    double* w_ = nullptr;
    std::vector<double> r_;
    std::vector<char> is_active_;
    std::vector<std::int64_t> columns_, support_;
    std::vector<double> right_, solution_;
    GramFactor factor_;
    std::int64_t spent_ = 0, worked_ = 0;
};

}  // namespace separable
