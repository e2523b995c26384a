// Grams: all words and n-grams seen, numbered.
//
// A gram is a token, or a gram followed by one more token. So an n-gram is looked up by two
// numbers, of its first n - 1 tokens and of its last, and text is joined only for names. A gram has
// a larger number than its parts.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "separable/text/maps.hpp"

namespace separable::text {

class Grams {
   public:
    std::size_t size() const { return nodes_.size(); }
    bool is_token(std::uint32_t id) const { return nodes_[id].parent == kNone; }
    std::uint32_t parent(std::uint32_t id) const { return nodes_[id].parent; }
    std::uint32_t last(std::uint32_t id) const { return nodes_[id].last; }
    std::string_view token(std::uint32_t id) const { return arena_[nodes_[id].last]; }

    void prefetch_token(std::uint64_t tag) const { tokens_.prefetch(mix(tag)); }
    const Slot* find_token(std::string_view text, std::uint64_t tag) const {
        for (std::size_t at = tokens_.first(mix(tag));; at = tokens_.next(at)) {
            const Slot& slot = tokens_[at];
            if (slot.id == kNone) return nullptr;
            if (slot.key == tag && (is_exact(tag) || token(slot.id) == text)) return &slot;
        }
    }
    Slot& add_token(std::string_view text, std::uint64_t tag) {
        std::size_t at = tokens_.first(mix(tag));
        for (; tokens_[at].id != kNone; at = tokens_.next(at)) {
            Slot& slot = tokens_[at];
            if (slot.key == tag && (is_exact(tag) || token(slot.id) == text)) return slot;
        }
        if (tokens_.full()) {
            tokens_.grow(mix);
            for (at = tokens_.first(mix(tag)); tokens_[at].id != kNone;) at = tokens_.next(at);
        }
        tokens_[at] = {tag, new_node(kNone, arena_.add(text)), 0};
        tokens_.count();
        return tokens_[at];
    }

    // 8 bytes must be readable from the start of the text.
    Slot& add_token(std::string_view padded) {
        return add_token(padded, tag_of(padded.data(), padded.size()));
    }

    static std::uint64_t key_of(std::uint32_t parent, std::uint32_t last) {
        return std::uint64_t{parent} << 32 | last;
    }
    void prefetch(std::uint64_t key) const { pairs_.prefetch(mix(key)); }
    const Slot* find(std::uint64_t key) const {
        for (std::size_t at = pairs_.first(mix(key));; at = pairs_.next(at)) {
            const Slot& slot = pairs_[at];
            if (slot.id == kNone) return nullptr;
            if (slot.key == key) return &slot;
        }
    }
    Slot& add(std::uint64_t key) {
        std::size_t at = pairs_.first(mix(key));
        for (; pairs_[at].id != kNone; at = pairs_.next(at))
            if (pairs_[at].key == key) return pairs_[at];
        if (pairs_.full()) {
            pairs_.grow(mix);
            for (at = pairs_.first(mix(key)); pairs_[at].id != kNone;) at = pairs_.next(at);
        }
        const auto parent = static_cast<std::uint32_t>(key >> 32);
        pairs_[at] = {key, new_node(parent, static_cast<std::uint32_t>(key)), 0};
        pairs_.count();
        return pairs_[at];
    }

    // Stores in every slot the column of its gram, so that one lookup finds both.
    template <class Column>
    void label(Column column) {
        for (Table* table : {&tokens_, &pairs_})
            table->each([&](Slot& slot) { slot.place = column(slot.id); });
    }

    // Appends the name: the tokens, with `separator` between them.
    void append_name(std::uint32_t id, std::string_view separator, std::string& out) const {
        std::vector<std::uint32_t> path;
        for (; id != kNone; id = nodes_[id].parent)
            path.push_back(is_token(id) ? id : nodes_[id].last);
        for (std::size_t i = path.size(); i-- > 0;) {
            out += token(path[i]);
            if (i > 0) out += separator;
        }
    }

   private:
    struct Node {
        std::uint32_t parent;  // kNone: a token
        std::uint32_t last;    // the last token; for a token, its position in the arena
    };

    std::uint32_t new_node(std::uint32_t parent, std::uint32_t last) {
        if (nodes_.size() >= kNone) throw std::length_error("more than 4294967295 n-grams");
        nodes_.push_back({parent, last});
        return static_cast<std::uint32_t>(nodes_.size() - 1);
    }

    std::vector<Node> nodes_;
    Arena arena_;
    Table tokens_, pairs_;
};

}  // namespace separable::text
