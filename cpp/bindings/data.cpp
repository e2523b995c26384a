#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/rows.hpp"
#include "separable/data/row_hash.hpp"

namespace nb = nanobind;
using namespace separable;

namespace {

using ConstArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Copies of index arrays whose types differ from those of Csr.
struct ConvertedIndices {
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> indptr;
};

// Memory of rows.
struct RowArrays {
    ConstArray values;
    std::optional<ConstArray> indices, indptr;
    ConvertedIndices converted;
};

// Checks that row starts ascend within the values and columns are in 0 ... n_features - 1.
template <class Index>
void check_csr(const Index* index, const std::int64_t* start, std::int64_t n_rows,
               std::int64_t n_values, std::int64_t n_features) {
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

// The caller's array if it has the type of the kernels, else a copy owned by `converted`.
template <class To>
const To* with_type(const ConstArray& array, std::vector<To>& converted) {
    if (array.dtype() == nb::dtype<To>()) return static_cast<const To*>(array.data());
    const auto copy = [&]<class From>(const From* from) {
        converted.assign(from, from + array.size());
        return converted.data();
    };
    if (array.dtype() == nb::dtype<std::int32_t>())
        return copy(static_cast<const std::int32_t*>(array.data()));
    if (array.dtype() == nb::dtype<std::int64_t>())
        return copy(static_cast<const std::int64_t*>(array.data()));
    throw std::invalid_argument("indices must be int32 or int64");
}

template <class Value>
Csr<Value> make_csr(const ConstArray& values, std::int64_t n_features, const ConstArray& indices,
                    const ConstArray& indptr, ConvertedIndices& converted) {
    if (values.ndim() != 1 || indices.ndim() != 1 || indptr.ndim() != 1 || indptr.size() < 1 ||
        indices.size() != values.size())
        throw std::invalid_argument("values, indices and indptr do not fit together");
    if (indices.dtype() != indptr.dtype())
        throw std::invalid_argument("indices and indptr must have the same dtype");
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
    if (n_features > most)
        throw std::invalid_argument("there are " + std::to_string(n_features) +
                                    " columns; at most " + std::to_string(most) + " are supported");
    const auto n_rows = static_cast<std::int64_t>(indptr.size()) - 1;
    const auto n_values = static_cast<std::int64_t>(values.size());
    const std::int64_t* start = with_type<std::int64_t>(indptr, converted.indptr);
    if (indices.dtype() == nb::dtype<std::int64_t>())  // before indices are narrowed
        check_csr(static_cast<const std::int64_t*>(indices.data()), start, n_rows, n_values,
                  n_features);
    const std::int32_t* index = with_type<std::int32_t>(indices, converted.indices);
    check_csr(index, start, n_rows, n_values, n_features);
    return {static_cast<const Value*>(values.data()), index, start, n_rows, n_features};
}

template <class Value>
AnyRows make_rows(const ConstArray& values, std::int64_t n_features,
                  const std::optional<ConstArray>& indices, const std::optional<ConstArray>& indptr,
                  ConvertedIndices& converted) {
    if (indices && indptr) return make_csr<Value>(values, n_features, *indices, *indptr, converted);
    if (values.ndim() != 2 || static_cast<std::int64_t>(values.shape(1)) != n_features)
        throw std::invalid_argument("dense values must have shape (rows, n_features)");
    return Dense<Value>{static_cast<const Value*>(values.data()),
                        static_cast<std::int64_t>(values.shape(0)), n_features};
}

AnyRows make_any_rows(const ConstArray& values, std::int64_t n_features,
                      const std::optional<ConstArray>& indices,
                      const std::optional<ConstArray>& indptr, ConvertedIndices& converted) {
    if (values.dtype() == nb::dtype<float>())
        return make_rows<float>(values, n_features, indices, indptr, converted);
    if (values.dtype() == nb::dtype<double>())
        return make_rows<double>(values, n_features, indices, indptr, converted);
    throw std::invalid_argument("values must be float32 or float64");
}

using MutableArray = nb::ndarray<nb::c_contig, nb::device::cpu>;

template <class T>
T* writable(std::optional<MutableArray>& array, std::size_t size) {
    if (!array || array->size() != size || array->dtype() != nb::dtype<T>())
        throw std::invalid_argument("the arrays to copy into do not fit");
    return static_cast<T*>(array->data());
}

using Chosen = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig>;

std::span<const std::int64_t> checked(const BoundRows& bound, const Chosen& chosen) {
    const std::span<const std::int64_t> rows(chosen.data(), chosen.size());
    for (const std::int64_t i : rows)
        if (i < 0 || i >= bound.n_rows) throw std::invalid_argument("a chosen row is outside");
    return rows;
}

double largest_norm(const BoundRows& bound, const std::optional<Chosen>& chosen) {
    return std::visit(
        [&](const auto& rows) {
            return chosen ? largest_squared_norm(rows, checked(bound, *chosen))
                          : largest_squared_norm(rows);
        },
        bound.rows);
}

void write_squared_norms(const BoundRows& bound,
                         nb::ndarray<double, nb::ndim<1>, nb::c_contig> out) {
    if (static_cast<std::int64_t>(out.size()) != bound.n_rows)
        throw std::invalid_argument("one number a row is needed");
    std::visit(
        [&](const auto& rows) {
            for (std::int64_t i = 0; i < bound.n_rows; ++i)
                out.data()[i] = sum_of_squares(rows.row(i));
        },
        bound.rows);
}

void write_hashes(const BoundRows& bound,
                  nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig> out) {
    if (static_cast<std::int64_t>(out.size()) != bound.n_rows)
        throw std::invalid_argument("one number a row is needed");
    nb::gil_scoped_release no_gil;
    std::visit(
        [&](const auto& rows) {
            for (std::int64_t i = 0; i < bound.n_rows; ++i) out.data()[i] = hash_row(rows.row(i));
        },
        bound.rows);
}

void copy_rows(const BoundRows& bound, const Chosen& order, MutableArray values,
               std::optional<MutableArray> indices, std::optional<MutableArray> indptr) {
    const auto rows = checked(bound, order);
    std::optional<MutableArray> out(values);
    std::visit(
        [&](const auto& from) {
            std::size_t size = 0;
            for (const std::int64_t i : rows) size += static_cast<std::size_t>(from.row(i).size());
            using Value = decltype(from.row(0).value(0));
            Value* x = writable<Value>(out, size);
            if constexpr (requires { from.index_; }) {
                const auto copy = [&]<class Index>() {
                    Index* j = writable<Index>(indices, size);
                    Index* start = writable<Index>(indptr, rows.size() + 1);
                    nb::gil_scoped_release no_gil;
                    from.copy_rows(rows, x, j, start);
                };
                indices && indices->dtype() == nb::dtype<std::int64_t>()
                    ? copy.template operator()<std::int64_t>()
                    : copy.template operator()<std::int32_t>();
            } else {
                nb::gil_scoped_release no_gil;
                from.copy_rows(rows, x);
            }
        },
        bound.rows);
}

BoundRows bind_rows(ConstArray values, std::int64_t n_features, std::optional<ConstArray> indices,
                    std::optional<ConstArray> indptr) {
    const auto kept = std::make_shared<RowArrays>(
        RowArrays{std::move(values), std::move(indices), std::move(indptr), {}});
    return {make_any_rows(kept->values, n_features, kept->indices, kept->indptr, kept->converted),
            kept};
}

}  // namespace

void bind_data(nb::module_& m) {
    nb::class_<BoundRows>(m, "Rows", "Rows of data, dense or CSR, checked once.")
        .def(
            "__init__",
            [](BoundRows* rows, ConstArray values, std::int64_t n_features,
               std::optional<ConstArray> indices, std::optional<ConstArray> indptr) {
                new (rows) BoundRows(bind_rows(std::move(values), n_features, std::move(indices),
                                               std::move(indptr)));
            },
            nb::arg("values"), nb::arg("n_features"), nb::arg("indices") = nb::none(),
            nb::arg("indptr") = nb::none())
        .def("copy_rows", &copy_rows, nb::arg("order"), nb::arg("values"),
             nb::arg("indices") = nb::none(), nb::arg("indptr") = nb::none(),
             "Write the given rows, in that order, into arrays of the right size.")
        .def("largest_squared_norm", &largest_norm, nb::arg("chosen") = nb::none(),
             "max |x|^2 over the chosen rows, or all.")
        .def("squared_norms", &write_squared_norms, nb::arg("out"),
             "|x|^2 of each row, in which no column occurs twice.")
        .def("hashes", &write_hashes, nb::arg("out"),
             "A 64-bit hash of each row, in which no column occurs twice.")
        .def(
            "has_repeats", [](const BoundRows& rows) { return !rows.repeats().empty(); },
            "Whether a row has a column more than once.")
        .def_ro("n_rows", &BoundRows::n_rows)
        .def_ro("n_features", &BoundRows::n_features);
}
