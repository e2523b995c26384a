#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/certified/multinomial_descent.hpp"

using namespace separable;

namespace {

template <class T>
std::span<const T> span_of(const Const<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
std::span<const T> span_of(const std::optional<Const<T>>& array) {
    return array ? span_of(*array) : std::span<const T>{};
}

// Classes of rows and what each model learns of them, checked.
struct MultinomialTargets {
    MultinomialTargets(int n_classes, Const<std::int32_t> label,
                       std::optional<Const<double>> weight, std::optional<Const<std::int32_t>> fold,
                       Const<std::int32_t> held_out, Const<double> strength)
        : n_classes(n_classes),
          label(label),
          weight(weight),
          fold(fold),
          held_out(held_out),
          strength(strength) {
        const std::size_t n = label.size();
        check((!weight || weight->size() == n) && (!fold || fold->size() == n),
              "one number a row is needed");
        check(strength.size() > 0 && held_out.size() == strength.size(),
              "one number a model is needed");
        check(n_classes >= 1 && std::all_of(label.data(), label.data() + n,
                                            [&](int k) { return k >= 0 && k < n_classes; }),
              "labels are numbers of classes");
    }

    MultinomialPlan plan() const {
        return {span_of(label), span_of(weight), span_of(fold), span_of(held_out),
                span_of(strength)};
    }

    int n_classes;
    Const<std::int32_t> label;
    std::optional<Const<double>> weight;
    std::optional<Const<std::int32_t>> fold;
    Const<std::int32_t> held_out;
    Const<double> strength;
};

using Numbers = std::vector<double>;

// What the step of a row takes beside its products, in non-zeros.
constexpr std::int64_t kStepCost = 64;

// Calls run<P>() with the lanes of a model within a line.
template <int W, class Run>
auto with_segment(int stride, Run&& run) {
    if (stride == 2) return run.template operator()<2>();
    if (stride == 4) return run.template operator()<4>();
    if constexpr (W > 8)
        if (stride == 8) return run.template operator()<8>();
    return run.template operator()<W>();
}

template <class T>
std::pair<Numbers, Numbers> run_pass(const MultinomialTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Mutable<T, 2> w, Mutable<T, 2> u,
                                     Mutable<std::uint16_t, 1> hot, Mutable<double, 2> by_lane,
                                     Mutable<double, 2> by_model, std::uint32_t done,
                                     std::int64_t pass, std::uint64_t seed) {
    const ClassLines<T> layout(targets.n_classes);
    const auto n = static_cast<std::size_t>(rows.n_rows);
    const auto lanes = static_cast<std::size_t>(layout.lanes());
    check(
        targets.label.size() == n && squared_norm.size() == n && u.shape(0) == n && hot.size() == n,
        "one number a row is needed");
    check(w.shape(0) == static_cast<std::size_t>(rows.n_features) && w.shape(1) == lanes &&
              u.shape(1) == lanes && by_lane.shape(0) == 2 && by_lane.shape(1) == lanes,
          "weights, dual variables and multipliers do not fit");
    const std::size_t models = targets.strength.size();
    check(models <= static_cast<std::size_t>(layout.most_models()) && by_model.shape(0) == 3 &&
              by_model.shape(1) == models,
          "one number a model is needed");
    nb::gil_scoped_release no_gil;
    const auto x = make_line_products<T>(rows.rows, layout.lines());
    const std::int64_t work = x->n_values + kStepCost * x->n_rows;
    Heartbeat heartbeat(poll_signals, work, x->n_rows, layout.lines());
    double *of_lanes = by_lane.data(), *of_models = by_model.data();
    const MultinomialState<T> state{w.data(),
                                    u.data(),
                                    of_lanes,
                                    of_lanes + lanes,
                                    of_models,
                                    of_models + models,
                                    of_models + 2 * models,
                                    hot.data()};
    return with_segment<kPerLine<T>>(layout.stride, [&]<int P>() {
        MultinomialDescent<T, P> descent(*x, targets.plan(), layout, span_of(squared_norm), done,
                                         state);
        DualPass told = descent.pass(PassOrder(rows.n_rows, seed, pass), heartbeat);
        return std::pair(std::move(told.loss), std::move(told.gap));
    });
}

int class_stride(int n_classes, int itemsize) {
    check(itemsize == 4 || itemsize == 8, "weights are float32 or float64");
    return itemsize == 4 ? ClassLines<float>(n_classes).stride
                         : ClassLines<double>(n_classes).stride;
}

template <class T>
void bind_pass(nb::module_& m) {
    m.def("multinomial_pass", &run_pass<T>, nb::arg("targets"), nb::arg("rows"),
          nb::arg("squared_norm"), nb::arg("w").noconvert(), nb::arg("u").noconvert(),
          nb::arg("hot"), nb::arg("by_lane"), nb::arg("by_model"), nb::arg("done"),
          nb::arg("number"), nb::arg("seed"),
          "A pass of multinomial dual coordinate descent; see certified/multinomial_descent.hpp. "
          "hot has a bit for each model in which a row added much to the gap; by_lane are "
          "multipliers and sums, by_model rho, little and much of a gap. Returns the loss and the "
          "gap that the pass saw, by model.");
}

}  // namespace

void bind_multinomial(nb::module_& m) {
    nb::class_<MultinomialTargets>(m, "MultinomialTargets",
                                   "Classes of rows and costs of them in each model.")
        .def(nb::init<int, Const<std::int32_t>, std::optional<Const<double>>,
                      std::optional<Const<std::int32_t>>, Const<std::int32_t>, Const<double>>(),
             nb::arg("n_classes"), nb::arg("label"), nb::arg("weight").none(),
             nb::arg("fold").none(), nb::arg("held_out"), nb::arg("strength"));
    m.def("class_stride", &class_stride, nb::arg("n_classes"), nb::arg("itemsize"),
          "The lanes that the classes of one model take: a power of two, or whole lines.");
    bind_pass<float>(m);
    bind_pass<double>(m);
}
