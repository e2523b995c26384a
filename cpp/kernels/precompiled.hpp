// What most kernels include, parsed once for each CPU level.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "separable/math/lanes.hpp"
