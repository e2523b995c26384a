// Hashes of names: Vowpal Wabbit's, and one for tables.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "separable/data/numbers.hpp"

namespace separable {

// 32-bit MurmurHash3 (Austin Appleby, public domain), the hash of Vowpal Wabbit.
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

// The same for the first n <= 7 bytes of x, without branches on n.
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

// Vowpal Wabbit's hash of a name in a namespace with the given hash; a name of digits counts as
// that number.
inline std::uint64_t vowpal_hash(std::string_view name, std::uint64_t seed) {
    std::uint64_t number = 0;
    for (const char c : name) {
        if (c < '0' || c > '9') return murmur(name, static_cast<std::uint32_t>(seed));
        number = 10 * number + static_cast<std::uint64_t>(c - '0');
    }
    return number + seed;
}

// Exclusive or of the two halves of a product.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Two words that, with the size, determine up to 16 bytes; reads only these bytes.
struct ShortWords {
    std::uint64_t a = 0, b = 0;

    ShortWords() = default;
    ShortWords(const unsigned char* data, std::size_t size) {
        if (size >= 8)
            std::memcpy(&a, data, 8), std::memcpy(&b, data + size - 8, 8);
        else if (size >= 4)
            std::memcpy(&a, data, 4), std::memcpy(&b, data + size - 4, 4);
        else if (size > 0)
            a = data[0] | std::uint64_t{data[size / 2]} << 8 | std::uint64_t{data[size - 1]} << 16;
    }
    bool operator==(const ShortWords&) const = default;
};

// Hash of bytes for in-memory tables; reads only these bytes.
inline std::uint64_t hash_bytes(const unsigned char* data, std::size_t size) {
    constexpr std::uint64_t k0 = 0xa0761d6478bd642fULL, k1 = 0xe7037ed1a0b428dbULL;
    const auto word = [](const unsigned char* at, std::size_t n) {
        std::uint64_t w = 0;
        std::memcpy(&w, at, n);
        return w;
    };
    std::uint64_t state = k0 ^ size;
    while (size > 16) {
        state = mixed(word(data, 8) ^ k1, word(data + 8, 8) ^ state);
        data += 16, size -= 16;
    }
    const ShortWords rest(data, size);
    return mixed(k1 ^ rest.a, state ^ rest.b);
}
inline std::uint64_t hash_bytes(std::string_view text) {
    return hash_bytes(reinterpret_cast<const unsigned char*>(text.data()), text.size());
}

}  // namespace separable
