// The kernels, compiled once for each CPU level. SEPARABLE_LEVEL is the level of this copy, and the
// name of the extension.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_scores(nb::module_& m);
void bind_online(nb::module_& m);
void bind_descent(nb::module_& m);
void bind_voted(nb::module_& m);
void bind_moments(nb::module_& m);
void bind_certified(nb::module_& m);
void bind_coordinates(nb::module_& m);
void bind_gram(nb::module_& m);
void bind_logistic(nb::module_& m);
void bind_groups(nb::module_& m);
void bind_multinomial(nb::module_& m);

#define SEPARABLE_MODULE(name, variable) NB_MODULE(name, variable)

SEPARABLE_MODULE(SEPARABLE_LEVEL, m) {
    m.doc() = "The kernels of separable for one CPU level.";
    nb::module_::import_("separable._core.portable");  // the class of rows
    bind_scores(m);
    bind_online(m);
    bind_descent(m);
    bind_voted(m);
    bind_moments(m);
    bind_certified(m);
    bind_coordinates(m);
    bind_gram(m);
    bind_logistic(m);
    bind_groups(m);
    bind_multinomial(m);
}
