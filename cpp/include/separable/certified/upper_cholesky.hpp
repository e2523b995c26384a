// Weighted Gram matrices and Cholesky factors of a few hundred columns, in float64.
//
//   add_gram   G[i][j] += sign sum_k A[k][i] A[k][j] for i <= j, tiles of 4 x 8
//   factor     G = U'U in place, panels of kPanel rows, U above the diagonal
//   solve      U'U x = x, in place
//
// One order of sums whatever the machine does beside it: no BLAS, no threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "separable/math/lanes.hpp"

namespace separable {

class UpperCholesky {
   public:
#ifdef __AVX512F__
    static constexpr int kTile = 8;
#else
    static constexpr int kTile = 4;
#endif
    static constexpr std::size_t kPanel = 32;

    // Rows and columns are padded to whole lines; what is padding stays 0.
    void resize(std::size_t size) {
        size_ = size, stride_ = whole_lines<double>(size);
        values_.assign(stride_ * stride_, 0.0);
    }
    std::size_t size() const { return size_; }
    std::size_t stride() const { return stride_; }
    double& at(std::size_t i, std::size_t j) { return values_[i * stride_ + j]; }
    double* row(std::size_t i) { return values_.data() + i * stride_; }

    // Adds the outer products of `rows` rows of `stride()` numbers each, or takes them away.
    void add_gram(const double* a, std::size_t rows, std::size_t stride) {
        add_tiles<1>(a, rows, stride, 0);
    }
    void subtract_gram(const double* a, std::size_t rows, std::size_t stride) {
        add_tiles<-1>(a, rows, stride, 0);
    }

    // I + scale G of another matrix.
    void assign_scaled(const UpperCholesky& other, double scale) {
        size_ = other.size_, stride_ = other.stride_;
        values_.resize(other.values_.size());
        for (std::size_t k = 0; k < values_.size(); ++k) values_[k] = scale * other.values_[k];
        for (std::size_t k = 0; k < size_; ++k) at(k, k) += 1.0;
    }

    // Directions without curvature (a pivot that is lost in rounding) are left out.
    void factor() {
        diagonal_.resize(size_);
        for (std::size_t k = 0; k < size_; ++k) diagonal_[k] = at(k, k);
        for (std::size_t first = 0; first < size_; first += kPanel) {
            const std::size_t last = std::min(first + kPanel, size_);
            for (std::size_t k = first; k < last; ++k) {
                double* top = row(k);
                const double pivot = top[k] > kLost * diagonal_[k] ? std::sqrt(top[k]) : kNever;
                const double inverse = 1.0 / pivot;
                top[k] = pivot;
                for (std::size_t j = k + 1; j < stride_; ++j) top[j] *= inverse;
                for (std::size_t i = k + 1; i < last; ++i) {
                    double* next = row(i);
                    const double by = top[i];
                    for (std::size_t j = i; j < stride_; ++j) next[j] -= by * top[j];
                }
            }
            if (last < size_) add_tiles<-1>(row(first), last - first, stride_, last);
        }
    }

    void solve(double* x) const {
        const double* u = values_.data();
        for (std::size_t k = 0; k < size_; ++k) {
            const double* top = u + k * stride_;
            x[k] /= top[k];
            const double by = x[k];
            for (std::size_t j = k + 1; j < size_; ++j) x[j] -= by * top[j];
        }
        for (std::size_t k = size_; k-- > 0;) {
            const double* top = u + k * stride_;
            double partial[4] = {};
            std::size_t j = k + 1;
            for (; j + 4 <= size_; j += 4)
                for (int p = 0; p < 4; ++p) partial[p] += top[j + p] * x[j + p];
            for (; j < size_; ++j) partial[0] += top[j] * x[j];
            x[k] = (x[k] - ((partial[0] + partial[1]) + (partial[2] + partial[3]))) / top[k];
        }
    }

   private:
    static constexpr double kLost = 1e-15, kNever = 1e150;

    template <int sign>
    void add_tiles(const double* a, std::size_t rows, std::size_t stride, std::size_t from) {
        using L = Line<double>;
        constexpr std::size_t P = kPerLine<double>;
        for (std::size_t j = from / P * P; j < stride_; j += P)
            for (std::size_t i = from; i < std::min(j + P, size_); i += kTile) {
                L sums[kTile];
                for (int t = 0; t < kTile; ++t) sums[t] = L::zero();
                for (std::size_t k = 0; k < rows; ++k) {
                    const double* x = a + k * stride;
                    const L line = L::load(x + j);
                    for (int t = 0; t < kTile; ++t) sums[t] += L::broadcast(x[i + t]) * line;
                }
                for (int t = 0; t < kTile; ++t) {
                    double* to = row(i + t) + j;
                    (L::load(to) + L::broadcast(sign) * sums[t]).store(to);
                }
            }
    }

    std::size_t size_ = 0, stride_ = 0;
    LineVector<double> values_;
    std::vector<double> diagonal_;
};

}  // namespace separable
