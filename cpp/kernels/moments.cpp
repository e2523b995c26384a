#include "kernels/moments.hpp"

#include <limits>
#include <utility>
#include <variant>

#include "separable/math/fused.hpp"
#include "separable/moments/centre.hpp"
#include "separable/moments/close_pairs.hpp"
#include "separable/moments/column_ranges.hpp"
#include "separable/moments/dense_sums.hpp"
#include "separable/moments/residual.hpp"
#include "separable/moments/sparse_sums.hpp"

namespace kernels::moments {

namespace {

// A checked block of rows with their groups.
struct Block {
    Block(const BoundRows& bound, std::int64_t first, std::int64_t n_rows,
          const std::optional<Const<std::int32_t>>& group,
          const std::optional<Const<double>>& weight, Const<double> total)
        : rows(bound),
          first(first),
          n_rows(n_rows),
          by{group ? group->data() : nullptr, weight ? weight->data() : nullptr, total.data(),
             static_cast<std::int64_t>(total.size())} {
        check(first >= 0 && n_rows >= 0 && first <= bound.n_rows && n_rows <= bound.n_rows - first,
              "the block is outside");
        check(!weight || static_cast<std::int64_t>(weight->size()) == n_rows,
              "one weight a row is needed");
        check(by.n_groups >= 1, "there must be a group");
        if (!group) return;
        check(static_cast<std::int64_t>(group->size()) == n_rows, "one group a row is needed");
        for (std::int64_t i = 0; i < n_rows; ++i)
            check(by.group[i] >= 0 && by.group[i] < by.n_groups, "a group is outside");
    }

    // Whether an array has shape (groups, features).
    template <class A>
    bool fits(const A& array) const {
        return static_cast<std::int64_t>(array.shape(0)) == by.n_groups &&
               static_cast<std::int64_t>(array.shape(1)) == rows.n_features;
    }

    const BoundRows& rows;
    std::int64_t first, n_rows;
    Grouping by;
};

std::int64_t length(const auto& array) { return static_cast<std::int64_t>(array.size()); }

}  // namespace

void centre(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Groups& group,
            const Weights& weight, Const<double> total, Const<double> origin, Const<double> scale,
            Mutable<double, 2> mean, Mutable<double, 1> largest, Mutable<double, 2> out,
            std::int64_t column) {
    const Block block(rows, first, n_rows, group, weight, total);
    const std::int64_t d = rows.n_features;
    check(length(origin) == d && length(scale) == d && block.fits(mean) && length(largest) == d,
          "columns do not fit");
    check(static_cast<std::int64_t>(out.shape(0)) >= n_rows && column >= 0 &&
              static_cast<std::int64_t>(out.shape(1)) - d >= column,
          "there is no room for the centred rows");
    std::visit(
        [&](const auto& x) {
            if constexpr (requires { x.index_; }) {
                throw std::invalid_argument("only dense rows are centred");
            } else {
                ReleasedGil no_gil;
                centre_rows(x, first, n_rows, block.by, origin.data(), scale.data(), mean.data(),
                            largest.data(), out.data() + column,
                            static_cast<std::int64_t>(out.shape(1)));
            }
        },
        rows.rows);
}

void ranges(const BoundRows& rows, const Weights& weight, Mutable<double, 1> mean,
            Mutable<double, 1> low, Mutable<double, 1> high) {
    const std::int64_t d = rows.n_features;
    check(rows.n_rows > 0, "there are no rows");
    check(!weight || length(*weight) == rows.n_rows, "one weight a row is needed");
    check(length(mean) == d && length(low) == d && length(high) == d, "columns do not fit");
    std::visit(
        [&](const auto& x) {
            if constexpr (requires { x.index_; }) {
                throw std::invalid_argument("only dense rows have ranges");
            } else {
                ReleasedGil no_gil;
                column_ranges(x, weight ? weight->data() : nullptr, mean.data(), low.data(),
                              high.data(), poll_signals);
            }
        },
        rows.rows);
}

std::vector<std::int64_t> columns_of_close_pairs(const BoundRows& rows, std::int64_t step,
                                                 double limit, const Weights& size,
                                                 std::int64_t most) {
    check(rows.n_rows > 0 && step > 0, "there are no rows");
    check(!size || length(*size) == rows.n_features, "columns do not fit");
    return std::visit(
        [&](const auto& x) -> std::vector<std::int64_t> {
            if constexpr (requires { x.index_; }) {
                throw std::invalid_argument("only dense rows have pairs");
            } else {
                ReleasedGil no_gil;
                return close_pairs(x, step, limit, size ? size->data() : nullptr, most);
            }
        },
        rows.rows);
}

std::pair<std::int64_t, double> add_dense(
    const BoundRows& rows, const std::optional<ConstTable<double>>& targets, const Weights& weight,
    const std::optional<Const<std::int64_t>>& chosen, std::int64_t first, std::int64_t n_rows,
    std::int64_t step, Const<double> origin, Const<double> scale, double total,
    Mutable<double, 2> offset, Mutable<double, 2> scatter) {
    const std::int64_t there = chosen ? length(*chosen) : rows.n_rows;
    check(first >= 0 && n_rows >= 0 && first <= there && n_rows <= there - first,
          "the block is outside");
    check(step >= 1, "a block must have rows");
    check(!weight || length(*weight) == rows.n_rows, "one weight a row is needed");
    check(!targets || static_cast<std::int64_t>(targets->shape(0)) == rows.n_rows,
          "one target a row is needed");
    for (std::int64_t i = first; chosen && i < first + n_rows; ++i)
        check(chosen->data()[i] >= 0 && chosen->data()[i] < rows.n_rows, "a row is outside");
    const std::int64_t t = targets ? static_cast<std::int64_t>(targets->shape(1)) : 0;
    const std::int64_t p = rows.n_features + t;
    check(length(origin) == p && length(scale) == p && offset.shape(0) == 1 &&
              static_cast<std::int64_t>(offset.shape(1)) == p &&
              static_cast<std::int64_t>(scatter.shape(0)) == p &&
              static_cast<std::int64_t>(scatter.shape(1)) == p,
          "sums do not fit");
    DenseSums sums{p, origin.data(), scale.data(), total, offset.data(), scatter.data()};
    const std::int64_t added = std::visit(
        [&](const auto& x) -> std::int64_t {
            if constexpr (requires { x.index_; }) {
                throw std::invalid_argument("only dense rows are summed so");
            } else {
                ReleasedGil no_gil;
                return add_dense_blocks(
                    DenseData{x, targets ? targets->data() : nullptr, t,
                              weight ? weight->data() : nullptr, chosen ? chosen->data() : nullptr,
                              first + n_rows},
                    first, step, sums, poll_signals);
            }
        },
        rows.rows);
    return {added, sums.weight};
}

std::tuple<bool, bool, bool> group_sums(const BoundRows& rows, std::int64_t first,
                                        std::int64_t n_rows, const Groups& group,
                                        const Weights& weight, std::optional<double> threshold,
                                        Mutable<double, 2> sums) {
    std::vector<double> total(sums.shape(0), 0.0);
    const Block block(rows, first, n_rows, group, weight,
                      Const<double>(total.data(), {total.size()}));
    check(block.fits(sums), "sums do not fit");
    const std::vector<bool> none;  // duplicate columns do not matter to sums
    const std::vector<bool>& repeats = threshold ? rows.repeats() : none;
    ReleasedGil no_gil;
    const SeenValues seen = std::visit(
        [&](const auto& x) {
            return add_group_sums(x, first, n_rows, repeats, block.by,
                                  Binarizer{threshold ? &*threshold : nullptr}, sums.data());
        },
        rows.rows);
    return {seen.finite, seen.negative, seen.whole};
}

void squares(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Weights& weight,
             Mutable<double, 1> sums, Mutable<double, 1> filled, Mutable<double, 1> largest) {
    const double none = 0;
    const Block block(rows, first, n_rows, {}, weight, Const<double>(&none, {1}));
    check(length(sums) == rows.n_features && length(filled) == rows.n_features &&
              length(largest) == rows.n_features,
          "sums do not fit");
    const std::vector<bool>& repeats = rows.repeats();
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            add_squares(x, first, n_rows, repeats, block.by, sums.data(), filled.data(),
                        largest.data());
        },
        rows.rows);
}

void squares_about(const BoundRows& rows, std::int64_t first, std::int64_t n_rows,
                   const Groups& group, const Weights& weight, Const<double> total,
                   ConstTable<double> mean, Mutable<double, 1> sums, Mutable<double, 2> gaps) {
    const Block block(rows, first, n_rows, group, weight, total);
    check(length(sums) == rows.n_features && block.fits(mean) && block.fits(gaps),
          "sums do not fit");
    check(n_rows <= std::numeric_limits<std::int32_t>::max(), "the block has too many rows");
    const std::vector<bool>& repeats = rows.repeats();
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            add_squares_about(x, first, n_rows, repeats, block.by, mean.data(), sums.data(),
                              gaps.data());
        },
        rows.rows);
}

namespace {

void check_places(const Const<std::int64_t>& place, const BoundRows& rows, std::int64_t size) {
    check(length(place) == rows.n_features, "one place a column is needed");
    for (std::int64_t j = 0; j < rows.n_features; ++j)
        check(place.data()[j] < size, "a place is outside");
}

}  // namespace

void spread(const BoundRows& rows, std::int64_t first, std::int64_t n_rows,
            Const<std::int64_t> place, Mutable<double, 2> out) {
    const double none = 0;
    const Block block(rows, first, n_rows, {}, {}, Const<double>(&none, {1}));
    check_places(place, rows, static_cast<std::int64_t>(out.shape(1)));
    check(static_cast<std::int64_t>(out.shape(0)) >= n_rows, "there is no room for the rows");
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            spread_columns(x, first, n_rows, place.data(), out.data(),
                           static_cast<std::int64_t>(out.shape(1)));
        },
        rows.rows);
}

void products(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Weights& weight,
              Const<std::int64_t> place, Mutable<double, 2> sums, ConstTable<double> z,
              Mutable<double, 2> cross) {
    const double none = 0;
    const Block block(rows, first, n_rows, {}, weight, Const<double>(&none, {1}));
    const auto size = static_cast<std::int64_t>(sums.shape(0));
    check(sums.shape(1) == sums.shape(0), "products need a square");
    check(cross.shape(0) == sums.shape(0) && cross.shape(1) == z.shape(1) &&
              static_cast<std::int64_t>(z.shape(0)) >= n_rows,
          "cross products do not fit");
    check_places(place, rows, size);
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            add_products(x, first, n_rows, block.by.weight, place.data(), sums.data(), size,
                         z.data(), static_cast<std::int64_t>(z.shape(1)), cross.data(),
                         poll_signals);
        },
        rows.rows);
}

bool fuses_products() { return kFusesProducts; }

std::pair<double, double> residuals(const BoundRows& rows, Const<double> y, const Weights& weight,
                                    const Weights& w, const Weights& w_low, double b, double b_low,
                                    const Weights& centre,
                                    std::optional<Mutable<double, 1>> gradient,
                                    std::optional<Mutable<double, 1>> each) {
    const std::int64_t d = rows.n_features;
    check(length(y) == rows.n_rows && (!weight || length(*weight) == rows.n_rows) &&
              (!each || length(*each) == rows.n_rows),
          "one number a row is needed");
    const auto fits = [d](const auto& numbers) { return !numbers || length(*numbers) == d; };
    check(fits(w) && fits(w_low) && fits(centre) && fits(gradient),
          "one number a column is needed");
    const auto data = [](const auto& numbers) { return numbers ? numbers->data() : nullptr; };
    ReleasedGil no_gil;
    const ResidualSums sums = std::visit(
        [&](const auto& x) {
            return residual_sums(x, y.data(), data(weight), data(w), data(w_low), b, b_low,
                                 data(centre), data(gradient), data(each), poll_signals);
        },
        rows.rows);
    return {sums.intercept, sums.squares};
}

}  // namespace kernels::moments
