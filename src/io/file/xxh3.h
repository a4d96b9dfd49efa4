// Output: XXH3 with the widest instructions of this machine, if the library has them: 3 times as fast as without on
// AVX-512. The hash is the same.
#pragma once

#include <xxhash.h>
#if MILLRACE_XXH3_BY_MACHINE
#include <xxh_x86dispatch.h>
#endif
