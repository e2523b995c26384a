#include "kernels/online.hpp"

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "separable/online/argmax_perceptron.hpp"
#include "separable/online/batch_perceptron.hpp"
#include "separable/online/margins.hpp"
#include "separable/online/perceptron.hpp"
#include "separable/online/widrow_hoff.hpp"

namespace kernels::online {

namespace {

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

// The pocket's weights, in the lanes that learn.
template <class Lane>
void take_pocket(const Pocket<Lane>& pocket, const PerceptronBlock<Lane>& block,
                 std::int64_t n_features, Result& result) {
    for (int lane = 0; lane < block.n_lanes; ++lane) {
        result.pocket_mistakes.push_back(pocket.mistakes[lane]);
        if (!block.learns(lane)) continue;
        block.b[lane] = pocket.b[lane];
        for (std::int64_t j = 0; j < n_features; ++j)
            block.w[j * Lane::kWidth + lane] = pocket.w[j * Lane::kWidth + lane];
    }
}

}  // namespace

Result run_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                      std::int64_t block_index, std::int64_t first_class, int n_lanes) {
    weights.check_shapes(rows.n_features);
    check(block_index >= 0 && block_index < weights.n_blocks(), "no such block of lanes");
    check_plan(rows, plan, std::numeric_limits<std::int32_t>::max());
    const auto problem = plan.problem();
    const auto chosen = plan.chosen(rows.n_rows);
    ReleasedGil no_gil;
    return weights.with_lane([&]<class Lane>() {
        const auto x = make_products<Lane>(rows.rows);
        auto block = make_block<Lane>(weights, rows.n_features, block_index, first_class, n_lanes);
        if (plan.learning) {
            const std::int64_t first = block_index * Lane::kWidth;
            check(static_cast<std::int64_t>(plan.learning->size()) >= first + n_lanes,
                  "one flag a model is needed");
            block.learning = plan.learning->data() + first;
            block.prepare();
        }
        EpochOrder order(chosen, plan.shuffle, plan.seed, x->row_bytes());
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
        PerceptronEpochs<Lane> epochs(*x, problem, block, order, plan.first_epoch, plan.max_epochs,
                                      plan.presented, heartbeat);
        Result result;
        if (plan.has_pocket()) {
            const auto targets = [&](std::int64_t i) { return block.targets(problem.label[i]); };
            Pocket<Lane> pocket(*x, problem, chosen, targets, n_lanes, plan.pocket_values,
                                heartbeat);
            result.run = pocket_perceptron<Lane>(epochs, pocket);
            if (result.run.overflow_row < 0) take_pocket(pocket, block, x->n_features, result);
        } else if (plan.record) {
            MistakeRecord<Lane> record(n_lanes);
            result.run = voted_perceptron<Lane>(epochs, record);
            result.mistakes = std::move(record.lanes);
        } else if (block.u) {
            result.run = averaged_perceptron<Lane>(epochs, block.u, block.u_b);
        } else {
            result.run = perceptron<Lane>(epochs);
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
    ReleasedGil no_gil;
    return weights.with_lane([&]<class Lane>() {
        const auto x = make_products<Lane>(rows.rows);
        auto block = make_block<Lane>(weights, rows.n_features, block_index, first_class, n_lanes);
        const EpochOrder order(plan.chosen(rows.n_rows), false, 0, x->row_bytes());
        Heartbeat heartbeat(poll_signals, x->n_values + x->n_features, x->n_rows);
        auto batch =
            batch_perceptron<Lane>(*x, problem, block, order, plan.max_epochs, eps, heartbeat);
        Result result;
        result.run = batch.run;
        result.delta_norm = batch.delta_norm;
        result.stop = batch.stop;
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
    ReleasedGil no_gil;
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
    ReleasedGil no_gil;
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
        Result result;
        if (!plan.has_pocket()) {
            result.run = argmax_perceptron<Lane>(*x, problem, state, order, plan.first_epoch,
                                                 plan.max_epochs, plan.presented, heartbeat);
            return result;
        }
        ArgmaxPocket<Lane> pocket(*x, problem, chosen, plan.pocket_values, heartbeat);
        result.run =
            argmax_pocket_perceptron<Lane>(*x, problem, state, order, plan.first_epoch,
                                           plan.max_epochs, plan.presented, heartbeat, pocket);
        if (result.run.overflow_row >= 0) return result;
        std::copy(pocket.w.begin(), pocket.w.end(), state.w);
        std::copy(pocket.b.begin(), pocket.b.end(), state.b);
        result.pocket_mistakes = {pocket.mistakes};
        return result;
    });
}

Margins run_margins(const BoundRows& rows, const Weights& weights, Const<std::int32_t> label,
                    std::optional<Const<std::int64_t>> chosen, std::int64_t first_class,
                    std::int64_t n_models, bool argmax, int tie_target) {
    weights.check_shapes(rows.n_features);
    check_labels(rows, label, chosen, first_class + n_models);
    const auto all = rows_or_all(chosen, rows.n_rows);
    ReleasedGil no_gil;
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

void unpack(const Weights& weights, double scale, double presented, Mutable<double, 2> out) {
    check(out.shape(1) == weights.w.shape(1), "weights have another width");
    ReleasedGil no_gil;
    weights.with_lane([&]<class Lane>() {
        const auto n_models = static_cast<std::int64_t>(out.shape(0));
        check(n_models <= weights.n_blocks() * Lane::kWidth, "no such models");
        unpack_lanes<Lane>(static_cast<const typename Lane::T*>(weights.w.data()),
                           weights.u ? weights.u->data() : nullptr, scale, presented, n_models,
                           static_cast<std::int64_t>(out.shape(1)), out.data());
    });
}

}  // namespace kernels::online
