#include "src/io/process/spawn.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <utility>

namespace millrace {
namespace {

// A program that starts without a descriptor that it expects would use any file that has its number.
TEST(Spawn, NothingStartsWithoutWhatItIsGiven) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  // Descriptors that are passed on are duplicated to numbers above this.
  rlimit few = before;
  few.rlim_cur = 16;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  pid_t pid = 0;
  const int failed = spawn("/bin/true", {}, std::array{std::pair{0, 3}}, pid);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_NE(failed, 0);
  EXPECT_EQ(pid, -1);
}

}  // namespace
}  // namespace millrace
