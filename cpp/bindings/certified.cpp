#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/certified/dual_descent.hpp"
#include "separable/certified/dual_loss.hpp"
#include "separable/certified/row_products.hpp"
#include "weights.hpp"

using namespace separable;

namespace {

template <class Run>
auto with_dual_loss(const std::string& name, double eps, Run&& run) {
    if (name == InsensitiveDual::kName) return run(InsensitiveDual{eps});
    if (name == HingeDual::kName) return run(HingeDual{});
    if (name == SquaredHingeDual::kName) return run(SquaredHingeDual{});
    if (name == LogisticDual::kName) return run(LogisticDual{});
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

// Everything about rows and lanes that passes and certificates are given, checked.
struct DualProblem {
    DualProblem(const BoundRows& bound, std::string loss, double eps,
                std::optional<Const<std::int32_t>> label, std::optional<Const<double>> number,
                std::optional<Const<double>> weight, std::optional<Const<std::int32_t>> fold,
                Const<double> squared_norm, Const<std::int32_t> class_of,
                Const<std::int32_t> held_out, Const<double> strength, Const<double> rho)
        : bound(bound),
          loss(std::move(loss)),
          eps(eps),
          label(label),
          number(number),
          weight(weight),
          fold(fold),
          squared_norm(squared_norm),
          class_of(class_of),
          held_out(held_out),
          strength(strength),
          rho(rho) {
        const auto n = static_cast<std::size_t>(bound.n_rows);
        check(label.has_value() != number.has_value(), "rows have labels or numbers");
        check((label ? label->size() : number->size()) == n && squared_norm.size() == n &&
                  (!weight || weight->size() == n) && (!fold || fold->size() == n),
              "one number a row is needed");
        const std::size_t lanes = strength.size();
        check(class_of.size() == lanes && held_out.size() == lanes && rho.size() == lanes,
              "one number a lane is needed");
        with_dual_loss(this->loss, eps, [&](const auto& one) {
            check(one.kRegression == number.has_value(), "the loss does not suit the target");
        });
    }

    DualRows rows() const {
        return {span_of(label), span_of(number), span_of(weight), span_of(fold),
                span_of(squared_norm)};
    }
    LanePlan plan() const {
        return {span_of(class_of), span_of(held_out), span_of(strength), span_of(rho)};
    }

    const BoundRows& bound;
    std::string loss;
    double eps;
    std::optional<Const<std::int32_t>> label;
    std::optional<Const<double>> number, weight;
    std::optional<Const<std::int32_t>> fold;
    Const<double> squared_norm;
    Const<std::int32_t> class_of, held_out;
    Const<double> strength, rho;
};

std::vector<std::pair<std::vector<double>, std::vector<double>>> run_passes(
    const DualProblem& problem, AnyWeights w, AnyWeights a, std::optional<AnyWeights> t,
    Mutable<double, 1> lambda, Mutable<double, 1> total, std::int64_t first_pass,
    std::int64_t n_passes, std::uint64_t seed) {
    const BoundRows& rows = problem.bound;
    const std::size_t lanes = problem.strength.size();
    check(w.ndim() == 2 && a.ndim() == 2 && a.dtype() == w.dtype() && a.shape(1) == w.shape(1) &&
              static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(a.shape(0)) == rows.n_rows,
          "weights and dual variables do not fit");
    check(!t || (t->ndim() == 2 && t->dtype() == a.dtype() && t->shape(0) == a.shape(0) &&
                 t->shape(1) == a.shape(1)),
          "margins do not fit");
    check(lambda.size() == lanes && total.size() == lanes && lanes <= w.shape(1),
          "one number a lane is needed");
    nb::gil_scoped_release no_gil;
    return with_lane(w, [&]<class Lane>() {
        using T = typename Lane::T;
        const auto x = make_products<Lane>(rows.rows);
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
        const DualState<Lane> state{static_cast<T*>(w.data()), static_cast<T*>(a.data()),
                                    t ? static_cast<T*>(t->data()) : nullptr, lambda.data(),
                                    total.data()};
        return with_dual_loss(problem.loss, problem.eps, [&](const auto& loss) {
            check(!loss.kKeepsMargin || state.t, "this loss needs margins");
            std::vector<std::pair<std::vector<double>, std::vector<double>>> told;
            for (std::int64_t pass = 0; pass < n_passes; ++pass) {
                const PassOrder order(rows.n_rows, seed, first_pass + pass);
                DualPass one = dual_pass<Lane>(*x, loss, problem.rows(), problem.plan(), state,
                                               order, heartbeat);
                told.emplace_back(std::move(one.loss), std::move(one.gap));
            }
            return told;
        });
    });
}

void sum_rows(const BoundRows& rows, ConstTable<double> r, Mutable<double, 2> sums) {
    check(static_cast<std::int64_t>(r.shape(0)) == rows.n_rows &&
              static_cast<std::int64_t>(sums.shape(0)) == rows.n_features &&
              sums.shape(1) == r.shape(1),
          "numbers and sums do not fit the rows");
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& x) {
            add_rows(x, static_cast<std::int64_t>(r.shape(1)), r.data(), sums.data(), poll_signals);
        },
        rows.rows);
}

void score_all(const BoundRows& rows, ConstTable<double> w, Mutable<double, 2> scores) {
    check(static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(scores.shape(0)) == rows.n_rows &&
              scores.shape(1) == w.shape(1),
          "weights and scores do not fit the rows");
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& x) {
            score_rows(x, static_cast<std::int64_t>(w.shape(1)), w.data(), scores.data(),
                       poll_signals);
        },
        rows.rows);
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
    nb::class_<DualProblem>(m, "DualProblem", "Rows and what each lane learns from them.")
        .def(nb::init<const BoundRows&, std::string, double, std::optional<Const<std::int32_t>>,
                      std::optional<Const<double>>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, Const<double>, Const<std::int32_t>,
                      Const<std::int32_t>, Const<double>, Const<double>>(),
             nb::keep_alive<1, 2>(), nb::arg("rows"), nb::arg("loss"), nb::arg("eps"),
             nb::arg("label").none(), nb::arg("number").none(), nb::arg("weight").none(),
             nb::arg("fold").none(), nb::arg("squared_norm"), nb::arg("class_of"),
             nb::arg("held_out"), nb::arg("strength"), nb::arg("rho"));
    m.def("dual_passes", &run_passes, nb::arg("problem"), nb::arg("w"), nb::arg("a"),
          nb::arg("t").none(), nb::arg("multiplier"), nb::arg("total"), nb::arg("first_pass"),
          nb::arg("n_passes"), nb::arg("seed"),
          "Passes of dual coordinate descent; see certified/dual_descent.hpp. Returns the loss and "
          "the gap that each pass saw, by lane.");
    m.def("add_rows", &sum_rows, nb::arg("rows"), nb::arg("r"), nb::arg("sums"),
          "Add the rows, each times its numbers r; see certified/row_products.hpp.");
    m.def("score_rows", &score_all, nb::arg("rows"), nb::arg("w"), nb::arg("scores"),
          "Score the rows with the weights of many models; see certified/row_products.hpp.");
    m.def("add_outer", &sum_outer, nb::arg("rows"), nb::arg("c"), nb::arg("products"),
          "Add the outer products of rows, each pair of columns once, in either triangle; see "
          "certified/row_products.hpp.");
    m.def("add_curved", &sum_curved, nb::arg("rows"), nb::arg("c"), nb::arg("w"), nb::arg("b"),
          nb::arg("scores"), nb::arg("sums"),
          "Score rows and add them up by curvature times score; see certified/row_products.hpp.");
    m.def("add_squares", &sum_squares, nb::arg("rows"), nb::arg("c"), nb::arg("sums"),
          "Add weighted squares by column; see certified/row_products.hpp.");
}
