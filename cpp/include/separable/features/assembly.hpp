// Horizontal concatenation of encoded columns into a dense or CSR matrix.
//
// Given parts, each with its first output column: numbers (one output column), one-hot codes (one
// per code, or none) or CSR rows (a block). Parts are in ascending order and do not overlap.
// Returns the n x d matrix: CSR in two passes, the first counts the numbers of each row, the second
// writes them; numbers that are 0 are left out.
//
// Both passes iterate over blocks of rows and, within a block, over parts: short loops without a
// branch on the type of the part, over rows in the cache. Blocks can run in parallel, since the
// counts determine the position of each row: any number of threads gives the same bits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <variant>
#include <vector>

namespace separable {

// One number per row in column `at`.
struct NumberPart {
    const double* values;
    std::int64_t at;
};

// 1 in column `at` + places[code + 1]; -1 means no number; code -1 is a missing value.
struct OneHotPart {
    const std::int32_t* codes;
    const std::int32_t* places;
    std::int64_t at;
    bool always;  // whether every row has a number
};

// A CSR matrix with columns shifted by `at`.
struct CsrPart {
    const double* values;
    const std::int64_t* indices;
    const std::int64_t* indptr;
    std::int64_t at;
};

using Part = std::variant<NumberPart, OneHotPart, CsrPart>;

inline constexpr std::int64_t kAssemblyBlock = 1024;

// Calls work(first, last) for all blocks of rows, on several threads; the calling thread polls.
inline void for_blocks(std::int64_t n_rows, int n_threads, const std::function<void()>& poll,
                       const std::function<void(std::int64_t, std::int64_t)>& work) {
    std::atomic<std::int64_t> next{0};
    const auto run = [&](bool asks) {
        for (std::int64_t done = 1;; ++done) {
            const std::int64_t first = next.fetch_add(kAssemblyBlock);
            if (first >= n_rows) return;
            work(first, std::min(first + kAssemblyBlock, n_rows));
            if (asks && done % 256 == 0) {
                try {
                    poll();
                } catch (...) {
                    next = n_rows;  // the others stop too
                    throw;
                }
            }
        }
    };
    std::vector<std::jthread> others;  // joined on destruction, also if poll throws
    for (int t = 1; t < n_threads; ++t) others.emplace_back([&run] { run(false); });
    run(true);
}

// counts[i - first] += number of non-zeros of a part in row i.
inline void count_part(const NumberPart& part, std::int64_t first, std::int64_t last,
                       std::int64_t* counts) {
    for (std::int64_t i = first; i < last; ++i) counts[i - first] += part.values[i] != 0;
}
inline void count_part(const OneHotPart& part, std::int64_t first, std::int64_t last,
                       std::int64_t* counts) {
    for (std::int64_t i = first; i < last; ++i)
        counts[i - first] += part.always || part.places[part.codes[i] + 1] >= 0;
}
inline void count_part(const CsrPart& part, std::int64_t first, std::int64_t last,
                       std::int64_t* counts) {
    for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t k = part.indptr[i]; k < part.indptr[i + 1]; ++k)
            counts[i - first] += part.values[k] != 0;
}

// Writes the n + 1 row starts; returns the number of non-zeros.
inline std::int64_t count_numbers(const std::vector<Part>& parts, std::int64_t n_rows,
                                  int n_threads, const std::function<void()>& poll,
                                  std::int64_t* starts) {
    starts[0] = 0;
    for_blocks(n_rows, n_threads, poll, [&](std::int64_t first, std::int64_t last) {
        std::fill(starts + 1 + first, starts + 1 + last, 0);
        for (const Part& part : parts)
            std::visit([&](const auto& p) { count_part(p, first, last, starts + 1 + first); },
                       part);
    });
    for (std::int64_t i = 0; i < n_rows; ++i) starts[i + 1] += starts[i];
    return starts[n_rows];
}

// Position of the next number of each row of a block.
template <class Index>
struct Cursor {
    double* values;
    Index* indices;
    std::int64_t* next;

    void write(std::int64_t row, double value, std::int64_t place) const {
        const std::int64_t k = next[row];
        values[k] = value, indices[k] = static_cast<Index>(place);
        next[row] = k + 1;
    }
};

template <class Index>
void fill_part(const NumberPart& part, std::int64_t first, std::int64_t last,
               const Cursor<Index>& to) {
    for (std::int64_t i = first; i < last; ++i)
        if (part.values[i] != 0) to.write(i - first, part.values[i], part.at);
}
template <class Index>
void fill_part(const OneHotPart& part, std::int64_t first, std::int64_t last,
               const Cursor<Index>& to) {
    for (std::int64_t i = first; i < last; ++i) {
        const std::int32_t place = part.places[part.codes[i] + 1];
        if (place >= 0) to.write(i - first, 1.0, part.at + place);
    }
}
template <class Index>
void fill_part(const CsrPart& part, std::int64_t first, std::int64_t last,
               const Cursor<Index>& to) {
    for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t k = part.indptr[i]; k < part.indptr[i + 1]; ++k)
            if (part.values[k] != 0) to.write(i - first, part.values[k], part.at + part.indices[k]);
}

// Writes values and columns at `starts`.
template <class Index>
void fill_csr(const std::vector<Part>& parts, std::int64_t n_rows, int n_threads,
              const std::function<void()>& poll, const std::int64_t* starts, double* values,
              Index* indices) {
    for_blocks(n_rows, n_threads, poll, [&](std::int64_t first, std::int64_t last) {
        std::int64_t next[kAssemblyBlock];
        std::copy(starts + first, starts + last, next);
        for (const Part& part : parts)
            std::visit(
                [&](const auto& p) {
                    fill_part(p, first, last, Cursor<Index>{values, indices, next});
                },
                part);
    });
}

inline void fill_dense_part(const NumberPart& part, std::int64_t first, std::int64_t last,
                            std::int64_t width, double* out) {
    for (std::int64_t i = first; i < last; ++i) out[i * width + part.at] = part.values[i];
}
inline void fill_dense_part(const OneHotPart& part, std::int64_t first, std::int64_t last,
                            std::int64_t width, double* out) {
    for (std::int64_t i = first; i < last; ++i) {
        const std::int32_t place = part.places[part.codes[i] + 1];
        if (place >= 0) out[i * width + part.at + place] = 1.0;
    }
}
inline void fill_dense_part(const CsrPart& part, std::int64_t first, std::int64_t last,
                            std::int64_t width, double* out) {
    for (std::int64_t i = first; i < last; ++i)
        for (std::int64_t k = part.indptr[i]; k < part.indptr[i + 1]; ++k)
            out[i * width + part.at + part.indices[k]] += part.values[k];
}

// Writes the matrix in C order, overwriting `out`.
inline void fill_dense(const std::vector<Part>& parts, std::int64_t n_rows, std::int64_t width,
                       int n_threads, const std::function<void()>& poll, double* out) {
    for_blocks(n_rows, n_threads, poll, [&](std::int64_t first, std::int64_t last) {
        std::fill(out + first * width, out + last * width, 0.0);
        for (const Part& part : parts)
            std::visit([&](const auto& p) { fill_dense_part(p, first, last, width, out); }, part);
    });
}

}  // namespace separable
