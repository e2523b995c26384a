// Lookup: the counts of a document by column of a fixed vocabulary.
#pragma once

#include <cstdint>
#include <vector>

#include "separable/text/counter.hpp"
#include "separable/text/text_rows.hpp"

namespace separable::text {

class Lookup {
   public:
    // The slots of the grams must have their columns; n is the number of columns.
    Lookup(const Counter& counter, std::size_t n_columns)
        : counter_(counter), grams_(counter.grams()), sorter_(n_columns) {}

    // Counts a document as `Counter::count` does, known grams only; `row()` has counts by column.
    void count(const Scanner& scanner) {
        row_.clear(), tokens_.clear(), stops_.clear();
        const GramRange range = counter_.range();
        const bool bounded = scanner.bounded();
        constexpr std::size_t kAhead = 8;
        const std::size_t n_tokens = scanner.tokens().size();
        tags_.resize(n_tokens);
        for (std::size_t i = 0; i < n_tokens; ++i) tags_[i] = scanner.tag(i);
        for (std::size_t i = 0; i < n_tokens; ++i) {
            if (i + kAhead < n_tokens) grams_.prefetch_token(tags_[i + kAhead]);
            const Slot* slot = grams_.find_token(scanner.gram(i, 1), tags_[i]);
            if (slot != nullptr && slot->id < counter_.n_stop_words()) continue;
            tokens_.push_back(slot == nullptr ? kNone : slot->id);
            if (range.min_n == 1) tick(slot);
            if (bounded) stops_.push_back(scanner.segment_stop(i));
        }
        if (range.max_n > 1) current_ = tokens_;
        for (std::uint32_t n = 2; n <= range.max_n && n <= tokens_.size(); ++n)
            level(n, n >= range.min_n, bounded);
        end();
    }

    void begin() { row_.clear(); }
    void tick_token(std::string_view padded) {
        tick(grams_.find_token(padded, tag_of(padded.data(), padded.size())));
    }
    void end() { sorter_.sort_and_add(row_); }

    const std::vector<Count>& row() const { return row_; }

   private:
    void tick(const Slot* slot) {
        if (slot != nullptr && slot->place != kNone) row_.push_back({slot->place, 1});
    }

    void level(std::uint32_t n, bool wanted, bool bounded) {
        constexpr std::size_t kAhead = 12;
        const std::size_t stop = tokens_.size() - n + 1;
        const auto key = [&](std::size_t i) {
            return Grams::key_of(current_[i], tokens_[i + n - 1]);
        };
        for (std::size_t i = 0; i < stop; ++i) {
            if (i + kAhead < stop) grams_.prefetch(key(i + kAhead));
            if (bounded && i + n > stops_[i]) continue;
            const bool known = current_[i] != kNone && tokens_[i + n - 1] != kNone;
            const Slot* slot = known ? grams_.find(key(i)) : nullptr;
            current_[i] = slot == nullptr ? kNone : slot->id;
            const bool whole = bounded && i + n == stops_[i] && (i == 0 || stops_[i - 1] == i);
            if (wanted || whole) tick(slot);
        }
    }

    const Counter& counter_;
    const Grams& grams_;
    RowSorter sorter_;
    std::vector<Count> row_;
    std::vector<std::uint64_t> tags_;
    std::vector<std::uint32_t> tokens_, current_;
    std::vector<std::size_t> stops_;
};

}  // namespace separable::text
