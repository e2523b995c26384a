// The loss of all rows of one model, as coordinate descent on the columns sees it.
//
//   total    sum_i c_i loss(y_i, s_i)
//   slopes   g_i and h_i: c_i times the first and the second derivative by the score
//   gap      sum_i of what row i adds to the gap of scores s and the dual point -keep g, for 0 <=
//            keep < 1
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
    virtual void slopes(const double* s, double* g, double* h) const = 0;
    virtual double gap(const double* s, const double* g, double keep) const = 0;
    // h_i at least so much of what it is at most, of losses whose curvature jumps.
    virtual void lift(double share, double* h) const = 0;
    virtual bool is_quadratic() const = 0;
    virtual bool has_steady_curvature() const = 0;  // no jumps

   protected:
    std::span<const double> y_, c_;
};

// What a row adds to the gap of its score and the dual point -keep g, g the slope of its loss.
template <class Loss>
struct ScaledGap {
    explicit ScaledGap(double keep) : keep_(keep) {}

    double operator()(double s, double y, double c, double g) const {
        return loss_.gap(s, y, c, -keep_ * (Loss::kRegression ? g : y * g));
    }

   private:
    double keep_;
    Loss loss_;
};

// c KL(keep p || p), p = sigma(-m): log((1 - keep p) / (1 - p)) is log(1 + (1 - keep) e^-m).
template <>
struct ScaledGap<LogisticDual> {
    explicit ScaledGap(double keep) : keep_(keep), log_keep_(keep > 0 ? std::log(keep) : 0.0) {}

    double operator()(double s, double y, double c, double) const {
        const double e = exponential(-y * s), u = keep_ * e / (1 + e), z = (1 - keep_) * e;
        const double log = z > 1 ? logarithm(1 + z) : log_one_plus(z > 1 ? 1.0 : z);
        return c * ((1 - u) * log + u * log_keep_);
    }

   private:
    double keep_, log_keep_;
};

template <class Loss>
class RowLossOf final : public RowLoss {
   public:
    using RowLoss::RowLoss;

    double total(const double* s) const override {
        return sum([&](std::size_t i) { return c_[i] * loss_.loss(s[i], y_[i]); });
    }
    void slopes(const double* s, double* g, double* h) const override {
        const double *y = y_.data(), *c = c_.data();
        for (std::size_t i = 0; i < y_.size(); ++i) loss_.slopes(s[i], y[i], c[i], g[i], h[i]);
    }
    double gap(const double* s, const double* g, double keep) const override {
        const ScaledGap<Loss> gap_of(keep);
        return sum([&](std::size_t i) {
            const double gap = gap_of(s[i], y_[i], c_[i], g[i]);
            return gap > 0 ? gap : 0.0;
        });
    }
    void lift(double share, double* h) const override {
        if constexpr (std::is_same_v<Loss, SquaredHingeDual>)
            for (std::size_t i = 0; i < y_.size(); ++i) h[i] = std::max(h[i], 2 * share * c_[i]);
    }
    bool is_quadratic() const override { return std::is_same_v<Loss, SquaredErrorDual>; }
    bool has_steady_curvature() const override { return !std::is_same_v<Loss, SquaredHingeDual>; }

   private:
    // A few rows at a time, so that rounding does not grow with their number and loops are vectors.
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
