#include "kernels/voted.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <variant>

#include "separable/online/voted_perceptron.hpp"

namespace kernels::voted {

namespace {

void check_steps(const BoundRows& mistaken, std::span<const std::int64_t> row) {
    for (const std::int64_t u : row)
        check(u >= 0 && u < mistaken.n_rows, "a step is along a row that is not there");
}

}  // namespace

BoundVoters::BoundVoters(const BoundRows& mistaken, Const<std::int64_t> row, Const<double> step,
                         Const<double> count, Const<std::int64_t> start, Const<double> base_count,
                         bool fit_intercept)
    : mistaken_(mistaken),
      row_(row),
      step_(step),
      count_(count),
      start_(start),
      base_count_(base_count) {
    voters_.row = span_of(row);
    voters_.step = span_of(step);
    voters_.count = span_of(count);
    voters_.start = span_of(start);
    voters_.base_count = span_of(base_count);
    voters_.fit_intercept = fit_intercept;
    check_shapes();
    check_steps(mistaken_, voters_.row);
    std::visit(
        [&](const auto& rows) {
            if constexpr (requires { rows.index_; }) columns_.emplace(rows);
        },
        mistaken_.rows);
}

std::int64_t BoundVoters::vote(const BoundRows& rows, Mutable<double, 2> scores) const {
    check(mistaken_.n_features == rows.n_features, "rows have another width");
    check(static_cast<std::int64_t>(scores.shape(0)) == rows.n_rows &&
              static_cast<std::int64_t>(scores.shape(1)) == voters_.n_models(),
          "scores do not fit");
    ReleasedGil no_gil;
    if (columns_) return vote_sparse(rows, scores.data());
    // One row alone needs no lanes; its bits are the same.
    return rows.n_rows == 1 ? vote_dense<Single<double>>(rows, scores.data())
                            : vote_dense<Lanes<double>>(rows, scores.data());
}

void BoundVoters::check_shapes() const {
    const auto& v = voters_;
    check(v.step.size() == v.row.size() && v.count.size() == v.row.size(), "steps do not fit");
    check(v.base_count.size() >= 1 && v.start.size() == v.base_count.size() + 1,
          "one start a model and one more is needed");
    check(v.start.front() == 0 && std::is_sorted(v.start.begin(), v.start.end()) &&
              v.start.back() == static_cast<std::int64_t>(v.row.size()),
          "starts do not ascend from 0 to the number of steps");
    check(mistaken_.n_rows <= std::numeric_limits<std::int32_t>::max(), "too many rows");
}

std::int64_t BoundVoters::vote_sparse(const BoundRows& rows, double* scores) const {
    const auto n_values = static_cast<std::int64_t>(columns_->row.size());
    return std::visit(
        [&](const auto& x) {
            return vote_by_columns(*columns_, mistaken_.n_rows, voters_, x, scores,
                                   Heartbeat(poll_signals, n_values, 1));
        },
        rows.rows);
}

template <class Lane>
std::int64_t BoundVoters::vote_dense(const BoundRows& rows, double* scores) const {
    const auto z = make_products<Lane>(mistaken_.rows), x = make_products<Lane>(rows.rows);
    return vote_in_tiles<Lane>(*z, voters_, *x, scores,
                               Heartbeat(poll_signals, z->n_values, z->n_rows));
}

void run_fold_steps(const BoundRows& mistaken, Const<std::int64_t> row, Const<double> step,
                    Mutable<double, 1> weights) {
    check(row.size() == step.size(), "steps do not fit");
    check(static_cast<std::int64_t>(weights.size()) == mistaken.n_features,
          "weights have another width");
    check_steps(mistaken, {row.data(), row.size()});
    ReleasedGil no_gil;
    const auto z = make_products<Single<double>>(mistaken.rows);
    fold_steps(*z, {row.data(), row.size()}, {step.data(), step.size()}, weights.data());
}

}  // namespace kernels::voted
