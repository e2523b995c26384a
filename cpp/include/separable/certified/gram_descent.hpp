// Least squares with an elastic net, from products of columns alone.
//
//   minimise over w   1/2 (q - 2 c'w + w'Gw) + sum_j (l_j |w_j| + m_j / 2 w_j^2),   w >= 0 if asked
//
// Given: G = Z'Z, c = Z'y and q = y'y of columns and a target that are centred where there is an
// intercept, with weights and divided by their sum; penalties l_j = l L_j and m_j = m M_j.
// Returns: w, and the gap, computed from G, c and q again and no running sum.
//
// Steps, for each strength of a path, from the weights of the one before:
//   1. r = c - Gw, the products of columns with what is left; columns whose r says so enter
//   2. coordinate descent over the columns that entered: w_j = S(r_j + G_jj w_j, l_j) /
//      (G_jj + m_j), S(v, l) = sign(v) max(0, |v| - l), and r follows
//   3. once it has cost as much as a factor of the equations does: the weights that are not 0 are
//      solved for, with their signs. Where one changes its sign they go there, no further than to
//      the first 0; where columns depend on each other, along what changes no prediction
//   4. r again from w; stop at the gap that was asked for, or where no column enters and 3 was
//   exact
//
// The gap, at the dual point s (y - Zw), is a sum of terms that are not negative:
//   (1 - s)^2 / 2 |y - Zw|^2 + sum_j (p_j(w_j) + p_j*(s r_j) - s r_j w_j),
// p_j the penalty of a weight and p_j* its conjugate, max(0, |v| - l_j)^2 / (2 m_j).
//
// Friedman, Hastie, Tibshirani 2010 (descent on products); Osborne, Presnell, Turlach 2000 (step
// 3).
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
inline double times(double strength, double of_column) {
    return strength > 0 ? strength * of_column : 0.0;
}

// l_j and m_j of all columns.
struct NetPenalty {
    std::int64_t d;
    double l, m;
    const double *l1_of_column, *l2_of_column;
    bool positive;

    double l1(std::int64_t j) const { return times(l, l1_of_column[j]); }
    double l2(std::int64_t j) const { return times(m, l2_of_column[j]); }
};

struct Gap {
    double primal, gap;
};

// The gap at the dual point s (y - Zw). Given: r = Z'(y - Zw) and rest = |y - Zw|^2.
inline double gap_at(double s, const NetPenalty& p, const double* w, const double* r, double rest) {
    double gap = 0.5 * (1 - s) * (1 - s) * rest;
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

// The objective and the smallest gap of two dual points: the largest s, up to the best one, at
// which no product is above its l_j, and, where all columns have an m_j, s = 1.
inline Gap elastic_net_gap(const NetPenalty& p, const double* w, const double* r, double rest) {
    double along = 0, penalty = 0, most = std::numeric_limits<double>::infinity();
    bool smooth = true;  // a product above its l_j has an m_j
    for (std::int64_t j = 0; j < p.d; ++j) {
        const double size = p.positive ? r[j] : std::abs(r[j]);
        if (size > 0) most = std::min(most, p.l1(j) / size);
        if (size > p.l1(j) && !(p.l2(j) > 0)) smooth = false;
        if (w[j] == 0) continue;
        along += w[j] * r[j];
        penalty += p.l1(j) * std::abs(w[j]) + 0.5 * p.l2(j) * w[j] * w[j];
    }
    const double best = rest > 0 ? std::max(0.0, 1.0 + along / rest) : 1.0;
    double gap = gap_at(std::min(best, most), p, w, r, rest);
    if (smooth) gap = std::min(gap, gap_at(1.0, p, w, r, rest));
    return {0.5 * rest + penalty, gap};
}

struct GramFit {
    double primal, gap;
    std::int64_t steps;  // passes over columns, and solutions of equations
    bool asked;          // whether who was told ended the work
};

// y += a x
inline void add_times(double a, const double* __restrict x, double* __restrict y, std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) y[k] += a * x[k];
}

// Cholesky's factor U of A = U'U, of the equations of some columns.
class GramFactor {
   public:
    bool fits(const std::vector<std::int64_t>& columns, double m) const {
        return m == m_ && columns == columns_;
    }
    void forget() { columns_.clear(), m_ = std::numeric_limits<double>::quiet_NaN(); }

    // Returns how many columns come before one that depends on those before it; all: none does.
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

    // Weights of k columns that change no prediction: 1 of the column that depends on those before.
    void free_direction(std::int64_t dependent, std::vector<double>& v) const {
        const auto k = static_cast<std::int64_t>(v.size());
        std::fill(v.begin(), v.end(), 0.0);
        v[dependent] = 1.0;
        for (std::int64_t i = dependent; i-- > 0;) {
            const double* row = &factor_[i * k];
            v[i] = -plain_dot(dependent - i, row + i + 1, v.data() + i + 1) / row[i];
        }
    }

    // The solution for some right side, with one step of refinement.
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
    // A pivot below this share of its square is rounding.
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
    using Told = std::function<bool(std::int64_t, double)>;

    GramDescent(const GramProblem& problem, std::function<void()> poll)
        : p_(problem), poll_(std::move(poll)), r_(problem.d), entered_(problem.d) {}

    // Steps 1 to 4 for one strength, from the weights in w.
    GramFit solve(double* w, double l, double m, double tol, std::int64_t max_steps,
                  const Told& told) {
        l_ = l, m_ = m, w_ = w;
        std::fill(entered_.begin(), entered_.end(), 0);
        columns_.clear();
        spent_ = 0;
        std::int64_t steps = 0;
        bool settled = false;
        double best = std::numeric_limits<double>::infinity();
        int idle = 0;
        refresh();
        bool more = enter();
        for (;;) {
            GramFit fit = certify();
            fit.steps = steps;
            fit.asked = told && told(steps, fit.primal > 0 ? fit.gap / fit.primal : 0.0);
            idle = fit.primal < best / kBorder ? 0 : idle + 1;
            best = std::min(best, fit.primal);
            const bool done = fit.gap <= tol * fit.primal || (settled && (!more || idle >= kIdle));
            if (done || fit.asked || steps >= max_steps) return fit;
            const std::int64_t burst = std::min<std::int64_t>(kBurst, max_steps - steps);
            settled = false;
            if (!more && is_factored()) {
                settled = settle();
                ++steps;
            }
            double moved = 1.0;
            for (std::int64_t k = 0; k < burst && !settled && moved > 0; ++k, ++steps) {
                moved = sweep();
                if (!is_worth_solving()) continue;
                settled = settle();
                ++steps;
                break;  // r does not know of it
            }
            refresh();
            more = enter();
            settled = settled || moved == 0;
        }
    }

   private:
    // Passes between two certificates.
    static constexpr std::int64_t kBurst = 10;
    // Times that the objective does not fall any more after which rounding is all that is left.
    static constexpr int kIdle = 3;
    // Signs that change in a row before descent goes on.
    static constexpr int kCrossings = 4;
    // Columns that leave because others say the same.
    static constexpr int kFreed = 64;
    // Rounding of a product at the border of 0.
    static constexpr double kBorder = 1.0 + 4 * std::numeric_limits<double>::epsilon();
    static constexpr std::int64_t kWorkBetweenPolls = 1 << 25;

    double l1(std::int64_t j) const { return times(l_, p_.l1[j]); }
    double l2(std::int64_t j) const { return times(m_, p_.l2[j]); }
    double diagonal(std::int64_t j) const { return p_.gram[j * p_.d + j]; }

    void work(std::int64_t amount) {
        worked_ += amount;
        if (worked_ >= kWorkBetweenPolls) worked_ = 0, poll_();
    }

    // Step 1 and 4: r = c - Gw.
    void refresh() {
        std::copy(p_.cross, p_.cross + p_.d, r_.begin());
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) add_times(-w_[j], p_.gram + j * p_.d, r_.data(), p_.d), work(p_.d);
    }

    double threshold(double v, double l) const {
        if (v > l * kBorder) return v - l;
        if (v < -l * kBorder && !p_.positive) return v + l;
        return 0.0;
    }

    // Takes columns that are not 0, or would not stay so; whether there is one of the latter.
    bool enter() {
        bool more = false;
        for (std::int64_t j = 0; j < p_.d; ++j) {
            if (!(diagonal(j) > 0)) continue;
            const bool leaves_zero = w_[j] == 0 && threshold(r_[j], l1(j)) != 0;
            more = more || leaves_zero;
            if (entered_[j] || (w_[j] == 0 && !leaves_zero)) continue;
            entered_[j] = 1;
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

    void gather() {
        support_.clear();
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) support_.push_back(j);
    }

    bool is_factored() {
        gather();
        return !support_.empty() && factor_.fits(support_, m_);
    }

    bool is_worth_solving() {
        gather();
        const auto k = static_cast<std::int64_t>(support_.size());
        return k == 0 || factor_.fits(support_, m_) || spent_ >= k * k * k / 3;
    }

    // Step 3. True if all signs are kept.
    bool settle() {
        int crossed = 0, freed = 0;
        while (crossed < kCrossings && freed < kFreed) {
            gather();
            if (support_.empty()) return false;  // descent says when 0 is all there is
            const auto k = static_cast<std::int64_t>(support_.size());
            if (!factor_.fits(support_, m_)) {
                spent_ = 0;
                const std::int64_t independent =
                    factor_.make(p_, support_, m_, [this](std::int64_t cost) { work(cost); });
                if (independent < k) {
                    if (!go_along_free(independent)) return false;
                    ++freed;
                    continue;
                }
            }
            right_.resize(support_.size());
            for (std::int64_t i = 0; i < k; ++i) {
                const std::int64_t j = support_[i];
                right_[i] = p_.cross[j] - std::copysign(l1(j), w_[j]);
            }
            factor_.solve(right_, found_);
            work(2 * k * k);
            if (go_to_found()) return true;
            ++crossed;
        }
        return false;
    }

    // Where columns depend on each other: along weights that change no prediction, the way in which
    // the penalty falls, to the first 0; false where none is met before the penalty is least.
    bool go_along_free(std::int64_t dependent) {
        found_.resize(support_.size());
        factor_.free_direction(dependent, found_);
        double slope = 0, curvature = 0;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const std::int64_t j = support_[i];
            slope += (std::copysign(l1(j), w_[j]) + l2(j) * w_[j]) * found_[i];
            curvature += l2(j) * found_[i] * found_[i];
        }
        const double side = slope > 0 ? -1.0 : 1.0;
        double way = std::numeric_limits<double>::infinity();
        if (curvature > 0) way = std::abs(slope) / curvature;
        std::int64_t first = -1;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const double at = w_[support_[i]], moves = side * found_[i];
            if ((at > 0) == (moves > 0) || moves == 0) continue;
            if (-at / moves < way) way = -at / moves, first = support_[i];
        }
        if (!std::isfinite(way)) return false;
        for (std::size_t i = 0; i < support_.size(); ++i) w_[support_[i]] += way * side * found_[i];
        if (first >= 0) w_[first] = 0.0;
        return first >= 0;
    }

    // Goes to the weights found, or to the first 0 on the way there; whether it got there.
    bool go_to_found() {
        double way = 1.0;
        std::int64_t first = -1;
        for (std::size_t i = 0; i < support_.size(); ++i) {
            const double old = w_[support_[i]], now = found_[i];
            if ((old > 0 && now > 0) || (old < 0 && now < 0)) continue;
            const double part = old / (old - now);
            if (part < way || first < 0) way = part, first = support_[i];
        }
        for (std::size_t i = 0; i < support_.size(); ++i) {
            double& at = w_[support_[i]];
            at = first < 0 ? found_[i] : at + way * (found_[i] - at);
        }
        if (first >= 0) w_[first] = 0.0;
        return first < 0;
    }

    // The objective and the gap, from r as it is now.
    GramFit certify() const {
        double rest = p_.squares;
        for (std::int64_t j = 0; j < p_.d; ++j)
            if (w_[j] != 0) rest -= w_[j] * (p_.cross[j] + r_[j]);
        const Gap found = elastic_net_gap({p_.d, l_, m_, p_.l1, p_.l2, p_.positive}, w_, r_.data(),
                                          std::max(rest, 0.0));
        return {found.primal, found.gap, 0, false};
    }

    const GramProblem p_;
    std::function<void()> poll_;
    double l_ = 0, m_ = 0;
    double* w_ = nullptr;
    std::vector<double> r_;
    std::vector<char> entered_;
    std::vector<std::int64_t> columns_, support_;
    std::vector<double> right_, found_;
    GramFactor factor_;
    std::int64_t spent_ = 0, worked_ = 0;
};

}  // namespace separable
