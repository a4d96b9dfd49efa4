// Tests helpers that take too long: tests/support/sandboxed.cc waits, or works for ever.
#include "src/io/process/child_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "src/base/version.h"
#include "src/io/process/helpers_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

constexpr ChildProcess::ErrorWords kWords = {"it", "it crashed", "", ""};

TEST(ChildProcess, SilenceEndsWithTheTimeout) {
  const auto child = ChildProcess::start(MILLRACE_SANDBOXED);
  ASSERT_NE(child, nullptr);
  child->set_timeout(1);
  char answer = 0;
  ASSERT_FALSE(child->receive(&answer, 1));
  const Error error = child->describe_exit(kWords);
  EXPECT_EQ(error.code, ErrorCode::timed_out) << "of which the next run asks again";
  EXPECT_THAT(error.what, HasSubstr("made no progress for 1 s"));
}

TEST(ChildProcess, OneThatWasStoppedGoesOn) {
  const auto child = ChildProcess::start(MILLRACE_SANDBOXED);
  ASSERT_NE(child, nullptr);
  const auto pids = helpers();
  ASSERT_EQ(pids.size(), 1U);
  ::kill(pids[0], SIGSTOP);
  const std::uint32_t no_path = 0;
  std::uint32_t size = 0;
  ASSERT_TRUE(child->send(&no_path, sizeof no_path));
  EXPECT_TRUE(child->receive(&size, sizeof size));
}

TEST(ChildProcess, WorkEndsWithoutATimeout) {
  const auto child = ChildProcess::start(MILLRACE_SANDBOXED);
  ASSERT_NE(child, nullptr);
  child->begin_work(1);
  const std::uint32_t for_ever = 0xFFFFFFFF;
  ASSERT_TRUE(child->send(&for_ever, sizeof for_ever));
  char answer = 0;
  ASSERT_FALSE(child->receive(&answer, 1));
  const Error error = child->describe_exit(kWords);
  EXPECT_EQ(error.code, ErrorCode::timed_out);
  EXPECT_THAT(error.what, HasSubstr("took more than 1 s"));
}

TEST(ChildProcess, OneOfAnotherVersionIsNotSpokenWith) {
  const TestFolder folder;
  const std::string program = folder.at("helper");
  std::ofstream(program) << "#!/bin/sh\n[ \"$*\" = '" << version() << "' ] && exit " << kExitCannotStart
                         << "\nexit 1\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  char answer = 0;
  // A helper gets the program's version as its argument, and a real helper of another version refuses to start.
  auto child = ChildProcess::start(program);
  ASSERT_TRUE(child != nullptr && !child->receive(&answer, 1));
  EXPECT_THAT(child->describe_exit(kWords).what, HasSubstr("71"));
  std::ofstream(program) << "#!/bin/sh\nexec " << MILLRACE_SANDBOXED << " 0.0.1\n";
  child = ChildProcess::start(program);
  ASSERT_TRUE(child != nullptr && !child->receive(&answer, 1));
  const Error error = child->describe_exit(kWords);
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_THAT(error.what, HasSubstr(std::string("another version than this program (") + version()));
}

TEST(ChildProcess, OneThatCannotBeginIsNoItemsFault) {
  const TestFolder folder;
  const std::string program = folder.at("helper");
  for (const auto& [code, means] :
       {std::pair(kExitCannotStart, ErrorCode::unavailable), {127, ErrorCode::unavailable}, {1, ErrorCode::crashed}}) {
    std::ofstream(program) << "#!/bin/sh\nexit " << code << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto child = ChildProcess::start(program);
    ASSERT_NE(child, nullptr);
    char answer = 0;
    ASSERT_FALSE(child->receive(&answer, 1));
    EXPECT_EQ(child->describe_exit(kWords).code, means) << code;
  }
}

}  // namespace
}  // namespace millrace
