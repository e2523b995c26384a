// The weights of online learners as arrays of the caller.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "kernels/views.hpp"
#include "separable/math/lanes.hpp"

// Calls run.template operator()<Lane>() with the lane type of weights [block][feature]...[lane].
template <class Run>
auto with_lane(const AnyWeights& w, Run&& run) {
    using separable::Lanes, separable::Single;
    const auto width = static_cast<int>(w.shape(w.ndim() - 1));
    if (w.dtype() == AnyWeights::Type::kFloat) {
        if (width == 1) return run.template operator()<Single<float>>();
        if (width == Lanes<float>::kWidth) return run.template operator()<Lanes<float>>();
    } else if (w.dtype() == AnyWeights::Type::kDouble) {
        if (width == 1) return run.template operator()<Single<double>>();
        if (width == Lanes<double>::kWidth) return run.template operator()<Lanes<double>>();
    }
    throw std::invalid_argument("weights are 1 lane, 16 lanes of float32 or 8 of float64");
}

// Weights as [block][feature][lane]; the dtype and the last dimension determine the lane type.
struct Weights {
    AnyWeights w, b;
    std::optional<Mutable<double, 3>> u;
    std::optional<Mutable<double, 2>> u_b;

    std::int64_t n_blocks() const { return static_cast<std::int64_t>(w.shape(0)); }

    void check_shapes(std::int64_t n_features) const {
        check(w.ndim() == 3 && b.ndim() == 2, "weights have 3 dimensions, intercepts 2");
        check(static_cast<std::int64_t>(w.shape(1)) == n_features, "weights have another width");
        check(b.shape(0) == w.shape(0) && b.shape(1) == w.shape(2), "intercepts do not fit");
        check(b.dtype() == w.dtype(), "weights and intercepts must have the same dtype");
        check(u.has_value() == u_b.has_value(), "sums of weights and of intercepts go together");
        if (u)
            for (int d = 0; d < 3; ++d) check(u->shape(d) == w.shape(d), "sums do not fit");
        if (u) check(u_b->shape(0) == b.shape(0) && u_b->shape(1) == b.shape(1), "sums do not fit");
    }

    template <class Lane>
    typename Lane::T* block_weights(std::int64_t block) const {
        const auto n_features = static_cast<std::int64_t>(w.shape(1));
        return static_cast<typename Lane::T*>(w.data()) + block * n_features * Lane::kWidth;
    }

    template <class Lane>
    typename Lane::T* block_intercepts(std::int64_t block) const {
        return static_cast<typename Lane::T*>(b.data()) + block * Lane::kWidth;
    }

    template <class Run>
    auto with_lane(Run&& run) const {
        return ::with_lane(w, std::forward<Run>(run));
    }
};
