// What the kernels ask of Python.
#include "arrays.hpp"

void poll_signals() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

ReleasedGil::ReleasedGil() : thread_(PyEval_SaveThread()) {}

ReleasedGil::~ReleasedGil() { PyEval_RestoreThread(static_cast<PyThreadState*>(thread_)); }
