#include "kernels/logistic.hpp"

#include <algorithm>
#include <variant>
#include <vector>

#include "separable/certified/lbfgs.hpp"
#include "separable/certified/logistic_newton.hpp"
#include "separable/certified/logistic_objective.hpp"
#include "separable/certified/softmax_certificate.hpp"

namespace kernels::logistic {

using namespace separable;

namespace {

template <class T>
struct TiledRows {
    TiledRows(std::int64_t n_columns, std::span<const std::int32_t> label,
              std::span<const double> weight, std::span<const std::int32_t> fold)
        : x(static_cast<std::int64_t>(label.size()), n_columns), targets(x, label, weight, fold) {}

    DenseTiles<T> x;
    LogisticTargets<T> targets;
};

template <class T>
void check_lane(const TiledRows<T>& rows, const LogisticLane& lane, std::size_t vectors) {
    check(lane.n_vectors > 0 && static_cast<std::size_t>(lane.n_vectors) <= vectors,
          "classes do not fit");
    T most = 0;
    for (const T label : rows.targets.label) most = std::max(most, label);
    check(!lane.is_joint() || most < static_cast<T>(lane.code.size()),
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

template <class T>
void minimise(const TiledRows<T>& rows, double C, const std::vector<LogisticLane>& lanes,
              ConstTable<double> basis, double intercept_scale,
              std::span<const double> decrement_tol, LbfgsOptions options, const Callback& callback,
              Mutable<double, 3> weights, double* results) {
    const std::int64_t d = rows.x.n_columns();
    const std::size_t size = weights.shape(1) * weights.shape(2);
    options.value_rounding = kValueRounding<T>;
    std::vector<LbfgsLane> states;
    std::int64_t vectors = 0;
    for (std::size_t k = 0; k < lanes.size(); ++k) {
        const Preconditioner coordinates{basis.data(), intercept_scale, lanes[k].n_vectors, d};
        states.emplace_back(weights.data() + k * size, coordinates, decrement_tol[k], options);
        vectors += lanes[k].n_vectors;
    }
    LogisticObjective<T> objective(rows.x, rows.targets);
    Heartbeat heartbeat(poll_signals, rows.x.n_rows() * (d + 8) * vectors, rows.x.n_rows());
    for (std::int64_t number = 1;; ++number) {
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
        objective.evaluate(active, points, C, values, gradients, heartbeat);
        double worst = 0;
        for (std::size_t at = 0; at < index.size(); ++at) {
            states[index[at]].take(values[at]);
            const LbfgsResult& result = states[index[at]].result();
            worst = std::max(worst, result.value > 0 ? result.gap / result.value : 0.0);
        }
        if (callback && callback(number, worst))
            for (LbfgsLane& state : states) state.stop();
    }
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
    std::variant<TiledRows<float>, TiledRows<double>> rows;
};

LogisticLanes::LogisticLanes(std::int64_t n_columns, Const<std::int32_t> label,
                             std::optional<Const<double>> weight,
                             std::optional<Const<std::int32_t>> fold, bool is_float32) {
    check(n_columns >= 0, "the number of columns is negative");
    check((!weight || weight->size() == label.size()) && (!fold || fold->size() == label.size()),
          "one number a row is needed");
    if (is_float32)
        state_ = std::make_shared<State>(
            State{TiledRows<float>(n_columns, span_of(label), span_of(weight), span_of(fold))});
    else
        state_ = std::make_shared<State>(
            State{TiledRows<double>(n_columns, span_of(label), span_of(weight), span_of(fold))});
}

void LogisticLanes::set_rows(std::int64_t first, ConstTable<double> x) {
    std::visit(
        [&](auto& rows) {
            const auto count = static_cast<std::int64_t>(x.shape(0));
            check(static_cast<std::int64_t>(x.shape(1)) == rows.x.n_columns() && first >= 0 &&
                      first + count <= rows.x.n_rows(),
                  "rows do not fit");
            rows.x.set_rows(first, x.data(), count);
        },
        state_->rows);
}

void LogisticLanes::solve(double C, Const<std::int32_t> held_out, Const<std::int32_t> target,
                          ConstTable<std::int32_t> code, ConstTable<double> basis,
                          double intercept_scale, Const<double> decrement_tol,
                          double decrement_ratio, double gap_tol, std::int64_t max_evaluations,
                          const Callback& callback, Mutable<double, 3> weights,
                          Mutable<double, 2> results) const {
    const std::vector<LogisticLane> lanes = lanes_of(held_out, target, code);
    const std::size_t L = lanes.size();
    check(decrement_tol.size() == L && weights.shape(0) == L && results.shape(0) == L &&
              results.shape(1) == 5,
          "one number a lane is needed");
    std::visit(
        [&](const auto& rows) {
            const auto d = static_cast<std::size_t>(rows.x.n_columns());
            check(basis.shape(0) == d && basis.shape(1) == d && weights.shape(2) == d + 1,
                  "columns do not fit");
            for (const LogisticLane& lane : lanes) check_lane(rows, lane, weights.shape(1));
            ReleasedGil no_gil;
            LbfgsOptions options;
            options.gap_tol = gap_tol, options.decrement_ratio = decrement_ratio,
            options.max_evaluations = max_evaluations;
            minimise(rows, C, lanes, basis, intercept_scale, span_of(decrement_tol), options,
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
        [&]<class T>(const TiledRows<T>& rows) {
            check_lane(rows, lane, weights.shape(0));
            check(weights.shape(1) == static_cast<std::size_t>(rows.x.n_columns()) + 1 &&
                      gradient.shape(0) == weights.shape(0) &&
                      gradient.shape(1) == weights.shape(1) &&
                      curvature.size() == static_cast<std::size_t>(rows.x.n_rows()),
                  "columns do not fit");
            ReleasedGil no_gil;
            LogisticObjective objective(rows.x, rows.targets);
            Heartbeat heartbeat(poll_signals, rows.x.n_rows() * rows.x.n_columns() * lane.n_vectors,
                                rows.x.n_rows());
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
                                               ConstTable<double> basis, double intercept_scale,
                                               ConstTable<double> gradient, double value,
                                               double residual_tol, std::int64_t max_products,
                                               Mutable<double, 2> step) const {
    return std::visit(
        [&]<class T>(const TiledRows<T>& rows) {
            const LogisticLane& lane = expansion.state->lane;
            const auto* kept = std::get_if<LineVector<T>>(&expansion.state->kept);
            const auto padded =
                static_cast<std::size_t>(rows.x.n_tiles() * rows.x.tile_rows() * lane.n_vectors);
            check(kept != nullptr && kept->size() == padded, "no weights were expanded");
            const Preconditioner coordinates{basis.data(), intercept_scale, lane.n_vectors,
                                             rows.x.n_columns()};
            const std::size_t size = coordinates.size();
            check(
                basis.size() == static_cast<std::size_t>(rows.x.n_columns() * rows.x.n_columns()) &&
                    gradient.size() >= size && step.size() >= size,
                "columns do not fit");
            ReleasedGil no_gil;
            LogisticObjective objective(rows.x, rows.targets);
            Heartbeat heartbeat(poll_signals, rows.x.n_rows() * rows.x.n_columns() * lane.n_vectors,
                                rows.x.n_rows());
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
