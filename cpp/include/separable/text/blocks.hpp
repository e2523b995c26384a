// Blocks: runs of documents, distributed over threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

#include "separable/math/heartbeat.hpp"
#include "separable/text/documents.hpp"

namespace separable::text {

// Periodic check for cancellation: the calling thread calls `poll`, the others follow it.
class Pulse {
   public:
    Pulse(std::function<void()> poll, const Documents& documents, std::atomic<bool>& stop,
          bool asks)
        : heart_(std::move(poll), documents.bytes(), static_cast<std::int64_t>(documents.size())),
          stop_(stop),
          asks_(asks) {}

    // Returns whether to continue.
    bool operator()() {
        if (asks_) heart_.row();
        return !stop_.load(std::memory_order_relaxed);
    }

   private:
    Heartbeat heart_;
    std::atomic<bool>& stop_;
    bool asks_;
};

// Calls work(block, first document, last, pulse) for each block; the first in this thread.
template <class Work>
void for_blocks(const Documents& documents, std::size_t n_threads, std::function<void()> poll,
                Work work) {
    const std::vector<std::size_t> starts = documents.blocks(n_threads);
    const std::size_t n_blocks = starts.size() - 1;
    std::atomic<bool> stop{false};
    std::vector<std::exception_ptr> failures(n_blocks);
    const auto run = [&](std::size_t block) {
        try {
            Pulse pulse(poll, documents, stop, block == 0);
            work(block, starts[block], starts[block + 1], pulse);
        } catch (...) {
            failures[block] = std::current_exception();
            stop = true;
        }
    };
    {
        std::vector<std::jthread> threads;
        try {
            for (std::size_t block = 1; block < n_blocks; ++block) threads.emplace_back(run, block);
        } catch (...) {
            stop = true;
            throw;
        }
        run(0);
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

// Calls work(block) for each of n blocks, in parallel.
template <class Work>
void share_out(std::size_t n_blocks, std::size_t n_threads, Work work) {
    std::atomic<std::size_t> next{0};
    std::vector<std::exception_ptr> failures(n_blocks);
    const auto run = [&] {
        for (std::size_t block; (block = next++) < n_blocks;) {
            try {
                work(block);
            } catch (...) {
                failures[block] = std::current_exception();
            }
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t t = 1; t < std::min(n_threads, n_blocks); ++t) threads.emplace_back(run);
        run();
    }
    for (const std::exception_ptr& failure : failures)
        if (failure) std::rethrow_exception(failure);
}

}  // namespace separable::text
