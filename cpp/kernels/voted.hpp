#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <variant>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"
#include "separable/online/voted_perceptron.hpp"

namespace kernels::voted {

using namespace separable;

// Mistaken rows and the steps of all models along them, ready to vote many times.
class BoundVoters {
   public:
    BoundVoters(const BoundRows& mistaken, Const<std::int64_t> row, Const<double> step,
                Const<double> count, Const<std::int64_t> start, Const<double> base_count,
                bool fit_intercept);

    std::int64_t vote(const BoundRows& rows, Mutable<double, 2> scores) const;

   private:
    void check_shapes() const;
    std::int64_t vote_sparse(const BoundRows& rows, double* scores) const;
    template <class Lane>
    std::int64_t vote_dense(const BoundRows& rows, double* scores) const;

    BoundRows mistaken_;
    Const<std::int64_t> row_;
    Const<double> step_, count_;
    Const<std::int64_t> start_;
    Const<double> base_count_;
    Voters voters_;
    std::optional<MistakenColumns> columns_;
};

void run_fold_steps(const BoundRows& mistaken, Const<std::int64_t> row, Const<double> step,
                    Mutable<double, 1> weights);

}  // namespace kernels::voted
