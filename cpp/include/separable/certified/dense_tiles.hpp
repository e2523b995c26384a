// Dense rows in tiles: blocks of rows that fit the second-level cache, stored column by column.
//
// Products of a tile with many weight vectors, and of its columns with many residuals, are small
// matrix products whose vectors run over rows. A weight vector's sums do not depend on the vectors
// beside it, so a model has the same bits alone and among others.
#pragma once

#include <algorithm>
#include <cstdint>

#include "separable/math/fused.hpp"
#include "separable/math/lanes.hpp"
#include "separable/math/large_pages.hpp"

namespace separable {

// Weight vectors that a register block holds.
inline constexpr int kColumnsTogether = 4;

template <class T>
class DenseTiles {
   public:
    using Number = T;
    struct Scratch {};  // products need no memory of their own
    using Register = typename Line<T>::Register;
    static constexpr std::int64_t kPerRegister = Line<T>::kPerRegister;
    // Rows are padded with zeros to whole steps; a step is a multiple of the rows that a block of
    // one weight vector takes.
    static constexpr std::int64_t kStep = 128;
    static constexpr std::int64_t kTileBytes = 1 << 17;
    static constexpr std::int64_t kMostRows = 512;

    DenseTiles(std::int64_t n_rows, std::int64_t n_columns)
        : n_rows_(n_rows),
          n_columns_(n_columns),
          tile_rows_(rows_of_a_tile(n_rows, n_columns)),
          values_(static_cast<std::size_t>(n_tiles() * tile_rows_ * n_columns)) {}

    // Write rows in C order, from row `first` on; a few rows at a time, column by column.
    void set_rows(std::int64_t first, const double* x, std::int64_t count) {
        constexpr std::int64_t kTogether = 16;
        const std::int64_t end = first + count;
        for (std::int64_t i = first; i < end;) {
            const std::int64_t within = i % tile_rows_;
            const std::int64_t rows = std::min({kTogether, end - i, tile_rows_ - within});
            T* to = values_.data() + (i - within) * n_columns_ + within;
            for (std::int64_t j = 0; j < n_columns_; ++j, to += tile_rows_)
                for (std::int64_t r = 0; r < rows; ++r)
                    to[r] = static_cast<T>(x[r * n_columns_ + j]);
            x += rows * n_columns_;
            i += rows;
        }
    }

    std::int64_t n_rows() const { return n_rows_; }
    std::int64_t n_columns() const { return n_columns_; }
    std::int64_t n_values() const { return n_rows_ * n_columns_; }
    std::int64_t tile_rows() const { return tile_rows_; }
    std::int64_t n_tiles() const { return (n_rows_ + tile_rows_ - 1) / tile_rows_; }

    // scores[c][r] = intercept[c] + sum_j w[c][j] z[r][j] of the rows of a tile. Weights stand in
    // groups: see `packed_weights`.
    void scores(std::int64_t tile, const T* packed, const T* intercept, std::int64_t n_vectors,
                T* scores, Scratch&) const {
        const T* z = tile_values(tile);
        std::int64_t c = 0;
        for (; c + 4 <= n_vectors; c += 4)
            score_columns<4, 2>(z, packed + c * n_columns_, intercept + c, scores + c * tile_rows_);
        if (c + 2 <= n_vectors) {
            score_columns<2, 4>(z, packed + c * n_columns_, intercept + c, scores + c * tile_rows_);
            c += 2;
        }
        if (c < n_vectors)
            score_columns<1, 8>(z, packed + c * n_columns_, intercept + c, scores + c * tile_rows_);
    }

    // gradient[c][j] += sum_r residual[c][r] z[r][j], over the rows of a tile, in float64.
    // `stride` is the distance between the gradients of two vectors.
    void add_gradients(std::int64_t tile, const T* residual, std::int64_t n_vectors,
                       double* gradient, std::int64_t stride, Scratch&) const {
        const T* z = tile_values(tile);
        std::int64_t c = 0;
        for (; c + 4 <= n_vectors; c += 4)
            gradient_columns<4, 2>(z, residual + c * tile_rows_, gradient + c * stride, stride);
        if (c + 2 <= n_vectors) {
            gradient_columns<2, 4>(z, residual + c * tile_rows_, gradient + c * stride, stride);
            c += 2;
        }
        if (c < n_vectors)
            gradient_columns<1, 8>(z, residual + c * tile_rows_, gradient + c * stride, stride);
    }

    void finish_gradients(std::int64_t, double*, std::int64_t, Scratch&) const {}

    std::int64_t packed_size(std::int64_t n_vectors) const { return n_vectors * n_columns_; }

    // Copy weights, one vector after the other with `stride` between them, into groups of 4, 2 and
    // 1 vectors in which the weights of a column stand side by side.
    void pack_weights(const double* w, std::int64_t n_vectors, std::int64_t stride,
                      T* packed) const {
        std::int64_t c = 0;
        for (const std::int64_t width : {4, 2, 1}) {
            for (; c + width <= n_vectors; c += width)
                for (std::int64_t j = 0; j < n_columns_; ++j)
                    for (std::int64_t k = 0; k < width; ++k)
                        packed[c * n_columns_ + j * width + k] =
                            static_cast<T>(w[(c + k) * stride + j]);
        }
    }

   private:
    static std::int64_t rows_of_a_tile(std::int64_t n_rows, std::int64_t n_columns) {
        const auto bytes =
            static_cast<std::int64_t>(sizeof(T)) * std::max<std::int64_t>(1, n_columns);
        const std::int64_t fitting = kTileBytes / bytes / kStep * kStep;
        const std::int64_t needed = (n_rows + kStep - 1) / kStep * kStep;
        return std::max(kStep, std::min({fitting, kMostRows, needed}));
    }

    const T* tile_values(std::int64_t tile) const {
        return values_.data() + tile * tile_rows_ * n_columns_;
    }

    static Register load(const T* from) { return *reinterpret_cast<const Register*>(from); }

    template <int vectors, int registers>
    void score_columns(const T* z, const T* w, const T* intercept, T* scores) const {
        constexpr std::int64_t kRows = registers * kPerRegister;
        static_assert(kStep % kRows == 0);
        for (std::int64_t r = 0; r < tile_rows_; r += kRows) {
            Register sum[vectors][registers];
            for (int c = 0; c < vectors; ++c)
                for (int v = 0; v < registers; ++v) sum[c][v] = Register{} + intercept[c];
            const T* column = z + r;
            const T* weight = w;
            for (std::int64_t j = 0; j < n_columns_; ++j, column += tile_rows_, weight += vectors) {
                Register x[registers];
                for (int v = 0; v < registers; ++v) x[v] = load(column + v * kPerRegister);
                for (int c = 0; c < vectors; ++c) {
                    const Register same = Register{} + weight[c];
                    for (int v = 0; v < registers; ++v) sum[c][v] = fused(x[v], same, sum[c][v]);
                }
            }
            for (int c = 0; c < vectors; ++c)
                for (int v = 0; v < registers; ++v)
                    *reinterpret_cast<Register*>(scores + c * tile_rows_ + r + v * kPerRegister) =
                        sum[c][v];
        }
    }

    template <int vectors, int columns>
    void gradient_columns(const T* z, const T* residual, double* gradient,
                          std::int64_t stride) const {
        std::int64_t j = 0;
        for (; j + columns <= n_columns_; j += columns)
            gradient_block<vectors, columns>(z, residual, gradient, stride, j);
        for (; j < n_columns_; ++j) gradient_block<vectors, 1>(z, residual, gradient, stride, j);
    }

    template <int vectors, int columns>
    void gradient_block(const T* z, const T* residual, double* gradient, std::int64_t stride,
                        std::int64_t j) const {
        Register sum[vectors][columns] = {};
        for (std::int64_t r = 0; r < tile_rows_; r += kPerRegister) {
            Register x[columns];
            for (int k = 0; k < columns; ++k) x[k] = load(z + (j + k) * tile_rows_ + r);
            for (int c = 0; c < vectors; ++c) {
                const Register e = load(residual + c * tile_rows_ + r);
                for (int k = 0; k < columns; ++k) sum[c][k] = fused(x[k], e, sum[c][k]);
            }
        }
        for (int c = 0; c < vectors; ++c)
            for (int k = 0; k < columns; ++k) {
                T total = 0;
                for (int i = 0; i < kPerRegister; ++i) total += sum[c][k][i];
                gradient[c * stride + j + k] += static_cast<double>(total);
            }
    }

    std::int64_t n_rows_, n_columns_, tile_rows_;
    ZeroedArray<T> values_;
};

}  // namespace separable
