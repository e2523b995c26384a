#include "kernels/certified.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/weights.hpp"
#include "separable/certified/dual_descent.hpp"
#include "separable/certified/dual_loss.hpp"
#include "separable/certified/elastic_net_gap.hpp"
#include "separable/certified/gap_bounds.hpp"
#include "separable/certified/lane_gaps.hpp"
#include "separable/certified/lane_targets.hpp"
#include "separable/certified/row_products.hpp"
#include "separable/certified/row_terms.hpp"
#include "separable/certified/semismooth_newton.hpp"

namespace kernels::certified {

namespace {

template <class Run>
auto with_dual_loss(const std::string& name, double eps, Run&& run) {
    if (name == InsensitiveDual::kName) return run(InsensitiveDual{eps});
    if (name == HingeDual::kName) return run(HingeDual{});
    if (name == SquaredHingeDual::kName) return run(SquaredHingeDual{});
    if (name == LogisticDual::kName) return run(LogisticDual{});
    if (name == SquaredErrorDual::kName) return run(SquaredErrorDual{});
    throw std::invalid_argument("no such loss: " + name);
}

std::unique_ptr<TileLoss> make_tile_loss(const std::string& name, double eps) {
    return with_dual_loss(name, eps, [](const auto& loss) -> std::unique_ptr<TileLoss> {
        return std::make_unique<TileLossOf<std::decay_t<decltype(loss)>>>(loss);
    });
}

template <class Lane>
std::unique_ptr<DualLanesLoss<Lane>> make_lanes_loss(const std::string& name, double eps) {
    return with_dual_loss(name, eps, [](const auto& loss) -> std::unique_ptr<DualLanesLoss<Lane>> {
        return std::make_unique<DualLanesLossOf<Lane, std::decay_t<decltype(loss)>>>(loss);
    });
}

}  // namespace

LaneTargets::LaneTargets(std::string loss, double eps, std::optional<Const<std::int32_t>> label,
                         std::optional<Const<double>> number, std::optional<Const<double>> weight,
                         std::optional<Const<std::int32_t>> fold, Const<std::int32_t> class_of,
                         Const<std::int32_t> held_out, Const<double> C)
    : loss(std::move(loss)),
      eps(eps),
      label(label),
      number(number),
      weight(weight),
      fold(fold),
      class_of(class_of),
      held_out(held_out),
      C(C) {
    check(label.has_value() != number.has_value(), "rows have labels or numbers");
    const std::size_t n = label ? label->size() : number->size(), lanes = C.size();
    check((!weight || weight->size() == n) && (!fold || fold->size() == n),
          "one number a row is needed");
    check(lanes > 0 && class_of.size() == lanes && held_out.size() == lanes,
          "one number a lane is needed");
    check(make_tile_loss(this->loss, eps)->regression == number.has_value(),
          "the loss does not suit the target");
}

namespace {

template <class... Others>
std::size_t same_size(const Const<double>& first, const Others&... others) {
    check(((others.size() == first.size()) && ...), "one number a row is needed");
    return first.size();
}

double tile_sum(const Numbers& values) {
    constexpr std::size_t kTile = 64;
    LaneSums sums(1);
    for (std::size_t k = 0; k < values.size(); k += kTile)
        sums.add(values.data() + k, static_cast<std::int64_t>(std::min(kTile, values.size() - k)));
    return sums.total[0];
}

}  // namespace

RowLoss::RowLoss(const std::string& name, double eps) : loss_(make_tile_loss(name, eps)) {}

double RowLoss::total(Const<double> y, Const<double> s, Const<double> c) const {
    Numbers values(same_size(y, s, c));
    ReleasedGil no_gil;
    loss_->losses(values.size(), s.data(), y.data(), c.data(), values.data());
    return tile_sum(values);
}

double RowLoss::dual_total(Const<double> y, Const<double> c, Const<double> z) const {
    Numbers values(same_size(y, c, z));
    ReleasedGil no_gil;
    loss_->duals(values.size(), y.data(), c.data(), z.data(), values.data());
    return tile_sum(values);
}

Numbers RowLoss::gap(Const<double> y, Const<double> s, Const<double> c, Const<double> z) const {
    Numbers values(same_size(y, s, c, z));
    ReleasedGil no_gil;
    loss_->gaps(values.size(), s.data(), false, y.data(), c.data(), z.data(), values.data());
    return values;
}

Numbers RowLoss::clip_dual(Const<double> y, Const<double> c, Const<double> z) const {
    same_size(y, c, z);
    ReleasedGil no_gil;
    Numbers values(z.data(), z.data() + z.size());
    loss_->project(values.size(), y.data(), c.data(), values.data());
    return values;
}

std::pair<Numbers, Numbers> RowLoss::derivatives(Const<double> y, Const<double> s,
                                                 Const<double> c) const {
    check(loss_->derivative != DerivativeKind::kPiecewiseConstant, "the loss is not smooth");
    Numbers first(same_size(y, s, c)), second(first.size());
    ReleasedGil no_gil;
    loss_->derivatives(first.size(), s.data(), y.data(), c.data(), first.data(), second.data());
    return {std::move(first), std::move(second)};
}

double RowLoss::best_intercept(Const<double> y, Const<double> s, Const<double> c) const {
    const auto n = static_cast<std::int64_t>(same_size(y, s, c));
    ReleasedGil no_gil;
    const std::int32_t none = -1;
    const double unit = 1;
    const LanePlan lane{{&none, 1}, {&none, 1}, {&unit, 1}};
    return best_intercepts(*loss_, {{}, span_of(y), span_of(c), {}}, lane, n, 1, s.data())[0];
}

std::pair<Numbers, Numbers> run_pass(const LaneTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Const<double> rho, AnyWeights w,
                                     AnyWeights a, std::optional<AnyWeights> t,
                                     Mutable<std::uint16_t, 2> by_row, Mutable<double, 2> by_lane,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed) {
    const std::size_t lanes = targets.C.size();
    check(targets.n_rows() == rows.n_rows &&
              static_cast<std::int64_t>(squared_norm.size()) == rows.n_rows &&
              by_row.shape(0) == 2 && static_cast<std::int64_t>(by_row.shape(1)) == rows.n_rows,
          "one number a row is needed");
    check(w.ndim() == 2 && a.ndim() == 2 && a.dtype() == w.dtype() && a.shape(1) == w.shape(1) &&
              static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(a.shape(0)) == rows.n_rows,
          "weights and dual variables do not fit");
    check(!t || (t->ndim() == 2 && t->dtype() == a.dtype() && t->shape(0) == a.shape(0) &&
                 t->shape(1) == a.shape(1)),
          "margins do not fit");
    check(by_lane.shape(0) == 5 && by_lane.shape(1) == lanes && rho.size() == lanes &&
              lanes <= w.shape(1),
          "one number a lane is needed");
    ReleasedGil no_gil;
    return with_lane(w, [&]<class Lane>() {
        using T = typename Lane::T;
        const auto x = make_products<Lane>(rows.rows);
        Heartbeat heartbeat(poll_signals, x->n_values, x->n_rows);
        PassOrder order(rows.n_rows, seed, pass);
        double* of_lanes = by_lane.data();
        const DualState<Lane> state{static_cast<T*>(w.data()),
                                    static_cast<T*>(a.data()),
                                    t ? static_cast<T*>(t->data()) : nullptr,
                                    by_row.data(),
                                    by_row.data() + rows.n_rows,
                                    of_lanes,
                                    of_lanes + lanes,
                                    of_lanes + 2 * lanes,
                                    of_lanes + 3 * lanes,
                                    of_lanes + 4 * lanes};
        const auto loss = make_lanes_loss<Lane>(targets.loss, targets.eps);
        check(!loss->keeps_margin || state.t, "this loss needs margins");
        DualDescent<Lane> descent(*x, *loss, targets.rows(), targets.plan(), span_of(squared_norm),
                                  span_of(rho), done, state);
        DualPass result = descent.pass(std::move(order), heartbeat);
        return std::pair(std::move(result.loss), std::move(result.gap));
    });
}

std::tuple<std::vector<std::int64_t>, std::vector<bool>, bool> run_semismooth(
    const LaneTargets& targets, const BoundRows& rows, Mutable<double, 2> w, Mutable<double, 1> b,
    Mutable<double, 2> z, bool fit_intercept, Mutable<double, 1> width, double tol,
    Const<std::int64_t> max_steps, double max_idle,
    std::optional<std::function<bool(std::int64_t, double)>> on_step) {
    const std::size_t lanes = targets.C.size();
    check(targets.n_rows() == rows.n_rows && w.shape(0) == lanes && z.shape(0) == lanes &&
              b.size() == lanes && width.size() == lanes && max_steps.size() == lanes &&
              static_cast<std::int64_t>(z.shape(1)) == rows.n_rows &&
              static_cast<std::int64_t>(w.shape(1)) == rows.n_features,
          "each lane needs weights, an intercept, a dual point, a width and a number of steps");
    check(targets.loss == HingeDual::kName || targets.loss == InsensitiveDual::kName,
          "the loss is not piecewise linear");
    ReleasedGil no_gil;
    const auto x = make_products<Single<double>>(rows.rows);
    std::vector<std::int64_t> steps(lanes, 0);
    std::vector<bool> stalled(lanes, false);
    bool stopped = false;
    for (std::size_t l = 0; l < lanes && !stopped; ++l) {
        const LanePlan all = targets.plan();
        const LanePlan one{all.class_of.subspan(l, 1), all.fold.subspan(l, 1), all.C.subspan(l, 1)};
        PiecewiseRows mine;
        mine.regression = targets.number.has_value();
        mine.eps = mine.regression ? targets.eps : 0.0;
        mine.fit_intercept = fit_intercept;
        TargetsInLanes<double, 1> row(targets.rows(), one);
        for (std::int64_t i = 0; i < rows.n_rows; ++i) {
            row.read(i);
            if (row.c[0] > 0) mine.add(i, row.y[0], row.c[0]);
        }
        SemismoothOptions options;
        options.tol = tol, options.max_steps = max_steps.data()[l];
        options.width = width.data()[l], options.max_idle = max_idle;
        if (on_step) options.on_step = *on_step;
        options.poll = poll_signals;
        const auto run = SemismoothNewton(*x, mine).run(options, w.data() + l * w.shape(1),
                                                        b.data()[l], z.data() + l * z.shape(1));
        steps[l] = run.steps, width.data()[l] = run.width;
        stalled[l] = run.stalled, stopped = run.stopped;
    }
    return {std::move(steps), std::move(stalled), stopped};
}

namespace {

// ------------------------------------------------------------------ certificates

template <class Table>
void check_lanes(const Table& table) {
    check(table.shape(1) == 1 || table.shape(1) % kPerLine<double> == 0,
          "one lane or whole lines of 8 are needed");
}

}  // namespace

void sum_rows(const BoundRows& rows, ConstTable<double> r, Mutable<double, 2> sums) {
    check(static_cast<std::int64_t>(r.shape(0)) == rows.n_rows &&
              static_cast<std::int64_t>(sums.shape(0)) == rows.n_features &&
              sums.shape(1) == r.shape(1),
          "numbers and sums do not fit the rows");
    check_lanes(r);
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            add_rows(x, static_cast<std::int64_t>(r.shape(1)), r.data(), sums.data(), poll_signals);
        },
        rows.rows);
}

namespace {

template <class T>
void score_all_of(const BoundRows& rows, ConstTable<T> w, Mutable<double, 2> scores) {
    check(static_cast<std::int64_t>(w.shape(0)) == rows.n_features &&
              static_cast<std::int64_t>(scores.shape(0)) == rows.n_rows &&
              scores.shape(1) == w.shape(1),
          "weights and scores do not fit the rows");
    check_lanes(w);
    ReleasedGil no_gil;
    std::visit(
        [&](const auto& x) {
            score_rows(x, static_cast<std::int64_t>(w.shape(1)), w.data(), scores.data(),
                       poll_signals);
        },
        rows.rows);
}

}  // namespace

void score_all(const BoundRows& rows, ConstTable<float> w, Mutable<double, 2> scores) {
    score_all_of(rows, w, scores);
}

void score_all(const BoundRows& rows, ConstTable<double> w, Mutable<double, 2> scores) {
    score_all_of(rows, w, scores);
}

Numbers largest_scores(const BoundRows& rows, ConstTable<double> w,
                       const std::optional<Const<double>>& factor, bool is_signed) {
    check(static_cast<std::int64_t>(w.shape(0)) == rows.n_features, "weights do not fit the rows");
    check(!factor || static_cast<std::int64_t>(factor->size()) == rows.n_rows,
          "one factor a row is needed");
    check_lanes(w);
    ReleasedGil no_gil;
    return std::visit(
        [&](const auto& x) {
            return largest_of(x, static_cast<std::int64_t>(w.shape(1)), w.data(),
                              factor ? factor->data() : nullptr, is_signed, poll_signals);
        },
        rows.rows);
}

namespace {

template <class T>
std::tuple<Numbers, Numbers, Numbers, Numbers> gaps_of_lanes(const LaneTargets& targets,
                                                             ConstTable<double> z,
                                                             Mutable<double, 2> scores,
                                                             ConstTable<T> u, ConstTable<double> v,
                                                             bool finds_intercept) {
    targets.check_table(z);
    targets.check_table(scores);
    check(z.shape(1) == scores.shape(1) && u.shape(0) == v.shape(0) && u.shape(1) == v.shape(1) &&
              u.shape(1) >= targets.C.size(),
          "dual points, scores and weights do not fit");
    ReleasedGil no_gil;
    LaneGaps found =
        lane_gaps(*make_tile_loss(targets.loss, targets.eps), targets.rows(), targets.plan(),
                  targets.n_rows(), static_cast<std::int64_t>(z.shape(1)), z.data(), scores.data(),
                  lane_norms(static_cast<std::int64_t>(u.shape(0)),
                             static_cast<std::int64_t>(u.shape(1)), u.data(), v.data()),
                  finds_intercept);
    return {std::move(found.intercept), std::move(found.primal), std::move(found.dual),
            std::move(found.gap)};
}

}  // namespace

std::tuple<Numbers, Numbers, Numbers, Numbers> lane_gaps_of(
    const LaneTargets& targets, ConstTable<double> z, Mutable<double, 2> scores,
    ConstTable<float> u, ConstTable<double> v, bool finds_intercept) {
    return gaps_of_lanes(targets, z, scores, u, v, finds_intercept);
}

std::tuple<Numbers, Numbers, Numbers, Numbers> lane_gaps_of(
    const LaneTargets& targets, ConstTable<double> z, Mutable<double, 2> scores,
    ConstTable<double> u, ConstTable<double> v, bool finds_intercept) {
    return gaps_of_lanes(targets, z, scores, u, v, finds_intercept);
}

namespace {

template <class T>
std::tuple<Numbers, Numbers, Numbers> all_norms_of(ConstTable<T> w, ConstTable<double> v) {
    check(w.shape(0) == v.shape(0) && w.shape(1) == v.shape(1), "weights do not fit");
    ReleasedGil no_gil;
    LaneNorms norms = lane_norms(static_cast<std::int64_t>(w.shape(0)),
                                 static_cast<std::int64_t>(w.shape(1)), w.data(), v.data());
    return {std::move(norms.w), std::move(norms.v), std::move(norms.away)};
}

}  // namespace

std::tuple<Numbers, Numbers, Numbers> all_norms(ConstTable<float> w, ConstTable<double> v) {
    return all_norms_of(w, v);
}

std::tuple<Numbers, Numbers, Numbers> all_norms(ConstTable<double> w, ConstTable<double> v) {
    return all_norms_of(w, v);
}

void cut_and_balance(const LaneTargets& targets, Mutable<double, 2> z, bool balance) {
    targets.check_table(z);
    ReleasedGil no_gil;
    make_feasible(*make_tile_loss(targets.loss, targets.eps), targets.rows(), targets.plan(),
                  targets.n_rows(), static_cast<std::int64_t>(z.shape(1)), balance, z.data());
}

std::tuple<Numbers, Numbers, Numbers, Numbers> terms_of_rows(const LaneTargets& targets,
                                                             ConstTable<double> z,
                                                             ConstTable<double> scores,
                                                             bool fit_intercept) {
    targets.check_table(z);
    targets.check_table(scores);
    check(z.shape(1) == scores.shape(1), "dual points and scores do not fit");
    ReleasedGil no_gil;
    const auto loss = make_tile_loss(targets.loss, targets.eps);
    const auto stride = static_cast<std::int64_t>(z.shape(1));
    Numbers b(targets.C.size(), 0.0);
    if (fit_intercept)
        b = best_intercepts(*loss, targets.rows(), targets.plan(), targets.n_rows(), stride,
                            scores.data());
    RowTerms terms = row_terms(*loss, targets.rows(), targets.plan(), targets.n_rows(), stride,
                               z.data(), scores.data(), b);
    return {std::move(b), std::move(terms.loss), std::move(terms.dual), std::move(terms.gap)};
}

Numbers gaps_with_errors(const GapModel& model, const LaneTargets& targets, Const<double> plain,
                         Const<double> primal, Const<double> more, Const<double> unbalanced,
                         ConstTable<double> errors) {
    const std::size_t lanes = targets.C.size();
    check(plain.size() == lanes && primal.size() == lanes && more.size() == lanes &&
              unbalanced.size() == lanes && errors.shape(0) == lanes && errors.shape(1) == 6,
          "gaps and errors do not fit");
    ReleasedGil no_gil;
    const Numbers costs = total_costs(targets.rows(), targets.plan(), targets.n_rows());
    Numbers gaps(lanes);
    for (std::size_t l = 0; l < lanes; ++l) {
        const double* e = errors.data() + 6 * l;
        gaps[l] =
            add_errors(model, targets.n_rows(), costs[l], plain.data()[l], primal.data()[l],
                       more.data()[l], unbalanced.data()[l], {e[0], e[1], e[2], e[3], e[4], e[5]});
    }
    return gaps;
}

std::pair<Numbers, Numbers> bounds_of_gaps(
    const GapModel& model, const LaneTargets& targets, ConstTable<double> z,
    ConstTable<double> scores, ConstTable<double> w, Const<double> b, Const<double> intercept,
    const std::optional<Const<double>>& shift, const std::optional<Const<double>>& scale,
    double level, Const<double> extent, std::int64_t terms, bool fit_intercept, Const<double> gap,
    Const<double> primal) {
    const std::size_t lanes = targets.C.size(), models = z.shape(1), d = extent.size();
    targets.check_table(z);
    targets.check_table(scores);
    check(lanes > 0 && models % lanes == 0 && (model.is_joint || models == lanes) &&
              scores.shape(1) == models && w.shape(1) == models && w.shape(0) == d &&
              b.size() == models && intercept.size() == models && (!shift || shift->size() == d) &&
              (!scale || scale->size() == d) && gap.size() == lanes && primal.size() == lanes,
          "models, dual points and scores do not fit");
    ReleasedGil no_gil;
    const PublishedModels published{static_cast<std::int64_t>(d),
                                    static_cast<std::int64_t>(models),
                                    w.data(),
                                    b.data(),
                                    intercept.data(),
                                    shift ? shift->data() : nullptr,
                                    scale ? scale->data() : nullptr,
                                    level,
                                    extent.data(),
                                    static_cast<double>(terms),
                                    fit_intercept};
    return bound_gaps(model, *make_tile_loss(targets.loss, targets.eps), targets.rows(),
                      targets.plan(), targets.n_rows(), z.data(), scores.data(), published,
                      gap.data(), primal.data());
}

Numbers intercepts_about(Const<double> shift, ConstTable<double> w, Const<double> b, double level) {
    check(shift.size() == w.shape(0) && b.size() == w.shape(1), "weights do not fit");
    ReleasedGil no_gil;
    return centred_intercepts(static_cast<std::int64_t>(w.shape(0)),
                              static_cast<std::int64_t>(w.shape(1)), shift.data(), w.data(),
                              b.data(), level);
}

std::tuple<Numbers, Numbers, Numbers> sizes_of_rows(ConstTable<double> z,
                                                    ConstTable<double> scores) {
    check(z.shape(0) == scores.shape(0) && z.shape(1) == scores.shape(1),
          "dual points and scores do not fit");
    ReleasedGil no_gil;
    RowSizes sizes = row_sizes(static_cast<std::int64_t>(z.shape(0)),
                               static_cast<std::int64_t>(z.shape(1)), z.data(), scores.data());
    return {std::move(sizes.largest), std::move(sizes.mass), std::move(sizes.imbalance)};
}

std::tuple<Numbers, Numbers, Numbers> errors_of_gaps(const LaneTargets& targets,
                                                     ConstTable<double> z,
                                                     ConstTable<double> values, bool are_residuals,
                                                     ConstTable<double> error,
                                                     Const<double> imbalance) {
    targets.check_table(z);
    targets.check_table(values);
    const std::size_t lanes = targets.C.size();
    const bool one_error = error.shape(0) == 1;
    check(z.shape(1) == lanes && values.shape(1) == lanes && error.shape(1) == lanes &&
              imbalance.size() == lanes && (one_error || error.shape(0) == z.shape(0)),
          "dual points, scores and errors do not fit");
    ReleasedGil no_gil;
    const auto loss = make_tile_loss(targets.loss, targets.eps);
    check(loss->residuals || !are_residuals, "the loss is not one of residuals");
    GapErrors errors =
        gap_errors(*loss, targets.rows(), targets.plan(), targets.n_rows(), z.data(), values.data(),
                   are_residuals, error.data(), one_error, imbalance.data());
    return {std::move(errors.gap), std::move(errors.more), std::move(errors.unbalanced)};
}

std::tuple<double, double, double, double> elastic_net_gap(
    const BoundRows& rows, Const<double> y, const std::optional<Const<double>>& weight,
    Const<double> w, double b, bool fit_intercept, Const<double> centre, Const<double> length,
    Const<double> far, const std::optional<Const<double>>& unit, double l1, double l2,
    bool positive, Mutable<double, 1> residuals, Mutable<double, 1> dual) {
    const auto n = static_cast<std::size_t>(rows.n_rows),
               d = static_cast<std::size_t>(rows.n_features);
    check(y.size() == n && (!weight || weight->size() == n) && residuals.size() == n &&
              dual.size() == n,
          "one number a row is needed");
    check(w.size() == d && centre.size() == d && length.size() == d && far.size() == d &&
              (!unit || unit->size() == d),
          "one number a column is needed");
    const auto data = [](const auto& numbers) { return numbers ? numbers->data() : nullptr; };
    ReleasedGil no_gil;
    ElasticNetRows given{rows.n_rows,
                         rows.n_features,
                         y.data(),
                         data(weight),
                         fit_intercept,
                         centre.data(),
                         length.data(),
                         far.data(),
                         data(unit),
                         l1,
                         l2,
                         positive};
    ElasticNetCertificate certificate(given, w.data(), residuals.data(), dual.data());
    const ElasticNetGap found =
        certificate.run(b, [&](double intercept, double* gradient, double* each) {
            return std::visit(
                [&](const auto& x) {
                    return residual_sums(x, given.y, given.weight, w.data(), nullptr, intercept,
                                         0.0, fit_intercept ? given.centre : nullptr, gradient,
                                         each, poll_signals);
                },
                rows.rows);
        });
    return {found.intercept, found.primal, found.gap, found.rounding};
}

void sum_outer(const BoundRows& rows, Const<double> c, Mutable<double, 2> products) {
    const auto d = static_cast<std::size_t>(rows.n_features);
    check(static_cast<std::int64_t>(c.size()) == rows.n_rows && products.shape(0) == d &&
              products.shape(1) == d,
          "weights and products do not fit the rows");
    ReleasedGil no_gil;
    std::visit([&](const auto& x) { add_outer(x, c.data(), products.data(), poll_signals); },
               rows.rows);
}

void sum_curved(const BoundRows& rows, Const<double> c, Const<double> w, double b,
                Mutable<double, 1> scores, Mutable<double, 1> sums) {
    const auto n = static_cast<std::size_t>(rows.n_rows);
    const auto d = static_cast<std::size_t>(rows.n_features);
    check(c.size() == n && scores.size() == n && w.size() == d && sums.size() == d,
          "weights, scores and sums do not fit the rows");
    ReleasedGil no_gil;
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
    ReleasedGil no_gil;
    std::visit([&](const auto& x) { add_squares(x, c.data(), sums.data(), poll_signals); },
               rows.rows);
}

}  // namespace kernels::certified
