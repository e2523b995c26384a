// Rows that added far more to the gap than others in the last pass: they are taken a few times more
// at the start of the next. Rows that are alike but for their label, as texts that quote each
// other, hold most of what is left of the gap at large C.
#pragma once

#include <cstdint>
#include <vector>

namespace separable {

// Rows that added kMuch times as much to the gap as one does on average are taken kRounds times
// more; for that goes at most one in kShare of the work.
struct HotRows {
    static constexpr int kRounds = 8, kShare = 8;
    static constexpr double kMuch = 16;

    // Returns the rows of an order that are hot in some of `lanes`; in each lane the first of them,
    // as many as it may take, stay hot. `hot` has a bit for each lane.
    template <class Order>
    static std::vector<std::int64_t> of(const Order& order, std::int64_t n_rows,
                                        std::uint32_t lanes, std::uint16_t* hot) {
        std::vector<std::int64_t> again, left(16, n_rows / (kShare * kRounds) + 1);
        for (std::size_t k = 0; k < order.size(); ++k) {
            std::uint16_t& mine = hot[order[k]];
            if ((mine & lanes) == 0) continue;
            for (int l = 0; l < 16; ++l)
                if ((mine & lanes) >> l & 1u && left[static_cast<std::size_t>(l)]-- <= 0)
                    mine &= static_cast<std::uint16_t>(~(1u << l));
            again.push_back(order[k]);
        }
        return again;
    }
};

}  // namespace separable
