// Chunks of text to regions of whole lines, and regions to blocks for several threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "separable/data/numbers.hpp"

namespace separable {

struct Block {
    const char* begin;
    const char* end;  // after a line feed

    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

// Error of a line: position and reason.
template <class Reason>
struct Fault {
    std::int64_t line;    // from 1
    std::int64_t column;  // of the byte, from 1
    Reason reason;
    std::string text;  // the first bytes of the offending text
};

// Rejected lines: their number and the first ones.
template <class Reason>
struct Faults {
    static constexpr std::size_t kKept = 10;
    std::int64_t count = 0;
    std::vector<Fault<Reason>> first;

    void add(Fault<Reason> fault) {
        ++count;
        if (first.size() < kKept) first.push_back(std::move(fault));
    }

    // Appends the errors of a block that starts after `lines` lines.
    void append(Faults&& block, std::int64_t lines) {
        count += block.count;
        for (auto& fault : block.first) {
            if (first.size() == kKept) break;
            fault.line += lines;
            first.push_back(std::move(fault));
        }
    }
};

// Text quoted in an error: up to a blank or a comment, at most this many bytes.
inline constexpr std::size_t kShown = 200;

inline const char* line_end(const char* p) { return static_cast<const char*>(rawmemchr(p, '\n')); }

// Passes regions of whole lines to `use`. Each ends after a line feed and is followed by
// kBytesAhead readable bytes. The bytes of a line split by chunks are scanned once.
class LineStream {
   public:
    template <class Use>
    void feed(const char* data, std::size_t size, Use use) {
        const char *p = data, *const end = data + size;
        if (!rest_.empty()) {
            const auto* stop = static_cast<const char*>(std::memchr(p, '\n', size));
            const char* const next = stop == nullptr ? end : stop + 1;
            append(p, next);
            p = next;
            if (stop != nullptr) use_rest(use);
        }
        if (p == end) return;
        // Line feeds near the end are not followed by enough bytes: copy these lines.
        if (static_cast<std::size_t>(end - p) > kBytesAhead) {
            const char* const safe = behind_last_feed(p, end - kBytesAhead);
            if (safe != p) use(Block{p, safe});
            p = safe;
        }
        append(p, end);
        pad();
        const char* const kept = rest_.data();
        const char* const whole = behind_last_feed(kept, kept + rest_.size());
        if (whole == kept) return;
        use(Block{kept, whole});
        rest_.erase(0, static_cast<std::size_t>(whole - kept));
    }

    // The last line may lack its line feed.
    template <class Use>
    void finish(Use use) {
        if (rest_.empty()) return;
        rest_ += '\n';
        use_rest(use);
    }

   private:
    std::string rest_;

    static const char* behind_last_feed(const char* begin, const char* end) {
        const void* feed = memrchr(begin, '\n', static_cast<std::size_t>(end - begin));
        return feed == nullptr ? begin : static_cast<const char*>(feed) + 1;
    }

    void append(const char* begin, const char* end) {
        rest_.append(begin, static_cast<std::size_t>(end - begin));
    }

    // Makes kBytesAhead bytes after the rest readable.
    void pad() {
        const std::size_t size = rest_.size();
        rest_.append(kBytesAhead, '\n');
        rest_.resize(size);
    }

    template <class Use>
    void use_rest(Use use) {
        pad();
        use(Block{rest_.data(), rest_.data() + rest_.size()});
        if (rest_.capacity() > kMostKept)
            rest_ = std::string();
        else
            rest_.clear();
    }

    static constexpr std::size_t kMostKept = 1 << 20;
};

// Removes the byte-order mark from the first region of a file.
inline Block without_mark(Block region) {
    const bool marked = region.size() >= 3 && std::string_view(region.begin, 3) == "\xef\xbb\xbf";
    return {region.begin + (marked ? 3 : 0), region.end};
}

// Splits a region at line feeds into blocks of about `size` bytes.
inline std::vector<Block> cut_into_blocks(Block region, std::size_t size) {
    std::vector<Block> blocks;
    while (region.begin < region.end) {
        const char* end = region.end;
        if (region.size() > size) end = line_end(region.begin + size - 1) + 1;
        blocks.push_back({region.begin, end});
        region.begin = end;
    }
    return blocks;
}

// Processes blocks on several threads; the result does not depend on their number. A worker parses
// a block into its own memory, joins it after all earlier blocks have joined, one worker at a time,
// and stores it, in parallel with others.
//
// A Worker has parse(block), join(wait), which returns whether to continue, and store(). Join calls
// wait() before it moves memory that others may be writing to.
template <class Worker>
void run_in_order(const std::vector<Block>& blocks, std::vector<Worker>& workers) {
    std::mutex mutex;
    std::condition_variable turned;
    std::size_t next = 0, turn = 0;
    int storing = 0;
    bool stopped = false;
    std::exception_ptr failure;

    auto work = [&](Worker& worker) {
        std::unique_lock lock(mutex);
        try {
            while (!stopped && next < blocks.size()) {
                const std::size_t mine = next++;
                lock.unlock();
                worker.parse(blocks[mine]);
                lock.lock();
                turned.wait(lock, [&] { return turn == mine || stopped; });
                if (stopped) break;
                const bool goes_on =
                    worker.join([&] { turned.wait(lock, [&] { return storing == 0; }); });
                ++turn;
                stopped = !goes_on;
                ++storing;
                turned.notify_all();
                lock.unlock();
                worker.store();
                lock.lock();
                --storing;
                turned.notify_all();
            }
        } catch (...) {
            if (!lock.owns_lock()) lock.lock();
            failure = std::current_exception();
            stopped = true;
            turned.notify_all();
        }
    };

    {
        std::vector<std::jthread> threads;
        const std::size_t n_threads = std::min(workers.size(), blocks.size());
        for (std::size_t k = 1; k < n_threads; ++k)
            threads.emplace_back([&work, &worker = workers[k]] { work(worker); });
        if (!blocks.empty()) work(workers[0]);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace separable
