// One truncated Newton step of a lane of logistic regression, by conjugate gradients.
//
//   problem  minimise g.p + p'Hp / 2 over steps p, H the Hessian at the weights
//   given    the objective, weights, AA' close to H^-1 as the preconditioner
//   returns  the step, g.p and the squared norm of the residual Hp + g
//   steps    conjugate gradients until the residual is small beside the gradient, the more so the
//            closer the optimum is, or beside the requested gap
//   source   R. Dembo and T. Steihaug, Truncated Newton algorithms for large-scale unconstrained
//            optimization (1983)
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <span>

#include "separable/certified/logistic_objective.hpp"
#include "separable/certified/preconditioned.hpp"

namespace separable {

struct NewtonStep {
    double slope = 0;     // g.p
    double residual = 0;  // the squared norm of Hp + g, without the intercepts
    std::int64_t products = 0;
};

// `kept` is what `LogisticObjective::expand` kept at the weights, with their value and gradient.
template <class Tiles, class T>
NewtonStep truncated_newton_step(LogisticObjective<Tiles>& objective, const LogisticLane& lane,
                                 double C, const Preconditioner& coordinates,
                                 const Vector& gradient, const LineVector<T>& kept, double value,
                                 double residual_tol, std::int64_t max_products,
                                 std::span<double> step, Heartbeat& heartbeat) {
    constexpr double kForcing = 0.1;  // the largest residual, relative to the gradient
    const std::size_t size = coordinates.size();
    Vector left = gradient, in_basis(size), scaled(size), p(size), image(size);
    for (double& each : left) each = -each;
    std::fill(step.begin(), step.end(), 0.0);
    const auto precondition = [&] {
        coordinates.gradient(left.data(), in_basis.data());
        coordinates.direction(in_basis.data(), scaled.data());
        return dot(left, scaled);
    };
    double norm = precondition();
    const double enough = std::min(kForcing * kForcing, norm / value) * norm;
    NewtonStep result;
    result.residual = coordinates.squared_norm(left.data());
    p = scaled;
    while (result.products < max_products && norm > 0) {
        objective.hessian_product(lane, p.data(), C, kept, image.data(), heartbeat);
        ++result.products;
        const double length = norm / dot(p, image);
        if (!std::isfinite(length)) break;
        for (std::size_t i = 0; i < size; ++i) step[i] += length * p[i];
        add(-length, image, left);
        result.residual = coordinates.squared_norm(left.data());
        const double next = precondition();
        if (next <= enough || result.residual <= residual_tol) break;
        for (std::size_t i = 0; i < size; ++i) p[i] = scaled[i] + next / norm * p[i];
        norm = next;
    }
    result.slope = dot(gradient.data(), step.data(), size);
    return result;
}

}  // namespace separable
