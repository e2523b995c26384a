// Numbers in text: runs of digits, and decimal numbers rounded correctly.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace separable {

// Readers may read up to this many bytes past the byte that ends a number.
inline constexpr std::size_t kBytesAhead = 32;

__extension__ using Wide = unsigned __int128;

namespace digits {

// The 8 bytes at p, little-endian.
inline std::uint64_t load(const char* p) {
    std::uint64_t x;
    std::memcpy(&x, p, sizeof x);
    if constexpr (std::endian::native == std::endian::big) x = __builtin_bswap64(x);
    return x;
}

// Highest bit set for each byte that is not a digit.
inline std::uint64_t others(std::uint64_t x) {
    const std::uint64_t y = x ^ 0x3030303030303030u;  // digits become 0 ... 9
    return (((y & 0x7f7f7f7f7f7f7f7fu) + 0x7676767676767676u) | y) & 0x8080808080808080u;
}

// The value of the first k <= 7 digits of x, or of all 8.
inline std::uint64_t eight(std::uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    const std::uint64_t pairs = 0x000000ff000000ffu;
    return ((digits & pairs) * 0x000f424000000064u +
            ((digits >> 16) & pairs) * 0x0000271000000001u) >>
           32;
}
inline std::uint64_t first(std::uint64_t x, int k) {
    return eight(((x ^ 0x3030303030303030u) << (56 - 8 * k)) << 8);
}
inline std::uint64_t all(std::uint64_t x) { return eight(x ^ 0x3030303030303030u); }

inline constexpr std::array<std::uint64_t, 8> kTens = {1,      10,      100,       1'000,
                                                       10'000, 100'000, 1'000'000, 10'000'000};

// Appends the digits at p to w, modulo 2^64; returns their end.
inline const char* append(const char* p, std::uint64_t& w) {
    for (;;) {
        const std::uint64_t x = load(p), stop = others(x);
        if (stop != 0) {
            const int k = std::countr_zero(stop) >> 3;
            w = w * kTens[static_cast<std::size_t>(k)] + first(x, k);
            return p + k;
        }
        w = w * 100'000'000 + all(x);
        p += 8;
    }
}

}  // namespace digits

enum class NumberState : std::uint8_t { fine, no_number, too_large, nan, infinity };

namespace detail {

template <class T, int N>
constexpr std::array<T, N> powers(T base) {
    std::array<T, N> table{};
    T power = 1;
    for (auto& each : table) each = power, power *= base;
    return table;
}

inline constexpr auto kFives = powers<std::uint64_t, 28>(5);  // 5^27 < 2^63

// 2^k, for -1022 <= k <= 1023.
inline double power_of_two(int k) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(1023 + k) << 52);
}

// 5^k normalized (highest bit set), and 2^127 divided by it, rounded up.
struct Divisor {
    std::uint64_t shifted, inverse;
    int shift;
};
inline constexpr auto kDivisors = [] {
    std::array<Divisor, 28> table{};
    for (std::size_t k = 1; k < table.size(); ++k) {
        const int shift = std::countl_zero(kFives[k]);
        const std::uint64_t shifted = kFives[k] << shift;
        const Wide inverse = (Wide{1} << 127) / shifted + 1;
        table[k] = {shifted, static_cast<std::uint64_t>(inverse), shift};
    }
    return table;
}();

// w * 10^e rounded once, for w > 0 and -27 <= e <= 27, in integers.
//
// e < 0: with w and 5^-e normalized, W / D lies between 1/2 and 2, so Q = W 2^63 / D has 63 or 64
// bits; 10 or 11 of them are dropped. The high half of W times the inverse differs from Q by less
// than 1, which determines the rounding unless the dropped bits are next to one half. Then Q is
// divided exactly; its lowest bit includes whether there is a remainder, which decides ties. The
// remaining factor is a power of two. e >= 0: the same with the 127 bits of w 5^e.
inline double scaled_exactly(std::uint64_t w, int e) {
    if (e < 0) {
        const Divisor& d = kDivisors[static_cast<std::size_t>(-e)];
        const int shift = std::countl_zero(w);
        w <<= shift;
        auto quotient = static_cast<std::uint64_t>(static_cast<Wide>(w) * d.inverse >> 64);
        const int dropped = 10 + static_cast<int>(quotient >> 63);
        const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
        const std::uint64_t low = quotient & (2 * half - 1);
        if (low - (half - 1) <= 2) [[unlikely]] {
            const Wide dividend = static_cast<Wide>(w) << 63;
            quotient = static_cast<std::uint64_t>(dividend / d.shifted);
            quotient |= static_cast<Wide>(quotient) * d.shifted != dividend;
        }
        return static_cast<double>(quotient) * power_of_two(d.shift - shift + e - 63);
    }
    const Wide product = static_cast<Wide>(w) * kFives[static_cast<std::size_t>(e)];
    const auto high = static_cast<std::uint64_t>(product >> 64);
    if (high == 0)
        return static_cast<double>(static_cast<std::uint64_t>(product)) * power_of_two(e);
    const int shift = std::countl_zero(high);
    const Wide left = product << shift;
    const auto top =
        static_cast<std::uint64_t>(left >> 64) | (static_cast<std::uint64_t>(left) != 0);
    return static_cast<double>(top) * power_of_two(64 - shift + e);
}

// A well-formed unsigned number of any length, from `first` to `last`.
inline NumberState slow_number(const char* first, const char* last, double& number) {
    const auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc{} && end == last) return NumberState::fine;
    // Overflow or underflow: the power of ten of the first non-zero digit decides.
    const char* point = first;
    while (point < last && *point >= '0' && *point <= '9') ++point;
    const char* lead = first;
    while (lead < last && (*lead == '0' || *lead == '.')) ++lead;
    std::int64_t power = point - lead;
    const char* mark = first;
    while (mark < last && (*mark | 0x20) != 'e') ++mark;
    if (mark < last) {
        const bool negative = mark[1] == '-';
        std::int64_t e = 0;
        for (const char* p = mark + 1 + (mark[1] == '-' || mark[1] == '+'); p < last; ++p)
            if (e < (std::int64_t{1} << 58)) e = 10 * e + (*p - '0');
        power += negative ? -e : e;
    }
    number = 0;
    return power > 0 ? NumberState::too_large : NumberState::fine;
}

inline bool same_word(const char* p, const char* word) {
    for (; *word; ++p, ++word)
        if ((*p | 0x20) != *word) return false;
    return true;
}

}  // namespace detail

// Parses a decimal number: sign, digits with an optional point, exponent. Sets the number, rounded
// to nearest, ties to even, and p to its end. Precondition: a byte that is not part of a number
// follows, and kBytesAhead more bytes are readable. NaN and infinity are recognized as words.
//
//   1. w = all digits, e = exponent minus the number of digits after the point.
//   2. w < 2^64 and |e| <= 27: 128-bit integers. One path for nearly all numbers is faster than a
//      shorter path for some of them, because of mispredicted branches.
//   3. Otherwise std::from_chars.
inline NumberState parse_number(const char*& p, double& number) {
    const bool negative = *p == '-';
    p += negative || *p == '+';
    const char* const first = p;
    std::uint64_t w = 0;
    const auto lead = static_cast<unsigned char>(*p - '0');
    if (lead <= 9 && p[1] == '.')  // common case: skip the search for the point
        w = lead, ++p;
    else
        p = digits::append(p, w);
    std::int64_t n_digits = p - first, significant = w == 0 ? 0 : n_digits, e = 0;
    if (n_digits > 19) significant = n_digits;
    if (*p == '.') {
        const char* const fraction = ++p;
        p = digits::append(p, w);
        e = fraction - p;
        n_digits -= e;
        significant -= e;
    }
    if (n_digits == 0) {
        p = first;
        if (detail::same_word(p, "nan")) return p += 3, NumberState::nan;
        if (detail::same_word(p, "infinity")) return p += 8, NumberState::infinity;
        if (detail::same_word(p, "inf")) return p += 3, NumberState::infinity;
        return NumberState::no_number;
    }
    if ((*p | 0x20) == 'e') {
        const char* const exponent = p + 1 + (p[1] == '-' || p[1] == '+');
        std::uint64_t size = 0;
        const char* const end = digits::append(exponent, size);
        if (end == exponent) return NumberState::no_number;
        if (end - exponent > 8) size = 100'000'000;
        e += p[1] == '-' ? -static_cast<std::int64_t>(size) : static_cast<std::int64_t>(size);
        p = end;
    }
    NumberState state = NumberState::fine;
    if (significant <= 19 && e >= -27 && e <= 27 && w != 0) [[likely]]
        number = e == 0 ? static_cast<double>(w) : detail::scaled_exactly(w, static_cast<int>(e));
    else if (w == 0 && significant <= 19)
        number = 0;
    else
        state = detail::slow_number(first, p, number);
    if (negative) number = -number;
    return state;
}

}  // namespace separable
