#include "text.hpp"

#include <nanobind/stl/tuple.h>

#include <deque>
#include <memory>
#include <tuple>

#include "separable/text/lookup.hpp"

namespace {

// Grams, their counts, and their columns.
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

    std::optional<BoundTextRows> count(const BoundDocuments& bound, const Flags& flags,
                                       const Lower& lower, std::size_t n_threads, bool keep) {
        check(!whole_, "this counter takes tokens");
        refuse_broken();
        const Alphabet alphabet = alphabet_of(bound, flags, lower);
        BoundTextRows out;
        labelled_ = false, broken_ = true;  // until this succeeds
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

    // Counts documents given as lists of features, in batches.
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

    // Numbers the grams with document frequency from low to high; returns their number.
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

    // Call it before `encode`, which several threads may run at once.
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

    // Sets the columns of an empty counter: names as bytes and their ends.
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

    // The names of columns first to last: bytes, and the end of each.
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
        return nb::make_tuple(owned(std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                              owned(std::move(offsets)));
    }

    // Converts counts by gram, as returned by `count`, to counts by column.
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

    // The state as arrays; `BoundCounter(state)` restores it.
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
        return nb::make_tuple(
            analyzer, lowercase_, shortest_, counter_.range().min_n, counter_.range().max_n,
            stop_words, nb::bytes(bytes.data(), bytes.size()), owned(std::move(ends)),
            owned(std::move(parents)), owned(std::move(lasts)), owned(std::move(tf)),
            owned(std::move(df)), counter_.n_documents(), owned(std::move(columns)));
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
        return owned(std::move(out));
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
}
