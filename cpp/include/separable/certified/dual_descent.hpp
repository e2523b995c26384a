// Dual coordinate descent, one model a lane.
//
//   problem   minimise 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)), b not penalised; in each lane
//             its own class, strength and fold: c_i = C x weight_i, 0 for the rows held out
//   given     rows, labels, weights, folds; what each lane is; a start a (and t), and w = sum a y x
//   returns   a, t, w after a number of passes, and of the last pass the loss and the gap as the
//             passing weights saw them: a guide when to stop, not a certificate
//   steps     for each row in the pass's order:
//             1. s = w.x + lambda + rho S
//             2. the best a_i given all others, q = |x_i|^2 + rho
//             3. w += (change of a_i) y_i x_i and S += (change of a_i) y_i
//             after each pass
//             4. lambda += rho S, which drives S = sum a_i y_i to 0, as b demands
//   source    Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for
//             large-scale linear SVM (2008); Yu, Huang, Lin (2011) for the logistic loss; the
//             multiplier of the intercept: Hestenes (1969), Powell (1969)
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/math/heartbeat.hpp"
#include "separable/math/lanes.hpp"
#include "separable/math/shuffle.hpp"

namespace separable {

// What each lane of a block learns.
struct LanePlan {
    std::span<const std::int32_t> class_of;  // +1 for this class, -1 for the rest
    std::span<const std::int32_t> fold;      // rows of this fold are held out; -1: none
    std::span<const double> strength;        // C
    std::span<const double> rho;             // 0: no intercept
};

// What the rows are.
struct DualRows {
    std::span<const std::int32_t> label;  // of classes
    std::span<const double> number;       // of regression; empty: classes
    std::span<const double> weight;       // empty: all 1
    std::span<const std::int32_t> fold;   // empty: none
    std::span<const double> squared_norm;
};

template <class Lane>
struct DualState {
    using T = typename Lane::T;
    T* w;            // [feature][lane]
    T* a;            // [row][lane]
    T* t;            // [row][lane], or null where the loss keeps no margin
    double* lambda;  // [lane]
    double* total;   // [lane], S
};

struct DualPass {
    std::vector<double> loss, gap;  // [lane]
};

// The rows in a random order, anew in each pass: a function of (seed, pass, number of rows) alone.
// (Windows of 1024 rows, as online learners take them, leave gaps 1e4 times as large after ten
// passes; the same order in every pass is worse still.)
class PassOrder {
   public:
    PassOrder(std::int64_t n_rows, std::uint64_t seed, std::int64_t pass)
        : order_(static_cast<std::size_t>(n_rows)) {
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
        Shuffle shuffle(seed, static_cast<std::uint64_t>(pass) + 1);
        shuffle(std::span(order_));
    }

    std::size_t size() const { return order_.size(); }
    std::int64_t operator[](std::size_t k) const { return order_[k]; }
    bool fetches(std::size_t k) const { return k + kRowsAhead < order_.size(); }
    std::int64_t to_fetch(std::size_t k) const { return order_[k + kRowsAhead]; }

   private:
    static constexpr std::size_t kRowsAhead = 4;
    std::vector<std::int64_t> order_;
};

// y and c of a row in every lane.
template <class Lane>
struct RowInLanes {
    using T = typename Lane::T;
    static constexpr int kWidth = Lane::kWidth;

    void read(const DualRows& rows, const LanePlan& plan, std::int64_t i) {
        const bool numbers = !rows.number.empty();
        const std::int32_t label = numbers ? 0 : rows.label[i];
        const T number = numbers ? static_cast<T>(rows.number[i]) : T(0);
        const std::int32_t fold = rows.fold.empty() ? -2 : rows.fold[i];
        const double weight = rows.weight.empty() ? 1.0 : rows.weight[i];
        const auto n = static_cast<int>(plan.strength.size());
        for (int l = 0; l < kWidth; ++l) {
            const bool used = l < n && plan.fold[l] != fold;
            y[l] = numbers ? number : l < n && plan.class_of[l] == label ? T(1) : T(-1);
            c[l] = used ? static_cast<T>(plan.strength[l] * weight) : T(0);
        }
    }

    T y[kWidth], c[kWidth];
};

template <class Lane, class Loss>
DualPass dual_pass(const Products<Lane>& x, const Loss& loss, const DualRows& rows,
                   const LanePlan& plan, DualState<Lane> state, const PassOrder& order,
                   Heartbeat& heartbeat) {
    using T = typename Lane::T;
    using Score = typename Lane::Score;
    constexpr int W = Lane::kWidth;
    const auto n_lanes = static_cast<int>(plan.strength.size());
    DualPass told{std::vector<double>(W, 0.0), std::vector<double>(W, 0.0)};
    RowInLanes<Lane> row;
    T shift[W], rho[W], q[W], s[W], change[W];
    for (int l = 0; l < W; ++l) rho[l] = l < n_lanes ? static_cast<T>(plan.rho[l]) : T(0);
    double total[W] = {}, lambda[W] = {};
    for (int l = 0; l < n_lanes; ++l) total[l] = state.total[l], lambda[l] = state.lambda[l];

    for (std::size_t k = 0; k < order.size(); ++k) {
        const std::int64_t i = order[k];
        if (order.fetches(k)) x.prefetch(order.to_fetch(k), order[k + 1], state.w);
        row.read(rows, plan, i);
        T* a = state.a + i * W;
        T* t = state.t ? state.t + i * W : nullptr;
        const T norm = static_cast<T>(rows.squared_norm[i]);
        for (int l = 0; l < W; ++l) {
            shift[l] = static_cast<T>(lambda[l] + rho[l] * total[l]);
            q[l] = norm + rho[l];
            if (!(q[l] > T(0))) q[l] = T(1);
        }
        Lane::store(x.dot(i, state.w), s);  // 1
        for (int l = 0; l < W; ++l) s[l] += shift[l];
        for (int l = 0; l < W; ++l) {
            told.loss[l] += static_cast<double>(row.c[l] * loss.loss(s[l], row.y[l]));
            told.gap[l] += static_cast<double>(loss.gap(s[l], row.y[l], row.c[l], a[l]));
        }
        loss.template step<T, W>(row.y, s, q, row.c, a, t, change);  // 2
        const Score step = Lane::load(change);
        if (Lane::any(step)) {
            x.add(i, step, state.w);  // 3
            for (int l = 0; l < W; ++l) total[l] += static_cast<double>(change[l]);
        }
        heartbeat.row();
    }
    for (int l = 0; l < n_lanes; ++l) {
        state.total[l] = total[l];
        state.lambda[l] = lambda[l] + plan.rho[l] * total[l];  // 4
    }
    return told;
}

}  // namespace separable
