// Margins of final weights on the training rows.
//
//   problem   check an online fit from data and weights alone, in float64
//   given     rows x_i, labels, weights in lanes
//   returns   for each model the smallest margin, the number of rows with a mistake in some model,
//             and the number of rows whose score is 0 in some model
//   steps     1. s = w.x + b in every model
//             2. one-vs-rest: the margin of a model is y s; argmax: there is one, s_y - max s_k
//             3. a mistake is a margin that is not above 0; with a tie target y', a margin of 0 is
//                right where y = y'
//   source    Novikoff 1962 (the margin that bounds the mistakes)
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

struct Margins {
    std::vector<double> smallest;
    std::int64_t wrong_rows = 0;
    std::int64_t tied_rows = 0;
};

// Blocks of lanes; model m, lane m % width of block m / width, is for class first_class + m.
template <class Lane>
struct MarginModels {
    const typename Lane::T* w;  // [block][feature][lane]
    const typename Lane::T* b;  // [block][lane]
    std::int64_t n_models;
    std::int64_t first_class;
    bool argmax;
    int tie_target;

    bool is_right(double margin, bool own) const {
        return margin > 0 || (margin == 0 && tie_target == (own ? 1 : -1));
    }
};

// Step 2, in place; returns how many margins there are.
template <class T>
std::int64_t scores_to_margins(std::vector<T>& s, std::int64_t n_models, std::int64_t own,
                               bool argmax) {
    if (argmax) {
        T rival = -std::numeric_limits<T>::infinity();
        for (std::int64_t m = 0; m < n_models; ++m)
            if (m != own) rival = std::max(rival, s[m]);
        s[0] = s[own] - rival;
        return 1;
    }
    for (std::int64_t m = 0; m < n_models; ++m)
        if (m != own) s[m] = -s[m];
    return n_models;
}

template <class Lane>
Margins measure_margins(const Products<Lane>& x, std::span<const std::int64_t> rows,
                        std::span<const std::int32_t> label, const MarginModels<Lane>& models,
                        Heartbeat heartbeat) {
    const std::int64_t blocks = (models.n_models + Lane::kWidth - 1) / Lane::kWidth;
    Margins margins;
    margins.smallest.assign(models.argmax ? 1 : models.n_models,
                            std::numeric_limits<double>::infinity());
    std::vector<typename Lane::T> s(blocks * Lane::kWidth);
    for (const std::int64_t i : rows) {
        for (std::int64_t block = 0; block < blocks; ++block) {  // 1
            const auto w = models.w + block * x.n_features * Lane::kWidth;
            const auto b = Lane::load(models.b + block * Lane::kWidth);
            Lane::store(x.dot(i, w) + b, s.data() + block * Lane::kWidth);
        }
        const std::int64_t own = label[i] - models.first_class;
        const std::int64_t n = scores_to_margins(s, models.n_models, own, models.argmax);
        bool right = true, tied = false;
        for (std::int64_t m = 0; m < n; ++m) {
            right &= models.is_right(s[m], m == own);  // 3
            tied |= s[m] == 0;
            margins.smallest[m] = std::min(margins.smallest[m], static_cast<double>(s[m]));
        }
        margins.wrong_rows += !right;
        margins.tied_rows += tied;
        heartbeat.row();
    }
    return margins;
}

}  // namespace separable
