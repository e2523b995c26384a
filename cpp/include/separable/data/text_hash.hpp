// Hashes of names: Vowpal Wabbit's, and one for tables.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "separable/data/numbers.hpp"

namespace separable {

// MurmurHash3 of 32 bits (Austin Appleby, public domain), with which Vowpal Wabbit numbers names.
inline std::uint32_t murmur(std::string_view text, std::uint32_t seed) {
    constexpr std::uint32_t a = 0xcc9e2d51, b = 0x1b873593;
    std::uint32_t h = seed;
    const char* p = text.data();
    std::size_t left = text.size();
    for (; left >= 4; left -= 4, p += 4) {
        std::uint32_t k;
        std::memcpy(&k, p, 4);
        if constexpr (std::endian::native == std::endian::big) k = __builtin_bswap32(k);
        h = std::rotl(h ^ std::rotl(k * a, 15) * b, 13) * 5 + 0xe6546b64;
    }
    std::uint32_t tail = 0;
    for (std::size_t k = left; k-- > 0;) tail = tail << 8 | static_cast<unsigned char>(p[k]);
    if (left > 0) h ^= std::rotl(tail * a, 15) * b;
    h ^= static_cast<std::uint32_t>(text.size());
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

// The same of the first n <= 7 bytes of x, without a branch that depends on n.
inline std::uint32_t murmur_short(std::uint64_t x, int n, std::uint32_t seed) {
    constexpr std::uint32_t a = 0xcc9e2d51, b = 0x1b873593;
    x &= (std::uint64_t{1} << 8 * n) - 1;
    const auto scramble = [](std::uint32_t k) { return std::rotl(k * a, 15) * b; };
    const auto low = static_cast<std::uint32_t>(x), high = static_cast<std::uint32_t>(x >> 32);
    const std::uint32_t mixed = seed ^ scramble(low);
    const std::uint32_t block = (std::rotl(mixed, 13) * 5 + 0xe6546b64) ^ scramble(high);
    std::uint32_t h = (n >= 4 ? block : mixed) ^ static_cast<std::uint32_t>(n);
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    return h ^ h >> 16;
}

// Vowpal Wabbit's number of a name within a namespace of the given number: a name of digits counts
// as the number that it is.
inline std::uint64_t vowpal_hash(std::string_view name, std::uint64_t seed) {
    std::uint64_t number = 0;
    for (const char c : name) {
        if (c < '0' || c > '9') return murmur(name, static_cast<std::uint32_t>(seed));
        number = 10 * number + static_cast<std::uint64_t>(c - '0');
    }
    return number + seed;
}

// A hash of 64 bits for tables in memory.
inline std::uint64_t table_hash(std::string_view text) {
    const auto mix = [](std::uint64_t x, std::uint64_t y) {
        const Wide product = static_cast<Wide>(x) * y;
        return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
    };
    std::uint64_t h = 0x9e3779b97f4a7c15u ^ text.size();
    const char* p = text.data();
    std::size_t left = text.size();
    std::uint64_t word = 0;
    for (; left >= 8; left -= 8, p += 8) {
        std::memcpy(&word, p, 8);
        h = mix(h ^ word, 0xa0761d6478bd642fu);
    }
    word = 0;
    std::memcpy(&word, p, left);
    return mix(h ^ word, 0xe7037ed1a0b428dbu);
}

}  // namespace separable
