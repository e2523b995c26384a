// Products of the rows with vectors of many models at once, in double, for certificates.
//
//   add_rows     rmatvec: sums[j][l] += sum_i x_ij r[i][l]
//   score_rows   matvec: scores[i][l] = sum_j x_ij w[j][l]
//   largest_of   max_i |x_i.w[l]| f_i, or max_i x_i.w[l] f_i where signs count
//   lane_norms   |w|^2, |v|^2 and |w - v|^2 of each lane
//   add_outer    products[j][k] += sum_i c_i x_ij x_ik, each pair of a row's non-zeros once: what
//                is at [j][k] and at [k][j] is to be added up (rows in order fill one triangle)
//   add_squares  sums[j] += sum_i c_i x_ij^2
//   add_curved   scores[i] = x_i.w + b and sums[j] += sum_i c_i scores[i] x_ij, each row read once
//
// One model, or lanes in whole lines of 8 doubles that start on a cache line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "separable/data/rows.hpp"
#include "separable/math/lanes.hpp"

namespace separable {

inline constexpr std::int64_t kWorkBetweenPolls = std::int64_t{1} << 23;
inline constexpr std::int64_t kWeightsAhead = 16;  // non-zeros between a prefetch and its use

// Prefetching and polling in a loop over rows.
template <int lanes, RowFormat F, class T, class Poll>
class RowLoop {
   public:
    RowLoop(const F& x, const T* w, std::int64_t stride, Poll& poll)
        : x_(x), w_(w), stride_(stride), poll_(poll) {}

    void before(std::int64_t i) {
        if (i + 4 < x_.n_rows) x_.row(i + 4).prefetch();
        if (i + 1 < x_.n_rows) {
            const auto next = x_.row(i + 1);
            const std::int64_t n = std::min(next.size(), kWeightsAhead);
            for (std::int64_t k = 0; k < n; ++k) fetch(next, k);
        }
        if ((since_ += x_.row(i).size() * lanes) > kWorkBetweenPolls) poll_(), since_ = 0;
    }
    template <class R>
    void within(const R& row, std::int64_t k) const {
        fetch(row, std::min(k + kWeightsAhead, row.size() - 1));
    }

   private:
    template <class R>
    void fetch(const R& row, std::int64_t k) const {
        const char* at = reinterpret_cast<const char*>(w_ + row.index(k) * stride_);
        for (std::size_t line = 0; line < lanes * sizeof(T); line += kLineBytes)
            __builtin_prefetch(at + line);
    }
    const F& x_;
    const T* w_;
    std::int64_t stride_;
    Poll& poll_;
    std::int64_t since_ = 0;
};

// The first `lines` lines of every row of r; rows without any number in them are passed over.
template <int lines, RowFormat F, class Poll>
void add_rows_of(const F& x, std::int64_t stride, const double* r, double* sums, Poll&& poll) {
    using L = Line<double>;
    constexpr int P = kPerLine<double>;
    RowLoop<lines * P, F, double, Poll> loop(x, sums, stride, poll);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        loop.before(i);
        L steps[lines];
        bool any = false;
        for (int part = 0; part < lines; ++part) {
            steps[part] = L::load(r + i * stride + part * P);
            any |= steps[part].any();
        }
        if (!any) continue;
        const auto row = x.row(i);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            loop.within(row, k);
            double* sum = sums + row.index(k) * stride;
            const L value = L::broadcast(static_cast<double>(row.value(k)));
            for (int part = 0; part < lines; ++part, sum += P)
                (L::load(sum) + steps[part] * value).store(sum);
        }
    }
}

template <int lines, RowFormat F, class T, class Poll>
void score_rows_of(const F& x, std::int64_t stride, const T* w, double* scores, Poll&& poll) {
    using L = Line<double>;
    constexpr int P = kPerLine<double>, kChains = 4;
    RowLoop<lines * P, F, T, Poll> loop(x, w, stride, poll);
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        loop.before(i);
        L partial[kChains][lines];
        for (auto& chain : partial)
            for (L& line : chain) line = L::zero();
        const auto row = x.row(i);
        const auto add = [&](std::int64_t k, int chain) {
            loop.within(row, k);
            const T* weights = w + row.index(k) * stride;
            const L value = L::broadcast(static_cast<double>(row.value(k)));
            for (int part = 0; part < lines; ++part)
                partial[chain][part] += L::load(weights + part * P) * value;
        };
        std::int64_t k = 0;
        for (; k + kChains <= row.size(); k += kChains)
#pragma GCC unroll 4
            for (int chain = 0; chain < kChains; ++chain) add(k + chain, chain);
        for (int chain = 0; k < row.size(); ++k, ++chain) add(k, chain);
        for (int part = 0; part < lines; ++part)
            ((partial[0][part] + partial[1][part]) + (partial[2][part] + partial[3][part]))
                .store(scores + i * stride + part * P);
    }
}

// One model: w.x in four partial sums.
template <Row R, class T>
double dot_in_double(const R& row, const T* w) {
    double partial[4] = {};
    std::int64_t k = 0;
    const auto product = [&](std::int64_t at) {
        return static_cast<double>(w[row.index(at)]) * static_cast<double>(row.value(at));
    };
    for (; k + 4 <= row.size(); k += 4)
        for (int p = 0; p < 4; ++p) partial[p] += product(k + p);
    for (int p = 0; k < row.size(); ++k, ++p) partial[p] += product(k);
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
}

template <RowFormat F, class Poll>
void add_rows(const F& x, std::int64_t lanes, const double* r, double* sums, Poll&& poll) {
    constexpr std::int64_t P = kPerLine<double>;
    if (lanes == 1) {
        std::int64_t since = 0;
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            if (r[i] != 0) Single<double>::accumulate(x.row(i), r + i, sums);
            if ((since += x.row(i).size()) > kWorkBetweenPolls) poll(), since = 0;
        }
        return;
    }
    std::int64_t first = 0;
    for (; first + 2 * P <= lanes; first += 2 * P)
        add_rows_of<2>(x, lanes, r + first, sums + first, poll);
    if (first < lanes) add_rows_of<1>(x, lanes, r + first, sums + first, poll);
}

template <RowFormat F, class T, class Poll>
void score_rows(const F& x, std::int64_t lanes, const T* w, double* scores, Poll&& poll) {
    constexpr std::int64_t P = kPerLine<double>;
    if (lanes == 1) {
        std::int64_t since = 0;
        for (std::int64_t i = 0; i < x.n_rows; ++i) {
            scores[i] = dot_in_double(x.row(i), w);
            if ((since += x.row(i).size()) > kWorkBetweenPolls) poll(), since = 0;
        }
        return;
    }
    std::int64_t first = 0;
    for (; first + 2 * P <= lanes; first += 2 * P)
        score_rows_of<2>(x, lanes, w + first, scores + first, poll);
    if (first < lanes) score_rows_of<1>(x, lanes, w + first, scores + first, poll);
}

// Of each lane; at least 0. A factor of null is 1.
template <RowFormat F, class Poll>
std::vector<double> largest_of(const F& x, std::int64_t lanes, const double* w,
                               const double* factor, bool is_signed, Poll&& poll) {
    constexpr std::int64_t kBlock = 512;
    std::vector<double> largest(static_cast<std::size_t>(lanes));
    std::vector<double> scores(static_cast<std::size_t>(kBlock * lanes));
    double* const most = largest.data();
    std::int64_t since = 0;
    for (std::int64_t first = 0; first < x.n_rows; first += kBlock) {
        const std::int64_t n = std::min(kBlock, x.n_rows - first);
        const F some = some_rows(x, first, n);
        score_rows(some, lanes, w, scores.data(), poll);
        for (std::int64_t i = 0; i < n; ++i) {
            const double* const steps = scores.data() + i * lanes;
            const double by = factor == nullptr ? 1.0 : factor[first + i];
            for (std::int64_t l = 0; l < lanes; ++l) {
                const double size = by * (is_signed || steps[l] > 0 ? steps[l] : -steps[l]);
                most[l] = size > most[l] ? size : most[l];
            }
        }
        if ((since += some.n_values() * lanes) > kWorkBetweenPolls) poll(), since = 0;
    }
    return largest;
}

struct LaneNorms {
    std::vector<double> w, v, away;
};

template <class T>
LaneNorms lane_norms(std::int64_t n, std::int64_t lanes, const T* w, const double* v) {
    const auto k = static_cast<std::size_t>(lanes);
    LaneNorms norms{std::vector<double>(k), std::vector<double>(k), std::vector<double>(k)};
    constexpr std::int64_t kBlock = 256;
    std::vector<double> partial(3 * k);
    for (std::int64_t start = 0; start < n; start += kBlock) {
        std::fill(partial.begin(), partial.end(), 0.0);
        double *ww = partial.data(), *vv = ww + k, *dd = vv + k;
        for (std::int64_t j = start; j < std::min(n, start + kBlock); ++j)
            for (std::size_t l = 0; l < k; ++l) {
                const double a = static_cast<double>(w[j * lanes + static_cast<std::int64_t>(l)]);
                const double b = v[j * lanes + static_cast<std::int64_t>(l)], d = a - b;
                ww[l] += a * a, vv[l] += b * b, dd[l] += d * d;
            }
        for (std::size_t l = 0; l < k; ++l)
            norms.w[l] += ww[l], norms.v[l] += vv[l], norms.away[l] += dd[l];
    }
    return norms;
}

template <RowFormat F, class Poll>
void add_outer(const F& x, const double* c, double* products, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        if (c[i] == 0) continue;
        const auto row = x.row(i);
        for (std::int64_t a = 0; a < row.size(); ++a) {
            double* line = products + row.index(a) * x.n_features;
            const double value = c[i] * static_cast<double>(row.value(a));
            for (std::int64_t b = a; b < row.size(); ++b)
                line[row.index(b)] += value * static_cast<double>(row.value(b));
        }
        if ((since += row.size() * row.size()) > kWorkBetweenPolls) poll(), since = 0;
    }
}

template <RowFormat F, class Poll>
void add_curved(const F& x, const double* c, const double* w, double b, double* scores,
                double* sums, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        const auto row = x.row(i);
        scores[i] = dot_in_double(row, w) + b;
        if ((since += row.size()) > kWorkBetweenPolls) poll(), since = 0;
        const double step = c[i] * scores[i];
        if (step == 0) continue;
        for (std::int64_t k = 0; k < row.size(); ++k)
            sums[row.index(k)] += step * static_cast<double>(row.value(k));
    }
}

template <RowFormat F, class Poll>
void add_squares(const F& x, const double* c, double* sums, Poll&& poll) {
    std::int64_t since = 0;
    for (std::int64_t i = 0; i < x.n_rows; ++i) {
        if (c[i] == 0) continue;
        const auto row = x.row(i);
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const auto value = static_cast<double>(row.value(k));
            sums[row.index(k)] += c[i] * value * value;
        }
        if ((since += row.size()) > kWorkBetweenPolls) poll(), since = 0;
    }
}

}  // namespace separable
