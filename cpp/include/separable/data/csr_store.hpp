// Buffer of rows in CSR format between parsing and returning them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "separable/data/growable_array.hpp"

namespace separable {

// Returned rows; columns and row starts are in one of the two index types.
struct CsrArrays {
    bool wide = false;  // int64, else int32
    GrowableArray<double> values;
    GrowableArray<std::int32_t> index, start;
    GrowableArray<std::int64_t> wide_index, wide_start;
};

// Columns are int32 until one does not fit.
class CsrStore {
   public:
    std::int64_t n_rows() const { return static_cast<std::int64_t>(ends_.size()) - first_row_; }

    // Reserve capacity for more values and rows.
    void reserve(std::size_t n_values, std::size_t n_rows) {
        values_.reserve(values_.size() + n_values);
        if (wide_)
            wide_index_.reserve(values_.size() + n_values);
        else
            index_.reserve(values_.size() + n_values);
        ends_.reserve(ends_.size() + n_rows);
    }

    bool fits(std::int64_t largest_column) const {
        return wide_ || largest_column <= std::numeric_limits<std::int32_t>::max();
    }

    void widen() {
        if (std::exchange(wide_, true)) return;
        wide_index_.reserve(std::max(values_.size(), capacity()));
        std::copy_n(index_.data(), values_.size(), wide_index_.data());
        index_ = {};
    }

    // Appends rows that end at the given offsets of the next values; returns the position at
    // which `write` stores these.
    std::size_t join(std::span<const std::int64_t> ends) {
        const std::size_t place = values_.size();
        for (const std::int64_t end : ends) ends_.push(static_cast<std::int64_t>(place) + end);
        if (!ends.empty()) values_.set_size(place + static_cast<std::size_t>(ends.back()));
        return place;
    }

    // Capacity must be reserved. Columns are shifted by `shift`.
    void write(std::size_t place, const std::int64_t* column, const double* value, std::size_t n,
               std::int64_t shift) {
        std::copy_n(value, n, values_.data() + place);
        if (wide_)
            for (std::size_t k = 0; k < n; ++k) wide_index_.data()[place + k] = column[k] + shift;
        else
            for (std::size_t k = 0; k < n; ++k)
                index_.data()[place + k] = static_cast<std::int32_t>(column[k] + shift);
    }

    // Shifts the columns of all remaining rows.
    void shift_columns(std::int64_t by) {
        const auto begin = static_cast<std::size_t>(first_value());
        for (std::size_t k = begin; k < values_.size(); ++k)
            wide_ ? wide_index_.data()[k] += by : index_.data()[k] += static_cast<std::int32_t>(by);
    }

    // Returns and removes the first n rows; all rows are moved without a copy.
    CsrArrays take(std::int64_t n) {
        CsrArrays out;
        const std::int64_t begin = first_value(),
                           end = n == 0 ? begin : ends_.data()[first_row_ + n - 1];
        if (end - begin > std::numeric_limits<std::int32_t>::max()) widen();
        out.wide = wide_;
        out.wide ? starts(out.wide_start, n, begin) : starts(out.start, n, begin);
        if (n == n_rows() && first_row_ == 0) {
            index_.set_size(wide_ ? 0 : values_.size());
            wide_index_.set_size(wide_ ? values_.size() : 0);
            out.values = std::exchange(values_, {});
            out.index = std::exchange(index_, {});
            out.wide_index = std::exchange(wide_index_, {});
            ends_ = {};
            return out;
        }
        const auto size = static_cast<std::size_t>(end - begin);
        out.values.append(values_.data() + begin, size);
        wide_ ? out.wide_index.append(wide_index_.data() + begin, size)
              : out.index.append(index_.data() + begin, size);
        first_row_ += n;
        drop_taken();
        return out;
    }

   private:
    bool wide_ = false;
    GrowableArray<double> values_;
    GrowableArray<std::int32_t> index_;
    GrowableArray<std::int64_t> wide_index_;
    GrowableArray<std::int64_t> ends_;
    std::int64_t first_row_ = 0;  // first row not yet returned

    std::size_t capacity() const { return values_.capacity(); }
    std::int64_t first_value() const { return first_row_ == 0 ? 0 : ends_.data()[first_row_ - 1]; }

    // Frees the memory of returned rows once it exceeds that of the remaining ones. So a stream
    // read in parts needs at most twice the memory, and each value is moved once on average.
    void drop_taken() {
        const std::int64_t rows = first_row_, begin = first_value();
        const auto left = values_.size() - static_cast<std::size_t>(begin);
        if (rows < n_rows() || static_cast<std::size_t>(begin) < left) return;
        values_.drop_front(static_cast<std::size_t>(begin));
        if (wide_)
            std::copy_n(wide_index_.data() + begin, left, wide_index_.data());
        else
            std::copy_n(index_.data() + begin, left, index_.data());
        ends_.drop_front(static_cast<std::size_t>(rows));
        for (std::int64_t& end : ends_.span()) end -= begin;
        first_row_ = 0;
    }

    template <class Index>
    void starts(GrowableArray<Index>& out, std::int64_t n, std::int64_t begin) const {
        out.reserve(static_cast<std::size_t>(n) + 1);
        out.data()[0] = 0;
        for (std::int64_t i = 0; i < n; ++i)
            out.data()[i + 1] = static_cast<Index>(ends_.data()[first_row_ + i] - begin);
        out.set_size(static_cast<std::size_t>(n) + 1);
    }
};

// One number per row.
template <class T>
class RowNumbers {
   public:
    void append(const T* from, std::size_t n) { numbers_.append(from, n); }
    // Fills in a number for earlier rows without one.
    void fill_to(std::size_t n, T value) { numbers_.fill_to(first_ + n, value); }

    GrowableArray<T> take(std::size_t n) {
        if (first_ == 0 && n == numbers_.size()) return std::exchange(numbers_, {});
        GrowableArray<T> out;
        out.append(numbers_.data() + first_, n);
        first_ += n;
        if (2 * first_ >= numbers_.size()) numbers_.drop_front(std::exchange(first_, 0));
        return out;
    }

   private:
    GrowableArray<T> numbers_;
    std::size_t first_ = 0;  // first number not yet returned
};

// Concatenated texts; text i ends at ends[i].
struct Texts {
    GrowableArray<char> bytes;
    GrowableArray<std::int64_t> ends;

    void push(std::string_view text) {
        bytes.append(text.data(), text.size());
        ends.push(static_cast<std::int64_t>(bytes.size()));
    }
    std::size_t size() const { return ends.size(); }
    std::string_view operator[](std::size_t i) const {
        const std::int64_t begin = i == 0 ? 0 : ends.data()[i - 1];
        return {bytes.data() + begin, static_cast<std::size_t>(ends.data()[i] - begin)};
    }
    void clear() { bytes.clear(), ends.clear(); }
    void cut(std::size_t n) {
        if (n >= size()) return;
        bytes.set_size(n == 0 ? 0 : static_cast<std::size_t>(ends.data()[n - 1]));
        ends.set_size(n);
    }
    void drop_front(std::size_t n) {
        const std::int64_t begin = n == 0 ? 0 : ends.data()[n - 1];
        bytes.drop_front(static_cast<std::size_t>(begin));
        ends.drop_front(n);
        for (std::int64_t& end : ends.span()) end -= begin;
    }
    void append(const Texts& more) {
        const auto base = static_cast<std::int64_t>(bytes.size());
        bytes.append(more.bytes.data(), more.bytes.size());
        ends.reserve(ends.size() + more.size());
        for (std::size_t i = 0; i < more.size(); ++i) ends.push(base + more.ends.data()[i]);
    }
};

// One text per row.
class RowTexts {
   public:
    void append(const Texts& more) { texts_.append(more); }

    Texts take(std::size_t n) {
        if (first_ == 0 && n == texts_.size()) return std::exchange(texts_, {});
        Texts out;
        for (std::size_t i = first_; i < first_ + n; ++i) out.push(texts_[i]);
        first_ += n;
        if (2 * first_ >= texts_.size()) texts_.drop_front(std::exchange(first_, 0));
        return out;
    }

   private:
    Texts texts_;
    std::size_t first_ = 0;
};

}  // namespace separable
