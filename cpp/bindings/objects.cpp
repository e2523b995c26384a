// Python objects as data: columns of objects, and rows as dicts. The GIL is held throughout, since
// every value is a Python object.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "arrays.hpp"
#include "separable/features/factorize.hpp"

using namespace separable;

namespace {

// Buffer of a two-dimensional NumPy array of objects.
class ObjectTable {
   public:
    explicit ObjectTable(nb::handle array) {
        if (PyObject_GetBuffer(array.ptr(), &view_, PyBUF_RECORDS_RO) != 0)
            throw nb::python_error();
        if (view_.ndim != 2 || view_.format == nullptr || std::string(view_.format) != "O") {
            PyBuffer_Release(&view_);
            throw std::invalid_argument("an array of objects with two dimensions is needed");
        }
    }
    ObjectTable(const ObjectTable&) = delete;
    ObjectTable& operator=(const ObjectTable&) = delete;
    ~ObjectTable() { PyBuffer_Release(&view_); }

    std::int64_t n_rows() const { return view_.shape[0]; }
    std::int64_t n_columns() const { return view_.shape[1]; }
    PyObject* at(std::int64_t i, std::int64_t j) const {
        PyObject* value = *reinterpret_cast<PyObject**>(
            static_cast<char*>(view_.buf) + i * view_.strides[0] + j * view_.strides[1]);
        return value == nullptr ? Py_None : value;  // NumPy may leave entries null
    }

   private:
    Py_buffer view_;
};

// The bytes of a str as Python stores them: equal texts have equal kind and bytes.
struct TextBytes {
    const unsigned char* data;
    std::size_t size;
    int kind;
    ShortWords words;  // of up to 16 bytes

    explicit TextBytes(PyObject* text) {
        kind = static_cast<int>(PyUnicode_KIND(text));
        data = static_cast<const unsigned char*>(PyUnicode_DATA(text));
        size =
            static_cast<std::size_t>(PyUnicode_GET_LENGTH(text)) * static_cast<std::size_t>(kind);
        if (size <= 16) words = ShortWords(data, size);
    }
    bool operator==(const TextBytes& other) const {
        if (size <= 16) return size == other.size && kind == other.kind && words == other.words;
        return size == other.size && kind == other.kind && std::memcmp(data, other.data, size) == 0;
    }
};

// Codes of objects: texts by their bytes, all NaN as one value, other objects as dict keys.
class ObjectCodes {
   public:
    std::int32_t code(PyObject* value, std::int64_t place) {
        if (PyUnicode_Check(value)) return text_code(value, place);
        if (PyFloat_Check(value) && std::isnan(PyFloat_AS_DOUBLE(value))) {
            if (nan_ < 0) nan_ = fresh(place);
            return nan_;
        }
        nb::object known = nb::borrow(PyDict_GetItemWithError(others_.ptr(), value));
        if (known.is_valid()) return nb::cast<std::int32_t>(known);
        if (PyErr_Occurred()) throw nb::python_error();
        const std::int32_t code = fresh(place);
        if (PyDict_SetItem(others_.ptr(), value, nb::int_(code).ptr()) != 0)
            throw nb::python_error();
        return code;
    }
    std::vector<std::int64_t>&& firsts() { return std::move(firsts_); }

    std::int32_t text_code(PyObject* value, std::int64_t place) {
        const TextBytes text(value);
        const auto same = [&](std::int32_t t) {
            return texts_[static_cast<std::size_t>(t)] == text;
        };
        const std::int32_t t = table_.code(hash_bytes(text.data, text.size), same);
        if (static_cast<std::size_t>(t) == texts_.size()) {
            texts_.push_back(text);
            kept_.push_back(nb::borrow(value));
            codes_.push_back(fresh(place));
        }
        return codes_[static_cast<std::size_t>(t)];
    }

   private:
    std::int32_t fresh(std::int64_t place) {
        firsts_.push_back(place);
        return static_cast<std::int32_t>(firsts_.size() - 1);
    }

    CodeTable table_;
    std::vector<TextBytes> texts_;
    std::vector<nb::object> kept_;     // the texts, to keep their bytes alive
    std::vector<std::int32_t> codes_;  // of the texts
    std::vector<std::int64_t> firsts_;
    std::int32_t nan_ = -1;
    nb::dict others_;
};

// Cache of recent objects by address: columns often repeat the same object.
class RecentCodes {
   public:
    std::int32_t& at(PyObject* value, bool& known) {
        Entry& entry = entries_[(reinterpret_cast<std::uintptr_t>(value) >> 4) % kEntries];
        known = entry.value == value;
        entry.value = value;
        ++looked_, found_ += known;
        return entry.code;
    }

    // Whether enough objects recur for the cache to pay.
    bool helps() const { return looked_ < 4096 || found_ * 4 > looked_; }

   private:
    std::int64_t looked_ = 0, found_ = 0;
    struct Entry {
        PyObject* value = nullptr;
        std::int32_t code = 0;
    };
    static constexpr std::size_t kEntries = 1024;
    std::vector<Entry> entries_ = std::vector<Entry>(kEntries);
};

// Factorization of one column.
struct ObjectColumn {
    ObjectCodes all;
    RecentCodes recent;

    // Borrowed references: counting references would write to every object.
    std::int32_t code_of(PyObject* value, std::int64_t place) {
        if (PyUnicode_CheckExact(value)) return all.text_code(value, place);
        const nb::object kept = nb::borrow(value);
        return all.code(value, place);
    }

    void add(const ObjectTable& table, std::int64_t column, std::int64_t first, std::int64_t last,
             std::int32_t* codes) {
        constexpr std::int64_t ahead = 16;
        for (std::int64_t i = first; i < last; ++i) {
            if (i + ahead < last) {
                const char* next = reinterpret_cast<const char*>(table.at(i + ahead, column));
                __builtin_prefetch(next);
                __builtin_prefetch(next + 48);
            }
            PyObject* value = table.at(i, column);
            if (!recent.helps()) {
                codes[i] = code_of(value, i);
                continue;
            }
            bool known = false;
            std::int32_t& code = recent.at(value, known);
            if (!known) code = code_of(value, i);
            codes[i] = code;
        }
    }
};

// Iterates over blocks of rows, all columns each: in a C-ordered array a single column would load
// all others into the cache.
nb::list factorize_objects(nb::handle values, Mutable<std::int32_t, 2> codes) {
    constexpr std::int64_t block = 2048;
    const ObjectTable table(values);
    const std::int64_t n = table.n_rows(), n_columns = table.n_columns();
    check(static_cast<std::int64_t>(codes.shape(0)) == n_columns &&
              static_cast<std::int64_t>(codes.shape(1)) == n,
          "codes must have one row a column");
    std::vector<ObjectColumn> columns(static_cast<std::size_t>(n_columns));
    for (std::int64_t first = 0; first < n; first += block) {
        if (first % (64 * block) == 0) poll_signals();
        const std::int64_t last = std::min(first + block, n);
        for (std::int64_t j = 0; j < n_columns; ++j)
            columns[static_cast<std::size_t>(j)].add(table, j, first, last, codes.data() + j * n);
    }
    nb::list firsts;
    for (ObjectColumn& column : columns) firsts.append(owned(column.all.firsts()));
    return firsts;
}

// --- rows as dicts ---

[[noreturn]] void refuse(PyObject* type, const std::string& message) {
    PyErr_SetString(type, message.c_str());
    throw nb::python_error();
}

std::string shown(PyObject* value) {
    nb::object text = nb::steal(PyObject_Repr(value));
    if (!text.is_valid()) throw nb::python_error();
    const char* letters = PyUnicode_AsUTF8(text.ptr());
    if (letters == nullptr) throw nb::python_error();
    return letters;
}

// The entries of rows as dicts: calls `number(key, x)` or `level(key, text)` for each.
template <class Visitor>
class DictReader {
   public:
    DictReader(Visitor& visitor, bool keep_missing)
        : visitor_(visitor), keep_missing_(keep_missing) {}

    void read(PyObject* record, std::int64_t row) {
        row_ = row;
        if (PyDict_CheckExact(record)) {
            PyObject *key = nullptr, *value = nullptr;
            Py_ssize_t at = 0;
            while (PyDict_Next(record, &at, &key, &value)) {
                const nb::object kept_key = nb::borrow(key), kept_value = nb::borrow(value);
                entry(key, value);
            }
            return;
        }
        if (!PyObject_HasAttrString(record, "items"))
            refuse(PyExc_TypeError,
                   "Expected rows that are dicts, but row " + std::to_string(row_) + " is a " +
                       std::string(Py_TYPE(record)->tp_name) + ". Give each value its name.");
        nb::object items = nb::steal(PyMapping_Items(record));
        if (!items.is_valid()) throw nb::python_error();
        for (nb::handle item : items) {
            nb::object key = item[0], value = item[1];
            entry(key.ptr(), value.ptr());
        }
    }

   private:
    void entry(PyObject* key, PyObject* value) {
        if (PyUnicode_Check(value)) return visitor_.level(key, value);
        if (value == Py_None) return missing(key);
        if (PyFloat_Check(value) || PyLong_Check(value)) return number(key, value);
        if (PyList_Check(value) || PyTuple_Check(value) || PyAnySet_Check(value))
            return levels(key, value);
        const PyNumberMethods* numbers = Py_TYPE(value)->tp_as_number;
        if (numbers != nullptr && numbers->nb_float != nullptr &&
            Py_TYPE(value)->tp_iter == nullptr)
            return number(key, value);
        if (!PyDict_Check(value) && Py_TYPE(value)->tp_iter != nullptr) return levels(key, value);
        unsupported(key, value, "a number, a text or a list of texts");
    }
    void number(PyObject* key, PyObject* value) {
        const double x = PyFloat_AsDouble(value);
        if (x == -1.0 && PyErr_Occurred()) throw nb::python_error();
        if (std::isinf(x)) unsupported(key, value, "a finite number");
        if (std::isnan(x)) return missing(key);
        visitor_.number(key, x);
    }
    void missing(PyObject* key) {
        if (keep_missing_) visitor_.number(key, std::nan(""));
    }
    void levels(PyObject* key, PyObject* values) {
        nb::object iterator = nb::steal(PyObject_GetIter(values));
        if (!iterator.is_valid()) throw nb::python_error();
        while (PyObject* next = PyIter_Next(iterator.ptr())) {
            nb::object each = nb::steal(next);
            if (!PyUnicode_Check(next)) unsupported(key, next, "a text, as all of a list must be");
            visitor_.level(key, next);
        }
        if (PyErr_Occurred()) throw nb::python_error();
    }
    [[noreturn]] void unsupported(PyObject* key, PyObject* value, const char* wanted) {
        refuse(PyExc_TypeError, "Row " + std::to_string(row_) + ", feature " + shown(key) +
                                    ": expected " + wanted + ", got " + shown(value) + " (" +
                                    Py_TYPE(value)->tp_name + ").");
    }

    Visitor& visitor_;
    bool keep_missing_;
    std::int64_t row_ = 0;
};

nb::object found(PyObject* dict, PyObject* key) {
    PyObject* value = PyDict_GetItemWithError(dict, key);
    if (value == nullptr && PyErr_Occurred()) throw nb::python_error();
    return nb::borrow(value);
}

void put(PyObject* dict, PyObject* key, PyObject* value) {
    if (PyDict_SetItem(dict, key, value) != 0) throw nb::python_error();
}

// Collects the numeric keys and the levels, numbered as they first occur.
struct DictNames {
    nb::dict numbers, levels;  // key -> number; key -> {text -> number}
    std::int64_t n_names = 0;

    void add(PyObject* dict, PyObject* key) {
        if (!found(dict, key).is_valid()) put(dict, key, nb::int_(n_names++).ptr());
    }
    void number(PyObject* key, double) { add(numbers.ptr(), key); }
    void level(PyObject* key, PyObject* text) {
        nb::object texts = found(levels.ptr(), key);
        if (!texts.is_valid()) {
            texts = nb::dict();
            put(levels.ptr(), key, texts.ptr());
        }
        add(texts.ptr(), text);
    }
};

void dict_names(nb::list records, nb::dict numbers, nb::dict levels, bool keep_missing) {
    DictNames names{numbers, levels};
    DictReader<DictNames> reader(names, keep_missing);
    for (std::size_t i = 0; i < nb::len(records); ++i) {
        if (i % 65536 == 65535) poll_signals();
        nb::object record = records[i];
        reader.read(record.ptr(), static_cast<std::int64_t>(i));
    }
}

// Writes rows in order; counts entries without a column.
struct DictWriter {
    PyObject *numbers, *levels;  // key -> place; key -> {text -> place}
    std::vector<std::pair<std::int64_t, double>> row;
    std::vector<double> values;
    std::vector<std::int64_t> indices, indptr{0};
    nb::list unseen;  // pairs of key and text, or key and None
    std::int64_t n_unseen = 0;
    static constexpr std::int64_t kExamples = 1000;

    void place(const nb::object& at, double x, PyObject* key, PyObject* text) {
        if (at.is_valid()) {
            row.emplace_back(PyLong_AsLongLong(at.ptr()), x);
        } else if (n_unseen++ < kExamples) {
            unseen.append(nb::make_tuple(nb::borrow(key), nb::borrow(text)));
        }
    }
    void number(PyObject* key, double x) { place(known(numbers, key), x, key, Py_None); }
    void level(PyObject* key, PyObject* text) {
        const nb::object texts = known(levels, key);
        const bool has_texts = texts.is_valid() && PyDict_Check(texts.ptr());
        place(has_texts ? found(texts.ptr(), text) : nb::object(), 1.0, key, text);
    }
    // Other keys are also looked up by their text, which is how a model file stores them.
    static nb::object known(PyObject* dict, PyObject* key) {
        nb::object there = found(dict, key);
        if (there.is_valid() || PyUnicode_Check(key)) return there;
        const nb::object text = nb::steal(PyObject_Str(key));
        if (!text.is_valid()) throw nb::python_error();
        return found(dict, text.ptr());
    }
    void end_row() {
        const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
        std::stable_sort(row.begin(), row.end(), before);
        for (std::size_t k = 0; k < row.size();) {
            double x = 0;
            const std::int64_t at = row[k].first;
            for (; k < row.size() && row[k].first == at; ++k) x += row[k].second;
            if (x != 0) values.push_back(x), indices.push_back(at);
        }
        row.clear();
        indptr.push_back(static_cast<std::int64_t>(indices.size()));
    }
};

nb::object dict_rows(nb::list records, nb::dict numbers, nb::dict levels, bool keep_missing) {
    DictWriter writer{numbers.ptr(), levels.ptr(), {}, {}, {}, {0}, {}, 0};
    DictReader<DictWriter> reader(writer, keep_missing);
    for (std::size_t i = 0; i < nb::len(records); ++i) {
        if (i % 65536 == 65535) poll_signals();
        nb::object record = records[i];
        reader.read(record.ptr(), static_cast<std::int64_t>(i));
        writer.end_row();
    }
    return nb::make_tuple(owned(std::move(writer.values)), owned(std::move(writer.indices)),
                          owned(std::move(writer.indptr)), writer.n_unseen, writer.unseen);
}

}  // namespace

void bind_objects(nb::module_& m) {
    m.def("factorize_objects", &factorize_objects, nb::arg("values"), nb::arg("codes"),
          "Number different objects of each column; returns the first places of each.");
    m.def("dict_names", &dict_names, nb::arg("records"), nb::arg("numbers"), nb::arg("levels"),
          nb::arg("keep_missing"),
          "Number the names of numbers and of levels in rows that are dicts.");
    m.def("dict_rows", &dict_rows, nb::arg("records"), nb::arg("numbers"), nb::arg("levels"),
          nb::arg("keep_missing"),
          "Turn rows that are dicts into CSR: values, indices, indptr, and what has no place.");
}
