// Array that grows without copying if the system can move pages (mremap).
#pragma once

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace separable {

// Large arrays have their own pages, so that growing moves pages instead of bytes. Untouched pages
// cost nothing, so capacity can be generous.
class Pages {
   public:
    Pages() = default;
    Pages(Pages&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Pages& operator=(Pages&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Pages() {
        if (is_mapped(size_))
            unmap();
        else
            std::free(data_);
    }

    void* data() const { return data_; }

    // Keeps the bytes common to both sizes.
    void resize(std::size_t size) {
        if (size == size_) return;
        void* moved = nullptr;
        if (is_mapped(size) && is_mapped(size_))
            moved = remap(size);
        else if (!is_mapped(size) && !is_mapped(size_))
            moved = std::realloc(data_, std::max<std::size_t>(1, size));
        else
            moved = copy(size);
        if (moved == nullptr) throw std::bad_alloc();
        data_ = moved;
        size_ = size;
    }

   private:
    void* data_ = nullptr;
    std::size_t size_ = 0;

    void* copy(std::size_t size) {
        Pages other;
        other.data_ = is_mapped(size) ? map(size) : std::malloc(std::max<std::size_t>(1, size));
        if (other.data_ == nullptr) return nullptr;
        other.size_ = size;
        if (size_ > 0) std::memcpy(other.data_, data_, std::min(size, size_));
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return data_;
    }

#if defined(__linux__)
    static constexpr std::size_t kLarge = std::size_t{1} << 25;
    static bool is_mapped(std::size_t size) { return size >= kLarge; }

    static void* map(std::size_t size) {
        void* made = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return checked(made);
    }
    void* remap(std::size_t size) { return checked(mremap(data_, size_, size, MREMAP_MAYMOVE)); }
    void unmap() { munmap(data_, size_); }
    static void* checked(void* made) { return made == MAP_FAILED ? nullptr : made; }
#else
    static bool is_mapped(std::size_t) { return false; }
    static void* map(std::size_t) { return nullptr; }
    void* remap(std::size_t) { return nullptr; }
    void unmap() {}
#endif
};

template <class T>
class GrowableArray {
    static_assert(std::is_trivially_copyable_v<T>);

   public:
    GrowableArray() = default;
    GrowableArray(GrowableArray&& other) noexcept
        : pages_(std::move(other.pages_)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    GrowableArray& operator=(GrowableArray&& other) noexcept {
        pages_ = std::move(other.pages_);
        size_ = std::exchange(other.size_, 0);
        capacity_ = std::exchange(other.capacity_, 0);
        return *this;
    }

    T* data() { return static_cast<T*>(pages_.data()); }
    const T* data() const { return static_cast<const T*>(pages_.data()); }
    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::span<T> span() { return {data(), size_}; }

    // Reserves capacity for n elements without touching the pages.
    void reserve(std::size_t n) {
        if (n > capacity_) set_capacity(std::max(n, capacity_ + capacity_ / 2));
    }
    // Capacity must be reserved.
    void set_size(std::size_t n) { size_ = n; }
    void append(const T* from, std::size_t n) {
        reserve(size_ + n);
        std::copy_n(from, n, data() + size_);
        size_ += n;
    }
    void fill_to(std::size_t n, T value) {
        if (n <= size_) return;
        reserve(n);
        std::fill(data() + size_, data() + n, value);
        size_ = n;
    }
    void push(T value) {
        reserve(size_ + 1);
        data()[size_++] = value;
    }
    void clear() { size_ = 0; }
    void drop_front(std::size_t n) {
        std::copy(data() + n, data() + size_, data());
        size_ -= n;
    }
    void shrink() {
        if (size_ < capacity_) set_capacity(size_);
    }

   private:
    Pages pages_;
    std::size_t size_ = 0, capacity_ = 0;

    void set_capacity(std::size_t n) {
        pages_.resize(n * sizeof(T));
        capacity_ = n;
    }
};

}  // namespace separable
