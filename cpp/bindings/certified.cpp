#include "kernels/certified.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::certified;

void bind_certified(nb::module_& m) {
    nb::class_<LaneTargets>(m, "LaneTargets", "Targets and costs of rows in each lane.")
        .def(nb::init<std::string, double, std::optional<Const<std::int32_t>>,
                      std::optional<Const<double>>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, Const<std::int32_t>, Const<std::int32_t>,
                      Const<double>>(),
             nb::arg("loss"), nb::arg("eps"), nb::arg("label").none(), nb::arg("number").none(),
             nb::arg("weight").none(), nb::arg("fold").none(), nb::arg("class_of"),
             nb::arg("held_out"), nb::arg("C"));
    nb::class_<RowLoss>(m, "RowLoss",
                        "A loss of the rows of one model; see certified/row_terms.hpp.")
        .def(nb::init<std::string, double>(), nb::arg("name"), nb::arg("eps"))
        .def("total", &RowLoss::total, nb::arg("y"), nb::arg("s"), nb::arg("c"))
        .def("dual_total", &RowLoss::dual_total, nb::arg("y"), nb::arg("c"), nb::arg("z"))
        .def(
            "gap",
            [](const RowLoss& loss, Const<double> y, Const<double> s, Const<double> c,
               Const<double> z) { return owned(loss.gap(y, s, c, z)); },
            nb::arg("y"), nb::arg("s"), nb::arg("c"), nb::arg("z"))
        .def(
            "clip_dual",
            [](const RowLoss& loss, Const<double> y, Const<double> c, Const<double> z) {
                return owned(loss.clip_dual(y, c, z));
            },
            nb::arg("y"), nb::arg("c"), nb::arg("z"))
        .def(
            "derivatives",
            [](const RowLoss& loss, Const<double> y, Const<double> s, Const<double> c) {
                auto [first, second] = loss.derivatives(y, s, c);
                return std::pair(owned(std::move(first)), owned(std::move(second)));
            },
            nb::arg("y"), nb::arg("s"), nb::arg("c"))
        .def("best_intercept", &RowLoss::best_intercept, nb::arg("y"), nb::arg("s"), nb::arg("c"));
    m.def(
        "dual_pass", &run_pass, nb::arg("targets"), nb::arg("rows"), nb::arg("squared_norm"),
        nb::arg("rho"), nb::arg("w"), nb::arg("a"), nb::arg("t").none(), nb::arg("by_row"),
        nb::arg("by_lane"), nb::arg("done"), nb::arg("number"), nb::arg("seed"),
        "One pass of dual coordinate descent; see certified/dual_descent.hpp. by_row has a bit per "
        "lane for shrunk rows and one for rows with a large gap; by_lane are multipliers, sums, "
        "shrinking thresholds, losses of shrunk rows and large gaps. Returns the loss and the gap "
        "at the weights of the moment, by lane.");
    m.def("semismooth_newton", &run_semismooth, nb::arg("targets"), nb::arg("rows"), nb::arg("w"),
          nb::arg("b"), nb::arg("z"), nb::arg("fit_intercept"), nb::arg("width"), nb::arg("tol"),
          nb::arg("max_steps"), nb::arg("max_idle"), nb::arg("on_step").none(),
          "Solve lanes of a piecewise linear loss; see certified/semismooth_newton.hpp. Weights, "
          "intercepts, dual points and widths of the zones are updated. Returns the steps of each "
          "lane, whether it stalled, and whether on_step stopped them.");
    m.def("add_rows", &sum_rows, nb::arg("rows"), nb::arg("r"), nb::arg("sums"),
          "Add X'r of many models; see certified/row_products.hpp.");
    m.def("score_rows",
          nb::overload_cast<const BoundRows&, ConstTable<float>, Mutable<double, 2>>(&score_all),
          nb::arg("rows"), nb::arg("w").noconvert(), nb::arg("scores"),
          "Write Xw of many models; see certified/row_products.hpp.");
    m.def("score_rows",
          nb::overload_cast<const BoundRows&, ConstTable<double>, Mutable<double, 2>>(&score_all),
          nb::arg("rows"), nb::arg("w").noconvert(), nb::arg("scores"));
    m.def("largest_scores", &largest_scores, nb::arg("rows"), nb::arg("w"),
          nb::arg("factor").none(), nb::arg("is_signed"),
          "The largest |score| or score of any row, by model; see "
          "certified/row_products.hpp.");
    m.def("lane_norms", nb::overload_cast<ConstTable<float>, ConstTable<double>>(&all_norms),
          nb::arg("w").noconvert(), nb::arg("v"), "|w|^2, |v|^2 and |w - v|^2 of each lane.");
    m.def("lane_norms", nb::overload_cast<ConstTable<double>, ConstTable<double>>(&all_norms),
          nb::arg("w").noconvert(), nb::arg("v"));
    m.def("lane_gaps",
          nb::overload_cast<const LaneTargets&, ConstTable<double>, Mutable<double, 2>,
                            ConstTable<float>, ConstTable<double>, bool>(&lane_gaps_of),
          nb::arg("targets"), nb::arg("z"), nb::arg("scores"), nb::arg("u").noconvert(),
          nb::arg("v"), nb::arg("finds_intercept"),
          "Intercepts, added to the scores, and primal, dual and gap of each lane; see "
          "certified/lane_gaps.hpp.");
    m.def("lane_gaps",
          nb::overload_cast<const LaneTargets&, ConstTable<double>, Mutable<double, 2>,
                            ConstTable<double>, ConstTable<double>, bool>(&lane_gaps_of),
          nb::arg("targets"), nb::arg("z"), nb::arg("scores"), nb::arg("u").noconvert(),
          nb::arg("v"), nb::arg("finds_intercept"));
    m.def("make_feasible", &cut_and_balance, nb::arg("targets"), nb::arg("z"), nb::arg("balance"),
          "Make dual points feasible; see certified/row_terms.hpp.");
    m.def("row_terms", &terms_of_rows, nb::arg("targets"), nb::arg("z"), nb::arg("scores"),
          nb::arg("fit_intercept"),
          "The best intercepts and the sums of losses, dual values and gaps, by lane; see "
          "certified/row_terms.hpp.");
    nb::class_<GapModel>(m, "GapModel",
                         "Penalty, loss and the sizes of rows; see "
                         "certified/gap_bounds.hpp.")
        .def(nb::init<bool, bool, bool, double, double, double, double, double>(),
             nb::arg("is_joint"), nb::arg("is_penalised"), nb::arg("has_logarithms"),
             nb::arg("curvature"), nb::arg("l1"), nb::arg("l2"), nb::arg("length"),
             nb::arg("largest"));
    m.def("add_errors", &gaps_with_errors, nb::arg("model"), nb::arg("targets"), nb::arg("plain"),
          nb::arg("primal"), nb::arg("more"), nb::arg("unbalanced"), nb::arg("errors"),
          "Gaps with what errors may add, by lane; see certified/gap_bounds.hpp.");
    m.def("bound_gaps", &bounds_of_gaps, nb::arg("model"), nb::arg("targets"), nb::arg("z"),
          nb::arg("scores"), nb::arg("w"), nb::arg("b"), nb::arg("intercept"),
          nb::arg("shift").none(), nb::arg("scale").none(), nb::arg("level"), nb::arg("extent"),
          nb::arg("terms"), nb::arg("fit_intercept"), nb::arg("gap"), nb::arg("primal"),
          "Gaps with bounds on rounding, and changes of the primal, by lane; see "
          "certified/gap_bounds.hpp.");
    m.def("centred_intercepts", &intercepts_about, nb::arg("shift"), nb::arg("w"), nb::arg("b"),
          nb::arg("level"), "b + shift.w - level of each model, rounded once.");
    m.def("row_sizes", &sizes_of_rows, nb::arg("z"), nb::arg("scores"),
          "The largest finite score, sum |z| and |sum z|, by lane; see certified/row_terms.hpp.");
    m.def(
        "gap_errors", &errors_of_gaps, nb::arg("targets"), nb::arg("z"), nb::arg("values"),
        nb::arg("are_residuals"), nb::arg("error"), nb::arg("imbalance"),
        "The sum of gaps, and what errors of scores and an imbalance of z may add to it, by lane; "
        "see certified/row_terms.hpp.");
    m.def("elastic_net_gap", &elastic_net_gap, nb::arg("rows"), nb::arg("y"),
          nb::arg("weight").none(), nb::arg("w"), nb::arg("b"), nb::arg("fit_intercept"),
          nb::arg("centre"), nb::arg("length"), nb::arg("far"), nb::arg("unit").none(),
          nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("residuals"), nb::arg("dual"),
          "Intercept, primal, gap and its rounding of squared errors with an elastic net; see "
          "certified/elastic_net_gap.hpp.");
    m.def("add_outer", &sum_outer, nb::arg("rows"), nb::arg("c"), nb::arg("products"),
          "Add the outer products of rows, each pair of columns once, in either triangle; see "
          "certified/row_products.hpp.");
    m.def("add_curved", &sum_curved, nb::arg("rows"), nb::arg("c"), nb::arg("w"), nb::arg("b"),
          nb::arg("scores"), nb::arg("sums"),
          "A Hessian-vector product: write Xw + b and add X'(c * scores); see "
          "certified/row_products.hpp.");
    m.def("add_squares", &sum_squares, nb::arg("rows"), nb::arg("c"), nb::arg("sums"),
          "Add weighted squares by column; see certified/row_products.hpp.");
}
