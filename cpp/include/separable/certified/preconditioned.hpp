// Coordinates in which an objective is well conditioned: w = A u, b = s v.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace separable {

using Vector = std::vector<double>;

inline double dot(const double* a, const double* b, std::size_t n) {
    double sums[4] = {};
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (std::size_t k = 0; k < 4; ++k) sums[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
inline double dot(const Vector& a, const Vector& b) { return dot(a.data(), b.data(), a.size()); }

inline void add(double t, const Vector& a, Vector& to) {
    for (std::size_t i = 0; i < a.size(); ++i) to[i] += t * a[i];
}

// Vectors of a lane are n_vectors x (d + 1), the intercept last.
struct Preconditioner {
    const double* A;  // d x d, of all vectors
    double s;         // of the intercepts; 0: there are none
    std::int64_t n_vectors, d;

    std::size_t size() const { return static_cast<std::size_t>(n_vectors * (d + 1)); }

    // The gradient in u is A'g, in v it is s g.
    void gradient(const double* g, double* to) const {
        const auto m = static_cast<std::size_t>(d);
        for (std::int64_t c = 0; c < n_vectors; ++c, g += d + 1, to += d + 1) {
            std::fill_n(to, m, 0.0);
            for (std::size_t j = 0; j < m; ++j)
                for (std::size_t i = 0; i < m; ++i) to[i] += g[j] * A[j * m + i];
            to[m] = s * g[m];
        }
    }

    // A change of u and v moves w by A du, b by s dv.
    void direction(const double* p, double* to) const {
        const auto m = static_cast<std::size_t>(d);
        for (std::int64_t c = 0; c < n_vectors; ++c, p += d + 1, to += d + 1) {
            for (std::size_t j = 0; j < m; ++j) to[j] = dot(A + j * m, p, m);
            to[m] = s * p[m];
        }
    }
};

}  // namespace separable
