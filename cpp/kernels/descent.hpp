#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "kernels/weights.hpp"
#include "separable/loss/losses.hpp"
#include "separable/online/adaptive_sgd.hpp"
#include "separable/online/descent.hpp"
#include "separable/online/sgd.hpp"

namespace kernels::descent {

using namespace separable;

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
    StoppingRule stopping;
    bool measure;
    bool given_start;
    bool one_step;
    StepRule rule;

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
        p.one_step = one_step;
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

DescentRun run_sgd(const BoundRows& rows, const Weights& weights,
                   std::optional<Mutable<double, 3>> q, const DescentPlan& plan,
                   ProgressArrays* progress, SgdClock& clock, std::int64_t block,
                   std::int64_t first_class, int n_lanes);

DescentRun run_adaptive_sgd(const BoundRows& rows, const AdaptiveArrays& arrays,
                            const DescentPlan& plan, ProgressArrays* progress, AdaptiveClock& clock,
                            std::int64_t block, std::int64_t first_class, int n_lanes);

void write_loss(const std::string& name, double epsilon, Const<double> s, Const<double> y,
                bool gradient, Mutable<double, 1> out);

void write_implicit_gradients(const std::string& name, double epsilon, Const<double> s,
                              Const<double> y, Const<double> gain, Mutable<double, 1> out);

std::vector<std::tuple<std::string, bool, bool>> list_losses();

}  // namespace kernels::descent
