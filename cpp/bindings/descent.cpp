#include "separable/online/descent.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/loss/losses.hpp"
#include "separable/online/adaptive_sgd.hpp"
#include "separable/online/sgd.hpp"
#include "weights.hpp"

using namespace separable;

namespace {

// Everything a run needs besides weights, gathered from keywords.
struct DescentPlan {
    std::optional<Const<std::int32_t>> label;
    std::optional<Const<double>> number, weight;
    std::optional<Const<std::int64_t>> rows;
    std::string loss;
    double epsilon;
    double l1, l2;
    Schedule schedule;
    double mean_from;
    bool fit_intercept, shuffle;
    std::uint64_t seed;
    std::int64_t first_epoch, max_epochs;
    bool measure;
    bool given_start;

    void check_sizes(const BoundRows& bound) const {
        const auto n = static_cast<std::size_t>(bound.n_rows);
        check(label.has_value() != number.has_value(), "either labels or numbers are needed");
        check(!label || label->size() == n, "one label a row is needed");
        check(!number || number->size() == n, "one number a row is needed");
        check(!weight || weight->size() == n, "one weight a row is needed");
        if (!rows) return;
        for (std::size_t k = 0; k < rows->size(); ++k)
            check((*rows)(k) >= 0 && (*rows)(k) < bound.n_rows, "a chosen row is outside");
    }

    DescentProblem problem(std::int64_t first_class, int n_lanes) const {
        DescentProblem p;
        if (label) p.label = {label->data(), label->size()};
        if (number) p.number = {number->data(), number->size()};
        if (weight) p.weight = {weight->data(), weight->size()};
        p.first_class = first_class;
        p.n_lanes = n_lanes;
        return p;
    }
};

// Where progressive validation is written; the counts move on with every run.
struct ProgressArrays {
    Mutable<double, 2> loss;
    Mutable<double, 3> marks;
    Mutable<double, 1> mark_weight;
    double examples, weight;

    Progress of_block(std::int64_t block, int width) {
        const auto b = static_cast<std::size_t>(block);
        check(examples >= 0 && examples < 9007199254740992.0, "examples are not a count");
        check(loss.shape(0) > b && loss.shape(1) == static_cast<std::size_t>(width) &&
                  marks.shape(0) > b && marks.shape(1) == Progress::kMarks &&
                  marks.shape(2) == static_cast<std::size_t>(width) &&
                  mark_weight.shape(0) == Progress::kMarks,
              "progress does not fit");
        return {loss.data() + block * width, marks.data() + block * Progress::kMarks * width,
                mark_weight.data(), examples, weight};
    }
};

template <class Lane, class Descent>
DescentRun run_epochs(const BoundRows& rows, const DescentPlan& plan, ProgressArrays* progress,
                      std::int64_t block, std::int64_t first_class, int n_lanes,
                      const std::vector<std::int64_t>& chosen, Descent& descent) {
    check(n_lanes >= 1 && n_lanes <= Lane::kWidth, "too many models for one block of lanes");
    const auto x = make_products<Lane>(rows.rows, &rows.repeats());
    const auto loss = make_loss<Lane>(plan.loss, plan.epsilon);
    EpochOrder order(chosen, plan.shuffle, plan.seed, x->row_bytes());
    Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
    Progress moving = progress ? progress->of_block(block, Lane::kWidth) : Progress{};
    auto run = descend<Lane>(*x, plan.problem(first_class, n_lanes), *loss, descent, order,
                             plan.first_epoch, plan.max_epochs, moving, plan.measure, heartbeat);
    if (progress) progress->examples = moving.examples, progress->weight = moving.weight;
    return run;
}

DescentRun run_sgd(const BoundRows& rows, const Weights& weights,
                   std::optional<Mutable<double, 3>> q, const DescentPlan& plan,
                   ProgressArrays* progress, SgdClock& clock, std::int64_t block,
                   std::int64_t first_class, int n_lanes) {
    weights.check_shapes(rows.n_features);
    plan.check_sizes(rows);
    check(block >= 0 && block < weights.n_blocks(), "no such block of lanes");
    check(!q || q->size() == weights.w.size(), "dues of the l1 penalty do not fit");
    const auto chosen = rows_or_all(plan.rows, rows.n_rows);
    nb::gil_scoped_release no_gil;
    return weights.with_lane([&]<class Lane>() {
        const std::int64_t size = rows.n_features * Lane::kWidth;
        typename SgdDescent<Lane>::Arrays arrays;
        arrays.v = weights.template block_weights<Lane>(block);
        arrays.b = weights.template block_intercepts<Lane>(block);
        if (weights.u) arrays.u = weights.u->data() + block * size;
        if (weights.u) arrays.u_b = weights.u_b->data() + block * Lane::kWidth;
        if (q) arrays.q = q->data() + block * size;
        SgdDescent<Lane> descent(arrays, rows.n_features, plan.schedule, plan.l1, plan.l2,
                                 plan.mean_from, plan.fit_intercept, clock);
        return run_epochs<Lane>(rows, plan, progress, block, first_class, n_lanes, chosen, descent);
    });
}

// The arrays of adaptive steps: those of the models, [block][feature][lane] or [block][lane], and
// those of the columns.
struct AdaptiveArrays {
    AnyWeights wa;  // [block][feature][w, A][lane]
    Mutable<double, 2> b, a0;
    std::optional<Mutable<double, 3>> u;
    std::optional<Mutable<double, 2>> u_b;
    std::optional<Mutable<double, 3>> due, q;
    Mutable<double, 2> columns;              // [feature], a Column
    Mutable<std::int64_t, 1> centred_index;  // of the centred columns
    Mutable<double, 2> centred;              // [mean, spread, record][place]
    std::optional<Mutable<double, 1>> last;

    void check_shapes(const BoundRows& rows, const AdaptiveClock& clock) const {
        const auto d = static_cast<std::size_t>(rows.n_features);
        check(wa.ndim() == 4 && wa.shape(1) == d && wa.shape(2) == 2, "weights have another width");
        for (const auto* each : {&b, &a0})
            check(each->shape(0) == wa.shape(0) && each->shape(1) == wa.shape(3),
                  "intercepts do not fit");
        for (const auto* each : {&u, &due, &q})
            check(!*each || 2 * (*each)->size() == wa.size(), "arrays do not fit the weights");
        check(!u || (u_b && u_b->size() == b.size()), "means of intercepts do not fit");
        check(q.has_value() == due.has_value() && (!q || last), "dues of the penalty do not fit");
        check(columns.shape(0) == d && columns.shape(1) == 4, "columns do not fit");
        check(!last || last->size() == d, "turns do not fit");
        check_centred(rows, clock);
    }

    void check_centred(const BoundRows& rows, const AdaptiveClock& clock) const {
        const auto capacity = centred_index.size();
        const auto n = static_cast<std::size_t>(clock.columns.centred);
        check(clock.columns.centred >= 0 && n <= capacity, "more centred columns than places");
        check(centred.shape(0) == 3 && centred.shape(1) == capacity, "centres do not fit");
        const auto n_values = std::visit([](const auto& r) { return r.n_values(); }, rows.rows);
        check(capacity >= static_cast<std::size_t>(rows.n_features) ||
                  capacity >= n + static_cast<std::size_t>(n_values),
              "too few places for centred columns");
        for (std::size_t c = 0; c < n; ++c)
            check(centred_index(c) >= 0 && centred_index(c) < rows.n_features,
                  "a centred column is outside");
    }

    template <class Lane>
    typename AdaptiveDescent<Lane>::Arrays of_block(std::int64_t block) const {
        using T = typename Lane::T;
        const std::int64_t size = static_cast<std::int64_t>(wa.shape(1)) * Lane::kWidth;
        typename AdaptiveDescent<Lane>::Arrays arrays;
        arrays.wa = static_cast<T*>(wa.data()) + 2 * block * size;
        arrays.b = b.data() + block * Lane::kWidth;
        arrays.a0 = a0.data() + block * Lane::kWidth;
        if (u) arrays.u = u->data() + block * size;
        if (u) arrays.u_b = u_b->data() + block * Lane::kWidth;
        if (due) arrays.due = due->data() + block * size;
        if (q) arrays.q = q->data() + block * size;
        if (last) arrays.last = last->data();
        return arrays;
    }

    CentredColumns centred_columns() const {
        const auto capacity = static_cast<std::int64_t>(centred_index.size());
        double* at = centred.data();
        return {centred_index.data(), at, at + capacity, at + 2 * capacity, centred_index.size()};
    }
};

DescentRun run_adaptive_sgd(const BoundRows& rows, const AdaptiveArrays& arrays,
                            const DescentPlan& plan, ProgressArrays* progress, AdaptiveClock& clock,
                            std::int64_t block, std::int64_t first_class, int n_lanes) {
    arrays.check_shapes(rows, clock);
    plan.check_sizes(rows);
    check(block >= 0 && block < static_cast<std::int64_t>(arrays.wa.shape(0)),
          "no such block of lanes");
    const auto chosen = rows_or_all(plan.rows, rows.n_rows);
    nb::gil_scoped_release no_gil;
    return with_lane(arrays.wa, [&]<class Lane>() {
        const typename AdaptiveDescent<Lane>::Settings settings{
            plan.schedule.eta0,      plan.l1,         plan.l2, plan.mean_from, plan.fit_intercept,
            plan.number.has_value(), plan.given_start};
        AdaptiveDescent<Lane> descent(arrays.of_block<Lane>(block),
                                      reinterpret_cast<Column*>(arrays.columns.data()),
                                      arrays.centred_columns(), settings, clock);
        return run_epochs<Lane>(rows, plan, progress, block, first_class, n_lanes, chosen, descent);
    });
}

Schedule::Kind schedule_kind(const std::string& name) {
    if (name == "constant") return Schedule::Kind::constant;
    if (name == "invscaling") return Schedule::Kind::inverse_scaling;
    if (name == "optimal") return Schedule::Kind::optimal;
    if (name == "adaptive") return Schedule::Kind::constant;  // eta0 is all it takes from it
    throw std::invalid_argument("there is no schedule " + name);
}

void write_loss(const std::string& name, double epsilon, Const<double> s, Const<double> y,
                bool slope, Mutable<double, 1> out) {
    check(s.size() == y.size() && s.size() == out.size(), "scores and targets do not fit");
    with_loss(name, epsilon, [&](const auto& loss) {
        for (std::size_t i = 0; i < s.size(); ++i)
            out(i) = slope ? loss.slope(s(i), y(i)) : loss.value(s(i), y(i));
        return true;
    });
}

void write_implicit_slopes(const std::string& name, double epsilon, Const<double> s,
                           Const<double> y, Const<double> gain, Mutable<double, 1> out) {
    check(s.size() == y.size() && s.size() == gain.size() && s.size() == out.size(),
          "scores, targets and gains do not fit");
    const auto loss = make_loss<Single<double>>(name, epsilon);
    for (std::size_t i = 0; i < s.size(); ++i) {
        double slope = 0;
        loss->slopes(s.data() + i, y.data() + i, &slope);
        loss->implicit_slopes(s.data() + i, y.data() + i, &slope, gain.data() + i, out.data() + i);
    }
}

std::vector<std::tuple<std::string, bool, bool>> list_losses() {
    std::vector<std::tuple<std::string, bool, bool>> list;
    [&]<class... L>(std::tuple<L...>*) {
        (list.emplace_back(L::kName, L::kClassesOnly, L::kConvex), ...);
    }(static_cast<Losses*>(nullptr));
    return list;
}

}  // namespace

void bind_descent(nb::module_& m) {
    m.def("losses", &list_losses, "Every loss: its name, whether it is for classes only, convex.");
    m.def("write_loss", &write_loss, nb::arg("name"), nb::arg("epsilon"), nb::arg("s"),
          nb::arg("y"), nb::arg("slope"), nb::arg("out"),
          "Write the value, or the slope in s, of a loss for each score and target.");
    m.def("write_implicit_slopes", &write_implicit_slopes, nb::arg("name"), nb::arg("epsilon"),
          nb::arg("s"), nb::arg("y"), nb::arg("gain"), nb::arg("out"),
          "Write the slope of a loss at the score that a step along it leads to.");

    nb::class_<DescentPlan>(m, "DescentPlan",
                            "Targets, loss, penalty, steps and order of a descent.")
        .def(
            "__init__",
            [](DescentPlan* plan, std::optional<Const<std::int32_t>> label,
               std::optional<Const<double>> number, std::optional<Const<double>> weight,
               std::optional<Const<std::int64_t>> rows, std::string loss, double epsilon, double l1,
               double l2, const std::string& schedule, double eta0, double power, double alpha,
               double t0, double mean_from, bool fit_intercept, bool shuffle, std::uint64_t seed,
               std::int64_t first_epoch, std::int64_t max_epochs, bool measure, bool given_start) {
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
                                       measure,
                                       given_start};
            },
            nb::kw_only(), nb::arg("label").none(), nb::arg("number").none(),
            nb::arg("weight").none(), nb::arg("rows").none(), nb::arg("loss"), nb::arg("epsilon"),
            nb::arg("l1"), nb::arg("l2"), nb::arg("schedule"), nb::arg("eta0"), nb::arg("power"),
            nb::arg("alpha"), nb::arg("t0"), nb::arg("mean_from"), nb::arg("fit_intercept"),
            nb::arg("shuffle"), nb::arg("seed"), nb::arg("first_epoch"), nb::arg("max_epochs"),
            nb::arg("measure"), nb::arg("given_start"));

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
                "The row whose score was not finite, or -1.");

    m.def("sgd", &run_sgd, nb::arg("rows"), nb::arg("weights"), nb::arg("q").none(),
          nb::arg("plan"), nb::arg("progress").none(), nb::arg("clock"), nb::arg("block"),
          nb::arg("first_class"), nb::arg("n_lanes"),
          "Descend with one step size for all weights, on one block of lanes.");
    m.def("adaptive_sgd", &run_adaptive_sgd, nb::arg("rows"), nb::arg("arrays"), nb::arg("plan"),
          nb::arg("progress").none(), nb::arg("clock"), nb::arg("block"), nb::arg("first_class"),
          nb::arg("n_lanes"), "Descend with a step for each weight, on one block of lanes.");
}
