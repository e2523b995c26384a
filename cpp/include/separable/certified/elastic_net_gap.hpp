// Duality gap of squared errors with an elastic net penalty, at residuals in twice the digits.
//
//   problem   minimise 1/2 mean (y - w.x - b)^2 + l1 |u|_1 + l2/2 |u|^2 + [u >= 0], u = w / unit
//   given     weights w as published, and an intercept b that is moved to its optimum
//   returns   primal and gap at exactly these numbers, a bound on the rounding of the gap, and the
//             dual point z_i = t c_i (r_i - mean r), c_i = weight_i / total
//   steps     1. residuals r, mean r^2 and correlations g = X'Cr of centred columns
//             2. the intercept takes mean r up
//             3. bounds on the errors of scores and of g, where z is rounded to float64
//             4. gap = (1 - t)^2 / 2 mean r^2 + (mean r)^2 / 2 + P(u) + P*(t v) - t u.v, v = g
//             unit,
//                where no term is negative; without l2, t scales v down to l1
//   source    N. Higham, Accuracy and Stability of Numerical Algorithms (2002), 3.1
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "separable/math/double_double.hpp"
#include "separable/moments/residual.hpp"

namespace separable {

struct ElasticNetRows {
    std::int64_t n = 0, d = 0;
    const double *y = nullptr, *weight = nullptr;  // weight may be absent
    bool fit_intercept = true;
    // of columns: means, root mean squares about them, bounds of |x|, and of u, which may be absent
    const double *centre = nullptr, *length = nullptr, *far = nullptr, *unit = nullptr;
    double l1 = 0, l2 = 0;
    bool positive = false;
};

struct ElasticNetGap {
    double intercept = 0, primal = 0, gap = 0, rounding = 0;
};

class ElasticNetCertificate {
   public:
    // Residuals and the dual point have a number a row.
    ElasticNetCertificate(const ElasticNetRows& rows, const double* w, double* residuals,
                          double* dual)
        : rows_(rows),
          w_(w),
          r_(residuals),
          z_(dual),
          g_(static_cast<std::size_t>(rows.d)),
          error_(static_cast<std::size_t>(rows.d)) {
        total_ = static_cast<double>(rows.n);
        if (rows.weight) total_ = sum_rows([&](std::int64_t i) { return rows.weight[i]; });
    }

    // `pass(b, gradient, residuals)` returns the sums of `residual_sums` at w and b.
    template <class Pass>
    ElasticNetGap run(double b, Pass&& pass) {
        ElasticNetGap found;
        residuals_of(b, pass);  // 1, 2
        bound_errors(b);        // 3
        measure(found);         // 4
        found.intercept = b;
        spread_dual();
        return found;
    }

   private:
    static constexpr double kUnit = 0x1p-53;          // relative error of one rounded operation
    static constexpr double kUnitTwice = 0x1p-102;    // of one in twice the digits, with room
    static constexpr double kExtraSteps = 8;          // of a score, beside its sum of products
    static constexpr double kFeasible = 1 - 0x1p-51;  // dual scaling stops short of the bound
    static constexpr int kMaxIntercepts = 3;
    // squared step of the intercept, over the squares, that changes these linearly
    static constexpr double kSmallMove = 1e-12;

    template <class Term>
    static double sum(std::int64_t n, Term&& term) {
        DoubleDouble total;
        for (std::int64_t i = 0; i < n; ++i) total += term(i);
        return total.high;
    }

    // Over all rows, by parts: a sum in twice the digits waits for each addition.
    template <class Term>
    double sum_rows(Term&& term) const {
        constexpr std::int64_t kParts = 8, kBlock = 64;
        DoubleDouble total;
        for (std::int64_t first = 0; first < rows_.n; first += kBlock) {
            const std::int64_t last = std::min(first + kBlock, rows_.n);
            double part[kParts] = {}, block = 0;
            std::int64_t i = first;
            for (; i + kParts <= last; i += kParts)
                for (std::int64_t p = 0; p < kParts; ++p) part[p] += term(i + p);
            for (; i < last; ++i) part[0] += term(i);
            for (const double each : part) block += each;
            total += block;
        }
        return total.high;
    }

    // max(0, x), NaN for NaN.
    static double positive_part(double x) { return x <= 0 ? 0 : x; }

    template <class Pass>
    void residuals_of(double& b, Pass&& pass) {
        for (int turn = 0; turn < kMaxIntercepts; ++turn) {
            const ResidualSums sums = pass(b, g_.data(), r_);
            left_ = sums.intercept / total_, squares_ = sums.squares / total_, moved_ = 0;
            if (!rows_.fit_intercept) {
                left_ = 0;
                return;
            }
            const double best = b + left_;
            moved_ = best - b, b = best;
            if (moved_ * moved_ <= kSmallMove * squares_) {
                for (std::int64_t i = 0; i < rows_.n; ++i) r_[i] -= moved_;
                squares_ -= moved_ * (2 * left_ - moved_);
                left_ = std::abs(left_ - moved_) + 4 * kUnit * std::abs(left_);
                return;
            }
        }
        // one bit of the intercept is more than the residuals can bear
        squares_ = std::numeric_limits<double>::quiet_NaN();
    }

    void bound_errors(double b) {
        const double n = static_cast<double>(rows_.n), d = static_cast<double>(rows_.d);
        double largest = 0, far = 0;
        for (std::int64_t i = 0; i < rows_.n; ++i)
            largest = std::max(largest, std::abs(rows_.y[i]));
        for (std::int64_t j = 0; j < rows_.d; ++j) far += rows_.far[j] * std::abs(w_[j]);
        root_ = std::sqrt(squares_);
        score_error_ = kUnitTwice * (d + kExtraSteps) * (far + std::abs(b) + largest);
        // the intercept moves all rows alike: by Cauchy and Schwarz
        const double each = std::abs(moved_) + left_ + score_error_ + 4 * kUnit * root_;
        for (std::int64_t j = 0; j < rows_.d; ++j) {
            g_[j] /= total_;
            error_[j] = 4 * kUnit * std::abs(g_[j]) +
                        2 * kUnitTwice * (n + kExtraSteps) * root_ * rows_.far[j] +
                        each * rows_.length[j];
            if (rows_.fit_intercept)  // the sum of z is 0 but for rounding
                error_[j] += 4 * kUnit * root_ * std::abs(rows_.centre[j]);
        }
    }

    double unit(std::int64_t j) const { return rows_.unit ? rows_.unit[j] : 1.0; }
    double u(std::int64_t j) const {
        if (!rows_.unit) return w_[j];
        return rows_.unit[j] > 0 ? w_[j] / rows_.unit[j] : 0.0;
    }
    double v(std::int64_t j) const { return g_[j] * unit(j); }

    void measure(ElasticNetGap& found) {
        const double l1 = rows_.l1, l2 = rows_.l2;
        const double size = sum(rows_.d, [&](std::int64_t j) { return std::abs(u(j)); });
        const double square = sum(rows_.d, [&](std::int64_t j) { return u(j) * u(j); });
        found.primal = 0.5 * squares_ + l1 * size + 0.5 * l2 * square;
        found.rounding = 4 * kUnit * l1 * size + 0.5 * left_ * left_ + 8 * kUnit * found.primal +
                         2 * root_ * score_error_;
        if (l2 == 0)
            scale_dual(found);
        else
            with_square(found);
    }

    // The dual point is scaled down until no correlation exceeds l1.
    void scale_dual(ElasticNetGap& found) {
        double most = 0, along = 0;
        for (std::int64_t j = 0; j < rows_.d; ++j) {
            const double held = rows_.positive ? v(j) : std::abs(v(j));
            most = std::max(most, held + error_[j] * unit(j));
            along += u(j) * v(j);
        }
        t_ = most > 0 ? kFeasible * rows_.l1 / most : std::numeric_limits<double>::infinity();
        if (squares_ > 0) t_ = std::min(t_, std::max(0.0, 1 + along / squares_));
        found.gap = 0.5 * (1 - t_) * (1 - t_) * squares_ + sum(rows_.d, [&](std::int64_t j) {
                        return positive_part(rows_.l1 * std::abs(u(j)) - t_ * v(j) * u(j));
                    });
        found.rounding +=
            t_ * sum(rows_.d, [&](std::int64_t j) { return error_[j] * unit(j) * std::abs(u(j)); });
    }

    // The gap has the second derivative 1 / l2 in v.
    void with_square(ElasticNetGap& found) {
        const double l1 = rows_.l1, l2 = rows_.l2;
        DoubleDouble terms, apart, away;
        for (std::int64_t j = 0; j < rows_.d; ++j) {
            double over = positive_part((rows_.positive ? v(j) : std::abs(v(j))) - l1);
            if (!rows_.positive) over = std::copysign(over, v(j));
            const double gap = u(j) - over / l2;
            const double error =
                error_[j] * unit(j) + 4 * kUnit * (std::abs(v(j)) + l2 * std::abs(u(j)));
            terms += positive_part(l1 * std::abs(u(j)) - (v(j) - over) * u(j));
            apart += gap * gap;
            away += error * error;
        }
        t_ = 1;
        found.gap = terms.high + 0.5 * l2 * apart.high;
        const double move = std::sqrt(away.high) / std::sqrt(2 * l2);
        found.rounding += move * (2 * std::sqrt(found.gap) + move);
    }

    void spread_dual() {
        const auto cost = [&](std::int64_t i) { return rows_.weight ? rows_.weight[i] : 1.0; };
        double mean = 0;
        if (rows_.fit_intercept)
            mean = sum_rows([&](std::int64_t i) { return cost(i) * r_[i]; }) / total_;
        const double scale = t_ / total_;
        for (std::int64_t i = 0; i < rows_.n; ++i) z_[i] = (r_[i] - mean) * scale * cost(i);
    }

    const ElasticNetRows& rows_;
    const double* w_;
    double *r_, *z_;
    std::vector<double> g_, error_;  // correlations, and bounds of their errors
    double total_ = 0, left_ = 0, squares_ = 0, moved_ = 0;
    double root_ = 0, score_error_ = 0, t_ = 1;
};

}  // namespace separable
