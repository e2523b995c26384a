// CPU levels. The features are those that CMakeLists.txt switches on for each.
#pragma once

#include <vector>

// The levels this machine can run, slowest first.
inline std::vector<const char*> supported_levels() {
#if defined(__x86_64__)
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    if (avx512) return {"baseline", "avx2", "avx512"};
    if (avx2) return {"baseline", "avx2"};
    return {"baseline"};
#else
    return {"generic"};
#endif
}
