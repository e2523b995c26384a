#include "kernels/multinomial.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::multinomial;

namespace {

template <class T>
void bind_pass(nb::module_& m) {
    m.def(
        "multinomial_pass",
        nb::overload_cast<const MultinomialTargets&, const BoundRows&, Const<double>, Mutable<T, 2>,
                          Mutable<T, 2>, Mutable<std::uint16_t, 1>, Mutable<double, 2>,
                          Mutable<double, 2>, std::uint32_t, std::int64_t, std::uint64_t>(
            &run_pass),
        nb::arg("targets"), nb::arg("rows"), nb::arg("squared_norm"), nb::arg("w").noconvert(),
        nb::arg("u").noconvert(), nb::arg("hot"), nb::arg("by_lane"), nb::arg("by_model"),
        nb::arg("done"), nb::arg("number"), nb::arg("seed"),
        "One pass of multinomial dual coordinate descent; see certified/multinomial_descent.hpp. "
        "hot has a bit for each model in which the gap of a row was large; by_lane are multipliers "
        "and sums, by_model rho, small and large gaps. Returns the loss and the gap at the weights "
        "of the moment, by model.");
}

}  // namespace

void bind_multinomial(nb::module_& m) {
    nb::class_<MultinomialTargets>(m, "MultinomialTargets",
                                   "Classes of the rows and their costs in each model.")
        .def(nb::init<int, Const<std::int32_t>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, Const<std::int32_t>, Const<double>>(),
             nb::arg("n_classes"), nb::arg("label"), nb::arg("weight").none(),
             nb::arg("fold").none(), nb::arg("held_out"), nb::arg("C"));
    m.def("class_stride", &class_stride, nb::arg("n_classes"), nb::arg("itemsize"),
          "The lanes that the classes of one model take: a power of two, or whole lines.");
    bind_pass<float>(m);
    bind_pass<double>(m);
}
