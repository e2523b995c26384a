// Distinct values of a column, numbered in order of first appearance.
//
// Given values v_1 ... v_n, returns codes c_i with c_i = c_j exactly when v_i = v_j, and for each
// code the index of its first appearance. Open addressing; a slot keeps the hash beside the code,
// so that values are compared only when the whole hash agrees.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "separable/data/text_hash.hpp"

namespace separable {

// Number of values between two polls.
inline constexpr std::int64_t kFactorizeBeat = 1 << 20;

// Codes by hash; the caller defines equality.
class CodeTable {
   public:
    CodeTable() : slots_(kStart), mask_(kStart - 1) {}

    // The code of a value with this hash; `same(code)` returns whether that code has the same
    // value. A new value gets the next code.
    template <class Same>
    std::int32_t code(std::uint64_t hash, const Same& same) {
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.code < 0) {
                slot = {hash, next_};
                if (static_cast<std::size_t>(next_) * 2 >= mask_) grow();
                if (next_ == std::numeric_limits<std::int32_t>::max())
                    throw std::length_error("too many different values in one column");
                return next_++;
            }
            if (slot.hash == hash && same(slot.code)) return slot.code;
        }
    }

    std::int32_t size() const { return next_; }

   private:
    struct Slot {
        std::uint64_t hash = 0;
        std::int32_t code = -1;
    };
    static constexpr std::size_t kStart = 256;

    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.code < 0) continue;
            std::size_t at = slot.hash & mask_;
            while (slots_[at].code >= 0) at = (at + 1) & mask_;
            slots_[at] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::size_t mask_;
    std::int32_t next_ = 0;
};

// Numbers as 64 bits, equal for equal values: -0 equals 0, and all NaN are equal.
inline std::uint64_t number_key(std::int64_t value) { return static_cast<std::uint64_t>(value); }
inline std::uint64_t number_key(double value) {
    if (std::isnan(value)) return 0x7ff8000000000000ULL;
    return std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
}

// Codes of integers in a short range, by direct addressing.
inline void factorize_range(std::span<const std::int64_t> values, std::int64_t least,
                            std::uint64_t range, std::int32_t* codes,
                            std::vector<std::int64_t>& firsts) {
    std::vector<std::int32_t> table(range + 1, -1);
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::int32_t& code =
            table[static_cast<std::uint64_t>(values[i]) - static_cast<std::uint64_t>(least)];
        if (code < 0) {
            code = static_cast<std::int32_t>(firsts.size());
            firsts.push_back(static_cast<std::int64_t>(i));
        }
        codes[i] = code;
    }
}

// Codes of numbers, int64 or double. Writes codes[i]; returns the first index of each code.
template <class T>
std::vector<std::int64_t> factorize_numbers(std::span<const T> values, std::int32_t* codes,
                                            const std::function<void()>& poll) {
    std::vector<std::int64_t> firsts;
    if constexpr (std::is_same_v<T, std::int64_t>) {
        if (values.empty()) return firsts;
        const auto [least, most] = std::minmax_element(values.begin(), values.end());
        const std::uint64_t range =
            static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least);
        if (range <= std::max<std::uint64_t>(1024, values.size() / 4) && range < (1U << 22)) {
            factorize_range(values, *least, range, codes, firsts);
            return firsts;
        }
    }
    CodeTable table;
    std::vector<std::uint64_t> keys;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % kFactorizeBeat == kFactorizeBeat - 1) poll();
        const std::uint64_t key = number_key(values[i]);
        const auto same = [&](std::int32_t c) { return keys[static_cast<std::size_t>(c)] == key; };
        codes[i] = table.code(mixed(key ^ 0x9e3779b97f4a7c15ULL, 0xe7037ed1a0b428dbULL), same);
        if (static_cast<std::size_t>(codes[i]) == keys.size()) {
            keys.push_back(key);
            firsts.push_back(static_cast<std::int64_t>(i));
        }
    }
    return firsts;
}

// Codes of concatenated texts: text i is data[offsets[i] ... offsets[i + 1]). With `valid`, a text
// whose bit (counted from `first_bit`) is 0 is missing: code -1.
template <class Offset>
std::vector<std::int64_t> factorize_texts(std::span<const Offset> offsets,
                                          std::span<const unsigned char> data,
                                          const unsigned char* valid, std::int64_t first_bit,
                                          std::int32_t* codes, const std::function<void()>& poll) {
    CodeTable table;
    std::vector<std::int64_t> firsts;
    const std::size_t n = offsets.empty() ? 0 : offsets.size() - 1;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % kFactorizeBeat == kFactorizeBeat - 1) poll();
        if (valid != nullptr) {
            const auto bit = static_cast<std::uint64_t>(first_bit) + i;
            if (!(valid[bit / 8] >> (bit % 8) & 1)) {
                codes[i] = -1;
                continue;
            }
        }
        const unsigned char* text = data.data() + offsets[i];
        const auto size = static_cast<std::size_t>(offsets[i + 1] - offsets[i]);
        const auto same = [&](std::int32_t c) {
            const auto at = static_cast<std::size_t>(firsts[static_cast<std::size_t>(c)]);
            return static_cast<std::size_t>(offsets[at + 1] - offsets[at]) == size &&
                   std::memcmp(data.data() + offsets[at], text, size) == 0;
        };
        codes[i] = table.code(hash_bytes(text, size), same);
        if (static_cast<std::size_t>(codes[i]) == firsts.size())
            firsts.push_back(static_cast<std::int64_t>(i));
    }
    return firsts;
}

}  // namespace separable
