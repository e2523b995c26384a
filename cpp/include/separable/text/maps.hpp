// Two open-addressing maps: from bytes to a number, and from a pair of numbers to a number.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "separable/math/large_pages.hpp"

namespace separable::text {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

// The upper bits of the result depend on all of x.
inline std::uint64_t mix(std::uint64_t x) { return (x ^ x >> 32) * 0x9E3779B97F4A7C15u; }

inline std::uint64_t fold(std::uint64_t x) {
    x = mix(x);
    return x ^ x >> 29;
}

// Linear probing by the upper bits of a hash, so that growing keeps the order of slots.
struct Slot {
    std::uint64_t key = 0;
    std::uint32_t id = kNone;  // kNone: the slot is free
    std::uint32_t place = 0;   // position in the current document, or the column
};

class Table {
   public:
    Table() : slots_(std::size_t{1} << (64 - shift_)) {}

    std::size_t size() const { return size_; }
    std::size_t first(std::uint64_t hash) const { return hash >> shift_; }
    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
    Slot& operator[](std::size_t at) { return slots_[at]; }
    const Slot& operator[](std::size_t at) const { return slots_[at]; }
    void prefetch(std::uint64_t hash) const { __builtin_prefetch(&slots_[first(hash)]); }

    // Whether the map must grow before the next insertion.
    bool full() const { return 4 * (size_ + 1) > 3 * slots_.size(); }
    void count() { ++size_; }

    template <class Visit>
    void each(Visit visit) {
        for (Slot& slot : slots_)
            if (slot.id != kNone) visit(slot);
    }

    template <class Hash>
    void grow(Hash hash) {
        std::vector<Slot, LargePages<Slot>> old(slots_.size() * 2);
        old.swap(slots_);
        --shift_;
        for (const Slot& slot : old) {
            if (slot.id == kNone) continue;
            std::size_t at = first(hash(slot.key));
            while (slots_[at].id != kNone) at = next(at);
            slots_[at] = slot;
        }
    }

   private:
    int shift_ = 54;
    std::size_t size_ = 0;
    std::vector<Slot, LargePages<Slot>> slots_;
};

// Texts, by the number that `add` returns.
class Arena {
   public:
    std::string_view operator[](std::uint32_t at) const {
        const char* const p = bytes_.data() + std::size_t{at} * kUnit;
        std::uint32_t length;
        std::memcpy(&length, p, sizeof length);
        return {p + sizeof length, length};
    }
    std::uint32_t add(std::string_view text) {
        const std::size_t start = bytes_.size(), length = sizeof(std::uint32_t) + text.size();
        if (start / kUnit >= kNone || text.size() >= kNone)
            throw std::length_error("the words take more than 32 GB");
        const auto size = static_cast<std::uint32_t>(text.size());
        bytes_.resize(start + (length + kUnit - 1) / kUnit * kUnit);
        std::memcpy(bytes_.data() + start, &size, sizeof size);
        std::memcpy(bytes_.data() + start + sizeof size, text.data(), text.size());
        return static_cast<std::uint32_t>(start / kUnit);
    }

   private:
    static constexpr std::size_t kUnit = 8;
    std::vector<char> bytes_;
};

// Key of bytes in a slot: up to 7 bytes themselves; longer texts by their hash, to be confirmed by
// comparison. Reads 8 bytes at a time, so 8 bytes must be readable from the start.
inline std::uint64_t tag_of(const char* p, std::size_t length) {
    std::uint64_t word;
    if (length < 8) {
        std::memcpy(&word, p, 8);
        return (word & ((std::uint64_t{1} << 8 * length) - 1)) | std::uint64_t{length} << 56;
    }
    std::uint64_t hash = length * 0x9E3779B97F4A7C15u;
    for (std::size_t i = 0; i + 8 <= length; i += 8) {
        std::memcpy(&word, p + i, 8);
        hash = fold(hash ^ word);
    }
    std::memcpy(&word, p + length - 8, 8);
    return fold(hash ^ word) | std::uint64_t{0xFF} << 56;
}

inline bool is_exact(std::uint64_t tag) { return tag >> 56 != 0xFF; }

}  // namespace separable::text
