// The perceptron (Rosenblatt 1958), one model a lane, one-vs-rest.
//
//   problem   find w, b with y_i (w.x_i + b) > 0 for every row i; in the lane of class c,
//             y_i = +1 if row i is of class c, else -1
//   given     rows x_i, labels, weights, eta; a start w, b
//   returns   w, b and the number of mistakes in each epoch; with u the mean of all w as
//             w - u / t (AveragedPerceptron); with a record the list of mistakes (VotedPerceptron)
//   steps     for each row in the epoch's order:
//             1. s = w.x + b
//             2. a mistake is y s <= 0; with a tie target y', a score of 0 is right where y = y'
//             3. on a mistake w += eta y x, b += eta y
//             4. u += t eta y x, t being the presentations before this one
//             until an epoch makes no mistake
//   source    Novikoff 1962 (at most (R / gamma)^2 mistakes); the lazy mean: Daume 2006, 2.3
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"
#include "separable/online/mistakes.hpp"
#include "separable/online/pocket.hpp"

namespace separable {

// A block of lanes: lane l learns class first_class + l against the rest. A class that no row has
// (the ghost) sees only negatives.
template <class Lane>
struct PerceptronBlock {
    using T = typename Lane::T;
    T* w;                 // [feature][lane]
    T* b;                 // [lane]
    double* u = nullptr;  // as w, for the mean; null: none is kept
    double* u_b = nullptr;
    std::int64_t first_class = 0;
    int n_lanes = 1;  // lanes in use; the others stay 0

    // y_i in each lane, and 0 in lanes not in use
    typename Lane::Score targets(std::int32_t label) const {
        auto y = negatives;
        const std::int64_t lane = label - first_class;
        if (lane >= 0 && lane < n_lanes) Lane::set(y, static_cast<int>(lane), T(1));
        return y;
    }

    void prepare() {
        negatives = Lane::broadcast(T(0));
        for (int lane = 0; lane < n_lanes; ++lane) Lane::set(negatives, lane, T(-1));
    }

    typename Lane::Score negatives;
};

// What a row with a mistake in some lane does to each lane.
template <class Lane>
struct PerceptronStep {
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    Score size;                 // the step along x: eta y, or 0
    double time[Lane::kWidth];  // the presentations before it
    std::int64_t mistakes[Lane::kWidth];

    // A row of weight 1: `unit` is its step.
    PerceptronStep(const Score& unit, double presented) : size(unit) {
        T steps[Lane::kWidth];
        Lane::store(unit, steps);
        for (int lane = 0; lane < Lane::kWidth; ++lane) time[lane] = presented;
        for (int lane = 0; lane < Lane::kWidth; ++lane) mistakes[lane] = steps[lane] != T(0);
    }

    // A row of any weight: several steps in one, `time` being their mean.
    PerceptronStep(const Score& y, const Score& s, const OnlineProblem& problem,
                   double squared_norm, double weight, double presented)
        : size(Lane::broadcast(T(0))) {
        for (int lane = 0; lane < Lane::kWidth; ++lane) {
            const double target = Lane::get(y, lane);
            time[lane] = mistakes[lane] = 0;
            if (target == 0) continue;
            const Presentations p(target * Lane::get(s, lane), problem.eta * squared_norm, weight,
                                  presented, problem.tie_is_right(target));
            mistakes[lane] = p.mistakes;
            if (p.steps == 0) continue;
            Lane::set(size, lane, static_cast<T>(problem.eta * target * p.steps));
            time[lane] = p.steps_time / p.steps;
        }
    }
};

// Step 2: `step` in the lanes that make a mistake, 0 in the others.
template <class Lane>
typename Lane::Score where_mistaken(const OnlineProblem& problem, const typename Lane::Score& y,
                                    const typename Lane::Score& s,
                                    const typename Lane::Score& step) {
    using T = typename Lane::T;
    auto wrong = Lane::where_not_positive(y * s, step);
    if (problem.tie_target != 0 && Lane::any(wrong))
        for (int lane = 0; lane < Lane::kWidth; ++lane)
            if (Lane::get(s, lane) == T(0) && problem.tie_is_right(Lane::get(y, lane)))
                Lane::set(wrong, lane, T(0));
    return wrong;
}

// b += step, and its share in the mean.
template <class Lane>
void add_to_intercept(typename Lane::Score& b, const PerceptronStep<Lane>& step, double* u_b) {
    const auto before = b;
    b = b + step.size;
    if (!u_b) return;
    for (int lane = 0; lane < Lane::kWidth; ++lane)
        u_b[lane] += step.time[lane] * (static_cast<double>(Lane::get(b, lane)) -
                                        static_cast<double>(Lane::get(before, lane)));
}

template <class Lane>
OnlineRun perceptron(const Products<Lane>& x, const OnlineProblem& problem,
                     PerceptronBlock<Lane> block, EpochOrder& order, std::int64_t first_epoch,
                     std::int64_t max_epochs, double presented, Pocket<Lane>* pocket,
                     MistakeRecord<Lane>* record, Heartbeat& heartbeat) {
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    block.prepare();
    OnlineRun run;
    run.presented = presented;
    const Score eta = Lane::broadcast(static_cast<T>(problem.eta));
    Score b = Lane::load(block.b);

    for (std::int64_t epoch = 0; epoch < max_epochs && !run.converged; ++epoch) {
        order.start(first_epoch + epoch);
        std::vector<std::int64_t> mistakes(static_cast<std::size_t>(block.n_lanes), 0);
        for (std::size_t t = 0; t < order.size(); ++t) {
            const std::int64_t i = order[t];
            if (order.fetches(t)) x.prefetch(order.to_fetch(t), order[t + 1], block.w);
            const Score y = block.targets(problem.label[i]);
            const Score s = x.dot(i, block.w) + b;  // 1
            if (!Lane::all_finite(s)) {
                run.overflow_row = i;
                Lane::store(b, block.b);
                return run;
            }
            const double weight = problem.weight_of(i);
            const Score unit = where_mistaken<Lane>(problem, y, s, y * eta);  // 2
            if (Lane::any(unit)) {
                const auto step =
                    weight == 1 ? PerceptronStep<Lane>(unit, run.presented)
                                : PerceptronStep<Lane>(y, s, problem, problem.squared_norm(x, i),
                                                       weight, run.presented);
                for (int lane = 0; lane < block.n_lanes; ++lane)
                    mistakes[lane] += step.mistakes[lane];
                if (pocket) pocket->end_runs(unit, block.w, b);
                if (record)
                    record->note(i, y, s, problem, problem.squared_norm(x, i), weight,
                                 run.presented);
                if (block.u)
                    x.add_timed(i, step.size, step.time, block.w, block.u);  // 3, 4
                else
                    x.add(i, step.size, block.w);  // 3
                if (problem.fit_intercept) add_to_intercept<Lane>(b, step, block.u_b);
            }
            if (pocket) pocket->count_row(unit);
            run.presented += weight == 1 ? 1 : Presentations::count(weight);
            heartbeat.row();
        }
        run.converged = std::all_of(mistakes.begin(), mistakes.end(), [](auto m) { return !m; });
        run.mistakes.push_back(std::move(mistakes));
    }
    Lane::store(b, block.b);
    if (pocket) pocket->finish(block.w, b);
    return run;
}

}  // namespace separable
