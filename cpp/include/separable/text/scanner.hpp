// Scanner: one document to lower-cased tokens, laid one behind the other.
//
// Words stand with one space between them, so that the bytes of an n-gram, which scikit-learn
// joins with spaces, are those from the start of its first token to the end of its last.
// Characters stand without a space between them, so that the same holds for them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "separable/text/documents.hpp"

namespace separable::text {

enum class Analyzer { kWord, kChar, kCharWb };

struct Token {
    std::uint32_t start, stop;  // bytes of the buffer
};

class Scanner {
   public:
    // `shortest`: the characters that a word has to have.
    Scanner(Analyzer analyzer, bool lowercase, std::size_t shortest, Alphabet alphabet)
        : analyzer_(analyzer), lowercase_(lowercase), shortest_(shortest), alphabet_(alphabet) {}

    void scan(const Document& document) {
        tokens_.clear(), segment_stops_.clear();
        // a code point takes at most twice its bytes in lower case; every word of one byte gets
        // two spaces; whoever reads a token may read 8 bytes
        const std::size_t room = 4 * document.text.size() + 16;
        if (buffer_.size() < room) buffer_.resize(room);
        if (analyzer_ == Analyzer::kWord) {
            if (document.ascii)
                words<true>(document.text);
            else
                words<false>(document.text);
        } else if (document.ascii) {
            characters<true>(document.text);
        } else {
            characters<false>(document.text);
        }
    }

    const std::vector<Token>& tokens() const { return tokens_; }
    const char* bytes() const { return buffer_.data(); }
    std::string_view gram(std::size_t first, std::size_t n) const {
        const std::uint32_t start = tokens_[first].start;
        return {buffer_.data() + start, tokens_[first + n - 1].stop - start};
    }
    // Whether n-grams stay inside words, which end at the token segment_stop.
    bool bounded() const { return analyzer_ == Analyzer::kCharWb; }
    std::size_t segment_stop(std::size_t i) const { return segment_stops_[i]; }

   private:
    struct Character {
        std::uint8_t flags;
        std::uint32_t length;
    };

    // Copies one character at p in lower case to out, which is moved behind it.
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

    // Runs of `shortest` or more characters of words, for 2: \b\w\w+\b.
    template <bool kAsciiOnly>
    void words(std::string_view text) {
        char* out = buffer_.data();
        char* start = out;
        std::size_t length = 0;
        const char* const end = text.data() + text.size();
        const auto finish = [&] {
            if (length >= shortest_) {
                push(start, out);
                *out++ = ' ';
            } else {
                out = start;
            }
            start = out, length = 0;
        };
        for (const char* p = text.data(); p < end;) {
            char* const before = out;
            const Character c = copy<kAsciiOnly>(p, end, out);
            p += c.length;
            if (c.flags & kWord) {
                ++length;
            } else {
                out = before;
                if (out != start) finish();
            }
        }
        if (out != start) finish();
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
            } else {  // two or more in a row become one space
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
    std::vector<char> buffer_;
    std::vector<Token> tokens_;
    std::vector<std::uint32_t> segment_stops_;
};

}  // namespace separable::text
