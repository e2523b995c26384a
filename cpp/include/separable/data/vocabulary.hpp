// Vocabulary: names numbered in order of first appearance.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "separable/data/csr_store.hpp"
#include "separable/data/text_hash.hpp"

namespace separable {

class Vocabulary {
   public:
    std::size_t size() const { return names_.size(); }
    std::string_view operator[](std::size_t i) const { return names_[i]; }
    std::uint64_t hash(std::size_t i) const { return hashes_[i]; }

    // Returns the number of a name; adds new names.
    std::int64_t number(std::string_view name, std::uint64_t hash) {
        if (2 * (names_.size() + 1) > slots_.size()) grow();
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            Slot& slot = slots_[at];
            if (slot.number < 0) {
                slot = {static_cast<std::int64_t>(names_.size()), hash};
                names_.push(name);
                hashes_.push_back(hash);
                return slot.number;
            }
            if (slot.hash == hash && names_[static_cast<std::size_t>(slot.number)] == name)
                return slot.number;
        }
    }

    // Removes the names from number n on. Probe chains stay valid: earlier names precede them.
    void cut(std::size_t n) {
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = size(); i-- > n; hashes_.pop_back()) {
            std::size_t at = hashes_[i] & mask;
            while (slots_[at].number != static_cast<std::int64_t>(i)) at = (at + 1) & mask;
            slots_[at] = {};
        }
        names_.cut(n);
    }

    void clear() {
        names_.clear();
        hashes_.clear();
        slots_.assign(slots_.size(), Slot{});
    }

   private:
    struct Slot {
        std::int64_t number = -1;
        std::uint64_t hash = 0;
    };
    Texts names_;
    std::vector<std::uint64_t> hashes_;
    std::vector<Slot> slots_;

    void grow() {
        slots_.assign(std::max<std::size_t>(1024, 2 * slots_.size()), Slot{});
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = 0; i < hashes_.size(); ++i) {
            std::size_t at = hashes_[i] & mask;
            while (slots_[at].number >= 0) at = (at + 1) & mask;
            slots_[at] = {static_cast<std::int64_t>(i), hashes_[i]};
        }
    }
};

}  // namespace separable
