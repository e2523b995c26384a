// Code without lanes: rows, parsers, text, features. Compiled once, for every CPU.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "cpu.hpp"

namespace nb = nanobind;

void bind_data(nb::module_& m);
void bind_text(nb::module_& m);
void bind_text_hashing(nb::module_& m);
void bind_parsers(nb::module_& m);
void bind_features(nb::module_& m);
void bind_objects(nb::module_& m);

namespace {

// SEPARABLE_BUILT names the levels that were built, separated by commas.
std::vector<std::string> usable_levels() {
    const std::string built = "," SEPARABLE_BUILT ",";
    std::vector<std::string> levels;
    for (const std::string level : supported_levels())
        if (built.find("," + level + ",") != std::string::npos) levels.push_back(level);
    return levels;
}

}  // namespace

NB_MODULE(portable, m) {
    m.doc() = "Code of separable that is the same on every CPU.";
#ifndef __SANITIZE_ADDRESS__
    nb::set_leak_warnings(
        false);  // of all extensions: a model in a reference cycle at exit is fine
#endif
    m.def("usable_levels", &usable_levels,
          "Return the CPU levels that were built and that this machine can run, slowest first.");
    bind_data(m);
    bind_text(m);
    bind_text_hashing(m);
    bind_parsers(m);
    bind_features(m);
    bind_objects(m);
}
