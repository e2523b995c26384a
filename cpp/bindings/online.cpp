#include "kernels/online.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::online;

namespace {

// Rows, steps and times of one model's mistakes; arrays of the caller's own.
auto recorded(const Result& result, std::size_t model) {
    check(model < result.mistakes.size(), "no such model was recorded");
    const auto& list = result.mistakes[model];
    return nb::make_tuple(owned(list.row), owned(list.step), owned(list.time));
}

}  // namespace

void bind_online(nb::module_& m) {
    m.def(
        "lane_width",
        [](bool double_precision) {
            return double_precision ? Lanes<double>::kWidth : Lanes<float>::kWidth;
        },
        nb::arg("double_precision"), "How many models one block of lanes holds.");

    nb::class_<Plan>(m, "OnlinePlan", "Labels, weights, order and stopping of an online run.")
        .def(
            "__init__",
            [](Plan* plan, Const<std::int32_t> label, std::optional<Const<double>> weight,
               std::optional<Const<std::int64_t>> rows, double eta, bool fit_intercept,
               bool shuffle, std::uint64_t seed, std::int64_t first_epoch, std::int64_t max_epochs,
               double presented, std::int64_t pocket_values, bool record, int tie_target,
               std::optional<Const<bool>> learning) {
                new (plan) Plan{label,         weight, rows,        eta,        fit_intercept,
                                shuffle,       seed,   first_epoch, max_epochs, presented,
                                pocket_values, record, tie_target,  learning};
            },
            nb::kw_only(), nb::arg("label"), nb::arg("weight") = nb::none(),
            nb::arg("rows") = nb::none(), nb::arg("eta") = 1.0, nb::arg("fit_intercept") = true,
            nb::arg("shuffle") = false, nb::arg("seed") = 0, nb::arg("first_epoch") = 0,
            nb::arg("max_epochs") = 1, nb::arg("presented") = 0.0, nb::arg("pocket_values") = -1,
            nb::arg("record") = false, nb::arg("tie_target") = 0, nb::arg("learning") = nb::none());

    nb::class_<Weights>(m, "OnlineWeights",
                        "Weights [block][feature][lane], intercepts, and sums for their means; "
                        "views of the caller's arrays, which a run changes in place.")
        .def(
            "__init__",
            [](Weights* weights, AnyWeights w, AnyWeights b, std::optional<Mutable<double, 3>> u,
               std::optional<Mutable<double, 2>> u_b) { new (weights) Weights{w, b, u, u_b}; },
            nb::arg("w"), nb::arg("b"), nb::arg("u") = nb::none(), nb::arg("u_b") = nb::none());

    m.def(
        "shuffled",
        [](std::int64_t n_rows, std::optional<Const<std::int64_t>> rows, std::uint64_t seed,
           Mutable<std::int64_t, 1> out) {
            auto order = rows_or_all(rows, n_rows);
            check(out.size() == order.size(), "the order does not fit");
            Shuffle(seed, 0)(std::span(order));
            std::copy(order.begin(), order.end(), out.data());
        },
        nb::arg("n_rows"), nb::arg("rows").none(), nb::arg("seed"), nb::arg("out"),
        "Write the given rows, or all, in a shuffled order.");
    m.def("unpack", &unpack, nb::arg("weights"), nb::arg("scale"), nb::arg("presented"),
          nb::arg("out"),
          "Write scale w, or the mean scale w - u / presented, as (models, features).");

    nb::class_<Result>(m, "OnlineRun", "What a run of epochs did.")
        .def_prop_ro(
            "mistakes", [](const Result& r) { return r.run.mistakes; },
            "Mistakes by epoch and model.")
        .def_prop_ro(
            "presented", [](const Result& r) { return r.run.presented; },
            "Presentations so far, earlier runs included.")
        .def_prop_ro(
            "converged", [](const Result& r) { return r.run.converged; },
            "Whether the last epoch made no mistake.")
        .def_prop_ro(
            "overflow_row", [](const Result& r) { return r.run.overflow_row; },
            "The row whose score was not finite, or -1.")
        .def_ro("pocket_mistakes", &Result::pocket_mistakes,
                "Weight of the rows that the pocket's weights get wrong, by model.")
        .def("recorded", &recorded, nb::arg("model"),
             "Rows, steps and times of a model's mistakes, if they were recorded.")
        .def_ro("delta_norm", &Result::delta_norm, "|Delta| in the last epoch of each batch model.")
        .def_prop_ro(
            "stop",
            [](const Result& r) {
                static constexpr const char* kNames[] = {"", "no mistakes", "eps", "stalled"};
                std::vector<std::string> names;
                for (const BatchStop stop : r.stop)
                    names.emplace_back(kNames[static_cast<int>(stop)]);
                return names;
            },
            "Why each batch model stopped: no mistakes, eps, stalled, or nothing if it did not.");

    nb::class_<SquaredErrors>(m, "SquaredErrors", "Sums over the presentations of an epoch.")
        .def(
            "__init__",
            [](SquaredErrors* errors, double sum, double zero_sum, double weight) {
                new (errors) SquaredErrors{sum, zero_sum, weight};
            },
            nb::arg("sum") = 0.0, nb::arg("zero_sum") = 0.0, nb::arg("weight") = 0.0)
        .def_ro("sum", &SquaredErrors::sum, "Of squared errors before each step.")
        .def_ro("zero_sum", &SquaredErrors::zero_sum, "The same for the answer 0.")
        .def_ro("weight", &SquaredErrors::weight, "Of weights.");
    nb::class_<WidrowHoffRun>(m, "WidrowHoffRun", "What a run of Widrow-Hoff did.")
        .def_ro("mean_squared_error", &WidrowHoffRun::mean_squared_error, "By epoch.")
        .def_ro("last", &WidrowHoffRun::last, "The sums of the last epoch.")
        .def_ro("converged", &WidrowHoffRun::converged, "Whether tol ended it.")
        .def_ro("overflow_row", &WidrowHoffRun::overflow_row,
                "The row whose error or step was not finite, or -1.")
        .def_ro("largest_norm", &WidrowHoffRun::largest_norm,
                "The largest |x|^2 so far, kept with a safety factor.");
    m.def("widrow_hoff", &run_widrow_hoff, nb::arg("rows"), nb::arg("weights"), nb::arg("target"),
          nb::arg("weight").none(), nb::arg("chosen").none(), nb::kw_only(), nb::arg("eta"),
          nb::arg("fit_intercept"), nb::arg("shuffle"), nb::arg("seed"), nb::arg("max_epochs"),
          nb::arg("tol"), nb::arg("most_error"), nb::arg("before"), nb::arg("safety") = 0.0,
          nb::arg("largest_norm") = 0.0, "Run the Widrow-Hoff rule.");

    nb::class_<Margins>(m, "Margins", "How weights sort rows.")
        .def_ro("smallest", &Margins::smallest, "The smallest margin of each model.")
        .def_ro("wrong_rows", &Margins::wrong_rows, "Rows with a mistake in some model.")
        .def_ro("tied_rows", &Margins::tied_rows, "Rows where some margin is 0.");
    m.def("margins", &run_margins, nb::arg("rows"), nb::arg("weights"), nb::arg("label"),
          nb::arg("chosen").none(), nb::arg("first_class"), nb::arg("n_models"), nb::arg("argmax"),
          nb::arg("tie_target") = 0, "Measure the margins of weights on rows.");
    m.def("perceptron", &run_perceptron, nb::arg("rows"), nb::arg("weights"), nb::arg("plan"),
          nb::arg("block"), nb::arg("first_class"), nb::arg("n_lanes"),
          "Run the one-vs-rest perceptron on one block of lanes.");
    m.def("batch_perceptron", &run_batch_perceptron, nb::arg("rows"), nb::arg("weights"),
          nb::arg("plan"), nb::arg("block"), nb::arg("first_class"), nb::arg("n_lanes"),
          nb::arg("eps"), "Run the batch perceptron on one block of lanes.");
    m.def("argmax_perceptron", &run_argmax_perceptron, nb::arg("rows"), nb::arg("weights"),
          nb::arg("plan"), nb::arg("met"), "Run the multi-class perceptron on all classes.");
}
