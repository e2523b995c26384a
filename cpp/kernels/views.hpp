// The boundary between Python and the kernels, without Python: arrays of the caller, and what every
// kernel does with them. bindings/arrays.hpp makes views from Python's arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

// An array in C order. A view keeps the memory that it shows.
template <class T, int N>
class View {
   public:
    View() = default;
    View(T* data, std::initializer_list<std::size_t> shape) : data_(data) {
        std::copy(shape.begin(), shape.end(), shape_);
    }
    View(T* data, const std::size_t* shape, std::shared_ptr<const void> owner)
        : data_(data), owner_(std::move(owner)) {
        std::copy_n(shape, N, shape_);
    }

    T* data() const { return data_; }
    std::size_t shape(std::size_t axis) const { return shape_[axis]; }
    std::size_t size() const {
        std::size_t product = 1;
        for (const std::size_t length : shape_) product *= length;
        return product;
    }
    T& operator()(std::size_t i) const
        requires(N == 1)
    {
        return data_[i];
    }

   private:
    T* data_ = nullptr;
    std::size_t shape_[N] = {};
    std::shared_ptr<const void> owner_;
};

template <class T>
using Const = View<const T, 1>;
template <class T, int N>
using Mutable = View<T, N>;
template <class T>
using ConstTable = View<const T, 2>;

// An array of any type and number of dimensions.
class AnyWeights {
   public:
    enum class Type { kFloat, kDouble, kOther };

    AnyWeights() = default;
    AnyWeights(void* data, Type type, std::vector<std::size_t> shape,
               std::shared_ptr<const void> owner)
        : data_(data), type_(type), shape_(std::move(shape)), owner_(std::move(owner)) {}

    void* data() const { return data_; }
    Type dtype() const { return type_; }
    std::size_t ndim() const { return shape_.size(); }
    std::size_t shape(std::size_t axis) const { return shape_[axis]; }
    std::size_t size() const {
        std::size_t product = 1;
        for (const std::size_t length : shape_) product *= length;
        return product;
    }

   private:
    void* data_ = nullptr;
    Type type_ = Type::kOther;
    std::vector<std::size_t> shape_;
    std::shared_ptr<const void> owner_;
};

inline void check(bool fits, const char* message) {
    if (!fits) throw std::invalid_argument(message);
}

template <class T>
std::span<const T> span_of(const Const<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
std::span<const T> span_of(const std::optional<Const<T>>& array) {
    return array ? span_of(*array) : std::span<const T>{};
}

inline std::vector<std::int64_t> rows_or_all(const std::optional<Const<std::int64_t>>& rows,
                                             std::int64_t n_rows) {
    if (rows) return {rows->data(), rows->data() + rows->size()};
    std::vector<std::int64_t> all(static_cast<std::size_t>(n_rows));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// Raise KeyboardInterrupt in the caller if Ctrl-C was pressed.
void poll_signals();

// Other threads of Python run while this lives.
class ReleasedGil {
   public:
    ReleasedGil();
    ~ReleasedGil();
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

   private:
    void* thread_;
};
