// A timer's resolution that costs no start: Highway's shared library measures its own in a static initializer, 5 ms of
// every process. The dynamic linker takes this one for it. Only hwy::Measure reads the value, and nothing here measures
// by it.
#include <hwy/nanobenchmark.h>

namespace hwy::platform {

__attribute__((visibility("default"))) uint64_t TimerResolution() { return 1; }

}  // namespace hwy::platform
