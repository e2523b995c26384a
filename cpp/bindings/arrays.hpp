// Arrays of the caller, and what every binding does with them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace nb = nanobind;

template <class T>
using Const = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T, int N>
using Mutable = nb::ndarray<T, nb::ndim<N>, nb::c_contig, nb::device::cpu>;
template <class T>
using ConstTable = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using AnyWeights = nb::ndarray<nb::c_contig, nb::device::cpu>;

inline void check(bool fits, const char* message) {
    if (!fits) throw std::invalid_argument(message);
}

inline std::vector<std::int64_t> rows_or_all(const std::optional<Const<std::int64_t>>& rows,
                                             std::int64_t n_rows) {
    if (rows) return {rows->data(), rows->data() + rows->size()};
    std::vector<std::int64_t> all(static_cast<std::size_t>(n_rows));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

// A NumPy array that owns what a container holds.
template <class Container>
auto owned(Container&& values) {
    using Held = std::remove_cvref_t<Container>;
    auto* const kept = new Held(std::move(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Held*>(p); });
    using T = std::remove_pointer_t<decltype(kept->data())>;
    return Array<T>(kept->data(), {kept->size()}, owner);
}

inline void poll_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}
