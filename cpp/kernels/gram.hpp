#pragma once

#include <cstdint>
#include <functional>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::gram {

using namespace separable;

using Callback = std::function<bool(std::int64_t number, double gap)>;  // whether to stop

void path(ConstTable<double> gram, Const<double> cross, double squares, Const<double> l1,
          Const<double> l2, bool positive, Const<double> l1_level, Const<double> l2_level,
          double tol, std::int64_t max_iter, const Callback& callback, Mutable<double, 2> weights,
          Mutable<double, 2> certificates, Mutable<std::int64_t, 1> steps);

}  // namespace kernels::gram
