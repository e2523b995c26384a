#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <deque>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "rows.hpp"
#include "separable/text/blocks.hpp"
#include "separable/text/hashing.hpp"
#include "separable/text/lookup.hpp"

using namespace separable;
using namespace separable::text;

namespace {

template <class T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

template <class T>
Array<T> own(std::unique_ptr<T[]> data, std::size_t n) {
    T* const raw = data.release();
    const nb::capsule owner(raw, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return Array<T>(raw, {n}, owner);
}

// An array that is not filled yet, of large pages where it is large.
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

template <class T>
Array<T> own(const std::vector<T>& from) {
    std::unique_ptr<T[]> data(new T[from.size()]);
    std::copy(from.begin(), from.end(), data.get());
    return own(std::move(data), from.size());
}

std::string_view utf8_of(nb::handle text) {
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// Bytes with 8 to read behind them, as the maps want.
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

// Texts of the caller, kept alive here.
class BoundDocuments {
   public:
    // Adds the texts of a list; returns the place of the first that is not text as UTF-8 has it,
    // or -1.
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
        keep_.append(nb::cast(bytes));
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

    // The documents with a character that only Python can turn into lower case.
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
        return own(found);
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
};

using Flags = std::optional<Const<std::uint8_t>>;
using Lower = std::optional<Const<std::uint32_t>>;

Alphabet alphabet_of(const BoundDocuments& bound, const Flags& flags, const Lower& lower) {
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

Analyzer analyzer_of(const std::string& name) {
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

// Calls visit(name) for each of the names laid one behind the other, all checked first.
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

// Grams, what was counted of them, and the columns they have.
class BoundCounter {
   public:
    BoundCounter(const std::string& analyzer, bool lowercase, std::uint32_t shortest,
                 std::uint32_t min_n, std::uint32_t max_n, nb::list stop_words)
        : analyzer_(analyzer == "tokens" ? Analyzer::kWord : analyzer_of(analyzer)),
          whole_(analyzer == "tokens"),
          lowercase_(lowercase),
          shortest_(shortest),
          counter_({min_n, max_n}, 0) {
        check(shortest >= 1, "a word has one character or more");
        check(min_n >= 1 && min_n <= max_n, "the range of n-grams must rise from 1");
        Counter fresh({min_n, max_n}, static_cast<std::uint32_t>(stop_words.size()));
        Padded padded;
        for (const nb::handle word : stop_words) fresh.add_stop_word(padded(utf8_of(word)));
        check(fresh.grams().size() == stop_words.size(), "stop words must differ");
        counter_ = std::move(fresh);
    }

    std::int64_t n_documents() const { return counter_.n_documents(); }
    std::size_t n_columns() const { return vocabulary_.size(); }
    std::size_t n_grams() const { return counter_.grams().size(); }

    std::optional<BoundTextRows> count(const BoundDocuments& bound, const Flags& flags,
                                       const Lower& lower, std::size_t n_threads, bool keep) {
        check(!whole_, "this counter takes tokens");
        refuse_broken();
        const Alphabet alphabet = alphabet_of(bound, flags, lower);
        BoundTextRows out;
        labelled_ = false, broken_ = true;  // until it has gone well
        {
            nb::gil_scoped_release no_gil;
            const std::size_t n_blocks = bound.documents.blocks(n_threads).size() - 1;
            std::vector<Counter> others(n_blocks - 1, fresh_counter());
            out.blocks.resize(n_blocks);
            for_blocks(bound.documents, n_threads, poll_signals,
                       [&](std::size_t b, std::size_t first, std::size_t last, Pulse& pulse) {
                           Scanner scanner(analyzer_, lowercase_, shortest_, alphabet);
                           Counter& counter = b == 0 ? counter_ : others[b - 1];
                           for (std::size_t i = first; i < last && pulse(); ++i) {
                               scanner.scan(bound.documents[i]);
                               counter.count(scanner);
                               if (keep) out.blocks[b].rows.add(counter.row());
                           }
                       });
            for (std::size_t b = 1; b < n_blocks; ++b) {
                out.blocks[b].ids = counter_.merge(others[b - 1]);
                others[b - 1] = Counter(counter_.range(), 0);
            }
        }
        broken_ = false;
        if (!keep) return std::nullopt;
        return out;
    }

    // Counts documents that are lists of features already, some documents at a time.
    std::optional<BoundTextRows> count_tokens(nb::iterable chunks, bool keep) {
        check(whole_, "this counter takes documents");
        refuse_broken();
        BoundTextRows out;
        out.blocks.resize(1);
        labelled_ = false, broken_ = true;
        Padded padded;
        for (const nb::handle chunk : chunks)
            for (const nb::handle document : chunk) {
                counter_.begin();
                for (const nb::handle token : document) counter_.tick_token(padded(utf8_of(token)));
                counter_.end();
                if (keep) out.blocks[0].rows.add(counter_.row());
            }
        broken_ = false;
        if (!keep) return std::nullopt;
        return out;
    }

    void merge(const BoundCounter& other) {
        refuse_broken(), other.refuse_broken();
        check(&other != this, "a counter cannot take in itself");
        nb::gil_scoped_release no_gil;
        counter_.merge(other.counter_);
    }

    // Numbers the grams that low to high documents have; returns how many there are.
    std::size_t order(double low, double high) {
        refuse_broken();
        labelled_ = false;
        nb::gil_scoped_release no_gil;
        vocabulary_ = Vocabulary::sorted(counter_.grams(), [&](std::uint32_t i) {
            const double df = counter_.totals(i).df;
            return df > 0 && df >= low && df <= high;
        });
        return vocabulary_.size();
    }

    void limit(Const<std::uint8_t> marked) {
        check(marked.size() == vocabulary_.size(), "one mark a column is needed");
        vocabulary_.limit(marked.data());
        labelled_ = false;
    }

    // To be called before `encode`, which several threads may be in at once.
    void label() {
        if (labelled_) return;
        nb::gil_scoped_release no_gil;
        counter_.grams().label([&](std::uint32_t id) { return vocabulary_.column(id); });
        labelled_ = true;
    }

    Array<std::int64_t> df() const {
        return by_column([](const Totals& totals) { return std::int64_t{totals.df}; });
    }
    Array<std::int64_t> tf() const {
        return by_column([](const Totals& totals) { return static_cast<std::int64_t>(totals.tf); });
    }

    // Gives a counter that has counted nothing its columns: names as bytes and their ends.
    void set_names(Const<std::uint8_t> bytes, Const<std::int64_t> offsets) {
        check(counter_.n_documents() == 0 && vocabulary_.size() == 0, "there are columns already");
        std::vector<std::uint32_t> ids;
        nb::gil_scoped_release no_gil;
        for_names(bytes, offsets, [&](std::string_view name) { ids.push_back(gram_of(name)); });
        counter_.settle();
        std::vector<std::uint32_t> differ = ids;
        std::sort(differ.begin(), differ.end());
        check(std::adjacent_find(differ.begin(), differ.end()) == differ.end(),
              "names must differ");
        vocabulary_ = Vocabulary::given(counter_.grams(), std::move(ids));
        labelled_ = false;
    }

    // The names of columns first to last: bytes, and where each ends.
    nb::tuple names(std::size_t first, std::size_t last) const {
        check(first <= last && last <= vocabulary_.size(), "there are no such columns");
        std::string bytes;
        std::vector<std::int64_t> offsets{0};
        {
            nb::gil_scoped_release no_gil;
            const std::string_view separator = whole_ || analyzer_ != Analyzer::kWord ? "" : " ";
            for (std::size_t c = first; c < last; ++c) {
                counter_.grams().append_name(vocabulary_.id(c), separator, bytes);
                offsets.push_back(static_cast<std::int64_t>(bytes.size()));
            }
        }
        std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[bytes.size()]);
        std::memcpy(copy.get(), bytes.data(), bytes.size());
        return nb::make_tuple(own(std::move(copy), bytes.size()), own(offsets));
    }

    // Counts by gram, as `count` gave them, to counts by column.
    void to_columns(BoundTextRows& rows, std::size_t n_threads) const {
        check(!rows.by_column, "the rows have columns already");
        nb::gil_scoped_release no_gil;
        for (const RowBlock& block : rows.blocks)
            check(block.fits(counter_.grams().size()), "the rows are of another counter");
        share_out(rows.blocks.size(), n_threads,
                  [&](std::size_t b) { separable::text::to_columns(rows.blocks[b], vocabulary_); });
        rows.by_column = true;
    }

    BoundTextRows encode(const BoundDocuments& bound, const Flags& flags, const Lower& lower,
                         std::size_t n_threads) const {
        check(!whole_, "this counter takes tokens");
        check(labelled_, "label comes first");
        const Alphabet alphabet = alphabet_of(bound, flags, lower);
        BoundTextRows out;
        out.by_column = true;
        nb::gil_scoped_release no_gil;
        out.blocks.resize(bound.documents.blocks(n_threads).size() - 1);
        for_blocks(bound.documents, n_threads, poll_signals,
                   [&](std::size_t b, std::size_t first, std::size_t last, Pulse& pulse) {
                       Scanner scanner(analyzer_, lowercase_, shortest_, alphabet);
                       Lookup lookup(counter_, vocabulary_.size());
                       for (std::size_t i = first; i < last && pulse(); ++i) {
                           scanner.scan(bound.documents[i]);
                           lookup.count(scanner);
                           out.blocks[b].rows.add(lookup.row());
                       }
                   });
        return out;
    }

    BoundTextRows encode_tokens(nb::iterable chunks) const {
        check(whole_, "this counter takes documents");
        check(labelled_, "label comes first");
        BoundTextRows out;
        out.by_column = true;
        out.blocks.resize(1);
        Lookup lookup(counter_, vocabulary_.size());
        Padded padded;
        for (const nb::handle chunk : chunks)
            for (const nb::handle document : chunk) {
                lookup.begin();
                for (const nb::handle token : document) lookup.tick_token(padded(utf8_of(token)));
                lookup.end();
                out.blocks[0].rows.add(lookup.row());
            }
        return out;
    }

    template <class T>
    nb::tuple matrix(BoundTextRows& rows, bool binary, const std::string& norm,
                     const std::optional<Const<T>>& idf, const std::optional<Const<T>>& log,
                     std::size_t n_threads) const {
        return ::matrix<T>(rows, vocabulary_.size(), binary, norm, idf, log, n_threads);
    }

    // Everything, as arrays; `BoundCounter(state)` is the way back.
    nb::tuple state() const {
        refuse_broken();
        const Grams& grams = counter_.grams();
        std::string bytes;
        std::vector<std::int64_t> ends;
        std::vector<std::uint32_t> parents, lasts, columns;
        std::vector<std::int64_t> tf, df;
        for (std::uint32_t i = 0; i < grams.size(); ++i) {
            parents.push_back(grams.parent(i));
            lasts.push_back(grams.is_token(i) ? kNone : grams.last(i));
            tf.push_back(static_cast<std::int64_t>(counter_.totals(i).tf));
            df.push_back(counter_.totals(i).df);
            if (!grams.is_token(i)) continue;
            bytes += grams.token(i);
            ends.push_back(static_cast<std::int64_t>(bytes.size()));
        }
        for (std::size_t c = 0; c < vocabulary_.size(); ++c) columns.push_back(vocabulary_.id(c));
        const char* const analyzer = whole_                           ? "tokens"
                                     : analyzer_ == Analyzer::kChar   ? "char"
                                     : analyzer_ == Analyzer::kCharWb ? "char_wb"
                                                                      : "word";
        nb::list stop_words;
        for (std::uint32_t i = 0; i < counter_.n_stop_words(); ++i)
            stop_words.append(nb::str(grams.token(i).data(), grams.token(i).size()));
        return nb::make_tuple(analyzer, lowercase_, shortest_, counter_.range().min_n,
                              counter_.range().max_n, stop_words,
                              nb::bytes(bytes.data(), bytes.size()), own(ends), own(parents),
                              own(lasts), own(tf), own(df), counter_.n_documents(), own(columns));
    }

    void restore(nb::bytes bytes, Const<std::int64_t> ends, Const<std::uint32_t> parents,
                 Const<std::uint32_t> lasts, Const<std::int64_t> tf, Const<std::int64_t> df,
                 std::int64_t n_documents, Const<std::uint32_t> columns) {
        const std::size_t n = parents.size();
        check(lasts.size() == n && tf.size() == n && df.size() == n, "grams do not fit");
        Grams& grams = counter_.grams();
        Padded padded;
        std::size_t token = 0;
        std::int64_t start = 0;
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t parent = parents.data()[i], last = lasts.data()[i];
            std::uint32_t id;
            if (parent == kNone) {
                check(token < ends.size(), "a token is missing");
                const std::int64_t stop = ends.data()[token++];
                check(start <= stop && stop <= static_cast<std::int64_t>(bytes.size()),
                      "a token is outside");
                id = grams
                         .add_token(padded(
                             {bytes.c_str() + start, static_cast<std::size_t>(stop - start)}))
                         .id;
                start = stop;
            } else {
                check(parent < i && last < i && grams.is_token(last), "a gram is before its parts");
                id = grams.add(Grams::key_of(parent, last)).id;
            }
            check(id == i, "a gram is there twice");
            counter_.set_totals(i, tf.data()[i], df.data()[i]);
        }
        counter_.set_documents(n_documents);
        std::vector<std::uint32_t> ids(columns.data(), columns.data() + columns.size());
        for (const std::uint32_t id : ids) check(id < n, "a column is outside");
        vocabulary_ = Vocabulary::given(grams, std::move(ids));
    }

   private:
    Counter fresh_counter() const {
        Counter fresh(counter_.range(), counter_.n_stop_words());
        Padded padded;
        for (std::uint32_t i = 0; i < counter_.n_stop_words(); ++i)
            fresh.add_stop_word(padded(counter_.grams().token(i)));
        return fresh;
    }

    void refuse_broken() const {
        check(!broken_, "counting was interrupted, so the counts are wrong: fit again");
    }

    template <class Get>
    Array<std::int64_t> by_column(Get get) const {
        std::vector<std::int64_t> out(vocabulary_.size());
        for (std::size_t c = 0; c < out.size(); ++c)
            out[c] = get(counter_.totals(vocabulary_.id(c)));
        return own(out);
    }

    std::uint32_t gram_of(std::string_view name) {
        Padded padded;
        Grams& grams = counter_.grams();
        std::uint32_t id = kNone;
        const auto follow = [&](std::string_view token) {
            const std::uint32_t last = grams.add_token(padded(token)).id;
            id = id == kNone ? last : grams.add(Grams::key_of(id, last)).id;
        };
        if (whole_ || name.empty()) {
            follow(name);
        } else if (analyzer_ == Analyzer::kWord) {
            for (std::size_t start = 0; start <= name.size();) {
                const std::size_t stop = std::min(name.find(' ', start), name.size());
                follow(name.substr(start, stop - start));
                start = stop + 1;
            }
        } else {
            for (std::size_t start = 0; start < name.size();) {
                const CodePoint c = decode(name.data() + start, name.data() + name.size());
                follow(name.substr(start, c.length));
                start += c.length;
            }
        }
        return id;
    }

    Analyzer analyzer_;
    bool whole_, lowercase_, broken_ = false, labelled_ = false;
    std::uint32_t shortest_;
    Counter counter_;
    Vocabulary vocabulary_;
};

// Terms to columns by their hashes.
class BoundHasher {
   public:
    BoundHasher(const std::string& analyzer, bool lowercase, std::uint32_t shortest,
                std::uint32_t min_n, std::uint32_t max_n, nb::list stop_words,
                std::int64_t n_features, bool alternate_sign, std::size_t max_names)
        : analyzer_(analyzer == "tokens" ? Analyzer::kWord : analyzer_of(analyzer)),
          whole_(analyzer == "tokens"),
          lowercase_(lowercase),
          shortest_(shortest),
          range_{min_n, max_n},
          columns_{static_cast<std::uint32_t>(n_features), alternate_sign},
          max_names_(max_names),
          names_(max_names) {
        check(shortest >= 1, "a word has one character or more");
        check(min_n >= 1 && min_n <= max_n, "the range of n-grams must rise from 1");
        check(n_features >= 1 && n_features <= 0x7FFFFFFF, "there are 1 to 2147483647 columns");
        Padded padded;
        for (const nb::handle word : stop_words) stop_words_.add_token(padded(utf8_of(word)));
    }

    // Counts by column, if they are to be kept; the names of the terms are learned if asked for.
    std::optional<BoundTextRows> encode(const BoundDocuments& bound, const Flags& flags,
                                        const Lower& lower, std::size_t n_threads, bool learn,
                                        bool keep) {
        check(!whole_, "this hasher takes tokens");
        const Alphabet alphabet = alphabet_of(bound, flags, lower);
        BoundTextRows out;
        out.by_column = true;
        {
            nb::gil_scoped_release no_gil;
            const std::size_t n_blocks = bound.documents.blocks(n_threads).size() - 1;
            std::vector<Names> names(n_blocks, Names(max_names_));
            out.blocks.resize(n_blocks);
            for_blocks(bound.documents, n_threads, poll_signals,
                       [&](std::size_t b, std::size_t first, std::size_t last, Pulse& pulse) {
                           Scanner scanner(analyzer_, lowercase_, shortest_, alphabet);
                           RowSorter sorter(columns_.n);
                           std::vector<Count> row;
                           for (std::size_t i = first; i < last && pulse(); ++i) {
                               scanner.scan(bound.documents[i]);
                               prepare(scanner);
                               row.clear();
                               for_terms(scanner, range_, [&](std::string_view term) {
                                   if (keep) row.push_back(columns_(term));
                                   if (learn) names[b].add(term);
                               });
                               if (!keep) continue;
                               sorter.sort_and_add(row);
                               out.blocks[b].rows.add(row);
                           }
                       });
            if (learn)
                for (const Names& others : names) names_.merge(others);
        }
        if (!keep) return std::nullopt;
        return out;
    }

    std::optional<BoundTextRows> encode_tokens(nb::iterable chunks, bool learn, bool keep) {
        check(whole_, "this hasher takes documents");
        BoundTextRows out;
        out.by_column = true;
        out.blocks.resize(1);
        RowSorter sorter(columns_.n);
        std::vector<Count> row;
        Padded padded;
        Names names(max_names_);
        for (const nb::handle chunk : chunks)
            for (const nb::handle document : chunk) {
                row.clear();
                for (const nb::handle token : document) {
                    const std::string_view term = padded(utf8_of(token));
                    if (keep) row.push_back(columns_(term));
                    if (learn) names.add(term);
                }
                sorter.sort_and_add(row);
                if (keep) out.blocks[0].rows.add(row);
            }
        if (learn) names_.merge(names);
        if (!keep) return std::nullopt;
        return out;
    }

    void merge(const BoundHasher& other) {
        check(&other != this, "a hasher cannot take in itself");
        nb::gil_scoped_release no_gil;
        names_.merge(other.names_);
    }

    // Names, where each starts, and their columns; by column, then by name.
    nb::tuple names() const {
        struct Item {
            std::uint32_t column, id;
        };
        std::vector<Item> items;
        Padded padded;
        for (std::uint32_t i = 0; i < names_.size(); ++i)
            items.push_back({columns_(padded(names_[i])).id, i});
        std::sort(items.begin(), items.end(), [&](const Item& a, const Item& b) {
            return a.column != b.column ? a.column < b.column : names_[a.id] < names_[b.id];
        });
        std::string bytes;
        std::vector<std::int64_t> offsets{0}, columns;
        for (const Item& item : items) {
            bytes += names_[item.id];
            offsets.push_back(static_cast<std::int64_t>(bytes.size()));
            columns.push_back(item.column);
        }
        std::unique_ptr<std::uint8_t[]> copy(new std::uint8_t[bytes.size()]);
        std::memcpy(copy.get(), bytes.data(), bytes.size());
        return nb::make_tuple(own(std::move(copy), bytes.size()), own(offsets), own(columns));
    }

    // Takes up names, as `names` gave them, and up to which hash they are kept.
    void set_names(Const<std::uint8_t> bytes, Const<std::int64_t> offsets, std::uint64_t limit) {
        check(names_.size() == 0, "there are names already");
        names_.set_limit(std::max<std::uint64_t>(limit, 1));
        Padded padded;
        for_names(bytes, offsets, [&](std::string_view name) { names_.add(padded(name)); });
        names_.prune();
    }
    std::uint64_t limit() const { return names_.limit(); }
    bool complete() const { return names_.complete(); }
    double n_names() const { return names_.estimate(); }

    template <class T>
    nb::tuple matrix(BoundTextRows& rows, bool binary, const std::string& norm,
                     std::size_t n_threads) const {
        return ::matrix<T>(rows, columns_.n, binary, norm, std::nullopt, std::nullopt, n_threads);
    }

   private:
    void prepare(Scanner& scanner) const {
        if (stop_words_.size() > 0)
            scanner.drop([&](std::string_view token, std::uint64_t tag) {
                return stop_words_.find_token(token, tag) != nullptr;
            });
        if (range_.max_n > 1) scanner.join();
    }

    Analyzer analyzer_;
    bool whole_, lowercase_;
    std::uint32_t shortest_;
    GramRange range_;
    HashedColumns columns_;
    std::size_t max_names_;
    Names names_;
    Grams stop_words_;
};

}  // namespace

void bind_text(nb::module_& m) {
    using nb::arg;
    nb::class_<BoundDocuments>(m, "TextDocuments")
        .def(nb::init<>())
        .def("add_list", &BoundDocuments::add_list, arg("texts"))
        .def("add_arrow", &BoundDocuments::add_arrow<std::int32_t>, arg("bytes"), arg("offsets"))
        .def("add_arrow", &BoundDocuments::add_arrow<std::int64_t>, arg("bytes"), arg("offsets"))
        .def("special", &BoundDocuments::special, arg("flags"), arg("flag"))
        .def("text", &BoundDocuments::text, arg("i"))
        .def("replace", &BoundDocuments::replace, arg("i"), arg("text"))
        .def_prop_ro("is_ascii", [](const BoundDocuments& d) { return d.documents.ascii(); })
        .def("__len__", [](const BoundDocuments& d) { return d.documents.size(); });
    nb::class_<BoundTextRows>(m, "TextRows")
        .def("__len__", &BoundTextRows::n_rows)
        .def(
            "frequencies",
            [](BoundTextRows& rows, Mutable<std::int64_t, 1> df) {
                check(rows.by_column, "the rows have no columns yet");
                for (const RowBlock& block : rows.blocks)
                    check(block.fits(df.size()), "one frequency a column is needed");
                add_frequencies(rows.blocks, df.data());
            },
            arg("df"));
    nb::class_<BoundCounter>(m, "TextCounter")
        .def(nb::init<const std::string&, bool, std::uint32_t, std::uint32_t, std::uint32_t,
                      nb::list>(),
             arg("analyzer"), arg("lowercase"), arg("shortest"), arg("min_n"), arg("max_n"),
             arg("stop_words"))
        .def_prop_ro("n_documents", &BoundCounter::n_documents)
        .def_prop_ro("n_columns", &BoundCounter::n_columns)
        .def_prop_ro("n_grams", &BoundCounter::n_grams)
        .def("__getstate__", &BoundCounter::state)
        .def("__setstate__",
             [](BoundCounter& self, nb::tuple s) {
                 check(s.size() == 14, "the state does not fit");
                 new (&self)
                     BoundCounter(nb::cast<std::string>(s[0]), nb::cast<bool>(s[1]),
                                  nb::cast<std::uint32_t>(s[2]), nb::cast<std::uint32_t>(s[3]),
                                  nb::cast<std::uint32_t>(s[4]), nb::cast<nb::list>(s[5]));
                 self.restore(
                     nb::cast<nb::bytes>(s[6]), nb::cast<Const<std::int64_t>>(s[7]),
                     nb::cast<Const<std::uint32_t>>(s[8]), nb::cast<Const<std::uint32_t>>(s[9]),
                     nb::cast<Const<std::int64_t>>(s[10]), nb::cast<Const<std::int64_t>>(s[11]),
                     nb::cast<std::int64_t>(s[12]), nb::cast<Const<std::uint32_t>>(s[13]));
             })
        .def("count", &BoundCounter::count, arg("documents"), arg("flags").none(),
             arg("lower").none(), arg("n_threads"), arg("keep"))
        .def("count_tokens", &BoundCounter::count_tokens, arg("chunks"), arg("keep"))
        .def("merge", &BoundCounter::merge, arg("other"))
        .def("order", &BoundCounter::order, arg("low"), arg("high"))
        .def("label", &BoundCounter::label)
        .def("limit", &BoundCounter::limit, arg("marked"))
        .def("df", &BoundCounter::df)
        .def("tf", &BoundCounter::tf)
        .def("set_names", &BoundCounter::set_names, arg("bytes"), arg("offsets"))
        .def("names", &BoundCounter::names, arg("first"), arg("last"))
        .def("to_columns", &BoundCounter::to_columns, arg("rows"), arg("n_threads"))
        .def("encode", &BoundCounter::encode, arg("documents"), arg("flags").none(),
             arg("lower").none(), arg("n_threads"))
        .def("encode_tokens", &BoundCounter::encode_tokens, arg("chunks"))
        .def("matrix64", &BoundCounter::matrix<double>, arg("rows"), arg("binary"), arg("norm"),
             arg("idf").none(), arg("log").none(), arg("n_threads"))
        .def("matrix32", &BoundCounter::matrix<float>, arg("rows"), arg("binary"), arg("norm"),
             arg("idf").none(), arg("log").none(), arg("n_threads"));
    nb::class_<BoundHasher>(m, "TextHasher")
        .def(nb::init<const std::string&, bool, std::uint32_t, std::uint32_t, std::uint32_t,
                      nb::list, std::int64_t, bool, std::size_t>(),
             arg("analyzer"), arg("lowercase"), arg("shortest"), arg("min_n"), arg("max_n"),
             arg("stop_words"), arg("n_features"), arg("alternate_sign"), arg("max_names"))
        .def("encode", &BoundHasher::encode, arg("documents"), arg("flags").none(),
             arg("lower").none(), arg("n_threads"), arg("learn"), arg("keep"))
        .def("encode_tokens", &BoundHasher::encode_tokens, arg("chunks"), arg("learn"), arg("keep"))
        .def("merge", &BoundHasher::merge, arg("other"))
        .def("names", &BoundHasher::names)
        .def("set_names", &BoundHasher::set_names, arg("bytes"), arg("offsets"), arg("limit"))
        .def_prop_ro("limit", &BoundHasher::limit)
        .def_prop_ro("complete", &BoundHasher::complete)
        .def_prop_ro("n_names", &BoundHasher::n_names)
        .def("matrix64", &BoundHasher::matrix<double>, arg("rows"), arg("binary"), arg("norm"),
             arg("n_threads"))
        .def("matrix32", &BoundHasher::matrix<float>, arg("rows"), arg("binary"), arg("norm"),
             arg("n_threads"));
}
