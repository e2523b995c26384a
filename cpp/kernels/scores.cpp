#include "kernels/scores.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "separable/model/probabilities.hpp"
#include "separable/model/scores.hpp"

namespace kernels::scores {

namespace {

constexpr std::int64_t kProducts = std::int64_t(1) << 26;  // between two checks for Ctrl-C
constexpr std::int64_t kLeastRows = 64;

}  // namespace

std::int64_t write_scores(const BoundRows& bound, ConstTable<double> weights,
                          Const<double> intercept, Mutable<double, 2> out) {
    const auto K = static_cast<std::int64_t>(weights.shape(0));
    check(static_cast<std::int64_t>(weights.shape(1)) == bound.n_features &&
              static_cast<std::int64_t>(intercept.size()) == K,
          "weights and intercept do not fit the rows");
    check(static_cast<std::int64_t>(out.shape(0)) == bound.n_rows &&
              static_cast<std::int64_t>(out.shape(1)) == K,
          "scores do not fit");
    const ScoreWeights of{weights.data(), intercept.data(), K, bound.n_features};
    ReleasedGil no_gil;
    return std::visit(
        [&](const auto& rows) -> std::int64_t {
            const std::int64_t products = std::max<std::int64_t>(1, rows.n_values() * K);
            const double share = static_cast<double>(kProducts) / static_cast<double>(products);
            const std::int64_t step = std::max(
                kLeastRows,
                static_cast<std::int64_t>(std::min(1.0, share) * static_cast<double>(rows.n_rows)));
            for (std::int64_t first = 0; first < rows.n_rows; first += step) {
                if (first > 0) poll_signals();
                const auto part = some_rows(rows, first, std::min(step, rows.n_rows - first));
                const std::int64_t bad = linear_scores(part, of, out.data() + first * K);
                if (bad >= 0) return first + bad;
            }
            return -1;
        },
        bound.rows);
}

namespace {

template <double (*function)(double)>
void apply(std::span<double> values) {
    ReleasedGil no_gil;
    for (double& each : values) each = function(each);
}

}  // namespace

void apply_sigmoid(std::span<double> values) { apply<stable_sigmoid>(values); }

void write_binary(Const<double> scores, Mutable<double, 2> out) {
    check(out.shape(0) == scores.shape(0) && out.shape(1) == 2, "out must have shape (n, 2)");
    ReleasedGil no_gil;
    binary_rows(scores.data(), static_cast<std::int64_t>(scores.shape(0)), out.data());
}

void apply_exponential(std::span<double> values) { apply<exponential_of_negative>(values); }

void apply_softplus(std::span<double> values) { apply<softplus>(values); }

void apply_softmax(Mutable<double, 2> scores) {
    check(scores.shape(1) > 0, "a softmax needs a score");
    ReleasedGil no_gil;
    softmax_rows(scores.data(), static_cast<std::int64_t>(scores.shape(0)),
                 static_cast<std::int64_t>(scores.shape(1)));
}

void apply_log_softmax(Mutable<double, 2> scores) {
    check(scores.shape(1) > 0, "a softmax needs a score");
    ReleasedGil no_gil;
    std::vector<double> shares(scores.shape(1));
    log_softmax_rows(scores.data(), static_cast<std::int64_t>(scores.shape(0)),
                     static_cast<std::int64_t>(scores.shape(1)), shares.data());
}

}  // namespace kernels::scores
