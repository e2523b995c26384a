#include "kernels/coordinates.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "arrays.hpp"

using namespace kernels::coordinates;

namespace {

using Numbers = Array<double>;

using Counts = Array<std::int64_t>;

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

std::tuple<Counts, Counts, Numbers, Numbers, Numbers, Counts> path(
    const BoundRows& columns, const std::string& loss, Const<double> y, Const<double> c,
    Const<double> l1, Const<double> l2, bool positive, bool fit_intercept, Const<double> Cs,
    Const<double> start, double intercept, double tol, std::int64_t max_sweeps,
    std::optional<nb::callable> callback) {
    Callback call;
    if (callback)
        call = [&](std::int64_t sweeps, double gap) {
            nb::gil_scoped_acquire gil;
            return nb::cast<bool>((*callback)(sweeps, gap));
        };
    PathWeights path = descend_path(columns, loss, y, c, l1, l2, positive, fit_intercept, Cs, start,
                                    intercept, tol, max_sweeps, call);
    return {owned(std::move(path.start)),  owned(std::move(path.column)),
            owned(std::move(path.weight)), owned(std::move(path.intercept)),
            owned(std::move(path.gap)),    owned(std::move(path.sweeps))};
}

std::tuple<std::int64_t, double> softmax_model(
    const BoundRows& columns, Const<std::int64_t> chosen, Const<double> l1, Const<double> l2,
    Const<double> c, ConstTable<double> p, ConstTable<double> g, bool fit_intercept,
    ConstTable<std::uint8_t> may_change, Mutable<double, 2> weights, Mutable<double, 1> intercepts,
    Mutable<double, 2> scores, double tol, std::int64_t max_sweeps, double work,
    std::optional<nb::callable> callback) {
    std::function<void()> call;
    if (callback)
        call = [&] {
            nb::gil_scoped_acquire gil;
            (*callback)();
        };
    return minimise_softmax_model(columns, chosen, l1, l2, c, p, g, fit_intercept, may_change,
                                  weights, intercepts, scores, tol, max_sweeps, work, call);
}

}  // namespace

void bind_coordinates(nb::module_& m) {
    m.def(
        "descend_path", &path, nb::arg("columns"), nb::arg("loss"), nb::arg("y"), nb::arg("c"),
        nb::arg("l1"), nb::arg("l2"), nb::arg("positive"), nb::arg("fit_intercept"), nb::arg("Cs"),
        nb::arg("start"), nb::arg("intercept"), nb::arg("tol"), nb::arg("max_sweeps"),
        nb::arg("callback").none(),
        "The path of an elastic-net penalty; see certified/coordinate_path.hpp. Returns the start "
        "of "
        "the weights of each C, their columns and values, intercepts, relative gaps, and sweeps.");
    m.def("spread_weights", &spread_weights, nb::arg("start"), nb::arg("column"), nb::arg("weight"),
          nb::arg("n_columns"),
          "A table of weights, one row per model, from the non-zero weights of descend_path.");
    m.def("minimise_softmax_model", &softmax_model, nb::arg("columns"), nb::arg("chosen"),
          nb::arg("l1"), nb::arg("l2"), nb::arg("c"), nb::arg("p"), nb::arg("g"),
          nb::arg("fit_intercept"), nb::arg("may_change"), nb::arg("weights"),
          nb::arg("intercepts"), nb::arg("scores"), nb::arg("tol"), nb::arg("max_sweeps"),
          nb::arg("work"), nb::arg("callback").none(),
          "Minimise the quadratic model of softmax losses with an elastic-net penalty; see "
          "certified/softmax_model.hpp. Changes the weights, and writes the changes of intercepts "
          "and scores. Returns sweeps, and work since equations were last solved.");
}
