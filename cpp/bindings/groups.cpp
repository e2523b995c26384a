#include "kernels/groups.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"

using namespace kernels::groups;

void bind_groups(nb::module_& m) {
    m.def("lp_descent", &lp_descent, nb::arg("power"), nb::arg("h"), nb::arg("penalty"),
          nb::arg("tol"), nb::arg("max_passes"), nb::arg("u"), nb::arg("g"),
          "Coordinate descent with an lp penalty; see certified/block_descent.hpp and "
          "certified/lp_step.hpp. Returns the passes, and how much the last one moved.");
    m.def("group_descent", &group_descent, nb::arg("h"), nb::arg("start"), nb::arg("penalty"),
          nb::arg("axes"), nb::arg("values"), nb::arg("tol"), nb::arg("max_passes"), nb::arg("u"),
          nb::arg("g"),
          "Block coordinate descent with a group penalty; see certified/block_descent.hpp and "
          "certified/group_step.hpp. Returns the passes, and how much the last one moved.");
}
