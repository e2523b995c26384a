// Dual coordinate descent, one model a lane.
//
//   problem   minimise 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)), b not penalised; in each lane
//             its own class, strength and fold: c_i = C x weight_i, 0 for the rows held out
//   given     rows, their targets and what each lane learns; a start a (and t), and w = sum a y x;
//             lanes that are done
//   returns   a, t, w after a pass, and the loss and the gap as the passing weights saw them: a
//             guide when to stop, not a certificate
//   steps     for each row in the pass's order that is awake in some lane:
//             1. s = w.x + lambda + rho S
//             2. the best a_i given all others, q = |x_i|^2 + rho
//             3. w += (change of a_i) y_i x_i and S += (change of a_i) y_i
//             4. a_i sleeps from now on if it is held at the end of its range by more than a
//                quarter of the largest unrest of the last pass
//             after each pass
//             5. lambda += rho S, which drives S = sum a_i y_i to 0, as b demands
//   source    Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for
//             large-scale linear SVM (2008), 4. its section 3.3; Yu, Huang, Lin (2011) for the
//             logistic loss; the multiplier of the intercept: Hestenes (1969), Powell (1969)
//
// A lane never looks at its neighbours: whether a row sleeps is a bit for each lane, and only a row
// that sleeps in all is passed over.
#pragma once

#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "separable/certified/lane_targets.hpp"
#include "separable/data/products.hpp"
#include "separable/math/heartbeat.hpp"
#include "separable/math/lanes.hpp"
#include "separable/math/shuffle.hpp"

namespace separable {

template <class Lane>
struct DualState {
    using T = typename Lane::T;
    T* w;                   // [feature][lane]
    T* a;                   // [row][lane]
    T* t;                   // [row][lane], or null where the loss keeps no margin
    std::uint16_t* asleep;  // [row], a bit for each lane; null where the loss has no rest
    double* lambda;         // [lane]
    double* total;          // [lane], S
    double* reach;          // [lane], how far a row must be held to sleep
    double* asleep_loss;    // [lane], of rows when they fell asleep
};

// Of the largest unrest of the last pass: what holds a row by more lets it sleep.
inline constexpr double kCalm = 0.25;

struct DualPass {
    std::vector<double> loss, gap;  // [lane]
};

// The rows in a random order, anew in each pass: a function of (seed, pass, number of rows) alone.
// (Windows of 1024 rows, as online learners take them, leave gaps 1e4 times as large after ten
// passes; the same order in every pass is worse still.) Those that sleep are left out.
class PassOrder {
   public:
    PassOrder(std::int64_t n_rows, std::uint64_t seed, std::int64_t pass)
        : order_(static_cast<std::size_t>(n_rows)) {
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
        Shuffle shuffle(seed, static_cast<std::uint64_t>(pass) + 1);
        shuffle(std::span(order_));
    }

    template <class Leave>
    void leave_out(Leave leave) {
        std::erase_if(order_, leave);
    }

    std::size_t size() const { return order_.size(); }
    std::int64_t operator[](std::size_t k) const { return order_[k]; }
    bool fetches(std::size_t k) const { return k + kRowsAhead < order_.size(); }
    std::int64_t to_fetch(std::size_t k) const { return order_[k + kRowsAhead]; }

   private:
    static constexpr std::size_t kRowsAhead = 4;
    std::vector<std::int64_t> order_;
};

template <class Lane, class Loss>
DualPass dual_pass(const Products<Lane>& x, const Loss& loss, const RowTargets& rows,
                   const LanePlan& plan, std::span<const double> squared_norm,
                   std::span<const double> rhos, std::uint32_t done, DualState<Lane> state,
                   PassOrder order, Heartbeat& heartbeat) {
    using T = typename Lane::T;
    constexpr int W = Lane::kWidth;
    constexpr std::uint32_t kAll = (1u << W) - 1;
    const int n_lanes = plan.size();
    const std::uint32_t out = done | (kAll & ~((1u << n_lanes) - 1));
    const auto off_at = [&](std::int64_t i) { return state.asleep ? state.asleep[i] | out : out; };
    order.leave_out([&](std::int64_t i) { return off_at(i) == kAll; });

    TargetsInLanes<T, W> row(rows, plan);
    alignas(64) T rho[W] = {}, q[W], s[W], a[W], t[W], change[W], reach[W];
    alignas(64) T off[W], losses[W], gaps[W], unrest[W], restless[W], rests[W];
    alignas(64) double total[W] = {}, lambda[W] = {}, slept[W] = {};
    alignas(64) double loss_sum[W] = {}, gap_sum[W] = {};
    for (int l = 0; l < W; ++l) {
        reach[l] = std::numeric_limits<T>::infinity(), restless[l] = T(0), t[l] = T(0);
        if (l >= n_lanes) continue;
        rho[l] = static_cast<T>(rhos[l]);
        total[l] = state.total[l], lambda[l] = state.lambda[l];
        if (Loss::kRests)
            reach[l] = static_cast<T>(state.reach[l]), slept[l] = state.asleep_loss[l];
    }

    for (std::size_t k = 0; k < order.size(); ++k) {
        const std::int64_t i = order[k];
        if (order.fetches(k)) x.prefetch(order.to_fetch(k), order[k + 1], state.w);
        row.read(i);
        const std::uint32_t off_bits = off_at(i);
        T *old_a = state.a + i * W, *old_t = state.t ? state.t + i * W : nullptr;
        const T norm = static_cast<T>(squared_norm[static_cast<std::size_t>(i)]);
        Lane::store(x.dot(i, state.w), s);  // 1
        for (int l = 0; l < W; ++l) {
            s[l] += static_cast<T>(lambda[l] + static_cast<double>(rho[l]) * total[l]);
            const T sum = norm + rho[l];
            q[l] = sum > T(0) ? sum : T(1);
            a[l] = old_a[l];
            off[l] = off_bits >> l & 1u ? T(1) : T(0);
        }
        if (old_t)
            for (int l = 0; l < W; ++l) t[l] = old_t[l];
        for (int l = 0; l < W; ++l) {
            losses[l] = row.c[l] * loss.loss(s[l], row.y[l]);
            gaps[l] = loss.passing_gap(s[l], row.y[l], row.c[l], a[l], t[l]);
        }
        std::uint32_t falls = 0;
        if constexpr (Loss::kRests) {  // 4
            for (int l = 0; l < W; ++l) {
                const T moves = loss.unrest(s[l], row.y[l], row.c[l], a[l]);
                unrest[l] = row.c[l] > T(0) ? moves : -std::numeric_limits<T>::infinity();
            }
            for (int l = 0; l < W; ++l) {
                const T awake = off[l] > T(0) ? T(0) : unrest[l];
                restless[l] = awake > restless[l] ? awake : restless[l];
                rests[l] = -awake > reach[l] ? T(1) : T(0);
                off[l] = off[l] > rests[l] ? off[l] : rests[l];
            }
            if (Lane::any(Lane::load(rests))) {
                for (int l = 0; l < W; ++l) {
                    if (!(rests[l] > T(0))) continue;
                    falls |= 1u << l;
                    slept[l] += static_cast<double>(losses[l]);
                }
                state.asleep[i] |= static_cast<std::uint16_t>(falls);
            }
        }
        for (int l = 0; l < W; ++l) {
            loss_sum[l] += off[l] > T(0) ? 0.0 : static_cast<double>(losses[l]);
            gap_sum[l] += off[l] > T(0) ? 0.0 : static_cast<double>(gaps[l]);
        }
        if ((falls | off_bits) == kAll) continue;
        loss.template step<T, W>(row.y, s, q, row.c, a, t, change);  // 2
        for (int l = 0; l < W; ++l) {
            change[l] = off[l] > T(0) ? T(0) : change[l];
            old_a[l] = off[l] > T(0) ? old_a[l] : a[l];
            total[l] += static_cast<double>(change[l]);
        }
        if (old_t)
            for (int l = 0; l < W; ++l) old_t[l] = off[l] > T(0) ? old_t[l] : t[l];
        const auto step = Lane::load(change);
        if (Lane::any(step)) x.add(i, step, state.w);  // 3
        heartbeat.row();
    }

    DualPass told{std::vector<double>(n_lanes), std::vector<double>(n_lanes)};
    for (int l = 0; l < n_lanes; ++l) {
        told.loss[l] = loss_sum[l] + slept[l], told.gap[l] = gap_sum[l];
        if (done >> l & 1u) continue;
        state.total[l] = total[l];
        state.lambda[l] = lambda[l] + rhos[l] * total[l];  // 5
        if (!Loss::kRests) continue;
        state.asleep_loss[l] = slept[l];
        state.reach[l] = kCalm * static_cast<double>(restless[l]);
    }
    return told;
}

}  // namespace separable
