// The regularization path of an elastic-net penalty: working sets around coordinate descent.
//
//   problem   for each C:  min over w, b of
//             sum_i c_i loss(y_i, w.x_i + b) + 1/C sum_j (l1_j |w_j| + l2_j w_j^2 / 2)
//   given     the columns (rows of X'), losses of rows, penalties, increasing C
//   returns   for each C the non-zero weights, b, sweeps, and the gap seen
//
//   For each C, warm-started from the one before (the first C, if it is far from weights of 0,
//   from a rough path):
//   1. gradients of the screened columns and the duality gap; stop if that is small
//   2. working set: the support, and the columns that the strong rule keeps (in later rounds the
//      violators), largest violations first, at most doubling the set
//   3. Newton's method on the working set: a quadratic model, sweeps over its active columns, a
//      line search
//
// Sources: Tibshirani et al. 2012 (strong rules); Massias, Gramfort, Salmon 2018 (working sets and
// gaps); Yuan, Ho, Lin 2012 (Newton's method with coordinate descent).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "separable/certified/column_gradients.hpp"
#include "separable/certified/coordinate_loss.hpp"
#include "separable/certified/quadratic_model.hpp"

namespace separable {

struct PathLimits {
    double tol;               // relative gap
    std::int64_t max_sweeps;  // for each C
};

// The non-zero weights for each C.
struct PathWeights {
    std::vector<std::int64_t> column, start{0};
    std::vector<double> weight, intercept, gap;
    std::vector<std::int64_t> sweeps;
};

class CoordinatePath {
   public:
    // callback(sweeps, gap) is called after each step and returns whether to stop.
    CoordinatePath(const Columns& columns, const RowLoss& loss, std::span<const double> l1,
                   std::span<const double> l2, bool positive, bool fit_intercept, PathLimits limits,
                   std::function<bool(std::int64_t, double)> callback, std::function<void()> poll)
        : x_(columns),
          loss_(loss),
          penalty_{l1, l2, 1.0, positive},
          fit_intercept_(fit_intercept),
          is_pure_(std::all_of(l2.begin(), l2.end(), [](double one) { return one == 0; })),
          limits_(limits),
          callback_(std::move(callback)),
          poll_(std::move(poll)),
          model_(columns, fit_intercept, [this](std::int64_t work) { count_work(work); }),
          w_(l1.size()),
          gradients_(columns, l1, fit_intercept),
          gradient_(gradients_.gradient),
          s_(static_cast<std::size_t>(columns.n_rows)),
          g_(s_.size()),
          h_(s_.size()),
          score_step_(s_.size()),
          in_set_(l1.size(), 0),
          trial_(s_.size()),
          end_g_(s_.size()),
          end_h_(s_.size()) {}

    // Start from weights.
    void start(std::span<const double> w, double b) {
        std::copy(w.begin(), w.end(), w_.begin());
        b_ = b;
        std::fill(s_.begin(), s_.end(), b);
        for (std::int64_t j = 0; j < x_.n_columns; ++j)
            if (w_[at(j)] != 0) add(x_[j], w_[at(j)], s_.data());
        centre();
        gradients_.move_to(g_);
    }

    void run(std::span<const double> Cs, PathWeights& path) {
        double last = 0;
        for (const double C : Cs) {
            penalty_.scale = 1 / C;
            sweeps_ = 0;
            if (last == 0) last = warm_start(1 / C);
            penalty_.scale = 1 / C;
            if (!is_stopped_) solve(last, limits_.tol);
            write(path);
            last = penalty_.scale;
        }
    }

    bool is_stopped() const { return is_stopped_; }

   private:
    static constexpr std::size_t kFirstSet = 512;     // columns of the first working set
    static constexpr double kInner = 0.9;             // of the tolerance: that of working sets
    static constexpr double kLoose = 0.1;             // of the gap: tolerance while the set grows
    static constexpr double kModel = 0.3;             // of the violation: the tolerance of sweeps
    static constexpr double kModelOfJumps = 0.03;     // the same for discontinuous curvature
    static constexpr double kStep = 2, kRough = 0.1;  // of the rough path to the first C
    static constexpr double kProgress = 1e-4;  // of the gap: a decrease that counts as progress
    static constexpr double kFirstRaised = 1e-2, kLeastRaised = 1e-8;
    static constexpr double kSmallFraction =
        0.5;                             // of the tolerance of sweeps: columns below have converged
    static constexpr int kPatience = 1;  // sweeps before changing columns are solved jointly
    static constexpr std::size_t kAhead = 2;  // columns between a prefetch and its use
    static constexpr int kSweeps = 40;        // of one model
    static constexpr double kArmijo = 0.25;   // of the predicted decrease, for a full step
    static constexpr int kBisections = 8;     // of the line search
    static constexpr double kMinStep = 1e-12;
    static constexpr int kIdle = 3;                 // steps without progress that end the work
    static constexpr double kRounding = 1e-14;      // of an objective
    static constexpr std::int64_t kWork = 1 << 22;  // numbers between polls

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    // ------------------------------------------------------------------ rows

    // Move b to its optimum, and compute gradients and curvatures of the rows there.
    void centre() {
        loss_.derivatives(s_.data(), g_.data(), h_.data());
        if (!fit_intercept_) return;
        double low = -std::numeric_limits<double>::infinity(), high = -low, moved = 0;
        for (int step = 0; step < 100; ++step) {
            double gradient = 0, size = 0, curvature = 0;
            for (std::size_t i = 0; i < g_.size(); ++i)
                gradient += g_[i], size += std::abs(g_[i]), curvature += h_[i];
            if (std::abs(gradient) <= kBalanced * size) break;
            (gradient > 0 ? high : low) = moved;
            double next = moved - gradient / curvature;
            if (!(curvature > 0 && low < next && next < high))
                next = std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high)
                                                                 : moved + (gradient > 0 ? -8 : 8);
            if (next == moved) break;
            for (double& one : s_) one += next - moved;
            moved = next;
            loss_.derivatives(s_.data(), g_.data(), h_.data());
        }
        b_ += moved;
    }
    static constexpr double kBalanced = 1e-13;

    // Gradients by the weights of the working set.
    void update_set_gradients() {
        for (const std::int64_t j : set_) {
            const auto column = x_[j];
            gradient_[at(j)] = dot(column, g_.data());
            gradients_.invalidate(j);
            count_work(column.size());
        }
    }

    // Find the support and all columns whose gradient is at least a fraction of their penalty;
    // other columns are not read.
    void screen(double fraction) {
        gradients_.find(fraction * penalty_.scale, screened_);
        support_.clear();
        for (std::size_t k = 0; k < screened_.size(); ++k) {
            if (k + kAhead < screened_.size()) x_[screened_[k + kAhead]].prefetch();
            count_work(gradients_.update(screened_[k]));
            if (w_[at(screened_[k])] == 0) continue;
            support_.push_back(screened_[k]);
            gradients_.force(screened_[k]);  // for the next C
        }
    }

    void count_work(std::int64_t work) {
        if ((work_ += work) > kWork) work_ = 0, poll_();
    }

    double objective(double losses) const {
        for (const std::int64_t j : support_) losses += penalty_(j, w_[at(j)]);
        return losses;
    }

    // ------------------------------------------------------------------ the gap

    // The duality gap of the problem restricted to some columns. The dual point is minus the
    // gradient of the rows; without an l2 part it is scaled until no column exceeds its penalty.
    double gap_of(const std::vector<std::int64_t>& columns) {
        double scale = 1;
        if (is_pure_)
            for (const std::int64_t j : columns) {
                const double size =
                    penalty_.positive ? -gradient_[at(j)] : std::abs(gradient_[at(j)]);
                if (size * scale > penalty_.l1_weight(j)) scale = penalty_.l1_weight(j) / size;
            }
        double gap = 0;
        for (const std::int64_t j : columns) gap += column_gap(j, -scale * gradient_[at(j)]);
        return scale < 1 ? gap + loss_.gap(s_.data(), g_.data(), scale) : gap;
    }

    double column_gap(std::int64_t j, double correlation) const {
        const double l1_weight = penalty_.l1_weight(j), curvature = penalty_.l2_weight(j),
                     w = w_[at(j)];
        double over = correlation > l1_weight ? correlation - l1_weight : 0.0;
        if (correlation < -l1_weight && !penalty_.positive) over = correlation + l1_weight;
        const double within = correlation - over, away = curvature > 0 ? w - over / curvature : 0.0;
        return std::max(0.0, l1_weight * std::abs(w) - within * w) + 0.5 * curvature * away * away;
    }

    // ------------------------------------------------------------------ one C

    // From weights of 0, a distant first C is reached by a rough path. Returns the penalty scale of
    // its last step.
    double warm_start(double scale) {
        if (std::any_of(w_.begin(), w_.end(), [](double one) { return one != 0; })) return 0;
        double most = 0;
        for (std::int64_t j = 0; j < x_.n_columns; ++j) {
            count_work(gradients_.update(j));
            if (penalty_.l1[at(j)] > 0)
                most = std::max(most, std::abs(gradient_[at(j)]) / penalty_.l1[at(j)]);
        }
        const double steps = std::floor(std::log(most / scale) / std::log(kStep));
        double last = 0;
        is_warm_start_ = true;  // these gaps are of another C
        for (double k = 1; k < steps && !is_stopped_; ++k) {
            penalty_.scale = most * std::pow(scale / most, k / steps);
            solve(last, kRough);
            last = penalty_.scale;
        }
        is_warm_start_ = false;
        return last;
    }

    void solve(double last_scale, double tol) {
        for (const std::int64_t j : set_) in_set_[at(j)] = 0;
        set_.clear();
        double before = std::numeric_limits<double>::infinity(), lowest = before, tighter = 1;
        int idle = 0;
        std::size_t capacity = kFirstSet;
        for (int round = 0;; ++round) {
            const bool is_first = round == 0 && last_scale > 0;
            const double fraction = is_first ? 2 - last_scale / penalty_.scale : 1;
            screen(fraction);
            const double primal = objective(loss_.total(s_.data()));
            gap_ = relative(gap_of(screened_), primal);  // 1
            if (gap_ <= tol || is_over(gap_)) return;
            idle = gap_ < 0.5 * before || has_fallen(primal, lowest, gap_) ? 0 : idle + 1;
            if (idle > 2 * kIdle) return;
            before = gap_;
            lowest = primal;
            const Growth grown = grow_working_set(fraction, capacity);  // 2
            capacity *= 2;
            if (!grown.any && round > 0) tighter *= 0.1;
            const double inner = kInner * tighter * tol;
            newton(grown.cut ? std::max(inner, kLoose * gap_) : inner);  // 3
            gradients_.move_to(g_);
        }
    }

    static double relative(double gap, double primal) {
        if (gap == 0) return 0;
        return primal > 0 ? gap / primal : std::numeric_limits<double>::infinity();
    }

    // Whether an objective is lower by a fraction of the gap, and by more than rounding.
    static bool has_fallen(double primal, double lowest, double gap) {
        return primal < (1 - std::max(kProgress * gap, kRounding)) * lowest;
    }

    bool is_over(double gap) {
        if (callback_ && callback_(sweeps_, is_warm_start_ ? 1.0 : gap)) is_stopped_ = true;
        return is_stopped_ || sweeps_ >= limits_.max_sweeps;
    }

    struct Growth {
        bool any, cut;
    };

    // Add the support and the columns whose gradient exceeds a fraction of their penalty.
    Growth grow_working_set(double fraction, std::size_t capacity) {
        std::vector<std::pair<double, std::int64_t>> candidates;
        for (const std::int64_t j : screened_) {
            if (in_set_[at(j)]) continue;
            if (w_[at(j)] != 0) {
                add_to_set(j);
                continue;
            }
            const double size = penalty_.positive ? -gradient_[at(j)] : std::abs(gradient_[at(j)]);
            const double l1_weight = penalty_.l1_weight(j);
            if (size > fraction * l1_weight && size > 0)
                candidates.emplace_back(-size / std::max(l1_weight, 1e-300), j);
        }
        capacity = std::max(capacity, support_.size());
        const bool cut = candidates.size() > capacity;
        if (cut) {
            const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(capacity);
            std::nth_element(candidates.begin(), end, candidates.end());
            candidates.erase(end, candidates.end());
        }
        for (const auto& one : candidates) add_to_set(one.second);
        std::sort(set_.begin(), set_.end());
        return {!candidates.empty(), cut};
    }

    void add_to_set(std::int64_t j) { in_set_[at(j)] = 1, set_.push_back(j); }

    // ------------------------------------------------------------------ the working set

    // Newton's method on the columns of the set, until the relative gap on them is small.
    void newton(double tol) {
        double best = std::numeric_limits<double>::infinity(), lowest = best;
        for (int idle = 0, step = 0;; ++step) {
            if (step > 0) update_set_gradients();
            active_.clear();
            support_.clear();
            double largest_violation = 0;
            for (const std::int64_t j : set_) {
                const double violation = penalty_.violation(j, w_[at(j)], gradient_[at(j)]);
                if (w_[at(j)] != 0) support_.push_back(j);
                if (w_[at(j)] != 0 || violation > 0) active_.push_back(j);
                largest_violation = std::max(largest_violation, violation);
            }
            const double primal = objective(loss_.total(s_.data()));
            const double gap = relative(gap_of(set_), primal);
            idle = gap < 0.5 * best || has_fallen(primal, lowest, gap) ? 0 : idle + 1;
            best = std::min(best, gap);
            lowest = std::min(lowest, primal);
            if (gap <= tol || active_.empty() || idle > kIdle) return;
            if (step > 0 && is_over(std::max(gap, gap_))) return;
            if (!move(primal, largest_violation)) return;
        }
    }

    // One step of Newton's method; returns whether the objective fell.
    bool move(double primal, double largest_violation) {
        before_.clear();
        for (const std::int64_t j : active_) before_.push_back(w_[at(j)]);
        minimise_model(largest_violation);
        const double predicted = find_step();
        const bool is_full_step = loss_.is_quadratic() || accepts_full_step(primal, predicted);
        const double length = is_full_step ? 1.0 : line_search();
        for (std::size_t i = 0; i < s_.size(); ++i) s_[i] += length * score_step_[i];
        b_ += length * model_.offset();
        centre();
        if (!loss_.has_continuous_curvature()) raised_ = next_raised(length);
        return predicted < 0 && length > 0;
    }

    // A curvature of 0 may be positive at the end of a step: after a shortened step the next model
    // raises such curvatures.
    double next_raised(double length) const {
        if (length == 1) return std::max(kLeastRaised, 0.25 * raised_);
        return std::min(1.0, raised_ * (length < 0.1 ? 16 : length < 0.5 ? 4 : 1));
    }

    void minimise_model(double largest_violation) {
        if (!loss_.has_continuous_curvature()) loss_.raise_curvature(raised_, h_.data());
        model_.begin(g_, h_, active_);
        const double tolerance =
            largest_violation * (loss_.has_continuous_curvature() ? kModel : kModelOfJumps);
        for (int k = 0; k < kSweeps && sweeps_ < limits_.max_sweeps; ++k) {
            ++sweeps_;
            const double moved =
                model_.sweep(penalty_, active_, kSmallFraction * tolerance, w_, changing_);
            for (const std::int64_t j : active_) count_work(2 * x_[j].size());
            if (moved <= tolerance) return;
            if (model_.can_afford_solve(active_, w_))
                model_.solve_support(penalty_, active_, w_);
            else if (k >= kPatience && model_.can_afford_solve(changing_, w_))
                model_.solve_support(penalty_, changing_, w_);  // a few correlated columns
        }
    }

    // The change of the scores; returns the predicted change of the objective.
    double find_step() {
        std::fill(score_step_.begin(), score_step_.end(), model_.offset());
        weight_step_.resize(active_.size());
        double predicted = 0;
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const std::int64_t j = active_[k];
            weight_step_[k] = w_[at(j)] - before_[k];
            if (weight_step_[k] == 0) continue;
            add(x_[j], weight_step_[k], score_step_.data());
            predicted += penalty_(j, w_[at(j)]) - penalty_(j, before_[k]);
        }
        for (std::size_t i = 0; i < s_.size(); ++i) predicted += g_[i] * score_step_[i];
        return predicted;
    }

    // Whether the full step decreases the objective enough (Armijo condition).
    bool accepts_full_step(double primal, double predicted) {
        for (std::size_t i = 0; i < s_.size(); ++i) trial_[i] = s_[i] + score_step_[i];
        double value = loss_.total(trial_.data());
        for (const std::int64_t j : active_) value += penalty_(j, w_[at(j)]);
        return value <= primal + kArmijo * predicted + kRounding * primal;
    }

    // Exact line search: the step length at which the objective is smallest, by bisection of the
    // directional derivative; sets the weights.
    double line_search() {
        double low = 1, high = 1;
        while (low > kMinStep && directional_derivative(low) > 0) high = low, low *= 0.125;
        if (low <= kMinStep) low = high = 0;
        for (int k = 0; k < kBisections && low < high; ++k) {
            const double length = 0.5 * (low + high);
            (directional_derivative(length) > 0 ? high : low) = length;
        }
        for (std::size_t k = 0; k < active_.size(); ++k)
            w_[at(active_[k])] = before_[k] + low * weight_step_[k];
        return low;
    }

    // The derivative of the objective along the step.
    double directional_derivative(double length) {
        for (std::size_t i = 0; i < s_.size(); ++i) trial_[i] = s_[i] + length * score_step_[i];
        loss_.derivatives(trial_.data(), end_g_.data(), end_h_.data());
        double gradient = 0;
        for (std::size_t i = 0; i < s_.size(); ++i) gradient += end_g_[i] * score_step_[i];
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const std::int64_t j = active_[k];
            const double v = before_[k] + length * weight_step_[k],
                         l1_weight = penalty_.l1_weight(j);
            gradient += weight_step_[k] * (penalty_.l2_weight(j) * v + (v > 0   ? l1_weight
                                                                        : v < 0 ? -l1_weight
                                                                                : 0.0));
        }
        return gradient;
    }

    void write(PathWeights& path) const {
        for (const std::int64_t j : support_)
            path.column.push_back(j), path.weight.push_back(w_[at(j)]);
        path.start.push_back(static_cast<std::int64_t>(path.column.size()));
        path.intercept.push_back(b_);
        path.gap.push_back(gap_);
        path.sweeps.push_back(sweeps_);
    }

    const Columns& x_;
    const RowLoss& loss_;
    ElasticNetPenalty penalty_;
    bool fit_intercept_, is_pure_, is_stopped_ = false, is_warm_start_ = false;
    PathLimits limits_;
    std::function<bool(std::int64_t, double)> callback_;
    std::function<void()> poll_;
    QuadraticModel model_;
    std::vector<double> w_;
    ColumnGradients gradients_;
    std::vector<double>& gradient_;               // by column
    std::vector<double> s_, g_, h_, score_step_;  // by row
    std::vector<std::int64_t> support_, screened_, set_, active_, changing_;
    std::vector<char> in_set_;
    std::vector<double> before_, weight_step_;   // of the active columns: weights and their change
    std::vector<double> trial_, end_g_, end_h_;  // by row, at the end of a step
    double raised_ = kFirstRaised;               // least fraction of a discontinuous curvature
    double b_ = 0, gap_ = std::numeric_limits<double>::infinity();
    std::int64_t sweeps_ = 0, work_ = 0;
};

}  // namespace separable
