#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::groups {

using namespace separable;

std::pair<std::int64_t, double> lp_descent(const std::string& power, ConstTable<double> h,
                                           Const<double> strength, double enough, std::int64_t most,
                                           Mutable<double, 1> u, Mutable<double, 1> g);

std::pair<std::int64_t, double> group_descent(ConstTable<double> h, Const<std::int64_t> start,
                                              Const<double> strength, Const<double> axes,
                                              Const<double> values, double enough,
                                              std::int64_t most, Mutable<double, 1> u,
                                              Mutable<double, 1> g);

}  // namespace kernels::groups
