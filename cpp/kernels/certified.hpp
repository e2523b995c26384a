#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "separable/certified/gap_model.hpp"
#include "separable/certified/lane_targets.hpp"

namespace separable {
class TileLoss;
}

namespace kernels::certified {

using namespace separable;

// Targets and costs of rows in each lane, checked.
struct LaneTargets {
    LaneTargets(std::string loss, double eps, std::optional<Const<std::int32_t>> label,
                std::optional<Const<double>> number, std::optional<Const<double>> weight,
                std::optional<Const<std::int32_t>> fold, Const<std::int32_t> class_of,
                Const<std::int32_t> held_out, Const<double> C);

    std::int64_t n_rows() const {
        return static_cast<std::int64_t>(label ? label->size() : number->size());
    }
    RowTargets rows() const {
        return {span_of(label), span_of(number), span_of(weight), span_of(fold)};
    }
    LanePlan plan() const { return {span_of(class_of), span_of(held_out), span_of(C)}; }

    // A table has a row for each row, and a column for each lane or more.
    template <class Table>
    void check_table(const Table& table) const {
        check(static_cast<std::int64_t>(table.shape(0)) == n_rows() && table.shape(1) >= C.size(),
              "one number a row and lane is needed");
    }

    std::string loss;
    double eps;
    std::optional<Const<std::int32_t>> label;
    std::optional<Const<double>> number, weight;
    std::optional<Const<std::int32_t>> fold;
    Const<std::int32_t> class_of, held_out;
    Const<double> C;
};

using Numbers = std::vector<double>;

// A loss of rows of one model: targets y, scores s, costs c and signed dual variables z.
class RowLoss {
   public:
    RowLoss(const std::string& name, double eps);

    double total(Const<double> y, Const<double> s, Const<double> c) const;
    double dual_total(Const<double> y, Const<double> c, Const<double> z) const;
    Numbers gap(Const<double> y, Const<double> s, Const<double> c, Const<double> z) const;
    Numbers clip_dual(Const<double> y, Const<double> c, Const<double> z) const;
    std::pair<Numbers, Numbers> derivatives(Const<double> y, Const<double> s,
                                            Const<double> c) const;
    double best_intercept(Const<double> y, Const<double> s, Const<double> c) const;

   private:
    std::shared_ptr<const TileLoss> loss_;
};

std::pair<Numbers, Numbers> run_pass(const LaneTargets& targets, const BoundRows& rows,
                                     Const<double> squared_norm, Const<double> rho, AnyWeights w,
                                     AnyWeights a, std::optional<AnyWeights> t,
                                     Mutable<std::uint16_t, 2> by_row, Mutable<double, 2> by_lane,
                                     std::uint32_t done, std::int64_t pass, std::uint64_t seed);

std::tuple<std::vector<std::int64_t>, std::vector<bool>, bool> run_semismooth(
    const LaneTargets& targets, const BoundRows& rows, Mutable<double, 2> w, Mutable<double, 1> b,
    Mutable<double, 2> z, bool fit_intercept, Mutable<double, 1> width, double tol,
    Const<std::int64_t> max_steps, double max_idle,
    std::optional<std::function<bool(std::int64_t, double)>> on_step);

void sum_rows(const BoundRows& rows, ConstTable<double> r, Mutable<double, 2> sums);

void score_all(const BoundRows& rows, ConstTable<float> w, Mutable<double, 2> scores);
void score_all(const BoundRows& rows, ConstTable<double> w, Mutable<double, 2> scores);

Numbers largest_scores(const BoundRows& rows, ConstTable<double> w,
                       const std::optional<Const<double>>& factor, bool is_signed);

std::tuple<Numbers, Numbers, Numbers> all_norms(ConstTable<float> w, ConstTable<double> v);
std::tuple<Numbers, Numbers, Numbers> all_norms(ConstTable<double> w, ConstTable<double> v);

std::tuple<Numbers, Numbers, Numbers, Numbers> lane_gaps_of(
    const LaneTargets& targets, ConstTable<double> z, Mutable<double, 2> scores,
    ConstTable<float> u, ConstTable<double> v, bool finds_intercept);
std::tuple<Numbers, Numbers, Numbers, Numbers> lane_gaps_of(
    const LaneTargets& targets, ConstTable<double> z, Mutable<double, 2> scores,
    ConstTable<double> u, ConstTable<double> v, bool finds_intercept);

void cut_and_balance(const LaneTargets& targets, Mutable<double, 2> z, bool balance);

std::tuple<Numbers, Numbers, Numbers, Numbers> terms_of_rows(const LaneTargets& targets,
                                                             ConstTable<double> z,
                                                             ConstTable<double> scores,
                                                             bool fit_intercept);

Numbers gaps_with_errors(const GapModel& model, const LaneTargets& targets, Const<double> plain,
                         Const<double> primal, Const<double> more, Const<double> unbalanced,
                         ConstTable<double> errors);

std::pair<Numbers, Numbers> bounds_of_gaps(
    const GapModel& model, const LaneTargets& targets, ConstTable<double> z,
    ConstTable<double> scores, ConstTable<double> w, Const<double> b, Const<double> intercept,
    const std::optional<Const<double>>& shift, const std::optional<Const<double>>& scale,
    double level, Const<double> extent, std::int64_t terms, bool fit_intercept, Const<double> gap,
    Const<double> primal);

Numbers intercepts_about(Const<double> shift, ConstTable<double> w, Const<double> b, double level);

std::tuple<Numbers, Numbers, Numbers> sizes_of_rows(ConstTable<double> z,
                                                    ConstTable<double> scores);

std::tuple<Numbers, Numbers, Numbers> errors_of_gaps(const LaneTargets& targets,
                                                     ConstTable<double> z,
                                                     ConstTable<double> values, bool are_residuals,
                                                     ConstTable<double> error,
                                                     Const<double> imbalance);

// Intercept, primal, gap and the rounding of the gap; see certified/elastic_net_gap.hpp.
std::tuple<double, double, double, double> elastic_net_gap(
    const BoundRows& rows, Const<double> y, const std::optional<Const<double>>& weight,
    Const<double> w, double b, bool fit_intercept, Const<double> centre, Const<double> length,
    Const<double> far, const std::optional<Const<double>>& unit, double l1, double l2,
    bool positive, Mutable<double, 1> residuals, Mutable<double, 1> dual);

void sum_outer(const BoundRows& rows, Const<double> c, Mutable<double, 2> products);

void sum_curved(const BoundRows& rows, Const<double> c, Const<double> w, double b,
                Mutable<double, 1> scores, Mutable<double, 1> sums);

void sum_squares(const BoundRows& rows, Const<double> c, Mutable<double, 1> sums);

}  // namespace kernels::certified
