#include "kernels/logistic.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"

using namespace kernels::logistic;

namespace {

void solve_with_callback(const LogisticLanes& lanes, double C, Const<std::int32_t> held_out,
                         Const<std::int32_t> target, ConstTable<std::int32_t> code,
                         const Coordinates& coordinates, Const<double> decrement_tol,
                         double decrement_ratio, double gap_tol, std::int64_t max_evaluations,
                         std::int64_t memory, std::int64_t sample_step, nb::object callback,
                         Mutable<double, 3> weights, Mutable<double, 2> results) {
    Callback call;
    if (!callback.is_none())
        call = [&callback](std::int64_t number, double gap) {
            nb::gil_scoped_acquire gil;
            return static_cast<bool>(nb::bool_(callback(number, gap)));
        };
    lanes.solve(C, held_out, target, code, coordinates, decrement_tol, decrement_ratio, gap_tol,
                max_evaluations, memory, sample_step, call, weights, results);
}

}  // namespace

void bind_logistic(nb::module_& m) {
    nb::class_<Expansion>(m, "LogisticExpansion",
                          "What products with the Hessian of an expanded lane need.")
        .def(nb::init<>());
    nb::class_<Coordinates>(m, "Preconditioner",
                            "Coordinates w = basis u, b = intercept_scale v - centre.w in which "
                            "objectives are well conditioned. The basis is of some columns, "
                            "diagonal of the others; None: of all columns. A basis with a row "
                            "for each weight and intercept of all classes is of them together.")
        .def(
            "__init__",
            [](Coordinates* self, ConstTable<double> basis, double intercept_scale,
               std::optional<Const<std::int32_t>> columns, std::optional<Const<double>> diagonal,
               std::optional<Const<double>> centre) {
                new (self) Coordinates{basis, intercept_scale, columns, diagonal, centre};
            },
            nb::arg("basis"), nb::arg("intercept_scale"), nb::arg("columns") = nb::none(),
            nb::arg("diagonal") = nb::none(), nb::arg("centre") = nb::none());
    nb::class_<LogisticLanes>(m, "LogisticLanes",
                              "Rows in tiles, with labels, sample weights and folds, for "
                              "l2-penalised logistic regression of many lanes.")
        .def(nb::init<std::int64_t, Const<std::int32_t>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, bool>(),
             nb::arg("n_columns"), nb::arg("label"), nb::arg("weight").none(),
             nb::arg("fold").none(), nb::arg("is_float32"))
        .def(nb::init<const BoundRows&, Const<std::int32_t>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, bool>(),
             nb::arg("rows"), nb::arg("label"), nb::arg("weight").none(), nb::arg("fold").none(),
             nb::arg("is_float32"))
        .def("set_rows", &LogisticLanes::set_rows, nb::arg("first"), nb::arg("x"),
             "Write dense rows, from row `first` on.")
        .def("solve", &solve_with_callback, nb::arg("C"), nb::arg("held_out"), nb::arg("target"),
             nb::arg("code"), nb::arg("preconditioner"), nb::arg("decrement_tol"),
             nb::arg("decrement_ratio"), nb::arg("gap_tol"), nb::arg("max_evaluations"),
             nb::arg("memory"), nb::arg("sample_step"), nb::arg("callback").none(),
             nb::arg("weights"), nb::arg("results"),
             "Minimise the objectives of lanes by L-BFGS in the coordinates of the preconditioner; "
             "see "
             "certified/lbfgs.hpp. code has the weight vector of each class, -1 if it is absent, "
             "and no column for binary lanes. A sample_step above 1 begins with one of so many "
             "tiles. weights, (lanes, vectors, columns + 1) with the "
             "intercept last, are the start and the end; results are value, estimated gap, half "
             "the squared Newton decrement, evaluations and whether the lane converged.")
        .def("expand", &LogisticLanes::expand, nb::arg("C"), nb::arg("held_out"), nb::arg("target"),
             nb::arg("code"), nb::arg("weights"), nb::arg("gradient"), nb::arg("curvature"),
             nb::arg("expansion"),
             "Write the gradient and the mean curvature of each row at the weights of one lane, "
             "keep in the expansion what its Hessian needs, and return its value.")
        .def("newton_step", &LogisticLanes::newton_step, nb::arg("expansion"), nb::arg("C"),
             nb::arg("preconditioner"), nb::arg("gradient"), nb::arg("value"),
             nb::arg("residual_tol"), nb::arg("max_products"), nb::arg("step"),
             "Write a truncated Newton step from the weights that were expanded; see "
             "certified/logistic_newton.hpp. Returns gradient.step, the squared norm of the "
             "residual and the number of Hessian products.");
    m.def(
        "expand_softmax", &expand_softmax, nb::arg("label"), nb::arg("cost"), nb::arg("scores"),
        nb::arg("totals"), nb::arg("hessian"),
        "Replace scores by their softmax, add class totals and the Hessian in the intercepts, and "
        "return the loss; see certified/softmax_certificate.hpp.");
    m.def("softmax_dual_points", &softmax_dual_points, nb::arg("label"), nb::arg("cost"),
          nb::arg("q"), nb::arg("change"),
          "Replace probabilities by dual points, after a first-order change of the intercepts, and "
          "return the gap of the rows.");
}
