#include "kernels/gram.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"

using namespace kernels::gram;

namespace {

void path_with_callback(ConstTable<double> gram, Const<double> cross, double squares,
                        Const<double> l1, Const<double> l2, bool positive,
                        Const<double> l1_strength, Const<double> l2_strength, double tol,
                        std::int64_t max_iter, nb::object callback, Mutable<double, 2> weights,
                        Mutable<double, 2> found, Mutable<std::int64_t, 1> steps) {
    Told told;
    if (!callback.is_none())
        told = [&callback](std::int64_t number, double gap) {
            nb::gil_scoped_acquire gil;
            return static_cast<bool>(nb::bool_(callback(number, gap)));
        };
    path(gram, cross, squares, l1, l2, positive, l1_strength, l2_strength, tol, max_iter, told,
         weights, found, steps);
}

}  // namespace

void bind_gram(nb::module_& m) {
    m.def("gram_path", &path_with_callback, nb::arg("gram"), nb::arg("cross"), nb::arg("squares"),
          nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("l1_strength"),
          nb::arg("l2_strength"), nb::arg("tol"), nb::arg("max_iter"), nb::arg("callback").none(),
          nb::arg("weights"), nb::arg("found"), nb::arg("steps"),
          "Least squares with an elastic net from products of columns, for many strengths, each "
          "from the weights of the one before and the first from those in weights; see "
          "certified/gram_descent.hpp. Writes weights, (primal, gap) and the steps of each.");
}
