// Lookup: the counts of a document by column of a vocabulary that is fixed.
#pragma once

#include <cstdint>
#include <vector>

#include "separable/text/counter.hpp"
#include "separable/text/text_rows.hpp"
#include "separable/text/vocabulary.hpp"

namespace separable::text {

class Lookup {
   public:
    Lookup(const Counter& counter, const Vocabulary& vocabulary)
        : counter_(counter), vocabulary_(vocabulary), sorter_(vocabulary.size()) {}

    // Looks up what `Counter::count` would count; `row()` are the counts by column.
    void count(const Scanner& scanner) {
        row_.clear(), current_.clear(), tokens_.clear(), stops_.clear();
        const GramRange range = counter_.range();
        const bool bounded = scanner.bounded();
        for (std::size_t i = 0; i < scanner.tokens().size(); ++i) {
            const Slot* slot = counter_.grams().find_token(scanner.gram(i, 1));
            if (slot != nullptr && slot->id < counter_.n_stop_words()) continue;
            tokens_.push_back(slot == nullptr ? kNone : slot->id);
            if (range.min_n == 1) tick(tokens_.back());
            if (bounded) stops_.push_back(scanner.segment_stop(i));
        }
        current_ = tokens_;
        for (std::uint32_t n = 2; n <= range.max_n && n <= tokens_.size(); ++n)
            level(n, n >= range.min_n, bounded);
        sorter_.sort_and_add(row_);
    }

    void begin() { row_.clear(); }
    void tick_token(std::string_view padded) {
        const Slot* slot = counter_.grams().find_token(padded);
        if (slot != nullptr) tick(slot->id);
    }
    void end() { sorter_.sort_and_add(row_); }

    const std::vector<Count>& row() const { return row_; }

   private:
    void tick(std::uint32_t id) {
        if (id == kNone) return;
        const std::uint32_t column = vocabulary_.column(id);
        if (column != kNone) row_.push_back({column, 1});
    }

    void level(std::uint32_t n, bool wanted, bool bounded) {
        constexpr std::size_t kAhead = 12;
        const std::size_t stop = tokens_.size() - n + 1;
        const auto key = [&](std::size_t i) {
            return Grams::key_of(current_[i], tokens_[i + n - 1]);
        };
        for (std::size_t i = 0; i < stop; ++i) {
            if (i + kAhead < stop) counter_.grams().prefetch(key(i + kAhead));
            if (bounded && i + n > stops_[i]) continue;
            const bool known = current_[i] != kNone && tokens_[i + n - 1] != kNone;
            const Slot* slot = known ? counter_.grams().find(key(i)) : nullptr;
            current_[i] = slot == nullptr ? kNone : slot->id;
            const bool whole = bounded && i + n == stops_[i] && (i == 0 || stops_[i - 1] == i);
            if (wanted || whole) tick(current_[i]);
        }
    }

    const Counter& counter_;
    const Vocabulary& vocabulary_;
    RowSorter sorter_;
    std::vector<Count> row_;
    std::vector<std::uint32_t> tokens_, current_;
    std::vector<std::size_t> stops_;
};

}  // namespace separable::text
