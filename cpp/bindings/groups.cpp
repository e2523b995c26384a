#include <nanobind/nanobind.h>

#include "rows.hpp"

void bind_groups(nb::module_&) {}
