#include "kernels/groups.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "separable/certified/block_descent.hpp"
#include "separable/certified/group_step.hpp"
#include "separable/certified/lp_step.hpp"

namespace kernels::groups {

namespace {

// A quadratic with its weights and their negative gradient, checked.
struct Quadratic {
    ConstTable<double> h;
    Mutable<double, 1> u, g;

    void check_shapes() const {
        check(h.shape(0) == h.shape(1), "products are not square");
        check(u.size() == h.shape(0) && g.size() == h.shape(0), "weights do not fit the products");
    }
    std::int64_t d() const { return static_cast<std::int64_t>(h.shape(0)); }
};

std::pair<std::int64_t, double> run(const Quadratic& q, const std::vector<std::int64_t>& start,
                                    auto step, double tol, std::int64_t max_passes) {
    ReleasedGil no_gil;
    const DescentEnd end = block_descent(q.d(), q.h.data(), start, step, tol, max_passes,
                                         q.u.data(), q.g.data(), poll_signals);
    return {end.passes, end.moved};
}

template <class Run>
auto with_power(const std::string& name, Run&& run) {
    if (name == "0") return run.template operator()<Power::kCount>();
    if (name == "1/2") return run.template operator()<Power::kHalf>();
    if (name == "2/3") return run.template operator()<Power::kTwoThirds>();
    if (name == "1") return run.template operator()<Power::kOne>();
    if (name == "4/3") return run.template operator()<Power::kFourThirds>();
    if (name == "3/2") return run.template operator()<Power::kThreeHalves>();
    if (name == "2") return run.template operator()<Power::kTwo>();
    throw std::invalid_argument("unknown power");
}

}  // namespace

std::pair<std::int64_t, double> lp_descent(const std::string& power, ConstTable<double> h,
                                           Const<double> penalty, double tol,
                                           std::int64_t max_passes, Mutable<double, 1> u,
                                           Mutable<double, 1> g) {
    const Quadratic q{h, u, g};
    q.check_shapes();
    check(penalty.size() == u.size(), "penalties do not fit the weights");
    std::vector<std::int64_t> start(u.size() + 1);
    std::iota(start.begin(), start.end(), 0);
    return with_power(power, [&]<Power p>() {
        return run(q, start, LpStep<p>{penalty.data()}, tol, max_passes);
    });
}

std::pair<std::int64_t, double> group_descent(ConstTable<double> h, Const<std::int64_t> start,
                                              Const<double> penalty, Const<double> axes,
                                              Const<double> values, double tol,
                                              std::int64_t max_passes, Mutable<double, 1> u,
                                              Mutable<double, 1> g) {
    const Quadratic q{h, u, g};
    q.check_shapes();
    const std::vector<std::int64_t> at(start.data(), start.data() + start.size());
    check(!at.empty() && at.front() == 0 && at.back() == q.d(), "groups do not fit the weights");
    std::size_t n_axes = 0;
    std::int64_t widest = 1;
    for (std::size_t b = 1; b < at.size(); ++b) {
        const std::int64_t size = at[b] - at[b - 1];
        check(size > 0, "a group has no weights");
        widest = std::max(widest, size);
        n_axes += static_cast<std::size_t>(size * size);
    }
    check(penalty.size() + 1 == at.size(), "penalties do not fit the groups");
    check(axes.size() == n_axes && values.size() == u.size(), "axes do not fit the groups");
    return run(q, at, GroupStep(penalty.data(), axes.data(), values.data(), widest), tol,
               max_passes);
}

}  // namespace kernels::groups
