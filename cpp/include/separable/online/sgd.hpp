// SGD with one step size eta_t for all weights, from a schedule.
//
//   problem   see descent.hpp; penalty(w) = l2 |w|^2 / 2 + l1 |w|_1, b is free
//   given     a schedule of eta_t
//   returns   w = c v and b; with u the mean of all w as (a v - u) / count
//   steps     of one row:
//             1. lazy l1 penalty: the accumulated penalty is applied only to the weights of the
//                non-zeros
//             2. s = c v.x + b
//             3. c *= max(0, 1 - eta l2)
//             4. v -= eta g x / c, b -= eta g
//             5. due += eta l1 / c, for every v
//             6. a += c, count += 1: the mean of c v over all steps
//   source    cumulative l1 penalty: Tsuruoka, Tsujii, Ananiadou
//             2009; the scale c: Shalev-Shwartz, Singer, Srebro 2007; t_0 of "optimal": Bottou 2012
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "separable/data/products.hpp"
#include "separable/loss/losses.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// The size of step t = 1, 2, ...
struct Schedule {
    enum class Kind { constant, inverse_scaling, optimal };
    Kind kind = Kind::constant;
    double eta0 = 0.01;
    double power = 0.5;
    double alpha = 1e-4, t0 = 1;  // of "optimal": eta = 1 / (alpha (t0 + t - 1))

    double eta(double t) const {
        if (kind == Kind::constant) return eta0;
        if (kind == Kind::inverse_scaling) return eta0 / std::pow(t, power);
        return 1 / (alpha * (t0 + t - 1));
    }
};

// What else chooses a step.
struct StepRule {
    double intercept_rate = 1;  // eta of the intercept, over that of the weights
    double largest_gradient = std::numeric_limits<double>::infinity();  // larger ones are cut
};

// The numbers that move with the steps and are the same in every lane.
struct SgdClock {
    double steps = 0;
    double scale = 1;  // c
    double due = 0;    // what the l1 penalty could have taken from each |v| so far
    double mean_scale = 0, mean_count = 0;
};

template <class Lane>
class SgdDescent {
   public:
    using T = typename Lane::T;
    using Score = typename Lane::Score;

    struct Arrays {
        T* v;
        T* b;
        double* u = nullptr;  // with u_b: the mean is kept
        double* u_b = nullptr;
        double* q = nullptr;  // what the l1 penalty has taken from each v; null: no l1
    };

    SgdDescent(const Arrays& arrays, std::int64_t n_features, const Schedule& schedule, double l1,
               double l2, double mean_from, bool fit_intercept, const StepRule& rule,
               SgdClock& clock)
        : a_(arrays),
          n_features_(n_features),
          schedule_(schedule),
          l1_(l1),
          l2_(l2),
          mean_from_(mean_from),
          fit_intercept_(fit_intercept),
          rule_(rule),
          clock_(clock),
          b_(Lane::load(arrays.b)) {}

    ~SgdDescent() { Lane::store(b_, a_.b); }

    // Row `far` comes soon, row `near` next.
    void prefetch(const Products<Lane>& x, std::int64_t far, std::int64_t near) const {
        x.prefetch(far, near, a_.v);
    }

    Score score(const Products<Lane>& x, std::int64_t i, const T*, double) {
        if (a_.q) x.shrink(i, clock_.due, a_.q, a_.v, a_.u, clock_.mean_scale);      // 1
        return x.dot(i, a_.v) * Lane::broadcast(static_cast<T>(clock_.scale)) + b_;  // 2
    }

    void step(const Products<Lane>& x, std::int64_t i, const LanesLoss<Lane>& loss, const T* s,
              const T* y, double fraction) {
        T gradients[Lane::kWidth];
        loss.gradients(s, y, gradients);
        if (std::isfinite(rule_.largest_gradient)) {
            const T largest = static_cast<T>(rule_.largest_gradient);
            for (T& each : gradients) each = std::clamp(each, -largest, largest);
        }
        const Score g = Lane::load(gradients) * Lane::broadcast(static_cast<T>(fraction));
        const double eta = schedule_.eta(clock_.steps + 1);
        clock_.scale *= std::max(0.0, 1 - eta * l2_);  // 3
        if (clock_.scale < kSmallestScale) fold();
        const bool averages = a_.u && clock_.steps >= mean_from_;
        if (Lane::any(g)) {  // 4
            const Score size = g * Lane::broadcast(static_cast<T>(-eta / clock_.scale));
            if (averages) {
                double time[Lane::kWidth];
                std::fill_n(time, Lane::kWidth, clock_.mean_scale);
                x.add_timed(i, size, time, a_.v, a_.u);
            } else {
                x.add(i, size, a_.v);
            }
            if (fit_intercept_)
                move_intercept(g * Lane::broadcast(static_cast<T>(-eta * rule_.intercept_rate)));
        }
        clock_.due += eta * l1_ / clock_.scale;  // 5
        clock_.steps += 1;
        if (averages) clock_.mean_scale += clock_.scale, clock_.mean_count += 1;  // 6
    }

   private:
    static constexpr double kSmallestScale = 1e-9;

    void move_intercept(const Score& by) {
        const Score before = b_;
        b_ = b_ + by;
        if (!a_.u_b) return;
        for (int lane = 0; lane < Lane::kWidth; ++lane)
            a_.u_b[lane] += clock_.mean_count * (static_cast<double>(Lane::get(b_, lane)) -
                                                 static_cast<double>(Lane::get(before, lane)));
    }

    // v takes over the scale before it gets too small; w = c v and the sum a v - u stay the same.
    void fold() {
        const std::int64_t size = n_features_ * Lane::kWidth;
        if (clock_.scale == 0 && a_.u)
            for (std::int64_t k = 0; k < size; ++k) a_.u[k] -= clock_.mean_scale * a_.v[k];
        for (std::int64_t k = 0; k < size; ++k) a_.v[k] = static_cast<T>(a_.v[k] * clock_.scale);
        if (a_.q)
            for (std::int64_t k = 0; k < size; ++k) a_.q[k] *= clock_.scale;
        clock_.due *= clock_.scale;
        clock_.mean_scale = clock_.scale > 0 ? clock_.mean_scale / clock_.scale : 0;
        clock_.scale = 1;
    }

    Arrays a_;
    std::int64_t n_features_;
    Schedule schedule_;
    double l1_, l2_, mean_from_;
    bool fit_intercept_;
    StepRule rule_;
    SgdClock& clock_;
    Score b_;
};

}  // namespace separable
