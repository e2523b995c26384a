// Slopes of columns, taken again only where they may have become large.
//
//   problem   for slopes g of the rows that move, know every column with |x_j.g| >= level_j
//   bound     |x_j.g| <= |x_j.r| + |x_j| |g - r| for the slopes r of the rows at which x_j.r was
//             taken; with an intercept g - r adds up to 0, and x_j may be taken without its mean
//
// A few such r are kept. What is below its level by this bound is not read.
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

class ColumnSlopes {
   public:
    ColumnSlopes(const Columns& columns, std::span<const double> l1, bool is_centred)
        : slope(static_cast<std::size_t>(columns.n_columns)),
          x_(columns),
          l1_(l1),
          ratio_(slope.size()),
          reach_(slope.size()),
          taken_at_(slope.size(), kNever),
          most_(std::clamp<std::size_t>(
              kNumbers / static_cast<std::size_t>(std::max<std::int64_t>(1, columns.n_rows)), 2,
              kMost)),
          away_(kMost + 1, std::numeric_limits<double>::infinity()) {
        const auto n = static_cast<double>(columns.n_rows);
        for (std::int64_t j = 0; j < columns.n_columns; ++j) {
            const auto column = x_[j];
            double square = sum_of_squares(column);
            if (is_centred) {
                double sum = 0;
                column.for_each([&](std::size_t, double x) { sum += x; });
                square = std::max(square - sum * sum / n, kRounding * square);
            }
            reach_[at(j)] = rounded_up(std::sqrt(square) * (1 + kRounding) / l1_[at(j)]);
        }
    }

    // The slopes of the rows have moved: slopes of columns taken from now on are of these.
    void move_to(const std::vector<double>& g) {
        if (kept_.size() < most_)
            kept_.emplace_back();
        else
            forget(next_);
        kept_[next_] = g;
        now_ = next_;
        next_ = (next_ + 1) % most_;
        for (std::size_t k = 0; k < kept_.size(); ++k) away_[k] = distance(kept_[k], g);
    }

    // Find the columns that are held, and those whose |slope| may be at level times their penalty.
    void find(double level, std::vector<std::int64_t>& found) const {
        constexpr std::size_t kBlock = 64;  // few of these have any such column
        const auto most = static_cast<float>(level * (1 - kSingle));
        float away[kMost + 1];
        for (std::size_t k = 0; k <= kMost; ++k) away[k] = rounded_up(away_[k]);
        found.clear();
        for (std::size_t first = 0; first < slope.size(); first += kBlock) {
            const std::size_t n = std::min(kBlock, slope.size() - first);
            const float *ratio = ratio_.data() + first, *reach = reach_.data() + first;
            const std::int32_t* taken_at = taken_at_.data() + first;
            std::int32_t is_large[kBlock], any = 0;
            for (std::size_t j = 0; j < n; ++j) {
                is_large[j] = !(ratio[j] + reach[j] * away[taken_at[j]] < most);
                any |= is_large[j];
            }
            if (any == 0) continue;
            for (std::size_t j = 0; j < n; ++j)
                if (is_large[j] != 0) found.push_back(static_cast<std::int64_t>(first + j));
        }
    }

    // Take the slope again, if it is not the one of now. Returns the numbers read.
    std::int64_t take(std::int64_t j) {
        const auto now = static_cast<std::int32_t>(now_);
        if (taken_at_[at(j)] == now) return 0;
        const auto column = x_[j];
        slope[at(j)] = dot(column, kept_[now_].data());
        ratio_[at(j)] = rounded_up(std::abs(slope[at(j)]) / l1_[at(j)]);
        taken_at_[at(j)] = now;
        return column.size();
    }

    // A slope was written that no kept slopes of rows belong to.
    void was_changed(std::int64_t j) { taken_at_[at(j)] = kNever; }

    // A column that is found whatever its slope, until this is taken again.
    void hold(std::int64_t j) { ratio_[at(j)] = std::numeric_limits<float>::infinity(); }

    std::vector<double> slope;

   private:
    static constexpr std::size_t kMost = 64, kNumbers = std::size_t{1} << 22;
    static constexpr std::int32_t kNever = kMost;
    static constexpr double kRounding = 1e-12, kSingle = 1e-6;

    static std::size_t at(std::int64_t j) { return static_cast<std::size_t>(j); }

    // Bounds need few digits, but their memory is read often.
    static float rounded_up(double x) { return static_cast<float>(x * (1 + kSingle)); }

    static double distance(const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
        return std::sqrt(sum) * (1 + kRounding);
    }

    void forget(std::size_t place) {
        for (std::int32_t& one : taken_at_)
            if (one == static_cast<std::int32_t>(place)) one = kNever;
    }

    const Columns& x_;
    std::span<const double> l1_;
    std::vector<float> ratio_, reach_;  // |slope| and |x_j|, over the penalty
    std::vector<std::int32_t> taken_at_;
    std::size_t most_, now_ = 0, next_ = 0;
    std::vector<std::vector<double>> kept_;  // slopes of rows
    std::vector<double> away_;               // of each of these from now; of others no end
};

}  // namespace separable
