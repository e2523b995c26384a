#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include "arrays.hpp"
#include "kernels/rows.hpp"
#include "separable/features/assembly.hpp"
#include "separable/features/factorize.hpp"
#include "separable/features/number_moments.hpp"
#include "separable/features/polynomial.hpp"
#include "separable/math/heartbeat.hpp"

using namespace separable;

namespace {

template <class Values>
std::int64_t length(const Values& array) {
    return static_cast<std::int64_t>(array.shape(0));
}

using Firsts = Array<std::int64_t>;

template <class T>
Firsts factorize(Const<T> values, Mutable<std::int32_t, 1> codes) {
    check(length(values) == length(codes), "one code a value is needed");
    std::vector<std::int64_t> firsts;
    {
        nb::gil_scoped_release no_gil;
        firsts = factorize_numbers<T>({values.data(), values.size()}, codes.data(), poll_signals);
    }
    return owned(std::move(firsts));
}

template <class Offset>
Firsts factorize_text(Const<Offset> offsets, Const<std::uint8_t> data,
                      std::optional<Const<std::uint8_t>> valid, std::int64_t first_bit,
                      Mutable<std::int32_t, 1> codes) {
    const std::int64_t n = length(codes);
    check(length(offsets) == n + 1, "texts need one offset more than codes");
    check(offsets.data()[0] >= 0 && offsets.data()[n] <= length(data),
          "offsets point outside the texts");
    for (std::int64_t i = 0; i < n; ++i)
        check(offsets.data()[i] <= offsets.data()[i + 1], "offsets descend");
    check(!valid || (first_bit >= 0 && (first_bit + n + 7) / 8 <= length(*valid)),
          "a bit a text is needed");
    std::vector<std::int64_t> firsts;
    {
        nb::gil_scoped_release no_gil;
        firsts = factorize_texts<Offset>(
            {offsets.data(), offsets.size()}, {data.data(), data.size()},
            valid ? valid->data() : nullptr, first_bit, codes.data(), poll_signals);
    }
    return owned(std::move(firsts));
}

// Parts passed from Python, kept alive and checked.
class BoundParts {
   public:
    explicit BoundParts(std::int64_t n_rows) : n_rows_(n_rows) {}

    void add_numbers(ConstTable<double> columns, std::int64_t at) {
        check(static_cast<std::int64_t>(columns.shape(1)) == n_rows_, "one number a row is needed");
        const std::int64_t width = length(columns);
        claim(at, width);
        for (std::int64_t j = 0; j < width; ++j)
            parts_.emplace_back(NumberPart{columns.data() + j * n_rows_, at + j});
        columns_.push_back(std::move(columns));
    }

    void add_one_hot(Const<std::int32_t> codes, Const<std::int32_t> places, std::int64_t at,
                     std::int64_t width) {
        check(length(codes) == n_rows_, "one code a row is needed");
        const auto n = static_cast<std::uint64_t>(length(places));
        check(n >= 1, "places need one for missing values");
        std::uint32_t largest = 0, least = std::numeric_limits<std::uint32_t>::max();
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            const std::uint32_t place = static_cast<std::uint32_t>(codes.data()[i]) + 1U;
            largest = std::max(largest, place), least = std::min(least, place);
        }
        check(n_rows_ == 0 || largest < n, "a code has no place");
        bool always = true;  // for all valid codes
        for (std::int64_t c = 0; c < length(places); ++c) {
            check(places.data()[c] < width, "a place is outside");
            always &= places.data()[c] >= 0 || (c == 0 && least > 0);
        }
        parts_.emplace_back(OneHotPart{codes.data(), places.data(), at, always});
        claim(at, width);
        codes_.push_back(std::move(codes));
        codes_.push_back(std::move(places));
    }

    void add_csr(Const<double> values, Const<std::int64_t> indices, Const<std::int64_t> indptr,
                 std::int64_t at, std::int64_t width) {
        check(length(indptr) == n_rows_ + 1 && length(values) == length(indices),
              "values, indices and indptr do not fit together");
        check(indptr.data()[0] >= 0 && indptr.data()[n_rows_] <= length(values),
              "indptr points outside the values");
        for (std::int64_t i = 0; i < n_rows_; ++i)
            check(indptr.data()[i] <= indptr.data()[i + 1], "indptr descends");
        for (std::int64_t k = indptr.data()[0]; k < indptr.data()[n_rows_]; ++k)
            check(indices.data()[k] >= 0 && indices.data()[k] < width, "a column is outside");
        parts_.emplace_back(CsrPart{values.data(), indices.data(), indptr.data(), at});
        claim(at, width);
        numbers_.push_back(std::move(values));
        wholes_.push_back(std::move(indices));
        wholes_.push_back(std::move(indptr));
    }

    std::int64_t count(int n_threads) {
        check(n_threads >= 1, "one thread is needed");
        starts_.resize(static_cast<std::size_t>(n_rows_) + 1);
        nb::gil_scoped_release no_gil;
        return count_numbers(parts_, n_rows_, n_threads, poll_signals, starts_.data());
    }

    template <class Index>
    void fill(Mutable<double, 1> values, Mutable<Index, 1> indices, Mutable<Index, 1> indptr,
              int n_threads) const {
        check(!starts_.empty() && n_threads >= 1, "count comes before fill");
        const std::int64_t size = starts_.back();
        check(length(values) == size && length(indices) == size && length(indptr) == n_rows_ + 1,
              "the arrays to fill do not fit");
        const auto most = static_cast<std::int64_t>(std::numeric_limits<Index>::max());
        check(width_ <= most && size <= most, "a place does not fit the indices");
        nb::gil_scoped_release no_gil;
        std::copy(starts_.begin(), starts_.end(), indptr.data());
        fill_csr(parts_, n_rows_, n_threads, poll_signals, starts_.data(), values.data(),
                 indices.data());
    }

    void dense(Mutable<double, 2> out, int n_threads) const {
        check(static_cast<std::int64_t>(out.shape(0)) == n_rows_ && n_threads >= 1 &&
                  static_cast<std::int64_t>(out.shape(1)) >= width_,
              "the array to fill does not fit");
        nb::gil_scoped_release no_gil;
        fill_dense(parts_, n_rows_, static_cast<std::int64_t>(out.shape(1)), n_threads,
                   poll_signals, out.data());
    }

   private:
    void claim(std::int64_t at, std::int64_t width) {
        check(at >= width_ && width >= 0, "parts must come in the order of their places");
        width_ = at + width;
    }

    std::int64_t n_rows_, width_ = 0;
    std::vector<std::int64_t> starts_;
    std::vector<Part> parts_;
    std::vector<ConstTable<double>> columns_;
    std::vector<Const<double>> numbers_;
    std::vector<Const<std::int32_t>> codes_;
    std::vector<Const<std::int64_t>> wholes_;
};

PolynomialPlan checked_plan(std::int64_t n_columns, std::int64_t least, std::int64_t highest,
                            bool repeat, bool constant) {
    check(n_columns >= 1 && 1 <= least && least <= highest && highest <= 64, "wrong degrees");
    const PolynomialPlan plan{n_columns, least, highest, repeat, constant};
    check(plan.size(n_columns) < std::numeric_limits<std::int64_t>::max(), "too many products");
    return plan;
}

void polynomial_counts(std::int64_t n_columns, std::int64_t least, std::int64_t highest,
                       bool repeat, bool constant, Const<std::int64_t> sizes,
                       Mutable<std::int64_t, 1> out) {
    check(length(sizes) == length(out), "one count a row is needed");
    const PolynomialPlan plan = checked_plan(n_columns, least, highest, repeat, constant);
    for (std::int64_t i = 0; i < length(sizes); ++i) {
        check(0 <= sizes.data()[i] && sizes.data()[i] <= n_columns, "a row has too many columns");
        out.data()[i] = plan.size(sizes.data()[i]);
    }
}

void polynomial_rows(const BoundRows& bound, std::int64_t least, std::int64_t highest, bool repeat,
                     bool constant, Const<std::int64_t> starts, Mutable<double, 1> values,
                     std::optional<Mutable<std::int64_t, 1>> indices) {
    const PolynomialPlan plan = checked_plan(bound.n_features, least, highest, repeat, constant);
    const std::int64_t n = bound.n_rows;
    check(length(starts) == n + 1 && starts.data()[0] == 0 && length(values) == starts.data()[n] &&
              (!indices || length(*indices) == length(values)),
          "the arrays to fill do not fit");
    std::visit(
        [&](const auto& rows) {
            constexpr bool sparse = requires { rows.index_; };
            check(sparse == indices.has_value(), "indices belong to sparse rows");
            for (std::int64_t i = 0; i < n; ++i)
                check(starts.data()[i + 1] - starts.data()[i] == plan.size(rows.row(i).size()),
                      "row starts do not fit");
            nb::gil_scoped_release no_gil;
            Heartbeat beat(poll_signals, length(values), n);
            std::vector<double> x;
            std::vector<std::int64_t> column;
            for (std::int64_t i = 0; i < n; ++i) {
                const auto row = rows.row(i);
                x.clear(), column.clear();
                for (std::int64_t k = 0; k < row.size(); ++k) {
                    x.push_back(static_cast<double>(row.value(k)));
                    column.push_back(static_cast<std::int64_t>(row.index(k)));
                }
                RowProducts<double, std::int64_t> products(plan, x.data(), column.data(),
                                                           row.size());
                products.write(values.data() + starts.data()[i],
                               sparse ? indices->data() + starts.data()[i] : nullptr);
                beat.row();
            }
        },
        bound.rows);
}

void moments_of(ConstTable<double> columns, Mutable<double, 2> out) {
    check(length(out) == length(columns) && out.shape(1) == 6, "six numbers a column are needed");
    const std::size_t n = columns.shape(1);
    nb::gil_scoped_release no_gil;
    for (std::size_t j = 0; j < columns.shape(0); ++j) {
        const NumberMoments found = number_moments({columns.data() + j * n, n});
        const double numbers[] = {static_cast<double>(found.count),
                                  found.least,
                                  found.most,
                                  found.mean,
                                  found.low,
                                  found.deviation};
        std::copy(std::begin(numbers), std::end(numbers), out.data() + 6 * j);
    }
}

}  // namespace

void bind_features(nb::module_& m) {
    m.def("number_moments", &moments_of, nb::arg("columns"), nb::arg("out"),
          "Write count, least, largest, mean, what it lacks, and deviation of the values of each "
          "column that are not NaN; a column is a row of the array. See "
          "features/number_moments.hpp.");
    m.def("factorize_integers", &factorize<std::int64_t>, nb::arg("values"), nb::arg("codes"),
          "Number different values by first appearance; returns the first place of each.");
    m.def("factorize_floats", &factorize<double>, nb::arg("values"), nb::arg("codes"),
          "As factorize_integers; NaN is one value, and -0 is 0.");
    m.def("factorize_texts", &factorize_text<std::int32_t>, nb::arg("offsets"), nb::arg("data"),
          nb::arg("valid").none(), nb::arg("first_bit"), nb::arg("codes"),
          "Number different texts of an Arrow column; -1 where one is missing.");
    m.def("factorize_texts", &factorize_text<std::int64_t>, nb::arg("offsets"), nb::arg("data"),
          nb::arg("valid").none(), nb::arg("first_bit"), nb::arg("codes"));
    nb::class_<BoundParts>(m, "Parts", "Encoded columns, in the order of their places.")
        .def(nb::init<std::int64_t>(), nb::arg("n_rows"))
        .def("add_numbers", &BoundParts::add_numbers, nb::arg("columns"), nb::arg("at"),
             "Columns of one number a row at consecutive places; a column is a row of the array.")
        .def("add_one_hot", &BoundParts::add_one_hot, nb::arg("codes"), nb::arg("places"),
             nb::arg("at"), nb::arg("width"), "1 at places[code + 1], if that is not -1.")
        .def("add_csr", &BoundParts::add_csr, nb::arg("values"), nb::arg("indices"),
             nb::arg("indptr"), nb::arg("at"), nb::arg("width"), "Sparse rows, moved to a place.")
        .def("count", &BoundParts::count, nb::arg("n_threads") = 1,
             "Return how many numbers there are that are not 0.")
        .def("fill", &BoundParts::fill<std::int32_t>, nb::arg("values"), nb::arg("indices"),
             nb::arg("indptr"), nb::arg("n_threads") = 1,
             "Write the arrays of CSR; comes after count.")
        .def("fill", &BoundParts::fill<std::int64_t>, nb::arg("values"), nb::arg("indices"),
             nb::arg("indptr"), nb::arg("n_threads") = 1)
        .def("dense", &BoundParts::dense, nb::arg("out"), nb::arg("n_threads") = 1,
             "Write the dense matrix.");
    m.def("polynomial_counts", &polynomial_counts, nb::arg("n_columns"), nb::arg("least"),
          nb::arg("highest"), nb::arg("repeat"), nb::arg("constant"), nb::arg("sizes"),
          nb::arg("out"), "The number of products of rows with the given numbers of columns.");
    m.def("polynomial_rows", &polynomial_rows, nb::arg("rows"), nb::arg("least"),
          nb::arg("highest"), nb::arg("repeat"), nb::arg("constant"), nb::arg("starts"),
          nb::arg("values"), nb::arg("indices").none(), "Write the products of columns.");
}
