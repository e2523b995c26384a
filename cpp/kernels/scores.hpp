#pragma once

#include <cstdint>
#include <span>

#include "kernels/rows.hpp"
#include "kernels/views.hpp"

namespace kernels::scores {

using namespace separable;

std::int64_t write_scores(const BoundRows& bound, ConstTable<double> weights,
                          Const<double> intercept, Mutable<double, 2> out);

// In place.
void apply_sigmoid(std::span<double> values);

void write_binary(Const<double> scores, Mutable<double, 2> out);

void apply_exponential(std::span<double> values);

void apply_softplus(std::span<double> values);

void apply_softmax(Mutable<double, 2> scores);

void apply_log_softmax(Mutable<double, 2> scores);

}  // namespace kernels::scores
