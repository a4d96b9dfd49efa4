// Tests that forcing a level changes the code that runs, not only the displayed name.
#include "src/kernels/kernel_test.h"
#include "src/kernels/resize/resize_passes.h"

namespace millrace {
namespace {

TEST(Levels, AForcedLevelRunsItsOwnCode) {
  at_every_cpu_level([] {
    const int lanes = current_cpu_level() == CpuLevel::avx512 ? 16
                      : current_cpu_level() == CpuLevel::avx2 ? 8
                      : current_cpu_level() == CpuLevel::neon ? 4
                                                              : 1;
    EXPECT_EQ(resize_vector_lanes(), lanes);
  });
}

}  // namespace
}  // namespace millrace
