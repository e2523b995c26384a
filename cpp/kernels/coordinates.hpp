#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "separable/certified/coordinate_path.hpp"

namespace kernels::coordinates {

using namespace separable;

using Callback = std::function<bool(std::int64_t sweeps, double gap)>;  // whether to stop

PathWeights descend_path(const BoundRows& columns, const std::string& loss, Const<double> y,
                         Const<double> c, Const<double> l1, Const<double> l2, bool positive,
                         bool fit_intercept, Const<double> Cs, Const<double> start,
                         double intercept, double tol, std::int64_t max_sweeps,
                         const Callback& callback);

std::tuple<std::int64_t, double> minimise_softmax_model(
    const BoundRows& columns, Const<std::int64_t> chosen, Const<double> l1, Const<double> l2,
    Const<double> c, ConstTable<double> p, ConstTable<double> g, bool fit_intercept,
    ConstTable<std::uint8_t> may_change, Mutable<double, 2> weights, Mutable<double, 1> intercepts,
    Mutable<double, 2> scores, double tol, std::int64_t max_sweeps, double work,
    const std::function<void()>& callback);

}  // namespace kernels::coordinates
