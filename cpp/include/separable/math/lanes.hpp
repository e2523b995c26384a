// Lanes: many models in one pass. The only file with vector types.
//
// A Line<T> is one cache line of numbers, 16 float32 or 8 float64, as registers of the CPU level
// it is compiled for. It plays two parts:
//
//   Lanes<T>   P models side by side: W[j] is a Line, one weight of feature j for each model;
//   Single<T>  one model: w is a plain array, and a Line gathers the weights of P non-zeros.
//
// Order of summation, the same in both: the k-th non-zero of a row is added to partial sum
// k mod P, and the P partial sums are added by halves. So one model alone has the same bits as the
// same model among others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace separable {

#if defined(__AVX512F__)
inline constexpr int kRegisterBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kRegisterBytes = 32;
#else
inline constexpr int kRegisterBytes = 16;
#endif
inline constexpr int kLineBytes = 64;

// P: how many numbers a cache line holds.
template <class T>
inline constexpr int kPerLine = kLineBytes / static_cast<int>(sizeof(T));

template <class T>
struct alignas(kLineBytes) Line {
    static constexpr int kRegisters = kLineBytes / kRegisterBytes;
    static constexpr int kPerRegister = kRegisterBytes / static_cast<int>(sizeof(T));
    typedef T Register __attribute__((vector_size(kRegisterBytes)));
    typedef T Unaligned __attribute__((vector_size(kRegisterBytes), aligned(sizeof(T)), may_alias));

    Register part[kRegisters];

    static Line zero() { return broadcast(T(0)); }

    static Line broadcast(T value) {
        Line line;
        // subtracting 0 costs nothing: the compiler knows that it changes no number
        for (int r = 0; r < kRegisters; ++r) line.part[r] = value - Register{};
        return line;
    }

    static Line load(const T* from) {
        Line line;
        for (int r = 0; r < kRegisters; ++r)
            line.part[r] = *reinterpret_cast<const Unaligned*>(from + r * kPerRegister);
        return line;
    }

    // P numbers of another type, converted one by one.
    template <class V>
    static Line load(const V* from) {
        T buffer[kPerLine<T>];
        for (int i = 0; i < kPerLine<T>; ++i) buffer[i] = static_cast<T>(from[i]);
        return load(buffer);
    }

    void store(T* to) const {
        for (int r = 0; r < kRegisters; ++r)
            *reinterpret_cast<Unaligned*>(to + r * kPerRegister) = part[r];
    }

    T operator[](int i) const { return part[i / kPerRegister][i % kPerRegister]; }
    void set(int i, T value) { part[i / kPerRegister][i % kPerRegister] = value; }

    Line& operator+=(const Line& other) {
        for (int r = 0; r < kRegisters; ++r) part[r] += other.part[r];
        return *this;
    }
    friend Line operator+(Line a, const Line& b) { return a += b; }
    friend Line operator*(Line a, const Line& b) {
        for (int r = 0; r < kRegisters; ++r) a.part[r] *= b.part[r];
        return a;
    }

    // The larger of each number and `least`.
    Line at_least(T least) const {
        Line line;
        for (int r = 0; r < kRegisters; ++r)
            line.part[r] = part[r] > least ? part[r] : Register{} + least;
        return line;
    }

    // 1 / sqrt of positive normal numbers, to nine digits (seven in float32). Halving the exponent,
    // by integer arithmetic on the bits, gives two digits (Lomont 2003); each of three Newton steps
    // doubles them. It takes a fifth of the time of a square root and a division.
    Line inverse_sqrt() const {
        using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
        typedef Bits Words __attribute__((vector_size(kRegisterBytes)));
        constexpr auto kMagic = static_cast<Bits>(sizeof(T) == 4 ? 0x5f375a86 : 0x5fe6eb50c7b537a9);
        Line line;
        for (int r = 0; r < kRegisters; ++r) {
            const Register half = part[r] * T(0.5);
            Register y =
                reinterpret_cast<Register>(kMagic - (reinterpret_cast<Words>(part[r]) >> 1));
            for (int step = 0; step < 3; ++step) y *= T(1.5) - half * y * y;
            line.part[r] = y;
        }
        return line;
    }

    // a where test <= 0, elsewhere 0.
    static Line where_not_positive(const Line& test, const Line& a) {
        Line line;
        for (int r = 0; r < kRegisters; ++r)
            line.part[r] = test.part[r] <= T(0) ? a.part[r] : Register{};
        return line;
    }

    // -1, 0 or 1
    Line sign() const {
        Line line;
        const Register one = Register{} + T(1);
        for (int r = 0; r < kRegisters; ++r)
            line.part[r] =
                (part[r] > T(0) ? one : Register{}) - (part[r] < T(0) ? one : Register{});
        return line;
    }

    bool any() const {
        auto differs = part[0] != T(0);
        for (int r = 1; r < kRegisters; ++r) differs |= part[r] != T(0);
        return any_bit(differs);
    }

    // Bit i says whether number i is not 0.
    std::uint32_t non_zeros() const {
        std::uint32_t bits = 0;
        for (int r = 0; r < kRegisters; ++r)
            bits |= register_bits(part[r] != T(0)) << (r * kPerRegister);
        return bits;
    }

    bool all_finite() const {
        auto differs = (part[0] - part[0]) != T(0);  // inf - inf and NaN are not 0
        for (int r = 1; r < kRegisters; ++r) differs |= (part[r] - part[r]) != T(0);
        return !any_bit(differs);
    }

    // Segments of `width` numbers, a power of two: each number becomes the sum, or the least, of
    // its segment, by pairs, pairs of pairs, ... which gives all of a segment the same bits.
    template <int width>
    Line segment_sums() const {
        return over_segments<width>(*this,
                                    [](const Register& a, const Register& b) { return a + b; });
    }
    template <int width>
    Line segment_least() const {
        return over_segments<width>(
            *this, [](const Register& a, const Register& b) { return b < a ? b : a; });
    }

    // The P numbers added by halves: number i to number i + P/2, then P/4, ...
    T sum() const {
        Register total[kRegisters];
        for (int r = 0; r < kRegisters; ++r) total[r] = part[r];
        for (int half = kRegisters / 2; half > 0; half /= 2)
            for (int r = 0; r < half; ++r) total[r] += total[r + half];
        return sum_halves<kPerRegister / 2>(total[0]);
    }

   private:
    template <class Mask>
    static bool any_bit(const Mask& mask) {
#if defined(__AVX512F__)
        const auto bits = reinterpret_cast<__m512i>(mask);
        return _mm512_test_epi64_mask(bits, bits) != 0;
#elif defined(__AVX2__)
        const auto bits = reinterpret_cast<__m256i>(mask);
        return _mm256_testz_si256(bits, bits) == 0;
#else
        typedef long long Words __attribute__((vector_size(kRegisterBytes)));
        const Words words = reinterpret_cast<Words>(mask);
        return (words[0] | words[1]) != 0;
#endif
    }

    // Bit i says whether number i of a mask is set.
    template <class Mask>
    static std::uint32_t register_bits(const Mask& mask) {
        constexpr bool is_float = std::is_same_v<T, float>;
#if defined(__AVX512DQ__)
        const auto bits = reinterpret_cast<__m512i>(mask);
        return is_float ? _mm512_movepi32_mask(bits) : _mm512_movepi64_mask(bits);
#elif defined(__AVX2__)
        const auto bits = reinterpret_cast<__m256i>(mask);
        return static_cast<std::uint32_t>(is_float ? _mm256_movemask_ps(_mm256_castsi256_ps(bits))
                                                   : _mm256_movemask_pd(_mm256_castsi256_pd(bits)));
#elif defined(__SSE2__)
        const auto bits = reinterpret_cast<__m128i>(mask);
        return static_cast<std::uint32_t>(is_float ? _mm_movemask_ps(_mm_castsi128_ps(bits))
                                                   : _mm_movemask_pd(_mm_castsi128_pd(bits)));
#else
        std::uint32_t bits = 0;
        for (int i = 0; i < kPerRegister; ++i)
            bits |= static_cast<std::uint32_t>(mask[i] != 0) << i;
        (void)is_float;
        return bits;
#endif
    }

    template <int width, int half = 1, class Join>
    static Line over_segments(const Line& line, Join join) {
        if constexpr (half >= width) {
            return line;
        } else {
            Line joined;
            const Line other = line.template swapped<half>();
            for (int r = 0; r < kRegisters; ++r) joined.part[r] = join(line.part[r], other.part[r]);
            return over_segments<width, 2 * half>(joined, join);
        }
    }

    // Number i changes places with number i xor `by`, a power of two.
    template <int by>
    Line swapped() const {
        Line line;
        for (int r = 0; r < kRegisters; ++r)
            if constexpr (by >= kPerRegister)
                line.part[r] = part[r ^ (by / kPerRegister)];
            else
                line.part[r] =
                    swap_near<by>(part[r], std::make_integer_sequence<int, kPerRegister>());
        return line;
    }

    template <int by, int... i>
    static Register swap_near(Register v, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(v, v, (i ^ by)...);
    }

    template <int half>
    static T sum_halves(Register v) {
        if constexpr (half == 0) {
            return v[0];
        } else {
            v += move_down<half>(v, std::make_integer_sequence<int, kPerRegister>());
            return sum_halves<half / 2>(v);
        }
    }

    template <int by, int... i>
    static Register move_down(Register v, std::integer_sequence<int, i...>) {
        return __builtin_shufflevector(v, v, (i + by) % kPerRegister...);
    }
};

// Numbers that start on a cache line.
template <class T>
struct LineAllocator {
    using value_type = T;

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{kLineBytes}));
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, std::align_val_t{kLineBytes}); }
    friend bool operator==(const LineAllocator&, const LineAllocator&) { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

// n, rounded up to whole lines of P.
template <class T>
inline std::size_t whole_lines(std::size_t n) {
    constexpr std::size_t P = kPerLine<T>;
    return (n + P - 1) / P * P;
}

// The weights w[index[0]], ..., w[index[P - 1]], each by a load of its own: on most CPUs that takes
// half the time of a gather.
template <class T, int... i>
inline typename Line<T>::Register collect(const T* w, const std::int32_t* index,
                                          std::integer_sequence<int, i...>) {
    return typename Line<T>::Register{w[index[i]]...};
}
template <class T>
inline Line<T> gather(const T* w, const std::int32_t* index) {
    constexpr int P = Line<T>::kPerRegister;
    Line<T> line;
    for (int r = 0; r < Line<T>::kRegisters; ++r)
        line.part[r] = collect(w, index + r * P, std::make_integer_sequence<int, P>());
    return line;
}

// The products w[index[k]] x[k] for k < n < P, then zeros.
template <class T, class Value>
inline Line<T> gather_products(const T* w, const std::int32_t* index, const Value* x, int n) {
#if defined(__AVX512F__)
    Line<T> line;
    if constexpr (std::is_same_v<T, float>) {
        const auto mask = static_cast<__mmask16>((1u << n) - 1);
        const __m512i j = _mm512_maskz_loadu_epi32(mask, index);
        line.part[0] = reinterpret_cast<typename Line<T>::Register>(
            _mm512_mul_ps(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), mask, j, w, 4),
                          _mm512_maskz_loadu_ps(mask, x)));
    } else {
        const auto mask = static_cast<__mmask8>((1u << n) - 1);
        const __m256i j = _mm256_maskz_loadu_epi32(mask, index);
        const __m512d weights = _mm512_mask_i32gather_pd(_mm512_setzero_pd(), mask, j, w, 8);
        __m512d values;
        if constexpr (std::is_same_v<Value, float>)
            values = _mm512_maskz_cvtps_pd(mask, _mm256_maskz_loadu_ps(mask, x));
        else
            values = _mm512_maskz_loadu_pd(mask, x);
        line.part[0] = reinterpret_cast<typename Line<T>::Register>(_mm512_mul_pd(weights, values));
    }
    return line;
#else
    T products[kPerLine<T>] = {};
    for (int k = 0; k < n; ++k) products[k] = w[index[k]] * static_cast<T>(x[k]);
    return Line<T>::load(products);
#endif
}

// The same for weights that stand in the order of x.
template <class T, class Value>
inline Line<T> load_products(const T* w, const Value* x, int n) {
    T products[kPerLine<T>] = {};
    for (int k = 0; k < n; ++k) products[k] = w[k] * static_cast<T>(x[k]);
    return Line<T>::load(products);
}

// The l1 penalty on the weights w of one feature (Tsuruoka, Tsujii, Ananiadou 2009): each moves
// towards 0, and stops there, by what could have been taken from it so far, `due`, less what was
// taken, which q keeps with its sign.
template <int width, class T>
inline void shrink_weights(double due, double* q, T* w, double* u = nullptr, double time = 0) {
    for (int lane = 0; lane < width; ++lane) {
        const double before = w[lane];
        if (before == 0) continue;
        const double after = before > 0 ? std::max(0.0, before - (due + q[lane]))
                                        : std::min(0.0, before + (due - q[lane]));
        q[lane] += after - before;
        w[lane] = static_cast<T>(after);
        if (u) u[lane] += time * (static_cast<double>(w[lane]) - before);
    }
}

// One model: a score is a number.
template <class Number>
struct Single {
    using T = Number;
    using Score = T;
    static constexpr int kWidth = 1;

    static Score load(const T* from) { return *from; }
    static void store(const Score& score, T* to) { *to = score; }
    static Score broadcast(T value) { return value; }
    static T get(const Score& score, int) { return score; }
    static void set(Score& score, int, T value) { score = value; }
    static bool any(const Score& score) { return score != T(0); }
    static bool all_finite(const Score& score) { return std::isfinite(score); }
    static Score where_not_positive(const Score& test, const Score& a) {
        return test <= T(0) ? a : T(0);
    }
    static Score sign(const Score& score) { return T(score > T(0)) - T(score < T(0)); }

    // sum over the non-zeros of w_j x_j
    template <class Row>
    static Score dot(const Row& row, const T* w) {
        constexpr int P = kPerLine<T>;
        Line<T> partial = Line<T>::zero();
        const std::int64_t n = row.size();
        std::int64_t k = 0;
        for (; k + P <= n; k += P) partial += row.weights(w, k) * row.template values<T>(k);
        if (k < n) partial += row.last_products(w, k);
        return partial.sum();
    }

    // w_j += step x_j
    template <class Row>
    static void add(const Row& row, const Score& step, T* w) {
        for (std::int64_t k = 0; k < row.size(); ++k)
            w[row.index(k)] += step * static_cast<T>(row.value(k));
    }

    // The same, and u_j += time x (the change that rounding left in w_j).
    template <class Row>
    static void add_timed(const Row& row, const Score& step, const double* time, T* w, double* u) {
        for (std::int64_t k = 0; k < row.size(); ++k) {
            T& weight = w[row.index(k)];
            const T before = weight;
            weight += step * static_cast<T>(row.value(k));
            u[row.index(k)] += *time * (static_cast<double>(weight) - static_cast<double>(before));
        }
    }

    // The l1 penalty that is due on the weights of the non-zeros; u += time (change of w), if kept.
    template <class Row>
    static void shrink(const Row& row, double due, double* q, T* w, double* u, double time) {
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const std::int64_t j = row.index(k);
            if (row.value(k) != 0) shrink_weights<1>(due, q + j, w + j, u ? u + j : nullptr, time);
        }
    }

    // sum_j += step x_j, in float64 whatever T is
    template <class Row>
    static void accumulate(const Row& row, const double* step, double* sum) {
        for (std::int64_t k = 0; k < row.size(); ++k)
            sum[row.index(k)] += *step * static_cast<double>(row.value(k));
    }

    // w_j = 0 for the features of the row
    template <class Row>
    static void clear(const Row& row, T* w) {
        for (std::int64_t k = 0; k < row.size(); ++k) w[row.index(k)] = T(0);
    }

    template <class Row>
    static void prefetch(const Row& row, const T* w) {
        (void)row, (void)w;
    }

    // The sum of a_k z_k over contiguous numbers: n of them, and zeros up to a whole
    // line. Every add() starts with the first partial sum.
    class Sum {
       public:
        void add(std::size_t n, const T* a, const T* z) {
            for (std::size_t k = 0; k < n; k += kPerLine<T>)
                partial_ += Line<T>::load(a + k) * Line<T>::load(z + k);
        }
        Score total() const { return partial_.sum(); }

       private:
        Line<T> partial_ = Line<T>::zero();
    };
};

// P models side by side: a score is a Line.
template <class Number>
struct Lanes {
    using T = Number;
    using Score = Line<T>;
    static constexpr int kWidth = kPerLine<T>;
    static constexpr int kAhead = 24;  // non-zeros between a prefetch and its use

    static Score load(const T* from) { return Line<T>::load(from); }
    static void store(const Score& score, T* to) { score.store(to); }
    static Score broadcast(T value) { return Line<T>::broadcast(value); }
    static T get(const Score& score, int lane) { return score[lane]; }
    static void set(Score& score, int lane, T value) { score.set(lane, value); }
    static bool any(const Score& score) { return score.any(); }
    static bool all_finite(const Score& score) { return score.all_finite(); }
    static Score where_not_positive(const Score& test, const Score& a) {
        return Line<T>::where_not_positive(test, a);
    }
    static Score sign(const Score& score) { return score.sign(); }

    template <class Row>
    static Score dot(const Row& row, const T* W) {
        constexpr int P = kPerLine<T>;
        Line<T> partial[P];
        for (int p = 0; p < P; ++p) partial[p] = Line<T>::zero();
        const std::int64_t n = row.size();
        std::int64_t k = 0;
        for (; k + P <= n; k += P) {
            if (row.template only_zeros<T>(k))
                continue;  // adding 0 to a partial sum changes nothing
#pragma GCC unroll 16
            for (int p = 0; p < P; ++p) {
                row.prefetch_weights(W, std::min(k + p + kAhead, n - 1), kWidth);
                partial[p] += product(row, W, k + p);
            }
        }
        for (int p = 0; k + p < n; ++p) partial[p] += product(row, W, k + p);
        for (int half = P / 2; half > 0; half /= 2)
            for (int p = 0; p < half; ++p) partial[p] += partial[p + half];
        return partial[0];
    }

    template <class Row>
    static void add(const Row& row, const Score& step, T* W) {
        each_non_zero(row, [&](std::int64_t k) {
            T* weights = W + row.index(k) * kWidth;
            const auto x = Line<T>::broadcast(static_cast<T>(row.value(k)));
            (Line<T>::load(weights) + step * x).store(weights);
        });
    }

    template <class Row>
    static void add_timed(const Row& row, const Score& step, const double* time, T* W, double* U) {
        T before[kWidth], after[kWidth];
        each_non_zero(row, [&](std::int64_t k) {
            T* weights = W + row.index(k) * kWidth;
            double* u = U + row.index(k) * kWidth;
            const auto x = Line<T>::broadcast(static_cast<T>(row.value(k)));
            const auto old = Line<T>::load(weights);
            const auto updated = old + step * x;
            updated.store(weights);
            old.store(before), updated.store(after);
            for (int lane = 0; lane < kWidth; ++lane)
                u[lane] += time[lane] *
                           (static_cast<double>(after[lane]) - static_cast<double>(before[lane]));
        });
    }

    template <class Row>
    static void shrink(const Row& row, double due, double* Q, T* W, double* U, double time) {
        for (std::int64_t k = 0; k < row.size(); ++k) {
            const std::int64_t j = row.index(k) * kWidth;
            if (row.value(k) != 0)
                shrink_weights<kWidth>(due, Q + j, W + j, U ? U + j : nullptr, time);
        }
    }

    template <class Row>
    static void accumulate(const Row& row, const double* step, double* sum) {
        constexpr int P = kPerLine<double>, kParts = kWidth / P;
        Line<double> steps[kParts];
        for (int part = 0; part < kParts; ++part) steps[part] = Line<double>::load(step + part * P);
        each_non_zero(row, [&](std::int64_t k) {
            double* at = sum + row.index(k) * kWidth;
            const auto x = Line<double>::broadcast(static_cast<double>(row.value(k)));
            for (int part = 0; part < kParts; ++part, at += P)
                (Line<double>::load(at) + steps[part] * x).store(at);
        });
    }

    template <class Row>
    static void clear(const Row& row, T* W) {
        for (std::int64_t k = 0; k < row.size(); ++k)
            Line<T>::zero().store(W + row.index(k) * kWidth);
    }

    // Fetch the weights of a row's first non-zeros, which dot() has no time to fetch ahead.
    template <class Row>
    static void prefetch(const Row& row, const T* W) {
        for (int k = 0; k < kAhead && k < row.size(); ++k) row.prefetch_weights(W, k, kWidth);
    }

    // The same sum in every lane: a_k is a Line.
    class Sum {
       public:
        Sum() { std::fill_n(partial_, P, Line<T>::zero()); }

        void add(std::size_t n, const T* a, const T* z) {
            std::size_t k = 0;
            for (; k + P <= n; k += P)
#pragma GCC unroll 16
                for (std::size_t p = 0; p < P; ++p) partial_[p] += product(a, z, k + p);
            for (std::size_t p = 0; k + p < n; ++p) partial_[p] += product(a, z, k + p);
        }
        Score total() const {
            Line<T> sums[P];
            std::copy_n(partial_, P, sums);
            for (std::size_t half = P / 2; half > 0; half /= 2)
                for (std::size_t p = 0; p < half; ++p) sums[p] += sums[p + half];
            return sums[0];
        }

       private:
        static constexpr std::size_t P = kPerLine<T>;
        static Line<T> product(const T* a, const T* z, std::size_t k) {
            return Line<T>::load(a + k * kWidth) * Line<T>::broadcast(z[k]);
        }
        Line<T> partial_[P];
    };

   private:
    // Calls visit(k), passing over stretches of P zeros.
    template <class Row, class Visit>
    static void each_non_zero(const Row& row, Visit visit) {
        constexpr int P = kPerLine<T>;
        const std::int64_t n = row.size();
        std::int64_t k = 0;
        for (; k + P <= n; k += P) {
            if (row.template only_zeros<T>(k)) continue;
            for (int p = 0; p < P; ++p) visit(k + p);
        }
        for (; k < n; ++k) visit(k);
    }

    template <class Row>
    static Line<T> product(const Row& row, const T* W, std::int64_t k) {
        return Line<T>::load(W + row.index(k) * kWidth) *
               Line<T>::broadcast(static_cast<T>(row.value(k)));
    }
};

// Weights W[block][feature][lane] as [model][feature], in float64: scale W, or with a mean to
// take, scale W - u / presented.
template <class Lane>
void unpack_lanes(const typename Lane::T* W, const double* u, double scale, double presented,
                  std::int64_t n_models, std::int64_t n_features, double* out) {
    for (std::int64_t first = 0; first < n_models; first += Lane::kWidth) {
        const std::int64_t lanes = std::min<std::int64_t>(Lane::kWidth, n_models - first);
        for (std::int64_t j = 0; j < n_features; ++j) {
            const std::int64_t at = (first * n_features) + j * Lane::kWidth;
            for (std::int64_t lane = 0; lane < lanes; ++lane) {
                const double w = scale * static_cast<double>(W[at + lane]);
                out[(first + lane) * n_features + j] = u ? w - u[at + lane] / presented : w;
            }
        }
    }
}

}  // namespace separable
