// Products of columns: all x_{i1} x_{i2} ... x_{id} with i1 <= i2 <= ... <= id (or <, if a
// column may occur only once in a product), for d from the least degree to the highest.
//
// Given a row, its columns in ascending order. Returns the products in the order of their columns
// out: first by degree, then in dictionary order of (i1, ..., id). In a sparse row only products of
// its non-zeros are formed; the column of a product is
//
//     base(d) + T(d) - 1 - sum over k = 1 ... d of C(N - 1 - i_k - s (k - 1), d - k + 1),
//
// where s = 1 if columns may repeat and else 0, N = n + s (d - 1), T(d) = C(N, d): the sum counts
// the products after it in dictionary order. For k = d a term is N - 1 - i_d - s (d -
// 1), so the last factor runs through columns without a binomial.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace separable {

struct PolynomialPlan {
    std::int64_t n_columns;
    std::int64_t least_degree, highest_degree;  // 1 <= least <= highest
    bool repeat;                                // whether a column may repeat in a product
    bool constant;                              // whether the first output column is 1

    // C(m, r), 0 if m < r; capped at 2^63 - 1.
    static std::int64_t choose(std::int64_t m, std::int64_t r) {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        if (m < r) return 0;
        __extension__ unsigned __int128 c = 1;
        for (std::int64_t k = 1; k <= r; ++k) {  // rises with k
            c = c * static_cast<std::uint64_t>(m - r + k) / static_cast<std::uint64_t>(k);
            if (c > static_cast<std::uint64_t>(most)) return most;
        }
        return static_cast<std::int64_t>(c);
    }

    // Number of products of `degree` of m columns.
    std::int64_t products(std::int64_t m, std::int64_t degree) const {
        return choose(repeat ? m + degree - 1 : m, degree);
    }

    // Number of output values of a row with m columns; capped at 2^63 - 1.
    std::int64_t size(std::int64_t m) const {
        constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
        std::int64_t total = constant;
        for (std::int64_t d = least_degree; d <= highest_degree; ++d)
            total += std::min(products(m, d), most - total);
        return total;
    }
};

// The products of one row.
template <class Value, class Index>
class RowProducts {
   public:
    RowProducts(const PolynomialPlan& plan, const Value* values, const Index* columns,
                std::int64_t size)
        : plan_(plan), x_(values), column_(columns), size_(size) {}

    // Writes products and, if requested, their output columns.
    void write(double* products, std::int64_t* places) {
        out_ = products, places_ = places;
        std::int64_t base = 0;
        if (plan_.constant) {
            *out_++ = 1.0, base = 1;
            if (places_ != nullptr) *places_++ = 0;
        }
        for (degree_ = plan_.least_degree; degree_ <= plan_.highest_degree; ++degree_) {
            const std::int64_t total = plan_.products(plan_.n_columns, degree_);
            extend(1, 0, 1.0, base + total - 1);
            base += total;
        }
    }

   private:
    // Multiplies by a k-th factor, from position `start` of the row.
    void extend(std::int64_t k, std::int64_t start, double product, std::int64_t place) {
        const std::int64_t s = plan_.repeat;
        const std::int64_t last = plan_.n_columns + s * (degree_ - 1) - 1 - s * (k - 1);
        if (k == degree_) {
            const std::int64_t n = size_ - start;
            for (std::int64_t j = 0; j < n; ++j)
                out_[j] = product * static_cast<double>(x_[start + j]);
            if (places_ != nullptr) {
                for (std::int64_t j = 0; j < n; ++j)
                    places_[j] = place - (last - static_cast<std::int64_t>(column_[start + j]));
                places_ += n;
            }
            out_ += n;
            return;
        }
        for (std::int64_t j = start; j < size_; ++j) {
            const std::int64_t column = places_ == nullptr ? j : column_[j];
            const std::int64_t behind =
                places_ == nullptr ? 0 : PolynomialPlan::choose(last - column, degree_ - k + 1);
            extend(k + 1, plan_.repeat ? j : j + 1, product * static_cast<double>(x_[j]),
                   place - behind);
        }
    }

    const PolynomialPlan& plan_;
    const Value* x_;
    const Index* column_;
    std::int64_t size_;
    std::int64_t degree_ = 0;
    double* out_ = nullptr;
    std::int64_t* places_ = nullptr;
};

}  // namespace separable
