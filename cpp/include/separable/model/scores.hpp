// Scores of rows: one order of summation, whatever the batch.
//
//   problem   S = X W' + b, n x K, so that a score S_ik depends on row i, on w_k and on b_k alone:
//             it has the same bits alone and in every batch, dense and sparse, at every CPU level
//   given     X, n x d, dense (C order) or CSR, float32 or float64; W, K x d; b
//   returns   S in float64, and the first row with a score that is not finite, or -1
//   steps     for each row i and class k:
//             1. columns are cut into blocks of kBlock; the sum of a block starts at 0
//             2. for the columns j of a block, ascending: sum += fl(x_ij w_kj)
//             3. total += sum, for one block after the other
//             4. S_ik = total + b_k
//   source    Higham 2002, "Accuracy and stability of numerical algorithms", section 4.2: with
//             blocks, the error is at most (kBlock + d / kBlock) u sum of |x_ij w_kj|
//
// A sum that starts at +0 is never -0, so adding a product of 0 changes no bit: a value that is
// absent from a CSR row is a 0 of a dense one. CSR rows with columns out of order are sorted first,
// and the values of a column that occurs more than once are added in float64, in the order they
// stand.
//
// Chains of additions are independent of each other, so rows and classes run side by side; columns
// never do. Products are rounded before they are added: a fused product would have other bits on a
// CPU without the instruction.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// W and b as the caller has them.
struct ScoreWeights {
    const double* w;  // [class][column]
    const double* b;
    std::int64_t n_classes;
    std::int64_t n_features;

    const double* of(std::int64_t k) const { return w + k * n_features; }
};

namespace scoring {

inline constexpr std::int64_t kBlock = 4096;   // columns whose products are added without a break
inline constexpr int kChains = 8;              // sums that run side by side
inline constexpr int kQuad = 4;                // classes in a Quad
inline constexpr std::int64_t kTile = 72;      // rows whose sums are kept while columns go by
inline constexpr std::int64_t kStretch = 256;  // columns that go by at once, a divisor of kBlock
inline constexpr std::int64_t kFewRows = 4;    // fewer are not worth a copy of W

// Four numbers, as registers of the CPU level.
typedef double Quad __attribute__((vector_size(32)));
typedef double UnalignedQuad __attribute__((vector_size(32), aligned(8), may_alias));

inline Quad load_quad(const double* from) { return *reinterpret_cast<const UnalignedQuad*>(from); }
inline void store_quad(const Quad& quad, double* to) {
    *reinterpret_cast<UnalignedQuad*>(to) = quad;
}

// Whether the columns of a row ascend, each once.
inline bool ascends(const std::int32_t* j, std::int64_t n) {
    bool ascending = true;
    for (std::int64_t k = 1; k < n; ++k) ascending &= j[k - 1] < j[k];
    return ascending;
}

// Rows whose columns do not ascend, sorted into here.
class Sorter {
   public:
    // Calls use(row) with the row itself or with a sorted copy of it.
    template <class Value, class Use>
    void operator()(const typename Csr<Value>::CsrRow& row, Use use) {
        if (ascends(row.j, row.n)) return use(row);
        entries_.clear();
        for (std::int64_t k = 0; k < row.n; ++k)
            entries_.emplace_back(row.j[k], static_cast<double>(row.x[k]));
        sum_repeats(entries_);
        index_.clear(), value_.clear();
        for (const auto& [j, x] : entries_)
            index_.push_back(static_cast<std::int32_t>(j)), value_.push_back(x);
        use(typename Csr<double>::CsrRow{value_.data(), index_.data(),
                                         static_cast<std::int64_t>(index_.size())});
    }

   private:
    std::vector<Entry<double>> entries_;
    std::vector<std::int32_t> index_;
    std::vector<double> value_;
};

// W in panels of kQuad classes, [panel][column][class], zeros behind the last class.
class Panels {
   public:
    explicit Panels(const ScoreWeights& weights)
        : n_features_(weights.n_features),
          n_quads((weights.n_classes + kQuad - 1) / kQuad),
          values_(static_cast<std::size_t>(n_quads * n_features_ * kQuad), 0.0) {
        constexpr std::int64_t kCopied = 64;  // columns copied for all classes of a panel
        for (std::int64_t first = 0; first < n_features_; first += kCopied)
            for (std::int64_t k = 0; k < weights.n_classes; ++k) {
                const double* from = weights.of(k);
                double* to = values_.data() + (k / kQuad * n_features_ * kQuad) + k % kQuad;
                const std::int64_t end = std::min(n_features_, first + kCopied);
                for (std::int64_t j = first; j < end; ++j) to[j * kQuad] = from[j];
            }
    }

    const double* at(std::int64_t quad, std::int64_t column) const {
        return values_.data() + (quad * n_features_ + column) * kQuad;
    }

   private:
    std::int64_t n_features_;

   public:
    std::int64_t n_quads;

   private:
    LineVector<double> values_;
};

// Step 2 for kChains sums side by side, each of its own x and its own w.
template <class Value>
void run_chains(const Value* const (&x)[kChains], const double* const (&w)[kChains], std::int64_t n,
                double (&sum)[kChains]) {
    double partial[kChains] = {};
    for (std::int64_t j = 0; j < n; ++j)
#pragma GCC unroll 8
        for (int c = 0; c < kChains; ++c) partial[c] += static_cast<double>(x[c][j]) * w[c][j];
    for (int c = 0; c < kChains; ++c) sum[c] = partial[c];
}

// The same for kChains rows and one w.
template <class Value>
void run_rows(const Value* x, std::int64_t stride, const double* w, std::int64_t n,
              double (&sum)[kChains]) {
    double partial[kChains] = {};
    for (std::int64_t j = 0; j < n; ++j) {
        const double w_j = w[j];
#pragma GCC unroll 8
        for (int c = 0; c < kChains; ++c)
            partial[c] += static_cast<double>(x[c * stride + j]) * w_j;
    }
    for (int c = 0; c < kChains; ++c) sum[c] = partial[c];
}

// Rows that are few: chains of all blocks and classes of a row, and of several rows.
template <class Value>
void few_dense_rows(const Dense<Value>& rows, std::int64_t first, const ScoreWeights& weights,
                    double* scores) {
    const std::int64_t d = rows.n_features, K = weights.n_classes, n = rows.n_rows - first;
    std::fill_n(scores + first * K, n * K, 0.0);
    struct Chain {
        const Value* x;
        const double* w;
        double* total;
    } chains[kChains];
    const auto run = [&](int n_chains, std::int64_t columns) {
        const Value* x[kChains];
        const double* w[kChains];
        double sum[kChains];
        for (int c = 0; c < kChains; ++c) {
            const Chain& chain = chains[std::min(c, n_chains - 1)];
            x[c] = chain.x, w[c] = chain.w;
        }
        run_chains(x, w, columns, sum);
        for (int c = 0; c < n_chains; ++c) *chains[c].total += sum[c];  // 3
    };
    const std::int64_t whole = d / kBlock * kBlock;
    int n_chains = 0;
    for (std::int64_t i = first; i < rows.n_rows; ++i)
        for (std::int64_t k = 0; k < K; ++k)
            for (std::int64_t j = 0; j < whole; j += kBlock) {
                chains[n_chains++] = {rows.row(i).x + j, weights.of(k) + j, scores + i * K + k};
                if (n_chains == kChains) run(n_chains, kBlock), n_chains = 0;
            }
    if (n_chains > 0) run(n_chains, kBlock), n_chains = 0;
    if (whole == d) return;
    for (std::int64_t i = first; i < rows.n_rows; ++i)
        for (std::int64_t k = 0; k < K; ++k) {
            chains[n_chains++] = {rows.row(i).x + whole, weights.of(k) + whole, scores + i * K + k};
            if (n_chains == kChains) run(n_chains, d - whole), n_chains = 0;
        }
    if (n_chains > 0) run(n_chains, d - whole);
}

// One class: kChains rows side by side.
template <class Value>
void dense_one_class(const Dense<Value>& rows, const ScoreWeights& weights, double* scores) {
    const std::int64_t d = rows.n_features;
    std::int64_t i = 0;
    for (; i + kChains <= rows.n_rows; i += kChains) {
        double total[kChains] = {}, sum[kChains];
        for (std::int64_t j = 0; j < d; j += kBlock) {
            run_rows(rows.row(i).x + j, d, weights.w + j, std::min(kBlock, d - j), sum);
            for (int c = 0; c < kChains; ++c) total[c] += sum[c];
        }
        std::copy_n(total, kChains, scores + i);
    }
    if (i < rows.n_rows) few_dense_rows(rows, i, weights, scores);
}

// Step 2 for R rows and `quads` panels that follow each other, over some columns of a block.
template <int R, int quads>
void run_panel(const double* x, std::int64_t stride, const double* const (&w)[3], std::int64_t n,
               double* sums, std::int64_t sums_stride) {
    Quad sum[R][quads];
    for (int r = 0; r < R; ++r)
        for (int q = 0; q < quads; ++q) sum[r][q] = load_quad(sums + r * sums_stride + q * kQuad);
    for (std::int64_t j = 0; j < n; ++j) {
        Quad weight[quads];
        for (int q = 0; q < quads; ++q) weight[q] = load_quad(w[q] + j * kQuad);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r)
#pragma GCC unroll 3
            for (int q = 0; q < quads; ++q) sum[r][q] += x[r * stride + j] * weight[q];
    }
    for (int r = 0; r < R; ++r)
        for (int q = 0; q < quads; ++q) store_quad(sum[r][q], sums + r * sums_stride + q * kQuad);
}

// The same for R rows or fewer.
template <int R, int quads>
void run_rest(const double* x, std::int64_t stride, int height, const double* const (&w)[3],
              std::int64_t n, double* sums, std::int64_t sums_stride) {
    if (height == R) return run_panel<R, quads>(x, stride, w, n, sums, sums_stride);
    for (int r = 0; r < height; ++r)
        run_panel<1, quads>(x + r * stride, stride, w, n, sums + r * sums_stride, sums_stride);
}

// A few rows and some columns of them, in float64: the rows themselves, or a copy.
template <class Value, int R>
class Patch {
   public:
    explicit Patch(std::int64_t width) {
        if constexpr (!std::is_same_v<Value, double>) copy_.resize(R * width);
    }
    // Returns x and how far one row is from the next.
    std::pair<const double*, std::int64_t> operator()(const Value* x, std::int64_t stride, int rows,
                                                      std::int64_t n) {
        if constexpr (std::is_same_v<Value, double>) {
            (void)rows, (void)n;
            return {x, stride};
        } else {
            for (int r = 0; r < rows; ++r)
                for (std::int64_t j = 0; j < n; ++j)
                    copy_[r * n + j] = static_cast<double>(x[r * stride + j]);
            return {copy_.data(), n};
        }
    }

   private:
    LineVector<double> copy_;
};

// Several classes: W in panels, R rows and `quads` panels at once, kTile rows by some columns.
template <int R, int quads, class Value>
void dense_in_panels(const Dense<Value>& rows, const Panels& panels, std::int64_t n_classes,
                     double* scores) {
    const std::int64_t d = rows.n_features, Q = panels.n_quads, wide = Q * kQuad;
    Patch<Value, R> patch(std::min(kStretch, d));
    LineVector<double> sum(static_cast<std::size_t>(kTile * wide)), total(sum.size());
    for (std::int64_t first = 0; first < rows.n_rows; first += kTile) {
        const std::int64_t n = std::min(kTile, rows.n_rows - first);
        std::fill(total.begin(), total.end(), 0.0);
        std::fill(sum.begin(), sum.end(), 0.0);  // 1
        for (std::int64_t j = 0; j < d; j += kStretch) {
            const std::int64_t columns = std::min(kStretch, d - j);
            for (std::int64_t i = 0; i < n; i += R) {
                const int height = static_cast<int>(std::min<std::int64_t>(R, n - i));
                const auto [x, stride] = patch(rows.row(first + i).x + j, d, height, columns);
                for (std::int64_t q = 0, side = 0; q < Q; q += side) {
                    side = std::min<std::int64_t>(Q - q == 4 ? 2 : quads, Q - q);  // not 3 and 1
                    const double* w[3];
                    for (int p = 0; p < 3; ++p) w[p] = panels.at(std::min(q + p, Q - 1), j);
                    double* at = sum.data() + i * wide + q * kQuad;
                    if (side == quads)
                        run_rest<R, quads>(x, stride, height, w, columns, at, wide);
                    else if (side == 2)
                        run_rest<R, 2>(x, stride, height, w, columns, at, wide);
                    else
                        run_rest<R, 1>(x, stride, height, w, columns, at, wide);
                }
            }
            if ((j + columns) % kBlock != 0 && j + columns != d) continue;
            for (std::int64_t t = 0; t < n * wide; ++t) total[t] += sum[t], sum[t] = 0;  // 3
        }
        for (std::int64_t i = 0; i < n; ++i)
            std::copy_n(total.data() + i * wide, n_classes, scores + (first + i) * n_classes);
    }
}

template <class Value>
void add_products(const Dense<Value>& rows, const ScoreWeights& weights, double* scores) {
    if (rows.n_rows < kFewRows) return few_dense_rows(rows, 0, weights, scores);
    if (weights.n_classes == 1) return dense_one_class(rows, weights, scores);
    const Panels panels(weights);
    if (panels.n_quads == 1)
        dense_in_panels<8, 1>(rows, panels, weights.n_classes, scores);
    else if (panels.n_quads == 2 || panels.n_quads == 4)
        dense_in_panels<4, 2>(rows, panels, weights.n_classes, scores);
    else
        dense_in_panels<3, 3>(rows, panels, weights.n_classes, scores);
}

// Steps 1 to 3 for a sorted row and `quads` panels; w[q] is the panel at column 0.
template <int quads, class R>
void run_sparse(const R& row, const double* const (&w)[3], double* totals) {
    Quad total[quads], sum[quads];
    for (int q = 0; q < quads; ++q) total[q] = sum[q] = Quad{};
    std::int64_t end = kBlock;
    for (std::int64_t k = 0; k < row.n; ++k) {
        const std::int64_t j = row.j[k];
        if (j >= end) {
            for (int q = 0; q < quads; ++q) total[q] += sum[q], sum[q] = Quad{};
            end = (j / kBlock + 1) * kBlock;
        }
        const double x = row.x[k];
        for (int q = 0; q < quads; ++q) sum[q] += x * load_quad(w[q] + j * kQuad);
    }
    for (int q = 0; q < quads; ++q) store_quad(total[q] + sum[q], totals + q * kQuad);
}

// The same for one class. A branch on "is this another block" would be guessed wrong half the time.
template <bool one_block, class R>
double sparse_product(const R& row, const double* w) {
    double total = 0, sum = 0;
    std::int64_t block = 0;
    for (std::int64_t k = 0; k < row.n; ++k) {
        const std::int64_t j = row.j[k];
        const double product = static_cast<double>(row.x[k]) * w[j];
        if constexpr (!one_block) {
            const std::int64_t own = j / kBlock;
            const std::int64_t same =
                -static_cast<std::int64_t>(own == block);  // all bits, or none
            const auto bits = std::bit_cast<std::int64_t>(sum);
            block = own;
            total += std::bit_cast<double>(bits & ~same);
            sum = std::bit_cast<double>(bits & same);
        }
        sum += product;
    }
    return total + sum;
}

template <class Value>
void add_products(const Csr<Value>& rows, const ScoreWeights& weights, double* scores) {
    const std::int64_t K = weights.n_classes;
    Sorter sorter;
    if (K == 1 || rows.n_values() < rows.n_features) {  // too few values for a copy of W
        const bool one_block = rows.n_features <= kBlock;
        for (std::int64_t i = 0; i < rows.n_rows; ++i, scores += K)
            sorter.template operator()<Value>(rows.row(i), [&](const auto& row) {
                for (std::int64_t k = 0; k < K; ++k)
                    scores[k] = one_block ? sparse_product<true>(row, weights.of(k))
                                          : sparse_product<false>(row, weights.of(k));
            });
        return;
    }
    const Panels panels(weights);
    LineVector<double> totals(static_cast<std::size_t>(panels.n_quads * kQuad));
    for (std::int64_t i = 0; i < rows.n_rows; ++i, scores += K) {
        sorter.template operator()<Value>(rows.row(i), [&](const auto& row) {
            for (std::int64_t q = 0; q < panels.n_quads; q += 2) {
                const bool two = q + 1 < panels.n_quads;
                const double* w[3] = {panels.at(q, 0), panels.at(two ? q + 1 : q, 0), nullptr};
                two ? run_sparse<2>(row, w, totals.data() + q * kQuad)
                    : run_sparse<1>(row, w, totals.data() + q * kQuad);
            }
        });
        std::copy_n(totals.data(), K, scores);
    }
}

}  // namespace scoring

template <RowFormat F>
std::int64_t linear_scores(const F& rows, const ScoreWeights& weights, double* scores) {
    scoring::add_products(rows, weights, scores);
    const std::int64_t K = weights.n_classes;
    std::int64_t first = -1;
    for (std::int64_t i = rows.n_rows - 1; i >= 0; --i) {
        bool finite = true;
        for (std::int64_t k = 0; k < K; ++k) {
            double& score = scores[i * K + k];
            score += weights.b[k];  // 4
            finite &= std::abs(score) <= std::numeric_limits<double>::max();
        }
        if (!finite) first = i;
    }
    return first;
}

}  // namespace separable
