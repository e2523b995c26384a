// The natural logarithm from additions and multiplications alone; see exponential.hpp.
#pragma once

#include <bit>

#include "separable/math/exponential.hpp"

namespace separable {

// log x of a normal number x > 0.
//
// x = 2^k (1 + z) with 0 <= z < 1. The exponent, as the low bits of a number of 2^mantissa, is
// that much more than it.
template <class T>
inline T logarithm(T x) {
    using F = FloatBits<T>;
    using Bits = typename F::Bits;
    constexpr T kBase = static_cast<T>(Bits(1) << F::kMantissa);
    constexpr Bits kFraction = (Bits(1) << F::kMantissa) - 1;
    const Bits bits = std::bit_cast<Bits>(x);
    const T k = std::bit_cast<T>(std::bit_cast<Bits>(kBase) | (bits >> F::kMantissa)) -
                (kBase + static_cast<T>(F::kBias));
    const T z = std::bit_cast<T>((bits & kFraction) | std::bit_cast<Bits>(T(1))) - T(1);
    return k * F::kLn2High + (log_one_plus(z) + k * F::kLn2Low);
}

}  // namespace separable
