// The terms of a duality gap that come from the rows, for many models, in double.
//
//   make_feasible    z, projected to the range of its loss and, with an intercept, scaled to sum to
//                    0: the values of the sign with the larger sum are scaled down
//   best_intercepts  the b that minimises sum_i c_i loss(y_i, s_i + b)
//   row_terms        the sums of losses, of dual values and of gaps
//   row_sizes        the largest score, sum |z| and |sum z|
//   gap_errors       what errors of scores, and of the sum of z, may add to the sum of gaps
//
// z has the sign of the target, z = a y; arrays are [row][lane] with the given stride.
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

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Tiles of rows: y and c of all lanes side by side, so that compilers vectorize loops over them for
// any number of lanes.
class TargetTiles {
   public:
    TargetTiles(const RowTargets& rows, const LanePlan& plan, std::int64_t n_rows)
        : rows_(rows), plan_(plan), n_rows_(n_rows), lanes_(plan.size()) {
        const auto capacity = static_cast<std::size_t>(kRows * lanes_);
        y.resize(capacity), c.resize(capacity);
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

    std::size_t capacity() const { return y.size(); }
    std::vector<double> y, c;

   private:
    static constexpr std::int64_t kRows = 64;  // not by lanes: sums would have other bits

    void read(std::int64_t row, std::int64_t at) {
        const auto i = static_cast<std::size_t>(row);
        const double weight = rows_.weight.empty() ? 1.0 : rows_.weight[i];
        const std::int32_t fold = rows_.fold.empty() ? -2 : rows_.fold[i];
        double *to_y = y.data() + at, *to_c = c.data() + at;
        for (std::int64_t l = 0; l < lanes_; ++l)
            to_c[l] = plan_.fold[l] == fold ? 0.0 : plan_.C[l] * weight;
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

// Copies rows of a table into a tile.
inline void read_tile(const double* table, std::int64_t stride, std::int64_t first,
                      std::int64_t rows, int lanes, double* to) {
    for (std::int64_t i = 0; i < rows; ++i, to += lanes)
        std::copy_n(table + (first + i) * stride, lanes, to);
}

// The derivative of a loss by the intercept: linear, smooth, or piecewise constant.
enum class DerivativeKind { kLinear, kSmooth, kPiecewiseConstant };

// A loss of many numbers at once, behind one virtual call: the loops over tiles are compiled once,
// not for each loss.
class TileLoss {
   public:
    TileLoss(bool regression, bool residuals, bool logarithms, DerivativeKind derivative,
             double bracket)
        : regression(regression),
          residuals(residuals),
          logarithms(logarithms),
          derivative(derivative),
          bracket(bracket) {}
    virtual ~TileLoss() = default;

    // The nearest z at which the dual is finite.
    virtual void project(std::size_t n, const double* __restrict y, const double* __restrict c,
                         double* __restrict z) const = 0;
    // c loss(s), the dual value and the gap of s and z.
    virtual void terms(std::size_t n, const double* __restrict s, const double* __restrict y,
                       const double* __restrict c, const double* __restrict z,
                       double* __restrict losses, double* __restrict duals,
                       double* __restrict gaps) const = 0;
    // c loss(s), and the dual value of z.
    virtual void losses(std::size_t n, const double* __restrict s, const double* __restrict y,
                        const double* __restrict c, double* __restrict losses) const = 0;
    virtual void duals(std::size_t n, const double* __restrict y, const double* __restrict c,
                       const double* __restrict z, double* __restrict duals) const = 0;
    // The gaps of z and scores, or residuals y - s, which keep digits if y is large.
    virtual void gaps(std::size_t n, const double* __restrict values, bool are_residuals,
                      const double* __restrict y, const double* __restrict c,
                      const double* __restrict z, double* __restrict gaps) const = 0;
    virtual void derivatives(std::size_t n, const double* __restrict s, const double* __restrict y,
                             const double* __restrict c, double* __restrict first,
                             double* __restrict second) const = 0;
    // Adds the breakpoints of one row; returns the derivative as b goes to -infinity.
    virtual double breakpoints(double s, double y, double c, std::vector<Breakpoint>& to) const = 0;

    const bool regression;
    const bool residuals;   // whether it is a loss of y - s
    const bool logarithms;  // whether its gaps take logarithms
    const DerivativeKind derivative;
    const double bracket;  // bounds |b + s| at the best b for some row; of smooth losses
};

template <class Loss>
class TileLossOf final : public TileLoss {
   public:
    explicit TileLossOf(const Loss& loss)
        : TileLoss(Loss::kRegression, kOfResiduals, Loss::kKeepsMargin, kind(), far()),
          loss_(loss) {}

    void project(std::size_t n, const double* __restrict y, const double* __restrict c,
                 double* __restrict z) const override {
        for (std::size_t k = 0; k < n; ++k) {
            const double sign = Loss::kRegression ? 1.0 : y[k];
            z[k] = sign * loss_.project(c[k], sign * z[k]);
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
    void losses(std::size_t n, const double* __restrict s, const double* __restrict y,
                const double* __restrict c, double* __restrict losses) const override {
        for (std::size_t k = 0; k < n; ++k) losses[k] = c[k] * loss_.loss(s[k], y[k]);
    }
    void duals(std::size_t n, const double* __restrict y, const double* __restrict c,
               const double* __restrict z, double* __restrict duals) const override {
        for (std::size_t k = 0; k < n; ++k)
            duals[k] = loss_.dual(y[k], c[k], Loss::kRegression ? z[k] : y[k] * z[k]);
    }
    void gaps(std::size_t n, const double* __restrict values, bool are_residuals,
              const double* __restrict y, const double* __restrict c, const double* __restrict z,
              double* __restrict gaps) const override {
        for (std::size_t k = 0; k < n; ++k) {
            const double a = Loss::kRegression ? z[k] : y[k] * z[k];
            double gap;
            if constexpr (kOfResiduals)
                gap =
                    loss_.residual_gap(are_residuals ? values[k] : y[k] - values[k], y[k], c[k], a);
            else
                gap = loss_.gap(values[k], y[k], c[k], a);
            gaps[k] = gap > 0 ? gap : 0.0;
        }
    }
    void derivatives(std::size_t n, const double* __restrict s, const double* __restrict y,
                     const double* __restrict c, double* __restrict first,
                     double* __restrict second) const override {
        if constexpr (Loss::kSmooth)
            for (std::size_t k = 0; k < n; ++k)
                loss_.derivatives(s[k], y[k], c[k], first[k], second[k]);
    }
    double breakpoints(double s, double y, double c, std::vector<Breakpoint>& to) const override {
        if constexpr (Loss::kSmooth)
            return 0;
        else
            return loss_.breakpoints(s, y, c,
                                     [&](const Breakpoint& point) { to.push_back(point); });
    }

   private:
    static constexpr bool kOfResiduals =
        requires(const Loss& loss) { loss.residual_gap(1.0, 1.0, 1.0, 1.0); };

    static constexpr DerivativeKind kind() {
        if (std::is_same_v<Loss, SquaredErrorDual>) return DerivativeKind::kLinear;
        return Loss::kSmooth ? DerivativeKind::kSmooth : DerivativeKind::kPiecewiseConstant;
    }
    static constexpr double far() {
        if constexpr (requires { Loss::kBracket; })
            return Loss::kBracket;
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
    std::vector<double> dual_values(tiles.capacity()), above(tiles.capacity()),
        below(tiles.capacity());
    tiles.each([&](std::int64_t first, std::int64_t n, std::size_t numbers) {
        read_tile(z, stride, first, n, lanes, dual_values.data());
        loss.project(numbers, tiles.y.data(), tiles.c.data(), dual_values.data());
        for (std::size_t k = 0; k < numbers; ++k) {
            const double value = dual_values[k];
            above[k] = value > 0 ? value : 0.0;
            below[k] = value < 0 ? -value : 0.0;
        }
        up.add(above.data(), n), down.add(below.data(), n);
        for (std::int64_t i = 0; i < n; ++i)
            std::copy_n(dual_values.data() + i * lanes, lanes, z + (first + i) * stride);
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

// Newton's method on the derivative, within a bracket that every step narrows; all lanes at once.
// A step below kSmall leaves an error of its square, and the gap is stationary in b.
inline std::vector<double> smooth_intercepts(const TileLoss& loss, const RowTargets& rows,
                                             const LanePlan& plan, std::int64_t n_rows,
                                             std::int64_t stride, const double* scores) {
    constexpr double kSmall = 1e-8, kRounding = 4e-16;
    const int lanes = plan.size();
    std::vector<double> low(lanes, std::numeric_limits<double>::infinity()), high(lanes), b(lanes);
    for (int l = 0; l < lanes; ++l) high[l] = -low[l];
    for (std::int64_t i = 0; i < n_rows; ++i)
        for (int l = 0; l < lanes; ++l) {
            low[l] = std::min(low[l], -scores[i * stride + l]);
            high[l] = std::max(high[l], -scores[i * stride + l]);
        }
    for (int l = 0; l < lanes; ++l) {
        low[l] -= loss.bracket, high[l] += loss.bracket;
        b[l] = std::min(std::max(0.0, low[l]), high[l]);
    }
    TargetTiles tiles(rows, plan, n_rows);
    std::vector<double> s(tiles.capacity()), first(tiles.capacity()), second(tiles.capacity());
    std::vector<bool> done(lanes, false);
    for (int step = 0, left = lanes; step < 200 && left > 0; ++step) {
        LaneSums gradient(lanes), curvature(lanes);
        tiles.each([&](std::int64_t from, std::int64_t n, std::size_t numbers) {
            for (std::int64_t i = 0; i < n; ++i)
                for (int l = 0; l < lanes; ++l)
                    s[i * lanes + l] = scores[(from + i) * stride + l] + b[l];
            loss.derivatives(numbers, s.data(), tiles.y.data(), tiles.c.data(), first.data(),
                             second.data());
            gradient.add(first.data(), n), curvature.add(second.data(), n);
        });
        for (int l = 0; l < lanes; ++l) {
            if (done[l]) continue;
            (gradient.total[l] > 0 ? high : low)[l] = b[l];
            const double newton = b[l] - gradient.total[l] / curvature.total[l];
            const bool inside = curvature.total[l] > 0 && low[l] < newton && newton < high[l];
            const double next = inside ? newton : 0.5 * (low[l] + high[l]);
            const double scale = std::max(std::abs(low[l]), std::abs(high[l]));
            const bool small = inside && std::abs(next - b[l]) <= kSmall + kRounding * scale;
            if (small) b[l] = next;
            if (gradient.total[l] == 0 || small || high[l] - low[l] <= kRounding * scale)
                done[l] = true, --left;
            else
                b[l] = next;
        }
    }
    return b;
}

// The zero of the derivative, which is linear in b.
inline std::vector<double> quadratic_intercepts(const TileLoss& loss, const RowTargets& rows,
                                                const LanePlan& plan, std::int64_t n_rows,
                                                std::int64_t stride, const double* scores) {
    const int lanes = plan.size();
    TargetTiles tiles(rows, plan, n_rows);
    std::vector<double> b(lanes, 0.0), s(tiles.capacity()), first(tiles.capacity()),
        second(tiles.capacity());
    for (int step = 0; step < 2; ++step) {  // the second step removes the rounding of the first
        LaneSums gradient(lanes), curvature(lanes);
        tiles.each([&](std::int64_t from, std::int64_t n, std::size_t numbers) {
            for (std::int64_t i = 0; i < n; ++i)
                for (int l = 0; l < lanes; ++l)
                    s[i * lanes + l] = scores[(from + i) * stride + l] + b[l];
            loss.derivatives(numbers, s.data(), tiles.y.data(), tiles.c.data(), first.data(),
                             second.data());
            gradient.add(first.data(), n), curvature.add(second.data(), n);
        });
        for (int l = 0; l < lanes; ++l)
            if (curvature.total[l] > 0) b[l] -= gradient.total[l] / curvature.total[l];
    }
    return b;
}

// The breakpoint at which a derivative of -need as b goes to -infinity reaches 0.
inline double zero_crossing(std::vector<Breakpoint>& breakpoints, double need) {
    auto first = breakpoints.begin(), last = breakpoints.end();
    if (first == last) return 0;
    while (last - first > 1) {
        const auto middle = first + (last - first) / 2;
        std::nth_element(first, middle, last, [](const Breakpoint& one, const Breakpoint& two) {
            return one.at < two.at;
        });
        double left = 0;
        for (auto point = first; point != middle; ++point) left += point->by;
        if (left >= need)
            last = middle;
        else
            need -= left, first = middle;
    }
    return first->at;
}

inline std::vector<double> piecewise_intercepts(const TileLoss& loss, const RowTargets& rows,
                                                const LanePlan& plan, std::int64_t n_rows,
                                                std::int64_t stride, const double* scores) {
    const int lanes = plan.size();
    std::vector<double> b;
    std::vector<Breakpoint> breakpoints;
    for (int l = 0; l < lanes; ++l) {
        const LanePlan one{plan.class_of.subspan(l, 1), plan.fold.subspan(l, 1),
                           plan.C.subspan(l, 1)};
        TargetTiles tiles(rows, one, n_rows);
        breakpoints.clear();
        double gradient = 0;
        tiles.each([&](std::int64_t first, std::int64_t, std::size_t numbers) {
            for (std::size_t k = 0; k < numbers; ++k) {
                if (!(tiles.c[k] > 0)) continue;
                const double s = scores[(first + static_cast<std::int64_t>(k)) * stride + l];
                gradient += loss.breakpoints(s, tiles.y[k], tiles.c[k], breakpoints);
            }
        });
        b.push_back(zero_crossing(breakpoints, -gradient));
    }
    return b;
}

inline std::vector<double> best_intercepts(const TileLoss& loss, const RowTargets& rows,
                                           const LanePlan& plan, std::int64_t n_rows,
                                           std::int64_t stride, const double* scores) {
    switch (loss.derivative) {
        case DerivativeKind::kLinear:
            return quadratic_intercepts(loss, rows, plan, n_rows, stride, scores);
        case DerivativeKind::kSmooth:
            return smooth_intercepts(loss, rows, plan, n_rows, stride, scores);
        default:
            return piecewise_intercepts(loss, rows, plan, n_rows, stride, scores);
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
    std::vector<double> s(tiles.capacity()), a(tiles.capacity());
    std::vector<double> one(tiles.capacity()), two(tiles.capacity()), three(tiles.capacity());
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

struct RowSizes {
    std::vector<double> largest, mass, imbalance;  // [lane]
};

// max |s| of finite scores, sum |z| and |sum z|, rounded once (Neumaier's sum).
inline RowSizes row_sizes(std::int64_t n_rows, std::int64_t lanes, const double* z,
                          const double* scores) {
    const auto size = static_cast<std::size_t>(lanes);
    RowSizes sizes{std::vector<double>(size), std::vector<double>(size), std::vector<double>(size)};
    std::vector<double> sum(size), lost(size);
    for (std::int64_t i = 0; i < n_rows; ++i, z += lanes, scores += lanes)
        for (std::size_t l = 0; l < size; ++l) {
            const double s = std::abs(scores[l]), next = sum[l] + z[l];
            sizes.largest[l] =
                s > sizes.largest[l] && scores[l] != -kInfinite ? s : sizes.largest[l];
            sizes.mass[l] += std::abs(z[l]);
            lost[l] += std::abs(sum[l]) >= std::abs(z[l]) ? (sum[l] - next) + z[l]
                                                          : (z[l] - next) + sum[l];
            sum[l] = next;
        }
    for (std::size_t l = 0; l < size; ++l) sizes.imbalance[l] = std::abs(sum[l] + lost[l]);
    return sizes;
}

struct GapErrors {
    std::vector<double> gap, more, unbalanced;  // [lane]
};

// Steps, for each lane:
//   1. gap: the sum of the gaps of z and scores (or residuals)
//   2. more, of a piecewise linear loss: gaps are convex in the score, so that an error adds at
//   most
//      what it changes at the ends of its range
//   3. unbalanced: the cost of giving z a sum of 0 exactly, by one row of each sign. Gaps are
//   convex
//      in z, so that a small step costs less than its fraction of a step to z / 2. Where gaps take
//      logarithms, the rows of largest |z| alone are tried.
// `error` has a row for each row, or one for all.
inline GapErrors gap_errors(const TileLoss& loss, const RowTargets& rows, const LanePlan& plan,
                            std::int64_t n_rows, const double* z, const double* values,
                            bool are_residuals, const double* error, bool one_error,
                            const double* imbalance) {
    const int lanes = plan.size();
    TargetTiles tiles(rows, plan, n_rows);
    LaneSums gaps(lanes), more(lanes);
    const auto every = static_cast<std::size_t>(lanes);
    std::vector<double> moved(tiles.capacity()), half(tiles.capacity()), here(tiles.capacity()),
        low(tiles.capacity()), high(tiles.capacity());
    std::vector<double> cheapest(2 * every, kInfinite), ends[4];
    for (auto& each : ends) each.assign(2 * every, 0.0);  // values, y, c and z of the largest |z|
    const bool piecewise = loss.derivative == DerivativeKind::kPiecewiseConstant;
    const bool balances =
        std::any_of(imbalance, imbalance + lanes, [](double x) { return x != 0; });
    const auto cost = [&](std::size_t lane, double a, double gap) {
        const double size = std::abs(a), by = 2 * imbalance[lane];
        double& least = cheapest[a > 0 ? lane : lane + every];
        if (size > by && by * gap / size < least) least = by * gap / size;
    };
    tiles.each([&](std::int64_t first, std::int64_t n, std::size_t numbers) {
        const double *v = values + first * lanes, *a = z + first * lanes;
        const double* e = one_error ? error : error + first * lanes;
        const double *y = tiles.y.data(), *c = tiles.c.data();
        loss.gaps(numbers, v, are_residuals, y, c, a, here.data());
        gaps.add(here.data(), n);
        if (piecewise) {
            const auto at = [&](double sign, std::vector<double>& out) {
                for (std::size_t k = 0; k < numbers; ++k)
                    moved[k] = v[k] + sign * e[one_error ? k % every : k];
                loss.gaps(numbers, moved.data(), are_residuals, y, c, a, out.data());
            };
            at(-1, low), at(1, high);
            for (std::size_t k = 0; k < numbers; ++k)
                low[k] = std::max(std::max(low[k], high[k]) - here[k], 0.0);
            more.add(low.data(), n);
        }
        if (balances && loss.logarithms) {
            for (std::size_t k = 0; k < numbers; ++k) {
                const std::size_t end = a[k] > 0 ? k % every : k % every + every;
                if (!(std::abs(a[k]) > std::abs(ends[3][end]))) continue;
                ends[0][end] = v[k], ends[1][end] = y[k], ends[2][end] = c[k], ends[3][end] = a[k];
            }
        } else if (balances) {
            for (std::size_t k = 0; k < numbers; ++k) half[k] = 0.5 * a[k];
            loss.gaps(numbers, v, are_residuals, y, c, half.data(), here.data());
            for (std::size_t k = 0; k < numbers; ++k) cost(k % every, a[k], here[k]);
        }
    });
    if (balances && loss.logarithms) {
        std::vector<double> a(2 * every), gap(2 * every);
        for (std::size_t k = 0; k < 2 * every; ++k) a[k] = 0.5 * ends[3][k];
        loss.gaps(2 * every, ends[0].data(), are_residuals, ends[1].data(), ends[2].data(),
                  a.data(), gap.data());
        for (std::size_t k = 0; k < 2 * every; ++k) cost(k % every, ends[3][k], gap[k]);
    }
    GapErrors errors{gaps.total, more.total, std::vector<double>(every, 0.0)};
    for (std::size_t k = 0; k < 2 * every; ++k)
        if (std::isfinite(cheapest[k]))
            errors.unbalanced[k % every] = std::max(errors.unbalanced[k % every], cheapest[k]);
    for (double& each : errors.more)
        if (!std::isfinite(each)) each = kInfinite;
    return errors;
}

}  // namespace separable
