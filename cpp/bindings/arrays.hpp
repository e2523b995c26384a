// Arrays of Python as views, and containers as arrays of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/views.hpp"

namespace nb = nanobind;

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

NAMESPACE_BEGIN(NB_NAMESPACE)
NAMESPACE_BEGIN(detail)

template <class T, int N>
struct type_caster<View<T, N>> {
    using Numpy = ndarray<T, ndim<N>, c_contig, device::cpu>;
    using Shown = View<T, N>;
    NB_TYPE_CASTER(Shown, make_caster<Numpy>::Name)

    template <class Flags>
    bool from_python(handle from, Flags flags, cleanup_list* cleanup) noexcept {
        make_caster<Numpy> caster;
        if (!caster.from_python(from, flags, cleanup)) return false;
        const auto owner = std::make_shared<Numpy>(std::move(caster.value));
        std::size_t shape[N];
        for (int axis = 0; axis < N; ++axis) shape[axis] = owner->shape(axis);
        value = View<T, N>(owner->data(), shape, owner);
        return true;
    }
};

template <>
struct type_caster<AnyWeights> {
    using Numpy = ndarray<c_contig, device::cpu>;
    NB_TYPE_CASTER(AnyWeights, make_caster<Numpy>::Name)

    template <class Flags>
    bool from_python(handle from, Flags flags, cleanup_list* cleanup) noexcept {
        make_caster<Numpy> caster;
        if (!caster.from_python(from, flags, cleanup)) return false;
        const auto owner = std::make_shared<Numpy>(std::move(caster.value));
        using Type = AnyWeights::Type;
        const Type type = owner->dtype() == dtype<float>()    ? Type::kFloat
                          : owner->dtype() == dtype<double>() ? Type::kDouble
                                                              : Type::kOther;
        std::vector<std::size_t> shape(owner->ndim());
        for (std::size_t axis = 0; axis < shape.size(); ++axis) shape[axis] = owner->shape(axis);
        value = AnyWeights(owner->data(), type, std::move(shape), owner);
        return true;
    }
};

NAMESPACE_END(detail)
NAMESPACE_END(NB_NAMESPACE)

// A NumPy array that owns what a container holds.
template <class Container>
auto owned(Container&& values) {
    using Held = std::remove_cvref_t<Container>;
    auto* const kept = new Held(std::forward<Container>(values));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Held*>(p); });
    using T = std::remove_pointer_t<decltype(kept->data())>;
    return Array<T>(kept->data(), {kept->size()}, owner);
}
