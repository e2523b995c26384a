// Dual coordinate descent, one model a lane.
//
//   problem   minimise 1/2 |w|^2 + sum_i c_i loss(y_i (w.x_i + b)), b not penalised; in each lane
//             its own class, C and fold: c_i = C x weight_i, 0 for the rows held out
//   given     rows, their targets and what each lane learns; a start a (and t), and w = sum a y x;
//             the multiplier lambda of the intercept; lanes that are done
//   returns   a, t, w and S = sum a y after a pass, and the loss and the gap as the passing weights
//             saw them: an estimate for the stopping rule, not a certificate
//   steps     1. a few extra steps on the rows with the largest gaps (hot_rows.hpp)
//             for each row in the order of the pass that is not shrunk in every lane:
//             2. s = w.x + lambda + rho S
//             3. the best a_i given all others, q = |x_i|^2 + rho
//             4. w += (change of a_i) y_i x_i and S += (change of a_i) y_i
//             5. shrinking: a_i at a bound is removed if its projected gradient is 0 and its
//                gradient exceeds a quarter of the largest violation of the last pass
//             (between passes lambda is moved so that S, as b demands, goes to 0)
//   source    Hsieh, Chang, Lin, Keerthi, Sundararajan, A dual coordinate descent method for
//             large-scale linear SVM (2008), 5. its section 3.3; Yu, Huang, Lin (2011) for the
//             logistic loss; the multiplier of the intercept: Hestenes (1969), Powell (1969)
//
// Lanes are independent: a bit per lane says whether a row is shrunk, and only a row that is shrunk
// in every lane is skipped.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "separable/certified/hot_rows.hpp"
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
    std::uint16_t* shrunk;  // [row], a bit for each lane
    std::uint16_t* hot;     // [row], a bit for each lane in which its gap was large
    const double* lambda;   // [lane]
    double* total;          // [lane], S
    double* threshold;      // [lane], the shrinking threshold
    double* shrunk_loss;    // [lane], loss of rows when they were shrunk
    double* large_gap;      // [lane], a gap far above the average gap of a row
};

// The shrinking threshold, as a fraction of the largest violation of the last pass.
inline constexpr double kShrinking = 0.25;

struct DualPass {
    std::vector<double> loss, gap;  // [lane]
};

// A random permutation of the rows for each pass: a function of (seed, pass, number of rows) alone.
// (Windows of rows, as online learners use them, converge far more slowly, and the same order in
// every pass more slowly still.) Rows shrunk in every lane are removed.
class PassOrder {
   public:
    PassOrder(std::int64_t n_rows, std::uint64_t seed, std::int64_t pass)
        : order_(static_cast<std::size_t>(n_rows)) {
        std::iota(order_.begin(), order_.end(), std::int64_t{0});
        Shuffle shuffle(seed, static_cast<std::uint64_t>(pass) + 1);
        shuffle(std::span(order_));
    }

    template <class Predicate>
    void remove_if(Predicate predicate) {
        std::erase_if(order_, predicate);
    }

    std::size_t size() const { return order_.size(); }
    std::int64_t operator[](std::size_t k) const { return order_[k]; }
    bool fetches(std::size_t k) const { return k + kRowsAhead < order_.size(); }
    std::int64_t to_fetch(std::size_t k) const { return order_[k + kRowsAhead]; }

   private:
    static constexpr std::size_t kRowsAhead = 8;
    std::vector<std::int64_t> order_;
};

// A loss of one row in every lane, behind one virtual call: the loops around it are compiled once
// for each lane type, not for each loss.
template <class Lane>
class DualLanesLoss {
   public:
    using T = typename Lane::T;
    DualLanesLoss(bool keeps_margin, bool shrinks) : keeps_margin(keeps_margin), shrinks(shrinks) {}
    virtual ~DualLanesLoss() = default;

    // The best a (and t) given all other rows; change is that of a y.
    virtual void step(const T* __restrict y, const T* __restrict s, const T* __restrict q,
                      const T* __restrict c, T* __restrict a, T* __restrict t,
                      T* __restrict change) const = 0;
    virtual void violations(const T* __restrict s, const T* __restrict y, const T* __restrict c,
                            const T* __restrict a, T* __restrict out) const = 0;
    virtual void losses(const T* __restrict s, const T* __restrict y, const T* __restrict c,
                        T* __restrict out) const = 0;
    virtual void gaps(const T* __restrict s, const T* __restrict y, const T* __restrict c,
                      const T* __restrict a, const T* __restrict t, T* __restrict losses,
                      T* __restrict gaps) const = 0;

    const bool keeps_margin, shrinks;
};

template <class Lane, class Loss>
class DualLanesLossOf final : public DualLanesLoss<Lane> {
   public:
    using typename DualLanesLoss<Lane>::T;
    static constexpr int W = Lane::kWidth;

    explicit DualLanesLossOf(const Loss& loss)
        : DualLanesLoss<Lane>(Loss::kKeepsMargin, Loss::kShrinks), loss_(loss) {}

    void step(const T* __restrict y, const T* __restrict s, const T* __restrict q,
              const T* __restrict c, T* __restrict a, T* __restrict t,
              T* __restrict change) const override {
        loss_.template step<T, W>(y, s, q, c, a, t, change);
    }
    void violations(const T* __restrict s, const T* __restrict y, const T* __restrict c,
                    const T* __restrict a, T* __restrict out) const override {
        if constexpr (Loss::kShrinks)
            for (int l = 0; l < W; ++l) out[l] = loss_.violation(s[l], y[l], c[l], a[l]);
    }
    void losses(const T* __restrict s, const T* __restrict y, const T* __restrict c,
                T* __restrict out) const override {
        for (int l = 0; l < W; ++l) out[l] = c[l] * loss_.loss(s[l], y[l]);
    }
    void gaps(const T* __restrict s, const T* __restrict y, const T* __restrict c,
              const T* __restrict a, const T* __restrict t, T* __restrict losses,
              T* __restrict gaps) const override {
        for (int l = 0; l < W; ++l) {
            losses[l] = c[l] * loss_.loss(s[l], y[l]);
            gaps[l] = loss_.running_gap(s[l], y[l], c[l], a[l], t[l]);
        }
    }

   private:
    Loss loss_;
};

template <class Lane>
class DualDescent {
   public:
    using T = typename Lane::T;
    static constexpr int W = Lane::kWidth;
    static constexpr std::uint32_t kAll = (1u << W) - 1;

    DualDescent(const Products<Lane>& x, const DualLanesLoss<Lane>& loss, const RowTargets& rows,
                const LanePlan& plan, std::span<const double> squared_norm,
                std::span<const double> rho, std::uint32_t done, DualState<Lane> state)
        : x_(x),
          loss_(loss),
          row_(rows, plan),
          squared_norm_(squared_norm),
          state_(state),
          lanes_(plan.size()),
          inactive_(done | (kAll & ~((1u << plan.size()) - 1))) {
        for (int l = 0; l < W; ++l) {
            const bool used = l < lanes_;
            rho_[l] = used ? static_cast<T>(rho[l]) : T(0);
            total_[l] = used ? state.total[l] : 0;
            lambda_[l] = used ? state.lambda[l] : 0;
            threshold_[l] = used ? static_cast<T>(state.threshold[l]) : T(0);
            shrunk_loss_[l] = used ? state.shrunk_loss[l] : 0;
            large_gap_[l] = used ? static_cast<T>(state.large_gap[l]) : T(0);
        }
    }

    DualPass pass(PassOrder order, Heartbeat& heartbeat) {
        order.remove_if([&](std::int64_t i) { return inactive_at(i) == kAll; });
        repeat_hot_rows(order, heartbeat);
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (order.fetches(k)) prefetch(order.to_fetch(k), order[k + 1]);
            const std::int64_t i = order[k];
            std::uint32_t frozen = inactive_at(i);
            load_row(i, frozen);
            if (loss_.shrinks) frozen |= shrink(i);
            state_.hot[i] = add_gaps();
            if (frozen != kAll) update(i);
            heartbeat.row();
        }
        return finish();
    }

   private:
    std::uint32_t inactive_at(std::int64_t i) const { return state_.shrunk[i] | inactive_; }

    void prefetch(std::int64_t far, std::int64_t near) const {
        x_.prefetch(far, near, state_.w);
        __builtin_prefetch(state_.a + far * W);
        __builtin_prefetch(squared_norm_.data() + far);
        __builtin_prefetch(state_.hot + far);
    }

    // 1: rows whose gap was large in the last pass.
    [[gnu::noinline]] void repeat_hot_rows(const PassOrder& order, Heartbeat& heartbeat) {
        const auto repeated = HotRows::of(order, x_.n_rows, kAll, state_.hot);
        for (int round = 0; round < HotRows::kRounds; ++round)
            for (const std::int64_t i : repeated) {
                const std::uint32_t frozen = (inactive_at(i) | ~state_.hot[i]) & kAll;
                if (frozen == kAll) continue;
                load_row(i, frozen);
                update(i);
                heartbeat.row();
            }
    }

    // 2: targets, scores and dual variables of a row.
    [[gnu::noinline]] void load_row(std::int64_t i, std::uint32_t frozen) {
        row_.read(i);
        Lane::store(x_.dot(i, state_.w), s_);
        const T* a = state_.a + i * W;
        const T norm = static_cast<T>(squared_norm_[static_cast<std::size_t>(i)]);
        for (int l = 0; l < W; ++l) {
            s_[l] += static_cast<T>(lambda_[l] + static_cast<double>(rho_[l]) * total_[l]);
            const T sum = norm + rho_[l];
            q_[l] = sum > T(0) ? sum : T(1);
            frozen_[l] = frozen >> l & 1u ? T(1) : T(0);
        }
        for (int l = 0; l < W; ++l) a_[l] = a[l];
        if (loss_.keeps_margin) {
            const T* t = state_.t + i * W;
            for (int l = 0; l < W; ++l) t_[l] = t[l];
        }
    }

    // 5: returns the lanes in which the row is shrunk from now on.
    std::uint32_t shrink(std::int64_t i) {
        loss_.violations(s_, row_.y, row_.c, a_, violation_);
        for (int l = 0; l < W; ++l)
            violation_[l] = row_.c[l] > T(0) ? violation_[l] : -std::numeric_limits<T>::infinity();
        for (int l = 0; l < W; ++l) {
            const T moving = frozen_[l] > T(0) ? T(0) : violation_[l];
            largest_violation_[l] = moving > largest_violation_[l] ? moving : largest_violation_[l];
            mark_[l] = -moving > threshold_[l] ? T(1) : T(0);
            frozen_[l] = frozen_[l] > mark_[l] ? frozen_[l] : mark_[l];
        }
        if (!Lane::any(Lane::load(mark_))) return 0;
        loss_.losses(s_, row_.y, row_.c, losses_);
        std::uint32_t shrunk_now = 0;
        for (int l = 0; l < W; ++l) {
            if (!(mark_[l] > T(0))) continue;
            shrunk_now |= 1u << l;
            shrunk_loss_[l] += static_cast<double>(losses_[l]);
        }
        state_.shrunk[i] |= static_cast<std::uint16_t>(shrunk_now);
        return shrunk_now;
    }

    // Adds losses and gaps; returns the lanes in which the gap of the row is large.
    std::uint16_t add_gaps() {
        loss_.gaps(s_, row_.y, row_.c, a_, t_, losses_, gaps_);
        for (int l = 0; l < W; ++l) {
            losses_[l] = frozen_[l] > T(0) ? T(0) : losses_[l];
            gaps_[l] = frozen_[l] > T(0) ? T(0) : gaps_[l];
            loss_sum_[l] += static_cast<double>(losses_[l]);
            gap_sum_[l] += static_cast<double>(gaps_[l]);
            mark_[l] = gaps_[l] > large_gap_[l] ? T(1) : T(0);
        }
        if (!Lane::any(Lane::load(mark_))) return 0;
        std::uint32_t hot = 0;
        for (int l = 0; l < W; ++l) hot |= static_cast<std::uint32_t>(mark_[l] > T(0)) << l;
        return static_cast<std::uint16_t>(hot);
    }

    // 3, 4: the best a_i, in lanes that are not frozen.
    [[gnu::noinline]] void update(std::int64_t i) {
        loss_.step(row_.y, s_, q_, row_.c, a_, t_, change_);
        T* a = state_.a + i * W;
        for (int l = 0; l < W; ++l) {
            change_[l] = frozen_[l] > T(0) ? T(0) : change_[l];
            total_[l] += static_cast<double>(change_[l]);
        }
        for (int l = 0; l < W; ++l) a[l] = frozen_[l] > T(0) ? a[l] : a_[l];
        if (loss_.keeps_margin) {
            T* t = state_.t + i * W;
            for (int l = 0; l < W; ++l) t[l] = frozen_[l] > T(0) ? t[l] : t_[l];
        }
        const auto step = Lane::load(change_);
        if (Lane::any(step)) x_.add(i, step, state_.w);
    }

    DualPass finish() {
        DualPass result{std::vector<double>(lanes_), std::vector<double>(lanes_)};
        for (int l = 0; l < lanes_; ++l) {
            result.loss[l] = loss_sum_[l] + shrunk_loss_[l], result.gap[l] = gap_sum_[l];
            if (inactive_ >> l & 1u) continue;
            state_.total[l] = total_[l];
            state_.shrunk_loss[l] = shrunk_loss_[l];
            state_.threshold[l] = kShrinking * static_cast<double>(largest_violation_[l]);
            state_.large_gap[l] = HotRows::kLargeGap * gap_sum_[l] / static_cast<double>(x_.n_rows);
        }
        return result;
    }

    const Products<Lane>& x_;
    const DualLanesLoss<Lane>& loss_;
    TargetsInLanes<T, W> row_;
    std::span<const double> squared_norm_;
    DualState<Lane> state_;
    int lanes_;
    std::uint32_t inactive_;
    alignas(64) T rho_[W], threshold_[W], large_gap_[W];
    alignas(64) T s_[W], q_[W], a_[W], t_[W] = {}, frozen_[W], change_[W];
    alignas(64) T losses_[W], gaps_[W], violation_[W], largest_violation_[W] = {}, mark_[W];
    alignas(64) double total_[W], lambda_[W], shrunk_loss_[W], loss_sum_[W] = {}, gap_sum_[W] = {};
};

}  // namespace separable
