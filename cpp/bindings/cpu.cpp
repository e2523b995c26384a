// Which of the built CPU levels this machine can run. Compiled for the baseline, so that asking
// is safe everywhere. The features are those CMakeLists.txt switches on for each level.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

namespace {

PyObject* supported_levels(PyObject*, PyObject*) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) return Py_BuildValue("(sss)", "baseline", "avx2", "avx512");
    if (avx2) return Py_BuildValue("(ss)", "baseline", "avx2");
    return Py_BuildValue("(s)", "baseline");
#else
    return Py_BuildValue("(s)", "generic");
#endif
}

PyMethodDef methods[] = {
    {"supported_levels", supported_levels, METH_NOARGS,
     "Return the CPU levels this machine can run, slowest first."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_cpu", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__cpu() { return PyModule_Create(&module); }
