#include "separable/model/scores.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <type_traits>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/model/probabilities.hpp"

using namespace separable;

namespace {

constexpr std::int64_t kProducts = std::int64_t(1) << 26;  // between two looks for Ctrl-C
constexpr std::int64_t kLeastRows = 64;

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
    nb::gil_scoped_release no_gil;
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

using Values = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

template <double (*function)(double)>
void apply(Values values) {
    double* const at = values.data();
    const std::size_t n = values.size();
    nb::gil_scoped_release no_gil;
    for (std::size_t i = 0; i < n; ++i) at[i] = function(at[i]);
}

void apply_softmax(Mutable<double, 2> scores) {
    check(scores.shape(1) > 0, "a softmax needs a score");
    nb::gil_scoped_release no_gil;
    softmax_rows(scores.data(), static_cast<std::int64_t>(scores.shape(0)),
                 static_cast<std::int64_t>(scores.shape(1)));
}

void apply_log_softmax(Mutable<double, 2> scores) {
    check(scores.shape(1) > 0, "a softmax needs a score");
    nb::gil_scoped_release no_gil;
    std::vector<double> shares(scores.shape(1));
    log_softmax_rows(scores.data(), static_cast<std::int64_t>(scores.shape(0)),
                     static_cast<std::int64_t>(scores.shape(1)), shares.data());
}

}  // namespace

void bind_scores(nb::module_& m) {
    m.def("linear_scores", &write_scores, nb::arg("rows"), nb::arg("weights"), nb::arg("intercept"),
          nb::arg("out"),
          "Write X W' + b in a fixed order of sums; return a row that overflows, or -1.");
    m.def("sigmoid", &apply<stable_sigmoid>, nb::arg("values"), "1 / (1 + e^-s), in place.");
    m.def("softplus", &apply<softplus>, nb::arg("values"), "log(1 + e^s), in place.");
    m.def("softmax", &apply_softmax, nb::arg("scores"), "The softmax of each row, in place.");
    m.def("log_softmax", &apply_log_softmax, nb::arg("scores"),
          "The logarithm of the softmax of each row, in place.");
}
