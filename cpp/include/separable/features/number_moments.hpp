// Mean and scale of a column of numbers, for standardization.
//
//   given     finite values; NaN is missing
//   returns   their count, minimum and maximum, their mean in two parts, and the root
//             mean square around it
//   steps     1. count, minimum and maximum
//             2. the mean of values divided by a power of two, which is exact, so that no sum
//                overflows
//             3. the mean of the residuals, which corrects it
//             4. the squares of the differences, scaled in the same way; and the low part of the
//                mean
//
// Sums run in P lanes over blocks, whose sums are added: errors grow with the number of blocks, not
// of values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

namespace separable {

struct NumberMoments {
    std::int64_t count = 0;
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
    double mean = 0, low = 0, deviation = 0;
};

namespace number_moments_detail {

inline constexpr std::size_t kLanes = 16, kBlock = 4096;

// The sum of f(x) over values that are not missing; f(x) is 0 or finite for these.
template <class F>
double sum_of(std::span<const double> values, F f) {
    double total = 0;
    for (std::size_t start = 0; start < values.size(); start += kBlock) {
        const auto block = values.subspan(start, std::min(kBlock, values.size() - start));
        double lane[kLanes] = {};
        std::size_t k = 0;
        for (; k + kLanes <= block.size(); k += kLanes)
            for (std::size_t l = 0; l < kLanes; ++l) {
                const double x = block[k + l];
                lane[l] += x == x ? f(x) : 0.0;
            }
        for (; k < block.size(); ++k) lane[0] += block[k] == block[k] ? f(block[k]) : 0.0;
        double sum = 0;
        for (const double one : lane) sum += one;
        total += sum;
    }
    return total;
}

// The largest power of two <= |x| whose inverse is finite.
inline double power_of_two(double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    return std::ldexp(1.0, std::max(exponent - 1, -1022));
}

}  // namespace number_moments_detail

inline NumberMoments number_moments(std::span<const double> values) {
    using namespace number_moments_detail;
    NumberMoments found;
    for (const double x : values) {  // 1
        found.count += x == x;
        found.least = x < found.least ? x : found.least;
        found.most = x > found.most ? x : found.most;
    }
    if (found.count == 0) return found;
    found.mean = found.least;
    if (found.least == found.most) return found;
    const double n = static_cast<double>(found.count);
    const double unit = power_of_two(std::max(std::fabs(found.least), std::fabs(found.most)));
    const double by = 1 / unit;
    double mean = sum_of(values, [=](double x) { return x * by; }) / n;   // 2
    mean += sum_of(values, [=](double x) { return x * by - mean; }) / n;  // 3
    const double far = std::max(found.most * by - mean, mean - found.least * by);
    const double rest_unit = power_of_two(far), rest_by = 1 / rest_unit;
    const double squares = sum_of(values, [=](double x) {  // 4
        const double rest = (x * by - mean) * rest_by;
        return rest * rest;
    });
    const double left = sum_of(values, [=](double x) { return x * by - mean; }) / n;
    const double high = mean + left, back = high - mean;
    found.mean = high * unit;
    found.low = ((mean - (high - back)) + (left - back)) * unit;
    found.deviation = std::max(std::sqrt(squares / n) * rest_unit * unit,
                               std::numeric_limits<double>::denorm_min());
    return found;
}

}  // namespace separable
