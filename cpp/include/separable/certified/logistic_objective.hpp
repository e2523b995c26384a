// Objectives of l2-penalised logistic regression, binary or multinomial, of many lanes at once.
//
//   problem  f(w, b) = 1/2 |w|^2 + C sum_i c_i loss(y_i, w.z_i + b) for each lane: a fold, and a
//            class against the rest or all classes jointly
//   given    rows in tiles, labels, sample weights, folds; weights of each lane
//   returns  f and its gradient in w and b, for each lane
//   steps    for each tile: scores of all vectors, residuals and losses of all lanes, gradients
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "separable/certified/dense_tiles.hpp"
#include "separable/certified/sparse_tiles.hpp"
#include "separable/math/exponential.hpp"
#include "separable/math/heartbeat.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

// One model: the fold that it holds out (-1: none), and its classes.
struct LogisticLane {
    std::int32_t held_out = -1;
    std::int32_t target = 1;         // the positive class of a binary lane
    std::vector<std::int32_t> code;  // of a multinomial lane: the vector of each class, -1: absent
    std::int64_t n_vectors = 1;      // weight vectors: 1, or one for each class present

    bool is_joint() const { return !code.empty(); }
};

// Labels, sample weights and folds of the rows, padded to whole tiles.
template <class T>
struct LogisticTargets {
    template <class Tiles>
    LogisticTargets(const Tiles& x, std::span<const std::int32_t> label,
                    std::span<const double> weight, std::span<const std::int32_t> fold) {
        const auto n = static_cast<std::size_t>(x.n_rows());
        const auto padded = static_cast<std::size_t>(x.n_tiles() * x.tile_rows());
        this->label.assign(padded, T(-1));
        this->weight.assign(padded, T(0));
        if (!fold.empty()) this->fold.assign(padded, T(-1));
        for (std::size_t i = 0; i < n; ++i) {
            this->label[i] = static_cast<T>(label[i]);
            this->weight[i] = weight.empty() ? T(1) : static_cast<T>(weight[i]);
            if (!fold.empty()) this->fold[i] = static_cast<T>(fold[i]);
        }
    }

    LineVector<T> label, weight, fold;
};

// Tiles: DenseTiles or SparseTiles.
template <class Tiles>
class LogisticObjective {
   public:
    using T = typename Tiles::Number;

    LogisticObjective(const Tiles& x, const LogisticTargets<T>& targets)
        : x_(x), targets_(targets), cost_(tile_rows()), top_(tile_rows()), sum_(tile_rows()) {}

    // The weights of a lane are n_vectors x (d + 1), the intercept last; so are the gradients.
    // Values and gradients are those of C times the losses and of the penalty. A tile_step above 1
    // takes every such tile only, a sample of the rows.
    void evaluate(std::span<const LogisticLane* const> lanes,
                  std::span<const double* const> weights, double C, std::span<double> values,
                  std::span<double* const> gradients, Heartbeat& heartbeat,
                  std::int64_t tile_step = 1) {
        const std::int64_t d = x_.n_columns(), stride = d + 1;
        const std::int64_t total = set_vectors(lanes, weights);
        std::fill(values.begin(), values.end(), 0.0);
        for (std::int64_t tile = 0; tile < x_.n_tiles(); tile += tile_step) {
            x_.scores(tile, packed_.data(), intercept_.data(), total, scores_.data(), scratch_);
            T* s = scores_.data();
            double* gradient = all_.data();
            for (std::size_t k = 0; k < lanes.size(); ++k) {
                set_costs(*lanes[k], tile);
                values[k] += lanes[k]->is_joint() ? joint_residuals(*lanes[k], tile, s)
                                                  : binary_residuals(*lanes[k], tile, s);
                for (std::int64_t c = 0; c < lanes[k]->n_vectors;
                     ++c, s += x_.tile_rows(), gradient += stride)
                    gradient[d] += sum_of(s);
            }
            x_.add_gradients(tile, scores_.data(), total, all_.data(), stride, scratch_);
            for (std::int64_t r = 0; r < x_.tile_rows(); ++r) heartbeat.row();
        }
        x_.finish_gradients(total, all_.data(), stride, scratch_);
        add_penalty(lanes, weights, C, gradients);
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            double squares = 0;
            for (std::int64_t c = 0; c < lanes[k]->n_vectors; ++c)
                for (std::int64_t j = 0; j < d; ++j)
                    squares += weights[k][c * stride + j] * weights[k][c * stride + j];
            values[k] = C * values[k] + 0.5 * squares;
        }
    }

    // Value and gradient of one lane, and what its Hessian needs: probabilities (joint) or p (1 -
    // p) of each row in `kept`, and the mean curvature of the rows.
    double expand(const LogisticLane& lane, const double* weights, double C, double* gradient,
                  LineVector<T>& kept, std::span<double> curvature, Heartbeat& heartbeat) {
        kept.resize(static_cast<std::size_t>(x_.n_tiles() * x_.tile_rows() * lane.n_vectors));
        kept_ = kept.data(), curvature_ = curvature.data();
        const LogisticLane* const lanes[] = {&lane};
        double value[1];
        evaluate(lanes, std::span(&weights, 1), C, value, std::span(&gradient, 1), heartbeat);
        kept_ = nullptr, curvature_ = nullptr;
        return value[0];
    }

    // The Hessian of one lane times a direction, from what `expand` kept.
    void hessian_product(const LogisticLane& lane, const double* direction, double C,
                         const LineVector<T>& kept, double* product, Heartbeat& heartbeat) {
        const LogisticLane* const lanes[] = {&lane};
        const std::int64_t total = set_vectors(lanes, std::span(&direction, 1));
        const std::int64_t d = x_.n_columns(), stride = d + 1;
        const std::size_t R = tile_rows();
        const T* p = kept.data();
        for (std::int64_t tile = 0; tile < x_.n_tiles(); ++tile) {
            x_.scores(tile, packed_.data(), intercept_.data(), total, scores_.data(), scratch_);
            set_costs(lane, tile);
            T* s = scores_.data();
            const auto K = static_cast<std::size_t>(total);
            if (lane.is_joint()) {
                std::fill(sum_.begin(), sum_.end(), T(0));
                for (std::size_t k = 0; k < K; ++k)
                    for (std::size_t r = 0; r < R; ++r) sum_[r] += p[k * R + r] * s[k * R + r];
                for (std::size_t k = 0; k < K; ++k)
                    for (std::size_t r = 0; r < R; ++r)
                        s[k * R + r] = cost_[r] * p[k * R + r] * (s[k * R + r] - sum_[r]);
            } else {
                for (std::size_t r = 0; r < R; ++r) s[r] *= cost_[r] * p[r];
            }
            p += K * R;
            for (std::size_t k = 0; k < K; ++k)
                all_[k * static_cast<std::size_t>(stride) + static_cast<std::size_t>(d)] +=
                    sum_of(s + k * R);
            x_.add_gradients(tile, s, total, all_.data(), stride, scratch_);
            for (std::size_t r = 0; r < R; ++r) heartbeat.row();
        }
        x_.finish_gradients(total, all_.data(), stride, scratch_);
        add_penalty(lanes, std::span(&direction, 1), C, std::span(&product, 1));
    }

   private:
    // Copy weight vectors of all lanes into the layout of products, and clear the sums.
    std::int64_t set_vectors(std::span<const LogisticLane* const> lanes,
                             std::span<const double* const> weights) {
        const std::int64_t d = x_.n_columns(), stride = d + 1;
        std::int64_t total = 0;
        for (const LogisticLane* lane : lanes) total += lane->n_vectors;
        all_.resize(static_cast<std::size_t>(total * stride));
        packed_.resize(static_cast<std::size_t>(x_.packed_size(total)));
        intercept_.resize(static_cast<std::size_t>(total));
        scores_.resize(static_cast<std::size_t>(total * x_.tile_rows()));
        double* to = all_.data();
        for (std::size_t k = 0; k < lanes.size(); ++k)
            to = std::copy_n(weights[k], lanes[k]->n_vectors * stride, to);
        x_.pack_weights(all_.data(), total, stride, packed_.data());
        for (std::int64_t c = 0; c < total; ++c)
            intercept_[static_cast<std::size_t>(c)] =
                static_cast<T>(all_[static_cast<std::size_t>(c * stride + d)]);
        std::fill(all_.begin(), all_.end(), 0.0);
        return total;
    }

    // to = C sums + (w, 0) for each vector of each lane
    void add_penalty(std::span<const LogisticLane* const> lanes,
                     std::span<const double* const> weights, double C,
                     std::span<double* const> to) const {
        const std::int64_t d = x_.n_columns(), stride = d + 1;
        const double* from = all_.data();
        for (std::size_t k = 0; k < lanes.size(); ++k) {
            const std::int64_t size = lanes[k]->n_vectors * stride;
            for (std::int64_t i = 0; i < size; ++i)
                to[k][i] = C * from[i] + (i % stride < d ? weights[k][i] : 0.0);
            from += size;
        }
    }

    std::size_t tile_rows() const { return static_cast<std::size_t>(x_.tile_rows()); }

    void set_costs(const LogisticLane& lane, std::int64_t tile) {
        const std::size_t R = tile_rows();
        const T* weight = targets_.weight.data() + static_cast<std::size_t>(tile) * R;
        if (targets_.fold.empty()) {
            std::copy_n(weight, R, cost_.data());
            return;
        }
        const T* fold = targets_.fold.data() + static_cast<std::size_t>(tile) * R;
        const T held_out = static_cast<T>(lane.held_out < 0 ? -2 : lane.held_out);
        for (std::size_t r = 0; r < R; ++r) cost_[r] = fold[r] == held_out ? T(0) : weight[r];
    }

    double sum_of(const T* s) const {
        constexpr int P = kPerLine<T>;
        Line<T> partial = Line<T>::zero();
        for (std::size_t r = 0; r < tile_rows(); r += P) partial += Line<T>::load(s + r);
        return static_cast<double>(partial.sum());
    }

    // Replace scores s by the derivatives c loss'(s), and return the sum of c loss(s).
    double binary_residuals(const LogisticLane& lane, std::int64_t tile, T* s) {
        const std::size_t R = tile_rows();
        const T* label = targets_.label.data() + static_cast<std::size_t>(tile) * R;
        const T target = static_cast<T>(lane.target);
        for (std::size_t r = 0; r < R; ++r) {
            const T sign = label[r] == target ? T(1) : T(-1);
            const T margin = sign * s[r];
            const T size = margin < 0 ? -margin : margin;
            const T e = -size < kFar ? T(0) : exponential(-size);  // e^-|m|
            const T inverse = T(1) / (T(1) + e);
            const T p = (margin < 0 ? T(1) : e) * inverse;  // 1 / (1 + e^m)
            sum_[r] = cost_[r] * (log_one_plus(e) + (size - margin) * T(0.5));
            top_[r] = e * inverse * inverse;  // p (1 - p)
            s[r] = -sign * cost_[r] * p;
        }
        if (kept_ != nullptr) {
            std::copy_n(top_.data(), R, kept_ + static_cast<std::size_t>(tile) * R);
            set_curvature(tile);
        }
        return sum_of(sum_.data());
    }

    double joint_residuals(const LogisticLane& lane, std::int64_t tile, T* s) {
        const std::size_t R = tile_rows();
        const auto K = static_cast<std::size_t>(lane.n_vectors);
        const T* label = targets_.label.data() + static_cast<std::size_t>(tile) * R;
        std::copy_n(s, R, top_.data());
        for (std::size_t k = 1; k < K; ++k)
            for (std::size_t r = 0; r < R; ++r) top_[r] = std::max(top_[r], s[k * R + r]);
        double losses = 0;
        for (std::size_t r = 0; r < R; ++r)
            if (cost_[r] > 0)
                losses -= static_cast<double>(cost_[r] *
                                              (s[vector_of(lane, label[r]) * R + r] - top_[r]));
        std::fill(sum_.begin(), sum_.end(), T(0));
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t r = 0; r < R; ++r) {
                const T away = s[k * R + r] - top_[r];
                const T e = away < kFar ? T(0) : exponential(away);
                s[k * R + r] = e;
                sum_[r] += e;
            }
        for (std::size_t r = 0; r < R; ++r) top_[r] = cost_[r] * logarithm(sum_[r]);
        losses += sum_of(top_.data());
        if (kept_ != nullptr) keep_probabilities(tile, K, s);
        for (std::size_t r = 0; r < R; ++r) sum_[r] = cost_[r] / sum_[r];
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t r = 0; r < R; ++r) s[k * R + r] *= sum_[r];
        for (std::size_t r = 0; r < R; ++r)
            if (cost_[r] > 0) s[vector_of(lane, label[r]) * R + r] -= cost_[r];
        return losses;
    }

    // s holds e^(score - top), sum_ its sums over classes.
    void keep_probabilities(std::int64_t tile, std::size_t K, const T* s) {
        const std::size_t R = tile_rows();
        T* p = kept_ + static_cast<std::size_t>(tile) * K * R;
        std::fill(top_.begin(), top_.end(), T(0));
        for (std::size_t k = 0; k < K; ++k)
            for (std::size_t r = 0; r < R; ++r) {
                p[k * R + r] = s[k * R + r] / sum_[r];
                top_[r] += p[k * R + r] * (T(1) - p[k * R + r]);
            }
        const T inverse = T(1) / static_cast<T>(K > 1 ? K - 1 : 1);
        for (std::size_t r = 0; r < R; ++r) top_[r] *= inverse;
        set_curvature(tile);
    }

    // Write the mean curvature of the rows of a tile, times their costs, from top_.
    void set_curvature(std::int64_t tile) {
        const std::int64_t first = tile * x_.tile_rows();
        const std::int64_t count = std::min(x_.tile_rows(), x_.n_rows() - first);
        for (std::int64_t r = 0; r < count; ++r) {
            const auto at = static_cast<std::size_t>(r);
            curvature_[first + r] = static_cast<double>(cost_[at] * top_[at]);
        }
    }

    static std::size_t vector_of(const LogisticLane& lane, T label) {
        return static_cast<std::size_t>(lane.code[static_cast<std::size_t>(label)]);
    }

    const Tiles& x_;
    const LogisticTargets<T>& targets_;
    LineVector<T> cost_, top_, sum_, packed_, intercept_, scores_;
    std::vector<double> all_;
    typename Tiles::Scratch scratch_;
    // Probabilities below e^kFar count as 0, so that products with them are not subnormal.
    static constexpr T kFar = T(-50);
    T* kept_ = nullptr;            // where `expand` keeps what the Hessian needs
    double* curvature_ = nullptr;  // of each row
};

}  // namespace separable
