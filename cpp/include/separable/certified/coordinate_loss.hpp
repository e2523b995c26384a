// The loss of all rows of one model, for coordinate descent on the columns.
//
//   total    sum_i c_i loss(y_i, s_i)
//   derivatives  g_i and h_i: c_i times the first and the second derivative by the score
//   gap      the terms of the rows in the duality gap of scores s and the dual point -scale g,
//            0 <= scale < 1
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "separable/certified/dual_loss.hpp"
#include "separable/math/logarithm.hpp"

namespace separable {

class RowLoss {
   public:
    RowLoss(std::span<const double> y, std::span<const double> c) : y_(y), c_(c) {}
    virtual ~RowLoss() = default;

    virtual double total(const double* s) const = 0;
    virtual void derivatives(const double* s, double* g, double* h) const = 0;
    virtual double gap(const double* s, const double* g, double scale) const = 0;
    // Raises h_i to at least a fraction of its maximum, for losses with discontinuous curvature.
    virtual void raise_curvature(double fraction, double* h) const = 0;
    virtual bool is_quadratic() const = 0;
    virtual bool has_continuous_curvature() const = 0;  // no jumps

   protected:
    std::span<const double> y_, c_;
};

// The term of a row in the gap of its score and the dual point -scale g, g the gradient of its
// loss.
template <class Loss>
struct ScaledGap {
    explicit ScaledGap(double scale) : scale_(scale) {}

    double operator()(double s, double y, double c, double g) const {
        return loss_.gap(s, y, c, -scale_ * (Loss::kRegression ? g : y * g));
    }

   private:
    double scale_;
    Loss loss_;
};

// c KL(scale p || p), p = sigma(-m): log((1 - scale p) / (1 - p)) is log(1 + (1 - scale) e^-m).
template <>
struct ScaledGap<LogisticDual> {
    explicit ScaledGap(double scale)
        : scale_(scale), log_scale_(scale > 0 ? std::log(scale) : 0.0) {}

    double operator()(double s, double y, double c, double) const {
        const double e = exponential(-y * s), u = scale_ * e / (1 + e), z = (1 - scale_) * e;
        const double log = z > 1 ? logarithm(1 + z) : log_one_plus(z > 1 ? 1.0 : z);
        return c * ((1 - u) * log + u * log_scale_);
    }

   private:
    double scale_, log_scale_;
};

template <class Loss>
class RowLossOf final : public RowLoss {
   public:
    using RowLoss::RowLoss;

    double total(const double* s) const override {
        return sum([&](std::size_t i) { return c_[i] * loss_.loss(s[i], y_[i]); });
    }
    void derivatives(const double* s, double* g, double* h) const override {
        const double *y = y_.data(), *c = c_.data();
        for (std::size_t i = 0; i < y_.size(); ++i) loss_.derivatives(s[i], y[i], c[i], g[i], h[i]);
    }
    double gap(const double* s, const double* g, double scale) const override {
        const ScaledGap<Loss> gap_of(scale);
        return sum([&](std::size_t i) {
            const double gap = gap_of(s[i], y_[i], c_[i], g[i]);
            return gap > 0 ? gap : 0.0;
        });
    }
    void raise_curvature(double fraction, double* h) const override {
        if constexpr (std::is_same_v<Loss, SquaredHingeDual>)
            for (std::size_t i = 0; i < y_.size(); ++i) h[i] = std::max(h[i], 2 * fraction * c_[i]);
    }
    bool is_quadratic() const override { return std::is_same_v<Loss, SquaredErrorDual>; }
    bool has_continuous_curvature() const override {
        return !std::is_same_v<Loss, SquaredHingeDual>;
    }

   private:
    // In blocks of rows, so that rounding does not grow with their number and loops vectorize.
    template <class Term>
    double sum(Term term) const {
        constexpr std::size_t kRows = 64;
        double terms[kRows], total = 0;
        for (std::size_t first = 0; first < y_.size(); first += kRows) {
            const std::size_t n = std::min(kRows, y_.size() - first);
            for (std::size_t i = 0; i < n; ++i) terms[i] = term(first + i);
            double part = 0;
            for (std::size_t i = 0; i < n; ++i) part += terms[i];
            total += part;
        }
        return total;
    }
    Loss loss_;
};

}  // namespace separable
