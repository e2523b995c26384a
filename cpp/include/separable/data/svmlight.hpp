// svmlight / LIBSVM text to rows: "label [qid:n] column:value ... # comment", one row a line.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "separable/data/csr_store.hpp"
#include "separable/data/line_stream.hpp"
#include "separable/data/numbers.hpp"
#include "separable/data/utf8.hpp"

namespace separable {

enum class SvmlightReason : std::uint8_t {
    label_missing,
    label_no_number,
    label_not_finite,
    qid_no_number,
    pair_malformed,
    column_negative,
    column_too_large,
    column_below_base,
    column_outside,
    value_malformed,
    value_not_finite,
    value_too_large,
    column_twice,
    nul_byte,
    not_utf8,
};

enum class LabelKind : std::uint8_t { unsettled, number, text };

struct SvmlightOptions {
    std::optional<int> index_base;           // default: detected
    std::optional<std::int64_t> n_features;  // default: the largest column seen
    LabelKind labels = LabelKind::unsettled;
    bool skip = false;  // skip invalid lines instead of stopping at the first
    int n_threads = 1;
    bool as_written = false;  // labels requested as text; a missing label is empty
};

inline constexpr std::int64_t kLargestColumn = std::int64_t{1} << 62;

namespace svmlight {

inline constexpr std::array<bool, 256> kEndsToken = [] {
    std::array<bool, 256> table{};
    for (const unsigned char c : {' ', '\t', '\r', '\v', '\f', '\n', '#'}) table[c] = true;
    return table;
}();
inline bool ends_token(char c) { return kEndsToken[static_cast<unsigned char>(c)]; }
inline bool is_blank(char c) { return c != '\n' && c != '#' && ends_token(c); }

inline const char* token_end(const char* p) {
    while (!ends_token(*p)) ++p;
    return p;
}

// Contents of a block of lines; columns as written.
struct Parsed {
    std::vector<std::int64_t> column, ends, qid;
    std::vector<double> value, label;
    Texts label_text;
    Faults<SvmlightReason> faults;
    std::int64_t n_lines = 0, largest = -1;
    bool has_zero = false, has_qid = false, has_text = false;
    std::int64_t edge_line = 0;  // the first line with column n_features; 0 if none
};

// Problem: parse lines, each ending with a line feed, to rows; report errors of invalid lines.
// Steps of a line:
//   1. Blank or comment only: no row.
//   2. The label, up to a blank: a number, or text.
//   3. qid:n, if it comes next.
//   4. Pairs column:value.
//   5. Sort columns that do not ascend; reject duplicates.
class BlockParser {
   public:
    BlockParser(const SvmlightOptions& options, Parsed& out) : options_(options), out_(out) {
        lowest_ = options.index_base.value_or(0);
        const std::int64_t base = options.index_base.value_or(1);
        highest_ = options.n_features ? *options.n_features - 1 + base : kLargestColumn;
    }

    void parse(Block block) {
        start_over(block.size());
        const char* p = block.begin;
        while (p < block.end) {
            ++out_.n_lines;
            line_ = p;
            p = parse_line(p);
            if (!options_.skip && out_.faults.count > 0) return;
        }
    }

   private:
    const SvmlightOptions& options_;
    Parsed& out_;
    const char *line_ = nullptr, *pairs_ = nullptr;
    std::int64_t lowest_, highest_;
    std::size_t n_ = 0;  // pairs so far
    std::vector<std::pair<std::int64_t, double>> sorted_;
    static constexpr std::size_t kMostScratch = 1 << 20;  // capacity kept between blocks

    void start_over(std::size_t n_bytes) {
        const std::size_t most = n_bytes / 4 + 2;  // a pair has at least four bytes
        if (out_.column.size() < most || out_.column.size() > std::max(most, kMostScratch)) {
            out_.column = std::vector<std::int64_t>(most);
            out_.value = std::vector<double>(most);
        }
        out_.ends.clear(), out_.qid.clear(), out_.label.clear(), out_.label_text.clear();
        out_.faults = {};
        out_.n_lines = out_.edge_line = 0;
        out_.largest = -1;
        out_.has_zero = out_.has_qid = out_.has_text = false;
        n_ = 0;
    }

    // Returns the start of the next line.
    const char* parse_line(const char* p) {
        const std::size_t first = n_;
        while (is_blank(*p)) ++p;
        if (*p == '\n') return p + 1;  // step 1
        if (*p == '#') return line_end(p) + 1;
        const char* const label = p;
        double number = 0;
        bool is_text = false;
        if (!parse_label(p, number, is_text)) return line_end(p) + 1;  // step 2
        const std::string_view label_text(label, static_cast<std::size_t>(p - label));
        std::int64_t qid = -1;
        while (is_blank(*p)) ++p;
        if (std::string_view(p, 4) == "qid:" && !parse_qid(p, qid)) return line_end(p) + 1;  // 3
        bool ascends = true;
        pairs_ = p;
        if (!parse_pairs(p, ascends)) return n_ = first, line_end(p) + 1;        // step 4
        if (!ascends && !sort_pairs(first)) return n_ = first, line_end(p) + 1;  // step 5
        if (n_ > first) note_columns(first);
        out_.ends.push_back(static_cast<std::int64_t>(n_));
        out_.label.push_back(number);
        if (options_.labels != LabelKind::number) out_.label_text.push(label_text);
        out_.has_text |= is_text;
        out_.qid.push_back(qid);
        out_.has_qid |= qid >= 0;
        return line_end(p) + 1;
    }

    // Moves p past the label; on an error, within the line.
    bool parse_label(const char*& p, double& number, bool& is_text) {
        const char* const begin = p;
        if (!options_.as_written) {
            const NumberState state = parse_number(p, number);
            if (ends_token(*p) && p != begin) {
                if (state == NumberState::fine) return true;
                if (state != NumberState::no_number)
                    return fault(begin, SvmlightReason::label_not_finite);
            }
        }
        p = token_end(begin);
        const std::string_view text(begin, static_cast<std::size_t>(p - begin));
        if (text.find(':') != text.npos) {
            if (!options_.as_written) return fault(begin, SvmlightReason::label_missing);
            p = begin;  // a row without a label
            return is_text = true;
        }
        if (text.find('\0') != text.npos) return fault(begin, SvmlightReason::nul_byte);
        if (options_.labels == LabelKind::number)
            return fault(begin, SvmlightReason::label_no_number);
        if (!is_utf8(text)) return fault(begin, SvmlightReason::not_utf8);
        return is_text = true;
    }

    bool parse_qid(const char*& p, std::int64_t& qid) {
        const char* const begin = p;
        p += 4;
        if (!parse_integer(p, qid) || !ends_token(*p))
            return fault(begin, SvmlightReason::qid_no_number);
        return true;
    }

    // Digits, up to kLargestColumn.
    static bool parse_integer(const char*& p, std::int64_t& number) {
        const char* const begin = p;
        std::uint64_t w = 0;
        p = digits::append(p, w);
        const char* lead = begin;
        while (*lead == '0') ++lead;
        number = static_cast<std::int64_t>(w);
        return p > begin && p - lead <= 19 && w <= static_cast<std::uint64_t>(kLargestColumn);
    }

    bool parse_pairs(const char*& p, bool& ascends) {
        std::int64_t before = -1;
        std::int64_t* const columns = out_.column.data();
        double* const values = out_.value.data();
        std::size_t n = n_;
        for (;;) {
            p += *p == ' ';
            const std::uint64_t x = digits::load(p), stop = digits::others(x);
            const int k = std::countr_zero(stop) >> 3;  // 8: all are digits
            std::int64_t column;
            const char* const begin = p;
            if (k > 0 && k < 8) [[likely]] {
                column = static_cast<std::int64_t>(digits::first(x, k));
                p += k;
            } else {
                if (is_blank(*p)) {
                    ++p;
                    continue;
                }
                if (*p == '\n' || *p == '#') return n_ = n, true;
                if (!parse_integer(p, column)) return bad_column(begin);
            }
            if (*p != ':') return fault(begin, SvmlightReason::pair_malformed);
            if (column < lowest_ || column > highest_) [[unlikely]]
                return bad_column(begin);
            ++p;
            double value = 0;
            const auto digit = static_cast<unsigned char>(*p - '0');
            if (digit <= 9 && ends_token(p[1])) {
                value = digit;
                ++p;
            } else {
                const char* const text = p;
                const NumberState state = parse_number(p, value);
                if (state != NumberState::fine || !ends_token(*p)) [[unlikely]]
                    return bad_value(text, p, state);
            }
            ascends &= column > before;
            before = column;
            columns[n] = column;
            values[n++] = value;
        }
    }

    bool bad_column(const char* begin) {
        const char* p = begin + (*begin == '-');
        std::int64_t column = 0;
        const char* const digits = p;
        const bool small = parse_integer(p, column);
        if (p == digits || *p != ':') return fault(begin, SvmlightReason::pair_malformed);
        if (p > digits && *begin == '-') return fault(begin, SvmlightReason::column_negative);
        if (!small) return fault(begin, SvmlightReason::column_too_large);
        return fault(begin, column < lowest_ ? SvmlightReason::column_below_base
                                             : SvmlightReason::column_outside);
    }

    bool bad_value(const char* begin, const char* p, NumberState state) {
        if (!ends_token(*p) || state == NumberState::no_number)
            return fault(begin, SvmlightReason::value_malformed);
        return fault(begin, state == NumberState::too_large ? SvmlightReason::value_too_large
                                                            : SvmlightReason::value_not_finite);
    }

    bool sort_pairs(std::size_t first) {
        sorted_.clear();
        for (std::size_t k = first; k < n_; ++k)
            sorted_.emplace_back(out_.column[k], out_.value[k]);
        std::stable_sort(sorted_.begin(), sorted_.end(),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
        for (std::size_t k = 0; k < sorted_.size(); ++k) {
            if (k > 0 && sorted_[k].first == sorted_[k - 1].first)
                return fault(second_place(sorted_[k].first), SvmlightReason::column_twice);
            out_.column[first + k] = sorted_[k].first;
            out_.value[first + k] = sorted_[k].second;
        }
        return true;
    }

    // Position of the second occurrence of a column in the line.
    const char* second_place(std::int64_t column) const {
        const char* p = pairs_;
        for (int seen = 0;; p = token_end(p)) {
            while (is_blank(*p)) ++p;
            const char* end = p;
            std::int64_t found = 0;
            if (parse_integer(end, found) && found == column && ++seen == 2) return p;
        }
    }

    void note_columns(std::size_t first) {
        const std::int64_t low = out_.column[first], high = out_.column[n_ - 1];
        out_.has_zero |= low == 0;
        out_.largest = std::max(out_.largest, high);
        if (options_.n_features && high == *options_.n_features && out_.edge_line == 0)
            out_.edge_line = out_.n_lines;
    }

    bool fault(const char* at, SvmlightReason reason) {
        const char* const end = token_end(at);
        std::string text(at, std::min(static_cast<std::size_t>(end - at), kShown));
        if (std::find(at, end, '\0') != end) reason = SvmlightReason::nul_byte;
        out_.faults.add({out_.n_lines, at - line_ + 1, reason, std::move(text)});
        return false;
    }
};

}  // namespace svmlight

// Returned rows.
struct SvmlightBatch {
    CsrArrays rows;
    std::int64_t n_features = 0;
    GrowableArray<double> label;
    Texts label_text;
    bool is_text = false, has_qid = false;
    GrowableArray<std::int64_t> qid;
};

// Reader of a stream of chunks. Unless specified, the index base and the type of labels are
// inferred from all lines read before the first rows are returned.
class SvmlightReader {
   public:
    SvmlightReader(SvmlightOptions options, std::function<void()> poll)
        : options_(options),
          poll_(std::move(poll)),
          parsed_(static_cast<std::size_t>(options.n_threads)) {
        options_.as_written = options.labels == LabelKind::text;
    }

    void feed(const char* data, std::size_t size) {
        if (stopped()) return;
        stream_.feed(data, size, [this](Block region) { read(region); });
    }

    void finish() {
        if (stopped()) return;
        stream_.finish([this](Block region) { read(region); });
    }

    const Faults<SvmlightReason>& faults() const { return faults_; }
    std::int64_t n_rows() const { return rows_.n_rows(); }
    // The first line with column n_features, if the file turned out to count from 0.
    std::int64_t edge_line() const { return base() == 0 ? edge_line_ : 0; }
    int base() const { return options_.index_base.value_or(has_zero_ ? 0 : 1); }

    // Returns at most the given number of rows.
    SvmlightBatch take(std::int64_t most) {
        const std::int64_t n = std::min(most, n_rows());
        settle();
        SvmlightBatch batch;
        batch.n_features = options_.n_features.value_or(largest_ + 1 - base());
        batch.rows = rows_.take(n);
        const auto size = static_cast<std::size_t>(n);
        batch.label = label_.take(size);
        batch.is_text = options_.labels == LabelKind::text;
        if (batch.is_text) batch.label_text = label_text_.take(size);
        batch.has_qid = has_qid_;
        if (has_qid_) batch.qid = qid_.take(size);
        return batch;
    }

   private:
    struct Worker {
        SvmlightReader& reader;
        svmlight::Parsed& parsed;
        svmlight::BlockParser parser;
        std::size_t place = 0;
        std::int64_t shift = 0;

        Worker(SvmlightReader& reader, svmlight::Parsed& parsed)
            : reader(reader), parsed(parsed), parser(reader.options_, parsed) {}

        void parse(Block block) { parser.parse(block); }
        template <class Wait>
        bool join(Wait wait) {
            return reader.join(*this, wait);
        }
        void store() {
            const auto n = parsed.ends.empty() ? 0 : static_cast<std::size_t>(parsed.ends.back());
            reader.rows_.write(place, parsed.column.data(), parsed.value.data(), n, shift);
        }
    };

    SvmlightOptions options_;
    std::function<void()> poll_;
    LineStream stream_;
    std::vector<svmlight::Parsed> parsed_;
    Faults<SvmlightReason> faults_;
    CsrStore rows_;
    RowNumbers<double> label_;
    RowTexts label_text_;
    RowNumbers<std::int64_t> qid_;
    std::int64_t n_lines_ = 0, largest_ = -1, edge_line_ = 0;
    bool begun_ = false, has_zero_ = false, has_qid_ = false, has_text_ = false;

    static constexpr std::size_t kBlockBytes = 1 << 18;
    static constexpr std::size_t kBlocksAtOnce = 32;

    bool stopped() const { return !options_.skip && faults_.count > 0; }

    void read(Block region) {
        if (!std::exchange(begun_, true)) region = without_mark(region);
        const auto blocks = cut_into_blocks(region, kBlockBytes);
        for (std::size_t k = 0; k < blocks.size() && !stopped(); k += kBlocksAtOnce) {
            poll_();
            const std::size_t end = std::min(blocks.size(), k + kBlocksAtOnce);
            read_blocks({blocks.data() + k, blocks.data() + end});
        }
    }

    void read_blocks(const std::vector<Block>& blocks) {
        std::size_t n_bytes = 0;
        for (const Block& block : blocks) n_bytes += block.size();
        rows_.reserve(n_bytes / 4 + blocks.size(), n_bytes / 2 + blocks.size());
        std::vector<Worker> workers;
        for (auto& parsed : parsed_) workers.emplace_back(*this, parsed);
        run_in_order(blocks, workers);
    }

    template <class Wait>
    bool join(Worker& worker, Wait wait) {
        svmlight::Parsed& block = worker.parsed;
        faults_.append(std::move(block.faults), n_lines_);
        if (stopped()) block.ends.clear();  // the rows before the error are dropped too
        if (block.edge_line > 0 && edge_line_ == 0) edge_line_ = n_lines_ + block.edge_line;
        n_lines_ += block.n_lines;
        if (stopped()) return false;
        if (block.has_zero && !has_zero_ &&
            !options_.index_base) {  // columns counted from 1 so far
            wait();
            rows_.shift_columns(1);
        }
        has_zero_ |= block.has_zero;
        largest_ = std::max(largest_, block.largest);
        if (!rows_.fits(block.largest)) {
            wait();
            rows_.widen();
        }
        const auto had = static_cast<std::size_t>(rows_.n_rows());
        worker.shift = -base();
        worker.place = rows_.join(block.ends);
        label_.append(block.label.data(), block.label.size());
        if (options_.labels != LabelKind::number) label_text_.append(block.label_text);
        has_text_ |= block.has_text;
        join_qids(block, had);
        return true;
    }

    void join_qids(const svmlight::Parsed& block, std::size_t had) {
        if (!has_qid_ && !block.has_qid) return;
        qid_.fill_to(had, -1);
        has_qid_ = true;
        qid_.append(block.qid.data(), block.qid.size());
    }

    void settle() {
        if (!options_.index_base) options_.index_base = base();
        if (options_.labels != LabelKind::unsettled) return;
        options_.labels = has_text_ ? LabelKind::text : LabelKind::number;
        if (!has_text_) label_text_ = {};
    }
};

}  // namespace separable
