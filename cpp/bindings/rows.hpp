// The rows a caller passes in, checked once at the boundary, and the arrays that own their memory.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "separable/data/rows.hpp"

namespace nb = nanobind;

using ConstArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Copies of a caller's index arrays that do not have the types of Csr.
struct ConvertedIndices {
    std::vector<std::int32_t> indices;
    std::vector<std::int64_t> indptr;
};

// `portable` has the Python class; the extensions of the CPU levels take its objects.
struct BoundRows {
    BoundRows(ConstArray values, std::int64_t n_features, std::optional<ConstArray> indices,
              std::optional<ConstArray> indptr);

   private:
    ConvertedIndices converted_;

   public:
    separable::AnyRows rows;
    std::int64_t n_rows;
    std::int64_t n_features;

    // The rows that have a column twice, empty if none has; found out once.
    const std::vector<bool>& repeats() const {
        if (!repeats_)
            repeats_ = std::visit(
                [](const auto& each) { return separable::rows_that_repeat(each); }, rows);
        return *repeats_;
    }

   private:
    mutable std::optional<std::vector<bool>> repeats_;
    ConstArray values_;
    std::optional<ConstArray> indices_, indptr_;
};
