// Scanner: one document to tokens in lower case.
//
// The bytes of an n-gram of characters run from the start of its first token to the end of its
// last. Words keep their position in the document; `join` concatenates them with single spaces, so
// that this is true of word n-grams, too.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "separable/text/documents.hpp"
#include "separable/text/maps.hpp"

namespace separable::text {

enum class Analyzer { kWord, kChar, kCharWb };

struct Token {
    std::uint32_t start, stop;  // bytes of the buffer
};

class Scanner {
   public:
    // `shortest`: minimum number of characters of a word.
    Scanner(Analyzer analyzer, bool lowercase, std::size_t shortest, Alphabet alphabet)
        : analyzer_(analyzer), lowercase_(lowercase), shortest_(shortest), alphabet_(alphabet) {}

    void scan(const Document& document) {
        tokens_.clear(), segment_stops_.clear();
        // lower case at most doubles the bytes of a code point; one-byte words get two spaces;
        // readers of tokens may read 8 bytes
        const std::size_t room = 4 * document.text.size() + 80;
        if (buffer_.size() < room) buffer_.resize(room);
        if (analyzer_ == Analyzer::kWord) {
            if (document.ascii)
                ascii_words(document.text);
            else
                unicode_words(document.text);
        } else if (document.ascii) {
            characters<true>(document.text);
        } else {
            characters<false>(document.text);
        }
    }

    // Removes the tokens for which `drop` is true.
    template <class Drop>
    void drop(Drop drop) {
        std::size_t n = 0;
        for (std::size_t i = 0; i < tokens_.size(); ++i)
            if (!drop(gram(i, 1), tag(i))) tokens_[n++] = tokens_[i];
        tokens_.resize(n);
    }

    // Concatenates the words, separated by one space.
    void join() {
        if (analyzer_ != Analyzer::kWord) return;
        joined_.clear();
        for (Token& token : tokens_) {
            const auto start = static_cast<std::uint32_t>(joined_.size());
            joined_.insert(joined_.end(), buffer_.data() + token.start,
                           buffer_.data() + token.stop);
            token = {start, static_cast<std::uint32_t>(joined_.size())};
            joined_.push_back(' ');
        }
        joined_.resize(joined_.size() + 16);
        joined_.swap(buffer_);
    }

    const std::vector<Token>& tokens() const { return tokens_; }
    std::string_view gram(std::size_t first, std::size_t n) const {
        const std::uint32_t start = tokens_[first].start;
        return {buffer_.data() + start, tokens_[first + n - 1].stop - start};
    }
    std::uint64_t tag(std::size_t i) const {
        return tag_of(buffer_.data() + tokens_[i].start, tokens_[i].stop - tokens_[i].start);
    }
    // Whether n-grams stay inside words, which end at the token segment_stop.
    bool bounded() const { return analyzer_ == Analyzer::kCharWb; }
    std::size_t segment_stop(std::size_t i) const { return segment_stops_[i]; }

   private:
    struct Character {
        std::uint8_t flags;
        std::uint32_t length;
    };

    // Writes the character at p in lower case to out and advances out.
    template <bool kAsciiOnly>
    Character copy(const char* p, const char* end, char*& out) const {
        const auto byte = static_cast<std::uint8_t>(*p);
        if (kAsciiOnly || byte < 0x80) {
            *out++ = lowercase_ ? kAscii.lower[byte] : *p;
            return {kAscii.flags[byte], 1};
        }
        const CodePoint c = decode(p, end);
        const std::uint32_t value = lowercase_ ? alphabet_.lower[c.value] : c.value;
        out = encode(value, out);
        return {alphabet_.flags[value], c.length};
    }

    // Runs of at least `shortest` word characters; for 2: \b\w\w+\b.
    void ascii_words(std::string_view text) {
        const std::size_t n = text.size();
        char* const out = buffer_.data();
        std::memset(out + n, 0, 8);  // ends the last word
        if (lowercase_)
            for (std::size_t i = 0; i < n; ++i) {
                const char c = text[i];
                out[i] = static_cast<char>(c | (c >= 'A' && c <= 'Z' ? 32 : 0));
            }
        else
            std::memcpy(out, text.data(), n);
        std::uint64_t inside = 0;  // whether the previous character is a word character
        bool open = false;
        std::size_t start = 0;
        for (std::size_t i = 0; i <= n; i += 64) {
            const std::uint64_t words = word_bits(out + i, std::min<std::size_t>(64, n + 1 - i));
            std::uint64_t changes = words ^ (words << 1 | inside);
            inside = words >> 63;
            for (; changes != 0; changes &= changes - 1, open = !open) {
                const std::size_t at = i + static_cast<std::size_t>(std::countr_zero(changes));
                if (!open)
                    start = at;
                else if (at - start >= shortest_)
                    push(out + start, out + at);
            }
        }
    }

    // A bit for each of up to 64 ASCII characters: whether it is a word character.
    static std::uint64_t word_bits(const char* p, std::size_t n) {
        std::uint64_t bits = 0;
        for (std::size_t k = 0; k < n; k += 8) {
            std::uint64_t x;
            std::memcpy(&x, p + k, 8);
            bits |= word_bits8(x) << k;
        }
        return n == 64 ? bits : bits & ((std::uint64_t{1} << n) - 1);
    }
    // The same for 8 bytes, all below 0x80: adding 0x80 - c sets the upper bit of the bytes >= c.
    static std::uint64_t word_bits8(std::uint64_t x) {
        constexpr std::uint64_t kOnes = 0x0101010101010101u, kTops = 0x80 * kOnes;
        const auto at_least = [&](std::uint64_t y, std::uint64_t low) {
            return y + (0x80 - low) * kOnes;
        };
        const std::uint64_t folded = x | 0x20 * kOnes;
        const std::uint64_t letters = at_least(folded, 'a') & ~at_least(folded, 'z' + 1);
        const std::uint64_t digits = at_least(x, '0') & ~at_least(x, '9' + 1);
        const std::uint64_t line = ~at_least(x ^ '_' * kOnes, 1);
        const std::uint64_t found = (letters | digits | line) & kTops;
        return (found >> 7) * 0x0102040810204080u >> 56;
    }

    void unicode_words(std::string_view text) {
        char* out = buffer_.data();
        char* start = out;
        std::size_t length = 0;
        const char* const end = text.data() + text.size();
        const auto finish = [&] {
            if (length >= shortest_)
                push(start, out);
            else
                out = start;
            start = out, length = 0;
        };
        for (const char* p = text.data(); p < end;) {
            char* const before = out;
            const Character c = copy<false>(p, end, out);
            p += c.length;
            if (c.flags & kWord) {
                ++length;
            } else {
                out = before;
                if (length > 0) finish();
            }
        }
        if (length > 0) finish();
    }

    template <bool kAsciiOnly>
    void characters(std::string_view text) {
        char* out = buffer_.data();
        const char* const end = text.data() + text.size();
        const bool bounded = analyzer_ == Analyzer::kCharWb;
        const auto space = [&] {
            char* const start = out;
            *out++ = ' ';
            push(start, out);
        };
        bool in_word = false;
        std::size_t spaces = 0;
        for (const char* p = text.data(); p < end;) {
            char* const start = out;
            const Character c = copy<kAsciiOnly>(p, end, out);
            p += c.length;
            if (!(c.flags & kSpace)) {
                if (bounded && !in_word) {
                    out = start;
                    space();
                    char* const moved = out;
                    copy<kAsciiOnly>(p - c.length, end, out);
                    push(moved, out);
                } else {
                    push(start, out);
                }
                in_word = true, spaces = 0;
            } else if (bounded) {
                out = start;
                if (in_word) space(), close();
                in_word = false;
            } else if (++spaces == 1) {
                push(start, out);
            } else {  // runs of white space become one space
                out = buffer_.data() + tokens_.back().start;
                tokens_.pop_back();
                space();
            }
        }
        if (bounded && in_word) space(), close();
    }

    void push(const char* start, const char* stop) {
        tokens_.push_back({static_cast<std::uint32_t>(start - buffer_.data()),
                           static_cast<std::uint32_t>(stop - buffer_.data())});
    }
    void close() {
        segment_stops_.resize(tokens_.size(), static_cast<std::uint32_t>(tokens_.size()));
    }

    Analyzer analyzer_;
    bool lowercase_;
    std::size_t shortest_;
    Alphabet alphabet_;
    std::vector<char> buffer_, joined_;
    std::vector<Token> tokens_;
    std::vector<std::uint32_t> segment_stops_;
};

}  // namespace separable::text
