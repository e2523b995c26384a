// Hashes of rows: 64 bits that do not depend on machine, process, row format or order of columns.
#pragma once

#include <bit>
#include <cstdint>

#include "separable/data/rows.hpp"

namespace separable {

// The finaliser of splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014).
inline std::uint64_t splitmix(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

// Problem:  recognize equal rows by one number.
// Given:    a row without duplicate columns.
// Returns:  h = mix(sum_j mix(bits(x_j) + (j + 1) g) mod 2^64) over the columns with x_j != 0, as
//           float64; g is the golden ratio in 64 bits. Zeros add nothing, and the sum does not
//           depend on the order, so a row has the same hash dense, sparse and with unsorted
//           columns.
template <Row R>
std::uint64_t hash_row(const R& row) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    std::uint64_t sum = 0;
    for (std::int64_t k = 0; k < row.size(); ++k) {
        const auto x = static_cast<double>(row.value(k));
        const auto column = static_cast<std::uint64_t>(row.index(k)) + 1;
        sum += x == 0 ? 0 : splitmix(std::bit_cast<std::uint64_t>(x) + column * golden);
    }
    return splitmix(sum);
}

}  // namespace separable
