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

struct BoundRows {
    BoundRows(ConstArray values, std::int64_t n_features, std::optional<ConstArray> indices,
              std::optional<ConstArray> indptr);

    separable::AnyRows rows;
    std::int64_t n_rows;
    std::int64_t n_features;

    // The rows that have a column twice, empty if none has; found out once.
    const std::vector<bool>& repeats() const;

   private:
    mutable std::optional<std::vector<bool>> repeats_;
    ConstArray values_;
    std::optional<ConstArray> indices_, indptr_;
};

void bind_data(nb::module_& m);
void bind_online(nb::module_& m);
void bind_descent(nb::module_& m);
void bind_voted(nb::module_& m);
void bind_moments(nb::module_& m);
void bind_certified(nb::module_& m);
void bind_coordinates(nb::module_& m);
void bind_gram(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_multinomial(nb::module_& m);
void bind_text(nb::module_& m);
void bind_text_hashing(nb::module_& m);
void bind_parsers(nb::module_& m);
void bind_features(nb::module_& m);
void bind_objects(nb::module_& m);
