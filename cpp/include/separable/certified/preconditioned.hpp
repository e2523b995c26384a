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

// Vectors of a lane are n_vectors x (d + 1), the intercept last. A change of u and v moves w by
// A du, and b by s dv - centre.dw: as if columns were centred.
struct Preconditioner {
    const double* A;  // m x m, of each vector; is_joint: of all vectors with their intercepts
    double s;         // of the intercepts; 0: there are none
    std::int64_t n_vectors, d, m;
    const std::int32_t* columns = nullptr;  // those of A; nullptr: all, m = d
    const double* diagonal = nullptr;       // of the other columns; entries of `columns` are unused
    const double* centre = nullptr;         // of the columns; nullptr: 0
    bool is_joint = false;                  // m = size(): no s, columns, diagonal and centre

    std::size_t size() const { return static_cast<std::size_t>(n_vectors * (d + 1)); }

    // The gradient in u is A'g, in v it is s g.
    void gradient(const double* g, double* to) const {
        const auto n = static_cast<std::size_t>(m);
        if (is_joint) {
            std::fill_n(to, n, 0.0);
            for (std::size_t j = 0; j < n; ++j)
                for (std::size_t i = 0; i < n; ++i) to[i] += g[j] * A[j * n + i];
            return;
        }
        for (std::int64_t c = 0; c < n_vectors; ++c, g += d + 1, to += d + 1) {
            if (columns == nullptr) {
                std::fill_n(to, n, 0.0);
                for (std::size_t j = 0; j < n; ++j) {
                    const double here = centred(g, j);
                    for (std::size_t i = 0; i < n; ++i) to[i] += here * A[j * n + i];
                }
            } else {
                Vector part(n, 0.0);
                for (std::size_t j = 0; j < n; ++j) {
                    const double here = centred(g, static_cast<std::size_t>(columns[j]));
                    for (std::size_t i = 0; i < n; ++i) part[i] += here * A[j * n + i];
                }
                for (std::size_t j = 0; j < static_cast<std::size_t>(d); ++j)
                    to[j] = diagonal[j] * centred(g, j);
                for (std::size_t j = 0; j < n; ++j) to[columns[j]] = part[j];
            }
            to[d] = s * g[d];
        }
    }

    void direction(const double* p, double* to) const {
        const auto n = static_cast<std::size_t>(m);
        if (is_joint) {
            for (std::size_t j = 0; j < n; ++j) to[j] = dot(A + j * n, p, n);
            return;
        }
        for (std::int64_t c = 0; c < n_vectors; ++c, p += d + 1, to += d + 1) {
            if (columns == nullptr) {
                for (std::size_t j = 0; j < n; ++j) to[j] = dot(A + j * n, p, n);
            } else {
                Vector part(n);
                for (std::size_t j = 0; j < n; ++j) part[j] = p[columns[j]];
                for (std::size_t j = 0; j < static_cast<std::size_t>(d); ++j)
                    to[j] = diagonal[j] * p[j];
                for (std::size_t j = 0; j < n; ++j) to[columns[j]] = dot(A + j * n, part.data(), n);
            }
            to[d] = s * p[d];
            if (centre != nullptr) to[d] -= dot(centre, to, static_cast<std::size_t>(d));
        }
    }

    // The squared norm of a gradient in w.
    double squared_norm(const double* g) const {
        double sum = 0;
        for (std::int64_t c = 0; c < n_vectors; ++c, g += d + 1)
            for (std::size_t j = 0; j < static_cast<std::size_t>(d); ++j) {
                const double here = centred(g, j);
                sum += here * here;
            }
        return sum;
    }

    // The derivative in column j where the intercept keeps the scores of the centre.
    double centred(const double* g, std::size_t j) const {
        return centre == nullptr ? g[j] : g[j] - centre[j] * g[d];
    }
};

}  // namespace separable
