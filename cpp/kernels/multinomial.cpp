#include "kernels/multinomial.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "separable/certified/multinomial_descent.hpp"

namespace kernels::multinomial {

namespace {

// What the step of a row takes beside its products, in non-zeros.
constexpr std::int64_t kStepCost = 64;

template <class T>
std::pair<Numbers, Numbers> run_pass_of(const MultinomialTargets& targets, const BoundRows& rows,
                                        Const<double> squared_norm, Mutable<T, 2> w,
                                        Mutable<T, 2> u, Mutable<std::uint16_t, 1> hot,
                                        Mutable<double, 2> by_lane, Mutable<double, 2> by_model,
                                        std::uint32_t done, std::int64_t pass, std::uint64_t seed) {
    const ClassLines<T> layout(targets.n_classes);
    const auto n = static_cast<std::size_t>(rows.n_rows);
    const auto lanes = static_cast<std::size_t>(layout.lanes());
    check(
        targets.label.size() == n && squared_norm.size() == n && u.shape(0) == n && hot.size() == n,
        "one number a row is needed");
    check(w.shape(0) == static_cast<std::size_t>(rows.n_features) && w.shape(1) == lanes &&
              u.shape(1) == lanes && by_lane.shape(0) == 2 && by_lane.shape(1) == lanes,
          "weights, dual variables and multipliers do not fit");
    const std::size_t models = targets.C.size();
    check(models <= static_cast<std::size_t>(layout.most_models()) && by_model.shape(0) == 3 &&
              by_model.shape(1) == models,
          "one number a model is needed");
    ReleasedGil no_gil;
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
    MultinomialDescent<T> descent(*x, targets.plan(), layout, span_of(squared_norm), done, state);
    DualPass result = descent.pass(PassOrder(rows.n_rows, seed, pass), heartbeat);
    return {std::move(result.loss), std::move(result.gap)};
}

}  // namespace

std::pair<Numbers, Numbers> run_pass(const MultinomialTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Mutable<float, 2> w,
                                     Mutable<float, 2> u, Mutable<std::uint16_t, 1> hot,
                                     Mutable<double, 2> by_lane, Mutable<double, 2> by_model,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed) {
    return run_pass_of(targets, rows, squared_norm, w, u, hot, by_lane, by_model, done, pass, seed);
}

std::pair<Numbers, Numbers> run_pass(const MultinomialTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Mutable<double, 2> w,
                                     Mutable<double, 2> u, Mutable<std::uint16_t, 1> hot,
                                     Mutable<double, 2> by_lane, Mutable<double, 2> by_model,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed) {
    return run_pass_of(targets, rows, squared_norm, w, u, hot, by_lane, by_model, done, pass, seed);
}

int class_stride(int n_classes, int itemsize) {
    check(itemsize == 4 || itemsize == 8, "weights are float32 or float64");
    return itemsize == 4 ? ClassLines<float>(n_classes).stride
                         : ClassLines<double>(n_classes).stride;
}

}  // namespace kernels::multinomial
