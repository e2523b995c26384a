// Epochs of online learners: the order of the rows, repetitions by sample weight, stopping.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "separable/math/heartbeat.hpp"
#include "separable/math/shuffle.hpp"

namespace separable {

// The order of rows in each epoch: as given, or shuffled. A shuffled epoch cuts the rows into
// windows at a random place, takes the windows in a random order and the rows of each window in a
// random order. The caller has shuffled the rows themselves, once; where they are copied in that
// order and short, fetching one window ahead asks memory for one stretch after the other. Few rows
// are one window. (Windows of 128 rows leave the last weights of a perceptron visibly worse,
// windows of 1024 do not.)
class EpochOrder {
   public:
    EpochOrder(std::vector<std::int64_t> rows, bool shuffle, std::uint64_t seed,
               std::int64_t row_bytes)
        : rows_(std::move(rows)),
          shuffle_(shuffle),
          seed_(seed),
          fetch_windows_(row_bytes * static_cast<std::int64_t>(kWindowRows) <= kCachedBytes),
          order_(rows_),
          fetched_(rows_),
          ahead_(kRowsAhead) {}

    void start(std::int64_t epoch) {
        if (!shuffle_) return;
        Shuffle shuffle(seed_, static_cast<std::uint64_t>(epoch) + 1);
        const std::size_t n = rows_.size(), window = n < kFewRows ? n : kWindowRows;
        const std::size_t cut = window < n ? shuffle.below(window) : 0;
        std::vector<std::size_t> starts;
        if (cut > 0) starts.push_back(0);
        for (std::size_t start = cut; start < n; start += window) starts.push_back(start);
        shuffle(std::span(starts));
        fetched_.clear();
        for (const std::size_t start : starts)
            fetched_.insert(fetched_.end(), rows_.begin() + start,
                            rows_.begin() + (start < cut ? cut : std::min(n, start + window)));
        order_ = fetched_;
        std::size_t first = 0;
        for (const std::size_t start : starts) {
            const std::size_t size = (start < cut ? cut : std::min(n, start + window)) - start;
            shuffle(std::span(order_).subspan(first, size));
            first += size;
        }
        if (window < n && fetch_windows_)
            ahead_ = window;
        else
            fetched_ = order_;
    }

    std::size_t size() const { return order_.size(); }
    std::int64_t operator[](std::size_t t) const { return order_[t]; }

    // The row to fetch from memory while row t is learned from.
    bool fetches(std::size_t t) const { return t + ahead_ < fetched_.size(); }
    std::int64_t to_fetch(std::size_t t) const { return fetched_[t + ahead_]; }

   private:
    static constexpr std::size_t kWindowRows = 1024, kFewRows = 16 * kWindowRows, kRowsAhead = 4;
    static constexpr std::int64_t kCachedBytes = 1 << 20;
    std::vector<std::int64_t> rows_;
    bool shuffle_;
    std::uint64_t seed_;
    bool fetch_windows_;
    std::vector<std::int64_t> order_, fetched_;
    std::size_t ahead_;
};

// A row of weight k + f is presented k times and once more with its step scaled by f. For a rule
// that steps by 1 on every mistake, and gains `gain` in margin by a step of 1: all presentations in
// closed form. A mistake is a margin that is negative or, unless `tie_is_right`, 0.
inline std::int64_t whole_count(double count) {  // weights are at most 2^53
    return static_cast<std::int64_t>(std::min(count, 9007199254740992.0));
}

struct Presentations {
    double whole_steps = 0;  // how many presentations step by 1
    double fraction = 0;     // the step of the last, fractional one
    double steps = 0;        // the sum of steps
    double steps_time = 0;   // the sum of steps x presentations before each
    std::int64_t mistakes = 0;

    Presentations(double margin, double gain, double weight, double presented,
                  bool tie_is_right = false) {
        const auto mistaken = [=](double m) { return m < 0 || (m == 0 && !tie_is_right); };
        const double whole = std::floor(weight), part = weight - whole;
        double taken = 0;
        if (mistaken(margin)) {
            const double ratio = -margin / gain;
            const double needed = tie_is_right ? std::ceil(ratio) : std::floor(ratio) + 1;
            taken = gain > 0 ? std::min(whole, needed) : whole;
        }
        const bool last = part > 0 && mistaken(margin + taken * gain);
        whole_steps = taken;
        fraction = last ? part : 0;
        steps = taken + fraction;
        steps_time = taken * presented + taken * (taken - 1) / 2 + fraction * (presented + whole);
        mistakes = whole_count(taken) + (last ? 1 : 0);
    }

    static double count(double weight) { return std::ceil(weight); }
};

// What a learner is given besides the rows.
struct OnlineProblem {
    std::span<const std::int32_t> label;  // class of each row, 0 ... K - 1
    std::span<const double> weight;       // sample weights; empty: all 1
    double eta = 1;
    bool fit_intercept = true;
    int tie_target = 0;  // the y for which a score of 0 is right, -1 or +1; 0: for neither

    bool tie_is_right(double y) const { return tie_target != 0 && y == tie_target; }

    double weight_of(std::int64_t i) const { return weight.empty() ? 1.0 : weight[i]; }

    // |x_i|^2, in the space (1, x) when there is an intercept
    template <class Products>
    double squared_norm(const Products& x, std::int64_t i) const {
        return x.squared_norm(i) + (fit_intercept ? 1 : 0);
    }
};

// What a run of epochs returns.
struct OnlineRun {
    std::vector<std::vector<std::int64_t>> mistakes;  // [epoch][model]
    double presented = 0;                             // presentations so far, earlier runs included
    bool converged = false;                           // the last epoch made no update
    std::int64_t overflow_row = -1;                   // the row whose score was not finite
};

}  // namespace separable
