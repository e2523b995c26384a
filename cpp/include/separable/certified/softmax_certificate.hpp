// Duality gap of multinomial logistic regression at its own probabilities.
//
//   problem  a dual point p near the softmax q of the scores whose class totals are those of the
//            labels: sum_i c_i (1[y_i = k] - p_ik) = 0
//   given    scores of all rows, -inf for absent classes; labels and costs
//   returns  q; then z = c (1[y = k] - p) for p = q (1 + d_k - sum_l q_l d_l), the first-order
//            change of q with intercepts d, and the gap sum_i c_i KL(p_i || q_i)
//   steps    1. q, losses, class totals and the Hessian H in the intercepts; 2. with d from
//            Hd = lacking totals, z and the gap
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "separable/math/exponential.hpp"

namespace separable {

class SoftmaxCertificate {
   public:
    SoftmaxCertificate(std::int64_t n_rows, std::int64_t n_classes, const std::int32_t* label,
                       const double* cost)
        : n_(n_rows), K_(static_cast<std::size_t>(n_classes)), label_(label), cost_(cost) {}

    // Replace scores by q. Returns the sum of c loss; adds class totals c q and the Hessian.
    double expand(double* scores, double* totals, double* hessian) const {
        double loss = 0;
        std::vector<double> e(K_);
        for (std::int64_t i = 0; i < n_; ++i) {
            double* s = scores + static_cast<std::size_t>(i) * K_;
            const auto y = static_cast<std::size_t>(label_[i]);
            double top = s[0];
            for (std::size_t k = 1; k < K_; ++k) top = std::max(top, s[k]);
            for (std::size_t k = 0; k < K_; ++k)
                e[k] = s[k] - top < kFar ? 0.0 : exponential(s[k] - top);
            double others = 0;  // the label apart, which keeps the digits of small losses
            for (std::size_t k = 0; k < K_; ++k) others += k == y ? 0.0 : e[k];
            const double c = cost_[i];
            if (c > 0) {
                const double away = top - s[y];
                loss += c * (away > 0 ? away + std::log(others + e[y]) : std::log1p(others));
            }
            const double inverse = 1.0 / (others + e[y]);
            for (std::size_t k = 0; k < K_; ++k) s[k] = e[k] * inverse;
            if (c == 0) continue;
            for (std::size_t k = 0; k < K_; ++k) {
                const double weighted = c * s[k];
                totals[k] += weighted;
                double* row = hessian + k * K_;
                for (std::size_t l = 0; l < K_; ++l) row[l] -= weighted * s[l];
            }
        }
        for (std::size_t k = 0; k < K_; ++k) hessian[k * K_ + k] += totals[k];
        return loss;
    }

    // Replace q by z. Returns the gap; infinite if a probability would be negative.
    double dual_points(double* q, const double* d) const {
        double gap = 0;
        for (std::int64_t i = 0; i < n_; ++i) {
            double* p = q + static_cast<std::size_t>(i) * K_;
            const auto y = static_cast<std::size_t>(label_[i]);
            const double c = cost_[i];
            double mean = 0, divergence = 0, rest = 0;
            for (std::size_t k = 0; k < K_; ++k) mean += p[k] * d[k];
            for (std::size_t k = 0; k < K_; ++k) {
                const double t = d[k] - mean;
                if (c > 0 && p[k] > 0) divergence += t > -1 ? p[k] * excess(t) : kInfinity;
                p[k] *= 1.0 + t;
                if (k != y) rest += p[k];
            }
            gap += c > 0 ? c * divergence : 0.0;
            for (std::size_t k = 0; k < K_; ++k) p[k] *= -c;
            p[y] = c * rest;  // 1 - p_y without cancellation
        }
        return gap;
    }

   private:
    static constexpr double kFar = -690.0;  // e^kFar is a normal number
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();

    // (1 + t) log(1 + t) - t, without cancellation near 0
    static double excess(double t) {
        if (std::abs(t) < 1e-3) return t * t * (0.5 - t / 6.0 + t * t / 12.0);
        return std::max(0.0, (1.0 + t) * std::log1p(t) - t);
    }

    std::int64_t n_;
    std::size_t K_;
    const std::int32_t* label_;
    const double* cost_;
};

}  // namespace separable
