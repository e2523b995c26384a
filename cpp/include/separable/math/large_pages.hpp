// Large blocks of memory in huge pages: few page faults, and few misses of the address cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "separable/math/lanes.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace separable {

// Memory in huge pages if available, from the start of a cache line on.
template <class T>
struct LargePages {
    using value_type = T;
    LargePages() = default;
    template <class U>
    LargePages(const LargePages<U>&) {}
    static constexpr std::size_t kPage = std::size_t{1} << 21, kLarge = 2 * kPage;

    T* allocate(std::size_t n) {
        const std::size_t bytes = n * sizeof(T);
#ifdef __linux__
        if (bytes >= kLarge) return static_cast<T*>(map(rounded(bytes)));
#endif
        return static_cast<T*>(::operator new(bytes, std::align_val_t{kLineBytes}));
    }
    void deallocate(T* p, std::size_t n) {
#ifdef __linux__
        if (n * sizeof(T) >= kLarge) {  // returned to the system at once
            munmap(p, rounded(n * sizeof(T)));
            return;
        }
#endif
        ::operator delete(p, std::align_val_t{kLineBytes});
    }
#ifdef __linux__
    static std::size_t rounded(std::size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
    // Maps bytes, a multiple of a huge page, aligned to one: maps one page more and unmaps the
    // rest.
    static void* map(std::size_t bytes) {
        void* const got = mmap(nullptr, bytes + kPage, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED) throw std::bad_alloc();
        char* const start = static_cast<char*>(got);
        const std::size_t off = reinterpret_cast<std::uintptr_t>(start) % kPage;
        const std::size_t before = off == 0 ? 0 : kPage - off;
        if (before > 0) munmap(start, before);
        munmap(start + before + bytes, kPage - before);
        madvise(start + before, bytes, MADV_HUGEPAGE);
        return start + before;
    }
#endif
    friend bool operator==(const LargePages&, const LargePages&) { return true; }
};

// Zeros; those of large arrays come from the system and are not written.
template <class T>
class ZeroedArray {
   public:
    explicit ZeroedArray(std::size_t n) : n_(n), data_(LargePages<T>().allocate(n)) {
#ifdef __linux__
        if (n * sizeof(T) >= LargePages<T>::kLarge) return;
#endif
        std::memset(static_cast<void*>(data_), 0, n * sizeof(T));
    }
    ZeroedArray(ZeroedArray&& other) noexcept : n_(other.n_), data_(other.data_) {
        other.data_ = nullptr;
    }
    ZeroedArray& operator=(ZeroedArray&&) = delete;
    ~ZeroedArray() {
        if (data_ != nullptr) LargePages<T>().deallocate(data_, n_);
    }

    T* data() const { return data_; }

   private:
    std::size_t n_;
    T* data_;
};

}  // namespace separable
