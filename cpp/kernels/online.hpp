#pragma once

#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "kernels/weights.hpp"
#include "separable/online/argmax_perceptron.hpp"
#include "separable/online/batch_perceptron.hpp"
#include "separable/online/margins.hpp"
#include "separable/online/perceptron.hpp"
#include "separable/online/widrow_hoff.hpp"

namespace kernels::online {

using namespace separable;

// Everything a run needs besides weights, gathered from keywords.
struct Plan {
    Const<std::int32_t> label;
    std::optional<Const<double>> weight;
    std::optional<Const<std::int64_t>> rows;
    double eta;
    bool fit_intercept;
    bool shuffle;
    std::uint64_t seed;
    std::int64_t first_epoch, max_epochs;
    double presented;
    std::int64_t pocket_values;  // numbers the pocket may read in any case; < 0: no pocket
    bool record;
    int tie_target;
    std::optional<Const<bool>> learning;  // by model; false: it has stopped

    bool has_pocket() const { return pocket_values >= 0; }

    OnlineProblem problem() const {
        OnlineProblem p;
        p.label = {label.data(), label.size()};
        if (weight) p.weight = {weight->data(), weight->size()};
        p.eta = eta;
        p.fit_intercept = fit_intercept;
        p.tie_target = tie_target;
        return p;
    }

    std::vector<std::int64_t> chosen(std::int64_t n_rows) const {
        return rows_or_all(rows, n_rows);
    }
};

struct Result {
    OnlineRun run;
    std::vector<double> pocket_mistakes;
    std::vector<double> delta_norm;
    std::vector<BatchStop> stop;
    std::vector<MistakeList> mistakes;  // of each model, if they are recorded
};

Result run_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                      std::int64_t block_index, std::int64_t first_class, int n_lanes);

Result run_batch_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                            std::int64_t block_index, std::int64_t first_class, int n_lanes,
                            double eps);

WidrowHoffRun run_widrow_hoff(const BoundRows& rows, const Weights& weights,
                              const Const<double>& target,
                              const std::optional<Const<double>>& weight,
                              const std::optional<Const<std::int64_t>>& chosen, double eta,
                              bool fit_intercept, bool shuffle, std::uint64_t seed,
                              std::int64_t max_epochs, double tol, double most_error,
                              const SquaredErrors& before, double safety, double largest_norm);

Result run_argmax_perceptron(const BoundRows& rows, const Weights& weights, const Plan& plan,
                             Mutable<bool, 1> met);

Margins run_margins(const BoundRows& rows, const Weights& weights, Const<std::int32_t> label,
                    std::optional<Const<std::int64_t>> chosen, std::int64_t first_class,
                    std::int64_t n_models, bool argmax, int tie_target);

void unpack(const Weights& weights, double scale, double presented, Mutable<double, 2> out);

}  // namespace kernels::online
