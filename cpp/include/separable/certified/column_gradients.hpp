// Gradients by the weights of columns, recomputed only where they may have become large.
//
//   problem   for changing gradients g of the rows, find every column with |x_j.g| >= level_j
//   bound     |x_j.g| <= |x_j.r| + |x_j| |g - r| for the gradients r of the rows at which x_j.r was
//             computed; with an intercept g - r sums to 0, and x_j may be centered
//
// A few such r are kept. Columns that this bound screens out are not read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "separable/certified/coordinate_products.hpp"
#include "separable/data/rows.hpp"

namespace separable {

class ColumnGradients {
   public:
    ColumnGradients(const Columns& columns, std::span<const double> l1, bool is_centred)
        : gradient(static_cast<std::size_t>(columns.n_columns)),
          x_(columns),
          l1_(l1),
          ratio_(gradient.size()),
          norm_(gradient.size()),
          version_(gradient.size(), kStale),
          max_kept_(std::clamp<std::size_t>(
              kNumbers / static_cast<std::size_t>(std::max<std::int64_t>(1, columns.n_rows)), 2,
              kMaxKept)),
          distance_(kMaxKept + 1, std::numeric_limits<double>::infinity()) {
        const auto n = static_cast<double>(columns.n_rows);
        for (std::int64_t j = 0; j < columns.n_columns; ++j) {
            const auto column = x_[j];
            double square = sum_of_squares(column);
            if (is_centred) {
                double sum = 0;
                column.for_each([&](std::size_t, double x) { sum += x; });
                square = std::max(square - sum * sum / n, kRounding * square);
            }
            norm_[at(j)] = rounded_up(std::sqrt(square) * (1 + kRounding) / l1_[at(j)]);
        }
    }

    // New gradients of the rows: updates of columns use them from now on.
    void move_to(const std::vector<double>& g) {
        if (kept_.size() < max_kept_)
            kept_.emplace_back();
        else
            forget(next_);
        kept_[next_] = g;
        now_ = next_;
        next_ = (next_ + 1) % max_kept_;
        for (std::size_t k = 0; k < kept_.size(); ++k) distance_[k] = distance(kept_[k], g);
    }

    // Find the forced columns, and those whose |gradient| may reach level times their penalty.
    void find(double level, std::vector<std::int64_t>& columns) const {
        constexpr std::size_t kBlock = 64;  // most blocks have no such column
        const auto threshold = static_cast<float>(level * (1 - kFloatRounding));
        float distance_to[kMaxKept + 1];
        for (std::size_t k = 0; k <= kMaxKept; ++k) distance_to[k] = rounded_up(distance_[k]);
        columns.clear();
        for (std::size_t first = 0; first < gradient.size(); first += kBlock) {
            const std::size_t n = std::min(kBlock, gradient.size() - first);
            const float *ratio = ratio_.data() + first, *norm = norm_.data() + first;
            const std::int32_t* version = version_.data() + first;
            std::int32_t is_large[kBlock], any = 0;
            for (std::size_t j = 0; j < n; ++j) {
                is_large[j] = !(ratio[j] + norm[j] * distance_to[version[j]] < threshold);
                any |= is_large[j];
            }
            if (any == 0) continue;
            for (std::size_t j = 0; j < n; ++j)
                if (is_large[j] != 0) columns.push_back(static_cast<std::int64_t>(first + j));
        }
    }

    // Update the gradient of a column unless it is current. Returns the numbers read.
    std::int64_t update(std::int64_t j) {
        const auto now = static_cast<std::int32_t>(now_);
        if (version_[at(j)] == now) return 0;
        const auto column = x_[j];
        gradient[at(j)] = dot(column, kept_[now_].data());
        ratio_[at(j)] = rounded_up(std::abs(gradient[at(j)]) / l1_[at(j)]);
        version_[at(j)] = now;
        return column.size();
    }

    // The gradient was written by the caller and belongs to no kept gradients of rows.
    void invalidate(std::int64_t j) { version_[at(j)] = kStale; }

    // The column is found whatever its gradient, until the next update.
    void force(std::int64_t j) { ratio_[at(j)] = std::numeric_limits<float>::infinity(); }

    std::vector<double> gradient;

   private:
    static constexpr std::size_t kMaxKept = 64, kNumbers = std::size_t{1} << 22;
    static constexpr std::int32_t kStale = kMaxKept;
    static constexpr double kRounding = 1e-12, kFloatRounding = 1e-6;

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    // Bounds need few digits, and reading less memory is faster.
    static float rounded_up(double x) { return static_cast<float>(x * (1 + kFloatRounding)); }

    static double distance(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return std::sqrt(sum) * (1 + kRounding);
    }

    void forget(std::size_t slot) {
        for (std::int32_t& one : version_)
            if (one == static_cast<std::int32_t>(slot)) one = kStale;
    }

    const Columns& x_;
    std::span<const double> l1_;
    std::vector<float> ratio_, norm_;  // |gradient| and |x_j| over the penalty
    std::vector<std::int32_t> version_;
    std::size_t max_kept_, now_ = 0, next_ = 0;
    std::vector<std::vector<double>> kept_;  // gradients of rows
    std::vector<double> distance_;  // of each of these from the current one; infinite if unused
};

}  // namespace separable
