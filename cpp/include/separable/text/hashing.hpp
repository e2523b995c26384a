// Hashing: terms to columns without a vocabulary, and the names that fell into each column.
//
// Problem   x_j = sum of the signs of the terms whose hash is column j.
// Given     tokens; the range of n; the number of columns.
// Returns   signed counts by column, as scikit-learn's FeatureHasher.
// Steps     1. h = MurmurHash3 of the term's UTF-8 with seed 0, as a signed number of 32 bits;
//           2. the column is |h| mod n, the sign that of h.
// Source    Weinberger et al., "Feature hashing for large scale multitask learning", 2009.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include "separable/text/grams.hpp"
#include "separable/text/scanner.hpp"
#include "separable/text/text_rows.hpp"

namespace separable::text {

// MurmurHash3_x86_32 (Austin Appleby, public domain), seed 0. 4 bytes must be readable at the end
// of the text.
inline std::int32_t murmur3(std::string_view padded) {
    constexpr std::uint32_t kFirst = 0xCC9E2D51, kSecond = 0x1B873593;
    const auto scramble = [](std::uint32_t k) { return std::rotl(k * kFirst, 15) * kSecond; };
    // little-endian on every machine
    const auto load = [](const char* p) {
        std::uint32_t x;
        std::memcpy(&x, p, 4);
        if constexpr (std::endian::native == std::endian::big) x = __builtin_bswap32(x);
        return x;
    };
    std::uint32_t h = 0;
    const char* p = padded.data();
    std::size_t left = padded.size();
    for (; left >= 4; left -= 4, p += 4) h = std::rotl(h ^ scramble(load(p)), 13) * 5 + 0xE6546B64;
    h ^= scramble(load(p) & ((std::uint32_t{1} << 8 * left) - 1));
    h ^= static_cast<std::uint32_t>(padded.size());
    h = (h ^ h >> 16) * 0x85EBCA6B;
    h = (h ^ h >> 13) * 0xC2B2AE35;
    return static_cast<std::int32_t>(h ^ h >> 16);
}

struct HashedColumns {
    std::uint32_t n;
    bool alternate_sign;

    std::uint32_t column(std::int32_t h) const {
        const auto bits = static_cast<std::uint32_t>(h);
        const std::uint32_t size = h < 0 ? 0 - bits : bits;  // of -2^31, too
        return std::has_single_bit(n) ? size & (n - 1) : size % n;
    }
    Count operator()(std::string_view term) const {
        const std::int32_t h = murmur3(term);
        const std::int32_t sign = alternate_sign && h < 0 ? -1 : 1;
        return {column(h), static_cast<std::uint32_t>(sign)};
    }
};

// A bounded sample of the names seen: those with the smallest hashes, whatever their order (a
// bottom-k sketch). So two samples merge exactly, and the largest kept hash estimates the number of
// distinct names.
class Names {
   public:
    explicit Names(std::size_t room) : room_(std::max<std::size_t>(room, 1)) {}

    // 8 bytes must be readable from the start.
    void add(std::string_view padded) {
        const std::uint64_t tag = tag_of(padded.data(), padded.size());
        if (rank(tag) > limit_) return;
        names_.add_token(padded, tag);
        if (names_.size() > 2 * room_) prune();
    }
    void merge(const Names& other) {
        std::vector<char> padded;
        for (std::uint32_t i = 0; i < other.names_.size(); ++i) {
            const std::string_view name = other.names_.token(i);
            padded.assign(name.begin(), name.end());
            padded.resize(name.size() + 8);
            add({padded.data(), name.size()});
        }
        limit_ = std::min(limit_, other.limit_);
        prune();
    }
    // Drops names beyond the capacity.
    void prune() {
        std::vector<std::uint64_t> ranks(names_.size());
        std::vector<char> padded;
        const auto padded_name = [&](std::uint32_t i) -> std::string_view {
            const std::string_view name = names_.token(i);
            padded.assign(name.begin(), name.end());
            padded.resize(name.size() + 8);
            return {padded.data(), name.size()};
        };
        for (std::uint32_t i = 0; i < ranks.size(); ++i) {
            const std::string_view name = padded_name(i);
            ranks[i] = rank(tag_of(name.data(), name.size()));
        }
        if (ranks.size() > room_) {
            std::vector<std::uint64_t> sorted = ranks;
            const auto last = sorted.begin() + static_cast<std::ptrdiff_t>(room_ - 1);
            std::nth_element(sorted.begin(), last, sorted.end());
            limit_ = std::min(limit_, *last);
        }
        if (std::none_of(ranks.begin(), ranks.end(), [&](auto r) { return r > limit_; })) return;
        Grams kept;
        for (std::uint32_t i = 0; i < ranks.size(); ++i)
            if (ranks[i] <= limit_) kept.add_token(padded_name(i));
        names_ = std::move(kept);
    }

    std::size_t size() const { return names_.size(); }
    std::string_view operator[](std::uint32_t i) const { return names_.token(i); }
    bool complete() const { return limit_ == kAll; }
    // Largest hash that is kept; set it only on an empty sample.
    std::uint64_t limit() const { return limit_; }
    void set_limit(std::uint64_t limit) { limit_ = limit; }
    // Number of distinct names: exact while all are kept, else estimated.
    double estimate() const {
        if (complete()) return static_cast<double>(size());
        return static_cast<double>(size()) * (18446744073709551616.0 / static_cast<double>(limit_));
    }

   private:
    static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max();
    static std::uint64_t rank(std::uint64_t tag) { return fold(fold(fold(tag))); }

    std::size_t room_;
    std::uint64_t limit_ = kAll;
    Grams names_;
};

// Calls visit(term) for every term of a scanned and joined document.
template <class Visit>
void for_terms(const Scanner& scanner, GramRange range, Visit visit) {
    const std::size_t n_tokens = scanner.tokens().size();
    const bool bounded = scanner.bounded();
    for (std::uint32_t n = 1; n <= range.max_n && n <= n_tokens; ++n) {
        for (std::size_t i = 0; i + n <= n_tokens; ++i) {
            if (bounded && i + n > scanner.segment_stop(i)) continue;
            const bool whole = bounded && i + n == scanner.segment_stop(i) &&
                               (i == 0 || scanner.segment_stop(i - 1) == i);
            if (n >= range.min_n || whole) visit(scanner.gram(i, n));
        }
    }
}

}  // namespace separable::text
