// TextRows: the counts of documents, by n-gram or by column, and their conversion to CSR.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "separable/text/counter.hpp"
#include "separable/text/vocabulary.hpp"
#include "separable/text/weighting.hpp"

namespace separable::text {

// Sorts counts by column: short lists by comparison, longer ones by radix.
class RowSorter {
   public:
    explicit RowSorter(std::size_t n_columns) {
        const int bits = std::max(1, static_cast<int>(std::bit_width(n_columns - (n_columns > 0))));
        n_digits_ = (bits + kMostBits - 1) / kMostBits;
        digit_bits_ = (bits + n_digits_ - 1) / n_digits_;
    }

    void sort(std::vector<Count>& row) {
        if (row.size() < 48)
            std::sort(row.begin(), row.end(),
                      [](const Count& a, const Count& b) { return a.id < b.id; });
        else
            sort_digits(row);
    }

    // Sorts counts and adds those of the same column.
    void sort_and_add(std::vector<Count>& row) {
        sort(row);
        std::size_t n = 0;
        for (std::size_t i = 0; i < row.size(); ++i) {
            if (n > 0 && row[n - 1].id == row[i].id)
                row[n - 1].count += row[i].count;
            else
                row[n++] = row[i];
        }
        row.resize(n);
    }

   private:
    static constexpr int kMostBits = 8;

    void sort_digits(std::vector<Count>& row) {
        spare_.resize(row.size());
        const std::uint32_t n_bins = std::uint32_t{1} << digit_bits_;
        for (int d = 0; d < n_digits_; ++d) {
            const auto bin = [shift = d * digit_bits_, mask = n_bins - 1](const Count& count) {
                return count.id >> shift & mask;
            };
            std::fill_n(starts_, n_bins, 0);
            for (const Count& count : row) ++starts_[bin(count)];
            std::uint32_t sum = 0;
            for (std::uint32_t b = 0; b < n_bins; ++b) sum += std::exchange(starts_[b], sum);
            for (const Count& count : row) spare_[starts_[bin(count)]++] = count;
            row.swap(spare_);
        }
    }

    int n_digits_, digit_bits_;
    std::vector<Count> spare_;
    std::uint32_t starts_[1 << kMostBits];
};

// The rows of one block of documents; `ids`, if given, maps grams to other numbers.
struct RowBlock {
    CountedRows rows;
    std::vector<std::uint32_t> ids;

    // Whether every number of a gram is below n, before and after `ids`.
    bool fits(std::size_t n) const {
        bool ok = true;
        rows.visit([&](std::size_t, const Count* counts, std::size_t length) {
            for (std::size_t k = 0; k < length; ++k)
                ok = ok && counts[k].id < (ids.empty() ? n : ids.size());
        });
        return ok && std::all_of(ids.begin(), ids.end(), [&](std::uint32_t id) { return id < n; });
    }
};

using TextRows = std::vector<RowBlock>;

inline std::int64_t n_rows_of(const TextRows& blocks) {
    std::int64_t n = 0;
    for (const RowBlock& block : blocks) n += static_cast<std::int64_t>(block.rows.n_rows());
    return n;
}

// Maps grams to columns of a vocabulary; other grams are dropped.
inline void to_columns(RowBlock& block, const Vocabulary& vocabulary) {
    CountedRows made;
    std::vector<Count> row;
    RowSorter sorter(vocabulary.size());
    block.rows.consume([&](std::size_t i, const Count* counts) {
        row.clear();
        for (std::size_t k = 0; k < block.rows.length(i); ++k) {
            const std::uint32_t id = block.ids.empty() ? counts[k].id : block.ids[counts[k].id];
            const std::uint32_t column = vocabulary.column(id);
            if (column != kNone) row.push_back({column, counts[k].count});
        }
        sorter.sort(row);
        made.add(row);
    });
    block.rows = std::move(made);
    std::vector<std::uint32_t>().swap(block.ids);
}

// Writes counts by column as values, indices and row ends, from row `first` on.
template <class T>
void write_rows(RowBlock& block, const Weighting<T>& weigh, T* values, std::int32_t* indices,
                std::int64_t* indptr) {
    std::int64_t at = indptr[0];
    block.rows.consume([&](std::size_t i, const Count* counts) {
        const std::size_t n = block.rows.length(i);
        weigh(counts, n, values + at);
        for (std::size_t k = 0; k < n; ++k)
            indices[at + static_cast<std::int64_t>(k)] = static_cast<std::int32_t>(counts[k].id);
        at += static_cast<std::int64_t>(n);
        indptr[i + 1] = at;
    });
}

// Counts the documents of each column.
inline void add_frequencies(TextRows& blocks, std::int64_t* df) {
    for (RowBlock& block : blocks)
        block.rows.visit([&](std::size_t, const Count* counts, std::size_t n) {
            for (std::size_t k = 0; k < n; ++k) ++df[counts[k].id];
        });
}

}  // namespace separable::text
