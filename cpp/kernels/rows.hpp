// The rows a caller passes in, checked once at the boundary.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <variant>
#include <vector>

#include "separable/data/rows.hpp"

// `portable` has the Python class; the extensions of the CPU levels take its objects.
struct BoundRows {
    BoundRows(separable::AnyRows of, std::shared_ptr<const void> owner)
        : rows(of),
          n_rows(std::visit([](const auto& each) { return each.n_rows; }, rows)),
          n_features(std::visit([](const auto& each) { return each.n_features; }, rows)),
          owner_(std::move(owner)) {}

    separable::AnyRows rows;
    std::int64_t n_rows;
    std::int64_t n_features;

    // The rows with duplicate columns, empty if there are none; computed once, by any thread.
    const std::vector<bool>& repeats() const {
        std::call_once(repeats_->once, [this] {
            repeats_->rows = std::visit(
                [](const auto& each) { return separable::rows_that_repeat(each); }, rows);
        });
        return repeats_->rows;
    }

   private:
    struct Repeats {
        std::once_flag once;
        std::vector<bool> rows;
    };
    std::shared_ptr<Repeats> repeats_ = std::make_shared<Repeats>();
    std::shared_ptr<const void> owner_;  // of the memory
};
