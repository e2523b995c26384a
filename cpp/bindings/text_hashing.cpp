#include <algorithm>

#include "separable/text/hashing.hpp"
#include "text.hpp"

namespace {

// Feature hashing of terms.
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

    // Counts by column, if requested; learns the names of the terms, if requested.
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

    // Names, the start of each, and their columns; sorted by column, then by name.
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
        return nb::make_tuple(owned(std::vector<std::uint8_t>(bytes.begin(), bytes.end())),
                              owned(std::move(offsets)), owned(std::move(columns)));
    }

    // Restores names, as returned by `names`, and the largest kept hash.
    void set_names(Const<std::uint8_t> bytes, Const<std::int64_t> offsets, std::uint64_t limit) {
        check(names_.size() == 0, "there are names already");
        names_.set_limit(std::max<std::uint64_t>(limit, 1));
        Padded padded;
        for_names(bytes, offsets, [&](std::string_view name) { names_.add(padded(name)); });
        names_.prune();
    }
    std::uint64_t limit() const { return names_.limit(); }
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

void bind_text_hashing(nb::module_& m) {
    using nb::arg;
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
        .def_prop_ro("n_names", &BoundHasher::n_names)
        .def("matrix64", &BoundHasher::matrix<double>, arg("rows"), arg("binary"), arg("norm"),
             arg("n_threads"))
        .def("matrix32", &BoundHasher::matrix<float>, arg("rows"), arg("binary"), arg("norm"),
             arg("n_threads"));
}
