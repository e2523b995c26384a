// Stochastic gradient descent: the loop over rows that every schedule shares.
//
//   problem   minimise (1/n) sum of loss(w.x_i + b, y_i) + penalty(w), one model a lane; in the
//             lane of class c, y_i = +1 if row i is of class c, else -1; in regression a number
//   given     rows, targets, sample weights, a loss, and an optimizer (sgd.hpp, adaptive_sgd.hpp)
//   returns   the optimizer's w and b; the sum of losses before each step, by epoch
//   steps     for each row in the order of the epoch, repeated by its sample weight:
//             1. s = w.x + b
//             2. the loss before the step is recorded (progressive validation)
//             3. a step against the gradient of the loss, as the optimizer defines it; the last
//                presentation of a weight k + f counts f
//   source    Robbins, Monro 1951; Bottou 2012, Stochastic gradient descent tricks
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/loss/losses.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

// Who is who: rows, targets, weights.
struct DescentProblem {
    std::span<const std::int32_t> label;  // classes of rows; empty in regression
    std::span<const double> number;       // numbers to predict; empty for classes
    std::span<const double> weight;       // sample weights; empty: all 1
    std::int64_t first_class = 0;         // the class of lane 0
    bool one_step = false;                // a row of weight k: one step, k times as long
    int n_lanes = 1;                      // lanes in use; the targets of the others are 0

    double weight_of(std::int64_t i) const { return weight.empty() ? 1.0 : weight[i]; }

    template <class T, int width>
    void targets(std::int64_t i, T (&y)[width]) const {
        if (label.empty()) {
            y[0] = static_cast<T>(number[i]);
            return;
        }
        const std::int64_t own = label[i] - first_class;
        for (int lane = 0; lane < width; ++lane)
            y[lane] = lane == own ? T(1) : (lane < n_lanes ? T(-1) : T(0));
    }
};

// Progressive validation: the loss of each row before it was learned from, summed up.
struct Progress {
    static constexpr int kMarks = 63;
    double* loss = nullptr;         // [lane], the sum of weight x loss so far; null: not kept
    double* marks = nullptr;        // [mark][lane], the sum after 1, 2, 4, 8, ... rows
    double* mark_weight = nullptr;  // [mark], the sum of weights there
    double examples = 0;            // rows so far
    double weight = 0;              // their weights

    template <class T>
    void count_row(const T* row_loss, double row_weight, int width) {
        for (int lane = 0; lane < width; ++lane) loss[lane] += row_weight * row_loss[lane];
        weight += row_weight;
        examples += 1;
        int exponent = 0;
        if (std::frexp(examples, &exponent) != 0.5) return;  // not a power of two
        const int mark = exponent - 1;
        for (int lane = 0; lane < width; ++lane) marks[mark * width + lane] = loss[lane];
        mark_weight[mark] = weight;
    }
};

// When epochs end: their mean loss was not below the best by more than `least` for `patience` of
// them.
struct StoppingRule {
    std::int64_t patience = 0;  // 0: never
    double least = 0;
    double best = 0;    // mean loss so far
    double weight = 1;  // of all rows and lanes
    std::int64_t waited = 0;

    bool ends(const std::vector<double>& losses) {
        if (patience == 0) return false;
        const double loss = std::accumulate(losses.begin(), losses.end(), 0.0) / weight;
        waited = loss < best - least ? 0 : waited + 1;
        if (loss < best) best = loss;
        return waited >= patience;
    }
};

// What a run of epochs returns.
struct DescentRun {
    std::vector<std::vector<double>> losses;  // [epoch][lane], sums of weight x loss
    std::int64_t overflow_row = -1;           // the row whose score was not finite
    bool converged = false;                   // the stopping rule ended it
};

// Step 2: the scores of some rows are noted, and their losses evaluated side by side.
template <class Lane>
class LossNotes {
   public:
    using T = typename Lane::T;

    // `measure`: the sums of an epoch are wanted.
    LossNotes(const LanesLoss<Lane>& loss, Progress& progress, bool measure)
        : loss_(loss), progress_(progress), measure_(measure), wanted_(measure || progress.loss) {}

    // `weight` of the row at its first presentation, 0 at others.
    void note(const T* s, const T* y, double fraction, double weight) {
        if (!wanted_) return;
        std::copy_n(s, width, s_ + n_ * width);
        std::copy_n(y, width, y_ + n_ * width);
        fraction_[n_] = fraction, weight_[n_] = weight;
        if (++n_ == kRows) evaluate();
    }

    // The sums since this was called last.
    std::vector<double> take(int n_lanes) {
        evaluate();
        std::vector<double> sums(sums_, sums_ + n_lanes);
        std::fill_n(sums_, width, 0.0);
        return sums;
    }

    void evaluate() {
        loss_.values(n_ * width, s_, y_, value_);
        for (std::size_t row = 0; row < n_; ++row) {
            const T* value = value_ + row * width;
            if (progress_.loss && weight_[row] > 0) progress_.count_row(value, weight_[row], width);
            if (measure_)
                for (int lane = 0; lane < width; ++lane)
                    sums_[lane] += fraction_[row] * value[lane];
        }
        n_ = 0;
    }

   private:
    static constexpr int width = Lane::kWidth;
    static constexpr std::size_t kRows = 64;

    const LanesLoss<Lane>& loss_;
    Progress& progress_;
    bool measure_, wanted_;
    std::size_t n_ = 0;
    double sums_[width] = {}, fraction_[kRows], weight_[kRows];
    alignas(kLineBytes) T s_[kRows * width], y_[kRows * width], value_[kRows * width];
};

template <class Lane, class Descent>
DescentRun descend(const Products<Lane>& x, const DescentProblem& problem,
                   const LanesLoss<Lane>& loss, Descent& descent, EpochOrder& order,
                   std::int64_t first_epoch, std::int64_t max_epochs, StoppingRule stopping,
                   Progress& progress, bool measure, Heartbeat& heartbeat) {
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    constexpr int width = Lane::kWidth;
    DescentRun run;
    LossNotes<Lane> notes(loss, progress, measure);
    T s[width], y[width] = {};
    for (std::int64_t epoch = 0; epoch < max_epochs && !run.converged; ++epoch) {
        order.start(first_epoch + epoch);
        for (std::size_t t = 0; t < order.size(); ++t) {
            const std::int64_t i = order[t];
            if (order.fetches(t)) descent.prefetch(x, order.to_fetch(t), order[t + 1]);
            problem.targets(i, y);
            const double weight = problem.weight_of(i);
            const double most = problem.one_step ? weight : 1;
            for (double left = weight; left > 0; left -= most) {
                const double fraction = std::min(left, most);
                const Score score = descent.score(x, i, y, fraction);  // 1
                if (!Lane::all_finite(score)) {
                    notes.evaluate();
                    run.overflow_row = i;
                    return run;
                }
                Lane::store(score, s);
                notes.note(s, y, fraction, left == weight ? weight : 0);  // 2
                descent.step(x, i, loss, s, y, fraction);                 // 3
                heartbeat.row();
            }
        }
        run.losses.push_back(notes.take(problem.n_lanes));
        run.converged = stopping.ends(run.losses.back());
    }
    return run;
}

}  // namespace separable
