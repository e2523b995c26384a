// Sums over the non-zeros of rows.
//
//   problem   sums by group          s_gj = sum_{i in g} w_i x_ij
//             squares                q_j  = sum_i w_i x_ij^2
//             squares about means    v_j  = sum_i w_i (x_ij - m_gj)^2, zeros included
//             products               Q_jk = sum_i w_i x_ij x_ik, for the chosen columns
//             cross products         C_jk = sum_i sqrt(w_i) x_ij z_ik with dense rows z
//   given     a block of rows, their groups and weights
//   returns   the updated sums; sums by group also return whether all values are finite and
//             whether any has a minus sign
//   steps     one pass over the non-zeros; for products, over the pairs of non-zeros of each row
// Duplicate columns of a row are added. Products over pairs do that implicitly; squares add the
// values first (`repeats`).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/moments/centre.hpp"

namespace separable {

// Number of operations between two polls.
inline constexpr std::int64_t kPairsBetweenPolls = std::int64_t{1} << 24;

// Indicator of values above a threshold; without a threshold the value itself.
struct Binarizer {
    const double* threshold;  // or nullptr

    double operator()(double x) const { return threshold ? (x > *threshold ? 1.0 : 0.0) : x; }
};

// The non-zeros of a row, duplicate columns added.
template <class R>
class DistinctValues {
   public:
    template <class Visit>
    void visit(const R& row, bool repeats, Visit&& visit) {
        if (!repeats) {
            for (std::int64_t k = 0; k < row.size(); ++k)
                visit(row.index(k), static_cast<double>(row.value(k)));
            return;
        }
        entries_.clear();
        for (std::int64_t k = 0; k < row.size(); ++k)
            entries_.emplace_back(row.index(k), static_cast<double>(row.value(k)));
        sum_repeats(entries_);
        for (const auto& [column, x] : entries_) visit(column, x);
    }

   private:
    std::vector<Entry<double>> entries_;
};

inline bool repeats_in(const std::vector<bool>& repeats, std::int64_t i) {
    return !repeats.empty() && repeats[static_cast<std::size_t>(i)];
}

// Whether all values are finite, whether any has a minus sign, and whether all are integers below
// 1 / (4 eps). The compiler vectorizes these tests, and the values are in the cache. Adding and
// subtracting 1.5 / eps rounds a number to an integer.
template <class Value>
class Signs {
   public:
    void look_at(const Value* x, std::int64_t n) {
        constexpr Value shift = Value(1.5) / std::numeric_limits<Value>::epsilon();
        Bits largest = largest_, any = any_, fraction = fraction_;
        for (std::int64_t k = 0; k < n; ++k) {
            const Bits bits = std::bit_cast<Bits>(x[k]);
            largest = std::max(largest, static_cast<Bits>(bits << 1));
            any |= bits;
            const Value rounded = (x[k] + shift) - shift;
            fraction |= static_cast<Bits>(rounded != x[k]);
        }
        largest_ = largest, any_ = any, fraction_ = fraction;
    }
    bool finite() const {
        return largest_ <
               static_cast<Bits>(std::bit_cast<Bits>(std::numeric_limits<Value>::infinity()) << 1);
    }
    bool negative() const { return any_ >> (8 * sizeof(Bits) - 1); }
    bool whole() const { return fraction_ == 0; }

   private:
    using Bits = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
    Bits largest_ = 0, any_ = 0, fraction_ = 0;
};

struct SeenValues {
    bool finite, negative, whole;
};

// Rows ordered by group, keeping their order within each: the sums of one group at a time stay in
// the cache, and the order of every sum is unchanged.
inline std::vector<std::int64_t> rows_by_group(const Grouping& by, std::int64_t n_rows) {
    std::vector<std::int64_t> start(static_cast<std::size_t>(by.n_groups) + 1, 0);
    for (std::int64_t i = 0; i < n_rows; ++i) ++start[static_cast<std::size_t>(by.group_of(i)) + 1];
    for (std::size_t g = 1; g < start.size(); ++g) start[g] += start[g - 1];
    std::vector<std::int64_t> order(static_cast<std::size_t>(n_rows));
    for (std::int64_t i = 0; i < n_rows; ++i)
        order[static_cast<std::size_t>(start[static_cast<std::size_t>(by.group_of(i))]++)] = i;
    return order;
}

// Number of non-zeros between the prefetch of a sum and its use.
inline constexpr std::int64_t kSumsAhead = 24;

template <RowFormat F>
SeenValues add_group_sums(const F& rows, std::int64_t first, std::int64_t n_rows,
                          const std::vector<bool>& repeats, const Grouping& by, Binarizer seen_as,
                          double* sums) {
    DistinctValues<decltype(rows.row(0))> distinct;
    Signs<std::remove_cvref_t<decltype(rows.row(0).value(0))>> signs;
    const std::vector<std::int64_t> order = rows_by_group(by, n_rows);
    for (std::size_t t = 0; t < order.size(); ++t) {
        if (t + kRowsAhead < order.size()) rows.row(first + order[t + kRowsAhead]).prefetch();
        const std::int64_t i = order[t];
        const double w = by.weight_of(i);
        double* sum = sums + by.group_of(i) * rows.n_features;
        const auto row = rows.row(first + i);
        signs.look_at(row.x, row.size());
        if (seen_as.threshold) {
            distinct.visit(row, repeats_in(repeats, first + i),
                           [&](std::int64_t j, double x) { sum[j] += w * seen_as(x); });
            continue;
        }
        const std::int64_t ahead = std::max<std::int64_t>(0, row.size() - kSumsAhead);
        std::int64_t k = 0;
        for (; k < ahead; ++k) {
            row.prefetch_weights(sum, k + kSumsAhead, 1);
            sum[row.index(k)] += w * static_cast<double>(row.value(k));
        }
        for (; k < row.size(); ++k) sum[row.index(k)] += w * static_cast<double>(row.value(k));
    }
    return {signs.finite(), signs.negative(), signs.whole()};
}

// Squares, weight of the rows with a non-zero, and largest |x| of each column.
template <RowFormat F>
void add_squares(const F& rows, std::int64_t first, std::int64_t n_rows,
                 const std::vector<bool>& repeats, const Grouping& by, double* squares,
                 double* filled, double* largest) {
    DistinctValues<decltype(rows.row(0))> distinct;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const double w = by.weight_of(i);
        distinct.visit(rows.row(first + i), repeats_in(repeats, first + i),
                       [&](std::int64_t j, double x) {
                           squares[j] += w * x * x;
                           filled[j] += x == 0 ? 0.0 : w;
                           largest[j] = std::abs(x) <= largest[j] ? largest[j] : std::abs(x);
                       });
    }
}

// v_j += sum w (x_j - m_gj)^2 and r_gj = sum w (x_j - m_gj), the error of a rounded mean m times
// the weight: the non-zeros one by one, and -m_gj times the weight of the rows with 0. That weight
// is set to exactly 0 if there are no such rows.
template <RowFormat F>
void add_squares_about(const F& rows, std::int64_t first, std::int64_t n_rows,
                       const std::vector<bool>& repeats, const Grouping& by, const double* mean,
                       double* squares, double* gaps) {
    const std::int64_t d = rows.n_features;
    std::vector<double> left(static_cast<std::size_t>(by.n_groups * d));
    std::vector<std::int32_t> rows_left(left.size());
    std::vector<std::int32_t> count(static_cast<std::size_t>(by.n_groups));
    for (std::int64_t i = 0; i < n_rows; ++i) ++count[static_cast<std::size_t>(by.group_of(i))];
    for (std::int64_t g = 0; g < by.n_groups; ++g) {
        std::fill_n(left.begin() + g * d, d, by.total[g]);
        std::fill_n(rows_left.begin() + g * d, d, count[static_cast<std::size_t>(g)]);
    }
    std::fill_n(gaps, by.n_groups * d, 0.0);
    DistinctValues<decltype(rows.row(0))> distinct;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const double w = by.weight_of(i);
        const std::int64_t at = by.group_of(i) * d;
        distinct.visit(rows.row(first + i), repeats_in(repeats, first + i),
                       [&](std::int64_t j, double x) {
                           const double gap = x - mean[at + j];
                           squares[j] += w * gap * gap;
                           gaps[at + j] += w * gap;
                           left[static_cast<std::size_t>(at + j)] -= w;
                           --rows_left[static_cast<std::size_t>(at + j)];
                       });
    }
    for (std::int64_t g = 0; g < by.n_groups; ++g)
        for (std::int64_t j = 0; j < d; ++j) {
            const auto at = static_cast<std::size_t>(g * d + j);
            if (rows_left[at] <= 0) continue;
            const double m = mean[at], w = std::max(0.0, left[at]);
            squares[j] += w * m * m;
            gaps[at] -= w * m;
        }
}

// Chosen columns of rows as a dense block; place[j] < 0 omits column j.
template <RowFormat F>
void spread_columns(const F& rows, std::int64_t first, std::int64_t n_rows,
                    const std::int64_t* place, double* out, std::int64_t ld) {
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const auto row = rows.row(first + i);
        for (std::int64_t k = 0; k < row.size(); ++k)
            if (const std::int64_t at = place[row.index(k)]; at >= 0)
                out[i * ld + at] += static_cast<double>(row.value(k));
    }
}

// Upper triangle of Q, size x size in C order, and the cross products with dense rows z.
template <RowFormat F, class Poll>
void add_products(const F& rows, std::int64_t first, std::int64_t n_rows, const double* weight,
                  const std::int64_t* place, double* products, std::int64_t size, const double* z,
                  std::int64_t width, double* cross, Poll&& poll) {
    std::vector<std::pair<std::int64_t, double>> kept;
    std::int64_t pairs = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) {
        const auto row = rows.row(first + i);
        kept.clear();
        for (std::int64_t k = 0; k < row.size(); ++k)
            if (const std::int64_t at = place[row.index(k)]; at >= 0)
                kept.emplace_back(at, static_cast<double>(row.value(k)));
        std::sort(kept.begin(), kept.end());
        const double w = weight ? weight[i] : 1.0, root = weight ? std::sqrt(w) : 1.0;
        for (std::size_t a = 0; a < kept.size(); ++a) {
            double* line = products + kept[a].first * size;
            const double x = w * kept[a].second;
            line[kept[a].first] += x * kept[a].second;
            for (std::size_t b = a + 1; b < kept.size(); ++b)
                line[kept[b].first] +=
                    (kept[b].first == kept[a].first ? 2 * x : x) * kept[b].second;
            double* row_of_cross = cross + kept[a].first * width;
            const double y = root * kept[a].second;
            for (std::int64_t c = 0; c < width; ++c) row_of_cross[c] += y * z[i * width + c];
        }
        pairs += static_cast<std::int64_t>(kept.size() * (kept.size() + 1) / 2) + width;
        if (pairs > kPairsBetweenPolls) poll(), pairs = 0;
    }
}

}  // namespace separable
