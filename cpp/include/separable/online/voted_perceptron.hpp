// The voted perceptron (Freund and Schapire 1999): all the weights of a run vote, none is stored.
//
//   problem   v(x) = sum over k of c_k sign(w_k.x + b_k), with sign(0) = 0 and c_k the number of
//             presentations that w_k survived
//   given     the mistaken rows z_u; for each model the score of its base w_0 at x, the count c_0,
//             and its steps (u_k, step_k, c_k), by which w_k = w_{k-1} + step_k z_{u_k}
//   returns   v(x) of each model and row x, in place of the base scores
//   steps     for each tile of rows x, one a lane:
//             1. p_u = z_u.x, and 1 more with an intercept, for each mistaken row
//             2. s = w_0.x + b_0; v = c_0 sign(s)
//             3. for each step of the model: s += step_k p_{u_k}; v += c_k sign(s)
//   source    Freund and Schapire 1999, "Large margin classification using the perceptron
//             algorithm", section 5 (products with the mistaken rows, as in their kernel form)
//
// Step 1 is most of the work, and is done once for all models. Dense z: a tile of rows stands in
// memory as x[feature][lane] while the z go by. Sparse z: they are kept by columns, so that a
// non-zero of x meets only the z that have its feature.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "separable/data/products.hpp"
#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"
#include "separable/online/epochs.hpp"

namespace separable {

// The steps of all models, one model after the other.
struct Voters {
    std::span<const std::int64_t> row;    // u_k
    std::span<const double> step, count;  // step_k, c_k
    std::span<const std::int64_t> start;  // model m has steps start[m] ... start[m + 1] - 1
    std::span<const double> base_count;   // c_0 of each model
    bool fit_intercept = true;

    std::int64_t n_models() const { return static_cast<std::int64_t>(base_count.size()); }
    double bias() const { return fit_intercept ? 1 : 0; }
};

// Steps 2 and 3 for n rows whose products are p; scores[row][model] hold w_0.x + b_0 before and
// v(x) after. Returns which of the rows overflowed, or -1.
template <class Lane>
std::int64_t count_votes(const Voters& voters, const typename Lane::Score* p, std::int64_t n,
                         double* scores) {
    const std::int64_t n_models = voters.n_models();
    for (std::int64_t model = 0; model < n_models; ++model) {
        auto s = Lane::broadcast(0);
        for (int lane = 0; lane < n; ++lane) Lane::set(s, lane, scores[lane * n_models + model]);
        auto v = Lane::broadcast(voters.base_count[model]) * Lane::sign(s);  // 2
        for (std::int64_t k = voters.start[model]; k < voters.start[model + 1]; ++k) {
            s = s + Lane::broadcast(voters.step[k]) * p[voters.row[k]];  // 3
            v = v + Lane::broadcast(voters.count[k]) * Lane::sign(s);
        }
        for (int lane = 0; lane < n; ++lane) {
            if (!std::isfinite(Lane::get(s, lane))) return lane;  // once so, it stays so
            scores[lane * n_models + model] = Lane::get(v, lane);
        }
    }
    return -1;
}

// Dense mistaken rows. Returns a row whose scores overflow, or -1.
template <class Lane>
std::int64_t vote_in_tiles(const Products<Lane>& mistaken, const Voters& voters,
                           const Products<Lane>& rows, double* scores, Heartbeat heartbeat) {
    std::vector<double> x(static_cast<std::size_t>(rows.n_features * Lane::kWidth), 0.0);
    std::vector<typename Lane::Score> p(static_cast<std::size_t>(mistaken.n_rows));
    for (std::int64_t first = 0; first < rows.n_rows; first += Lane::kWidth) {
        const auto n = std::min<std::int64_t>(Lane::kWidth, rows.n_rows - first);
        for (int lane = 0; lane < n; ++lane) {
            auto one = Lane::broadcast(0);
            Lane::set(one, lane, 1);
            rows.add(first + lane, one, x.data());
        }
        for (std::int64_t u = 0; u < mistaken.n_rows; ++u) {
            p[u] = mistaken.dot(u, x.data()) + Lane::broadcast(voters.bias());  // 1
            heartbeat.row();
        }
        for (int lane = 0; lane < n; ++lane) rows.clear(first + lane, x.data());
        const auto overflow =
            count_votes<Lane>(voters, p.data(), n, scores + first * voters.n_models());
        if (overflow >= 0) return first + overflow;
    }
    return -1;
}

// Sparse mistaken rows by columns: column j has the rows row[start[j] ... start[j + 1] - 1].
struct MistakenColumns {
    std::vector<std::int64_t> start;
    std::vector<std::int32_t> row;
    std::vector<double> value;

    template <RowFormat F>
    explicit MistakenColumns(const F& rows)
        : start(static_cast<std::size_t>(rows.n_features) + 1, 0),
          row(static_cast<std::size_t>(rows.n_values())),
          value(row.size()) {
        const auto visit = [&rows](auto&& each) {
            for (std::int64_t u = 0; u < rows.n_rows; ++u)
                for (std::int64_t k = 0; k < rows.row(u).size(); ++k)
                    each(u, rows.row(u).index(k), rows.row(u).value(k));
        };
        visit([&](std::int64_t, std::int64_t j, double) { ++start[j + 1]; });
        for (std::size_t j = 1; j < start.size(); ++j) start[j] += start[j - 1];
        auto next = start;
        visit([&](std::int64_t u, std::int64_t j, double x) {
            row[next[j]] = static_cast<std::int32_t>(u);
            value[next[j]++] = x;
        });
    }

    // Step 1: p_u += z_u.x for the mistaken rows that share a feature with x.
    template <Row R>
    void add_products(const R& x, double* p) const {
        for (std::int64_t k = 0; k < x.size(); ++k) {
            const double x_j = x.value(k);
            if (x_j == 0) continue;
            const std::int64_t j = x.index(k), end = start[j + 1];
            for (std::int64_t at = start[j]; at < end; ++at) p[row[at]] += x_j * value[at];
        }
    }
};

template <RowFormat F>
std::int64_t vote_by_columns(const MistakenColumns& mistaken, std::int64_t n_mistaken,
                             const Voters& voters, const F& rows, double* scores,
                             Heartbeat heartbeat) {
    std::vector<double> p(static_cast<std::size_t>(n_mistaken));
    for (std::int64_t i = 0; i < rows.n_rows; ++i) {
        std::fill(p.begin(), p.end(), voters.bias());
        mistaken.add_products(rows.row(i), p.data());
        if (count_votes<Single<double>>(voters, p.data(), 1, scores + i * voters.n_models()) >= 0)
            return i;
        heartbeat.row();
    }
    return -1;
}

// w += the sum of step_k z_{u_k}, one after the other: the same bits however the steps are cut.
inline void fold_steps(const Products<Single<double>>& mistaken, std::span<const std::int64_t> row,
                       std::span<const double> step, double* w) {
    for (std::size_t k = 0; k < row.size(); ++k) mistaken.add(row[k], step[k], w);
}

}  // namespace separable
