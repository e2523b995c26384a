// The weights of one group under their Euclidean norm: the x that minimises
//
//   1/2 x'Hx - m'x + lambda |x|,    H = V diag(e) V', e >= 0
//
// exactly. x is 0 where |m| <= lambda. Elsewhere, with n = V'm and t = |x|, x = V a with
// a_i = n_i t / (e_i t + lambda), and t solves |n / (e t + lambda)| = 1. The inverse of that norm
// is concave, increasing and almost linear in t, so that Newton's method from the left converges
// monotonically. V is orthogonal and keeps norms.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace separable {

// |x|, given m in the eigenvectors of H; 0 if |m| <= lambda.
inline double group_size(std::int64_t n, const double* m, const double* e, double lambda) {
    double square = 0;
    for (std::int64_t i = 0; i < n; ++i) square += m[i] * m[i];
    if (!(std::sqrt(square) > lambda)) return 0.0;
    double t = 0;
    for (int step = 0; step < 100; ++step) {
        double sum = 0, derivative = 0;  // of (n / (e t + lambda))^2, and of minus its half
        for (std::int64_t i = 0; i < n; ++i) {
            const double below = e[i] * t + lambda, part = m[i] / below;
            sum += part * part;
            derivative += part * part * e[i] / below;
        }
        // f = sum^(-1/2), f' = derivative sum^(-3/2)
        if (!(derivative > 0) || !(sum > 1)) break;
        const double next = t + (sum * std::sqrt(sum) - sum) / derivative;
        if (!(next > t) || !std::isfinite(next)) break;
        t = next;
    }
    return t;
}

class GroupStep {
   public:
    // lambda of each block; eigenvectors of its H, one block after the other, and eigenvalues.
    GroupStep(const double* lambda, const double* axes, const double* values, std::int64_t widest)
        : lambda_(lambda),
          axes_(axes),
          values_(values),
          rotated_(static_cast<std::size_t>(widest)) {}

    template <class Block>
    void operator()(const Block& block, const double* m, double* x) {
        const std::int64_t n = block.size;
        const double lambda = lambda_[block.number];
        const double *v = axes_ + block.first_axis, *e = values_ + block.first;
        double* rotated = rotated_.data();
        for (std::int64_t k = 0; k < n; ++k) rotated[k] = x[k] = 0;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t k = 0; k < n; ++k) rotated[k] += v[i * n + k] * m[i];
        if (lambda > 0) {
            const double t = group_size(n, rotated, e, lambda);
            if (t == 0) return;
            for (std::int64_t k = 0; k < n; ++k) rotated[k] *= t / (e[k] * t + lambda);
        } else {
            for (std::int64_t k = 0; k < n; ++k) rotated[k] = e[k] > 0 ? rotated[k] / e[k] : 0.0;
        }
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t k = 0; k < n; ++k) x[i] += v[i * n + k] * rotated[k];
    }

   private:
    const double *lambda_, *axes_, *values_;
    std::vector<double> rotated_;
};

}  // namespace separable
