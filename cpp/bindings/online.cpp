#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/online/argmax_perceptron.hpp"
#include "separable/online/batch_perceptron.hpp"
#include "separable/online/margins.hpp"
#include "separable/online/perceptron.hpp"
#include "separable/online/widrow_hoff.hpp"
#include "weights.hpp"

using namespace separable;

namespace {

// Everything a run needs besides weights, gathered from keywords.
struct Plan {
    Const<std::int32_t> label;
    std::optional<Const<double>> weight;
    std::optional<Const<std::int64_t>> rows;
    double eta;
    bool fit_intercept;
    bool shuffle;
    std::uint64_t seed;
    std::int64_t first_epoch, max_epochs;
    double presented;
    bool pocket;
    bool record;
    int tie_target;

    OnlineProblem problem() const {
        OnlineProblem p;
        p.label = {label.data(), label.size()};
        if (weight) p.weight = {weight->data(), weight->size()};
        p.eta = eta;
        p.fit_intercept = fit_intercept;
        p.tie_target = tie_target;
        return p;
    }

    std::vector<std::int64_t> chosen(std::int64_t n_rows) const {
        return rows_or_all(rows, n_rows);
    }
};

void check_chosen(const BoundRows& rows, const std::optional<Const<std::int64_t>>& chosen) {
    if (!chosen) return;
    for (std::size_t k = 0; k < chosen->size(); ++k)
        check((*chosen)(k) >= 0 && (*chosen)(k) < rows.n_rows, "a chosen row is outside");
}

// Labels are 0 ... n_classes - 1, chosen rows are there.
void check_labels(const BoundRows& rows, const Const<std::int32_t>& label,
                  const std::optional<Const<std::int64_t>>& chosen, std::int64_t n_classes) {
    check(label.size() == static_cast<std::size_t>(rows.n_rows), "one label a row is needed");
    for (std::size_t k = 0; k < label.size(); ++k)
        check(label(k) >= 0 && label(k) < n_classes, "a label is outside 0 ... K - 1");
    check_chosen(rows, chosen);
}

void check_plan(const BoundRows& rows, const Plan& plan, std::int64_t n_classes) {
    check_labels(rows, plan.label, plan.rows, n_classes);
    check(!plan.weight || plan.weight->size() == plan.label.size(), "one weight a row is needed");
}

struct Result {
    OnlineRun run;
    std::vector<double> pocket_mistakes;
    std::vector<double> delta_norm;
    std::vector<BatchStop> stop;
    std::vector<MistakeList> mistakes;  // of each model, if they are recorded
};

template <class Lane>
PerceptronBlock<Lane> make_block(const Weights& weights, std::int64_t n_features,
                                 std::int64_t block_index, std::int64_t first_class, int n_lanes) {
    check(n_lanes >= 1 && n_lanes <= Lane::kWidth, "too many models for one block of lanes");
    const std::int64_t size = n_features * Lane::kWidth;
    PerceptronBlock<Lane> block;
    block.w = weights.template block_weights<Lane>(block_index);
    block.b = weights.template block_intercepts<Lane>(block_index);
    if (weights.u) block.u = weights.u->data() + block_index * size;
    if (weights.u) block.u_b = weights.u_b->data() + block_index * Lane::kWidth;
    block.first_class = first_class;
    block.n_lanes = n_lanes;
    block.prepare();
    return block;
}

template <class Lane>
void copy_lane(const Pocket<Lane>& pocket, const PerceptronBlock<Lane>& block,
               std::int64_t n_features, int lane) {
    block.b[lane] = pocket.b[lane];
    for (std::int64_t j = 0; j < n_features; ++j)
        block.w[j * Lane::kWidth + lane] = pocket.w[j * Lane::kWidth + lane];
}

Result run_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                      std::int64_t block_index, std::int64_t first_class, int n_lanes) {
    weights.check_shapes(rows.n_features);
    check(block_index >= 0 && block_index < weights.n_blocks(), "no such block of lanes");
    check_plan(rows, plan, std::numeric_limits<std::int32_t>::max());
    const auto problem = plan.problem();
    const auto chosen = plan.chosen(rows.n_rows);
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() {
        const auto x = make_products<Lane>(rows.rows);
        auto block = make_block<Lane>(weights, rows.n_features, block_index, first_class, n_lanes);
        EpochOrder order(chosen, plan.shuffle, plan.seed, x->row_bytes());
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
        std::optional<Pocket<Lane>> pocket;
        if (plan.pocket)
            pocket.emplace(
                *x, problem, chosen,
                [&](std::int64_t i) { return block.targets(problem.label[i]); }, n_lanes,
                heartbeat);
        std::optional<MistakeRecord<Lane>> record;
        if (plan.record) record.emplace(n_lanes);
        Result result;
        result.run = perceptron<Lane>(*x, problem, block, order, plan.first_epoch, plan.max_epochs,
                                      plan.presented, pocket ? &*pocket : nullptr,
                                      record ? &*record : nullptr, heartbeat);
        if (record) result.mistakes = std::move(record->lanes);
        if (pocket && result.run.overflow_row < 0)
            for (int lane = 0; lane < n_lanes; ++lane) {
                copy_lane(*pocket, block, rows.n_features, lane);
                result.pocket_mistakes.push_back(pocket->mistakes[lane]);
            }
        return result;
    });
}

Result run_batch_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                            std::int64_t block_index, std::int64_t first_class, int n_lanes,
                            double eps) {
    weights.check_shapes(rows.n_features);
    check(block_index >= 0 && block_index < weights.n_blocks(), "no such block of lanes");
    check_plan(rows, plan, std::numeric_limits<std::int32_t>::max());
    const auto problem = plan.problem();
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() {
        const auto x = make_products<Lane>(rows.rows);
        auto block = make_block<Lane>(weights, rows.n_features, block_index, first_class, n_lanes);
        const EpochOrder order(plan.chosen(rows.n_rows), false, 0, x->row_bytes());
        Heartbeat heartbeat(poll_signals, x->n_values + x->n_features, x->n_rows);
        auto found =
            batch_perceptron<Lane>(*x, problem, block, order, plan.max_epochs, eps, heartbeat);
        Result result;
        result.run = found.run;
        result.delta_norm = found.delta_norm;
        result.stop = found.stop;
        return result;
    });
}

WidrowHoffRun run_widrow_hoff(const BoundRows& rows, const Weights& weights,
                              const Const<double>& target,
                              const std::optional<Const<double>>& weight,
                              const std::optional<Const<std::int64_t>>& chosen, double eta,
                              bool fit_intercept, bool shuffle, std::uint64_t seed,
                              std::int64_t max_epochs, double tol, double most_error,
                              const SquaredErrors& before, double safety, double largest_norm) {
    weights.check_shapes(rows.n_features);
    check(weights.n_blocks() == 1 && weights.w.shape(2) == 1, "there is one model of one lane");
    check(target.size() == static_cast<std::size_t>(rows.n_rows), "one number a row is needed");
    check(!weight || weight->size() == target.size(), "one weight a row is needed");
    check_chosen(rows, chosen);
    WidrowHoffProblem problem;
    if (weight) problem.rows.weight = {weight->data(), weight->size()};
    problem.rows.eta = eta;
    problem.rows.fit_intercept = fit_intercept;
    problem.target = {target.data(), target.size()};
    problem.max_epochs = max_epochs;
    problem.tol = tol;
    problem.most_error = most_error;
    problem.safety = safety;
    auto order_of_rows = rows_or_all(chosen, rows.n_rows);
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() -> WidrowHoffRun {
        using T = typename Lane::T;
        if constexpr (Lane::kWidth == 1) {
            const auto x = make_products<Lane>(rows.rows);
            EpochOrder order(std::move(order_of_rows), shuffle, seed, x->row_bytes());
            Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
            return widrow_hoff<T>(*x, problem, weights.template block_weights<Lane>(0),
                                  *weights.template block_intercepts<Lane>(0), order, before,
                                  largest_norm, heartbeat);
        } else {
            throw std::invalid_argument("there is one model of one lane");
        }
    });
}

Result run_argmax_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                             Mutable<bool, 1> met) {
    weights.check_shapes(rows.n_features);
    const auto n_classes = static_cast<std::int64_t>(met.size());
    check_plan(rows, plan, n_classes);
    const auto problem = plan.problem();
    const auto chosen = plan.chosen(rows.n_rows);
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() {
        using T = typename Lane::T;
        const auto x = make_products<Lane>(rows.rows);
        ArgmaxState<Lane> state;
        state.w = static_cast<T*>(weights.w.data());
        state.b = static_cast<T*>(weights.b.data());
        if (weights.u) state.u = weights.u->data(), state.u_b = weights.u_b->data();
        state.met = met.data();
        state.n_classes = n_classes;
        state.n_features = rows.n_features;
        check(state.n_blocks() <= weights.n_blocks(), "more classes than lanes");

        EpochOrder order(chosen, plan.shuffle, plan.seed, x->row_bytes());
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows, state.n_blocks());
        std::optional<ArgmaxPocket<Lane>> pocket;
        if (plan.pocket) pocket.emplace(*x, problem, chosen, heartbeat);
        Result result;
        result.run =
            argmax_perceptron<Lane>(*x, problem, state, order, plan.first_epoch, plan.max_epochs,
                                    plan.presented, pocket ? &*pocket : nullptr, heartbeat);
        if (pocket && result.run.overflow_row < 0) {
            std::copy(pocket->w.begin(), pocket->w.end(), state.w);
            std::copy(pocket->b.begin(), pocket->b.end(), state.b);
            result.pocket_mistakes = {pocket->mistakes};
        }
        return result;
    });
}

Margins run_margins(const BoundRows& rows, const Weights& weights, Const<std::int32_t> label,
                    std::optional<Const<std::int64_t>> chosen, std::int64_t first_class,
                    std::int64_t n_models, bool argmax, int tie_target) {
    weights.check_shapes(rows.n_features);
    check_labels(rows, label, chosen, first_class + n_models);
    const auto all = rows_or_all(chosen, rows.n_rows);
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() {
        using T = typename Lane::T;
        check(n_models >= 1 && n_models <= weights.n_blocks() * Lane::kWidth, "no such models");
        const auto x = make_products<Lane>(rows.rows);
        const MarginModels<Lane> models{static_cast<const T*>(weights.w.data()),
                                        static_cast<const T*>(weights.b.data()),
                                        n_models,
                                        first_class,
                                        argmax,
                                        tie_target};
        return measure_margins<Lane>(
            *x, all, {label.data(), label.size()}, models,
            Heartbeat(poll_signals, x->n_values, x->n_rows, weights.n_blocks()));
    });
}

// Rows, steps and times of one model's mistakes; arrays of the caller's own.
auto recorded(const Result& result, std::size_t model) {
    check(model < result.mistakes.size(), "no such model was recorded");
    const auto owned = []<class T>(const std::vector<T>& from) {
        auto* copy = new std::vector<T>(from);
        nb::capsule owner(copy, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
        return nb::ndarray<nb::numpy, T, nb::ndim<1>>(copy->data(), {copy->size()}, owner);
    };
    const auto& list = result.mistakes[model];
    return nb::make_tuple(owned(list.row), owned(list.step), owned(list.time));
}

void unpack(const Weights& weights, double scale, double presented, Mutable<double, 2> out) {
    check(out.shape(1) == weights.w.shape(1), "weights have another width");
    nb::gil_scoped_release no_gil;
    weights.with_lane([&]<class Lane>() {
        const auto n_models = static_cast<std::int64_t>(out.shape(0));
        check(n_models <= weights.n_blocks() * Lane::kWidth, "no such models");
        unpack_lanes<Lane>(static_cast<const typename Lane::T*>(weights.w.data()),
                           weights.u ? weights.u->data() : nullptr, scale, presented, n_models,
                           static_cast<std::int64_t>(out.shape(1)), out.data());
    });
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
               double presented, bool pocket, bool record, int tie_target) {
                new (plan)
                    Plan{label,       weight,     rows,      eta,    fit_intercept, shuffle,   seed,
                         first_epoch, max_epochs, presented, pocket, record,        tie_target};
            },
            nb::kw_only(), nb::arg("label"), nb::arg("weight") = nb::none(),
            nb::arg("rows") = nb::none(), nb::arg("eta") = 1.0, nb::arg("fit_intercept") = true,
            nb::arg("shuffle") = false, nb::arg("seed") = 0, nb::arg("first_epoch") = 0,
            nb::arg("max_epochs") = 1, nb::arg("presented") = 0.0, nb::arg("pocket") = false,
            nb::arg("record") = false, nb::arg("tie_target") = 0);

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
