// Row formats. A format is a matrix with access to rows; a row is a list of non-zeros (j, x_j).
// A new format is a struct that satisfies RowFormat and an entry in AnyRows.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "separable/math/lanes.hpp"

namespace separable {

template <class R>
concept Row = requires(const R& row, const float* w, std::int64_t k) {
    { row.size() } -> std::same_as<std::int64_t>;
    { row.index(k) } -> std::convertible_to<std::int64_t>;
    { row.value(k) } -> std::convertible_to<double>;
    { row.weights(w, k) } -> std::same_as<Line<float>>;  // of non-zeros k ... k + P - 1
    { row.template values<float>(k) } -> std::same_as<Line<float>>;
    { row.template only_zeros<float>(k) } -> std::same_as<bool>;
};

template <class F>
concept RowFormat = requires(const F& rows, std::int64_t i) {
    { rows.n_rows } -> std::convertible_to<std::int64_t>;
    { rows.n_features } -> std::convertible_to<std::int64_t>;
    { rows.n_values() } -> std::same_as<std::int64_t>;
    { rows.row(i) } -> Row;
};

inline constexpr std::size_t kRowsAhead = 4;  // between a prefetch and a copy

// Prefetch `bytes`, one cache line at a time.
inline void prefetch_bytes(const void* from, std::int64_t bytes) {
    const char* at = static_cast<const char*>(from);
    for (std::int64_t done = 0; done < bytes; done += kLineBytes)
        __builtin_prefetch(at + done, 0, 2);
}

// Dense, C order: every feature counts as a non-zero; weights are in the order of the values.
template <class Value>
struct Dense {
    const Value* values_;
    std::int64_t n_rows;
    std::int64_t n_features;

    struct DenseRow {
        const Value* x;
        std::int64_t n;

        std::int64_t size() const { return n; }
        std::int64_t index(std::int64_t k) const { return k; }
        Value value(std::int64_t k) const { return x[k]; }
        template <class T>
        Line<T> weights(const T* w, std::int64_t k) const {
            return Line<T>::load(w + k);
        }
        template <class T>
        Line<T> values(std::int64_t k) const {
            return Line<T>::load(x + k);
        }
        template <class T>
        Line<T> last_products(const T* w, std::int64_t k) const {
            return load_products(w + k, x + k, static_cast<int>(n - k));
        }
        // Whether non-zeros k ... k + P - 1 are all 0, P being that of T.
        template <class T>
        bool only_zeros(std::int64_t k) const {
            return !Line<T>::load(x + k).any();
        }
        template <class T>
        void prefetch_weights(const T*, std::int64_t, int) const {}  // hardware prefetches
        void prefetch() const { prefetch_bytes(x, n * static_cast<std::int64_t>(sizeof(Value))); }
    };

    std::int64_t n_values() const { return n_rows * n_features; }

    // Copies the given rows in order.
    void copy_rows(std::span<const std::int64_t> order, Value* values) const {
        for (std::size_t t = 0; t < order.size(); ++t) {
            if (t + kRowsAhead < order.size()) row(order[t + kRowsAhead]).prefetch();
            values = std::copy_n(values_ + order[t] * n_features, n_features, values);
        }
    }
    DenseRow row(std::int64_t i) const { return {values_ + i * n_features, n_features}; }
};

// CSR: row i has the columns index[start[i] ... start[i + 1] - 1], in any order. Duplicate columns
// do not affect sums of products, but norms. There is one pair of index types for all callers,
// because every format is compiled into every kernel.
template <class Value>
struct Csr {
    const Value* values_;
    const std::int32_t* index_;
    const std::int64_t* start_;
    std::int64_t n_rows;
    std::int64_t n_features;

    struct CsrRow {
        const Value* x;
        const std::int32_t* j;
        std::int64_t n;

        std::int64_t size() const { return n; }
        std::int64_t index(std::int64_t k) const { return j[k]; }
        Value value(std::int64_t k) const { return x[k]; }
        template <class T>
        Line<T> weights(const T* w, std::int64_t k) const {
            return gather(w, j + k);
        }
        template <class T>
        Line<T> values(std::int64_t k) const {
            return Line<T>::load(x + k);
        }
        template <class T>
        Line<T> last_products(const T* w, std::int64_t k) const {
            return gather_products(w, j + k, x + k, static_cast<int>(n - k));
        }
        template <class T>
        bool only_zeros(std::int64_t) const {
            return false;  // stored values are used unchanged
        }
        template <class T>
        void prefetch_weights(const T* w, std::int64_t k, int width) const {
            __builtin_prefetch(w + static_cast<std::int64_t>(j[k]) * width);
        }
        void prefetch() const {
            prefetch_bytes(x, n * static_cast<std::int64_t>(sizeof(Value)));
            prefetch_bytes(j, n * static_cast<std::int64_t>(sizeof(*j)));
        }
    };

    std::int64_t n_values() const { return start_[n_rows] - start_[0]; }

    // Copies the given rows in order.
    template <class Index>
    void copy_rows(std::span<const std::int64_t> order, Value* values, Index* index,
                   Index* start) const {
        *start = 0;
        for (std::size_t t = 0; t < order.size(); ++t, ++start) {
            if (t + kRowsAhead < order.size()) row(order[t + kRowsAhead]).prefetch();
            const CsrRow from = row(order[t]);
            values = std::copy_n(from.x, from.n, values);
            index = std::copy_n(from.j, from.n, index);
            start[1] = start[0] + static_cast<Index>(from.n);
        }
    }

    CsrRow row(std::int64_t i) const {
        return {values_ + start_[i], index_ + start_[i], start_[i + 1] - start_[i]};
    }
};

// |x|^2 of a row without duplicate columns.
template <Row R>
double sum_of_squares(const R& row) {
    constexpr int P = kPerLine<double>;
    const std::int64_t n = row.size();
    Line<double> partial = Line<double>::zero();
    std::int64_t k = 0;
    for (; k + P <= n; k += P) {
        const auto x = row.template values<double>(k);
        partial += x * x;
    }
    double sum = partial.sum();
    for (; k < n; ++k) sum += static_cast<double>(row.value(k)) * static_cast<double>(row.value(k));
    return sum;
}

// A column and its value.
template <class T>
using Entry = std::pair<std::int64_t, T>;

// Sorts the entries of a row by column and adds duplicates in their order.
template <class T>
[[gnu::noinline]] void sum_repeats(std::vector<Entry<T>>& row) {
    std::stable_sort(row.begin(), row.end(),
                     [](const Entry<T>& a, const Entry<T>& b) { return a.first < b.first; });
    std::size_t kept = 0;
    for (std::size_t k = 0; k < row.size(); ++k)
        if (kept > 0 && row[kept - 1].first == row[k].first)
            row[kept - 1].second += row[k].second;
        else
            row[kept++] = row[k];
    row.resize(kept);
}

// |x|^2, with the values of duplicate columns added first.
template <Row R>
double squared_norm(const R& row) {
    double sum = 0;
    bool ascending = true;
    for (std::int64_t k = 0; k < row.size(); ++k) {
        const double x = row.value(k);
        sum += x * x;
        ascending &= k == 0 || row.index(k) > row.index(k - 1);
    }
    if (ascending) return sum;
    std::vector<Entry<double>> entries;
    for (std::int64_t k = 0; k < row.size(); ++k) entries.emplace_back(row.index(k), row.value(k));
    sum_repeats(entries);
    sum = 0;
    for (const auto& [column, x] : entries) sum += x * x;
    return sum;
}

// Mask of the rows with duplicate columns; empty if there are none.
template <class Value>
std::vector<bool> rows_that_repeat(const Dense<Value>&) {
    return {};
}

template <class Value>
std::vector<bool> rows_that_repeat(const Csr<Value>& rows) {
    std::vector<bool> repeat;
    std::vector<std::int64_t> last_row;  // + 1, of each column; empty if columns ascend
    std::vector<std::int64_t> sorted;
    const bool few = rows.n_values() < rows.n_features;
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        const auto row = rows.row(i);
        bool ascending = true, twice = false;
        for (std::int64_t k = 1; k < row.size(); ++k) ascending &= row.index(k) > row.index(k - 1);
        if (ascending) continue;
        if (few) {
            sorted.assign(row.j, row.j + row.size());
            std::sort(sorted.begin(), sorted.end());
            twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
        } else {
            last_row.resize(static_cast<std::size_t>(rows.n_features), 0);
            for (std::int64_t k = 0; k < row.size(); ++k)
                twice |=
                    std::exchange(last_row[static_cast<std::size_t>(row.index(k))], i + 1) == i + 1;
        }
        if (twice) repeat.resize(static_cast<std::size_t>(rows.n_rows), false), repeat[i] = true;
    }
    return repeat;
}

// Rows first ... first + n - 1.
template <class Value>
Dense<Value> some_rows(const Dense<Value>& x, std::int64_t first, std::int64_t n) {
    return {x.values_ + first * x.n_features, n, x.n_features};
}

template <class Value>
Csr<Value> some_rows(const Csr<Value>& x, std::int64_t first, std::int64_t n) {
    return {x.values_, x.index_, x.start_ + first, n, x.n_features};
}

// max |x|^2 over the chosen rows.
template <RowFormat F>
double largest_squared_norm(const F& rows, std::span<const std::int64_t> chosen) {
    double largest = 0;
    for (const std::int64_t i : chosen) largest = std::max(largest, squared_norm(rows.row(i)));
    return largest;
}

// max |x|^2 over all rows.
template <RowFormat F>
double largest_squared_norm(const F& rows) {
    double largest = 0;
    for (std::int64_t i = 0; i < rows.n_rows; ++i)
        largest = std::max(largest, squared_norm(rows.row(i)));
    return largest;
}

using AnyRows = std::variant<Dense<float>, Dense<double>, Csr<float>, Csr<double>>;

}  // namespace separable
