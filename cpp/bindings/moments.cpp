#include "kernels/moments.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::moments;

void bind_moments(nb::module_& m) {
    m.def("centre_rows", &centre, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("group").none(), nb::arg("weight").none(), nb::arg("total"), nb::arg("origin"),
          nb::arg("scale"), nb::arg("mean"), nb::arg("largest"), nb::arg("out"), nb::arg("column"),
          "Centre a block of dense rows by group; see moments/centre.hpp.");
    m.def("column_ranges", &ranges, nb::arg("rows"), nb::arg("weight").none(), nb::arg("mean"),
          nb::arg("low"), nb::arg("high"),
          "Write the mean, the least and the largest value of each column of dense rows; see "
          "moments/column_ranges.hpp.");
    m.def("close_pairs", &columns_of_close_pairs, nb::arg("rows"), nb::arg("step"),
          nb::arg("limit"), nb::arg("size").none(), nb::arg("most"),
          "The columns in which all but a few pairs of values are close; see "
          "moments/close_pairs.hpp.");
    m.def("add_dense_blocks", &add_dense, nb::arg("rows"), nb::arg("targets").none(),
          nb::arg("weight").none(), nb::arg("chosen").none(), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("step"), nb::arg("origin"), nb::arg("scale"), nb::arg("total"), nb::arg("offset"),
          nb::arg("scatter"),
          "Add blocks of dense rows to sums about their mean; see moments/dense_sums.hpp. Returns "
          "the rows that were added and the weight after them.");
    m.def("fuses_products", &fuses_products,
          "Whether the CPU level adds products in one instruction, so that sums of them are fast.");
    m.def("group_sums", &group_sums, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("group").none(), nb::arg("weight").none(), nb::arg("threshold").none(),
          nb::arg("sums"),
          "Add a block's sums by group; above a threshold, counts. Returns whether all values are "
          "finite, whether one has a minus sign, and whether all are whole numbers below 2^50 "
          "(2^21 in "
          "float32).");
    m.def("column_squares", &squares, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("weight").none(), nb::arg("sums"), nb::arg("filled"), nb::arg("largest"),
          "Add a block's squares and the weight of the rows that have each column, and"
          " raise the largest |x|.");
    m.def("squares_about", &squares_about, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("group").none(), nb::arg("weight").none(), nb::arg("total"), nb::arg("mean"),
          nb::arg("sums"), nb::arg("gaps"),
          "Add a block's squares about means of the groups; write sums of what is left of them.");
    m.def("spread_columns", &spread, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("place"), nb::arg("out"), "Add chosen columns of a block to dense rows.");
    m.def("add_products", &products, nb::arg("rows"), nb::arg("first"), nb::arg("n_rows"),
          nb::arg("weight").none(), nb::arg("place"), nb::arg("sums"), nb::arg("z"),
          nb::arg("cross"), "Add a block's products of sparse columns; see sparse_sums.hpp.");
    m.def("residual_sums", &residuals, nb::arg("rows"), nb::arg("y"), nb::arg("weight").none(),
          nb::arg("w").none(), nb::arg("w_low").none(), nb::arg("b"), nb::arg("b_low"),
          nb::arg("centre").none(), nb::arg("gradient").none(), nb::arg("residuals").none(),
          "Residuals of least squares in twice the digits; see moments/residual.hpp. Returns their "
          "sum and the sum of their squares.");
}
