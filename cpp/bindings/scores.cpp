#include "kernels/scores.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "arrays.hpp"

using namespace kernels::scores;

namespace {

using Values = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

template <void (*function)(std::span<double>)>
void apply(Values values) {
    function({values.data(), values.size()});
}

}  // namespace

void bind_scores(nb::module_& m) {
    m.def("linear_scores", &write_scores, nb::arg("rows"), nb::arg("weights"), nb::arg("intercept"),
          nb::arg("out"),
          "Write X W' + b in a fixed order of sums; return a row that overflows, or -1.");
    m.def("sigmoid", &apply<apply_sigmoid>, nb::arg("values"), "1 / (1 + e^-s), in place.");
    m.def("binary_probabilities", &write_binary, nb::arg("scores"), nb::arg("out"),
          "Write the probabilities of two classes, sigma(-s) and sigma(s).");
    m.def("exponential", &apply<apply_exponential>, nb::arg("values"), "e^s for s <= 0, in place.");
    m.def("softplus", &apply<apply_softplus>, nb::arg("values"), "log(1 + e^s), in place.");
    m.def("softmax", &apply_softmax, nb::arg("scores"), "The softmax of each row, in place.");
    m.def("log_softmax", &apply_log_softmax, nb::arg("scores"),
          "The logarithm of the softmax of each row, in place.");
}
