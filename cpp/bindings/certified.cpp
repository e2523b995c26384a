#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/certified/dual_descent.hpp"
#include "separable/certified/dual_loss.hpp"
#include "separable/certified/lane_targets.hpp"
#include "separable/certified/row_products.hpp"
#include "separable/certified/row_terms.hpp"
#include "weights.hpp"

using namespace separable;

namespace {

template <class Run>
auto with_dual_loss(const std::string& name, double eps, Run&& run) {
    if (name == InsensitiveDual::kName) return run(InsensitiveDual{eps});
    if (name == HingeDual::kName) return run(HingeDual{});
    if (name == SquaredHingeDual::kName) return run(SquaredHingeDual{});
    if (name == LogisticDual::kName) return run(LogisticDual{});
    if (name == SquaredErrorDual::kName) return run(SquaredErrorDual{});
    throw std::invalid_argument("no such loss: " + name);
}

template <class T>
std::span<const T> span_of(const Const<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
std::span<const T> span_of(const std::optional<Const<T>>& array) {
    return array ? span_of(*array) : std::span<const T>{};
}

// Targets and costs of rows in each lane, checked.
struct LaneTargets {
    LaneTargets(std::string loss, double eps, std::optional<Const<std::int32_t>> label,
                std::optional<Const<double>> number, std::optional<Const<double>> weight,
                std::optional<Const<std::int32_t>> fold, Const<std::int32_t> class_of,
                Const<std::int32_t> held_out, Const<double> strength)
        : loss(std::move(loss)),
          eps(eps),
          label(label),
          number(number),
          weight(weight),
          fold(fold),
          class_of(class_of),
          held_out(held_out),
          strength(strength) {
        check(label.has_value() != number.has_value(), "rows have labels or numbers");
        const std::size_t n = label ? label->size() : number->size(), lanes = strength.size();
        check((!weight || weight->size() == n) && (!fold || fold->size() == n),
              "one number a row is needed");
        check(lanes > 0 && class_of.size() == lanes && held_out.size() == lanes,
              "one number a lane is needed");
        with_dual_loss(this->loss, eps, [&](const auto& one) {
            check(one.kRegression == number.has_value(), "the loss does not suit the target");
        });
    }

    std::int64_t n_rows() const {
        return static_cast<std::int64_t>(label ? label->size() : number->size());
    }
    RowTargets rows() const {
        return {span_of(label), span_of(number), span_of(weight), span_of(fold)};
    }
    LanePlan plan() const { return {span_of(class_of), span_of(held_out), span_of(strength)}; }

    // A table has a row for each row, and a column for each lane or more.
    template <class Table>
    void check_table(const Table& table) const {
        check(static_cast<std::int64_t>(table.shape(0)) == n_rows() &&
                  table.shape(1) >= strength.size(),
              "one number a row and lane is needed");
    }

    std::string loss;
    double eps;
    std::optional<Const<std::int32_t>> label;
    std::optional<Const<double>> number, weight;
    std::optional<Const<std::int32_t>> fold;
    Const<std::int32_t> class_of, held_out;
    Const<double> strength;
};

using Numbers = std::vector<double>;

std::pair<Numbers, Numbers> run_pass(const LaneTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Const<double> rho, AnyWeights w,
                                     AnyWeights a, std::optional<AnyWeights> t,
                                     Mutable<std::uint16_t, 2> by_row, Mutable<double, 2> by_lane,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed) {
    const std::size_t lanes = targets.strength.size();
    check(targets.n_rows() == rows.n_rows &&
              static_cast<std::int64_t>(squared_norm.size()) == rows.n_rows &&
              by_row.shape(0) == 2 && static_cast<std::int64_t>(by_row.shape(1)) == rows.n_rows,
          "one number a row is needed");
    check(w.ndim() == 2 && a.ndim() == 2 && a.dtype() == w.dtype() && a.shape(1) == w.shape(1) &&
              static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(a.shape(0)) == rows.n_rows,
          "weights and dual variables do not fit");
    check(!t || (t->ndim() == 2 && t->dtype() == a.dtype() && t->shape(0) == a.shape(0) &&
                 t->shape(1) == a.shape(1)),
          "margins do not fit");
    check(by_lane.shape(0) == 5 && by_lane.shape(1) == lanes && rho.size() == lanes &&
              lanes <= w.shape(1),
          "one number a lane is needed");
    nb::gil_scoped_release no_gil;
    return with_lane(w, [&]<class Lane>() {
        using T = typename Lane::T;
        const auto x = make_products<Lane>(rows.rows);
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
        PassOrder order(rows.n_rows, seed, pass);
        double* of_lanes = by_lane.data();
        const DualState<Lane> state{static_cast<T*>(w.data()),
                                    static_cast<T*>(a.data()),
                                    t ? static_cast<T*>(t->data()) : nullptr,
                                    by_row.data(),
                                    by_row.data() + rows.n_rows,
                                    of_lanes,
                                    of_lanes + lanes,
                                    of_lanes + 2 * lanes,
                                    of_lanes + 3 * lanes,
                                    of_lanes + 4 * lanes};
        return with_dual_loss(targets.loss, targets.eps, [&](const auto& loss) {
            check(!loss.kKeepsMargin || state.t, "this loss needs margins");
            DualDescent<Lane, std::decay_t<decltype(loss)>> descent(
                *x, loss, targets.rows(), targets.plan(), span_of(squared_norm), span_of(rho), done,
                state);
            DualPass told = descent.pass(std::move(order), heartbeat);
            return std::pair(std::move(told.loss), std::move(told.gap));
        });
    });
}

// ------------------------------------------------------------------ certificates

template <class Table>
void check_lanes(const Table& table) {
    check(table.shape(1) == 1 || table.shape(1) % kPerLine<double> == 0,
          "one lane or whole lines of 8 are needed");
}

void sum_rows(const BoundRows& rows, ConstTable<double> r, Mutable<double, 2> sums) {
    check(static_cast<std::int64_t>(r.shape(0)) == rows.n_rows &&
              static_cast<std::int64_t>(sums.shape(0)) == rows.n_features &&
              sums.shape(1) == r.shape(1),
          "numbers and sums do not fit the rows");
    check_lanes(r);
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& x) {
            add_rows(x, static_cast<std::int64_t>(r.shape(1)), r.data(), sums.data(), poll_signals);
        },
        rows.rows);
}

template <class T>
void score_all(const BoundRows& rows, ConstTable<T> w, Mutable<double, 2> scores) {
    check(static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(scores.shape(0)) == rows.n_rows &&
              scores.shape(1) == w.shape(1),
          "weights and scores do not fit the rows");
    check_lanes(w);
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& x) {
            score_rows(x, static_cast<std::int64_t>(w.shape(1)), w.data(), scores.data(),
                       poll_signals);
        },
        rows.rows);
}

Numbers largest_scores(const BoundRows& rows, ConstTable<double> w,
                       const std::optional<Const<double>>& factor, bool is_signed) {
    check(static_cast<std::int64_t>(w.shape(0)) == rows.n_features, "weights do not fit the rows");
    check(!factor || static_cast<std::int64_t>(factor->size()) == rows.n_rows,
          "one factor a row is needed");
    check_lanes(w);
    nb::gil_scoped_release no_gil;
    return std::visit(
        [&](const auto& x) {
            return largest_of(x, static_cast<std::int64_t>(w.shape(1)), w.data(),
                              factor ? factor->data() : nullptr, is_signed, poll_signals);
        },
        rows.rows);
}

template <class T>
std::tuple<Numbers, Numbers, Numbers> all_norms(ConstTable<T> w, ConstTable<double> v) {
    check(w.shape(0) == v.shape(0) && w.shape(1) == v.shape(1), "weights do not fit");
    nb::gil_scoped_release no_gil;
    LaneNorms norms = lane_norms(static_cast<std::int64_t>(w.shape(0)),
                                 static_cast<std::int64_t>(w.shape(1)), w.data(), v.data());
    return {std::move(norms.w), std::move(norms.v), std::move(norms.away)};
}

void cut_and_balance(const LaneTargets& targets, Mutable<double, 2> z, bool balance) {
    targets.check_table(z);
    nb::gil_scoped_release no_gil;
    with_dual_loss(targets.loss, targets.eps, [&](const auto& loss) {
        make_feasible(loss, targets.rows(), targets.plan(), targets.n_rows(),
                      static_cast<std::int64_t>(z.shape(1)), balance, z.data());
    });
}

std::tuple<Numbers, Numbers, Numbers, Numbers> terms_of_rows(const LaneTargets& targets,
                                                             ConstTable<double> z,
                                                             ConstTable<double> scores,
                                                             bool fit_intercept) {
    targets.check_table(z);
    targets.check_table(scores);
    check(z.shape(1) == scores.shape(1), "dual points and scores do not fit");
    nb::gil_scoped_release no_gil;
    return with_dual_loss(targets.loss, targets.eps, [&](const auto& loss) {
        const auto stride = static_cast<std::int64_t>(z.shape(1));
        Numbers b(targets.strength.size(), 0.0);
        if (fit_intercept)
            b = best_intercepts(loss, targets.rows(), targets.plan(), targets.n_rows(), stride,
                                scores.data());
        RowTerms terms = row_terms(loss, targets.rows(), targets.plan(), targets.n_rows(), stride,
                                   z.data(), scores.data(), b);
        return std::tuple(std::move(b), std::move(terms.loss), std::move(terms.dual),
                          std::move(terms.gap));
    });
}

void sum_outer(const BoundRows& rows, Const<double> c, Mutable<double, 2> products) {
    const auto d = static_cast<std::size_t>(rows.n_features);
    check(static_cast<std::int64_t>(c.size()) == rows.n_rows && products.shape(0) == d &&
              products.shape(1) == d,
          "weights and products do not fit the rows");
    nb::gil_scoped_release no_gil;
    std::visit([&](const auto& x) { add_outer(x, c.data(), products.data(), poll_signals); },
               rows.rows);
}

void sum_curved(const BoundRows& rows, Const<double> c, Const<double> w, double b,
                Mutable<double, 1> scores, Mutable<double, 1> sums) {
    const auto n = static_cast<std::size_t>(rows.n_rows);
    const auto d = static_cast<std::size_t>(rows.n_features);
    check(c.size() == n && scores.size() == n && w.size() == d && sums.size() == d,
          "weights, scores and sums do not fit the rows");
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& x) {
            add_curved(x, c.data(), w.data(), b, scores.data(), sums.data(), poll_signals);
        },
        rows.rows);
}

void sum_squares(const BoundRows& rows, Const<double> c, Mutable<double, 1> sums) {
    check(static_cast<std::int64_t>(c.size()) == rows.n_rows &&
              static_cast<std::int64_t>(sums.size()) == rows.n_features,
          "weights and sums do not fit the rows");
    nb::gil_scoped_release no_gil;
    std::visit([&](const auto& x) { add_squares(x, c.data(), sums.data(), poll_signals); },
               rows.rows);
}

}  // namespace

void bind_certified(nb::module_& m) {
    nb::class_<LaneTargets>(m, "LaneTargets", "Targets and costs of rows in each lane.")
        .def(nb::init<std::string, double, std::optional<Const<std::int32_t>>,
                      std::optional<Const<double>>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, Const<std::int32_t>, Const<std::int32_t>,
                      Const<double>>(),
             nb::arg("loss"), nb::arg("eps"), nb::arg("label").none(), nb::arg("number").none(),
             nb::arg("weight").none(), nb::arg("fold").none(), nb::arg("class_of"),
             nb::arg("held_out"), nb::arg("strength"));
    m.def(
        "dual_pass", &run_pass, nb::arg("targets"), nb::arg("rows"), nb::arg("squared_norm"),
        nb::arg("rho"), nb::arg("w"), nb::arg("a"), nb::arg("t").none(), nb::arg("by_row"),
        nb::arg("by_lane"), nb::arg("done"), nb::arg("number"), nb::arg("seed"),
        "A pass of dual coordinate descent; see certified/dual_descent.hpp. by_row has a bit for "
        "each lane in which a row sleeps, and in which it added much to the gap; by_lane "
        "are multipliers, sums, reach, the loss of rows asleep and much of a gap. Returns the loss "
        "and the gap that the pass saw, by lane.");
    m.def("add_rows", &sum_rows, nb::arg("rows"), nb::arg("r"), nb::arg("sums"),
          "Add the rows, each times its numbers r; see certified/row_products.hpp.");
    m.def("score_rows", &score_all<float>, nb::arg("rows"), nb::arg("w").noconvert(),
          nb::arg("scores"),
          "Score the rows with the weights of many models; see certified/row_products.hpp.");
    m.def("score_rows", &score_all<double>, nb::arg("rows"), nb::arg("w").noconvert(),
          nb::arg("scores"));
    m.def("largest_scores", &largest_scores, nb::arg("rows"), nb::arg("w"),
          nb::arg("factor").none(), nb::arg("is_signed"),
          "The largest score of any row, in size or with its sign, by model; see "
          "certified/row_products.hpp.");
    m.def("lane_norms", &all_norms<float>, nb::arg("w").noconvert(), nb::arg("v"),
          "|w|^2, |v|^2 and |w - v|^2 of each lane.");
    m.def("lane_norms", &all_norms<double>, nb::arg("w").noconvert(), nb::arg("v"));
    m.def("make_feasible", &cut_and_balance, nb::arg("targets"), nb::arg("z"), nb::arg("balance"),
          "Bring dual points into their range, with sums of 0; see certified/row_terms.hpp.");
    m.def("row_terms", &terms_of_rows, nb::arg("targets"), nb::arg("z"), nb::arg("scores"),
          nb::arg("fit_intercept"),
          "The best intercepts, and sums of losses, dual values and gaps, by lane; see "
          "certified/row_terms.hpp.");
    m.def("add_outer", &sum_outer, nb::arg("rows"), nb::arg("c"), nb::arg("products"),
          "Add the outer products of rows, each pair of columns once, in either triangle; see "
          "certified/row_products.hpp.");
    m.def("add_curved", &sum_curved, nb::arg("rows"), nb::arg("c"), nb::arg("w"), nb::arg("b"),
          nb::arg("scores"), nb::arg("sums"),
          "Score rows and add them up by curvature times score; see certified/row_products.hpp.");
    m.def("add_squares", &sum_squares, nb::arg("rows"), nb::arg("c"), nb::arg("sums"),
          "Add weighted squares by column; see certified/row_products.hpp.");
}
