// Character classes: word characters, white space, and lower case.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace separable::text {

inline constexpr std::uint8_t kWord = 1, kSpace = 2;

struct AsciiClass {
    std::array<std::uint8_t, 128> flags{};
    std::array<char, 128> lower{};
};

// ASCII classes, as in Python's `str.isalnum`, '_', `str.isspace` and `str.lower`.
constexpr AsciiClass make_ascii() {
    AsciiClass table{};
    for (int c = 0; c < 128; ++c) {
        const bool upper = c >= 'A' && c <= 'Z', small = c >= 'a' && c <= 'z';
        const bool digit = c >= '0' && c <= '9';
        const bool space = (c >= 9 && c <= 13) || (c >= 28 && c <= 32);
        const auto at = static_cast<std::size_t>(c);
        table.flags[at] = static_cast<std::uint8_t>(
            (upper || small || digit || c == '_' ? kWord : 0) | (space ? kSpace : 0));
        table.lower[at] = static_cast<char>(upper ? c + 32 : c);
    }
    return table;
}

inline constexpr AsciiClass kAscii = make_ascii();
inline constexpr std::size_t kCodePoints = 0x110000;

// Tables of kCodePoints entries, built from the running Python; null while all text is ASCII.
struct Alphabet {
    const std::uint8_t* flags = nullptr;
    const std::uint32_t* lower = nullptr;
};

struct CodePoint {
    std::uint32_t value;
    std::uint32_t length;  // in bytes; 0: the bytes are not UTF-8
};

inline bool is_continuation(char byte) { return (static_cast<std::uint8_t>(byte) & 0xC0) == 0x80; }

// Reads one code point; rejects overlong forms, surrogates and invalid values.
inline CodePoint decode(const char* p, const char* end) {
    const auto b = [&](int i) {
        return static_cast<std::uint32_t>(static_cast<std::uint8_t>(p[i]));
    };
    const std::uint32_t first = b(0);
    if (first < 0x80) return {first, 1};
    if (first < 0xC2 || first > 0xF4) return {0, 0};
    const int more = first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
    if (end - p <= more) return {0, 0};
    for (int i = 1; i <= more; ++i)
        if (!is_continuation(p[i])) return {0, 0};
    if (more == 1) return {(first & 0x1F) << 6 | (b(1) & 0x3F), 2};
    if (more == 2) {
        const std::uint32_t value = (first & 0x0F) << 12 | (b(1) & 0x3F) << 6 | (b(2) & 0x3F);
        if (value < 0x800 || (value >= 0xD800 && value < 0xE000)) return {0, 0};
        return {value, 3};
    }
    const std::uint32_t value =
        (first & 0x07) << 18 | (b(1) & 0x3F) << 12 | (b(2) & 0x3F) << 6 | (b(3) & 0x3F);
    if (value < 0x10000 || value >= kCodePoints) return {0, 0};
    return {value, 4};
}

// Writes one code point and returns its end; needs space for 4 bytes.
inline char* encode(std::uint32_t value, char* out) {
    const auto put = [&](std::uint32_t byte) { *out++ = static_cast<char>(byte); };
    if (value < 0x80) {
        put(value);
    } else if (value < 0x800) {
        put(0xC0 | value >> 6), put(0x80 | (value & 0x3F));
    } else if (value < 0x10000) {
        put(0xE0 | value >> 12), put(0x80 | (value >> 6 & 0x3F)), put(0x80 | (value & 0x3F));
    } else {
        put(0xF0 | value >> 18), put(0x80 | (value >> 12 & 0x3F));
        put(0x80 | (value >> 6 & 0x3F)), put(0x80 | (value & 0x3F));
    }
    return out;
}

}  // namespace separable::text
