#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <string_view>
#include <unordered_map>
#include <utility>

#include "arrays.hpp"
#include "separable/data/svmlight.hpp"
#include "separable/data/vw_text.hpp"

using namespace separable;

namespace {

// The buffer of an object, for the lifetime of this one.
class Bytes {
   public:
    explicit Bytes(nb::handle object) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    }
    ~Bytes() { PyBuffer_Release(&view_); }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    const char* data() const { return static_cast<const char*>(view_.buf); }
    std::size_t size() const { return static_cast<std::size_t>(view_.len); }

   private:
    Py_buffer view_{};
};

// NumPy array that takes ownership of a growable array.
template <class T>
nb::object to_array(GrowableArray<T>&& grown) {
    grown.shrink();
    return nb::cast(owned(std::move(grown)));
}

// Values, columns and row starts.
nb::tuple to_arrays(CsrArrays&& rows) {
    if (rows.wide)
        return nb::make_tuple(to_array(std::move(rows.values)),
                              to_array(std::move(rows.wide_index)),
                              to_array(std::move(rows.wide_start)));
    return nb::make_tuple(to_array(std::move(rows.values)), to_array(std::move(rows.index)),
                          to_array(std::move(rows.start)));
}

nb::object to_str(std::string_view text) {
    return nb::steal(
        PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr));
}

// Equal texts share one object.
nb::list to_strings(const Texts& texts) {
    nb::list out;
    std::unordered_map<std::string_view, nb::object> seen;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        nb::object& found = seen[texts[i]];
        if (!found.is_valid()) {
            found = to_str(texts[i]);
            if (!found.is_valid()) throw nb::python_error();
        }
        out.append(found);
    }
    return out;
}

template <class Reason>
nb::list to_list(const Faults<Reason>& faults) {
    nb::list out;
    for (const auto& fault : faults.first)
        out.append(nb::make_tuple(fault.line, fault.column, static_cast<int>(fault.reason),
                                  nb::bytes(fault.text.data(), fault.text.size())));
    return out;
}

template <class Reader>
void feed(Reader& reader, nb::handle chunk) {
    const Bytes bytes(chunk);
    nb::gil_scoped_release no_gil;
    reader.feed(bytes.data(), bytes.size());
}

template <class Reader>
void finish(Reader& reader) {
    nb::gil_scoped_release no_gil;
    reader.finish();
}

nb::tuple take_svmlight(SvmlightReader& reader, std::int64_t most) {
    check(most >= 0, "the number of rows is not negative");
    SvmlightBatch batch = reader.take(most);
    nb::object labels =
        batch.is_text ? nb::object(to_strings(batch.label_text)) : to_array(std::move(batch.label));
    nb::object qid = batch.has_qid ? to_array(std::move(batch.qid)) : nb::none();
    return nb::make_tuple(to_arrays(std::move(batch.rows)), batch.n_features, labels, qid);
}

void make_svmlight(SvmlightReader* self, std::optional<int> index_base,
                   std::optional<std::int64_t> n_features, int labels, bool skip, int n_threads) {
    check(!index_base || *index_base == 0 || *index_base == 1, "the base is 0 or 1");
    check(!n_features || (*n_features >= 0 && *n_features <= kLargestColumn),
          "the number of columns is outside");
    check(labels >= 0 && labels <= 2, "labels are 0 (either), 1 (numbers) or 2 (text)");
    check(n_threads >= 1, "at least one thread is needed");
    const SvmlightOptions options{index_base, n_features, static_cast<LabelKind>(labels), skip,
                                  n_threads};
    new (self) SvmlightReader(options, poll_signals);
}

void make_vw(VwReader* self, std::optional<int> bits, bool skip, int n_threads) {
    check(!bits || (*bits >= 1 && *bits <= 31), "bits are 1 to 31");
    check(n_threads >= 1, "at least one thread is needed");
    new (self) VwReader(VwOptions{bits, skip, n_threads}, poll_signals);
}

nb::tuple take_vw(VwReader& reader, std::int64_t most) {
    check(most >= 0, "the number of rows is not negative");
    VwBatch batch = reader.take(most);
    return nb::make_tuple(to_arrays(std::move(batch.rows)), batch.n_features,
                          to_array(std::move(batch.label)), to_array(std::move(batch.weight)),
                          to_array(std::move(batch.base)), to_strings(batch.tag));
}

nb::list names_of(const VwReader& reader, std::size_t first) {
    nb::list out;
    for (std::size_t i = first; i < reader.names().size(); ++i) {
        nb::object name = to_str(reader.names()[i]);
        if (!name.is_valid()) throw nb::python_error();
        out.append(name);
    }
    return out;
}

// Shared by both readers.
template <class Reader, class Class>
void bind_stream(Class& bound) {
    bound.def("feed", &feed<Reader>, nb::arg("chunk"))
        .def("finish", &finish<Reader>)
        .def_prop_ro("n_rows", &Reader::n_rows, "Rows that wait to be taken.")
        .def_prop_ro("n_faults", [](const Reader& reader) { return reader.faults().count; })
        .def_prop_ro(
            "faults", [](const Reader& reader) { return to_list(reader.faults()); },
            "Line, byte, reason and text of the first lines refused.");
}

}  // namespace

void bind_parsers(nb::module_& m) {
    nb::class_<SvmlightReader> svmlight(m, "SvmlightParser",
                                        "svmlight text to rows; see data/svmlight.hpp.");
    svmlight
        .def("__init__", &make_svmlight, nb::arg("index_base").none(), nb::arg("n_features").none(),
             nb::arg("labels"), nb::arg("skip"), nb::arg("n_threads"))
        .def("take", &take_svmlight, nb::arg("most"),
             "The arrays of the rows, the number of columns, labels (numbers or texts), queries.")
        .def_prop_ro("base", &SvmlightReader::base)
        .def_prop_ro("edge_line", &SvmlightReader::edge_line);
    bind_stream<SvmlightReader>(svmlight);
    nb::class_<VwReader> vw(m, "VwParser", "Vowpal Wabbit text to rows; see data/vw_text.hpp.");
    vw.def("__init__", &make_vw, nb::arg("bits").none(), nb::arg("skip"), nb::arg("n_threads"))
        .def("take", &take_vw, nb::arg("most"),
             "The arrays of the rows, the number of columns, labels, weights, base, tags.")
        .def("names", &names_of, nb::arg("first"), "The names of columns from the first one on.");
    bind_stream<VwReader>(vw);
}
