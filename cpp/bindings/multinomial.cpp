#include <nanobind/nanobind.h>

#include "rows.hpp"

void bind_multinomial(nb::module_&) {}
