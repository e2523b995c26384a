// Widrow-Hoff, the delta rule: least squares, one row at a time.
//
//   problem   min over w, b of the sum of (w.x_i + b - y_i)^2 / 2
//   given     rows x_i, numbers y_i, weights, eta or a safety factor; a start w, b
//   returns   w, b and the mean squared error of each epoch, every row's taken before its step
//   steps     for each row in the epoch's order:
//             1. r = w.x + b - y
//             2. w -= eta r x, b -= eta r; with a safety factor c, eta = c / L, L being the largest
//                |x|^2 (in the space (1, x) if there is an intercept) of the rows met so far, this
//                one included
//             until kPatience epochs in a row fail to bring the error below 1 - tol times the
//             least so far (shuffled epochs go up and down a little)
//   source    Widrow and Hoff 1960
//
// With z = eta |x|^2, in the space (1, x) if there is an intercept, step 2 makes the r of its own
// row (1 - z) r. So k presentations in place are one step of eta r (1 + q + ... + q^(k-1)) with
// q = 1 - z, and no step overshoots, |q| <= 1, while eta <= 2 / max |x|^2.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

// The geometric series of q = 1 - z. It is built from D_m = 1 - q^m by D_2m = D_m (2 - D_m) and
// D_(m+1) = D_m + z (1 - D_m), so that a z far below 1 is not lost in 1 - z.
struct Geometric {
    double sum;   // 1 + q + ... + q^(k-1)
    double left;  // q^k

    Geometric(double z, std::int64_t k) {
        double D = 0;
        for (int bit = 53; bit >= 0; --bit) {  // weights are at most 2^53
            D *= 2 - D;
            if (k >> bit & 1) D += z * (1 - D);
        }
        sum = z != 0 ? D / z : static_cast<double>(k);
        left = 1 - D;
    }
};

// A row of weight k + f: its steps and its squared errors, for r = 1 and eta = 1.
struct RowSteps {
    double steps = 1;
    double squares = 1;

    RowSteps() = default;
    RowSteps(double z, double weight) {
        const std::int64_t whole = whole_count(std::floor(weight));
        const double fraction = weight - std::floor(weight);
        const Geometric r(z, whole), r_squared(z * (2 - z), whole);  // q^2 = 1 - z (2 - z)
        steps = r.sum + fraction * r.left;
        squares = r_squared.sum + fraction * r_squared.left;
    }
};

// Sums over the presentations of an epoch, or of a stream.
struct SquaredErrors {
    double sum = 0;       // of r^2
    double zero_sum = 0;  // of y^2, which is r^2 of the answer 0
    double weight = 0;

    double mean() const { return sum / weight; }
};

inline constexpr int kPatience = 5;

struct WidrowHoffProblem {
    OnlineProblem rows;              // without labels
    std::span<const double> target;  // y_i
    std::int64_t max_epochs = 1;
    double tol = -1;    // below 0: no stop
    double safety = 0;  // above 0: eta follows from it
    // Infinity, or for an eta that may overshoot: a stop needs an error of at most this, and of at
    // most twice the least so far.
    double most_error = std::numeric_limits<double>::infinity();
};

struct WidrowHoffRun {
    std::vector<double> mean_squared_error;  // [epoch]
    SquaredErrors last;                      // of the last epoch
    bool converged = false;                  // stopped by tol
    std::int64_t overflow_row = -1;          // the row whose error or step was not finite
    double largest_norm = 0;                 // L
};

// Steps 1 and 2 for one row; returns whether all stayed finite.
template <class T>
bool widrow_hoff_step(const Products<Single<T>>& x, const WidrowHoffProblem& problem,
                      std::int64_t i, T* w, T& b, double& largest_norm, SquaredErrors& errors) {
    const OnlineProblem& rows = problem.rows;
    const double y = problem.target[i], weight = rows.weight_of(i);
    const double r = static_cast<double>(x.dot(i, w) + b) - y;  // 1
    double eta = rows.eta;
    if (problem.safety > 0) {
        largest_norm = std::max(largest_norm, rows.squared_norm(x, i));
        eta = largest_norm > 0 ? problem.safety / largest_norm : 0;
    }
    const auto repeated =
        weight == 1 ? RowSteps() : RowSteps(eta * rows.squared_norm(x, i), weight);
    const T step = static_cast<T>(-eta * r * repeated.steps);
    errors.sum += r * r * repeated.squares;
    errors.zero_sum += weight * (y * y);
    errors.weight += weight;
    if (!std::isfinite(step) || !std::isfinite(errors.sum)) return false;
    x.add(i, step, w);  // 2
    if (rows.fit_intercept) b += step;
    return true;
}

template <class T>
WidrowHoffRun widrow_hoff(const Products<Single<T>>& x, const WidrowHoffProblem& problem, T* w,
                          T& b, EpochOrder& order, const SquaredErrors& before, double largest_norm,
                          Heartbeat& heartbeat) {
    WidrowHoffRun run;
    run.largest_norm = largest_norm;
    double least = std::numeric_limits<double>::infinity();
    int waited = 0;
    for (std::int64_t epoch = 0; epoch < problem.max_epochs && !run.converged; ++epoch) {
        order.start(epoch);
        run.last = epoch == 0 ? before : SquaredErrors();
        for (std::size_t t = 0; t < order.size(); ++t) {
            if (order.fetches(t)) x.prefetch(order.to_fetch(t), order[t + 1], w);
            if (!widrow_hoff_step(x, problem, order[t], w, b, run.largest_norm, run.last)) {
                run.overflow_row = order[t];
                return run;
            }
            heartbeat.row();
        }
        const double error = run.last.mean();
        waited = error < (1 - problem.tol) * least ? 0 : waited + 1;
        least = std::min(least, error);
        const bool calm =
            std::isinf(problem.most_error) || error <= std::min(problem.most_error, 2 * least);
        if (problem.tol >= 0 && calm) run.converged = error == 0 || waited >= kPatience;
        run.mean_squared_error.push_back(error);
    }
    return run;
}

}  // namespace separable
