// Semismooth Newton method on augmented Lagrangians, for piecewise linear losses.
//
//   problem   minimise 1/2 |w|^2 + sum_i c_i loss(r_i), r_i = y_i - w.x_i - b, b not penalised;
//             hinge: loss = max(0, y r); epsilon-insensitive: max(0, |r| - eps)
//   given     rows, targets, costs (rows of cost 0 do not count), a start w, b and z
//   returns   w, b and a dual point z in its box; the certificate is computed elsewhere
//   steps     0. many rows for each column: start from the solution of every 8th row
//             1. M_i(r) = max_z z r - eps |z| - (z - z_i)^2 / 2 sigma_i over the box of z,
//                sigma_i = c_i / delta, is a smooth bound of the loss around the centre z_i: linear
//                but for a zone of width delta
//             2. Newton steps on 1/2 |w|^2 + sum M_i over w and b. The rows of the zone alone have
//                curvature: I + sum sigma x x', by Cholesky's method in the smaller of columns and
//                rows, or by conjugate gradients
//             3. exact line search: along a step the derivative is a sum over rows
//             4. when the Newton decrement is small beside the gap of the rows, the maximiser z
//                becomes the centre and delta shrinks. The next step keeps the rows of the zone as
//                they are, for those are likely to stay in it
//             5. far from the optimum it stalls, and ends, when steps that do not halve the gap
//                cost more than max_idle steps of an interior point
//   source    X. Li, D. Sun, K.-C. Toh, A highly efficient semismooth Newton augmented Lagrangian
//             method for solving lasso problems, SIAM J. Optim. 28 (2018); R. T. Rockafellar,
//             Augmented Lagrangians and applications of the proximal point algorithm (1976)
//
// Near the optimum about d rows are in the zone, so that a step costs two products with all rows
// and the factor of a d x d matrix; an interior point needs the Gram matrix of all rows each time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "separable/certified/upper_cholesky.hpp"
#include "separable/data/products.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

// Targets of one lane: the rows that count.
struct PiecewiseRows {
    std::vector<std::int64_t> row;
    std::vector<double> y, c, low, high;  // the box of z
    double eps = 0;
    bool regression = false, fit_intercept = true;

    std::size_t size() const { return row.size(); }

    PiecewiseRows every(std::size_t step) const {
        PiecewiseRows part;
        part.eps = eps, part.regression = regression, part.fit_intercept = fit_intercept;
        const double times = static_cast<double>(step);
        for (std::size_t i = 0; i < size(); i += step) part.add(row[i], y[i], times * c[i]);
        return part;
    }

    void add(std::int64_t i, double target, double cost) {
        row.push_back(i), y.push_back(target), c.push_back(cost);
        low.push_back(regression || target < 0 ? -cost : 0.0);
        high.push_back(regression || target > 0 ? cost : 0.0);
    }
};

struct SemismoothOptions {
    double tol = 1e-6;  // relative gap, as estimated here
    std::int64_t max_steps = 200;
    double max_idle = 0;  // work without half the gap, in steps of an interior point; then it ends
    double width = 0;     // of the zone, relative to the unit of residuals; 0: from nothing
    bool rough = false;   // whether an estimate of the error will do, without a dual point
    std::function<bool(std::int64_t, double)> on_step;  // returns whether to stop; or empty
    std::function<void()> poll;
};

struct SemismoothRun {
    std::int64_t steps = 0;
    double gap = std::numeric_limits<double>::infinity();  // relative, an estimate
    double width = 0;                                      // of the zone at the end
    bool stopped = false, stalled = false;
};

class SemismoothNewton {
   public:
    using Vector = LineVector<double>;

    SemismoothNewton(const Products<Single<double>>& x, const PiecewiseRows& rows)
        : x_(x), rows_(rows), n_(rows.size()), d_(static_cast<std::size_t>(x.n_features)) {
        for (Vector* each : {&s_, &r_, &z_, &centre_, &sigma_, &ds_}) each->assign(n_, 0.0);
        for (Vector* each : {&v_, &dw_, &gw_, &mixed_, &solved_})
            each->assign(whole_lines<double>(d_ + 1), 0.0);
        for (std::size_t i = 0; i < n_; ++i) total_cost_ += rows.c[i];
    }

    // w has d numbers; z, of all rows of x, is 0 where no start is known.
    SemismoothRun run(const SemismoothOptions& options, double* w, double& b, double* z) {
        SemismoothRun run;
        double width = options.width > 0 ? options.width : kFirstWidth;
        if (options.width == 0 && n_ >= kSampleEvery * kRowsPerColumn * d_) {
            run.steps = start_on_sample(options, w, b, z);
            width = kSampleWidth;
        }
        w_ = w, b_ = &b;
        for (std::size_t i = 0; i < n_; ++i) {
            const double start = std::clamp(z[rows_.row[i]], rows_.low[i], rows_.high[i]);
            centre_[i] = start;
        }
        for (std::size_t i = 0; i < n_; ++i) s_[i] = x_.dot(rows_.row[i], w_) + b;
        measure_unit();
        set_width(width * unit_);
        iterate(options, run);
        run.width = width_ / unit_;
        if (!best_w_.empty() && !(run.gap <= best_gap_)) restore_best(run);
        for (std::size_t i = 0; i < n_; ++i) z[rows_.row[i]] = z_[i];
        return run;
    }

   private:
    // Of the hinge: all rows start at the border of the zone, so that the first step needs no
    // factor.
    static constexpr double kFirstWidth = 1, kSampleWidth = 0.2;
    static constexpr double kShrink = 0.3;     // delta of a stage over that of the one before
    static constexpr double kDecrement = 0.1;  // over the gap of the rows, at the end of a stage
    static constexpr double kComplementary = 0.3;  // rows_gap over tol that needs no further stage
    static constexpr double kRounding = 1e-17;     // decrement that no step makes smaller
    static constexpr double kLeastWidth = 1e-13;
    static constexpr double kClose = 1e-2;         // relative gap from which no run stalls
    static constexpr double kWorthKeeping = 1e-4;  // relative gap of points that are remembered
    static constexpr double kFlat = 0.1;      // slope at which a line search ends, over the first
    static constexpr double kDamping = 1e-3;  // curvature of b without rows in the zone
    static constexpr std::size_t kSampleEvery = 8, kRowsPerColumn = 20, kGramRows = 64;
    static constexpr double kSampleTol = 1e-3;
    static constexpr std::size_t kMaxFactor = 2000;
    static constexpr double kConjugateTol = 1e-4;
    static constexpr double kUnitRoundoff = 0x1p-53;
    static constexpr double kMaxRounding = 1e-9;  // of a Gram matrix that is updated, over 1

    std::int64_t start_on_sample(const SemismoothOptions& options, double* w, double& b,
                                 double* z) {
        const PiecewiseRows part = rows_.every(kSampleEvery);
        SemismoothOptions rough = options;
        rough.tol = kSampleTol, rough.rough = true;
        const auto run = SemismoothNewton(x_, part).run(rough, w, b, z);
        for (std::size_t i = 0; i < n_; ++i) z[rows_.row[i]] = 0.5 * (rows_.low[i] + rows_.high[i]);
        return run.steps;
    }

    void measure_unit() {
        unit_ = 1;
        if (!rows_.regression) return;
        double sum = 0;
        for (std::size_t i = 0; i < n_; ++i) sum += std::abs(rows_.y[i] - s_[i]);
        unit_ = sum / static_cast<double>(n_) + rows_.eps;
        if (!(unit_ > 0)) unit_ = 1;
    }

    void set_width(double width) {
        width_ = width;
        for (std::size_t i = 0; i < n_; ++i) sigma_[i] = rows_.c[i] / width;
    }

    // 1: the maximiser z for a residual r.
    double maximiser(std::size_t i, double r) const {
        return rows_.eps > 0 ? maximiser<true>(i, r) : maximiser<false>(i, r);
    }
    template <bool band>
    double maximiser(std::size_t i, double r) const {
        double q = centre_[i] + sigma_[i] * r;
        if constexpr (band) {
            const double most = sigma_[i] * rows_.eps;
            q -= std::min(std::max(q, -most), most);
        }
        return std::min(std::max(q, rows_.low[i]), rows_.high[i]);
    }

    bool is_inside(std::size_t i, double z) const {
        return z > rows_.low[i] && z < rows_.high[i] && (rows_.eps == 0 || z != 0);
    }

    // z, v = X'z, gradients, the zone and the gap at the scores of the moment.
    void evaluate() {
        double loss = 0, gap = 0, sum = 0;
        zone_.clear();
        for (std::size_t i = 0; i < n_; ++i) {
            r_[i] = rows_.y[i] - s_[i];
            ds_[i] = maximiser(i, r_[i]);
        }
        for (std::size_t i = 0; i < n_; ++i) {
            const double r = r_[i], z = ds_[i], c = rows_.c[i];
            if (z != z_[i]) x_.add(rows_.row[i], z - z_[i], v_.data());
            z_[i] = z;
            sum += z;
            if (is_inside(i, z)) zone_.push_back(i);
            if (rows_.regression) {
                const double size = std::abs(r), spent = std::abs(z), over = size - rows_.eps;
                loss += over > 0 ? c * over : 0;
                gap += (over > 0 ? (c - spent) * over : -spent * over) +
                       (r * z >= 0 ? 0.0 : 2 * spent * size);
            } else {
                const double left = rows_.y[i] * r, a = rows_.y[i] * z;
                loss += left > 0 ? c * left : 0;
                gap += left > 0 ? (c - a) * left : -a * left;
            }
        }
        gb_ = rows_.fit_intercept ? sum : 0;
        double norm = 0, away = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            gw_[j] = v_[j] - w_[j];
            norm += w_[j] * w_[j], away += gw_[j] * gw_[j];
        }
        primal_ = loss + 0.5 * norm;
        rows_gap_ = gap;
        gap_ = gap + 0.5 * away + std::abs(gb_) * unit_;
    }

    void keep_best() {
        best_w_.assign(w_, w_ + d_);
        best_z_ = z_;
        best_b_ = *b_, best_width_ = width_, best_gap_ = relative_gap();
    }
    void restore_best(SemismoothRun& run) {
        std::copy(best_w_.begin(), best_w_.end(), w_);
        z_ = best_z_;
        *b_ = best_b_, run.width = best_width_ / unit_, run.gap = best_gap_;
    }

    double relative_gap() const { return primal_ > 0 ? gap_ / primal_ : 0; }

    void iterate(const SemismoothOptions& options, SemismoothRun& run) {
        bool predicts = false;
        int idle = 0;
        double worked = 0, most_work = options.max_idle * interior_cost(),
               best = std::numeric_limits<double>::infinity();
        while (run.steps < options.max_steps) {
            evaluate();
            run.gap = relative_gap();
            idle = run.gap < 0.5 * best ? 0 : idle + 1;
            if (idle == 0) worked = work_;
            if (best <= kNearRounding && idle > kMostIdle) return;
            if (run.gap < best) {
                best = run.gap;
                if (best <= kWorthKeeping) keep_best();
            }
            if (!std::isfinite(gap_) || run.gap <= options.tol) return;
            run.stalled = best > kClose && work_ - worked > most_work;
            if (run.stalled) return;
            if (predicts) zone_ = kept_, unclip();
            const double decrement = direction();
            if (options.rough && decrement + rows_gap_ <= options.tol * primal_) return;
            const double enough = rows_gap_ > kComplementary * options.tol * primal_
                                      ? kDecrement * rows_gap_
                                      : kRounding * primal_;
            if (!predicts && decrement <= enough) {
                if (width_ <= kLeastWidth * unit_) return;
                kept_ = zone_;
                centre_ = z_;
                set_width(kShrink * width_);
                predicts = !kept_.empty();
                if (++stages_ > kMaxStages) return;
                continue;
            }
            ++run.steps;
            options.poll();
            if (options.on_step && options.on_step(run.steps, best)) {
                run.stopped = true;
                return;
            }
            const bool moved = search(predicts, decrement);
            if (!predicts && !moved) return;
            predicts = false;
        }
    }

    // The gradient as if the rows of the zone were not in a box.
    void unclip() {
        for (const std::size_t i : zone_) {
            double q = centre_[i] + sigma_[i] * r_[i];
            if (rows_.eps > 0) q -= (centre_[i] > 0 ? 1.0 : -1.0) * sigma_[i] * rows_.eps;
            const double more = q - z_[i];
            if (more == 0) continue;
            x_.add(rows_.row[i], more, gw_.data());
            if (rows_.fit_intercept) gb_ += more;
        }
    }

    // ------------------------------------------------------------------ 2: the Newton step

    double direction() {
        damping_ = mixed_sum_ = kDamping * std::abs(gb_) / unit_;
        std::fill(mixed_.begin(), mixed_.end(), 0.0);
        for (const std::size_t i : zone_) {
            mixed_sum_ += sigma_[i];
            if (rows_.fit_intercept) x_.add(rows_.row[i], sigma_[i], mixed_.data());
        }
        if (prefers_conjugate_gradients())
            conjugate_gradients();
        else
            factored();
        double decrement = gb_ * db_;
        for (std::size_t j = 0; j < d_; ++j) decrement += gw_[j] * dw_[j];
        return 0.5 * decrement;
    }

    // Multiplications of a factor, and of one step of conjugate gradients, which reads rows twice.
    double factor_cost(std::size_t rows) const {
        const double d = static_cast<double>(d_), m = static_cast<double>(rows);
        const double less = std::min(d, m), gram = is_sparse() ? 8 * less * less : m * d * less / 2;
        return gram + less * less * less / 6;
    }
    // The same by columns, if so many rows enter or leave the zone.
    double column_cost(std::size_t changes) const {
        const double d = static_cast<double>(d_), m = static_cast<double>(changes);
        const double row = is_sparse() ? sparse_row() : d;
        return m * row * row / 2 + d * d * d / 6;
    }
    // Numbers of a sparse row, at the cost of one by one.
    double sparse_row() const {
        const double rows = std::max(1.0, static_cast<double>(x_.n_rows));
        return kScattered * static_cast<double>(x_.n_values) / rows;
    }
    // A step of an interior point: calls from Python, products with all rows, and their factor.
    double interior_cost() const {
        return kInteriorStep + kInteriorValue * static_cast<double>(x_.n_values) + factor_cost(n_);
    }
    double conjugate_cost() const {
        const double rows = std::max(1.0, static_cast<double>(x_.n_rows));
        const double numbers = static_cast<double>(zone_.size() * x_.n_values) / rows;
        return kConjugateCost * (2 * numbers + 4 * static_cast<double>(d_));
    }
    bool prefers_conjugate_gradients() const {
        if (std::min(zone_.size(), d_) > kMaxFactor) return true;
        return !is_hard_ && factor_cost(zone_.size()) > kUsualSteps * conjugate_cost();
    }
    static constexpr double kScattered = 4;
    static constexpr double kConjugateCost = 10, kUsualSteps = 100;
    static constexpr double kInteriorStep = 5e6, kInteriorValue = 100;  // read off w8a
    static constexpr double kNearRounding =
        1e-11;                           // relative gap from which steps may lead nowhere
    static constexpr int kMostIdle = 8;  // steps there without half the gap
    static constexpr int kMaxStages = 80;

    // (dw, db) from solutions with the matrix of the columns alone.
    void border() {
        if (!rows_.fit_intercept) {
            db_ = 0;
            return;
        }
        double with_right = 0, with_mixed = 0;
        for (std::size_t j = 0; j < d_; ++j) {
            with_right += mixed_[j] * dw_[j];
            with_mixed += mixed_[j] * solved_[j];
        }
        const double corner = std::max(mixed_sum_ - with_mixed, 1e-14 * mixed_sum_);
        db_ = corner > 0 ? (gb_ - with_right) / corner : 0;  // no row in the zone, and no gradient
        for (std::size_t j = 0; j < d_; ++j) dw_[j] -= db_ * solved_[j];
    }

    void factored() {
        const std::size_t m = zone_.size();
        const double d = static_cast<double>(d_);
        const bool is_wide = m < d_ && factor_cost(m) < column_cost(changed_rows()) + d * d;
        work_ += factor_cost(m);
        if (is_wide)
            by_rows();
        else
            by_columns();
        border();
    }

    // G = sum of c x x' over the zone. Rows that entered or left it since the last sum are added or
    // taken away, if they are fewer than the zone has, and if their rounding is small beside I.
    void update_gram() {
        const std::size_t changes = changed_rows();
        if (gram_.size() != d_ || changes >= zone_.size() || is_rounded()) {
            gram_.resize(d_);
            removed_ = 0, n_in_gram_ = 0;
            in_gram_.assign(n_, false);
            add_to_gram(zone_, true);
        } else if (changes > 0) {
            entered_.clear(), left_.clear();
            in_zone_.assign(n_, false);
            for (const std::size_t i : zone_) {
                in_zone_[i] = true;
                if (!in_gram_[i]) entered_.push_back(i);
            }
            for (std::size_t i = 0; i < n_; ++i)
                if (in_gram_[i] && !in_zone_[i]) {
                    left_.push_back(i);
                    removed_ += rows_.c[i] * x_.squared_norm(rows_.row[i]);
                }
            add_to_gram(entered_, true);
            add_to_gram(left_, false);
        }
    }
    bool is_rounded() const { return kUnitRoundoff * removed_ > kMaxRounding * width_; }

    // How many rows enter or leave the Gram matrix, or are in it if it is made afresh.
    std::size_t changed_rows() const {
        if (gram_.size() != d_ || is_rounded()) return zone_.size();
        std::size_t same = 0;
        for (const std::size_t i : zone_) same += in_gram_[i];
        return std::min(zone_.size(), zone_.size() + n_in_gram_ - 2 * same);
    }

    void add_to_gram(const std::vector<std::size_t>& rows, bool enters) {
        for (const std::size_t i : rows) in_gram_[i] = enters;
        n_in_gram_ = enters ? n_in_gram_ + rows.size() : n_in_gram_ - rows.size();
        if (is_sparse()) {
            NonZeros<double> row;
            for (const std::size_t i : rows) {
                x_.non_zeros(rows_.row[i], row);
                for (std::size_t k = 0; k < row.size; ++k) {
                    const double by = (enters ? rows_.c[i] : -rows_.c[i]) * row.value[k];
                    for (std::size_t l = 0; l < row.size; ++l)
                        if (row.index[l] >= row.index[k])
                            gram_.at(static_cast<std::size_t>(row.index[k]),
                                     static_cast<std::size_t>(row.index[l])) += by * row.value[l];
                }
            }
            return;
        }
        const std::size_t stride = gram_.stride();
        for (std::size_t first = 0; first < rows.size(); first += kGramRows) {
            const std::size_t many = std::min(kGramRows, rows.size() - first);
            packed_.assign(many * stride, 0.0);
            for (std::size_t k = 0; k < many; ++k) {
                const std::size_t i = rows[first + k];
                x_.add(rows_.row[i], std::sqrt(rows_.c[i]), packed_.data() + k * stride);
            }
            if (enters)
                gram_.add_gram(packed_.data(), many, stride);
            else
                gram_.subtract_gram(packed_.data(), many, stride);
        }
    }

    void by_columns() {
        update_gram();
        factor_.assign_scaled(gram_, 1.0 / width_);
        factor_.factor();
        std::copy_n(gw_.begin(), d_, dw_.begin());
        std::copy_n(mixed_.begin(), d_, solved_.begin());
        factor_.solve(dw_.data());
        if (rows_.fit_intercept) factor_.solve(solved_.data());
    }

    // Woodbury's identity: (I + A'A)^-1 = I - A'(I + AA')^-1 A.
    void by_rows() {
        const std::size_t m = zone_.size();
        factor_.resize(m);
        const std::size_t stride = factor_.stride();
        if (m > 0 && is_sparse()) {
            Vector spread(d_, 0.0);
            for (std::size_t k = 0; k < m; ++k) {
                const double root = std::sqrt(sigma_[zone_[k]]);
                x_.add(rows_.row[zone_[k]], root, spread.data());
                for (std::size_t l = k; l < m; ++l)
                    factor_.at(k, l) =
                        std::sqrt(sigma_[zone_[l]]) * x_.dot(rows_.row[zone_[l]], spread.data());
                x_.clear(rows_.row[zone_[k]], spread.data());
            }
        } else if (m > 0) {
            line_.assign(d_, 0.0);
            packed_.assign(kGramRows * stride, 0.0);
            rows_packed_.assign(m * d_, 0.0);
            for (std::size_t k = 0; k < m; ++k)
                x_.add(rows_.row[zone_[k]], std::sqrt(sigma_[zone_[k]]),
                       rows_packed_.data() + k * d_);
            for (std::size_t first = 0; first < d_; first += kGramRows) {
                const std::size_t many = std::min(kGramRows, d_ - first);
                for (std::size_t k = 0; k < m; ++k)
                    for (std::size_t j = 0; j < many; ++j)
                        packed_[j * stride + k] = rows_packed_[k * d_ + first + j];
                factor_.add_gram(packed_.data(), many, stride);
            }
        }
        for (std::size_t k = 0; k < m; ++k) factor_.at(k, k) += 1.0;
        factor_.factor();
        small_.assign(whole_lines<double>(m), 0.0);
        woodbury(gw_, dw_);
        if (rows_.fit_intercept) woodbury(mixed_, solved_);
    }

    void woodbury(const Vector& right, Vector& out) {
        const std::size_t m = zone_.size();
        for (std::size_t k = 0; k < m; ++k)
            small_[k] = std::sqrt(sigma_[zone_[k]]) * x_.dot(rows_.row[zone_[k]], right.data());
        factor_.solve(small_.data());
        std::copy_n(right.begin(), d_, out.begin());
        for (std::size_t k = 0; k < m; ++k)
            x_.add(rows_.row[zone_[k]], -std::sqrt(sigma_[zone_[k]]) * small_[k], out.data());
    }

    // Conjugate gradients on weights and intercept, with the diagonal as preconditioner.
    void conjugate_gradients() {
        const std::size_t size = d_ + 1;
        const bool with_b = rows_.fit_intercept;
        diagonal_.assign(size, 1.0);
        NonZeros<double> row;
        for (const std::size_t i : zone_) {
            x_.non_zeros(rows_.row[i], row);
            for (std::size_t k = 0; k < row.size; ++k)
                diagonal_[static_cast<std::size_t>(row.index[k])] +=
                    sigma_[i] * row.value[k] * row.value[k];
        }
        diagonal_[d_] = with_b && mixed_sum_ > 0 ? mixed_sum_ : 1.0;
        Vector left(size), p(size), image(size), at(size, 0.0);
        std::copy_n(gw_.begin(), d_, left.begin());
        left[d_] = gb_;
        double rho = 0;
        for (std::size_t j = 0; j < size; ++j) {
            p[j] = left[j] / diagonal_[j];
            rho += left[j] * p[j];
        }
        const double enough = kConjugateTol * kConjugateTol * rho;
        const double most = std::clamp(factor_cost(zone_.size()) / conjugate_cost(), 250.0, 4000.0);
        const int most_steps = static_cast<int>(most);
        int step = 0;
        for (; step < most_steps && rho > enough && rho > 0; ++step) {
            std::copy_n(p.begin(), size, image.begin());
            image[d_] = with_b ? (mixed_sum_ - zone_sigma()) * p[d_] : p[d_];
            for (const std::size_t i : zone_) {
                const double by =
                    sigma_[i] * (x_.dot(rows_.row[i], p.data()) + (with_b ? p[d_] : 0.0));
                x_.add(rows_.row[i], by, image.data());
                if (with_b) image[d_] += by;
            }
            double curved = 0;
            for (std::size_t j = 0; j < size; ++j) curved += p[j] * image[j];
            const double length = rho / curved;
            if (!std::isfinite(length)) break;
            double next = 0;
            for (std::size_t j = 0; j < size; ++j) {
                at[j] += length * p[j];
                left[j] -= length * image[j];
                next += left[j] * left[j] / diagonal_[j];
            }
            for (std::size_t j = 0; j < size; ++j)
                p[j] = left[j] / diagonal_[j] + next / rho * p[j];
            rho = next;
        }
        work_ += step * conjugate_cost();
        is_hard_ = is_hard_ || (step == most_steps && std::min(zone_.size(), d_) <= kMaxFactor);
        std::copy_n(at.begin(), d_, dw_.begin());
        db_ = with_b ? at[d_] : 0;
    }

    double zone_sigma() const { return mixed_sum_ - damping_; }

    bool is_sparse() const { return x_.n_values < x_.n_rows * x_.n_features / 4; }

    // ------------------------------------------------------------------ 3: the line search

    double slope(double t) const {
        return t * step_norm_ + step_along_ - (rows_.eps > 0 ? along<true>(t) : along<false>(t));
    }

    // The sum of z ds at t.
    template <bool band>
    double along(double t) const {
        constexpr std::size_t P = 4;
        double partial[P] = {};
        std::size_t i = 0;
        for (; i + P <= n_; i += P)
            for (std::size_t p = 0; p < P; ++p)
                partial[p] += maximiser<band>(i + p, r_[i + p] - t * ds_[i + p]) * ds_[i + p];
        for (; i < n_; ++i) partial[0] += maximiser<band>(i, r_[i] - t * ds_[i]) * ds_[i];
        return (partial[0] + partial[1]) + (partial[2] + partial[3]);
    }

    double value(double t) const {
        double sum = 0.5 * t * t * step_norm_ + t * step_along_;
        for (std::size_t i = 0; i < n_; ++i) {
            const double r = r_[i] - t * ds_[i], z = maximiser(i, r), away = z - centre_[i];
            sum += z * r - rows_.eps * std::abs(z) - away * away / (2 * sigma_[i]);
        }
        return sum;
    }

    // Moves along the step; returns whether it did.
    bool search(bool predicts, double decrement) {
        step_norm_ = step_along_ = 0;
        for (std::size_t j = 0; j < d_; ++j)
            step_norm_ += dw_[j] * dw_[j], step_along_ += dw_[j] * w_[j];
        for (std::size_t i = 0; i < n_; ++i) ds_[i] = x_.dot(rows_.row[i], dw_.data()) + db_;
        const double first = predicts ? slope(0) : -2 * decrement, last = slope(1);
        double t = 1;
        if (predicts && !(first < 0 && last <= 0.5 * -first)) {
            if (!(value(1) < value(0))) return false;
        } else if (!(first < 0)) {
            return false;
        } else if (last > kFlat * -first) {
            t = flat_point(first, last);
        }
        if (!(t > 0) || !std::isfinite(t)) return false;
        for (std::size_t j = 0; j < d_; ++j) w_[j] += t * dw_[j];
        *b_ += t * db_;
        for (std::size_t i = 0; i < n_; ++i) s_[i] += t * ds_[i];
        return true;
    }

    // Secant steps and bisections between slopes of unlike sign.
    double flat_point(double low_slope, double high_slope) const {
        const double enough = kFlat * -low_slope;
        double low = 0, high = 1, t = 1;
        for (int turn = 0; turn < 40; ++turn) {
            t = turn % 3 == 2 ? 0.5 * (low + high)
                              : low - low_slope * (high - low) / (high_slope - low_slope);
            const double here = slope(t);
            if (std::abs(here) < enough) break;
            (here > 0 ? high : low) = t;
            (here > 0 ? high_slope : low_slope) = here;
        }
        return t;
    }

    const Products<Single<double>>& x_;
    const PiecewiseRows& rows_;
    std::size_t n_, d_;
    double total_cost_ = 0, unit_ = 1, width_ = 1;
    double *w_ = nullptr, *b_ = nullptr;
    Vector s_, r_, z_, centre_, sigma_, ds_;          // by row
    Vector v_, dw_, gw_, mixed_, solved_, diagonal_;  // by column; mixed: sum of sigma x
    Vector packed_, rows_packed_, small_, line_;
    std::vector<std::size_t> zone_, kept_, entered_, left_;
    std::vector<bool> in_gram_, in_zone_;
    std::size_t n_in_gram_ = 0;
    double removed_ = 0;  // trace of what was taken away since the Gram matrix was summed
    Vector best_w_, best_z_;
    double best_b_ = 0, best_width_ = 0, best_gap_ = 0;
    double gb_ = 0, db_ = 0, mixed_sum_ = 0, primal_ = 0, gap_ = 0, rows_gap_ = 0;
    double damping_ = 0, step_norm_ = 0, step_along_ = 0, work_ = 0;
    int stages_ = 0;
    bool is_hard_ = false;
    UpperCholesky gram_, factor_;
};

}  // namespace separable
