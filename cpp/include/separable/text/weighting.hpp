// Weighting: tf-idf values of the counts of a document, rounded in the order of scikit-learn.
//
// Problem   x_j = tf_j * idf_j / |tf * idf|, tf_j the count or 1 + log(count).
// Given     the counts of a document by ascending column; optional idf; logarithms of counts.
// Returns   x_j for each count.
// Steps     1. tf; 2. multiply by idf; 3. divide by the norm, summed in double.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "separable/text/counter.hpp"

namespace separable::text {

enum class Norm { kNone, kL1, kL2 };

template <class T>
struct Weighting {
    bool binary = false;
    Norm norm = Norm::kNone;
    const T* idf = nullptr;
    const T* log = nullptr;  // log(k) for k < n_logs; null: counts as they are
    std::size_t n_logs = 0;

    T tf(std::int32_t count) const {  // step 1
        if (binary) count = 1;
        if (log == nullptr) return static_cast<T>(count);
        const auto k = static_cast<std::size_t>(count);
        return (k < n_logs ? log[k] : std::log(static_cast<T>(count))) + T{1};
    }

    void operator()(const Count* counts, std::size_t n, T* out) const {
        for (std::size_t j = 0; j < n; ++j) {
            out[j] = tf(static_cast<std::int32_t>(counts[j].count));
            if (idf) out[j] *= idf[counts[j].id];  // step 2
        }
        const double divisor = length(out, n);  // step 3
        if (divisor == 0) return;
        for (std::size_t j = 0; j < n; ++j)
            out[j] = static_cast<T>(static_cast<double>(out[j]) / divisor);
    }

   private:
    double length(const T* x, std::size_t n) const {
        double sum = 0;
        switch (norm) {
            case Norm::kNone:
                return 0;
            case Norm::kL1:
                for (std::size_t j = 0; j < n; ++j) sum += std::abs(x[j]);
                return sum;
            case Norm::kL2:
                for (std::size_t j = 0; j < n; ++j) sum += static_cast<double>(x[j] * x[j]);
                return std::sqrt(sum);
        }
        return 0;
    }
};

}  // namespace separable::text
