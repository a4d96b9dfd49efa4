// Choice of Highway's targets to compile; every file of vectorised code includes this first.
//
// x86-64 gets the portable baseline, AVX2, AVX-512 and AVX-512 with its later instructions (Ice Lake, Zen 4). The SSE
// levels in between are left out: each target costs compile time, and x86-64 machines have had AVX2 since 2013 to 2015.
// aarch64 gets NEON.
//
// Under a sanitizer every target takes three times as long to compile. The later AVX-512 instructions run the same
// source lines as AVX-512, so they have no memory errors of their own. Data races between threads do not depend on a
// kernel's instructions.
#pragma once

#ifndef MILLRACE_SANITIZED
#define HWY_WANT_AVX3_DL 1
#endif
#ifdef __SANITIZE_THREAD__
#define MILLRACE_UNWANTED_TARGETS HWY_AVX3
#else
#define MILLRACE_UNWANTED_TARGETS 0
#endif
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | MILLRACE_UNWANTED_TARGETS)

// True while the portable baseline is compiled. GCC 12 miscompiles Highway's emulated vectors (GCC bug 106322), so each
// file has plain loops for it. The compiler vectorises them with the instructions that every machine has.
#define MILLRACE_PORTABLE_TARGET (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)
