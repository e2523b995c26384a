#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::logistic {

using Callback = std::function<bool(std::int64_t number, double gap)>;  // whether to stop

// What products with the Hessian of an expanded lane need. Threads share rows, so each lane has its
// own.
struct Expansion {
    Expansion();

    struct State;
    std::shared_ptr<State> state;
};

// Coordinates in which objectives are well conditioned; see certified/preconditioned.hpp.
struct Coordinates {
    ConstTable<double> basis;
    double intercept_scale = 0;
    std::optional<Const<std::int32_t>> columns;     // those of the basis
    std::optional<Const<double>> diagonal, centre;  // of the other columns; of all
};

// Rows with labels, sample weights and folds, for l2-penalised logistic regression of many
// lanes; see certified/logistic_objective.hpp and certified/lbfgs.hpp.
class LogisticLanes {
   public:
    LogisticLanes(std::int64_t n_columns, Const<std::int32_t> label,
                  std::optional<Const<double>> weight, std::optional<Const<std::int32_t>> fold,
                  bool is_float32);

    // Of sparse rows, which are copied.
    LogisticLanes(const BoundRows& rows, Const<std::int32_t> label,
                  std::optional<Const<double>> weight, std::optional<Const<std::int32_t>> fold,
                  bool is_float32);

    // Write dense rows, from row `first` on.
    void set_rows(std::int64_t first, ConstTable<double> x);

    void solve(double C, Const<std::int32_t> held_out, Const<std::int32_t> target,
               ConstTable<std::int32_t> code, const Coordinates& coordinates,
               Const<double> decrement_tol, double decrement_ratio, double gap_tol,
               std::int64_t max_evaluations, std::int64_t memory, std::int64_t sample_step,
               const Callback& callback, Mutable<double, 3> weights,
               Mutable<double, 2> results) const;

    // The value, the gradient and the mean curvature of each row, of one lane; `expansion`
    // keeps what products with its Hessian need. Returns the value.
    double expand(double C, std::int32_t held_out, std::int32_t target, Const<std::int32_t> code,
                  ConstTable<double> weights, Mutable<double, 2> gradient,
                  Mutable<double, 1> curvature, Expansion& expansion) const;

    // A truncated Newton step from the weights that were expanded. Returns g.step, the squared
    // norm of the residual, and the number of products.
    std::vector<double> newton_step(const Expansion& expansion, double C, const Coordinates& given,
                                    ConstTable<double> gradient, double value, double residual_tol,
                                    std::int64_t max_products, Mutable<double, 2> step) const;

    struct State;

   private:
    template <class Tiles>
    void set_tiles(Tiles tiles, Const<std::int32_t> label,
                   const std::optional<Const<double>>& weight,
                   const std::optional<Const<std::int32_t>>& fold);

    std::shared_ptr<State> state_;
};

// See certified/softmax_certificate.hpp.
double expand_softmax(Const<std::int32_t> label, Const<double> cost, Mutable<double, 2> scores,
                      Mutable<double, 1> totals, Mutable<double, 2> hessian);
double softmax_dual_points(Const<std::int32_t> label, Const<double> cost, Mutable<double, 2> q,
                           Const<double> change);

}  // namespace kernels::logistic
