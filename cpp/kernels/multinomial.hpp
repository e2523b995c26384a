#pragma once

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "separable/certified/multinomial_descent.hpp"

namespace kernels::multinomial {

using namespace separable;

// Classes of rows and what each model learns of them, checked.
struct MultinomialTargets {
    MultinomialTargets(int n_classes, Const<std::int32_t> label,
                       std::optional<Const<double>> weight, std::optional<Const<std::int32_t>> fold,
                       Const<std::int32_t> held_out, Const<double> C)
        : n_classes(n_classes), label(label), weight(weight), fold(fold), held_out(held_out), C(C) {
        const std::size_t n = label.size();
        check((!weight || weight->size() == n) && (!fold || fold->size() == n),
              "one number a row is needed");
        check(C.size() > 0 && held_out.size() == C.size(), "one number a model is needed");
        check(n_classes >= 1 && std::all_of(label.data(), label.data() + n,
                                            [&](int k) { return k >= 0 && k < n_classes; }),
              "labels are numbers of classes");
    }

    MultinomialPlan plan() const {
        return {span_of(label), span_of(weight), span_of(fold), span_of(held_out), span_of(C)};
    }

    int n_classes;
    Const<std::int32_t> label;
    std::optional<Const<double>> weight;
    std::optional<Const<std::int32_t>> fold;
    Const<std::int32_t> held_out;
    Const<double> C;
};

using Numbers = std::vector<double>;

std::pair<Numbers, Numbers> run_pass(const MultinomialTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Mutable<float, 2> w,
                                     Mutable<float, 2> u, Mutable<std::uint16_t, 1> hot,
                                     Mutable<double, 2> by_lane, Mutable<double, 2> by_model,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed);
std::pair<Numbers, Numbers> run_pass(const MultinomialTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Mutable<double, 2> w,
                                     Mutable<double, 2> u, Mutable<std::uint16_t, 1> hot,
                                     Mutable<double, 2> by_lane, Mutable<double, 2> by_model,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed);

int class_stride(int n_classes, int itemsize);

}  // namespace kernels::multinomial
