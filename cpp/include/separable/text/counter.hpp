// Counter: term and document frequencies of words and n-grams.
//
// Problem   df_j = number of documents with gram j, tf_j = number of its occurrences.
// Given     documents as tokens; the range of n; stop words.
// Returns   the n-grams with df and tf; on request the counts of every document.
// Steps     1. look up every token of the document, except stop words;
//           2. for n = 2, 3, ...: look up (gram of n - 1 tokens at i, token i + n - 1);
//           3. count each gram in the list of the document, at the position kept in its slot;
//           4. at the end of the document add the list to df and tf.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "separable/text/grams.hpp"
#include "separable/text/scanner.hpp"

namespace separable::text {

struct GramRange {
    std::uint32_t min_n, max_n;
};

struct Count {
    std::uint32_t id, count;
};

// Counts of many documents in chunks, which grow without copying.
class CountedRows {
   public:
    void add(const std::vector<Count>& row) {
        lengths_.push_back(static_cast<std::uint32_t>(row.size()));
        if (chunks_.empty() || chunks_.back().size() + row.size() > chunks_.back().capacity()) {
            const std::size_t room = chunks_.empty() ? kFirst : 2 * chunks_.back().capacity();
            chunks_.emplace_back();
            chunks_.back().reserve(std::max(std::min(kChunk, room), row.size()));
        }
        chunks_.back().insert(chunks_.back().end(), row.begin(), row.end());
        size_ += static_cast<std::int64_t>(row.size());
    }
    std::size_t n_rows() const { return lengths_.size(); }
    std::int64_t size() const { return size_; }
    std::uint32_t length(std::size_t i) const { return lengths_[i]; }

    // Calls visit(row number, first count, number of counts) for each row.
    template <class Visit>
    void visit(Visit visit) const {
        std::size_t chunk = 0, at = 0;
        for (std::size_t i = 0; i < lengths_.size(); ++i) {
            const std::size_t length = lengths_[i];
            if (length > 0 && at + length > chunks_[chunk].size()) ++chunk, at = 0;
            visit(i, length > 0 ? chunks_[chunk].data() + at : nullptr, length);
            at += length;
        }
    }

    // Calls visit(row number, first count) for each row; frees visited chunks.
    template <class Visit>
    void consume(Visit visit) {
        std::size_t chunk = 0, at = 0;
        for (std::size_t i = 0; i < lengths_.size(); ++i) {
            const std::size_t length = lengths_[i];
            if (length > 0 && at + length > chunks_[chunk].size()) {
                Chunk().swap(chunks_[chunk]);
                ++chunk, at = 0;
            }
            visit(i, length > 0 ? chunks_[chunk].data() + at : nullptr);
            at += length;
        }
        chunks_.clear();
    }

   private:
    using Chunk = std::vector<Count, LargePages<Count>>;
    static constexpr std::size_t kFirst = 1 << 10, kChunk = 1 << 19;
    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> lengths_;
    std::int64_t size_ = 0;
};

struct Totals {
    std::uint64_t tf = 0;
    std::uint32_t df = 0;
};

class Counter {
   public:
    Counter(GramRange range, std::uint32_t n_stop_words)
        : range_(range), n_stop_words_(n_stop_words) {}

    Grams& grams() { return grams_; }
    const Grams& grams() const { return grams_; }
    const Totals& totals(std::uint32_t id) const { return totals_[id]; }
    std::int64_t n_documents() const { return n_documents_; }
    GramRange range() const { return range_; }
    std::uint32_t n_stop_words() const { return n_stop_words_; }

    void add_stop_word(std::string_view padded) { grams_.add_token(padded), settle(); }

    // Sets the totals of grams added but not counted to 0.
    void settle() { totals_.resize(grams_.size()); }

    // Restores counts made elsewhere.
    void set_totals(std::uint32_t id, std::int64_t tf, std::int64_t df) {
        settle();
        totals_[id] = {static_cast<std::uint64_t>(tf), static_cast<std::uint32_t>(df)};
    }
    void set_documents(std::int64_t n) { n_documents_ = n; }

    // Counts a scanned document; `row()` has its counts until the next one.
    void count(const Scanner& scanner) {
        begin();
        tokens_.clear(), stops_.clear();
        const std::size_t n_tokens = scanner.tokens().size();
        const bool single = range_.min_n == 1;
        const bool bounded = scanner.bounded();
        constexpr std::size_t kAhead = 8;
        tags_.resize(n_tokens);
        for (std::size_t i = 0; i < n_tokens; ++i) tags_[i] = scanner.tag(i);
        for (std::size_t i = 0; i < n_tokens; ++i) {  // step 1
            if (i + kAhead < n_tokens) grams_.prefetch_token(tags_[i + kAhead]);
            Slot& slot = grams_.add_token(scanner.gram(i, 1), tags_[i]);
            if (slot.id < n_stop_words_) continue;
            tokens_.push_back(slot.id);
            if (single) tick(slot);  // a padded word has at least two characters
            if (bounded) stops_.push_back(scanner.segment_stop(i));
        }
        if (range_.max_n > 1) current_ = tokens_;
        for (std::uint32_t n = 2; n <= range_.max_n && n <= tokens_.size(); ++n)  // step 2
            level(n, bounded);
        end();
    }

    // Counts tokens that are complete features.
    void begin() { row_.clear(); }
    void tick_token(std::string_view padded) { tick(grams_.add_token(padded)); }
    void end() {  // step 4
        settle();
        for (const Count& counted : row_) {
            Totals& totals = totals_[counted.id];
            totals.tf += counted.count;
            ++totals.df;
        }
        ++n_documents_;
    }

    const std::vector<Count>& row() const { return row_; }

    // Adds the counts of another counter; returns the number here of each of its grams.
    std::vector<std::uint32_t> merge(const Counter& other) {
        std::vector<std::uint32_t> ids(other.grams_.size());
        std::vector<char> padded;
        constexpr std::uint32_t kAhead = 16;
        const auto key = [&](std::uint32_t i) {
            return Grams::key_of(ids[other.grams_.parent(i)], ids[other.grams_.last(i)]);
        };
        for (std::uint32_t i = 0; i < ids.size(); ++i) {
            if (other.grams_.is_token(i)) {
                const std::string_view token = other.grams_.token(i);
                padded.assign(token.begin(), token.end());
                padded.resize(token.size() + 8);
                ids[i] = grams_.add_token({padded.data(), token.size()}).id;
            } else {
                const std::uint32_t later = i + kAhead;
                if (later < ids.size() && !other.grams_.is_token(later) &&
                    other.grams_.parent(later) < i && other.grams_.last(later) < i)
                    grams_.prefetch(key(later));
                ids[i] = grams_.add(key(i)).id;
            }
        }
        settle();
        for (std::uint32_t i = 0; i < ids.size(); ++i) {
            totals_[ids[i]].tf += other.totals_[i].tf;
            totals_[ids[i]].df += other.totals_[i].df;
        }
        n_documents_ += other.n_documents_;
        return ids;
    }

   private:
    void tick(Slot& slot) {  // step 3
        if (slot.place < row_.size() && row_[slot.place].id == slot.id) {
            ++row_[slot.place].count;
            return;
        }
        slot.place = static_cast<std::uint32_t>(row_.size());
        row_.push_back({slot.id, 1});
    }

    void level(std::uint32_t n, bool bounded) {
        constexpr std::size_t kAhead = 12;
        const std::size_t stop = tokens_.size() - n + 1;
        const bool wanted = n >= range_.min_n;
        const auto key = [&](std::size_t i) {
            return Grams::key_of(current_[i], tokens_[i + n - 1]);
        };
        for (std::size_t i = 0; i < std::min(kAhead, stop); ++i) grams_.prefetch(key(i));
        for (std::size_t i = 0; i < stop; ++i) {
            if (i + kAhead < stop) grams_.prefetch(key(i + kAhead));
            if (bounded && i + n > stops_[i]) continue;
            Slot& slot = grams_.add(key(i));
            current_[i] = slot.id;
            // a word shorter than min_n counts as a whole
            const bool whole = bounded && i + n == stops_[i] && (i == 0 || stops_[i - 1] == i);
            if (wanted || whole) tick(slot);
        }
    }

    GramRange range_;
    std::uint32_t n_stop_words_;
    Grams grams_;
    std::vector<Totals> totals_;
    std::int64_t n_documents_ = 0;
    std::vector<Count> row_;
    std::vector<std::uint64_t> tags_;
    std::vector<std::uint32_t> tokens_, current_;
    std::vector<std::size_t> stops_;
};

}  // namespace separable::text
