#include <nanobind/nanobind.h>

#include "rows.hpp"

void bind_gram(nb::module_&) {}
