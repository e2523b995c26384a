// The pocket: the best weights that a perceptron meets, lane by lane.
//
//   problem   of all the weights of a run, find those with the fewest training mistakes
//   given     the weights before each update
//   returns   the best of the weights that were evaluated, and their mistakes
//   steps     1. count how many rows in a row each lane gets right
//             2. when a mistake ends a run, evaluate the weights before they change: count the
//                lane's mistakes on all rows, up to those of the pocket
//             3. fewer than the pocket's: the weights go into the pocket
//             The last weights are evaluated too.
//   source    Gallant 1990 (with the ratchet)
//
// Every run is evaluated while that is cheap: so many numbers read as the caller allows, or four
// times what the training has read. So on small data all weights are evaluated; beyond that only
// runs that set a record, which happens about log(n) times.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

// When the pocket evaluates: step 2.
class EvaluationBudget {
   public:
    // `cheap_values`: numbers that may be read whatever the training has read.
    EvaluationBudget(std::size_t n_rows, std::int64_t n_values, std::int64_t cheap_values)
        : n_rows_(static_cast<std::int64_t>(n_rows)),
          cheap_rows_(cheap_values / std::max<std::int64_t>(1, n_values) * n_rows_) {}

    void row_presented() { ++presented_; }
    void row_evaluated() { ++evaluated_; }

    bool allows(std::int64_t run, std::int64_t& record) const {
        const bool sets_record = run > record;
        record = std::max(record, run);
        return sets_record || evaluated_ + n_rows_ <= std::max(cheap_rows_, kTimes * presented_);
    }

   private:
    static constexpr std::int64_t kTimes = 4;
    std::int64_t n_rows_, cheap_rows_, presented_ = 0, evaluated_ = 0;
};

template <class Lane>
class Pocket {
   public:
    using T = typename Lane::T;
    using Score = typename Lane::Score;

    // targets(i) gives y_i in each lane, 0 in lanes not in use.
    Pocket(const Products<Lane>& x, const OnlineProblem& problem,
           std::span<const std::int64_t> rows, std::function<Score(std::int64_t)> targets,
           int n_lanes, std::int64_t cheap_values, Heartbeat& heartbeat)
        : x_(x),
          problem_(problem),
          rows_(rows),
          targets_(std::move(targets)),
          n_lanes_(n_lanes),
          budget_(rows.size(), x.n_values, cheap_values),
          heartbeat_(heartbeat),
          run_(Lane::kWidth, 0),
          record_(Lane::kWidth, 0),
          w(static_cast<std::size_t>(x.n_features * Lane::kWidth), T(0)),
          b(Lane::kWidth, T(0)),
          mistakes(Lane::kWidth, std::numeric_limits<double>::infinity()) {}

    // Step 2, before an update: `step` is not 0 in the lanes that made a mistake.
    void end_runs(const Score& step, const T* weights, const Score& intercept) {
        std::vector<int> ended;
        for (int lane = 0; lane < n_lanes_; ++lane)
            if (Lane::get(step, lane) != T(0) && budget_.allows(run_[lane], record_[lane]))
                ended.push_back(lane);
        if (!ended.empty()) evaluate(ended, weights, intercept);
    }

    // Step 1, after a row.
    void count_row(const Score& step) {
        budget_.row_presented();
        for (int lane = 0; lane < n_lanes_; ++lane)
            run_[lane] = Lane::get(step, lane) != T(0) ? 0 : run_[lane] + 1;
    }

    void finish(const T* weights, const Score& intercept) {
        std::vector<int> all;
        for (int lane = 0; lane < n_lanes_; ++lane) all.push_back(lane);
        evaluate(all, weights, intercept);
    }

   private:
    // Step 3.
    void evaluate(const std::vector<int>& lanes, const T* weights, const Score& intercept) {
        std::vector<double> wrong(Lane::kWidth, 0.0);
        for (const std::int64_t i : rows_) {
            const Score y = targets_(i), s = x_.dot(i, weights) + intercept, margin = y * s;
            bool hope = false;
            for (const int lane : lanes) {
                const bool tie = Lane::get(s, lane) == T(0);
                const bool right = Lane::get(margin, lane) > T(0) ||
                                   (tie && problem_.tie_is_right(Lane::get(y, lane)));
                if (!right) wrong[lane] += problem_.weight_of(i);
                hope |= wrong[lane] < mistakes[lane];
            }
            budget_.row_evaluated();
            heartbeat_.row();
            if (!hope) return;
        }
        for (const int lane : lanes) {
            if (wrong[lane] >= mistakes[lane]) continue;
            mistakes[lane] = wrong[lane];
            b[lane] = Lane::get(intercept, lane);
            for (std::int64_t j = 0; j < x_.n_features; ++j)
                w[j * Lane::kWidth + lane] = weights[j * Lane::kWidth + lane];
        }
    }

    const Products<Lane>& x_;
    const OnlineProblem& problem_;
    std::span<const std::int64_t> rows_;
    std::function<Score(std::int64_t)> targets_;
    int n_lanes_;
    EvaluationBudget budget_;
    Heartbeat& heartbeat_;
    std::vector<std::int64_t> run_, record_;

   public:
    std::vector<T> w, b;
    std::vector<double> mistakes;  // weight of the rows the pocket's weights get wrong
};

}  // namespace separable
