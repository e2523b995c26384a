#include <nanobind/nanobind.h>

#include "rows.hpp"

void bind_scores(nb::module_& m);

// SEPARABLE_LEVEL is the CPU level this copy is compiled for, and the name of the extension.
#define SEPARABLE_MODULE(name, variable) NB_MODULE(name, variable)

SEPARABLE_MODULE(SEPARABLE_LEVEL, m) {
    m.doc() = "The compiled core of separable.";
    bind_data(m);
    bind_scores(m);
    bind_online(m);
    bind_descent(m);
    bind_voted(m);
    bind_moments(m);
    bind_certified(m);
    bind_coordinates(m);
    bind_gram(m);
    bind_groups(m);
    bind_multinomial(m);
    bind_text(m);
    bind_text_hashing(m);
    bind_parsers(m);
    bind_features(m);
    bind_objects(m);
}
