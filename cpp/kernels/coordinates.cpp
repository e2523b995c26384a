#include "kernels/coordinates.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "separable/certified/coordinate_path.hpp"
#include "separable/certified/softmax_model.hpp"

namespace kernels::coordinates {

namespace {

std::unique_ptr<RowLoss> loss_of(const std::string& name, std::span<const double> y,
                                 std::span<const double> c) {
    if (name == SquaredErrorDual::kName) return std::make_unique<RowLossOf<SquaredErrorDual>>(y, c);
    if (name == LogisticDual::kName) return std::make_unique<RowLossOf<LogisticDual>>(y, c);
    if (name == SquaredHingeDual::kName) return std::make_unique<RowLossOf<SquaredHingeDual>>(y, c);
    throw std::invalid_argument("no such loss with an l1 penalty: " + name);
}

}  // namespace

PathWeights descend_path(const BoundRows& columns, const std::string& loss, Const<double> y,
                         Const<double> c, Const<double> l1, Const<double> l2, bool positive,
                         bool fit_intercept, Const<double> Cs, Const<double> start,
                         double intercept, double tol, std::int64_t max_sweeps,
                         const Callback& callback) {
    const auto n = static_cast<std::size_t>(columns.n_features);
    const auto d = static_cast<std::size_t>(columns.n_rows);
    check(y.size() == n && c.size() == n, "one number a row is needed");
    check(l1.size() == d && l2.size() == d && start.size() == d, "one number a column is needed");
    const std::unique_ptr<RowLoss> losses = loss_of(loss, span_of(y), span_of(c));
    PathWeights path;
    ReleasedGil no_gil;
    const Columns x(columns.rows);
    CoordinatePath descent(x, *losses, span_of(l1), span_of(l2), positive, fit_intercept,
                           PathLimits{tol, max_sweeps}, callback, poll_signals);
    descent.start(span_of(start), intercept);
    descent.run(span_of(Cs), path);
    return path;
}

namespace {

template <class T>
std::span<const T> table_of(const ConstTable<T>& table, std::size_t m, std::size_t k) {
    check(table.shape(0) == m && table.shape(1) == k, "a table has the wrong shape");
    return {table.data(), table.size()};
}

}  // namespace

std::tuple<std::int64_t, double> minimise_softmax_model(
    const BoundRows& columns, Const<std::int64_t> chosen, Const<double> l1, Const<double> l2,
    Const<double> c, ConstTable<double> p, ConstTable<double> g, bool fit_intercept,
    ConstTable<std::uint8_t> may_change, Mutable<double, 2> weights, Mutable<double, 1> intercepts,
    Mutable<double, 2> scores, double tol, std::int64_t max_sweeps, double work,
    const std::function<void()>& callback) {
    const auto n = static_cast<std::size_t>(columns.n_features);
    const std::size_t K = p.shape(0), m = chosen.size();
    check(c.size() == n, "one number a row is needed");
    check(l1.size() == m && l2.size() == m, "one number a column is needed");
    check(K > 0 && intercepts.size() == K, "one number a class is needed");
    check(weights.shape(0) == m && weights.shape(1) == K && scores.shape(0) == K &&
              scores.shape(1) == n,
          "a table has the wrong shape");
    for (std::size_t a = 0; a < m; ++a)
        check(chosen.data()[a] >= 0 && chosen.data()[a] < columns.n_rows, "no such column");
    const SoftmaxRows rows{n, K, span_of(c), table_of(p, K, n), table_of(g, K, n)};
    const ChosenColumns some{{chosen.data(), m}, span_of(l1), span_of(l2)};
    const std::span<const std::uint8_t> changing = table_of(may_change, m, K);
    ReleasedGil no_gil;
    const Columns x(columns.rows);
    SoftmaxModel model(x, rows, some, fit_intercept, {weights.data(), weights.size()}, changing,
                       {scores.data(), scores.size()}, poll_signals);
    const ModelCost cost = minimise(model, tol, {max_sweeps, work}, callback);
    std::copy(model.offset().begin(), model.offset().end(), intercepts.data());
    return {cost.sweeps, cost.work};
}

}  // namespace kernels::coordinates
