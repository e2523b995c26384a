// Random orders that are the same everywhere.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace separable {

// Shuffles that are a function of (seed, round, number of things) alone.
class Shuffle {
   public:
    Shuffle(std::uint64_t seed, std::uint64_t round) : state_(mix(seed ^ mix(round))) {}

    template <class T>
    void operator()(std::span<T> things) {  // Fisher-Yates
        for (std::uint64_t left = things.size(); left > 1; --left)
            std::swap(things[left - 1], things[below(left)]);
    }

    // A number below n: the high half of a 128-bit product (Lemire 2019), bias below n / 2^64.
    std::uint64_t below(std::uint64_t n) {
        state_ += 0x9e3779b97f4a7c15u;
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(mix(state_)) * n) >> 64);
    }

   private:
    // SplitMix64 (Steele, Lea, Flood 2014).
    static std::uint64_t mix(std::uint64_t z) {
        z += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }

    std::uint64_t state_;
};

}  // namespace separable
