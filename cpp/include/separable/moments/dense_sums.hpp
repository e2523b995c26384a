// Sums, squares and products of the columns of dense rows, in one pass.
//
//   problem   with z = (x - origin) scale - offset and more columns of targets after those of x
//               s_j = sum_i w_i z_ij,  P_jk = sum_i w_i z_ij z_ik  for j <= k
//             of a block of rows; from them the mean and the scatter of all rows so far, block
//             included: offset + s / W and S + P - s s' / W
//   given     dense rows, all or chosen; targets; weights, default 1; origin and scale of each
//             column; weight, offset (their mean) and scatter of the earlier rows
//   returns   the number of rows added. It stops before a block that needs another scale, is not
//             finite, or would lose digits by cancellation: P is much larger than P - s s' / W.
//             That cannot happen about the mean of as many rows.
//   steps     1. pack rows that fit in the cache as z sqrt(w), eight columns side by side
//             2. multiply eight columns with several lines of eight, summed in registers
//             3. after the block: check it, then add it
// Order of sums: rows within kPackedRows rows, then these groups, then blocks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/fused.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// Number of rows multiplied together.
inline constexpr std::int64_t kPackedRows = 64;
// Columns and lines of a tile of products, chosen by the number of registers of the CPU level.
inline constexpr int kTileColumns = kRegisterBytes / 8;
inline constexpr int kTileLines = kRegisterBytes == 64 ? 3 : 1;
// Squares of values in this range, and their sums, neither overflow nor underflow.
inline constexpr double kSmallest = 0x1p-400, kLargest = 0x1p400;
// Largest ratio P / (P - s s' / W) without loss of digits.
inline constexpr double kMuchLarger = 4;

// Sums to add to: p columns, those of x first.
struct DenseSums {
    std::int64_t n_columns;
    const double *origin, *scale;
    double weight;
    double *offset, *scatter;  // p, and p x p in C order; the upper triangle is used
};

template <class Value>
struct DenseData {
    const Dense<Value>& rows;
    const double* targets;  // n x t in C order
    std::int64_t n_targets;
    const double* weight;        // of each row, or nullptr
    const std::int64_t* chosen;  // rows, or nullptr: all
    std::int64_t n_rows;         // number of chosen rows

    std::int64_t row(std::int64_t i) const { return chosen ? chosen[i] : i; }
};

template <class Value>
class DenseBlock {
   public:
    DenseBlock(const DenseData<Value>& data, const DenseSums& sums)
        : data_(data),
          sums_(sums),
          lines_(static_cast<std::int64_t>(
                     whole_lines<double>(static_cast<std::size_t>(sums.n_columns))) /
                 kLine),
          packed_(static_cast<std::size_t>(lines_ * kStride)),
          products_(static_cast<std::size_t>(lines_ * lines_ * kLine * kLine)),
          total_(static_cast<std::size_t>(lines_ * kLine)),
          largest_(total_.size()),
          constants_(3 * total_.size()) {}

    // Adds rows first, ..., first + n - 1; returns whether they were added.
    bool add(std::int64_t first, std::int64_t n) {
        std::fill(products_.begin(), products_.end(), 0.0);
        std::fill(total_.begin(), total_.end(), 0.0);
        std::fill(largest_.begin(), largest_.end(), 0.0);
        double* at = constants_.data();
        const std::size_t size = total_.size();
        std::copy_n(sums_.origin, sums_.n_columns, at);
        std::copy_n(sums_.scale, sums_.n_columns, at + size);
        std::copy_n(sums_.offset, sums_.n_columns, at + 2 * size);
        double weight = 0;
        for (std::int64_t i = first; i < first + n; i += kPackedRows) {
            const std::int64_t rows = std::min(kPackedRows, first + n - i);
            weight += pack(i, rows);
            ahead_ = i + rows, end_ = std::min(ahead_ + kPackedRows, data_.n_rows);
            multiply(rows);
        }
        return settle(weight);
    }
    double weight() const { return sums_.weight; }

   private:
    static constexpr std::int64_t kLine = kPerLine<double>;
    static constexpr std::int64_t kStride = kLine * (kPackedRows + 1);  // not a power of two
    using Numbers = Line<double>;

    double pack(std::int64_t first, std::int64_t n) {  // 1
        double weight = 0;
        for (std::int64_t i = 0; i < n; ++i) {
            root_[i] = 1.0;
            if (data_.weight) {
                const double w = data_.weight[data_.row(first + i)];
                root_[i] = std::sqrt(w);
                weight += w;
            }
        }
        const std::int64_t whole = data_.rows.n_features / kLine;
        for (std::int64_t line = 0; line < whole; ++line)
            pack_line(line, n, [&](std::int64_t i) {
                return Numbers::load(data_.rows.row(data_.row(first + i)).x + line * kLine);
            });
        for (std::int64_t line = whole; line < lines_; ++line) {
            const double* x = spread_line(line, first, n);
            pack_line(line, n, [&](std::int64_t i) { return Numbers::load(x + i * kLine); });
        }
        return data_.weight ? weight : static_cast<double>(n);
    }

    // Packs a line that has columns other than those of x, column by column.
    const double* spread_line(std::int64_t line, std::int64_t first, std::int64_t n) {
        double* out = packed_.data() + line * kStride;
        const std::int64_t d = data_.rows.n_features, start = line * kLine,
                           stop = std::min(start + kLine, sums_.n_columns);
        std::fill_n(out, n * kLine, 0.0);
        for (std::int64_t j = start; j < stop; ++j)
            for (std::int64_t i = 0; i < n; ++i) {
                const std::int64_t row = data_.row(first + i);
                out[i * kLine + j - start] = j < d ? static_cast<double>(data_.rows.row(row).x[j])
                                                   : data_.targets[row * data_.n_targets + j - d];
            }
        return out;
    }

    template <class Load>
    void pack_line(std::int64_t line, std::int64_t n, Load load) {
        const std::size_t size = total_.size();
        const double* at = constants_.data() + line * kLine;
        const Numbers minus = Numbers::broadcast(-1.0), scale = Numbers::load(at + size),
                      origin = Numbers::load(at) * minus,
                      offset = Numbers::load(at + 2 * size) * minus;
        Numbers sum = Numbers::load(total_.data() + line * kLine);
        Numbers most = Numbers::load(largest_.data() + line * kLine);
        double* out = packed_.data() + line * kStride;
        for (std::int64_t i = 0; i < n; ++i, out += kLine) {
            Numbers z = (load(i) + origin) * scale + offset;
            for (int r = 0; r < Numbers::kRegisters; ++r) {
                const auto size_of = z.part[r] < 0 ? -z.part[r] : z.part[r];
                most.part[r] = size_of > most.part[r] ? size_of : most.part[r];
            }
            if (data_.weight) {
                const Numbers root = Numbers::broadcast(root_[i]);
                z = z * root;
                z.store(out);
                sum += z * root;
            } else {
                z.store(out);
                sum += z;
            }
        }
        sum.store(total_.data() + line * kLine);
        most.store(largest_.data() + line * kLine);
    }

    void multiply(std::int64_t n) {  // 2
        for (std::int64_t line = 0; line < lines_; ++line)
            for (std::int64_t column = line * kLine; column < (line + 1) * kLine;
                 column += kTileColumns) {
                std::int64_t other = line;
                for (; other + kTileLines <= lines_; other += kTileLines)
                    tile<kTileLines>(column, other, n);
                if constexpr (kTileLines > 1) {
                    if (lines_ - other == 2)
                        tile<2>(column, other, n);
                    else if (lines_ - other == 1)
                        tile<1>(column, other, n);
                }
            }
    }

    template <int lines>
    void tile(std::int64_t column, std::int64_t other, std::int64_t n) {
        Numbers sum[kTileColumns][lines];
#pragma GCC unroll 8
        for (int a = 0; a < kTileColumns; ++a)
            for (int b = 0; b < lines; ++b) sum[a][b] = Numbers::zero();
        fetch_ahead();
        const double* left = packed_.data() + column / kLine * kStride + column % kLine;
        const double* right = packed_.data() + other * kStride;
        for (std::int64_t i = 0; i < n; ++i, left += kLine, right += kLine) {
            Numbers z[lines];
            for (int b = 0; b < lines; ++b) z[b] = Numbers::load(right + b * kStride);
#pragma GCC unroll 8
            for (int a = 0; a < kTileColumns; ++a) {
                const Numbers x = repeated(left + a);
                for (int b = 0; b < lines; ++b) add_fused(sum[a][b], x, z[b]);
            }
        }
        const std::int64_t ld = lines_ * kLine;
#pragma GCC unroll 8
        for (int a = 0; a < kTileColumns; ++a)
            for (int b = 0; b < lines; ++b) {
                double* to = products_.data() + (column + a) * ld + (other + b) * kLine;
                (Numbers::load(to) + sum[a][b]).store(to);
            }
    }

    // Prefetches the rows to pack next while products are computed.
    void fetch_ahead() {
        const std::int64_t tiles = lines_ * (lines_ + 1) / 2 * (kLine / kTileColumns);
        const std::int64_t stop = std::min(end_, ahead_ + 1 + kPackedRows * kTileLines / tiles);
        for (; ahead_ < stop; ++ahead_) data_.rows.row(data_.row(ahead_)).prefetch();
    }

    bool settle(double weight) {  // 3
        const std::int64_t p = sums_.n_columns, ld = lines_ * kLine;
        const double after = sums_.weight + weight;
        for (std::int64_t j = 0; j < p; ++j) {
            const double s = total_[static_cast<std::size_t>(j)],
                         most = largest_[static_cast<std::size_t>(j)],
                         squares = products_[static_cast<std::size_t>(j * ld + j)],
                         left = sums_.scatter[j * p + j] + squares - s * (s / after);
            if (!(most < kLargest) || (most > 0 && most < kSmallest)) return false;
            if (!std::isfinite(squares) || !(squares <= kMuchLarger * left)) return false;
        }
        for (std::int64_t j = 0; j < p; ++j) {
            const double share = total_[static_cast<std::size_t>(j)] / after;
            for (std::int64_t k = j; k < p; ++k)
                sums_.scatter[j * p + k] += products_[static_cast<std::size_t>(j * ld + k)] -
                                            share * total_[static_cast<std::size_t>(k)];
            sums_.offset[j] += share;
        }
        sums_.weight = after;
        return true;
    }

    const DenseData<Value>& data_;
    DenseSums sums_;
    std::int64_t lines_;
    LineVector<double> packed_, products_, total_, largest_, constants_;
    double root_[kPackedRows];
    std::int64_t ahead_ = 0, end_ = 0;
};

// Adds blocks of `step` rows from row `first` on; returns the rows added, updates sums.weight.
template <class Value, class Poll>
std::int64_t add_dense_blocks(const DenseData<Value>& data, std::int64_t first, std::int64_t step,
                              DenseSums& sums, Poll&& poll) {
    DenseBlock<Value> block(data, sums);
    const std::int64_t products = step * sums.n_columns * sums.n_columns;
    std::int64_t start = first, since = 0;
    while (start < data.n_rows) {
        const std::int64_t n = std::min(step, data.n_rows - start);
        if (!block.add(start, n)) break;
        start += n;
        if ((since += products) > (std::int64_t{1} << 30)) poll(), since = 0;
    }
    sums.weight = block.weight();
    return start - first;
}

}  // namespace separable
