// Targets y and costs c of the rows in each lane of a block.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace separable {

// The model of each lane.
struct LanePlan {
    std::span<const std::int32_t> class_of;  // +1 for this class, -1 for the rest
    std::span<const std::int32_t> fold;      // rows of this fold are held out; -1: none
    std::span<const double> C;               // inverse of the regularization
    int size() const { return static_cast<int>(C.size()); }
};

// Targets, sample weights and folds of the rows.
struct RowTargets {
    std::span<const std::int32_t> label;  // of classes
    std::span<const double> number;       // of regression; empty: classes
    std::span<const double> weight;       // empty: all 1
    std::span<const std::int32_t> fold;   // empty: none
};

// y and c of one row in every lane; unused lanes have cost 0.
template <class T, int width>
class TargetsInLanes {
   public:
    TargetsInLanes(const RowTargets& rows, const LanePlan& plan) : rows_(rows) {
        std::fill_n(class_of_, width, -1);
        std::fill_n(fold_, width, -1);
        std::fill_n(C_, width, T(0));
        for (int l = 0; l < plan.size(); ++l) {
            class_of_[l] = plan.class_of[l], fold_[l] = plan.fold[l];
            C_[l] = static_cast<T>(plan.C[l]);
        }
    }

    void read(std::int64_t row) {
        const auto i = static_cast<std::size_t>(row);
        const std::int32_t label = rows_.label.empty() ? 0 : rows_.label[i];
        const T number = rows_.number.empty() ? T(0) : static_cast<T>(rows_.number[i]);
        const std::int32_t fold = rows_.fold.empty() ? -2 : rows_.fold[i];
        const T weight = rows_.weight.empty() ? T(1) : static_cast<T>(rows_.weight[i]);
        if (rows_.number.empty())
            for (int l = 0; l < width; ++l) y[l] = class_of_[l] == label ? T(1) : T(-1);
        else
            for (int l = 0; l < width; ++l) y[l] = number;
        for (int l = 0; l < width; ++l) c[l] = fold_[l] == fold ? T(0) : C_[l] * weight;
    }

    alignas(64) T y[width], c[width];

   private:
    RowTargets rows_;
    alignas(64) std::int32_t class_of_[width], fold_[width];
    alignas(64) T C_[width];
};

}  // namespace separable
