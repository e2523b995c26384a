#include "kernels/gram.hpp"

#include <algorithm>
#include <cmath>

#include "separable/certified/gram_descent.hpp"

namespace kernels::gram {

namespace {

bool all_finite(const double* numbers, std::int64_t n) {
    return std::all_of(numbers, numbers + n, [](double each) { return std::isfinite(each); });
}

}  // namespace

void path(ConstTable<double> gram, Const<double> cross, double squares, Const<double> l1,
          Const<double> l2, bool positive, Const<double> l1_level, Const<double> l2_level,
          double tol, std::int64_t max_iter, const Callback& callback, Mutable<double, 2> weights,
          Mutable<double, 2> certificates, Mutable<std::int64_t, 1> steps) {
    const auto d = static_cast<std::int64_t>(cross.size());
    const auto n = static_cast<std::int64_t>(l1_level.size());
    const auto fits = [&](const auto& array, std::int64_t size) {
        return static_cast<std::int64_t>(array.size()) == size;
    };
    check(fits(gram, d * d) && static_cast<std::int64_t>(gram.shape(0)) == d && fits(l1, d) &&
              fits(l2, d),
          "columns do not fit");
    check(fits(l2_level, n) && fits(weights, n * d) &&
              static_cast<std::int64_t>(weights.shape(0)) == n && fits(certificates, 2 * n) &&
              static_cast<std::int64_t>(certificates.shape(0)) == n && fits(steps, n),
          "penalty levels do not fit");
    check(all_finite(gram.data(), d * d) && all_finite(cross.data(), d) && std::isfinite(squares) &&
              (n == 0 || all_finite(weights.data(), d)),
          "the sums must be finite");
    const GramProblem problem{d,         gram.data(), cross.data(), squares,
                              l1.data(), l2.data(),   positive};
    ReleasedGil no_gil;
    GramDescent descent(problem, poll_signals);
    bool stopped = false;
    for (std::int64_t k = 0; k < n; ++k) {
        double* w = weights.data() + k * d;
        if (k > 0) std::copy(w - d, w, w);
        const GramFit fit = descent.solve(w, l1_level.data()[k], l2_level.data()[k], tol,
                                          stopped ? 0 : max_iter, stopped ? nullptr : callback);
        stopped = stopped || fit.stopped;
        certificates.data()[2 * k] = fit.primal, certificates.data()[2 * k + 1] = fit.gap;
        steps.data()[k] = fit.steps;
    }
}

}  // namespace kernels::gram
