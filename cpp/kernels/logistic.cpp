#include "kernels/logistic.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "separable/certified/lbfgs.hpp"
#include "separable/certified/logistic_newton.hpp"
#include "separable/certified/logistic_objective.hpp"
#include "separable/certified/softmax_certificate.hpp"

namespace kernels::logistic {

using namespace separable;

namespace {

template <class Tiles>
struct TiledRows {
    using T = typename Tiles::Number;

    TiledRows(Tiles tiles, std::span<const std::int32_t> label, std::span<const double> weight,
              std::span<const std::int32_t> fold)
        : x(std::move(tiles)), targets(x, label, weight, fold) {}

    Tiles x;
    LogisticTargets<T> targets;
};

template <class Tiles>
void check_lane(const TiledRows<Tiles>& rows, const LogisticLane& lane, std::size_t vectors) {
    check(lane.n_vectors > 0 && static_cast<std::size_t>(lane.n_vectors) <= vectors,
          "classes do not fit");
    typename Tiles::Number most = 0;
    for (const auto label : rows.targets.label) most = std::max(most, label);
    check(!lane.is_joint() || most < static_cast<typename Tiles::Number>(lane.code.size()),
          "labels are numbers of classes");
}

// Rounding of a value that is summed from rows in T.
template <class T>
constexpr double kValueRounding = sizeof(T) == 4 ? 1e-7 : 2e-15;

LogisticLane lane_of(std::int32_t held_out, std::int32_t target,
                     std::span<const std::int32_t> code) {
    LogisticLane lane{held_out, target, {code.begin(), code.end()}, 1};
    if (!code.empty()) lane.n_vectors = 1 + *std::max_element(code.begin(), code.end());
    for (std::int32_t& each : lane.code) each = std::max(each, 0);
    return lane;
}

std::vector<LogisticLane> lanes_of(Const<std::int32_t> held_out, Const<std::int32_t> target,
                                   ConstTable<std::int32_t> code) {
    check(target.size() == held_out.size() && code.shape(0) == held_out.size(),
          "one number a lane is needed");
    std::vector<LogisticLane> lanes;
    const std::size_t K = code.shape(1);
    for (std::size_t k = 0; k < held_out.size(); ++k)
        lanes.push_back(lane_of(held_out(k), target(k), {code.data() + k * K, K}));
    return lanes;
}

// The coordinates of a lane, for rows with d columns.
Preconditioner coordinates_of(const Coordinates& given, std::int64_t n_vectors, std::int64_t d) {
    const auto m = static_cast<std::int64_t>(given.basis.shape(0));
    const auto all = static_cast<std::size_t>(d);
    const bool is_joint = !given.columns && !given.centre && m == n_vectors * (d + 1);
    check(
        given.basis.shape(1) == given.basis.shape(0) &&
            (given.columns ? given.columns->size() == given.basis.shape(0) : m == d || is_joint) &&
            given.columns.has_value() == given.diagonal.has_value() &&
            (!given.diagonal || given.diagonal->size() == all) &&
            (!given.centre || given.centre->size() == all),
        "columns do not fit");
    for (const std::int32_t j : span_of(given.columns))
        check(j >= 0 && j < d, "columns do not fit");
    return {given.basis.data(),
            given.intercept_scale,
            n_vectors,
            d,
            m,
            given.columns ? given.columns->data() : nullptr,
            given.diagonal ? given.diagonal->data() : nullptr,
            given.centre ? given.centre->data() : nullptr,
            is_joint};
}

template <class Tiles>
void minimise(const TiledRows<Tiles>& rows, double C, const std::vector<LogisticLane>& lanes,
              const Coordinates& given, std::span<const double> decrement_tol, LbfgsOptions options,
              std::int64_t sample_step, const Callback& callback, Mutable<double, 3> weights,
              double* results) {
    const std::int64_t d = rows.x.n_columns();
    const std::size_t size = weights.shape(1) * weights.shape(2);
    options.value_rounding = kValueRounding<typename Tiles::Number>;
    if (rows.x.n_tiles() < 2 * sample_step) sample_step = 1;
    std::vector<LbfgsLane> states;
    std::int64_t vectors = 0;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        if (sample_step > 1)  // a fraction of what the optimum of the sample is off
            options.sample_tol = 0.1 * C * static_cast<double>(sample_step) *
                                 static_cast<double>(lanes[k].n_vectors * (d + 1));
        states.emplace_back(weights.data() + k * size, coordinates_of(given, lanes[k].n_vectors, d),
                            decrement_tol[k], options);
        vectors += lanes[k].n_vectors;
    }
    LogisticObjective objective(rows.x, rows.targets);
    Heartbeat heartbeat(poll_signals, (rows.x.n_values() + 8 * rows.x.n_rows()) * vectors,
                        rows.x.n_rows());
    std::int64_t number = 0;
    bool is_stopped = false;
    const auto run = [&](std::int64_t tile_step) {
        for (;;) {
            std::vector<const LogisticLane*> active;
            std::vector<std::size_t> index;
            std::vector<const double*> points;
            std::vector<double*> gradients;
            for (std::size_t k = 0; k < lanes.size(); ++k)
                if (states[k].is_active()) {
                    index.push_back(k);
                    active.push_back(&lanes[k]);
                    points.push_back(states[k].trial());
                    gradients.push_back(states[k].raw_gradient());
                }
            if (active.empty()) break;
            std::vector<double> values(active.size());
            objective.evaluate(active, points, C * static_cast<double>(tile_step), values,
                               gradients, heartbeat, tile_step);
            double worst = 0;
            for (std::size_t at = 0; at < index.size(); ++at) {
                states[index[at]].take(values[at]);
                const LbfgsResult& result = states[index[at]].result();
                worst = std::max(worst, result.value > 0 ? result.gap / result.value : 0.0);
            }
            is_stopped = callback && callback(++number, worst);
            if (is_stopped)
                for (LbfgsLane& state : states) state.stop();
        }
    };
    if (sample_step > 1) {
        run(sample_step);
        if (!is_stopped)
            for (LbfgsLane& state : states) state.leave_sample(sample_step);
    }
    if (!is_stopped) run(1);
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        const LbfgsResult& result = states[k].result();
        const double numbers[] = {result.value, result.gap, result.decrement,
                                  static_cast<double>(result.evaluations),
                                  static_cast<double>(result.converged)};
        std::copy(std::begin(numbers), std::end(numbers), results + 5 * k);
    }
}

}  // namespace

struct Expansion::State {
    LogisticLane lane;
    std::variant<LineVector<float>, LineVector<double>> kept;
};

Expansion::Expansion() : state(std::make_shared<State>()) {}

struct LogisticLanes::State {
    std::variant<TiledRows<DenseTiles<float>>, TiledRows<DenseTiles<double>>,
                 TiledRows<SparseTiles<float>>, TiledRows<SparseTiles<double>>>
        rows;
};

LogisticLanes::LogisticLanes(std::int64_t n_columns, Const<std::int32_t> label,
                             std::optional<Const<double>> weight,
                             std::optional<Const<std::int32_t>> fold, bool is_float32) {
    check(n_columns >= 0, "the number of columns is negative");
    const auto n = static_cast<std::int64_t>(label.size());
    if (is_float32)
        set_tiles(DenseTiles<float>(n, n_columns), label, weight, fold);
    else
        set_tiles(DenseTiles<double>(n, n_columns), label, weight, fold);
}

LogisticLanes::LogisticLanes(const BoundRows& rows, Const<std::int32_t> label,
                             std::optional<Const<double>> weight,
                             std::optional<Const<std::int32_t>> fold, bool is_float32) {
    check(static_cast<std::int64_t>(label.size()) == rows.n_rows, "one number a row is needed");
    std::visit(
        [&](const auto& each) {
            if (is_float32)
                set_tiles(SparseTiles<float>(each), label, weight, fold);
            else
                set_tiles(SparseTiles<double>(each), label, weight, fold);
        },
        rows.rows);
}

template <class Tiles>
void LogisticLanes::set_tiles(Tiles tiles, Const<std::int32_t> label,
                              const std::optional<Const<double>>& weight,
                              const std::optional<Const<std::int32_t>>& fold) {
    check((!weight || weight->size() == label.size()) && (!fold || fold->size() == label.size()),
          "one number a row is needed");
    state_ = std::make_shared<State>(
        State{TiledRows<Tiles>(std::move(tiles), span_of(label), span_of(weight), span_of(fold))});
}

void LogisticLanes::set_rows(std::int64_t first, ConstTable<double> x) {
    std::visit(
        [&]<class Tiles>(TiledRows<Tiles>& rows) {
            if constexpr (std::is_same_v<Tiles, DenseTiles<typename Tiles::Number>>) {
                const auto count = static_cast<std::int64_t>(x.shape(0));
                check(static_cast<std::int64_t>(x.shape(1)) == rows.x.n_columns() && first >= 0 &&
                          first + count <= rows.x.n_rows(),
                      "rows do not fit");
                rows.x.set_rows(first, x.data(), count);
            } else {
                check(false, "sparse rows are set already");
            }
        },
        state_->rows);
}

void LogisticLanes::solve(double C, Const<std::int32_t> held_out, Const<std::int32_t> target,
                          ConstTable<std::int32_t> code, const Coordinates& coordinates,
                          Const<double> decrement_tol, double decrement_ratio, double gap_tol,
                          std::int64_t max_evaluations, std::int64_t memory,
                          std::int64_t sample_step, const Callback& callback,
                          Mutable<double, 3> weights, Mutable<double, 2> results) const {
    const std::vector<LogisticLane> lanes = lanes_of(held_out, target, code);
    const std::size_t L = lanes.size();
    check(memory > 0 && sample_step > 0, "memory and sample_step must be positive");
    check(decrement_tol.size() == L && weights.shape(0) == L && results.shape(0) == L &&
              results.shape(1) == 5,
          "one number a lane is needed");
    std::visit(
        [&](const auto& rows) {
            const auto d = static_cast<std::size_t>(rows.x.n_columns());
            check(weights.shape(2) == d + 1, "columns do not fit");
            for (const LogisticLane& lane : lanes) check_lane(rows, lane, weights.shape(1));
            ReleasedGil no_gil;
            LbfgsOptions options;
            options.gap_tol = gap_tol, options.decrement_ratio = decrement_ratio,
            options.max_evaluations = max_evaluations, options.memory = memory;
            minimise(rows, C, lanes, coordinates, span_of(decrement_tol), options, sample_step,
                     callback, weights, results.data());
        },
        state_->rows);
}

double LogisticLanes::expand(double C, std::int32_t held_out, std::int32_t target,
                             Const<std::int32_t> code, ConstTable<double> weights,
                             Mutable<double, 2> gradient, Mutable<double, 1> curvature,
                             Expansion& expansion) const {
    const LogisticLane lane = lane_of(held_out, target, span_of(code));
    return std::visit(
        [&]<class Tiles>(const TiledRows<Tiles>& rows) {
            using T = typename Tiles::Number;
            check_lane(rows, lane, weights.shape(0));
            check(weights.shape(1) == static_cast<std::size_t>(rows.x.n_columns()) + 1 &&
                      gradient.shape(0) == weights.shape(0) &&
                      gradient.shape(1) == weights.shape(1) &&
                      curvature.size() == static_cast<std::size_t>(rows.x.n_rows()),
                  "columns do not fit");
            ReleasedGil no_gil;
            LogisticObjective objective(rows.x, rows.targets);
            Heartbeat heartbeat(poll_signals, rows.x.n_values() * lane.n_vectors, rows.x.n_rows());
            expansion.state->lane = lane;
            auto& kept = expansion.state->kept;
            if (!std::holds_alternative<LineVector<T>>(kept)) kept = LineVector<T>();
            return objective.expand(lane, weights.data(), C, gradient.data(),
                                    std::get<LineVector<T>>(kept),
                                    {curvature.data(), curvature.size()}, heartbeat);
        },
        state_->rows);
}

std::vector<double> LogisticLanes::newton_step(const Expansion& expansion, double C,
                                               const Coordinates& given,
                                               ConstTable<double> gradient, double value,
                                               double residual_tol, std::int64_t max_products,
                                               Mutable<double, 2> step) const {
    return std::visit(
        [&]<class Tiles>(const TiledRows<Tiles>& rows) {
            using T = typename Tiles::Number;
            const LogisticLane& lane = expansion.state->lane;
            const auto* kept = std::get_if<LineVector<T>>(&expansion.state->kept);
            const auto padded =
                static_cast<std::size_t>(rows.x.n_tiles() * rows.x.tile_rows() * lane.n_vectors);
            check(kept != nullptr && kept->size() == padded, "no weights were expanded");
            const Preconditioner coordinates =
                coordinates_of(given, lane.n_vectors, rows.x.n_columns());
            const std::size_t size = coordinates.size();
            check(gradient.size() >= size && step.size() >= size, "columns do not fit");
            ReleasedGil no_gil;
            LogisticObjective objective(rows.x, rows.targets);
            Heartbeat heartbeat(poll_signals, rows.x.n_values() * lane.n_vectors, rows.x.n_rows());
            const Vector g(gradient.data(), gradient.data() + size);
            const NewtonStep result =
                truncated_newton_step(objective, lane, C, coordinates, g, *kept, value,
                                      residual_tol, max_products, {step.data(), size}, heartbeat);
            return std::vector<double>{result.slope, result.residual,
                                       static_cast<double>(result.products)};
        },
        state_->rows);
}

namespace {

SoftmaxCertificate checked_certificate(Const<std::int32_t> label, Const<double> cost,
                                       const Mutable<double, 2>& table) {
    const std::size_t n = table.shape(0), K = table.shape(1);
    check(label.size() == n && cost.size() == n, "one number a row is needed");
    check(std::all_of(label.data(), label.data() + n,
                      [&](std::int32_t k) { return k >= 0 && static_cast<std::size_t>(k) < K; }),
          "labels are numbers of classes");
    return {static_cast<std::int64_t>(n), static_cast<std::int64_t>(K), label.data(), cost.data()};
}

}  // namespace

double expand_softmax(Const<std::int32_t> label, Const<double> cost, Mutable<double, 2> scores,
                      Mutable<double, 1> totals, Mutable<double, 2> hessian) {
    const SoftmaxCertificate certificate = checked_certificate(label, cost, scores);
    const std::size_t K = scores.shape(1);
    check(totals.size() == K && hessian.shape(0) == K && hessian.shape(1) == K,
          "classes do not fit");
    ReleasedGil no_gil;
    return certificate.expand(scores.data(), totals.data(), hessian.data());
}

double softmax_dual_points(Const<std::int32_t> label, Const<double> cost, Mutable<double, 2> q,
                           Const<double> change) {
    const SoftmaxCertificate certificate = checked_certificate(label, cost, q);
    check(change.size() == q.shape(1), "classes do not fit");
    ReleasedGil no_gil;
    return certificate.dual_points(q.data(), change.data());
}

}  // namespace kernels::logistic
