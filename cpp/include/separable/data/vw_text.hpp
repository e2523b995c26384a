// Vowpal Wabbit text to rows: "label importance base tag|namespace:scale feature:value ...".
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "separable/data/csr_store.hpp"
#include "separable/data/line_stream.hpp"
#include "separable/data/numbers.hpp"
#include "separable/data/text_hash.hpp"
#include "separable/data/utf8.hpp"
#include "separable/data/vocabulary.hpp"

namespace separable {

enum class VwReason : std::uint8_t {
    bar_missing,
    label_malformed,
    label_not_finite,
    words_too_many,
    weight_malformed,
    weight_negative,
    base_malformed,
    namespace_missing,
    scale_malformed,
    value_malformed,
    value_not_finite,
    value_too_large,
    nul_byte,
    not_utf8,
};

struct VwOptions {
    std::optional<int> bits;  // columns are hashes of this many bits; default: a vocabulary
    bool skip = false;
    int n_threads = 1;
};

namespace vw_text {

enum class Byte : std::uint8_t { other, blank, feed, bar, colon, nul };

inline constexpr std::array<Byte, 256> kBytes = [] {
    std::array<Byte, 256> table{};
    for (const unsigned char c : {' ', '\t', '\r', '\v', '\f'}) table[c] = Byte::blank;
    table['\n'] = Byte::feed;
    table['|'] = Byte::bar;
    table[':'] = Byte::colon;
    table['\0'] = Byte::nul;
    return table;
}();
inline Byte kind(char c) { return kBytes[static_cast<unsigned char>(c)]; }
inline bool is_blank(char c) { return kind(c) == Byte::blank; }
// Whether a byte ends a word: a blank, the end of the line, or a bar.
inline bool ends_word(char c) {
    const Byte k = kind(c);
    return k == Byte::blank || k == Byte::feed || k == Byte::bar;
}
inline const char* word_end(const char* p) {
    while (!ends_word(*p)) ++p;
    return p;
}

// Highest bit set for bytes of x that end a name: blanks and bytes below, bars and colons. Only the
// lowest mark is reliable; higher ones may be carries.
inline std::uint64_t name_marks(std::uint64_t x) {
    constexpr std::uint64_t ones = 0x0101010101010101u, high = 0x8080808080808080u;
    const std::uint64_t bar = x ^ ones * '|', colon = x ^ ones * ':';
    return (((x - ones * 0x21) & ~x) | ((bar - ones) & ~bar) | ((colon - ones) & ~colon)) & high;
}

// End of the name at p: a blank, bar, colon, NUL or the end of the line.
inline const char* name_end(const char* p) {
    for (;;) {
        const std::uint64_t marks = name_marks(digits::load(p));
        if (marks == 0) {
            p += 8;
            continue;
        }
        p += std::countr_zero(marks) >> 3;
        if (kind(*p) != Byte::other) return p;
        ++p;  // a control character is part of the name
    }
}

// Hash table of the columns of a row and their positions, to detect duplicates. It is large enough
// that collisions are rare, and the unpredictable test for new columns has no branch.
class SeenColumns {
   public:
    // For a row of at most n columns.
    void start_row(std::size_t n) {
        const std::size_t each = n < kLongRow ? kSlotsEach : 2;
        const std::size_t size = std::bit_ceil(std::max<std::size_t>(64, each * n));
        if (size > slots_.size()) slots_.assign(size, Slot{}), row_ = 0;
        if (++row_ == 0) slots_.assign(slots_.size(), Slot{}), row_ = 1;
        mask_ = size - 1;  // short rows use a small part of the table
    }

    // The position of the column if it is in the row already, else `place`.
    std::uint32_t place_of(std::uint32_t column, std::uint32_t place) {
        auto at =
            static_cast<std::size_t>(column * std::uint64_t{0x9e3779b97f4a7c15u} >> 32) & mask_;
        // One test for both cases; it fails only on collisions.
        while ((slots_[at].row == row_) & (slots_[at].column != column)) at = (at + 1) & mask_;
        Slot& slot = slots_[at];
        const std::uint32_t seen = -static_cast<std::uint32_t>(slot.row == row_);
        place = (slot.place & seen) | (place & ~seen);
        slot = {column, place, row_};
        return place;
    }

   private:
    struct Slot {
        std::uint32_t column = 0, place = 0, row = 0;
    };
    static constexpr std::size_t kSlotsEach = 8, kLongRow = 1 << 16;
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t row_ = 0;
};

// Contents of a block of lines.
struct Parsed {
    std::vector<std::int64_t> column, ends;
    std::vector<double> value, label, weight, base;
    Texts tag;
    Vocabulary names;  // of this block
    SeenColumns seen;
    Faults<VwReason> faults;
    std::int64_t n_lines = 0;
};

// Problem: parse lines, each ending with a line feed, to rows; report errors of invalid lines.
// Steps of a line:
//   1. Blank: no row. It separates multi-line examples, whose lines are separate rows here.
//   2. Words up to the first bar: the last one is the tag if it touches the bar or starts with ';
//      the others are label, importance and base.
//   3. After each bar: the name of a namespace and its scale, unless a blank follows the bar.
//   4. Features: name:value, or a name alone, with value 1.
//   5. Values of duplicate columns are added.
class BlockParser {
   public:
    BlockParser(const VwOptions& options, Parsed& out) : options_(options), out_(out) {
        if (options.bits) mask_ = (std::uint64_t{1} << *options.bits) - 1;
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
    static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    static constexpr std::size_t kMostScratch = 1 << 20;

    const VwOptions& options_;
    Parsed& out_;
    const char* line_ = nullptr;
    std::size_t n_ = 0, first_ = 0;  // features so far, and before this row
    std::uint64_t mask_ = 0, namespace_hash_ = 0, n_nameless_ = 0;
    std::string name_;  // of the feature, starting with its namespace
    std::size_t prefix_ = 0;
    double scale_ = 1;
    bool exact_ = true;  // whether to record errors and add duplicates at once

    void start_over(std::size_t n_bytes) {
        const std::size_t most = n_bytes / 2 + 2;  // a feature has at least two bytes
        if (out_.column.size() < most || out_.column.size() > std::max(most, kMostScratch)) {
            out_.column = std::vector<std::int64_t>(most);
            out_.value = std::vector<double>(most);
        }
        out_.ends.clear(), out_.label.clear(), out_.weight.clear(), out_.base.clear();
        out_.tag.clear();
        if (!options_.bits) out_.names.clear();
        out_.faults = {};
        out_.n_lines = 0;
        n_ = 0;
    }

    // Returns the start of the next line.
    const char* parse_line(const char* p) {
        while (is_blank(*p)) ++p;
        if (*p == '\n') return p + 1;  // step 1
        first_ = n_;
        const std::size_t n_names = out_.names.size();
        double label = kNone, weight = 1, base = 0;
        std::string_view tag;
        if (!parse_head(p, label, weight, base, tag)) return line_end(p) + 1;
        const char* const features = p;
        exact_ = false;
        const bool fine = parse_namespaces(p) && add_repeated();
        exact_ = true;
        if (!fine) {
            const std::size_t most = n_ - first_ + 1;
            n_ = first_;
            out_.names.cut(n_names);
            find_fault(features, most);
            return line_end(features) + 1;
        }
        out_.ends.push_back(static_cast<std::int64_t>(n_));
        out_.label.push_back(label);
        out_.weight.push_back(weight);
        out_.base.push_back(base);
        out_.tag.push(tag);
        return p + 1;
    }

    // Step 2. Leaves p at the first bar.
    bool parse_head(const char*& p, double& label, double& weight, double& base,
                    std::string_view& tag) {
        std::array<std::string_view, 5> word;
        std::size_t n = 0;
        while (*p != '|') {
            if (*p == '\n') return p = line_, fault(skip_blanks(line_), VwReason::bar_missing);
            if (is_blank(*p)) {
                while (is_blank(*p)) ++p;
                continue;
            }
            const char* const begin = p;
            p = word_end(p);
            if (n < word.size()) word[n] = {begin, static_cast<std::size_t>(p - begin)};
            ++n;
            if (n > word.size()) word.back() = {begin, static_cast<std::size_t>(p - begin)};
        }
        const std::size_t kept = std::min(n, word.size());
        if (n > 0 &&
            (word[kept - 1].data() + word[kept - 1].size() == p || word[kept - 1][0] == '\'')) {
            tag = word[kept - 1];
            --n;
        }
        if (n > 3) return fault(word[3].data(), VwReason::words_too_many);
        if (n > 0 && !parse_label(word[0], label)) return false;
        if (n > 1 && !parse_weight(word[1], weight)) return false;
        if (n > 2 && !parse_base(word[2], base)) return false;
        const char* const tag_begin = tag.data();
        if (tag.find('\0') != tag.npos) return fault(tag_begin, VwReason::nul_byte);
        if (!is_utf8(tag)) return fault(tag_begin, VwReason::not_utf8);
        if (!tag.empty() && tag[0] == '\'') tag.remove_prefix(1);
        return true;
    }

    static const char* skip_blanks(const char* p) {
        while (is_blank(*p)) ++p;
        return p;
    }

    static NumberState parse_word(std::string_view word, double& number) {
        const char* p = word.data();
        const NumberState state = parse_number(p, number);
        return p == word.data() + word.size() ? state : NumberState::no_number;
    }
    bool parse_label(std::string_view word, double& label) {
        const NumberState state = parse_word(word, label);
        if (state == NumberState::fine) return true;
        return fault(word.data(), state == NumberState::no_number ? VwReason::label_malformed
                                                                  : VwReason::label_not_finite);
    }
    bool parse_weight(std::string_view word, double& weight) {
        if (parse_word(word, weight) != NumberState::fine)
            return fault(word.data(), VwReason::weight_malformed);
        return weight >= 0 || fault(word.data(), VwReason::weight_negative);
    }
    bool parse_base(std::string_view word, double& base) {
        return parse_word(word, base) == NumberState::fine ||
               fault(word.data(), VwReason::base_malformed);
    }

    // Starts with p at a bar; leaves it at the end of the line.
    bool parse_namespaces(const char*& p) {
        while (*p == '|') {
            ++p;
            if (!parse_namespace(p)) return false;
            const char* const end = parse_features(p);
            if (end == nullptr) return false;
            p = end;
        }
        return true;
    }

    // Returns the bar or line feed after them, null on an error.
    const char* parse_features(const char* p) {
        for (;;) {
            p += *p == ' ';
            const std::uint64_t x = digits::load(p), marks = name_marks(x);
            const int n = std::countr_zero(marks) >> 3;  // 8: the name is longer
            const char* end = p + n;
            if (n == 0 || n == 8 || *end != ' ') {
                if (is_blank(*p)) {
                    ++p;
                    continue;
                }
                if (ends_word(*p)) return p;
                if (n == 8 || kind(*end) == Byte::other) end = name_end(end);
            }
            p = add_feature(p, end, x);
            if (p == nullptr) return nullptr;
        }
    }

    // Step 3.
    bool parse_namespace(const char*& p) {
        const char* const begin = p;
        scale_ = 1;
        n_nameless_ = 0;
        p = name_end(p);
        const std::string_view name(begin, static_cast<std::size_t>(p - begin));
        if (*p == ':') {
            if (name.empty()) return fault(begin, VwReason::namespace_missing);
            const char* const scale = ++p;
            if (!parse_value(p, scale_, VwReason::scale_malformed)) return p = scale, false;
        } else if (*p == '\0') {
            return fault(begin, VwReason::nul_byte);
        }
        namespace_hash_ = name.empty() ? 0 : vowpal_hash(name, 0);
        if (options_.bits) return true;
        if (!is_utf8(name)) return fault(begin, VwReason::not_utf8);
        name_.assign(name);
        if (!name.empty()) name_ += '^';
        prefix_ = name_.size();
        return true;
    }

    bool parse_value(const char*& p, double& value, VwReason malformed) {
        const char* const begin = p;
        const NumberState state = parse_number(p, value);
        if (state == NumberState::fine && ends_word(*p)) [[likely]]
            return true;
        if (!ends_word(*p) || state == NumberState::no_number) return fault(begin, malformed);
        return fault(begin, state == NumberState::too_large ? VwReason::value_too_large
                                                            : VwReason::value_not_finite);
    }

    // Step 4. The name of the feature is known, x has its first eight bytes; returns the end of the
    // feature, null on an error.
    const char* add_feature(const char* begin, const char* end, std::uint64_t x) {
        const std::string_view name(begin, static_cast<std::size_t>(end - begin));
        double value = 1;
        if (*end == ':') {
            const char* p = end + 1;
            if (!parse_value(p, value, VwReason::value_malformed)) return nullptr;
            end = p;
        } else if (*end == '\0') {
            return fault(begin, VwReason::nul_byte), nullptr;
        }
        std::uint32_t column;
        if (options_.bits)
            column = hashed(name, x);
        else if (!numbered(name, begin, column))
            return nullptr;
        if (add(column, value * scale_)) return end;
        return fault(begin, VwReason::value_too_large), nullptr;
    }

    // Duplicates are added when the row is complete, so that lookups do not wait for parsing.
    bool add(std::uint32_t column, double value) {
        if (exact_) return add_at_once(column, value);
        out_.column[n_] = column;
        out_.value[n_++] = value;
        return std::isfinite(value);
    }

    // Step 5. The slot after the last value is 0, so that new and known columns are added alike.
    bool add_repeated() {
        const auto n = static_cast<std::uint32_t>(n_ - first_);
        std::int64_t* const columns = out_.column.data() + first_;
        double* const values = out_.value.data() + first_;
        SeenColumns& seen = out_.seen;
        seen.start_row(n);
        std::uint32_t next = 0;
        bool finite = true;
        for (std::uint32_t k = 0; k < n; ++k) {
            const double value = values[k];
            const auto column = static_cast<std::uint32_t>(columns[k]);
            const std::uint32_t place = seen.place_of(column, next);
            values[next] = 0;
            columns[place] = column;
            const double sum = values[place] += value;
            next += place == next;
            finite &= std::isfinite(sum);
        }
        n_ = first_ + next;
        return finite;
    }

    bool add_at_once(std::uint32_t column, double value) {
        const auto next = static_cast<std::uint32_t>(n_ - first_);
        const std::uint32_t place = out_.seen.place_of(column, next);
        if (place == next) out_.value[n_++] = 0;
        return std::isfinite(out_.value[first_ + place] += value);
    }

    // Parses a line with an error, after fewer than `most` columns, again and slowly, and records
    // its first error.
    void find_fault(const char* p, std::size_t most) {
        const std::size_t n_names = out_.names.size();
        out_.seen.start_row(most);
        parse_namespaces(p);
        n_ = first_;
        out_.names.cut(n_names);
    }

    // x holds the first eight bytes.
    std::uint32_t hashed(std::string_view name, std::uint64_t x) {
        std::uint64_t hash;
        const auto n = static_cast<int>(name.size());
        if (name.size() > 7)
            hash = vowpal_hash(name, namespace_hash_);
        else if (static_cast<unsigned char>(x - '0') > 9 && n > 0)
            hash = murmur_short(x, n, static_cast<std::uint32_t>(namespace_hash_));
        else
            hash = short_number(x, n);
        return static_cast<std::uint32_t>(hash & mask_);
    }

    // Column of a name that starts with a digit, or of an empty name.
    std::uint64_t short_number(std::uint64_t x, int n) {
        if (n == 0) return namespace_hash_ + n_nameless_++;
        if (std::countr_zero(digits::others(x)) >> 3 >= n)
            return digits::first(x, n) + namespace_hash_;
        return murmur_short(x, n, static_cast<std::uint32_t>(namespace_hash_));
    }

    // An unnamed feature is numbered within its namespace.
    bool numbered(std::string_view name, const char* begin, std::uint32_t& column) {
        name_.resize(prefix_);
        if (name.empty())
            name_ += std::to_string(n_nameless_++);
        else
            name_ += name;
        const std::size_t known = out_.names.size();
        column = static_cast<std::uint32_t>(out_.names.number(name_, hash_bytes(name_)));
        return out_.names.size() == known || is_utf8(name) || fault(begin, VwReason::not_utf8);
    }

    bool fault(const char* at, VwReason reason) {
        if (!exact_) return false;
        const char* const end = word_end(at);
        std::string text(at, std::min(static_cast<std::size_t>(end - at), kShown));
        if (std::find(at, end, '\0') != end) reason = VwReason::nul_byte;
        out_.faults.add({out_.n_lines, at - line_ + 1, reason, std::move(text)});
        return false;
    }
};

}  // namespace vw_text

// Returned rows.
struct VwBatch {
    CsrArrays rows;
    std::int64_t n_features = 0;
    GrowableArray<double> label, weight, base;
    Texts tag;
};

// Reader of a stream of chunks.
class VwReader {
   public:
    VwReader(VwOptions options, std::function<void()> poll)
        : options_(options),
          poll_(std::move(poll)),
          parsed_(static_cast<std::size_t>(options.n_threads)) {}

    void feed(const char* data, std::size_t size) {
        if (stopped()) return;
        stream_.feed(data, size, [this](Block region) { read(region); });
    }

    void finish() {
        if (stopped()) return;
        stream_.finish([this](Block region) { read(region); });
    }

    const Faults<VwReason>& faults() const { return faults_; }
    std::int64_t n_rows() const { return rows_.n_rows(); }
    const Vocabulary& names() const { return names_; }

    // Returns at most the given number of rows.
    VwBatch take(std::int64_t most) {
        const std::int64_t n = std::min(most, n_rows());
        const auto size = static_cast<std::size_t>(n);
        VwBatch batch;
        batch.n_features = options_.bits ? std::int64_t{1} << *options_.bits
                                         : static_cast<std::int64_t>(names_.size());
        batch.rows = rows_.take(n);
        batch.label = label_.take(size);
        batch.weight = weight_.take(size);
        batch.base = base_.take(size);
        batch.tag = tag_.take(size);
        return batch;
    }

   private:
    struct Worker {
        VwReader& reader;
        vw_text::Parsed& parsed;
        vw_text::BlockParser parser;
        std::size_t place = 0;
        std::vector<std::int64_t> numbers{};  // of the names of the block

        Worker(VwReader& reader, vw_text::Parsed& parsed)
            : reader(reader), parsed(parsed), parser(reader.options_, parsed) {}

        void parse(Block block) { parser.parse(block); }
        template <class Wait>
        bool join(Wait) {
            return reader.join(*this);
        }
        void store() {
            const auto n = parsed.ends.empty() ? 0 : static_cast<std::size_t>(parsed.ends.back());
            if (!reader.options_.bits)
                for (std::size_t k = 0; k < n; ++k)
                    parsed.column[k] = numbers[static_cast<std::size_t>(parsed.column[k])];
            reader.rows_.write(place, parsed.column.data(), parsed.value.data(), n, 0);
        }
    };

    VwOptions options_;
    std::function<void()> poll_;
    LineStream stream_;
    std::vector<vw_text::Parsed> parsed_;
    Vocabulary names_;
    Faults<VwReason> faults_;
    CsrStore rows_;
    RowNumbers<double> label_, weight_, base_;
    RowTexts tag_;
    std::int64_t n_lines_ = 0;
    bool begun_ = false;

    static constexpr std::size_t kBlockBytes = 1 << 19;
    static constexpr std::size_t kBlocksAtOnce = 16;

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
        rows_.reserve(n_bytes / 2 + blocks.size(), n_bytes / 2 + blocks.size());
        std::vector<Worker> workers;
        for (auto& parsed : parsed_) workers.emplace_back(*this, parsed);
        run_in_order(blocks, workers);
    }

    bool join(Worker& worker) {
        vw_text::Parsed& block = worker.parsed;
        faults_.append(std::move(block.faults), n_lines_);
        n_lines_ += block.n_lines;
        if (stopped()) {
            block.ends.clear();
            return false;
        }
        worker.numbers.clear();
        for (std::size_t i = 0; i < block.names.size(); ++i)
            worker.numbers.push_back(names_.number(block.names[i], block.names.hash(i)));
        worker.place = rows_.join(block.ends);
        label_.append(block.label.data(), block.label.size());
        weight_.append(block.weight.data(), block.weight.size());
        base_.append(block.base.data(), block.base.size());
        tag_.append(block.tag);
        return true;
    }
};

}  // namespace separable
