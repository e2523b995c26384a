// Products that are added without being rounded first, a line at a time.
//
// Where the CPU level has no such instruction the library's fma gives the same bits, slowly: check
// kFusesProducts first.
#pragma once

#include <cmath>

#include "separable/math/lanes.hpp"

namespace separable {

#if defined(__FMA__)
inline constexpr bool kFusesProducts = true;
#else
inline constexpr bool kFusesProducts = false;
#endif

// The number at x, P times: loaded so, which takes no arithmetic.
inline Line<double> repeated(const double* x) {
    Line<double> line;
    for (int r = 0; r < Line<double>::kRegisters; ++r)
#if defined(__AVX512F__)
        line.part[r] = _mm512_set1_pd(*x);
#elif defined(__AVX2__)
        line.part[r] = _mm256_broadcast_sd(x);
#else
        for (int i = 0; i < Line<double>::kPerRegister; ++i) line.part[r][i] = *x;
#endif
    return line;
}

// sum += a b, rounded once.
inline void add_fused(Line<double>& sum, const Line<double>& a, const Line<double>& b) {
#pragma GCC unroll 4
    for (int r = 0; r < Line<double>::kRegisters; ++r) {
#if defined(__FMA__) && defined(__AVX512F__)
        sum.part[r] = _mm512_fmadd_pd(a.part[r], b.part[r], sum.part[r]);
#elif defined(__FMA__) && defined(__AVX2__)
        sum.part[r] = _mm256_fmadd_pd(a.part[r], b.part[r], sum.part[r]);
#else
        for (int i = 0; i < Line<double>::kPerRegister; ++i)
            sum.part[r][i] = std::fma(a.part[r][i], b.part[r][i], sum.part[r][i]);
#endif
    }
}

// a b + c, rounded once where the CPU level can, for one register.
template <class Register>
inline Register fused(Register a, Register b, Register c) {
    [[maybe_unused]] constexpr bool is_float = sizeof(a[0]) == sizeof(float);
#if defined(__FMA__) && defined(__AVX512F__)
    if constexpr (is_float)
        return (Register)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    else
        return (Register)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(__FMA__) && defined(__AVX2__)
    if constexpr (is_float)
        return (Register)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    else
        return (Register)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    return a * b + c;
#endif
}

}  // namespace separable
