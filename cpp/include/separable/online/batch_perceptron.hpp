// The batch perceptron, one model a lane, one-vs-rest.
//
//   problem   find w, b with y_i (w.x_i + b) > 0 for every row i; in the lane of class c,
//             y_i = +1 if row i is of class c, else -1
//   given     rows x_i, labels, weights c_i (all 1: c is n below), eta, eps; a start w, b
//   returns   w, b, the misclassified rows of each epoch, |Delta| in each lane's last epoch
//   steps     1. Delta = 0
//             2. for each row with y (w.x + b) <= 0: Delta += c_i y (1, x); with a tie target y',
//                a score of 0 is right where y = y'
//             3. Delta /= c, the sum of all c_i
//             4. (b, w) += eta Delta
//             until no row is misclassified or |Delta| < eps; also when step 4 changes nothing,
//             as then it never will. A lane that stops keeps its weights while others go on.
//   source    Delta is minus a subgradient of the perceptron criterion: Duda, Hart, Stork 2001, 5.5
//
// Delta sums many rows, so it is kept in float64 whatever the weights are; the sum of m terms is
// within m 2^-53 of the sum of their sizes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"
#include "separable/online/perceptron.hpp"

namespace separable {

// Why a lane stopped: it did not, no row was misclassified, |Delta| < eps, step 4 changed nothing.
enum class BatchStop { none, no_mistakes, eps, stalled };

struct BatchRun {
    OnlineRun run;
    std::vector<double> delta_norm;  // |Delta| in the last epoch of each lane
    std::vector<BatchStop> stop;     // why each lane stopped
};

// Delta of each lane and its parts.
template <class Lane>
struct BatchDelta {
    std::vector<double> w, b;            // [feature][lane], [lane]
    std::vector<std::int64_t> mistakes;  // misclassified rows of each lane
    std::int64_t last_row = -1;          // the last row that was misclassified in any lane

    explicit BatchDelta(std::int64_t n_features)
        : w(static_cast<std::size_t>(n_features * Lane::kWidth)), b(Lane::kWidth) {}

    void clear() {
        std::fill(w.begin(), w.end(), 0.0);
        std::fill(b.begin(), b.end(), 0.0);
        mistakes.assign(Lane::kWidth, 0);
    }
};

// What step 4 did to each lane.
template <class Lane>
struct BatchStep {
    using T = typename Lane::T;
    double squared_norm[Lane::kWidth] = {};
    bool changed[Lane::kWidth] = {};

    // One weight of each lane; `total` and `eta` as in steps 3 and 4.
    void move(T* weight, const double* sum, double total, double eta) {
        for (int lane = 0; lane < Lane::kWidth; ++lane) {
            const double delta = sum[lane] / total;  // 3
            const T before = weight[lane];
            weight[lane] = static_cast<T>(static_cast<double>(before) + eta * delta);  // 4
            squared_norm[lane] += delta * delta;
            changed[lane] |= weight[lane] != before;
        }
    }
};

// Steps 1 and 2, in the lanes where `active` is 1, the others having 0. Returns the row whose score
// is not finite, or -1.
template <class Lane>
std::int64_t sum_mistakes(const Products<Lane>& x, const OnlineProblem& problem,
                          const PerceptronBlock<Lane>& block, const typename Lane::Score& active,
                          const EpochOrder& rows, BatchDelta<Lane>& delta, Heartbeat& heartbeat) {
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    const Score b = Lane::load(block.b);
    delta.clear();  // 1
    for (std::size_t t = 0; t < rows.size(); ++t) {
        const std::int64_t i = rows[t];
        if (rows.fetches(t)) x.prefetch(rows.to_fetch(t), rows[t + 1], block.w);
        heartbeat.row();
        const Score y = block.targets(problem.label[i]) * active;
        const Score s = x.dot(i, block.w) + b;
        if (!Lane::all_finite(s)) return i;
        const Score wrong = where_mistaken<Lane>(problem, y, s, y);  // 2: y, or 0
        if (!Lane::any(wrong)) continue;
        T sides[Lane::kWidth];
        double step[Lane::kWidth];
        Lane::store(wrong, sides);
        for (int lane = 0; lane < Lane::kWidth; ++lane) {
            step[lane] = problem.weight_of(i) * static_cast<double>(sides[lane]);
            delta.b[lane] += step[lane];
            delta.mistakes[lane] += sides[lane] != T(0);
        }
        x.accumulate(i, step, delta.w.data());
        delta.last_row = i;
    }
    return -1;
}

// Steps 3 and 4.
template <class Lane>
BatchStep<Lane> take_step(const OnlineProblem& problem, double total, const BatchDelta<Lane>& delta,
                          PerceptronBlock<Lane>& block) {
    BatchStep<Lane> step;
    for (std::size_t at = 0; at < delta.w.size(); at += Lane::kWidth)
        step.move(block.w + at, delta.w.data() + at, total, problem.eta);
    if (problem.fit_intercept) step.move(block.b, delta.b.data(), total, problem.eta);
    return step;
}

template <class Lane>
bool all_finite(const PerceptronBlock<Lane>& block, std::size_t size) {
    const auto finite = [](auto weight) { return std::isfinite(weight); };
    return std::all_of(block.w, block.w + size, finite) &&
           std::all_of(block.b, block.b + Lane::kWidth, finite);
}

template <class Lane>
BatchRun batch_perceptron(const Products<Lane>& x, const OnlineProblem& problem,
                          PerceptronBlock<Lane> block, const EpochOrder& rows,
                          std::int64_t max_epochs, double eps, Heartbeat& heartbeat) {
    using T = typename Lane::T;
    block.prepare();
    const auto n_lanes = static_cast<std::size_t>(block.n_lanes);
    BatchRun result{{}, std::vector<double>(n_lanes), std::vector<BatchStop>(n_lanes)};
    BatchDelta<Lane> delta(x.n_features);
    auto active = Lane::broadcast(T(1));
    std::size_t learning = n_lanes;
    double total = 0;
    for (std::size_t t = 0; t < rows.size(); ++t) total += problem.weight_of(rows[t]);

    for (std::int64_t epoch = 0; epoch < max_epochs && learning > 0; ++epoch) {
        result.run.overflow_row =
            sum_mistakes<Lane>(x, problem, block, active, rows, delta, heartbeat);
        if (result.run.overflow_row >= 0) return result;
        const auto step = take_step<Lane>(problem, total, delta, block);
        for (std::size_t lane = 0; lane < n_lanes; ++lane) {
            BatchStop& stop = result.stop[lane];
            if (stop != BatchStop::none) continue;
            result.delta_norm[lane] = std::sqrt(step.squared_norm[lane]);
            if (delta.mistakes[lane] == 0)
                stop = BatchStop::no_mistakes;
            else if (result.delta_norm[lane] < eps)
                stop = BatchStop::eps;
            else if (!step.changed[lane])
                stop = BatchStop::stalled;
            if (stop == BatchStop::none) continue;
            Lane::set(active, static_cast<int>(lane), T(0));
            --learning;
        }
        result.run.mistakes.emplace_back(delta.mistakes.begin(), delta.mistakes.begin() + n_lanes);
    }
    if (!all_finite(block, delta.w.size())) result.run.overflow_row = delta.last_row;
    result.run.converged = std::all_of(result.stop.begin(), result.stop.end(), [](BatchStop stop) {
        return stop == BatchStop::no_mistakes;
    });
    return result;
}

}  // namespace separable
