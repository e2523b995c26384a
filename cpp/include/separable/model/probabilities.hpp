// Probabilities of scores: sigmoid, softmax and their logarithms.
//
//   problem   sigma(s) = 1 / (1 + e^-s);  log(1 + e^s);  p_k = e^{s_k} / sum over l of e^{s_l}
//   given     scores, finite, or differences of them that overflow to -inf
//   returns   the values in place of the scores
//   steps     of a row with K scores:
//             1. t_k = s_k - max s, so that no exponential overflows
//             2. e^{t_k}, by one function in every position of an array
//             3. z = sum of e^{t_k}, classes in order
//             4. p_k = e^{t_k} / z, or log p_k = t_k - log z
//   source    Blanchard, Higham and Higham 2021, "Accurately computing the log-sum-exp and softmax
//             functions"
//
// Additions and multiplications alone, none of them across rows: a row has the same bits wherever
// it stands, and at every CPU level. Compilers turn the loops over values into vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "separable/math/exponential.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

// e^x for x <= 0, down to the smallest subnormal number and 0. See exponential(), which stops at
// e^-700: here 2^k is multiplied in two parts, the second of which rounds.
inline double exponential_of_negative(double x) {
    using F = FloatBits<double>;
    constexpr double kLeast = -746, kNormal = -1000;  // e^-746 rounds to 0
    x = x < kLeast ? kLeast : x;
    const double k = (x * F::kLog2e + F::kRound) - F::kRound;
    const double r = (x - k * F::kLn2High) - k * F::kLn2Low;
    const double series =
        polynomial<double, F::kTerms>([](int n) { return inverse_factorial<double>(n); }, r);
    const double first = k < kNormal ? kNormal : k;
    const auto power = [](double whole) {  // 2^whole
        return std::bit_cast<double>((std::bit_cast<F::Bits>(whole + F::kRound) + F::kBias)
                                     << F::kMantissa);
    };
    return series * power(first) * power(k - first);
}

inline double stable_sigmoid(double s) {
    const double small = exponential_of_negative(-std::abs(s));
    return (s >= 0 ? 1.0 : small) / (1.0 + small);
}

// sigma(-s) and sigma(s) of each score, from one exponential and with the bits of stable_sigmoid.
inline void binary_rows(const double* scores, std::int64_t n, double* out) {
    for (std::int64_t i = 0; i < n; ++i) {
        const double s = scores[i], small = exponential_of_negative(-std::abs(s));
        out[2 * i] = (s <= 0 ? 1.0 : small) / (1.0 + small);
        out[2 * i + 1] = (s >= 0 ? 1.0 : small) / (1.0 + small);
    }
}

// log(1 + e^s)
inline double softplus(double s) {
    return (s > 0 ? s : 0.0) + log_one_plus(exponential_of_negative(-std::abs(s)));
}

// Steps 1 to 3 for one row: t and z from s; `shares` gets e^t.
inline double exponentials(double* t, std::int64_t K, double* shares) {
    const double top = *std::max_element(t, t + K);
    for (std::int64_t k = 0; k < K; ++k) t[k] -= top;                                // 1
    for (std::int64_t k = 0; k < K; ++k) shares[k] = exponential_of_negative(t[k]);  // 2
    double z = 0;
    for (std::int64_t k = 0; k < K; ++k) z += shares[k];  // 3
    return z;
}

inline void softmax_rows(double* scores, std::int64_t n, std::int64_t K) {
    for (std::int64_t i = 0; i < n; ++i, scores += K) {
        const double z = exponentials(scores, K, scores);
        for (std::int64_t k = 0; k < K; ++k) scores[k] /= z;  // 4
    }
}

inline void log_softmax_rows(double* scores, std::int64_t n, std::int64_t K, double* shares) {
    for (std::int64_t i = 0; i < n; ++i, scores += K) {
        const double log_z = logarithm(exponentials(scores, K, shares));
        for (std::int64_t k = 0; k < K; ++k) scores[k] -= log_z;  // 4
    }
}

}  // namespace separable
