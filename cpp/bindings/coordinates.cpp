#include <nanobind/nanobind.h>

#include "rows.hpp"

void bind_coordinates(nb::module_&) {}
