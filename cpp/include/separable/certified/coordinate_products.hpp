// Products of one column with numbers of the rows, in double. A column of X is a row of X'.
//
//   dot        sum_i x_i q_i
//   moments    sum_i h_i x_i and sum_i h_i x_i^2
//   add        q_i += step x_i;  add_curved: q_i += step h_i x_i
//
// A Column has any format. Each product is one indirect call, so that coordinate descent is
// compiled once, and only the loops over non-zeros once for each format.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

class Column {
   public:
    template <Row R>
    Column(const R& row) : row_(row), size_(row.size()) {}

    std::int64_t size() const { return size_; }

    // Calls use(row) with the row of X' in its own format.
    template <class Use>
    auto with_row(Use&& use) const {
        return std::visit(std::forward<Use>(use), row_);
    }

    // Calls use(index, value) for each non-zero.
    template <class Use>
    void for_each(Use&& use) const {
        with_row([&](const auto& row) {
            for (std::int64_t k = 0; k < row.size(); ++k)
                use(static_cast<std::size_t>(row.index(k)), static_cast<double>(row.value(k)));
        });
    }

    void prefetch() const {
        with_row([](const auto& row) { row.prefetch(); });
    }

   private:
    std::variant<Dense<float>::DenseRow, Dense<double>::DenseRow, Csr<float>::CsrRow,
                 Csr<double>::CsrRow>
        row_;
    std::int64_t size_;
};

// The rows of X', in any format.
class Columns {
   public:
    explicit Columns(const AnyRows& rows)
        : n_columns(std::visit([](const auto& r) { return r.n_rows; }, rows)),
          n_rows(std::visit([](const auto& r) { return r.n_features; }, rows)),
          rows_(rows) {}

    Column operator[](std::int64_t j) const {
        return std::visit([&](const auto& rows) { return Column(rows.row(j)); }, rows_);
    }

    std::int64_t n_columns, n_rows;

   private:
    AnyRows rows_;
};

struct ColumnMoments {
    double first, second;
};

inline double dot(const Column& column, const double* q) {
    return column.with_row([&](const auto& row) { return Single<double>::dot(row, q); });
}

inline double sum_of_squares(const Column& column) {
    return column.with_row([](const auto& row) { return sum_of_squares(row); });
}

template <Row R>
ColumnMoments moments_of(const R& row, const double* h) {
    constexpr int P = kPerLine<double>;
    const std::int64_t n = row.size();
    Line<double> first = Line<double>::zero(), second = Line<double>::zero();
    std::int64_t k = 0;
    for (; k + P <= n; k += P) {
        const auto x = row.template values<double>(k);
        const auto product = row.weights(h, k) * x;
        first += product;
        second += product * x;
    }
    ColumnMoments sums{first.sum(), second.sum()};
    for (; k < n; ++k) {
        const double x = row.value(k), product = h[row.index(k)] * x;
        sums.first += product;
        sums.second += product * x;
    }
    return sums;
}

inline ColumnMoments moments(const Column& column, const double* h) {
    return column.with_row([&](const auto& row) { return moments_of(row, h); });
}

inline void add(const Column& column, double step, double* q) {
    column.with_row([&](const auto& row) { Single<double>::add(row, step, q); });
}

template <Row R>
void add_curved_to(const R& row, double step, const double* __restrict h, double* __restrict q) {
    for (std::int64_t k = 0; k < row.size(); ++k) {
        const std::int64_t i = row.index(k);
        q[i] += step * h[i] * static_cast<double>(row.value(k));
    }
}

inline void add_curved(const Column& column, double step, const double* h, double* q) {
    column.with_row([&](const auto& row) { add_curved_to(row, step, h, q); });
}

}  // namespace separable
