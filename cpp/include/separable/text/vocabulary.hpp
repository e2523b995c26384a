// Vocabulary: the kept n-grams, sorted by name in code point order.
//
// Problem   number the kept grams by their names, tokens joined with a space, without joining any.
// Given     grams; for each, whether it is kept. A space sorts before every character of a token,
//           or names are single tokens.
// Returns   the column of each gram, the gram of each column.
// Steps     1. sort the tokens in use by their bytes: UTF-8 sorts as code points do;
//           2. sort longer grams by (gram without the last token, rank of the last token);
//           3. a name precedes its continuations, so columns are the preorder of the tree of grams;
//              subtree sizes give the start of the next subtree.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "separable/text/grams.hpp"

namespace separable::text {

class Vocabulary {
   public:
    std::size_t size() const { return ids_.size(); }
    std::uint32_t id(std::size_t column) const { return ids_[column]; }
    std::uint32_t column(std::uint32_t id) const {
        return id < columns_.size() ? columns_[id] : kNone;
    }

    template <class Kept>
    static Vocabulary sorted(const Grams& grams, Kept kept) {
        const auto n = static_cast<std::uint32_t>(grams.size());
        std::vector<std::uint32_t> below(n, 0);  // number of kept grams in the subtree
        std::vector<char> used(n, 0);
        std::size_t n_kept = 0;
        for (std::uint32_t i = n; i-- > 0;) {
            if (kept(i)) ++below[i], ++n_kept, used[i] = 1;
            if (!used[i] || grams.is_token(i)) continue;
            below[grams.parent(i)] += below[i];
            used[grams.parent(i)] = used[grams.last(i)] = 1;
        }
        const std::vector<std::uint32_t> tokens = sorted_tokens(grams, used);
        std::vector<std::uint32_t> rank(n, 0), start(n, 0);
        std::uint32_t at = 0;
        for (std::uint32_t i = 0; i < tokens.size(); ++i) {
            rank[tokens[i]] = i;
            start[tokens[i]] = at;
            at += below[tokens[i]];
        }
        const auto longer = sorted_longer(grams, used, rank);
        Vocabulary made;
        made.columns_.assign(n, kNone);
        made.ids_.resize(n_kept);
        const auto place = [&](std::uint32_t i) {
            if (!kept(i)) return;
            made.columns_[i] = start[i];
            made.ids_[start[i]++] = i;  // continuations follow it
        };
        for (const std::uint32_t i : tokens) place(i);
        for (const auto& [by, i] : longer) {
            std::uint32_t& next = start[grams.parent(i)];
            start[i] = next;
            next += below[i];
            place(i);
        }
        return made;
    }

    // The given columns, one for each of the distinct `ids`.
    static Vocabulary given(const Grams& grams, std::vector<std::uint32_t> ids) {
        Vocabulary made;
        made.columns_.assign(grams.size(), kNone);
        made.ids_ = std::move(ids);
        for (std::uint32_t c = 0; c < made.ids_.size(); ++c) made.columns_[made.ids_[c]] = c;
        return made;
    }

    // Keeps the marked columns.
    void limit(const std::uint8_t* marked) {
        std::vector<std::uint32_t> ids;
        for (std::size_t c = 0; c < ids_.size(); ++c) {
            columns_[ids_[c]] = marked[c] ? static_cast<std::uint32_t>(ids.size()) : kNone;
            if (marked[c]) ids.push_back(ids_[c]);
        }
        ids_ = std::move(ids);
    }

   private:
    static std::vector<std::uint32_t> sorted_tokens(const Grams& grams,
                                                    const std::vector<char>& used) {  // step 1
        struct Item {
            std::uint64_t prefix;
            std::uint32_t id;
        };
        std::vector<Item> items;
        for (std::uint32_t i = 0; i < used.size(); ++i) {
            if (!used[i] || !grams.is_token(i)) continue;
            const std::string_view text = grams.token(i);
            std::uint64_t prefix = 0;
            for (std::size_t k = 0; k < 8; ++k)
                prefix = prefix << 8 | (k < text.size() ? static_cast<std::uint8_t>(text[k]) : 0);
            items.push_back({prefix, i});
        }
        std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
            if (a.prefix != b.prefix) return a.prefix < b.prefix;
            return grams.token(a.id) < grams.token(b.id);
        });
        std::vector<std::uint32_t> ids;
        ids.reserve(items.size());
        for (const Item& item : items) ids.push_back(item.id);
        return ids;
    }

    struct Longer {
        std::uint32_t rank, id;
    };
    static std::vector<Longer> sorted_longer(const Grams& grams, const std::vector<char>& used,
                                             const std::vector<std::uint32_t>& rank) {  // step 2
        std::vector<std::uint32_t> stops(used.size() + 1, 0);
        for (std::uint32_t i = 0; i < used.size(); ++i)
            if (used[i] && !grams.is_token(i)) ++stops[grams.parent(i)];
        std::uint32_t sum = 0;
        for (std::uint32_t& stop : stops) sum += std::exchange(stop, sum);
        std::vector<Longer> items(sum);
        for (std::uint32_t i = 0; i < used.size(); ++i)
            if (used[i] && !grams.is_token(i))
                items[stops[grams.parent(i)]++] = {rank[grams.last(i)], i};
        std::uint32_t start = 0;
        for (const std::uint32_t stop : stops) {
            std::sort(items.begin() + start, items.begin() + stop,
                      [](const Longer& a, const Longer& b) { return a.rank < b.rank; });
            start = stop;
        }
        return items;
    }

    std::vector<std::uint32_t> columns_;  // by gram
    std::vector<std::uint32_t> ids_;      // by column
};

}  // namespace separable::text
