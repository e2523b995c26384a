#include "kernels/descent.hpp"

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "separable/loss/losses.hpp"
#include "separable/online/adaptive_sgd.hpp"
#include "separable/online/descent.hpp"
#include "separable/online/sgd.hpp"

namespace kernels::descent {

namespace {

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
                             plan.first_epoch, plan.max_epochs, plan.stopping, moving, plan.measure,
                             heartbeat);
    if (progress) progress->examples = moving.examples, progress->weight = moving.weight;
    return run;
}

}  // namespace

DescentRun run_sgd(const BoundRows& rows, const Weights& weights,
                   std::optional<Mutable<double, 3>> q, const DescentPlan& plan,
                   ProgressArrays* progress, SgdClock& clock, std::int64_t block,
                   std::int64_t first_class, int n_lanes) {
    weights.check_shapes(rows.n_features);
    plan.check_sizes(rows);
    check(block >= 0 && block < weights.n_blocks(), "no such block of lanes");
    check(!q || q->size() == weights.w.size(), "dues of the l1 penalty do not fit");
    const auto chosen = rows_or_all(plan.rows, rows.n_rows);
    ReleasedGil no_gil;
    return weights.with_lane([&]<class Lane>() {
        const std::int64_t size = rows.n_features * Lane::kWidth;
        typename SgdDescent<Lane>::Arrays arrays;
        arrays.v = weights.template block_weights<Lane>(block);
        arrays.b = weights.template block_intercepts<Lane>(block);
        if (weights.u) arrays.u = weights.u->data() + block * size;
        if (weights.u) arrays.u_b = weights.u_b->data() + block * Lane::kWidth;
        if (q) arrays.q = q->data() + block * size;
        SgdDescent<Lane> descent(arrays, rows.n_features, plan.schedule, plan.l1, plan.l2,
                                 plan.mean_from, plan.fit_intercept, plan.rule, clock);
        return run_epochs<Lane>(rows, plan, progress, block, first_class, n_lanes, chosen, descent);
    });
}

DescentRun run_adaptive_sgd(const BoundRows& rows, const AdaptiveArrays& arrays,
                            const DescentPlan& plan, ProgressArrays* progress, AdaptiveClock& clock,
                            std::int64_t block, std::int64_t first_class, int n_lanes) {
    arrays.check_shapes(rows, clock);
    plan.check_sizes(rows);
    check(block >= 0 && block < static_cast<std::int64_t>(arrays.wa.shape(0)),
          "no such block of lanes");
    const auto chosen = rows_or_all(plan.rows, rows.n_rows);
    ReleasedGil no_gil;
    return with_lane(arrays.wa, [&]<class Lane>() {
        const typename AdaptiveDescent<Lane>::Settings settings{
            plan.schedule.eta0,
            plan.l1,
            plan.l2,
            plan.mean_from,
            plan.fit_intercept,
            plan.number.has_value(),
            plan.given_start,
            plan.shuffle && plan.first_epoch > 0};
        AdaptiveDescent<Lane> descent(arrays.of_block<Lane>(block),
                                      reinterpret_cast<Column*>(arrays.columns.data()),
                                      rows.n_features, arrays.centred_columns(), settings, clock);
        return run_epochs<Lane>(rows, plan, progress, block, first_class, n_lanes, chosen, descent);
    });
}

void write_loss(const std::string& name, double epsilon, Const<double> s, Const<double> y,
                bool gradient, Mutable<double, 1> out) {
    check(s.size() == y.size() && s.size() == out.size(), "scores and targets do not fit");
    with_loss(name, epsilon, [&](const auto& loss) {
        for (std::size_t i = 0; i < s.size(); ++i)
            out(i) = gradient ? loss.gradient(s(i), y(i)) : loss.value(s(i), y(i));
        return true;
    });
}

void write_implicit_gradients(const std::string& name, double epsilon, Const<double> s,
                              Const<double> y, Const<double> gain, Mutable<double, 1> out) {
    check(s.size() == y.size() && s.size() == gain.size() && s.size() == out.size(),
          "scores, targets and gains do not fit");
    const auto loss = make_loss<Single<double>>(name, epsilon);
    for (std::size_t i = 0; i < s.size(); ++i) {
        double gradient = 0;
        loss->gradients(s.data() + i, y.data() + i, &gradient);
        loss->implicit_gradients(s.data() + i, y.data() + i, &gradient, gain.data() + i,
                                 out.data() + i);
    }
}

std::vector<std::tuple<std::string, bool, bool>> list_losses() {
    std::vector<std::tuple<std::string, bool, bool>> list;
    [&]<class... L>(std::tuple<L...>*) {
        (list.emplace_back(L::kName, L::kClassesOnly, L::kConvex), ...);
    }(static_cast<Losses*>(nullptr));
    return list;
}

}  // namespace kernels::descent
