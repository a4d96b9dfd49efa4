#include "src/pipeline/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace millrace {
namespace {

using testing::HasSubstr;

// Returns the text that stderr receives, without a terminal.
std::string shown(ProgressStyle style, std::uint64_t done, std::uint64_t total) {
  testing::internal::CaptureStderr();
  {
    Progress progress(style, "hashing", total);
    std::thread other([&] {
      for (std::uint64_t i = 0; i < done; ++i) progress.add(1, 10);
    });
    other.join();
  }
  return testing::internal::GetCapturedStderr();
}

TEST(Progress, JsonEndsWithTheWholeCount) {
  const std::string text = shown(ProgressStyle::json, 1234, 1234);
  EXPECT_THAT(text, HasSubstr("{\"progress\":\"hashing\",\"done\":1234,\"total\":1234,\"bytes\":12340,"));
  EXPECT_EQ(text.back(), '\n');
}

TEST(Progress, ABarEndsItsLineWhateverWasDone) {
  for (const std::uint64_t done : {0U, 3U, 7U}) {
    const std::string text = shown(ProgressStyle::bar, done, 7);
    EXPECT_THAT(text, HasSubstr(" of 7"));
    EXPECT_EQ(text.back(), '\n');
  }
  EXPECT_THAT(shown(ProgressStyle::bar, 0, 0), HasSubstr("0 of 0"));
  // More items than were announced must not crash it.
  EXPECT_THAT(shown(ProgressStyle::bar, 9, 7), HasSubstr("9 of 7"));
}

TEST(Progress, NoneWritesNothing) { EXPECT_EQ(shown(ProgressStyle::none, 5, 5), ""); }

}  // namespace
}  // namespace millrace
