// Limited-memory BFGS for the lanes of a smooth objective, in preconditioned coordinates.
//
//   problem  minimise f(w, b) of each lane; w = A u, b = s v with f well conditioned in u and v
//   given    an objective that evaluates many lanes in one pass over the rows; A (d x d)
//            and s
//   returns  weights, value, a bound on the duality gap, and the squared Newton decrement / 2
//   steps    1. the two-loop recursion for a direction; 2. the stopping rule; 3. one evaluation of
//            the trial points of all lanes; 4. each lane accepts its step or shortens it
//   source   J. Nocedal, Updating quasi-Newton matrices with limited storage (1980);
//            W. Hager and H. Zhang, A new conjugate gradient method with guaranteed descent and an
//            efficient line search (2005), for steps whose decrease is lost in rounding
//
// A first run on a sample of the rows, with C so much larger, leaves weights and curvature for the
// run on all rows. Lanes share passes over the rows and nothing else: each has its own memory, step
// length and end.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "separable/certified/preconditioned.hpp"

namespace separable {

struct LbfgsOptions {
    double gap_tol = 0;          // stop at this duality gap, relative to the value
    double decrement_ratio = 0;  // stop at this decrement, relative to the value
    std::int64_t max_evaluations = 1000;
    double value_rounding = 1e-15;  // relative rounding error of a value
    std::int64_t memory = 20;
    std::int64_t min_kept = 5;  // steps before a decrement is trusted
    double sample_tol = 0;      // a run on a sample stops at this decrement; 0: there is none
};

struct LbfgsResult {
    double value = 0, gap = 0, decrement = 0;
    std::int64_t evaluations = 0;
    bool converged = false;
};

// The state of one lane; vectors are n_vectors x (d + 1), the intercept last.
class LbfgsLane {
   public:
    LbfgsLane(double* weights, const Preconditioner& coordinates, double decrement_tol,
              const LbfgsOptions& options)
        : weights_(weights),
          coordinates_(coordinates),
          decrement_tol_(decrement_tol),
          options_(options),
          is_sample_(options.sample_tol > 0) {
        const std::size_t size = coordinates.size();
        for (auto* each :
             {&trial_, &raw_gradient_, &gradient_, &new_gradient_, &direction_, &raw_direction_})
            each->assign(size, 0.0);
        steps_.resize(static_cast<std::size_t>(options.memory));
        changes_.resize(static_cast<std::size_t>(options.memory));
        inverse_.assign(static_cast<std::size_t>(options.memory), 0.0);
        std::copy_n(weights, size, trial_.begin());
    }

    const double* trial() const { return trial_.data(); }
    double* raw_gradient() { return raw_gradient_.data(); }
    bool is_active() const { return is_active_; }
    const LbfgsResult& result() const { return result_; }

    // Take the value and the gradient at the trial point, and choose the next trial point.
    void take(double value) {
        ++result_.evaluations;
        coordinates_.gradient(raw_gradient_.data(), new_gradient_.data());
        if (is_new_) {
            begin(value);
        } else if (is_accepted(value)) {
            remember(value);
        } else {
            shorten(value);
            return;
        }
        new_direction();
    }

    void stop() { is_active_ = false; }

    // Go on to all rows after a sample of one in `step`, from its weights and with its memory.
    void leave_sample(std::int64_t step) {
        is_sample_ = false;
        is_active_ = is_new_ = true;
        idle_ = 0;
        result_.evaluations = (result_.evaluations + step - 1) / step;
        std::copy_n(weights_, trial_.size(), trial_.begin());
    }

   private:
    void begin(double value) {
        is_new_ = false;
        result_.value = value;
        gradient_.swap(new_gradient_);
        measure_gap();
    }

    // A sufficient decrease, or, where rounding hides it, a slope that is flatter at the end.
    bool is_accepted(double value) const {
        if (!(value < std::numeric_limits<double>::infinity())) return false;
        constexpr double kDecrease = 1e-4;
        const double rounding = options_.value_rounding * std::abs(result_.value);
        if (value <= result_.value + kDecrease * length_ * slope_) return true;
        const double end = dot(new_gradient_, direction_);
        return value <= result_.value + rounding && std::abs(end) <= 0.9 * std::abs(slope_);
    }

    void remember(double value) {
        const auto at = static_cast<std::size_t>(n_kept_ % options_.memory);
        steps_[at] = direction_;
        for (double& each : steps_[at]) each *= length_;
        changes_[at] = new_gradient_;
        add(-1.0, gradient_, changes_[at]);
        const double product = dot(steps_[at], changes_[at]);
        const double squares = dot(changes_[at], changes_[at]);
        if (product > 1e-14 * squares && squares > 0) {
            inverse_[at] = 1.0 / product;
            scale_ = product / squares;
            ++n_kept_;
        }
        std::copy(trial_.begin(), trial_.end(), weights_);
        idle_ = value < result_.value - options_.value_rounding * std::abs(result_.value)
                    ? 0
                    : idle_ + 1;
        result_.value = value;
        gradient_.swap(new_gradient_);
        measure_gap();
    }

    // The natural dual point, of the probabilities at w, is within |gradient in w|^2 / 2; what is
    // left of the gradient in b costs about its square over the curvature.
    void measure_gap() {
        double of_intercepts = 0;
        const auto stride = static_cast<std::size_t>(coordinates_.d + 1);
        for (std::size_t c = stride - 1; c < raw_gradient_.size(); c += stride)
            of_intercepts += raw_gradient_[c] * raw_gradient_[c];
        result_.gap = 0.5 * (coordinates_.squared_norm(raw_gradient_.data()) +
                             coordinates_.s * coordinates_.s * of_intercepts);
    }

    void new_direction() {
        direction_ = gradient_;
        const std::int64_t kept = std::min(n_kept_, options_.memory);
        std::vector<double> alpha(static_cast<std::size_t>(kept));
        for (std::int64_t k = 0; k < kept; ++k) {
            const auto at = static_cast<std::size_t>((n_kept_ - 1 - k) % options_.memory);
            alpha[static_cast<std::size_t>(k)] = inverse_[at] * dot(steps_[at], direction_);
            add(-alpha[static_cast<std::size_t>(k)], changes_[at], direction_);
        }
        for (double& each : direction_) each *= scale_;
        for (std::int64_t k = kept - 1; k >= 0; --k) {
            const auto at = static_cast<std::size_t>((n_kept_ - 1 - k) % options_.memory);
            const double beta = inverse_[at] * dot(changes_[at], direction_);
            add(alpha[static_cast<std::size_t>(k)] - beta, steps_[at], direction_);
        }
        for (double& each : direction_) each = -each;
        slope_ = dot(gradient_, direction_);
        if (!(slope_ < 0)) {
            direction_ = gradient_;
            for (double& each : direction_) each = -each;
            slope_ = -dot(gradient_, gradient_);
            n_kept_ = 0, scale_ = 1.0;
        }
        result_.decrement = -0.5 * slope_;
        is_close_ = result_.decrement <= decrement_tol_ &&
                    result_.decrement <= options_.decrement_ratio * result_.value;
        if (is_sample_ && result_.decrement <= options_.sample_tol && n_kept_ > 0) {
            is_active_ = false;
            return;
        }
        // the first directions know little of the curvature, and so of the distance
        const bool is_small = is_close_ && n_kept_ >= options_.min_kept;
        const bool is_proved = !is_sample_ && result_.gap <= options_.gap_tol * result_.value;
        constexpr std::int64_t kMostIdle = 4;
        if (is_small || is_proved || !(slope_ < 0) || idle_ >= kMostIdle) {
            result_.converged = is_close_ || is_proved || !(slope_ < 0);
            is_active_ = false;
            return;
        }
        coordinates_.direction(direction_.data(), raw_direction_.data());
        length_ = 1.0;
        go();
    }

    // The minimum of the parabola through value, slope and the value at the end, within bounds.
    void shorten(double value) {
        constexpr double kShortest = 1e-10;
        const double excess = value - result_.value - length_ * slope_;
        double shorter = 0.1;
        if (std::isfinite(excess) && excess > 0)
            shorter = std::clamp(-0.5 * slope_ * length_ / excess, 0.1, 0.5);
        length_ *= shorter;
        if (length_ < kShortest) {
            result_.converged = is_close_;  // rounding hides any further decrease
            is_active_ = false;
            return;
        }
        go();
    }

    void go() {
        if (result_.evaluations >= options_.max_evaluations) {
            is_active_ = false;
            return;
        }
        for (std::size_t i = 0; i < trial_.size(); ++i)
            trial_[i] = weights_[i] + length_ * raw_direction_[i];
    }

    double* weights_;
    Preconditioner coordinates_;
    double decrement_tol_;
    LbfgsOptions options_;
    Vector trial_, raw_gradient_, gradient_, new_gradient_, direction_, raw_direction_;
    std::vector<Vector> steps_, changes_;
    std::vector<double> inverse_;
    double scale_ = 1.0, slope_ = 0, length_ = 1.0;
    std::int64_t n_kept_ = 0, idle_ = 0;
    bool is_active_ = true, is_close_ = false, is_new_ = true, is_sample_;
    LbfgsResult result_;
};

}  // namespace separable
