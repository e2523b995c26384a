#pragma once

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::moments {

using namespace separable;

using Groups = std::optional<Const<std::int32_t>>;

using Weights = std::optional<Const<double>>;

void centre(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Groups& group,
            const Weights& weight, Const<double> total, Const<double> origin, Const<double> scale,
            Mutable<double, 2> mean, Mutable<double, 1> largest, Mutable<double, 2> out,
            std::int64_t column);

void ranges(const BoundRows& rows, const Weights& weight, Mutable<double, 1> mean,
            Mutable<double, 1> low, Mutable<double, 1> high);

std::vector<std::int64_t> columns_of_close_pairs(const BoundRows& rows, std::int64_t step,
                                                 double limit, const Weights& size,
                                                 std::int64_t most);

std::pair<std::int64_t, double> add_dense(
    const BoundRows& rows, const std::optional<ConstTable<double>>& targets, const Weights& weight,
    const std::optional<Const<std::int64_t>>& chosen, std::int64_t first, std::int64_t n_rows,
    std::int64_t step, Const<double> origin, Const<double> scale, double total,
    Mutable<double, 2> offset, Mutable<double, 2> scatter);

std::tuple<bool, bool, bool> group_sums(const BoundRows& rows, std::int64_t first,
                                        std::int64_t n_rows, const Groups& group,
                                        const Weights& weight, std::optional<double> threshold,
                                        Mutable<double, 2> sums);

void squares(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Weights& weight,
             Mutable<double, 1> sums, Mutable<double, 1> filled, Mutable<double, 1> largest);

void squares_about(const BoundRows& rows, std::int64_t first, std::int64_t n_rows,
                   const Groups& group, const Weights& weight, Const<double> total,
                   ConstTable<double> mean, Mutable<double, 1> sums, Mutable<double, 2> gaps);

void spread(const BoundRows& rows, std::int64_t first, std::int64_t n_rows,
            Const<std::int64_t> place, Mutable<double, 2> out);

void products(const BoundRows& rows, std::int64_t first, std::int64_t n_rows, const Weights& weight,
              Const<std::int64_t> place, Mutable<double, 2> sums, ConstTable<double> z,
              Mutable<double, 2> cross);

bool fuses_products();

std::pair<double, double> residuals(const BoundRows& rows, Const<double> y, const Weights& weight,
                                    const Weights& w, const Weights& w_low, double b, double b_low,
                                    const Weights& centre,
                                    std::optional<Mutable<double, 1>> gradient,
                                    std::optional<Mutable<double, 1>> each);

}  // namespace kernels::moments
