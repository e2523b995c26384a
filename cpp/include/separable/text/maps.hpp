// Two open-addressing maps: from bytes to a number, and from a pair of numbers to a number.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <vector>

namespace separable::text {

inline constexpr std::uint32_t kNone = 0xFFFFFFFF;

inline std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32, x *= 0xD6E8FEB86659FD93u;
    x ^= x >> 32, x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

// Linear probing; slots are found by the upper bits of a hash, so that growing keeps their order.
struct Slot {
    std::uint64_t key = 0;
    std::uint32_t id = kNone;  // kNone: the slot is free
    std::uint32_t place = 0;   // where the current document counts it
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

    // Whether a slot more needs room first.
    bool full() const { return 8 * (size_ + 1) > 5 * slots_.size(); }
    void count() { ++size_; }

    template <class Hash>
    void grow(Hash hash) {
        std::vector<Slot> old(slots_.size() * 2);
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
    std::vector<Slot> slots_;
};

// Bytes laid one behind the other, by number.
class Arena {
   public:
    std::string_view operator[](std::size_t i) const {
        return {bytes_.data() + starts_[i], starts_[i + 1] - starts_[i]};
    }
    std::size_t size() const { return starts_.size() - 1; }
    std::size_t bytes() const { return bytes_.size(); }
    void add(std::string_view text) {
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        starts_.push_back(bytes_.size());
    }

   private:
    std::vector<char> bytes_;
    std::vector<std::size_t> starts_{0};
};

// What stands for bytes in a slot: up to 7 bytes stand for themselves; more for their hash, which
// has to be confirmed. Reads 8 bytes at a time, so there must be 8 to read behind the start.
inline std::uint64_t tag_of(const char* p, std::size_t length) {
    std::uint64_t word;
    if (length < 8) {
        std::memcpy(&word, p, 8);
        return (word & ((std::uint64_t{1} << 8 * length) - 1)) | std::uint64_t{length} << 56;
    }
    std::uint64_t hash = length * 0x9E3779B97F4A7C15u;
    for (std::size_t i = 0; i + 8 <= length; i += 8) {
        std::memcpy(&word, p + i, 8);
        hash = mix(hash ^ word);
    }
    std::memcpy(&word, p + length - 8, 8);
    return mix(hash ^ word) | std::uint64_t{0xFF} << 56;
}

inline bool is_exact(std::uint64_t tag) { return tag >> 56 != 0xFF; }

}  // namespace separable::text
