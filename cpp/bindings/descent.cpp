#include "kernels/descent.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::descent;

namespace {

Schedule::Kind schedule_kind(const std::string& name) {
    if (name == "constant") return Schedule::Kind::constant;
    if (name == "invscaling") return Schedule::Kind::inverse_scaling;
    if (name == "optimal") return Schedule::Kind::optimal;
    if (name == "adaptive") return Schedule::Kind::constant;  // eta0 is all it takes from it
    throw std::invalid_argument("there is no schedule " + name);
}

}  // namespace

void bind_descent(nb::module_& m) {
    m.def("losses", &list_losses, "Every loss: its name, whether it is for classes only, convex.");
    m.def("write_loss", &write_loss, nb::arg("name"), nb::arg("epsilon"), nb::arg("s"),
          nb::arg("y"), nb::arg("gradient"), nb::arg("out"),
          "Write the value, or the gradient in s, of a loss for each score and target.");
    m.def("write_implicit_gradients", &write_implicit_gradients, nb::arg("name"),
          nb::arg("epsilon"), nb::arg("s"), nb::arg("y"), nb::arg("gain"), nb::arg("out"),
          "Write the gradient of a loss at the score that a step along it leads to.");

    nb::class_<DescentPlan>(m, "DescentPlan",
                            "Targets, loss, penalty, steps and order of a descent.")
        .def(
            "__init__",
            [](DescentPlan* plan, std::optional<Const<std::int32_t>> label,
               std::optional<Const<double>> number, std::optional<Const<double>> weight,
               std::optional<Const<std::int64_t>> rows, std::string loss, double epsilon, double l1,
               double l2, const std::string& schedule, double eta0, double power, double alpha,
               double t0, double mean_from, bool fit_intercept, bool shuffle, std::uint64_t seed,
               std::int64_t first_epoch, std::int64_t max_epochs, std::int64_t patience,
               double least, double best, double total, bool measure, bool given_start,
               bool one_step, double intercept_rate, double largest_gradient) {
                new (plan) DescentPlan{label,
                                       number,
                                       weight,
                                       rows,
                                       std::move(loss),
                                       epsilon,
                                       l1,
                                       l2,
                                       {schedule_kind(schedule), eta0, power, alpha, t0},
                                       mean_from,
                                       fit_intercept,
                                       shuffle,
                                       seed,
                                       first_epoch,
                                       max_epochs,
                                       {patience, least, best, total},
                                       measure,
                                       given_start,
                                       one_step,
                                       {intercept_rate, largest_gradient}};
            },
            nb::kw_only(), nb::arg("label").none(), nb::arg("number").none(),
            nb::arg("weight").none(), nb::arg("rows").none(), nb::arg("loss"), nb::arg("epsilon"),
            nb::arg("l1"), nb::arg("l2"), nb::arg("schedule"), nb::arg("eta0"), nb::arg("power"),
            nb::arg("alpha"), nb::arg("t0"), nb::arg("mean_from"), nb::arg("fit_intercept"),
            nb::arg("shuffle"), nb::arg("seed"), nb::arg("first_epoch"), nb::arg("max_epochs"),
            nb::arg("patience"), nb::arg("least"), nb::arg("best"), nb::arg("total"),
            nb::arg("measure"), nb::arg("given_start"), nb::arg("one_step"),
            nb::arg("intercept_rate"), nb::arg("largest_gradient"));

    nb::class_<ProgressArrays>(
        m, "DescentProgress", "The losses of rows before they were learned from, and their counts.")
        .def(
            "__init__",
            [](ProgressArrays* progress, Mutable<double, 2> loss, Mutable<double, 3> marks,
               Mutable<double, 1> mark_weight, double examples, double weight) {
                new (progress) ProgressArrays{loss, marks, mark_weight, examples, weight};
            },
            nb::arg("loss"), nb::arg("marks"), nb::arg("mark_weight"), nb::arg("examples"),
            nb::arg("weight"))
        .def_ro("examples", &ProgressArrays::examples)
        .def_ro("weight", &ProgressArrays::weight);
    m.attr("PROGRESS_MARKS") = Progress::kMarks;

    nb::class_<SgdClock>(m, "SgdClock", "The numbers that move with the steps.")
        .def(nb::init<double, double, double, double, double>(), nb::arg("steps"), nb::arg("scale"),
             nb::arg("due"), nb::arg("mean_scale"), nb::arg("mean_count"))
        .def_ro("steps", &SgdClock::steps)
        .def_ro("scale", &SgdClock::scale)
        .def_ro("due", &SgdClock::due)
        .def_ro("mean_scale", &SgdClock::mean_scale)
        .def_ro("mean_count", &SgdClock::mean_count);

    nb::class_<AdaptiveClock>(m, "AdaptiveClock", "The numbers that move with adaptive steps.")
        .def(
            "__init__",
            [](AdaptiveClock* clock, double rows, double total, double centred, double y_mean,
               double y_spread, double mean_count) {
                new (clock) AdaptiveClock{{rows, total, centred}, y_mean, y_spread, mean_count};
            },
            nb::arg("rows"), nb::arg("total"), nb::arg("centred"), nb::arg("y_mean"),
            nb::arg("y_spread"), nb::arg("mean_count"))
        .def_prop_ro("rows", [](const AdaptiveClock& c) { return c.columns.rows; })
        .def_prop_ro("total", [](const AdaptiveClock& c) { return c.columns.total; })
        .def_prop_ro("centred", [](const AdaptiveClock& c) { return c.columns.centred; })
        .def_ro("y_mean", &AdaptiveClock::y_mean)
        .def_ro("y_spread", &AdaptiveClock::y_spread)
        .def_ro("mean_count", &AdaptiveClock::mean_count);

    nb::class_<AdaptiveArrays>(m, "AdaptiveArrays", "Views of the caller's arrays.")
        .def(
            "__init__",
            [](AdaptiveArrays* arrays, AnyWeights wa, Mutable<double, 2> b, Mutable<double, 2> a0,
               std::optional<Mutable<double, 3>> u, std::optional<Mutable<double, 2>> u_b,
               std::optional<Mutable<double, 3>> due, std::optional<Mutable<double, 3>> q,
               Mutable<double, 2> columns, Mutable<std::int64_t, 1> centred_index,
               Mutable<double, 2> centred, std::optional<Mutable<double, 1>> last) {
                new (arrays) AdaptiveArrays{
                    wa, b, a0, u, u_b, due, q, columns, centred_index, centred, last};
            },
            nb::kw_only(), nb::arg("wa"), nb::arg("b"), nb::arg("a0"), nb::arg("u") = nb::none(),
            nb::arg("u_b") = nb::none(), nb::arg("due") = nb::none(), nb::arg("q") = nb::none(),
            nb::arg("columns"), nb::arg("centred_index"), nb::arg("centred"),
            nb::arg("last") = nb::none());

    nb::class_<DescentRun>(m, "DescentRun", "What a run of epochs did.")
        .def_ro("losses", &DescentRun::losses, "Sums of weight x loss by epoch and model.")
        .def_ro("overflow_row", &DescentRun::overflow_row,
                "The row whose score was not finite, or -1.")
        .def_ro("converged", &DescentRun::converged, "Whether the stopping rule ended it.");

    m.def("sgd", &run_sgd, nb::arg("rows"), nb::arg("weights"), nb::arg("q").none(),
          nb::arg("plan"), nb::arg("progress").none(), nb::arg("clock"), nb::arg("block"),
          nb::arg("first_class"), nb::arg("n_lanes"),
          "Descend with one step size for all weights, on one block of lanes.");
    m.def("adaptive_sgd", &run_adaptive_sgd, nb::arg("rows"), nb::arg("arrays"), nb::arg("plan"),
          nb::arg("progress").none(), nb::arg("clock"), nb::arg("block"), nb::arg("first_class"),
          nb::arg("n_lanes"), "Descend with a step for each weight, on one block of lanes.");
}
