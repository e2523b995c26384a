// Loops over non-zeros, behind one virtual call per row. Only these are compiled for each row
// format and lane type; learners are templates of the lane type alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// Non-zero values of a row, each column once. The last column is followed by kAhead valid columns,
// so that a reader may prefetch for index[k + kAhead].
template <class T>
struct NonZeros {
    static constexpr std::size_t kAhead = 24;

    std::vector<std::int64_t> index;
    std::vector<T> value;
    std::size_t size = 0;

    void make_room(std::size_t n) {
        if (value.size() < n) index.resize(2 * n + kAhead), value.resize(2 * n);
    }
};

template <class T>
void add_up_columns(NonZeros<T>& row) {
    std::vector<Entry<T>> entries;
    for (std::size_t k = 0; k < row.size; ++k) entries.emplace_back(row.index[k], row.value[k]);
    sum_repeats(entries);
    row.size = 0;
    for (const auto& [j, x] : entries) {
        row.index[row.size] = j, row.value[row.size] = x;
        row.size += x != T(0);
    }
}

// Writes the non-zero values of a row; values of duplicate columns are added.
template <Row R, class T>
void write_non_zeros(const R& row, bool repeats, NonZeros<T>& out) {
    const std::int64_t n = row.size();
    out.make_room(static_cast<std::size_t>(n));
    constexpr int P = kPerLine<T>;
    std::int64_t* index = out.index.data();
    T* value = out.value.data();
    std::size_t kept = 0;
    const auto keep = [&](std::int64_t k) {
        index[kept] = row.index(k), value[kept] = static_cast<T>(row.value(k));
        ++kept;
    };
    std::int64_t k = 0;
    for (; k + P <= n; k += P) {
        const Line<T> values = row.template values<T>(k);
        std::uint32_t left = values.non_zeros();
        if (left == (1u << P) - 1) {
            values.store(value + kept);
            for (int p = 0; p < P; ++p) index[kept + p] = row.index(k + p);
            kept += P;
            continue;
        }
        for (; left != 0; left &= left - 1) keep(k + std::countr_zero(left));
    }
    for (; k < n; ++k)
        if (row.value(k) != 0) keep(k);
    out.size = kept;
    if (repeats) add_up_columns(out);
    if (out.size > 0) std::fill_n(index + out.size, NonZeros<T>::kAhead, index[out.size - 1]);
}

template <class Lane>
class Products {
   public:
    using T = typename Lane::T;
    using Score = typename Lane::Score;

    virtual ~Products() = default;

    // w.x_i in every lane
    virtual Score dot(std::int64_t i, const T* w) const = 0;
    // w += step x_i
    virtual void add(std::int64_t i, const Score& step, T* w) const = 0;
    // w += step x_i and u += time (change of w)
    virtual void add_timed(std::int64_t i, const Score& step, const double* time, T* w,
                           double* u) const = 0;
    // applies the outstanding l1 penalty to the weights of the non-zeros, see shrink_weights; with
    // u its changes at this time are kept
    virtual void shrink(std::int64_t i, double due, double* q, T* w, double* u,
                        double time) const = 0;
    // the non-zero values of x_i
    virtual void non_zeros(std::int64_t i, NonZeros<T>& out) const = 0;
    // sum += step x_i in float64 for any weight type; one step per lane
    virtual void accumulate(std::int64_t i, const double* step, double* sum) const = 0;
    // w_j = 0 for the features of x_i
    virtual void clear(std::int64_t i, T* w) const = 0;
    // |x_i|^2
    virtual double squared_norm(std::int64_t i) const = 0;
    // Prefetch for later rows: all of row `far`, the first weights of row `near`.
    virtual void prefetch(std::int64_t far, std::int64_t near, const T* w) const = 0;

    std::int64_t n_rows = 0;
    std::int64_t n_features = 0;
    std::int64_t n_values = 0;  // stored numbers in all rows

    // Approximate bytes of a row: a value and a column of 4 bytes each.
    std::int64_t row_bytes() const { return 8 * n_values / std::max<std::int64_t>(1, n_rows); }
};

template <class Lane, RowFormat Format>
class ProductsOf final : public Products<Lane> {
   public:
    using typename Products<Lane>::T;
    using typename Products<Lane>::Score;

    ProductsOf(const Format& rows, const std::vector<bool>* repeats)
        : rows_(rows), repeats_(repeats) {
        this->n_rows = rows.n_rows;
        this->n_features = rows.n_features;
        this->n_values = rows.n_values();
    }

    Score dot(std::int64_t i, const T* w) const override { return Lane::dot(rows_.row(i), w); }

    void add(std::int64_t i, const Score& step, T* w) const override {
        Lane::add(rows_.row(i), step, w);
    }

    void add_timed(std::int64_t i, const Score& step, const double* time, T* w,
                   double* u) const override {
        Lane::add_timed(rows_.row(i), step, time, w, u);
    }

    void shrink(std::int64_t i, double due, double* q, T* w, double* u,
                double time) const override {
        Lane::shrink(rows_.row(i), due, q, w, u, time);
    }

    void non_zeros(std::int64_t i, NonZeros<T>& out) const override {
        const auto row = static_cast<std::size_t>(i);
        write_non_zeros(rows_.row(i), repeats_ && !repeats_->empty() && (*repeats_)[row], out);
    }

    void accumulate(std::int64_t i, const double* step, double* sum) const override {
        Lane::accumulate(rows_.row(i), step, sum);
    }

    void clear(std::int64_t i, T* w) const override { Lane::clear(rows_.row(i), w); }

    double squared_norm(std::int64_t i) const override {
        return separable::squared_norm(rows_.row(i));
    }

    void prefetch(std::int64_t far, std::int64_t near, const T* w) const override {
        rows_.row(far).prefetch();
        Lane::prefetch(rows_.row(near), w);
    }

   private:
    Format rows_;
    const std::vector<bool>* repeats_;
};

// Weights have the type of the data, or are wider (float64 on float32, to check float32).
// `repeats`: mask of rows with duplicate columns, for non_zeros(); empty if there are none.
template <class Lane>
std::unique_ptr<Products<Lane>> make_products(const AnyRows& any,
                                              const std::vector<bool>* repeats = nullptr) {
    return std::visit(
        [repeats](const auto& rows) -> std::unique_ptr<Products<Lane>> {
            using Format = std::decay_t<decltype(rows)>;
            using Value = decltype(rows.row(0).value(0));
            if constexpr (sizeof(Value) <= sizeof(typename Lane::T))
                return std::make_unique<ProductsOf<Lane, Format>>(rows, repeats);
            else
                throw std::invalid_argument("float64 rows need float64 weights");
        },
        any);
}

// Four lane types x four formats: compiled once, in bindings/products.cpp.
extern template std::unique_ptr<Products<Single<float>>> make_products<Single<float>>(
    const AnyRows&, const std::vector<bool>*);
extern template std::unique_ptr<Products<Single<double>>> make_products<Single<double>>(
    const AnyRows&, const std::vector<bool>*);
extern template std::unique_ptr<Products<Lanes<float>>> make_products<Lanes<float>>(
    const AnyRows&, const std::vector<bool>*);
extern template std::unique_ptr<Products<Lanes<double>>> make_products<Lanes<double>>(
    const AnyRows&, const std::vector<bool>*);

}  // namespace separable
