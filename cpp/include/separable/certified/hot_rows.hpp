// Rows with a large duality gap in the last pass, which the next pass visits a few more times. At
// large C most of the remaining gap comes from near-duplicate rows with different labels, such as
// texts that quote each other.
#pragma once

#include <cstdint>
#include <vector>

namespace separable {

// Rows whose gap is kLargeGap times the average are visited kRounds more times, with at most
// 1 / kWorkFraction of the work.
struct HotRows {
    static constexpr int kRounds = 8, kWorkFraction = 8;
    static constexpr double kLargeGap = 16;

    // Returns the rows of an order that are hot in any of `lanes`. In each lane only the first rows
    // within the limit stay hot. `hot` has a bit for each lane.
    template <class Order>
    static std::vector<std::int64_t> of(const Order& order, std::int64_t n_rows,
                                        std::uint32_t lanes, std::uint16_t* hot) {
        std::vector<std::int64_t> repeated, left(16, n_rows / (kWorkFraction * kRounds) + 1);
        for (std::size_t k = 0; k < order.size(); ++k) {
            std::uint16_t& bits = hot[order[k]];
            if ((bits & lanes) == 0) continue;
            for (int l = 0; l < 16; ++l)
                if ((bits & lanes) >> l & 1u && left[static_cast<std::size_t>(l)]-- <= 0)
                    bits &= static_cast<std::uint16_t>(~(1u << l));
            repeated.push_back(order[k]);
        }
        return repeated;
    }
};

}  // namespace separable
