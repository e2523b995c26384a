// Sparse rows in tiles: blocks of rows with the products of `DenseTiles`.
//
// A product runs over the non-zeros of a row, and its vectors over weight vectors: those of a
// column stand side by side in groups of 16, 8, ... or 1. The order of a sum depends on the
// non-zeros only, so a model has the same bits alone and among others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable/math/fused.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

template <class T>
class SparseTiles {
   public:
    using Number = T;
    using Register = typename Line<T>::Register;
    static constexpr std::int64_t kPerRegister = Line<T>::kPerRegister;
    static constexpr std::int64_t kTileRows = 128;

    // What one thread needs: scores or residuals row by row, and sums of gradients in T, which
    // are added to float64 sums before rounding errors grow.
    struct Scratch {
        LineVector<T> by_row, sums;
        std::int64_t pending = 0;  // non-zeros in `sums`
    };

    template <class Rows>
    explicit SparseTiles(const Rows& rows) : n_rows_(rows.n_rows), n_columns_(rows.n_features) {
        value_.reserve(static_cast<std::size_t>(rows.n_values()));
        column_.reserve(static_cast<std::size_t>(rows.n_values()));
        start_.push_back(0);
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            const auto row = rows.row(i);
            for (std::int64_t k = 0; k < row.size(); ++k) {
                value_.push_back(static_cast<T>(row.value(k)));
                column_.push_back(static_cast<std::int32_t>(row.index(k)));
            }
            start_.push_back(static_cast<std::int64_t>(value_.size()));
        }
    }

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_columns() const { return n_columns_; }
    std::int64_t n_values() const { return start_.back(); }
    std::int64_t tile_rows() const { return kTileRows; }
    std::int64_t n_tiles() const { return (n_rows_ + kTileRows - 1) / kTileRows; }

    // Numbers of `n_vectors` weight vectors in groups, with padding.
    std::int64_t packed_size(std::int64_t n_vectors) const {
        return padded(n_vectors) * n_columns_;
    }

    void pack_weights(const double* w, std::int64_t n_vectors, std::int64_t stride,
                      T* packed) const {
        for_groups(n_vectors, [&](std::int64_t c, std::int64_t width, std::int64_t used) {
            T* to = packed + c * n_columns_;
            for (std::int64_t j = 0; j < n_columns_; ++j, to += width)
                for (std::int64_t k = 0; k < width; ++k)
                    to[k] = k < used ? static_cast<T>(w[(c + k) * stride + j]) : T(0);
        });
    }

    // scores[c][r] = intercept[c] + sum_j w[c][j] z[r][j] of the rows of a tile.
    void scores(std::int64_t tile, const T* packed, const T* intercept, std::int64_t n_vectors,
                T* scores, Scratch& scratch) const {
        const std::int64_t first = tile * kTileRows, count = rows_of(tile);
        scratch.by_row.resize(static_cast<std::size_t>(kTileRows * kMostTogether));
        T* by_row = scratch.by_row.data();
        for_groups(n_vectors, [&](std::int64_t c, std::int64_t width, std::int64_t used) {
            const T* w = packed + c * n_columns_;
            if (width == 1)
                score_rows<T, 1>(first, count, w, by_row);
            else if (width == kPerRegister)
                score_rows<Register, 1>(first, count, w, by_row);
            else
                score_rows<Register, 2>(first, count, w, by_row);
            for (std::int64_t k = 0; k < used; ++k) {
                T* to = scores + (c + k) * kTileRows;
                for (std::int64_t r = 0; r < count; ++r)
                    to[r] = by_row[r * width + k] + intercept[c + k];
                std::fill(to + count, to + kTileRows, T(0));
            }
        });
    }

    // Adds sum_r residual[c][r] z[r][j] over the rows of a tile to the sums of the scratch.
    void add_gradients(std::int64_t tile, const T* residual, std::int64_t n_vectors,
                       double* gradient, std::int64_t stride, Scratch& scratch) const {
        const std::int64_t first = tile * kTileRows, count = rows_of(tile);
        scratch.sums.resize(static_cast<std::size_t>(packed_size(n_vectors)), T(0));
        T* by_row = scratch.by_row.data();
        for_groups(n_vectors, [&](std::int64_t c, std::int64_t width, std::int64_t used) {
            std::fill_n(by_row, count * width, T(0));
            for (std::int64_t k = 0; k < used; ++k)
                for (std::int64_t r = 0; r < count; ++r)
                    by_row[r * width + k] = residual[(c + k) * kTileRows + r];
            T* sums = scratch.sums.data() + c * n_columns_;
            if (width == 1)
                add_rows<T, 1>(first, count, by_row, sums);
            else if (width == kPerRegister)
                add_rows<Register, 1>(first, count, by_row, sums);
            else
                add_rows<Register, 2>(first, count, by_row, sums);
        });
        scratch.pending += start_[at(first + count)] - start_[at(first)];
        if (scratch.pending >= kValuesPerColumn * n_columns_)
            finish_gradients(n_vectors, gradient, stride, scratch);
    }

    // Move the sums of the scratch to the gradients.
    void finish_gradients(std::int64_t n_vectors, double* gradient, std::int64_t stride,
                          Scratch& scratch) const {
        if (scratch.pending > 0)
            for_groups(n_vectors, [&](std::int64_t c, std::int64_t width, std::int64_t used) {
                const T* sums = scratch.sums.data() + c * n_columns_;
                for (std::int64_t j = 0; j < n_columns_; ++j)
                    for (std::int64_t k = 0; k < used; ++k)
                        gradient[(c + k) * stride + j] += static_cast<double>(sums[j * width + k]);
            });
        std::fill(scratch.sums.begin(), scratch.sums.end(), T(0));
        scratch.pending = 0;
    }

   private:
    static constexpr std::int64_t kMostTogether = 2 * kPerRegister;
    // Non-zeros for each column between two additions to the gradients.
    static constexpr std::int64_t kValuesPerColumn = 4;
    static constexpr int kPartialSums = 4;

    static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

    std::int64_t rows_of(std::int64_t tile) const {
        return std::min(kTileRows, n_rows_ - tile * kTileRows);
    }

    // Call with the first vector of each group, its width and the vectors in it.
    template <class Function>
    static void for_groups(std::int64_t n_vectors, Function&& function) {
        for (std::int64_t c = 0; c < n_vectors;) {
            const std::int64_t left = n_vectors - c;
            const std::int64_t width = left > kPerRegister ? kMostTogether
                                       : left > 1          ? kPerRegister
                                                           : 1;
            function(c, width, std::min(width, left));
            c += width;
        }
    }

    static std::int64_t padded(std::int64_t n_vectors) {
        std::int64_t total = 0;
        for_groups(n_vectors,
                   [&](std::int64_t c, std::int64_t width, std::int64_t) { total = c + width; });
        return total;
    }

    static T fused_sum(T a, T b, T c) { return kFusesProducts ? std::fma(a, b, c) : a * b + c; }
    static Register fused_sum(T a, Register b, Register c) {
        return fused<Register>(Register{} + a, b, c);
    }

    // Non-zero k is added to partial sum k mod 4.
    template <class V, int registers>
    void score_rows(std::int64_t first, std::int64_t count, const T* w, T* to) const {
        constexpr std::int64_t width = registers * static_cast<std::int64_t>(sizeof(V) / sizeof(T));
        for (std::int64_t i = first; i < first + count; ++i, to += width) {
            V sum[kPartialSums][registers] = {};
            const std::int64_t end = start_[at(i + 1)];
            std::int64_t k = start_[at(i)];
            for (; k + kPartialSums <= end; k += kPartialSums)
                for (int p = 0; p < kPartialSums; ++p) add<V, registers>(k + p, w, sum[p]);
            for (int p = 0; k < end; ++k, ++p) add<V, registers>(k, w, sum[p]);
            for (int v = 0; v < registers; ++v)
                reinterpret_cast<V*>(to)[v] = (sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]);
        }
    }

    template <class V, int registers>
    void add(std::int64_t k, const T* w, V (&sum)[registers]) const {
        constexpr std::int64_t width = registers * static_cast<std::int64_t>(sizeof(V) / sizeof(T));
        const V* from = reinterpret_cast<const V*>(w + column_[at(k)] * width);
        for (int v = 0; v < registers; ++v) sum[v] = fused_sum(value_[at(k)], from[v], sum[v]);
    }

    template <class V, int registers>
    void add_rows(std::int64_t first, std::int64_t count, const T* by_row, T* sums) const {
        constexpr std::int64_t width = registers * static_cast<std::int64_t>(sizeof(V) / sizeof(T));
        for (std::int64_t i = first; i < first + count; ++i, by_row += width) {
            V residual[registers];
            for (int v = 0; v < registers; ++v) residual[v] = reinterpret_cast<const V*>(by_row)[v];
            for (std::int64_t k = start_[at(i)]; k < start_[at(i + 1)]; ++k) {
                V* to = reinterpret_cast<V*>(sums + column_[at(k)] * width);
                for (int v = 0; v < registers; ++v)
                    to[v] = fused_sum(value_[at(k)], residual[v], to[v]);
            }
        }
    }

    std::int64_t n_rows_, n_columns_;
    std::vector<T> value_;
    std::vector<std::int32_t> column_;
    std::vector<std::int64_t> start_;
};

}  // namespace separable
