// Weights along strengths of a penalty with corners: working sets around coordinate descent.
//
//   problem   for each strength C:  min over w, b of
//             sum_i c_i loss(y_i, w.x_i + b) + 1/C sum_j (l1_j |w_j| + l2_j w_j^2 / 2)
//   given     the columns (rows of X'), losses of rows, penalties, strengths from small to large
//   returns   for each strength the weights that are not 0, b, sweeps, and the gap seen
//
//   For each strength, from the weights of the one before (to a first strength that is far from
//   weights of 0, from rough models of some between):
//   1. slopes of the columns that may be large; the gap they prove; done where it is small
//   2. working set: weights that are not 0, and columns that the strong rule keeps (those that
//      violate, in later rounds), the worst first, no more than twice as many as there are
//   3. Newton's method on the working set: a quadratic model, sweeps over the columns that are not
//      0 or violate, a step that is halved until the objective falls
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

#include "separable/certified/coordinate_loss.hpp"
#include "separable/certified/coordinate_model.hpp"
#include "separable/certified/coordinate_slopes.hpp"

namespace separable {

struct PathAim {
    double tol;               // relative gap
    std::int64_t max_sweeps;  // of each strength
};

// Weights of many strengths, those that are not 0.
struct PathWeights {
    std::vector<std::int64_t> column, start{0};
    std::vector<double> weight, intercept, gap;
    std::vector<std::int64_t> sweeps;
};

class CoordinatePath {
   public:
    // told(sweeps, gap) is asked after each step, and says whether to stop.
    CoordinatePath(const Columns& columns, const RowLoss& loss, std::span<const double> l1,
                   std::span<const double> l2, bool positive, bool fit_intercept, PathAim aim,
                   std::function<bool(std::int64_t, double)> told, std::function<void()> poll)
        : x_(columns),
          loss_(loss),
          penalty_{l1, l2, 1.0, positive},
          fit_intercept_(fit_intercept),
          is_pure_(std::all_of(l2.begin(), l2.end(), [](double one) { return one == 0; })),
          aim_(aim),
          told_(std::move(told)),
          poll_(std::move(poll)),
          model_(columns, fit_intercept, [this](std::int64_t work) { rest(work); }),
          w_(l1.size()),
          slopes_(columns, l1, fit_intercept),
          slope_(slopes_.slope),
          s_(static_cast<std::size_t>(columns.n_rows)),
          g_(s_.size()),
          h_(s_.size()),
          other_(s_.size()),
          in_set_(l1.size(), 0),
          there_(s_.size()),
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
        slopes_.move_to(g_);
    }

    void run(std::span<const double> strengths, PathWeights& path) {
        double last = 0;
        for (const double strength : strengths) {
            penalty_.scale = 1 / strength;
            sweeps_ = 0;
            if (last == 0) last = approach(1 / strength);
            penalty_.scale = 1 / strength;
            if (!is_stopped_) solve(last, aim_.tol);
            write(path);
            last = penalty_.scale;
        }
    }

    bool is_stopped() const { return is_stopped_; }

   private:
    static constexpr std::size_t kFirstSet = 512;     // columns of the first working set
    static constexpr double kInner = 0.9;             // of the gap asked for: that of working sets
    static constexpr double kLoose = 0.1;             // of the gap: that of sets that have to grow
    static constexpr double kModel = 0.3;             // of the violation: where sweeps end
    static constexpr double kModelOfJumps = 0.03;     // the same for curvatures that jump
    static constexpr double kStep = 2, kRough = 0.1;  // on the way to the first strength
    static constexpr double kFall = 1e-4;             // of the gap: a fall that is progress
    static constexpr double kFirstLift = 1e-2, kLeastLift = 1e-8;
    static constexpr double kStill =
        0.5;  // of the slope at which sweeps end: that of columns at rest
    static constexpr int kPatience = 1;  // sweeps before columns not at rest are solved together
    static constexpr std::size_t kAhead = 2;  // columns between a prefetch and its use
    static constexpr int kSweeps = 40;        // of one model
    static constexpr double kEnough = 0.25;   // of the promised fall, for a whole step
    static constexpr int kHalvings = 8;       // to find the best length
    static constexpr double kShortest = 1e-12;
    static constexpr int kIdle = 3;                 // steps without progress that end the work
    static constexpr double kRounding = 1e-14;      // of an objective
    static constexpr std::int64_t kWork = 1 << 22;  // numbers between polls

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    // ------------------------------------------------------------------ rows

    // Move b to where the slopes of the rows add up to 0, and take slopes and curvatures there.
    void centre() {
        loss_.slopes(s_.data(), g_.data(), h_.data());
        if (!fit_intercept_) return;
        double low = -std::numeric_limits<double>::infinity(), high = -low, moved = 0;
        for (int step = 0; step < 100; ++step) {
            double slope = 0, size = 0, curve = 0;
            for (std::size_t i = 0; i < g_.size(); ++i)
                slope += g_[i], size += std::abs(g_[i]), curve += h_[i];
            if (std::abs(slope) <= kBalanced * size) break;
            (slope > 0 ? high : low) = moved;
            double next = moved - slope / curve;
            if (!(curve > 0 && low < next && next < high))
                next = std::isfinite(low) && std::isfinite(high) ? 0.5 * (low + high)
                                                                 : moved + (slope > 0 ? -8 : 8);
            if (next == moved) break;
            for (double& one : s_) one += next - moved;
            moved = next;
            loss_.slopes(s_.data(), g_.data(), h_.data());
        }
        b_ += moved;
    }
    static constexpr double kBalanced = 1e-13;

    // Slopes of the losses by the weights of the columns of the working set.
    void take_slopes_of_set() {
        for (const std::int64_t j : set_) {
            const auto column = x_[j];
            slope_[at(j)] = dot(column, g_.data());
            slopes_.was_changed(j);
            rest(column.size());
        }
    }

    // Find the weights that are not 0, and with them all columns whose slope is at least a share of
    // their penalty; others are not looked at.
    void find_large(double share) {
        slopes_.find(share * penalty_.scale, large_);
        support_.clear();
        for (std::size_t k = 0; k < large_.size(); ++k) {
            if (k + kAhead < large_.size()) x_[large_[k + kAhead]].prefetch();
            rest(slopes_.take(large_[k]));
            if (w_[at(large_[k])] == 0) continue;
            support_.push_back(large_[k]);
            slopes_.hold(large_[k]);  // for the next strength
        }
    }

    void rest(std::int64_t work) {
        if ((work_ += work) > kWork) work_ = 0, poll_();
    }

    double objective(double losses) const {
        for (const std::int64_t j : support_) losses += penalty_(j, w_[at(j)]);
        return losses;
    }

    // ------------------------------------------------------------------ the gap

    // The gap that the slopes of some columns prove, as if there were no others. A dual point is
    // minus the slopes of the rows; without an l2 part it is scaled until no column exceeds its
    // penalty.
    double gap_of(const std::vector<std::int64_t>& columns) {
        double keep = 1;
        if (is_pure_)
            for (const std::int64_t j : columns) {
                const double size = penalty_.positive ? -slope_[at(j)] : std::abs(slope_[at(j)]);
                if (size * keep > penalty_.corner(j)) keep = penalty_.corner(j) / size;
            }
        double gap = 0;
        for (const std::int64_t j : columns) gap += column_gap(j, -keep * slope_[at(j)]);
        return keep < 1 ? gap + loss_.gap(s_.data(), g_.data(), keep) : gap;
    }

    double column_gap(std::int64_t j, double pull) const {
        const double corner = penalty_.corner(j), curve = penalty_.curve(j), w = w_[at(j)];
        double over = pull > corner ? pull - corner : 0.0;
        if (pull < -corner && !penalty_.positive) over = pull + corner;
        const double within = pull - over, away = curve > 0 ? w - over / curve : 0.0;
        return std::max(0.0, corner * std::abs(w) - within * w) + 0.5 * curve * away * away;
    }

    // ------------------------------------------------------------------ one strength

    // From weights of 0, a first strength that is far from theirs is reached by rough models of
    // some between. Returns the penalty of the last of these.
    double approach(double scale) {
        if (std::any_of(w_.begin(), w_.end(), [](double one) { return one != 0; })) return 0;
        double most = 0;
        for (std::int64_t j = 0; j < x_.n_columns; ++j) {
            rest(slopes_.take(j));
            if (penalty_.l1[at(j)] > 0)
                most = std::max(most, std::abs(slope_[at(j)]) / penalty_.l1[at(j)]);
        }
        const double steps = std::floor(std::log(most / scale) / std::log(kStep));
        double last = 0;
        is_on_the_way_ = true;  // these gaps say nothing of the strength asked for
        for (double k = 1; k < steps && !is_stopped_; ++k) {
            penalty_.scale = most * std::pow(scale / most, k / steps);
            solve(last, kRough);
            last = penalty_.scale;
        }
        is_on_the_way_ = false;
        return last;
    }

    void solve(double last_scale, double tol) {
        for (const std::int64_t j : set_) in_set_[at(j)] = 0;
        set_.clear();
        double before = std::numeric_limits<double>::infinity(), lowest = before, tighter = 1;
        int idle = 0;
        std::size_t room = kFirstSet;
        for (int round = 0;; ++round) {
            const bool is_first = round == 0 && last_scale > 0;
            const double share = is_first ? 2 - last_scale / penalty_.scale : 1;
            find_large(share);
            const double primal = objective(loss_.total(s_.data()));
            gap_ = relative(gap_of(large_), primal);  // 1
            if (gap_ <= tol || is_over(gap_)) return;
            idle = gap_ < 0.5 * before || has_fallen(primal, lowest, gap_) ? 0 : idle + 1;
            if (idle > 2 * kIdle) return;
            before = gap_;
            lowest = primal;
            const Growth grown = grow(share, room);  // 2
            room *= 2;
            if (!grown.any && round > 0) tighter *= 0.1;
            const double inner = kInner * tighter * tol;
            newton(grown.cut ? std::max(inner, kLoose * gap_) : inner);  // 3
            slopes_.move_to(g_);
        }
    }

    static double relative(double gap, double primal) {
        if (gap == 0) return 0;
        return primal > 0 ? gap / primal : std::numeric_limits<double>::infinity();
    }

    // Whether an objective is lower by some of what the gap allows, and more than rounding.
    static bool has_fallen(double primal, double lowest, double gap) {
        return primal < (1 - std::max(kFall * gap, kRounding)) * lowest;
    }

    bool is_over(double gap) {
        if (told_ && told_(sweeps_, is_on_the_way_ ? 1.0 : gap)) is_stopped_ = true;
        return is_stopped_ || sweeps_ >= aim_.max_sweeps;
    }

    struct Growth {
        bool any, cut;
    };

    // Take the support and columns whose slope is above a share of their penalty into the set.
    Growth grow(double share, std::size_t room) {
        std::vector<std::pair<double, std::int64_t>> candidates;
        for (const std::int64_t j : large_) {
            if (in_set_[at(j)]) continue;
            if (w_[at(j)] != 0) {
                take(j);
                continue;
            }
            const double size = penalty_.positive ? -slope_[at(j)] : std::abs(slope_[at(j)]);
            const double corner = penalty_.corner(j);
            if (size > share * corner && size > 0)
                candidates.emplace_back(-size / std::max(corner, 1e-300), j);
        }
        room = std::max(room, support_.size());
        const bool cut = candidates.size() > room;
        if (cut) {
            const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(room);
            std::nth_element(candidates.begin(), end, candidates.end());
            candidates.erase(end, candidates.end());
        }
        for (const auto& one : candidates) take(one.second);
        std::sort(set_.begin(), set_.end());
        return {!candidates.empty(), cut};
    }

    void take(std::int64_t j) { in_set_[at(j)] = 1, set_.push_back(j); }

    // ------------------------------------------------------------------ the working set

    // Newton's method on the columns of the set, until the relative gap on them is small.
    void newton(double tol) {
        double best = std::numeric_limits<double>::infinity(), lowest = best;
        for (int idle = 0, step = 0;; ++step) {
            if (step > 0) take_slopes_of_set();
            active_.clear();
            support_.clear();
            double worst = 0;
            for (const std::int64_t j : set_) {
                const double violation = penalty_.violation(j, w_[at(j)], slope_[at(j)]);
                if (w_[at(j)] != 0) support_.push_back(j);
                if (w_[at(j)] != 0 || violation > 0) active_.push_back(j);
                worst = std::max(worst, violation);
            }
            const double primal = objective(loss_.total(s_.data()));
            const double gap = relative(gap_of(set_), primal);
            idle = gap < 0.5 * best || has_fallen(primal, lowest, gap) ? 0 : idle + 1;
            best = std::min(best, gap);
            lowest = std::min(lowest, primal);
            if (gap <= tol || active_.empty() || idle > kIdle) return;
            if (step > 0 && is_over(std::max(gap, gap_))) return;
            if (!move(primal, worst)) return;
        }
    }

    // One step of Newton's method; returns whether the objective fell.
    bool move(double primal, double worst) {
        before_.clear();
        for (const std::int64_t j : active_) before_.push_back(w_[at(j)]);
        minimise_model(worst);
        const double promised = find_step();
        const bool is_whole = loss_.is_quadratic() || falls(primal, promised);
        const double length = is_whole ? 1.0 : shortened();
        for (std::size_t i = 0; i < s_.size(); ++i) s_[i] += length * other_[i];
        b_ += length * model_.offset();
        centre();
        if (!loss_.has_steady_curvature()) lift_ = next_lift(length);
        return promised < 0 && length > 0;
    }

    // Curvatures that are 0 now may not be at the end of a step: where it had to be shorter, they
    // count for more in the next model.
    double next_lift(double length) const {
        if (length == 1) return std::max(kLeastLift, 0.25 * lift_);
        return std::min(1.0, lift_ * (length < 0.1 ? 16 : length < 0.5 ? 4 : 1));
    }

    void minimise_model(double worst) {
        if (!loss_.has_steady_curvature()) loss_.lift(lift_, h_.data());
        model_.begin(g_, h_, active_);
        const double enough = worst * (loss_.has_steady_curvature() ? kModel : kModelOfJumps);
        for (int k = 0; k < kSweeps && sweeps_ < aim_.max_sweeps; ++k) {
            ++sweeps_;
            const double moved = model_.sweep(penalty_, active_, kStill * enough, w_, restless_);
            for (const std::int64_t j : active_) rest(2 * x_[j].size());
            if (moved <= enough) return;
            if (model_.is_worth_equations(active_, w_))
                model_.exact(penalty_, active_, w_);
            else if (k >= kPatience && model_.is_worth_equations(restless_, w_))
                model_.exact(penalty_, restless_, w_);  // few that go together
        }
    }

    // The change of scores from the weights before; returns how the objective changes along it.
    double find_step() {
        std::fill(other_.begin(), other_.end(), model_.offset());
        by_.resize(active_.size());
        double promised = 0;
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const std::int64_t j = active_[k];
            by_[k] = w_[at(j)] - before_[k];
            if (by_[k] == 0) continue;
            add(x_[j], by_[k], other_.data());
            promised += penalty_(j, w_[at(j)]) - penalty_(j, before_[k]);
        }
        for (std::size_t i = 0; i < s_.size(); ++i) promised += g_[i] * other_[i];
        return promised;
    }

    // Whether the whole step makes the objective fall by enough of what it promised.
    bool falls(double primal, double promised) {
        for (std::size_t i = 0; i < s_.size(); ++i) there_[i] = s_[i] + other_[i];
        double value = loss_.total(there_.data());
        for (const std::int64_t j : active_) value += penalty_(j, w_[at(j)]);
        return value <= primal + kEnough * promised + kRounding * primal;
    }

    // How much of the step makes the objective least, found between lengths at which it falls and
    // grows; weights are set to that.
    double shortened() {
        double low = 1, high = 1;
        while (low > kShortest && rise(low) > 0) high = low, low *= 0.125;
        if (low <= kShortest) low = high = 0;
        for (int k = 0; k < kHalvings && low < high; ++k) {
            const double length = 0.5 * (low + high);
            (rise(length) > 0 ? high : low) = length;
        }
        for (std::size_t k = 0; k < active_.size(); ++k)
            w_[at(active_[k])] = before_[k] + low * by_[k];
        return low;
    }

    // The slope of the objective along the step.
    double rise(double length) {
        for (std::size_t i = 0; i < s_.size(); ++i) there_[i] = s_[i] + length * other_[i];
        loss_.slopes(there_.data(), end_g_.data(), end_h_.data());
        double slope = 0;
        for (std::size_t i = 0; i < s_.size(); ++i) slope += end_g_[i] * other_[i];
        for (std::size_t k = 0; k < active_.size(); ++k) {
            const std::int64_t j = active_[k];
            const double v = before_[k] + length * by_[k], corner = penalty_.corner(j);
            slope += by_[k] * (penalty_.curve(j) * v + (v > 0 ? corner : v < 0 ? -corner : 0.0));
        }
        return slope;
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
    CornerPenalty penalty_;
    bool fit_intercept_, is_pure_, is_stopped_ = false, is_on_the_way_ = false;
    PathAim aim_;
    std::function<bool(std::int64_t, double)> told_;
    std::function<void()> poll_;
    CoordinateModel model_;
    std::vector<double> w_;
    ColumnSlopes slopes_;
    std::vector<double>& slope_;             // by column
    std::vector<double> s_, g_, h_, other_;  // by row
    std::vector<std::int64_t> support_, large_, set_, active_, restless_;
    std::vector<char> in_set_;
    std::vector<double> before_, by_;            // of the active columns: weights and their change
    std::vector<double> there_, end_g_, end_h_;  // by row, at the end of a step
    double lift_ = kFirstLift;                   // least share of curvatures that jump
    double b_ = 0, gap_ = std::numeric_limits<double>::infinity();
    std::int64_t sweeps_ = 0, work_ = 0;
};

}  // namespace separable
