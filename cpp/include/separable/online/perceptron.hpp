// The perceptron (Rosenblatt 1958), one model a lane, one-vs-rest; averaged, with a pocket, voted.
//
//   problem   find w, b with y_i (w.x_i + b) > 0 for every row i; in the lane of class c,
//             y_i = +1 if row i is of class c, else -1
//   given     rows x_i, labels, weights, eta; a start w, b
//   returns   w, b and the number of mistakes in each epoch; averaged: the mean of all w as
//             w - u / t; with a pocket: the best w, b met; voted: the list of mistakes
//   steps     for each row in the epoch's order:
//             1. s = w.x + b
//             2. a mistake is y s <= 0; with a tie target y', a score of 0 is right where y = y'
//             3. on a mistake w += eta y x, b += eta y
//             4. averaged: u += t eta y x, t being the presentations before this one
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
// (the ghost) sees only negatives. Lanes not in use and lanes that have stopped have the target 0,
// which is never a mistake.
template <class Lane>
struct PerceptronBlock {
    using T = typename Lane::T;
    T* w;                 // [feature][lane]
    T* b;                 // [lane]
    double* u = nullptr;  // as w, for the mean; null: none is kept
    double* u_b = nullptr;
    std::int64_t first_class = 0;
    int n_lanes = 1;
    const bool* learning = nullptr;  // [lane], false: stopped; null: none has

    bool learns(int lane) const { return !learning || learning[lane]; }

    // y_i in each lane
    typename Lane::Score targets(std::int32_t label) const {
        auto y = negatives;
        const std::int64_t lane = label - first_class;
        if (lane >= 0 && lane < n_lanes && learns(static_cast<int>(lane)))
            Lane::set(y, static_cast<int>(lane), T(1));
        return y;
    }

    void prepare() {
        negatives = Lane::broadcast(T(0));
        for (int lane = 0; lane < n_lanes; ++lane)
            if (learns(lane)) Lane::set(negatives, lane, T(-1));
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

// A row as it is presented: steps 1 and 2.
template <class Lane>
struct PresentedRow {
    using Score = typename Lane::Score;
    std::int64_t i;
    Score y, s;
    Score wrong;    // eta y in the lanes that make a mistake, 0 in the others
    double weight;  // sample weight: how often it is presented
    double before;  // presentations before it

    bool mistaken() const { return Lane::any(wrong); }
};

// The epochs that the four perceptrons share; each has its own way to learn from a row.
template <class Lane>
class PerceptronEpochs {
   public:
    using T = typename Lane::T;
    using Score = typename Lane::Score;

    PerceptronEpochs(const Products<Lane>& rows, const OnlineProblem& problem,
                     PerceptronBlock<Lane> block, EpochOrder& order, std::int64_t first_epoch,
                     std::int64_t max_epochs, double presented, Heartbeat& heartbeat)
        : x(rows),
          problem(problem),
          w(block.w),
          b(Lane::load(block.b)),
          block_(block),
          order_(order),
          first_epoch_(first_epoch),
          max_epochs_(max_epochs),
          heartbeat_(heartbeat),
          mistakes_(static_cast<std::size_t>(block.n_lanes)) {
        block_.prepare();
        run_.presented = presented;
    }

    const Products<Lane>& x;
    const OnlineProblem& problem;
    T* w;
    Score b;

    template <class Learn>
    OnlineRun run(Learn learn) {
        for (std::int64_t epoch = 0; epoch < max_epochs_ && !run_.converged; ++epoch) {
            order_.start(first_epoch_ + epoch);
            std::fill(mistakes_.begin(), mistakes_.end(), 0);
            for (std::size_t t = 0; t < order_.size(); ++t) {
                const auto row = present(t);  // 1, 2
                if (!Lane::all_finite(row.s)) {
                    run_.overflow_row = row.i;
                    Lane::store(b, block_.b);
                    return run_;
                }
                learn(row);  // 3, 4
                run_.presented += row.weight == 1 ? 1 : Presentations::count(row.weight);
                heartbeat_.row();
            }
            run_.converged =
                std::all_of(mistakes_.begin(), mistakes_.end(), [](auto m) { return m == 0; });
            run_.mistakes.push_back(mistakes_);
        }
        Lane::store(b, block_.b);
        return run_;
    }

    // What the mistakes of a row do to each lane; they are counted.
    PerceptronStep<Lane> step(const PresentedRow<Lane>& row) {
        const auto step = row.weight == 1
                              ? PerceptronStep<Lane>(row.wrong, row.before)
                              : PerceptronStep<Lane>(row.y, row.s, problem, squared_norm(row),
                                                     row.weight, row.before);
        for (std::size_t lane = 0; lane < mistakes_.size(); ++lane)
            mistakes_[lane] += step.mistakes[lane];
        return step;
    }

    double squared_norm(const PresentedRow<Lane>& row) const {
        return problem.squared_norm(x, row.i);
    }

   private:
    PresentedRow<Lane> present(std::size_t t) const {
        const std::int64_t i = order_[t];
        if (order_.fetches(t)) x.prefetch(order_.to_fetch(t), order_[t + 1], w);
        const Score y = block_.targets(problem.label[i]);
        const Score s = x.dot(i, w) + b;
        const Score eta = Lane::broadcast(static_cast<T>(problem.eta));
        const Score wrong = where_mistaken<Lane>(problem, y, s, y * eta);
        return {i, y, s, wrong, problem.weight_of(i), run_.presented};
    }

    PerceptronBlock<Lane> block_;
    EpochOrder& order_;
    std::int64_t first_epoch_, max_epochs_;
    Heartbeat& heartbeat_;
    std::vector<std::int64_t> mistakes_;  // of this epoch, by lane
    OnlineRun run_;
};

template <class Lane>
OnlineRun perceptron(PerceptronEpochs<Lane>& epochs) {
    return epochs.run([&](const PresentedRow<Lane>& row) {
        if (!row.mistaken()) return;
        const auto step = epochs.step(row);
        epochs.x.add(row.i, step.size, epochs.w);  // w += eta y x
        if (epochs.problem.fit_intercept) epochs.b = epochs.b + step.size;
    });
}

template <class Lane>
OnlineRun averaged_perceptron(PerceptronEpochs<Lane>& epochs, double* u, double* u_b) {
    return epochs.run([&](const PresentedRow<Lane>& row) {
        if (!row.mistaken()) return;
        const auto step = epochs.step(row);
        epochs.x.add_timed(row.i, step.size, step.time, epochs.w, u);  // and u += t eta y x
        if (!epochs.problem.fit_intercept) return;
        const auto before = epochs.b;
        epochs.b = epochs.b + step.size;
        for (int lane = 0; lane < Lane::kWidth; ++lane)
            u_b[lane] += step.time[lane] * (static_cast<double>(Lane::get(epochs.b, lane)) -
                                            static_cast<double>(Lane::get(before, lane)));
    });
}

// The best weights met go into the pocket.
template <class Lane>
OnlineRun pocket_perceptron(PerceptronEpochs<Lane>& epochs, Pocket<Lane>& pocket) {
    const auto run = epochs.run([&](const PresentedRow<Lane>& row) {
        if (row.mistaken()) {
            const auto step = epochs.step(row);
            pocket.end_runs(row.wrong, epochs.w, epochs.b);
            epochs.x.add(row.i, step.size, epochs.w);
            if (epochs.problem.fit_intercept) epochs.b = epochs.b + step.size;
        }
        pocket.count_row(row.wrong);
    });
    if (run.overflow_row < 0) pocket.finish(epochs.w, epochs.b);
    return run;
}

// All weights met vote later: the mistakes that lead to them are recorded.
template <class Lane>
OnlineRun voted_perceptron(PerceptronEpochs<Lane>& epochs, MistakeRecord<Lane>& record) {
    return epochs.run([&](const PresentedRow<Lane>& row) {
        if (!row.mistaken()) return;
        const auto step = epochs.step(row);
        record.note(row.i, row.y, row.s, epochs.problem, epochs.squared_norm(row), row.weight,
                    row.before);
        epochs.x.add(row.i, step.size, epochs.w);
        if (epochs.problem.fit_intercept) epochs.b = epochs.b + step.size;
    });
}

}  // namespace separable
