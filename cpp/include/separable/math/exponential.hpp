// Exponential and logarithm from additions and multiplications alone, so that they have the same
// bits on every CPU level and libm, alone and in lanes, and compilers turn loops over them into
// vectors. Within a few units in the last place.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace separable {

// What exponential() needs to know of a float type.
template <class T>
struct FloatBits;

template <>
struct FloatBits<float> {
    using Bits = std::uint32_t;
    static constexpr int kMantissa = 23, kTerms = 7, kLogTerms = 8;
    static constexpr Bits kBias = 127;
    static constexpr float kLargest = 80;  // e^80 and e^-80 are normal numbers
    static constexpr float kRound = 0x1.8p23f, kLog2e = 0x1.715476p0f;
    static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
};

template <>
struct FloatBits<double> {
    using Bits = std::uint64_t;
    static constexpr int kMantissa = 52, kTerms = 13, kLogTerms = 17;
    static constexpr Bits kBias = 1023;
    static constexpr double kLargest = 700;
    static constexpr double kRound = 0x1.8p52, kLog2e = 0x1.71547652b82fep0;
    static constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
};

template <class T>
constexpr T inverse_factorial(int n) {
    double value = 1;
    for (int k = 2; k <= n; ++k) value /= k;
    return static_cast<T>(value);
}

// The sum of coefficient(n) x^n for n = 0 ... degree, even and odd powers apart, so that two chains
// of operations run side by side.
template <class T, int degree, class Coefficient>
inline T polynomial(Coefficient coefficient, T x) {
    const T x2 = x * x;
    T even = 0, odd = 0;
#pragma GCC unroll 20
    for (int n = degree; n >= 0; --n) {
        T& sum = n % 2 == 0 ? even : odd;
        sum = sum * x2 + coefficient(n);
    }
    return even + x * odd;
}

// e^x, with x cut to +-kLargest.
//
// x = k ln 2 + r with k whole and |r| <= ln 2 / 2: e^x = 2^k e^r, and e^r by its Taylor series.
// Adding 1.5 x 2^mantissa rounds to a whole number and leaves it in the low bits.
template <class T>
inline T exponential(T x) {
    using F = FloatBits<T>;
    x = x > F::kLargest ? F::kLargest : x;
    x = x < -F::kLargest ? -F::kLargest : x;
    const T shifted = x * F::kLog2e + F::kRound;
    const T k = shifted - F::kRound;
    const T r = (x - k * F::kLn2High) - k * F::kLn2Low;
    const T series = polynomial<T, F::kTerms>([](int n) { return inverse_factorial<T>(n); }, r);
    const auto power = (std::bit_cast<typename F::Bits>(shifted) + F::kBias)
                       << F::kMantissa;  // 2^k
    return series * std::bit_cast<T>(power);
}

// log(1 + z) for 0 <= z <= 1, as 2 artanh(z / (2 + z)).
template <class T>
inline T log_one_plus(T z) {
    const T f = z / (T(2) + z), f2 = f * f;
    const T series =
        polynomial<T, FloatBits<T>::kLogTerms>([](int n) { return T(1) / T(2 * n + 1); }, f2);
    return T(2) * f * series;
}

// 1 / (1 + e^-x)
template <class T>
inline T sigmoid(T x) {
    return T(1) / (T(1) + exponential(-x));
}

}  // namespace separable
