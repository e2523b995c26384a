#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "rows.hpp"

using namespace separable;

namespace {

// Row starts ascend within the values; columns are within 0 ... n_features - 1.
template <class Index>
void check_csr(const Index* index, const Index* start, std::int64_t n_rows, std::int64_t n_values,
               std::int64_t n_features) {
    if (start[0] < 0 || start[n_rows] > n_values)
        throw std::invalid_argument("indptr points outside the values");
    for (std::int64_t i = 0; i < n_rows; ++i)
        if (start[i + 1] < start[i])
            throw std::invalid_argument("indptr descends at row " + std::to_string(i));
    using Unsigned = std::make_unsigned_t<Index>;  // a negative index is then a large one
    Unsigned largest = 0;
    for (std::int64_t k = start[0]; k < start[n_rows]; ++k)
        largest = std::max(largest, static_cast<Unsigned>(index[k]));
    if (start[n_rows] > start[0] && largest >= static_cast<std::uint64_t>(n_features))
        throw std::invalid_argument("a column is outside 0 ... " + std::to_string(n_features - 1));
}

template <class Value, class Index>
Csr<Value, Index> make_csr(const ConstArray& values, const ConstArray& indices,
                           const ConstArray& indptr, std::int64_t n_features) {
    if (values.ndim() != 1 || indices.ndim() != 1 || indptr.ndim() != 1 || indptr.size() < 1 ||
        indices.size() != values.size())
        throw std::invalid_argument("values, indices and indptr do not fit together");
    const auto n_rows = static_cast<std::int64_t>(indptr.size()) - 1;
    const auto* index = static_cast<const Index*>(indices.data());
    const auto* start = static_cast<const Index*>(indptr.data());
    check_csr(index, start, n_rows, static_cast<std::int64_t>(values.size()), n_features);
    return {static_cast<const Value*>(values.data()), index, start, n_rows, n_features};
}

template <class Value>
AnyRows make_rows(const ConstArray& values, std::int64_t n_features,
                  const std::optional<ConstArray>& indices,
                  const std::optional<ConstArray>& indptr) {
    if (!indices || !indptr) {
        if (values.ndim() != 2 || static_cast<std::int64_t>(values.shape(1)) != n_features)
            throw std::invalid_argument("dense values must have shape (rows, n_features)");
        return Dense<Value>{static_cast<const Value*>(values.data()),
                            static_cast<std::int64_t>(values.shape(0)), n_features};
    }
    if (indices->dtype() != indptr->dtype())
        throw std::invalid_argument("indices and indptr must have the same dtype");
    if (indices->dtype() == nb::dtype<std::int32_t>())
        return make_csr<Value, std::int32_t>(values, *indices, *indptr, n_features);
    if (indices->dtype() == nb::dtype<std::int64_t>())
        return make_csr<Value, std::int64_t>(values, *indices, *indptr, n_features);
    throw std::invalid_argument("indices must be int32 or int64");
}

AnyRows make_any_rows(const ConstArray& values, std::int64_t n_features,
                      const std::optional<ConstArray>& indices,
                      const std::optional<ConstArray>& indptr) {
    if (values.dtype() == nb::dtype<float>())
        return make_rows<float>(values, n_features, indices, indptr);
    if (values.dtype() == nb::dtype<double>())
        return make_rows<double>(values, n_features, indices, indptr);
    throw std::invalid_argument("values must be float32 or float64");
}

}  // namespace

BoundRows::BoundRows(ConstArray values, std::int64_t n_features, std::optional<ConstArray> indices,
                     std::optional<ConstArray> indptr)
    : rows(make_any_rows(values, n_features, indices, indptr)),
      n_rows(std::visit([](const auto& r) { return r.n_rows; }, rows)),
      n_features(n_features),
      values_(std::move(values)),
      indices_(std::move(indices)),
      indptr_(std::move(indptr)) {}

void bind_data(nb::module_& m) {
    nb::class_<BoundRows>(m, "Rows", "Rows of data, dense or CSR, checked once.")
        .def(nb::init<ConstArray, std::int64_t, std::optional<ConstArray>,
                      std::optional<ConstArray>>(),
             nb::arg("values"), nb::arg("n_features"), nb::arg("indices") = nb::none(),
             nb::arg("indptr") = nb::none())
        .def(
            "has_duplicates",
            [](const BoundRows& r) {
                return std::visit([](const auto& rows) { return rows.has_duplicates(); }, r.rows);
            },
            "Whether some row has a column twice: |x| is then not the norm of its values.")
        .def(
            "largest_squared_norm",
            [](const BoundRows& r) {
                return std::visit([](const auto& rows) { return largest_squared_norm(rows); },
                                  r.rows);
            },
            "max |x|^2 over the rows.")
        .def_ro("n_rows", &BoundRows::n_rows)
        .def_ro("n_features", &BoundRows::n_features);
}
