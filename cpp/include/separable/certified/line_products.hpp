// Products of rows with weights that are several whole lines a feature: w[feature][line][lane].
//
// The k-th non-zero of a row is added to partial sum k mod 4, in every line: what a lane has does
// not depend on how many lines there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

template <class T>
class LineProducts {
   public:
    virtual ~LineProducts() = default;

    // out = w.x_i
    virtual void dot(std::int64_t i, const T* w, T* out) const = 0;
    // w += step x_i
    virtual void add(std::int64_t i, const T* step, T* w) const = 0;
    // Start fetching what rows to come will need: all of row `far`, the first weights of `near`.
    virtual void prefetch(std::int64_t far, std::int64_t near, const T* w) const = 0;

    std::int64_t n_rows = 0;
    std::int64_t n_values = 0;  // stored numbers in all rows
    int lines = 1;
};

template <class T, RowFormat Format>
class LineProductsOf final : public LineProducts<T> {
   public:
    LineProductsOf(const Format& rows, int lines) : rows_(rows) {
        this->n_rows = rows.n_rows;
        this->n_values = rows.n_values();
        this->lines = lines;
    }

    void dot(std::int64_t i, const T* w, T* out) const override {
        const auto row = rows_.row(i);
        in_chunks([&]<int N>(int first) { dot_chunk<N>(row, w + first * P, out + first * P); });
    }

    void add(std::int64_t i, const T* step, T* w) const override {
        const auto row = rows_.row(i);
        in_chunks([&]<int N>(int first) { add_chunk<N>(row, step + first * P, w + first * P); });
    }

    void prefetch(std::int64_t far, std::int64_t near, const T* w) const override {
        rows_.row(far).prefetch();
        const auto row = rows_.row(near);
        const std::int64_t ahead = std::min<std::int64_t>(row.size(), kAhead);
        for (std::int64_t k = 0; k < ahead; ++k)
            for (int line = 0; line < std::min(this->lines, kLines); ++line)
                row.prefetch_weights(w + line * P, k, width());
    }

   private:
    static constexpr int P = kPerLine<T>;
    static constexpr int kSums = 4, kLines = 4;
    static constexpr int kAhead = 16;  // non-zeros between a prefetch and its use

    int width() const { return this->lines * P; }

    // Calls run<lines>(first line) for at most kLines lines at a time.
    template <class Run>
    void in_chunks(Run run) const {
        int first = 0;
        for (; this->lines - first > kLines; first += kLines)
            run.template operator()<kLines>(first);
        switch (this->lines - first) {
            case 1:
                return run.template operator()<1>(first);
            case 2:
                return run.template operator()<2>(first);
            case 3:
                return run.template operator()<3>(first);
            default:
                return run.template operator()<4>(first);
        }
    }

    template <int N, class Row>
    void dot_chunk(const Row& row, const T* w, T* out) const {
        Line<T> partial[kSums][N];
        for (auto& sum : partial)
            for (int line = 0; line < N; ++line) sum[line] = Line<T>::zero();
        const std::int64_t n = row.size(), stride = width();
        const auto take = [&](std::int64_t k, int sum) {
            const T* weights = w + row.index(k) * stride;
            const auto x = Line<T>::broadcast(static_cast<T>(row.value(k)));
#pragma GCC unroll 4
            for (int line = 0; line < N; ++line)
                partial[sum][line] += Line<T>::load(weights + line * P) * x;
        };
        std::int64_t k = 0;
        for (; k + P <= n; k += P) {
            if (row.template only_zeros<T>(k)) continue;
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p) {
                const std::int64_t ahead = std::min(k + p + kAhead, n - 1);
                for (int line = 0; line < N; ++line)
                    row.prefetch_weights(w + line * P, ahead, static_cast<int>(stride));
                take(k + p, p % kSums);
            }
        }
        for (int p = 0; k + p < n; ++p) take(k + p, p % kSums);
        for (int line = 0; line < N; ++line)
            ((partial[0][line] + partial[2][line]) + (partial[1][line] + partial[3][line]))
                .store(out + line * P);
    }

    template <int N, class Row>
    void add_chunk(const Row& row, const T* step, T* w) const {
        Line<T> steps[N];
        for (int line = 0; line < N; ++line) steps[line] = Line<T>::load(step + line * P);
        const std::int64_t n = row.size(), stride = width();
        const auto take = [&](std::int64_t k) {
            T* weights = w + row.index(k) * stride;
            const auto x = Line<T>::broadcast(static_cast<T>(row.value(k)));
#pragma GCC unroll 4
            for (int line = 0; line < N; ++line)
                (Line<T>::load(weights + line * P) + steps[line] * x).store(weights + line * P);
        };
        std::int64_t k = 0;
        for (; k + P <= n; k += P) {
            if (row.template only_zeros<T>(k)) continue;
            for (int p = 0; p < P; ++p) take(k + p);
        }
        for (; k < n; ++k) take(k);
    }

    Format rows_;
};

// Weights have the type of the data, or are wider.
template <class T>
std::unique_ptr<LineProducts<T>> make_line_products(const AnyRows& any, int lines) {
    return std::visit(
        [lines](const auto& rows) -> std::unique_ptr<LineProducts<T>> {
            using Format = std::decay_t<decltype(rows)>;
            using Value = decltype(rows.row(0).value(0));
            if constexpr (sizeof(Value) <= sizeof(T))
                return std::make_unique<LineProductsOf<T, Format>>(rows, lines);
            else
                throw std::invalid_argument("float64 rows need float64 weights");
        },
        any);
}

}  // namespace separable
