// simd.h: TOPDAG_SIMD before a function compiles it for several processors; the loader picks the best one.
// Results are the same on all of them: no fused multiply-add, and sums have a fixed order of their own.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(TOPDAG_NO_SIMD_CLONES)
#define TOPDAG_SIMD __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TOPDAG_SIMD
#endif
