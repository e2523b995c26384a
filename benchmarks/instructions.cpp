// One call of a kernel on generated data, for callgrind: benchmarks/instructions.py counts the
// instructions inside the call. The data depend on nothing but this file.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/certified.hpp"
#include "kernels/coordinates.hpp"
#include "kernels/gram.hpp"
#include "kernels/moments.hpp"
#include "kernels/online.hpp"
#include "kernels/scores.hpp"

// Without Python there are no signals to poll and no lock to release.
void poll_signals() {}
ReleasedGil::ReleasedGil() : thread_(nullptr) {}
ReleasedGil::~ReleasedGil() = default;

namespace {

constexpr std::int64_t kRows = 2000, kColumns = 40;

// Uniform in [-1, 1).
class Generator {
   public:
    double operator()() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<double>(state_ >> 11) * 0x1p-52 - 1;
    }

   private:
    std::uint64_t state_ = 1;
};

template <class T>
Const<T> view(const std::vector<T>& values) {
    return {values.data(), {values.size()}};
}

template <class T>
Mutable<T, 1> changed(std::vector<T>& values) {
    return {values.data(), {values.size()}};
}

template <class T>
Mutable<T, 2> table(std::vector<T>& values, std::size_t columns) {
    return {values.data(), {values.size() / columns, columns}};
}

// Rows with labels by the sign of a linear score and noise: the classes overlap.
struct Data {
    std::vector<double> values, target;
    std::vector<std::int32_t> index, label;
    std::vector<std::int64_t> start;

    // A tenth of the features are non-zero if the rows are sparse.
    explicit Data(bool is_sparse, std::int64_t n = kRows, std::int64_t d = kColumns) : n(n), d(d) {
        Generator uniform;
        std::vector<double> w(static_cast<std::size_t>(d));
        for (double& each : w) each = uniform();
        start.push_back(0);
        for (std::int64_t i = 0; i < n; ++i) {
            double score = 0.2 * uniform();
            for (std::int64_t j = 0; j < d; ++j) {
                if (is_sparse && uniform() < 0.8) continue;
                values.push_back(uniform());
                index.push_back(static_cast<std::int32_t>(j));
                score += w[static_cast<std::size_t>(j)] * values.back();
            }
            start.push_back(static_cast<std::int64_t>(values.size()));
            target.push_back(score);
            label.push_back(score > 0);
        }
    }

    BoundRows rows() const {
        if (start.back() == n * d) return {separable::Dense<double>{values.data(), n, d}, nullptr};
        return {separable::Csr<double>{values.data(), index.data(), start.data(), n, d}, nullptr};
    }

    std::int64_t n, d;
};

void perceptron() {
    const Data data(true);
    std::vector<double> w(kColumns), b(1);
    Weights weights;
    weights.w = AnyWeights(w.data(), AnyWeights::Type::kDouble, {1, kColumns, 1}, nullptr);
    weights.b = AnyWeights(b.data(), AnyWeights::Type::kDouble, {1, 1}, nullptr);
    kernels::online::Plan plan{};
    plan.label = view(data.label);
    plan.eta = 1;
    plan.fit_intercept = plan.shuffle = true;
    plan.max_epochs = 20;
    plan.pocket_values = -1;
    kernels::online::run_perceptron(data.rows(), weights, plan, 0, 1, 1);
}

// Twenty passes of hinge loss in eight lanes of C.
void dual_descent() {
    const Data data(true);
    constexpr std::size_t kLanes = 8;
    const std::vector<double> C{0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30};
    const std::vector<std::int32_t> targets(kLanes, 1), held_out(kLanes, -1);
    const kernels::certified::LaneTargets lanes("hinge", 0, view(data.label), std::nullopt,
                                                std::nullopt, std::nullopt, view(targets),
                                                view(held_out), view(C));
    const BoundRows rows = data.rows();
    std::vector<double> norms(kRows), rho(kLanes, 0.1), w(kColumns * kLanes), a(kRows * kLanes);
    for (std::size_t i = 0; i < norms.size(); ++i)
        for (std::int64_t k = data.start[i]; k < data.start[i + 1]; ++k)
            norms[i] +=
                data.values[static_cast<std::size_t>(k)] * data.values[static_cast<std::size_t>(k)];
    std::vector<std::uint16_t> by_row(2 * kRows);
    std::vector<double> by_lane(5 * kLanes);
    const AnyWeights weights(w.data(), AnyWeights::Type::kDouble, {kColumns, kLanes}, nullptr);
    const AnyWeights duals(a.data(), AnyWeights::Type::kDouble, {kRows, kLanes}, nullptr);
    for (std::int64_t pass = 0; pass < 20; ++pass)
        kernels::certified::run_pass(lanes, rows, view(norms), view(rho), weights, duals,
                                     std::nullopt, table(by_row, kRows), table(by_lane, kLanes), 0,
                                     pass, 0);
}

// A logistic path with an l1 penalty; rows and columns change places.
void coordinate_path() {
    const Data columns(false, kColumns, kRows);
    const Data other(true);
    std::vector<double> y(kRows), c(kRows, 1.0), l1(kColumns, 1.0), l2(kColumns, 0.0);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = other.label[i] > 0 ? 1 : -1;
    const std::vector<double> Cs{0.01, 0.1, 1}, start(kColumns, 0.0);
    kernels::coordinates::descend_path(columns.rows(), "log_loss", view(y), view(c), view(l1),
                                       view(l2), false, true, view(Cs), view(start), 0, 1e-4, 100,
                                       nullptr);
}

void dense_sums() {
    const Data data(false);
    constexpr std::size_t d = kColumns;
    const std::vector<double> origin(d), scale(d, 1.0);
    std::vector<double> offset(d), scatter(d * d);
    kernels::moments::add_dense(data.rows(), std::nullopt, std::nullopt, std::nullopt, 0, kRows,
                                512, view(origin), view(scale), 0, table(offset, d),
                                table(scatter, d));
}

void scores() {
    const Data data(true);
    constexpr std::size_t kClasses = 3;
    std::vector<double> w(kClasses * kColumns, 0.5), out(kRows * kClasses);
    const std::vector<double> b(kClasses);
    kernels::scores::write_scores(data.rows(), {w.data(), {kClasses, kColumns}}, view(b),
                                  table(out, kClasses));
}

// A lasso path of twenty penalties on a Gram matrix.
void gram_path() {
    const Data data(false);
    constexpr std::size_t d = kColumns, kPenalties = 20;
    std::vector<double> gram(d * d), cross(d), l1(d, 1.0), l2(d);
    double squares = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
        const double* x = data.values.data() + i * d;
        squares += data.target[i] * data.target[i];
        for (std::size_t j = 0; j < d; ++j) {
            cross[j] += x[j] * data.target[i];
            for (std::size_t k = 0; k < d; ++k) gram[j * d + k] += x[j] * x[k];
        }
    }
    std::vector<double> l1_level(kPenalties), l2_level(kPenalties), weights(kPenalties * d);
    for (std::size_t k = 0; k < kPenalties; ++k) l1_level[k] = 1000 / static_cast<double>(k + 1);
    std::vector<double> certificates(kPenalties * 2);
    std::vector<std::int64_t> steps(kPenalties);
    kernels::gram::path({gram.data(), {d, d}}, view(cross), squares, view(l1), view(l2), false,
                        view(l1_level), view(l2_level), 1e-8, 1000, nullptr, table(weights, d),
                        table(certificates, 2), changed(steps));
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const std::map<std::string, std::function<void()>> kernels{{"perceptron", perceptron},
                                                               {"dual_descent", dual_descent},
                                                               {"coordinate_path", coordinate_path},
                                                               {"dense_sums", dense_sums},
                                                               {"scores", scores},
                                                               {"gram_path", gram_path}};
    const auto chosen = kernels.find(n_arguments == 2 ? arguments[1] : "");
    if (chosen == kernels.end()) {
        for (const auto& [name, run] : kernels) std::puts(name.c_str());
        return n_arguments == 1 ? 0 : 2;
    }
    chosen->second();
}
