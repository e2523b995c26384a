// Documents: the UTF-8 bytes of many texts, owned by the caller.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "separable/data/utf8.hpp"
#include "separable/text/alphabet.hpp"

namespace separable::text {

inline bool is_ascii(std::string_view text) {
    const char* p = text.data();
    const char* const end = p + text.size();
    std::uint64_t seen = 0;
    for (; end - p >= 64; p += 64) {
        std::uint64_t words[8];
        std::memcpy(words, p, 64);
        for (const std::uint64_t word : words) seen |= word;
        if (seen & 0x8080808080808080u) return false;
    }
    for (; p < end; ++p) seen |= static_cast<std::uint8_t>(*p);
    return (seen & 0x8080808080808080u) == 0;
}

struct Document {
    std::string_view text;
    bool ascii;
};

class Documents {
   public:
    static constexpr std::size_t kLongest = 0x3FFFFFFF;  // so that positions fit into 32 bits

    // Returns false and adds nothing if the bytes are not UTF-8 or longer than kLongest.
    bool add(std::string_view text) {
        const bool ascii = is_ascii(text);
        return (ascii || is_utf8(text)) && add_known(text, ascii);
    }
    // The same for bytes known to be UTF-8, and to be ASCII or not.
    bool add_known(std::string_view text, bool ascii) {
        if (text.size() > kLongest) return false;
        ascii_ = ascii_ && ascii;
        bytes_ += static_cast<std::int64_t>(text.size());
        documents_.push_back({text, ascii});
        return true;
    }
    void reserve(std::size_t n) { documents_.reserve(n); }
    void replace(std::size_t i, std::string_view text) { documents_[i] = {text, is_ascii(text)}; }

    std::size_t size() const { return documents_.size(); }
    std::int64_t bytes() const { return bytes_; }
    bool ascii() const { return ascii_; }
    const Document& operator[](std::size_t i) const { return documents_[i]; }

    // Starts of `n` blocks with about the same number of bytes, and the end.
    std::vector<std::size_t> blocks(std::size_t n) const {
        std::vector<std::size_t> starts{0};
        std::int64_t seen = 0;
        for (std::size_t i = 0; i < size() && starts.size() < n; ++i) {
            if (seen * static_cast<std::int64_t>(n) >=
                    bytes_ * static_cast<std::int64_t>(starts.size()) &&
                i > starts.back())
                starts.push_back(i);
            seen += static_cast<std::int64_t>(documents_[i].text.size());
        }
        starts.push_back(size());
        return starts;
    }

   private:
    std::vector<Document> documents_;
    std::int64_t bytes_ = 0;
    bool ascii_ = true;
};

}  // namespace separable::text
