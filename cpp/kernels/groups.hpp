#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::groups {

using namespace separable;

std::pair<std::int64_t, double> lp_descent(const std::string& power, ConstTable<double> h,
                                           Const<double> penalty, double tol,
                                           std::int64_t max_passes, Mutable<double, 1> u,
                                           Mutable<double, 1> g);

std::pair<std::int64_t, double> group_descent(ConstTable<double> h, Const<std::int64_t> start,
                                              Const<double> penalty, Const<double> axes,
                                              Const<double> values, double tol,
                                              std::int64_t max_passes, Mutable<double, 1> u,
                                              Mutable<double, 1> g);

}  // namespace kernels::groups
