#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/certified/coordinate_path.hpp"
#include "separable/certified/softmax_model.hpp"

using namespace separable;

namespace {

std::span<const double> numbers_of(const Const<double>& array) {
    return {array.data(), array.size()};
}

std::unique_ptr<RowLoss> loss_of(const std::string& name, std::span<const double> y,
                                 std::span<const double> c) {
    if (name == SquaredErrorDual::kName) return std::make_unique<RowLossOf<SquaredErrorDual>>(y, c);
    if (name == LogisticDual::kName) return std::make_unique<RowLossOf<LogisticDual>>(y, c);
    if (name == SquaredHingeDual::kName) return std::make_unique<RowLossOf<SquaredHingeDual>>(y, c);
    throw std::invalid_argument("no such loss with a penalty that has corners: " + name);
}

using Numbers = Array<double>;
using Counts = Array<std::int64_t>;

std::tuple<Counts, Counts, Numbers, Numbers, Numbers, Counts> descend_path(
    const BoundRows& columns, const std::string& loss, Const<double> y, Const<double> c,
    Const<double> l1, Const<double> l2, bool positive, bool fit_intercept, Const<double> strengths,
    Const<double> start, double intercept, double tol, std::int64_t max_sweeps,
    std::optional<nb::callable> told) {
    const auto n = static_cast<std::size_t>(columns.n_features);
    const auto d = static_cast<std::size_t>(columns.n_rows);
    check(y.size() == n && c.size() == n, "one number a row is needed");
    check(l1.size() == d && l2.size() == d && start.size() == d, "one number a column is needed");
    const std::unique_ptr<RowLoss> losses = loss_of(loss, numbers_of(y), numbers_of(c));
    std::function<bool(std::int64_t, double)> ask;
    if (told)
        ask = [&](std::int64_t sweeps, double gap) {
            nb::gil_scoped_acquire gil;
            return nb::cast<bool>((*told)(sweeps, gap));
        };
    PathWeights path;
    {
        nb::gil_scoped_release no_gil;
        const Columns x(columns.rows);
        CoordinatePath descent(x, *losses, numbers_of(l1), numbers_of(l2), positive, fit_intercept,
                               PathAim{tol, max_sweeps}, ask, poll_signals);
        descent.start(numbers_of(start), intercept);
        descent.run(numbers_of(strengths), path);
    }
    return {owned(std::move(path.start)),  owned(std::move(path.column)),
            owned(std::move(path.weight)), owned(std::move(path.intercept)),
            owned(std::move(path.gap)),    owned(std::move(path.sweeps))};
}

// Few weights among zeros, shape (k, d). Pages of it that hold no weight are never touched.
nb::ndarray<nb::numpy, double, nb::ndim<2>> spread_weights(Const<std::int64_t> start,
                                                           Const<std::int64_t> column,
                                                           Const<double> weight, std::size_t d) {
    check(start.size() > 0 && column.size() == weight.size(), "one number a column is needed");
    const std::size_t k = start.size() - 1;
    auto* const table = static_cast<double*>(std::calloc(std::max<std::size_t>(1, k * d), 8));
    if (table == nullptr) throw std::bad_alloc();
    const nb::capsule owner(table, [](void* p) noexcept { std::free(p); });
    const std::int64_t first = start.data()[0];
    for (std::size_t lane = 0; lane < k; ++lane)
        for (std::int64_t at = start.data()[lane]; at < start.data()[lane + 1]; ++at) {
            const auto place = static_cast<std::size_t>(at - first);
            check(at >= first && place < column.size(), "weights do not fit");
            const auto j = static_cast<std::size_t>(column.data()[place]);
            check(j < d, "no such column");
            table[lane * d + j] = weight.data()[place];
        }
    return {table, {k, d}, owner};
}

template <class T>
std::span<const T> table_of(const ConstTable<T>& table, std::size_t m, std::size_t k) {
    check(table.shape(0) == m && table.shape(1) == k, "a table has the wrong shape");
    return {table.data(), table.size()};
}

std::tuple<std::int64_t, double> minimise_softmax_model(
    const BoundRows& columns, Const<std::int64_t> chosen, Const<double> l1, Const<double> l2,
    Const<double> c, ConstTable<double> p, ConstTable<double> g, bool fit_intercept,
    ConstTable<std::uint8_t> may, Mutable<double, 2> weights, Mutable<double, 1> intercepts,
    Mutable<double, 2> scores, double aim, std::int64_t max_sweeps, double work,
    std::optional<nb::callable> told) {
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
    const SoftmaxRows rows{n, K, numbers_of(c), table_of(p, K, n), table_of(g, K, n)};
    const ChosenColumns some{{chosen.data(), m}, numbers_of(l1), numbers_of(l2)};
    const std::span<const std::uint8_t> changing = table_of(may, m, K);
    std::function<void()> tell;
    if (told)
        tell = [&] {
            nb::gil_scoped_acquire gil;
            (*told)();
        };
    nb::gil_scoped_release no_gil;
    const Columns x(columns.rows);
    SoftmaxModel model(x, rows, some, fit_intercept, {weights.data(), weights.size()}, changing,
                       {scores.data(), scores.size()}, poll_signals);
    const ModelCost cost = minimise(model, aim, {max_sweeps, work}, tell);
    std::copy(model.offset().begin(), model.offset().end(), intercepts.data());
    return {cost.sweeps, cost.work};
}

}  // namespace

void bind_coordinates(nb::module_& m) {
    m.def("descend_path", &descend_path, nb::arg("columns"), nb::arg("loss"), nb::arg("y"),
          nb::arg("c"), nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("fit_intercept"),
          nb::arg("strengths"), nb::arg("start"), nb::arg("intercept"), nb::arg("tol"),
          nb::arg("max_sweeps"), nb::arg("told").none(),
          "Weights along strengths of a penalty with corners; see certified/coordinate_path.hpp. "
          "Returns where the weights of each strength start, their columns and values, "
          "intercepts, relative gaps as seen, and sweeps.");
    m.def("spread_weights", &spread_weights, nb::arg("start"), nb::arg("column"), nb::arg("weight"),
          nb::arg("n_columns"),
          "A table of weights, one row a model, from those that are not 0, given as by "
          "descend_path.");
    m.def("minimise_softmax_model", &minimise_softmax_model, nb::arg("columns"), nb::arg("chosen"),
          nb::arg("l1"), nb::arg("l2"), nb::arg("c"), nb::arg("p"), nb::arg("g"),
          nb::arg("fit_intercept"), nb::arg("may"), nb::arg("weights"), nb::arg("intercepts"),
          nb::arg("scores"), nb::arg("aim"), nb::arg("max_sweeps"), nb::arg("work"),
          nb::arg("told").none(),
          "The quadratic model of softmax losses with a penalty that has corners; see "
          "certified/softmax_model.hpp. Weights change, intercepts and scores are written: how "
          "these change. Returns sweeps, and work since equations were last solved.");
}
