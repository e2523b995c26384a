// Shared by the bindings of texts: documents, rows of counts, names.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "separable/text/blocks.hpp"
#include "separable/text/text_rows.hpp"

using namespace separable;
using namespace separable::text;

// Uninitialized array, in huge pages if it is large.
template <class T>
struct Room {
    explicit Room(std::size_t n) : size(n), data(LargePages<T>().allocate(n)) {}
    ~Room() {
        if (data != nullptr) LargePages<T>().deallocate(data, size);
    }
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;

    Array<T> array() {
        auto* const kept = new Room<T>(std::exchange(data, nullptr), size);
        const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Room<T>*>(p); });
        return Array<T>(kept->data, {size}, owner);
    }

    std::size_t size;
    T* data;

   private:
    Room(T* data, std::size_t n) : size(n), data(data) {}
};

inline std::string_view utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// Bytes followed by 8 readable bytes, as the maps require.
class Padded {
   public:
    std::string_view operator()(std::string_view text) {
        buffer_.assign(text.begin(), text.end());
        buffer_.resize(text.size() + 8);
        return {buffer_.data(), text.size()};
    }

   private:
    std::vector<char> buffer_;
};

// Texts of the caller, kept alive.
class BoundDocuments {
   public:
    // Adds the texts of a list; returns the index of the first that is not valid UTF-8 text, or -1.
    std::int64_t add_list(nb::list texts) {
        keep_.append(texts);
        documents.reserve(documents.size() + texts.size());
        for (std::size_t i = 0; i < texts.size(); ++i) {
            PyObject* const text = PyList_GET_ITEM(texts.ptr(), static_cast<Py_ssize_t>(i));
            if (!PyUnicode_Check(text)) return static_cast<std::int64_t>(i);
            Py_ssize_t size = 0;
            const char* const data = PyUnicode_AsUTF8AndSize(text, &size);
            if (data == nullptr) PyErr_Clear();
            const bool ascii = PyUnicode_IS_ASCII(text);
            if (data == nullptr ||
                !documents.add_known({data, static_cast<std::size_t>(size)}, ascii))
                return static_cast<std::int64_t>(i);
        }
        return -1;
    }

    template <class Offset>
    std::int64_t add_arrow(Const<std::uint8_t> bytes, Const<Offset> offsets) {
        check(offsets.size() >= 1, "offsets are missing");
        bytes_.push_back(bytes);
        const auto* const data = reinterpret_cast<const char*>(bytes.data());
        const std::size_t n = offsets.size() - 1;
        const Offset* const at = offsets.data();
        for (std::size_t i = 0; i < n; ++i)
            check(at[i] >= 0 && at[i] <= at[i + 1] &&
                      static_cast<std::size_t>(at[i + 1]) <= bytes.size(),
                  "an offset is outside");
        nb::gil_scoped_release no_gil;
        documents.reserve(documents.size() + n);
        for (std::size_t i = 0; i < n; ++i)
            if (!documents.add({data + at[i], static_cast<std::size_t>(at[i + 1] - at[i])}))
                return static_cast<std::int64_t>(i);
        return -1;
    }

    // The documents with a character that only Python can convert to lower case.
    Array<std::int64_t> special(Const<std::uint8_t> flags, std::uint8_t flag) const {
        check(flags.size() == kCodePoints, "the alphabet does not fit");
        std::vector<std::int64_t> found;
        {
            nb::gil_scoped_release no_gil;
            for (std::size_t i = 0; i < documents.size(); ++i) {
                const auto [text, ascii] = documents[i];
                if (ascii) continue;
                const char* const end = text.data() + text.size();
                for (const char* p = text.data(); p < end;) {
                    if (static_cast<std::uint8_t>(*p) < 0x80) {
                        ++p;
                        continue;
                    }
                    const CodePoint c = decode(p, end);
                    if (flags.data()[c.value] & flag) {
                        found.push_back(static_cast<std::int64_t>(i));
                        break;
                    }
                    p += c.length;
                }
            }
        }
        return owned(std::move(found));
    }

    nb::str text(std::size_t i) const {
        check(i < documents.size(), "there is no such document");
        return nb::str(documents[i].text.data(), documents[i].text.size());
    }

    void replace(std::size_t i, nb::str text) {
        check(i < documents.size(), "there is no such document");
        keep_.append(text);
        documents.replace(i, utf8_of(text));
    }

    Documents documents;

   private:
    nb::list keep_;
    std::vector<Const<std::uint8_t>> bytes_;
};

using Flags = std::optional<Const<std::uint8_t>>;
using Lower = std::optional<Const<std::uint32_t>>;

inline Alphabet alphabet_of(const BoundDocuments& bound, const Flags& flags, const Lower& lower) {
    check(bound.documents.ascii() || (flags && lower), "an alphabet is needed");
    if (!flags || !lower) return {};
    check(flags->size() == kCodePoints && lower->size() == kCodePoints,
          "the alphabet does not fit");
    return {flags->data(), lower->data()};
}

struct BoundTextRows {
    TextRows blocks;
    bool by_column = false;
    std::int64_t n_rows() const { return n_rows_of(blocks); }
};

inline Analyzer analyzer_of(const std::string& name) {
    if (name == "char") return Analyzer::kChar;
    if (name == "char_wb") return Analyzer::kCharWb;
    check(name == "word", "the analyzer is not known");
    return Analyzer::kWord;
}

template <class T>
nb::tuple matrix(BoundTextRows& rows, std::size_t n_columns, bool binary, const std::string& norm,
                 const std::optional<Const<T>>& idf, const std::optional<Const<T>>& log,
                 std::size_t n_threads) {
    check(rows.by_column, "the rows have no columns yet");
    check(!idf || idf->size() == n_columns, "one idf a column is needed");
    Weighting<T> weigh;
    weigh.binary = binary;
    weigh.norm = norm == "l1" ? Norm::kL1 : norm == "l2" ? Norm::kL2 : Norm::kNone;
    if (idf) weigh.idf = idf->data();
    if (log) weigh.log = log->data(), weigh.n_logs = log->size();
    std::int64_t size = 0;
    for (const RowBlock& block : rows.blocks) size += block.rows.size();
    const auto n = static_cast<std::size_t>(size), n_rows = static_cast<std::size_t>(rows.n_rows());
    Room<T> values(n);
    Room<std::int32_t> indices(n);
    Room<std::int64_t> ends(n_rows + 1);
    std::int64_t* const indptr = ends.data;
    indptr[0] = 0;
    {
        nb::gil_scoped_release no_gil;
        std::vector<std::size_t> first;
        std::size_t row = 0;
        std::int64_t at = 0;
        for (const RowBlock& block : rows.blocks) {
            first.push_back(row);
            indptr[row] = at;
            row += block.rows.n_rows(), at += block.rows.size();
        }
        share_out(rows.blocks.size(), n_threads, [&](std::size_t b) {
            write_rows(rows.blocks[b], weigh, values.data, indices.data, indptr + first[b]);
        });
    }
    rows.blocks.clear();
    return nb::make_tuple(values.array(), indices.array(), ends.array());
}

// Calls visit(name) for each of the concatenated names, after checking all.
template <class Visit>
void for_names(const Const<std::uint8_t>& bytes, const Const<std::int64_t>& offsets, Visit visit) {
    const std::int64_t* const at = offsets.data();
    check(offsets.size() >= 1 && at[0] == 0 &&
              at[offsets.size() - 1] == static_cast<std::int64_t>(bytes.size()),
          "the offsets of names do not fit");
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
        check(at[i] <= at[i + 1], "the offsets of names do not rise");
    const auto* const data = reinterpret_cast<const char*>(bytes.data());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const std::string_view name(data + at[i], static_cast<std::size_t>(at[i + 1] - at[i]));
        check(is_utf8(name), "a name is not UTF-8");
        visit(name);
    }
}
