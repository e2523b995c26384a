#include "kernels/gram.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"

using namespace kernels::gram;

namespace {

void path_with_callback(ConstTable<double> gram, Const<double> cross, double squares,
                        Const<double> l1, Const<double> l2, bool positive, Const<double> l1_level,
                        Const<double> l2_level, double tol, std::int64_t max_iter,
                        nb::object callback, Mutable<double, 2> weights,
                        Mutable<double, 2> certificates, Mutable<std::int64_t, 1> steps) {
    Callback call;
    if (!callback.is_none())
        call = [&callback](std::int64_t number, double gap) {
            nb::gil_scoped_acquire gil;
            return static_cast<bool>(nb::bool_(callback(number, gap)));
        };
    path(gram, cross, squares, l1, l2, positive, l1_level, l2_level, tol, max_iter, call, weights,
         certificates, steps);
}

}  // namespace

void bind_gram(nb::module_& m) {
    m.def(
        "gram_path", &path_with_callback, nb::arg("gram"), nb::arg("cross"), nb::arg("squares"),
        nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("l1_level"), nb::arg("l2_level"),
        nb::arg("tol"), nb::arg("max_iter"), nb::arg("callback").none(), nb::arg("weights"),
        nb::arg("certificates"), nb::arg("steps"),
        "The elastic net from the Gram matrix, for many penalty levels, each warm-started from the "
        "level before and the first from weights; see certified/gram_descent.hpp. Writes weights, "
        "(primal, gap) and steps of each level.");
}
