// Block coordinate descent on a quadratic plus a block-separable penalty:
//
//   minimise  1/2 u'Hu - q'u + sum_B penalty_B(u_B)
//
// Given     H, symmetric, d x d; the blocks, contiguous runs of weights; a step that minimises over
//           one block exactly; u and its negative gradient g = q - Hu.
// Returns   u and g after whole passes, their number, and how much the last one moved.
//
// A pass, for each block B:
//   1. m = g_B + H_BB u_B, the negative gradient at u_B = 0
//   2. x = argmin 1/2 x'H_BB x - m'x + penalty_B(x)
//   3. if x differs from u_B: g -= H_.B (x - u_B), u_B = x
// An unchanged block costs its size squared, since g is kept. Passes alternate between forward and
// backward order. They end when one lowers the objective by no more than `tol`, estimated by half
// the sum of (x - u)'H_BB (x - u), a lower bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable/math/lanes.hpp"

namespace separable {

// Weights first ... first + size - 1; where its axes start, if it has any.
struct WeightBlock {
    const double* h;  // of its first weight, with itself
    std::int64_t d, number, first, size, first_axis;

    double curvature(std::int64_t k) const { return h[k * (d + 1)]; }
};

struct DescentEnd {
    std::int64_t passes;
    double moved;
};

// g -= step h, over d numbers.
inline void take_from(std::int64_t d, double step, const double* h, double* g) {
    using L = Line<double>;
    constexpr std::int64_t P = kPerLine<double>;
    const L minus = L::broadcast(-step);
    std::int64_t k = 0;
    for (; k + P <= d; k += P) (L::load(g + k) + minus * L::load(h + k)).store(g + k);
    for (; k < d; ++k) g[k] -= step * h[k];
}

// start: where each block starts, and d at the end.
template <class Step, class Poll>
DescentEnd block_descent(std::int64_t d, const double* h, const std::vector<std::int64_t>& start,
                         Step& step, double tol, std::int64_t max_passes, double* u, double* g,
                         Poll&& poll) {
    const auto n_blocks = static_cast<std::int64_t>(start.size()) - 1;
    std::vector<WeightBlock> blocks;
    std::int64_t widest = 1, axes = 0;
    for (std::int64_t b = 0; b < n_blocks; ++b) {
        const std::int64_t first = start[b], size = start[b + 1] - first;
        blocks.push_back({h + first * (d + 1), d, b, first, size, axes});
        widest = std::max(widest, size);
        axes += size * size;
    }
    std::vector<double> gradient(static_cast<std::size_t>(widest)), x(gradient.size());
    constexpr std::int64_t kWorkBetweenPolls = std::int64_t{1} << 23;
    std::int64_t work = 0;
    DescentEnd end{0, 0.0};

    const auto visit = [&](const WeightBlock& block) {
        double *weights = u + block.first, *m = gradient.data();
        for (std::int64_t i = 0; i < block.size; ++i) {  // 1
            m[i] = g[block.first + i];
            for (std::int64_t k = 0; k < block.size; ++k) m[i] += block.h[i * d + k] * weights[k];
        }
        step(block, m, x.data());  // 2
        work += block.size * block.size;
        double change = 0;
        for (std::int64_t i = 0; i < block.size; ++i) {
            double product = 0;
            for (std::int64_t k = 0; k < block.size; ++k)
                product += block.h[i * d + k] * (x[k] - weights[k]);
            change += 0.5 * product * (x[i] - weights[i]);
        }
        for (std::int64_t i = 0; i < block.size; ++i) {  // 3
            const double by = x[i] - weights[i];
            if (by == 0) continue;
            take_from(d, by, block.h - block.first + i * d, g);
            weights[i] = x[i];
            work += d;
        }
        end.moved += change;
        if (work > kWorkBetweenPolls) poll(), work = 0;
    };

    while (end.passes < max_passes) {
        end.moved = 0;
        if (end.passes++ % 2 == 0)
            for (const WeightBlock& block : blocks) visit(block);
        else
            for (auto block = blocks.rbegin(); block != blocks.rend(); ++block) visit(*block);
        if (!(end.moved > tol)) break;
    }
    return end;
}

}  // namespace separable
