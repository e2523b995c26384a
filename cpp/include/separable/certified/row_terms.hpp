// What rows say about dual points and scores of many models, in double: the parts of a certificate.
//
//   make_feasible    z, cut to the range of its loss and, with an intercept, of sum 0: the values
//                    of the heavier sign are scaled down
//   best_intercepts  the b that minimises sum_i c_i loss(y_i, s_i + b)
//   row_terms        the sums of losses, of dual values and of gaps
//
// z has the sign of the target, z = a y; numbers stand as [row][lane], `stride` apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "separable/certified/dual_loss.hpp"
#include "separable/certified/lane_targets.hpp"

namespace separable {

// A few rows at a time: y, c and numbers of all their lanes side by side, so that compilers make
// vectors of loops over them whatever the number of lanes is.
class TargetTiles {
   public:
    TargetTiles(const RowTargets& rows, const LanePlan& plan, std::int64_t n_rows)
        : rows_(rows), plan_(plan), n_rows_(n_rows), lanes_(plan.size()) {
        const auto room = static_cast<std::size_t>(kRows * lanes_);
        y.resize(room), c.resize(room);
    }

    // visit(first row, rows, numbers): y[0 ... numbers - 1] and c are of these rows.
    template <class Visit>
    void each(Visit visit) {
        for (std::int64_t first = 0; first < n_rows_; first += kRows) {
            const std::int64_t n = std::min(kRows, n_rows_ - first);
            for (std::int64_t i = 0; i < n; ++i) read(first + i, i * lanes_);
            visit(first, n, static_cast<std::size_t>(n * lanes_));
        }
    }

    std::size_t room() const { return y.size(); }
    std::vector<double> y, c;

   private:
    static constexpr std::int64_t kRows = 64;  // not by lanes: sums would have other bits

    void read(std::int64_t row, std::int64_t at) {
        const auto i = static_cast<std::size_t>(row);
        const double weight = rows_.weight.empty() ? 1.0 : rows_.weight[i];
        const std::int32_t fold = rows_.fold.empty() ? -2 : rows_.fold[i];
        double *to_y = y.data() + at, *to_c = c.data() + at;
        for (std::int64_t l = 0; l < lanes_; ++l)
            to_c[l] = plan_.fold[l] == fold ? 0.0 : plan_.strength[l] * weight;
        if (!rows_.number.empty())
            std::fill_n(to_y, lanes_, rows_.number[i]);
        else
            for (std::int64_t l = 0; l < lanes_; ++l)
                to_y[l] = plan_.class_of[l] == rows_.label[i] ? 1.0 : -1.0;
    }

    RowTargets rows_;
    LanePlan plan_;
    std::int64_t n_rows_, lanes_;
};

// Sums by lane: of each tile apart, so that rounding does not grow with the number of rows.
class LaneSums {
   public:
    explicit LaneSums(int lanes) : total(lanes), part_(lanes) {}

    void add(const double* numbers, std::int64_t rows) {
        const std::size_t lanes = total.size();
        std::fill(part_.begin(), part_.end(), 0.0);
        double* part = part_.data();
        for (std::int64_t i = 0; i < rows; ++i, numbers += lanes)
            for (std::size_t l = 0; l < lanes; ++l) part[l] += numbers[l];
        for (std::size_t l = 0; l < lanes; ++l) total[l] += part[l];
    }

    std::vector<double> total;

   private:
    std::vector<double> part_;
};

// Reads rows of a table into the places of a tile.
inline void read_tile(const double* table, std::int64_t stride, std::int64_t first,
                      std::int64_t rows, int lanes, double* to) {
    for (std::int64_t i = 0; i < rows; ++i, to += lanes)
        std::copy_n(table + (first + i) * stride, lanes, to);
}

// How the sum of losses depends on the intercept: its slope is a straight line, smooth, or a
// staircase.
enum class SlopeKind { kStraight, kSmooth, kSteps };

// A loss of many numbers at once, behind one virtual call: the loops over tiles are compiled once,
// not for each loss.
class TileLoss {
   public:
    TileLoss(bool regression, SlopeKind slope, double reach)
        : regression(regression), slope(slope), reach(reach) {}
    virtual ~TileLoss() = default;

    // z, brought into the range in which the dual is finite.
    virtual void cut(std::size_t n, const double* __restrict y, const double* __restrict c,
                     double* __restrict z) const = 0;
    // c loss(s), the dual value and the gap of s and z.
    virtual void terms(std::size_t n, const double* __restrict s, const double* __restrict y,
                       const double* __restrict c, const double* __restrict z,
                       double* __restrict losses, double* __restrict duals,
                       double* __restrict gaps) const = 0;
    virtual void slopes(std::size_t n, const double* __restrict s, const double* __restrict y,
                        const double* __restrict c, double* __restrict first,
                        double* __restrict second) const = 0;
    // Adds the jumps of one row's slope; returns the slope far to the left.
    virtual double jumps(double s, double y, double c, std::vector<Jump>& to) const = 0;

    const bool regression;
    const SlopeKind slope;
    const double reach;  // |b + s| at the best b is not larger for every row; of smooth slopes
};

template <class Loss>
class TileLossOf final : public TileLoss {
   public:
    explicit TileLossOf(const Loss& loss)
        : TileLoss(Loss::kRegression, kind(), far()), loss_(loss) {}

    void cut(std::size_t n, const double* __restrict y, const double* __restrict c,
             double* __restrict z) const override {
        for (std::size_t k = 0; k < n; ++k) {
            const double sign = Loss::kRegression ? 1.0 : y[k];
            z[k] = sign * loss_.cut(c[k], sign * z[k]);
        }
    }
    void terms(std::size_t n, const double* __restrict s, const double* __restrict y,
               const double* __restrict c, const double* __restrict z, double* __restrict losses,
               double* __restrict duals, double* __restrict gaps) const override {
        for (std::size_t k = 0; k < n; ++k) {
            const double a = Loss::kRegression ? z[k] : y[k] * z[k];
            losses[k] = c[k] * loss_.loss(s[k], y[k]);
            duals[k] = loss_.dual(y[k], c[k], a);
            const double gap = loss_.gap(s[k], y[k], c[k], a);
            gaps[k] = gap > 0 ? gap : 0.0;
        }
    }
    void slopes(std::size_t n, const double* __restrict s, const double* __restrict y,
                const double* __restrict c, double* __restrict first,
                double* __restrict second) const override {
        if constexpr (Loss::kSmooth)
            for (std::size_t k = 0; k < n; ++k) loss_.slopes(s[k], y[k], c[k], first[k], second[k]);
    }
    double jumps(double s, double y, double c, std::vector<Jump>& to) const override {
        if constexpr (Loss::kSmooth)
            return 0;
        else
            return loss_.jumps(s, y, c, [&](const Jump& jump) { to.push_back(jump); });
    }

   private:
    static constexpr SlopeKind kind() {
        if (std::is_same_v<Loss, SquaredErrorDual>) return SlopeKind::kStraight;
        return Loss::kSmooth ? SlopeKind::kSmooth : SlopeKind::kSteps;
    }
    static constexpr double far() {
        if constexpr (requires { Loss::kReach; })
            return Loss::kReach;
        else
            return 0;
    }

    Loss loss_;
};

inline void make_feasible(const TileLoss& loss, const RowTargets& rows, const LanePlan& plan,
                          std::int64_t n_rows, std::int64_t stride, bool balance, double* z) {
    const int lanes = plan.size();
    TargetTiles tiles(rows, plan, n_rows);
    LaneSums up(lanes), down(lanes);
    std::vector<double> mine(tiles.room()), above(tiles.room()), below(tiles.room());
    tiles.each([&](std::int64_t first, std::int64_t n, std::size_t numbers) {
        read_tile(z, stride, first, n, lanes, mine.data());
        loss.cut(numbers, tiles.y.data(), tiles.c.data(), mine.data());
        for (std::size_t k = 0; k < numbers; ++k) {
            const double value = mine[k];
            above[k] = value > 0 ? value : 0.0;
            below[k] = value < 0 ? -value : 0.0;
        }
        up.add(above.data(), n), down.add(below.data(), n);
        for (std::int64_t i = 0; i < n; ++i)
            std::copy_n(mine.data() + i * lanes, lanes, z + (first + i) * stride);
    });
    if (!balance) return;
    std::vector<double> keep_up(lanes, 1.0), keep_down(lanes, 1.0);
    for (int l = 0; l < lanes; ++l) {
        const double more = up.total[l], less = down.total[l], least = std::min(more, less);
        if (more > least) keep_up[l] = least / more;
        if (less > least) keep_down[l] = least / less;
    }
    for (std::int64_t i = 0; i < n_rows; ++i)
        for (int l = 0; l < lanes; ++l) {
            double& value = z[i * stride + l];
            value *= value > 0 ? keep_up[l] : keep_down[l];
        }
}

// Newton's method on the slope, kept within a bracket that every step narrows; all lanes at once.
// A step below kSmall leaves an error of its square; any b near the best one proves as much.
inline std::vector<double> smooth_intercepts(const TileLoss& loss, const RowTargets& rows,
                                             const LanePlan& plan, std::int64_t n_rows,
                                             std::int64_t stride, const double* scores) {
    constexpr double kSmall = 1e-8;
    const int lanes = plan.size();
    std::vector<double> low(lanes, std::numeric_limits<double>::infinity()), high(lanes), b(lanes);
    for (int l = 0; l < lanes; ++l) high[l] = -low[l];
    for (std::int64_t i = 0; i < n_rows; ++i)
        for (int l = 0; l < lanes; ++l) {
            low[l] = std::min(low[l], -scores[i * stride + l]);
            high[l] = std::max(high[l], -scores[i * stride + l]);
        }
    for (int l = 0; l < lanes; ++l) {
        low[l] -= loss.reach, high[l] += loss.reach;
        b[l] = std::min(std::max(0.0, low[l]), high[l]);
    }
    TargetTiles tiles(rows, plan, n_rows);
    std::vector<double> s(tiles.room()), first(tiles.room()), second(tiles.room());
    std::vector<bool> done(lanes, false);
    for (int step = 0, left = lanes; step < 200 && left > 0; ++step) {
        LaneSums slope(lanes), curve(lanes);
        tiles.each([&](std::int64_t from, std::int64_t n, std::size_t numbers) {
            for (std::int64_t i = 0; i < n; ++i)
                for (int l = 0; l < lanes; ++l)
                    s[i * lanes + l] = scores[(from + i) * stride + l] + b[l];
            loss.slopes(numbers, s.data(), tiles.y.data(), tiles.c.data(), first.data(),
                        second.data());
            slope.add(first.data(), n), curve.add(second.data(), n);
        });
        for (int l = 0; l < lanes; ++l) {
            if (done[l]) continue;
            (slope.total[l] > 0 ? high : low)[l] = b[l];
            const double newton = b[l] - slope.total[l] / curve.total[l];
            const bool inside = curve.total[l] > 0 && low[l] < newton && newton < high[l];
            const double next = inside ? newton : 0.5 * (low[l] + high[l]);
            const double scale = std::max(std::abs(low[l]), std::abs(high[l]));
            const bool small = inside && std::abs(next - b[l]) <= kSmall * (1 + std::abs(b[l]));
            if (small) b[l] = next;
            if (slope.total[l] == 0 || small || high[l] - low[l] <= 4e-16 * scale)
                done[l] = true, --left;
            else
                b[l] = next;
        }
    }
    return b;
}

// Where the sum of slopes, which are straight lines, crosses 0.
inline std::vector<double> straight_intercepts(const TileLoss& loss, const RowTargets& rows,
                                               const LanePlan& plan, std::int64_t n_rows,
                                               std::int64_t stride, const double* scores) {
    const int lanes = plan.size();
    TargetTiles tiles(rows, plan, n_rows);
    std::vector<double> b(lanes, 0.0), s(tiles.room()), first(tiles.room()), second(tiles.room());
    for (int step = 0; step < 2; ++step) {  // the second one takes away what rounding left
        LaneSums slope(lanes), curve(lanes);
        tiles.each([&](std::int64_t from, std::int64_t n, std::size_t numbers) {
            for (std::int64_t i = 0; i < n; ++i)
                for (int l = 0; l < lanes; ++l)
                    s[i * lanes + l] = scores[(from + i) * stride + l] + b[l];
            loss.slopes(numbers, s.data(), tiles.y.data(), tiles.c.data(), first.data(),
                        second.data());
            slope.add(first.data(), n), curve.add(second.data(), n);
        });
        for (int l = 0; l < lanes; ++l)
            if (curve.total[l] > 0) b[l] -= slope.total[l] / curve.total[l];
    }
    return b;
}

// The place of the jump at which a slope of -need far to the left reaches 0.
inline double crossing(std::vector<Jump>& jumps, double need) {
    auto first = jumps.begin(), last = jumps.end();
    if (first == last) return 0;
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last,
                         [](const Jump& one, const Jump& two) { return one.at < two.at; });
        double left = 0;
        for (auto jump = first; jump != middle; ++jump) left += jump->by;
        if (left >= need)
            last = middle;
        else
            need -= left, first = middle;
    }
    return first->at;
}

inline std::vector<double> stepped_intercepts(const TileLoss& loss, const RowTargets& rows,
                                              const LanePlan& plan, std::int64_t n_rows,
                                              std::int64_t stride, const double* scores) {
    const int lanes = plan.size();
    std::vector<double> b;
    std::vector<Jump> jumps;
    for (int l = 0; l < lanes; ++l) {
        const LanePlan one{plan.class_of.subspan(l, 1), plan.fold.subspan(l, 1),
                           plan.strength.subspan(l, 1)};
        TargetTiles tiles(rows, one, n_rows);
        jumps.clear();
        double slope = 0;
        tiles.each([&](std::int64_t first, std::int64_t, std::size_t numbers) {
            for (std::size_t k = 0; k < numbers; ++k) {
                if (!(tiles.c[k] > 0)) continue;
                const double s = scores[(first + static_cast<std::int64_t>(k)) * stride + l];
                slope += loss.jumps(s, tiles.y[k], tiles.c[k], jumps);
            }
        });
        b.push_back(crossing(jumps, -slope));
    }
    return b;
}

inline std::vector<double> best_intercepts(const TileLoss& loss, const RowTargets& rows,
                                           const LanePlan& plan, std::int64_t n_rows,
                                           std::int64_t stride, const double* scores) {
    switch (loss.slope) {
        case SlopeKind::kStraight:
            return straight_intercepts(loss, rows, plan, n_rows, stride, scores);
        case SlopeKind::kSmooth:
            return smooth_intercepts(loss, rows, plan, n_rows, stride, scores);
        default:
            return stepped_intercepts(loss, rows, plan, n_rows, stride, scores);
    }
}

struct RowTerms {
    std::vector<double> loss, dual, gap;  // [lane]
};

inline RowTerms row_terms(const TileLoss& loss, const RowTargets& rows, const LanePlan& plan,
                          std::int64_t n_rows, std::int64_t stride, const double* z,
                          const double* scores, const std::vector<double>& b) {
    const int lanes = plan.size();
    TargetTiles tiles(rows, plan, n_rows);
    LaneSums losses(lanes), duals(lanes), gaps(lanes);
    std::vector<double> s(tiles.room()), a(tiles.room());
    std::vector<double> one(tiles.room()), two(tiles.room()), three(tiles.room());
    tiles.each([&](std::int64_t first, std::int64_t n, std::size_t numbers) {
        read_tile(z, stride, first, n, lanes, a.data());
        for (std::int64_t i = 0; i < n; ++i)
            for (int l = 0; l < lanes; ++l)
                s[i * lanes + l] = scores[(first + i) * stride + l] + b[l];
        loss.terms(numbers, s.data(), tiles.y.data(), tiles.c.data(), a.data(), one.data(),
                   two.data(), three.data());
        losses.add(one.data(), n), duals.add(two.data(), n), gaps.add(three.data(), n);
    });
    return {losses.total, duals.total, gaps.total};
}

}  // namespace separable
