#include "kernels/groups.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"

using namespace kernels::groups;

void bind_groups(nb::module_& m) {
    m.def("lp_descent", &lp_descent, nb::arg("power"), nb::arg("h"), nb::arg("strength"),
          nb::arg("enough"), nb::arg("most"), nb::arg("u"), nb::arg("g"),
          "Passes over weights under powers of their sizes; see certified/block_descent.hpp and "
          "certified/lp_step.hpp. Returns how many, and how far the last one moved.");
    m.def("group_descent", &group_descent, nb::arg("h"), nb::arg("start"), nb::arg("strength"),
          nb::arg("axes"), nb::arg("values"), nb::arg("enough"), nb::arg("most"), nb::arg("u"),
          nb::arg("g"),
          "Passes over groups of weights under their norms; see certified/block_descent.hpp and "
          "certified/group_step.hpp. Returns how many, and how far the last one moved.");
}
