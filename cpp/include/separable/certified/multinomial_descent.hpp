// Multinomial dual coordinate descent, one class a lane.
//
//   problem   minimise 1/2 sum_k |w_k|^2 + sum_i c_i [log sum_k e^s_ik - s_iy],
//             s_ik = w_k.x_i + b_k, b not penalised; each model has its own C and fold:
//             c_i = C x weight_i, 0 for the rows held out
//   given     rows, their classes, C and folds of the models; a start u = log p, p_i in the
//             simplex, and w_k = sum_i c_i (1[y_i = k] - p_ik) x_i, u = kNoClass for absent
//             classes; multipliers lambda_k of the intercepts; models that are done
//   returns   u, w and S_k = sum_i c_i (1[y_i = k] - p_ik) after a pass, and the loss and the gap
//             at the weights of the moment: an estimate for the stopping rule, not a certificate
//   steps     1. a few extra steps on the rows with the largest gaps (hot_rows.hpp)
//             for each row in the order of the pass:
//             2. s_k = w_k.x + lambda_k + rho S_k
//             3. the gap of the row, c KL(p || softmax s); rows with a gap of at most `small_gap`
//                are skipped
//             4. the best p given all other rows (multinomial_step.hpp)
//             5. w_k -= c (change of p_k) x and S_k -= c (change of p_k)
//             (between passes lambda is moved so that S goes to 0)
//   source    Yu, Huang, Lin, Dual coordinate descent methods for logistic regression and maximum
//             entropy models (2011), 4. all classes at once in place of one by one; the multiplier
//             of the intercept as in dual_descent.hpp
//
// Models are independent.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "separable/certified/dual_descent.hpp"
#include "separable/certified/hot_rows.hpp"
#include "separable/certified/line_products.hpp"
#include "separable/certified/multinomial_step.hpp"
#include "separable/math/heartbeat.hpp"

namespace separable {

// Layout of classes in lines: class k of model m in lane m x stride + k.
template <class T>
struct ClassLines {
    static constexpr int W = kPerLine<T>;

    explicit ClassLines(int n_classes) : n_classes(n_classes) {
        while (stride < n_classes && stride < W) stride *= 2;
        if (n_classes > W) stride = (n_classes + W - 1) / W * W;
    }
    int lines() const { return stride > W ? stride / W : 1; }
    int most_models() const { return stride > W ? 1 : W / stride; }
    int lanes() const { return lines() * W; }

    int n_classes, stride = 2;
};

// Rows, and C and fold of each model.
struct MultinomialPlan {
    std::span<const std::int32_t> label;     // [row]
    std::span<const double> weight;          // [row]; empty: all 1
    std::span<const std::int32_t> fold;      // [row]; empty: none
    std::span<const std::int32_t> held_out;  // [model], the fold held out; -1: none
    std::span<const double> C;               // [model], C
    int models() const { return static_cast<int>(C.size()); }
};

template <class T>
struct MultinomialState {
    T* w;                  // [feature][lane]
    T* u;                  // [row][lane]
    const double* lambda;  // [lane]
    double* total;         // [lane], S
    const double* rho;     // [model]
    double* small_gap;     // [model], a gap far below, and
    double* large_gap;     // [model], one far above the average gap of a row
    std::uint16_t* hot;    // [row], a bit for each model in which its gap was large
};

template <class T>
class MultinomialDescent {
   public:
    static constexpr int W = kPerLine<T>;

    MultinomialDescent(const LineProducts<T>& x, const MultinomialPlan& plan,
                       const ClassLines<T>& layout, std::span<const double> squared_norm,
                       std::uint32_t done, MultinomialState<T> state)
        : x_(x),
          plan_(plan),
          squared_norm_(squared_norm),
          state_(state),
          stride_(layout.stride),
          lanes_(layout.lanes()),
          done_(done),
          segment_(std::min(layout.stride, W)),
          over_(layout.lines(), segment_),
          step_(layout.lines(), layout.n_classes, over_),
          shift_(lanes_),
          s_(lanes_),
          u_(lanes_),
          p_(lanes_),
          change_(lanes_),
          result_{std::vector<double>(plan.models()), std::vector<double>(plan.models())} {}

    DualPass pass(const PassOrder& order, Heartbeat& heartbeat) {
        repeat_hot_rows(order, heartbeat);
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (order.fetches(k)) {
                x_.prefetch(order.to_fetch(k), order[k + 1], state_.w);
                prefetch_bytes(state_.u + order.to_fetch(k) * lanes_,
                               lanes_ * static_cast<std::int64_t>(sizeof(T)));
            }
            visit(order[k]);
            heartbeat.row();
        }
        return finish();
    }

   private:
    static constexpr double kSmallGap = 0.02;

    // The first lane of model m within its line.
    int segment(int m) const { return m * stride_ % W; }

    // 1
    void repeat_hot_rows(const PassOrder& order, Heartbeat& heartbeat) {
        const auto again = HotRows::of(order, x_.n_rows, ~done_, state_.hot);
        for (int round = 0; round < HotRows::kRounds; ++round)
            for (const std::int64_t i : again) {
                if (!read(i, done_ | ~state_.hot[i])) continue;
                load_row(i);
                update(i);
                heartbeat.row();
            }
    }

    void visit(std::int64_t i) {
        state_.hot[i] &= static_cast<std::uint16_t>(done_);
        if (!read(i, done_)) return;
        load_row(i);
        add_gaps(i);
        if (Line<T>::load(active_).any()) update(i);
    }

    // Costs; returns whether any model outside `excluded` learns the row.
    bool read(std::int64_t row, std::uint32_t excluded) {
        const auto i = static_cast<std::size_t>(row);
        const double weight = plan_.weight.empty() ? 1.0 : plan_.weight[i];
        std::fill_n(c_, W, T(0)), std::fill_n(curvature_, W, T(0)), std::fill_n(active_, W, T(0));
        bool any = false;
        for (int m = 0; m < plan_.models(); ++m) {
            const bool held = !plan_.fold.empty() && plan_.fold[i] == plan_.held_out[m];
            if (held || (excluded >> m & 1u)) continue;
            const double c = plan_.C[m] * weight;
            const int at = segment(m);
            std::fill_n(c_ + at, segment_, static_cast<T>(c));
            std::fill_n(curvature_ + at, segment_,
                        static_cast<T>(c * (squared_norm_[i] + state_.rho[m])));
            std::fill_n(active_ + at, segment_, T(1));
            any = true;
        }
        return any;
    }

    // 2: scores and p; in inactive models the scores are those of p, so that the step is 0.
    void load_row(std::int64_t i) {
        x_.dot(i, state_.w, s_.data());
        for (int m = 0; m < plan_.models(); ++m)
            shifts(stride_, state_.rho[m], state_.lambda + m * stride_, state_.total + m * stride_,
                   &shift_[m * stride_]);
        const T* u = state_.u + i * lanes_;
        for (int at = 0; at < lanes_; at += W)
            load_line(u + at, &shift_[at], active_, &s_[at], &u_[at], &p_[at]);
    }

    static void shifts(int n, double rho, const double* __restrict lambda,
                       const double* __restrict total, T* __restrict out) {
        for (int l = 0; l < n; ++l) out[l] = static_cast<T>(lambda[l] + rho * total[l]);
    }

    static void load_line(const T* __restrict from, const T* __restrict shift,
                          const T* __restrict active, T* __restrict s, T* __restrict u,
                          T* __restrict p) {
        for (int l = 0; l < W; ++l) {
            const T score = from[l] > kNoClass<T> ? s[l] + shift[l] : from[l];
            s[l] = active[l] > T(0) ? score : from[l];
            u[l] = from[l];
            p[l] = exponential(from[l]);
        }
    }

    // 3: adds losses and gaps. With d = s - u less its mean under p, both are made of
    // log sum p e^d = log(1 + sum p (e^d - 1 - d)), all terms non-negative.
    void add_gaps(std::int64_t row) {
        for (int l = 0; l < lanes_; ++l) change_[l] = p_[l] * (s_[l] - u_[l]);
        over_.sums(change_.data(), mean_);
        for (int at = 0; at < lanes_; at += W)
            excess(&s_[at], &u_[at], &p_[at], mean_, &change_[at]);
        over_.sums(change_.data(), gap_);
        const int label = plan_.label[static_cast<std::size_t>(row)];
        for (int m = 0; m < plan_.models(); ++m) {
            const int at = segment(m);
            if (!(active_[at] > T(0))) continue;
            const T over = gap_[at];
            const double gap = over < T(1) ? log_one_plus(over) : logarithm(T(1) + over);
            const double c = c_[at];
            const double loss = gap + (mean_[at] - s_[m * stride_ + label]);
            result_.loss[m] += c * (loss > 0 ? loss : 0);
            result_.gap[m] += c * gap;
            if (!(c * gap > state_.small_gap[m])) std::fill_n(active_ + at, segment_, T(0));
            if (c * gap > state_.large_gap[m])
                state_.hot[row] |= static_cast<std::uint16_t>(1u << m);
        }
    }

    static void excess(const T* __restrict s, const T* __restrict u, const T* __restrict p,
                       const T* __restrict mean, T* __restrict out) {
        alignas(64) T d[W], far[W];
        for (int l = 0; l < W; ++l) d[l] = s[l] - u[l] - mean[l];
        for (int l = 0; l < W; ++l) far[l] = exponential(d[l]) - T(1) - d[l];
        for (int l = 0; l < W; ++l) {
            const T size = d[l] < T(0) ? -d[l] : d[l];
            const T more = T(1.0 / 6) + d[l] * (T(1.0 / 24) + d[l] * T(1.0 / 120));
            const T series = d[l] * d[l] * (T(0.5) + d[l] * more);
            out[l] = p[l] * (size < T(0.5) ? series : far[l]);
        }
    }

    // 4, 5: in active models.
    void update(std::int64_t i) {
        step_(s_.data(), u_.data(), p_.data(), curvature_, change_.data());
        T* u = state_.u + i * lanes_;
        for (int at = 0; at < lanes_; at += W)
            update_line(active_, c_, &u_[at], &p_[at], &change_[at], u + at);
        for (int l = 0; l < lanes_; ++l) state_.total[l] += static_cast<double>(change_[l]);
        x_.add(i, change_.data(), state_.w);
    }

    static void update_line(const T* __restrict active, const T* __restrict c,
                            const T* __restrict u, const T* __restrict p, T* __restrict change,
                            T* __restrict to) {
        for (int l = 0; l < W; ++l) {
            const T after = u[l] > kNoClass<T> ? u[l] + change[l] : u[l];
            to[l] = active[l] > T(0) ? after : u[l];
            change[l] = c[l] * active[l] * (p[l] - exponential(to[l]));
        }
    }

    DualPass finish() {
        for (int m = 0; m < plan_.models(); ++m) {
            if (done_ >> m & 1u) continue;
            const double average = result_.gap[m] / static_cast<double>(x_.n_rows);
            state_.small_gap[m] = kSmallGap * average;
            state_.large_gap[m] = HotRows::kLargeGap * average;
        }
        return result_;
    }

    const LineProducts<T>& x_;
    MultinomialPlan plan_;
    std::span<const double> squared_norm_;
    MultinomialState<T> state_;
    int stride_, lanes_;
    std::uint32_t done_;
    int segment_;  // lanes of a model within a line
    OverClasses<T> over_;
    MultinomialStep<T> step_;
    LineVector<T> shift_, s_, u_, p_, change_;
    DualPass result_;
    alignas(64) T c_[W], curvature_[W], active_[W], mean_[W], gap_[W];
};

}  // namespace separable
