// Polling for Ctrl-C in long loops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace separable {

// Polls every few million non-zeros; `poll` throws to stop. One row costs its
// non-zeros times `blocks`.
class Heartbeat {
   public:
    Heartbeat(std::function<void()> poll, std::int64_t n_values, std::int64_t n_rows,
              std::int64_t blocks = 1)
        : poll_(std::move(poll)) {
        const std::int64_t row_values = n_values / std::max<std::int64_t>(1, n_rows) * blocks;
        interval_ =
            std::max<std::int64_t>(1, kValuesBetweenPolls / std::max<std::int64_t>(1, row_values));
    }

    void row() {
        if (++rows_ >= interval_) rows_ = 0, poll_();
    }

   private:
    static constexpr std::int64_t kValuesBetweenPolls = 1 << 22;
    std::function<void()> poll_;
    std::int64_t interval_, rows_ = 0;
};

}  // namespace separable
