#include "kernels/voted.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include "arrays.hpp"

using namespace kernels::voted;

void bind_voted(nb::module_& m) {
    nb::class_<BoundVoters>(m, "Voters",
                            "Mistaken rows and, model after model, the steps along them.")
        .def(nb::init<const BoundRows&, Const<std::int64_t>, Const<double>, Const<double>,
                      Const<std::int64_t>, Const<double>, bool>(),
             nb::arg("mistaken"), nb::kw_only(), nb::arg("row"), nb::arg("step"), nb::arg("count"),
             nb::arg("start"), nb::arg("base_count"), nb::arg("fit_intercept"))
        .def("vote", &BoundVoters::vote, nb::arg("rows"), nb::arg("scores"),
             "Replace the scores of base weights by votes; return a row that overflows, or -1.");
    m.def("fold_steps", &run_fold_steps, nb::arg("mistaken"), nb::arg("row"), nb::arg("step"),
          nb::arg("weights"), "Add steps along rows to weights, one after the other.");
}
