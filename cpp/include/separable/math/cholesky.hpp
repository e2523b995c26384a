// Cholesky's factor of a symmetric matrix that may be singular.
//
// A pivot that is rounding and no more becomes a small fraction of its diagonal. So equations that
// depend on others, as two equal columns make them, still have a solution; it is large where they
// contradict each other, in a direction in which the quadratic form is flat.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "separable/math/lanes.hpp"

namespace separable {

// sum_k a_k b_k
inline double plain_dot(std::int64_t n, const double* a, const double* b) {
    constexpr int P = kPerLine<double>;
    Line<double> partial = Line<double>::zero();
    std::int64_t k = 0;
    for (; k + P <= n; k += P) partial += Line<double>::load(a + k) * Line<double>::load(b + k);
    double sum = partial.sum();
    for (; k < n; ++k) sum += a[k] * b[k];
    return sum;
}

class Cholesky {
   public:
    // The lower triangle of `matrix`, m x m, rows `stride` apart; only `chosen` rows and columns.
    Cholesky(const std::vector<double>& matrix, std::size_t stride,
             const std::vector<std::size_t>& chosen)
        : m_(chosen.size()), factor_(m_ * m_, 0.0) {
        constexpr double kRounding = 1e-11, kFlat = 1e-8;
        for (std::size_t i = 0; i < m_; ++i) {
            double* row = factor_.data() + i * m_;
            const double* from = matrix.data() + chosen[i] * stride;
            for (std::size_t k = 0; k < i; ++k) {
                const double* other = factor_.data() + k * m_;
                const double left =
                    from[chosen[k]] - plain_dot(static_cast<std::int64_t>(k), row, other);
                row[k] = other[k] > 0 ? left / other[k] : 0.0;
            }
            const double whole = from[chosen[i]];
            const double pivot = whole - plain_dot(static_cast<std::int64_t>(i), row, row);
            row[i] = std::sqrt(pivot > kRounding * whole ? pivot : kFlat * whole);
            is_doubtful_ = is_doubtful_ || pivot <= kDoubtful * whole;
        }
    }

    // The factor of A'A from the columns of A themselves, each of n numbers, by Gram-Schmidt: half
    // as many digits are lost as with the products of columns. The columns are changed.
    Cholesky(std::vector<double>& columns, std::size_t m) : m_(m), factor_(m_ * m_, 0.0) {
        constexpr double kRounding = 1e-12, kFlat = 1e-4;
        const std::size_t n = m == 0 ? 0 : columns.size() / m;
        const auto length = [&](const double* a) {
            return std::sqrt(plain_dot(static_cast<std::int64_t>(n), a, a));
        };
        for (std::size_t i = 0; i < m_; ++i) {
            double *row = factor_.data() + i * m_, *a = columns.data() + i * n;
            const double whole = length(a);
            for (std::size_t k = 0; k < i; ++k) {
                const double* q = columns.data() + k * n;
                row[k] = plain_dot(static_cast<std::int64_t>(n), a, q);
                for (std::size_t r = 0; r < n; ++r) a[r] -= row[k] * q[r];
            }
            const double left = length(a);
            const bool is_rounding = left <= kRounding * whole;
            row[i] = is_rounding ? kFlat * whole : left;
            for (std::size_t r = 0; r < n; ++r) a[r] = is_rounding ? 0.0 : a[r] / left;
        }
    }

    // Whether a pivot has lost too many digits for an accurate solution.
    bool is_doubtful() const { return is_doubtful_; }

    // r becomes the solution.
    void solve(std::vector<double>& r) const {
        for (std::size_t i = 0; i < m_; ++i) {
            const double* row = factor_.data() + i * m_;
            const double left = r[i] - plain_dot(static_cast<std::int64_t>(i), row, r.data());
            r[i] = row[i] > 0 ? left / row[i] : 0.0;
        }
        for (std::size_t i = m_; i-- > 0;) {
            const double* row = factor_.data() + i * m_;
            r[i] = row[i] > 0 ? r[i] / row[i] : 0.0;
            for (std::size_t k = 0; k < i; ++k) r[k] -= r[i] * row[k];
        }
    }

   private:
    static constexpr double kDoubtful = 1e-9;

    std::size_t m_;
    bool is_doubtful_ = false;
    std::vector<double> factor_;
};

}  // namespace separable
