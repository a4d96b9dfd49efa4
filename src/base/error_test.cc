#include "src/base/error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace millrace {
namespace {

TEST(Error, MessageLeavesOutWhatIsEmpty) {
  EXPECT_EQ((Error{ErrorCode::io, "it failed", "file", "try again"}.message()), "file: it failed; try again");
  EXPECT_EQ((Error{ErrorCode::io, "it failed", "", ""}.message()), "it failed");
  EXPECT_STREQ(Failure(ErrorCode::io, "it failed", "file").what(), "file: it failed");
}

TEST(Error, ExitCodes) {
  EXPECT_EQ(exit_code_for(ErrorCode::usage), ExitCode::usage);
  EXPECT_EQ(exit_code_for(ErrorCode::unavailable), ExitCode::unavailable);
  EXPECT_EQ(exit_code_for(ErrorCode::cancelled), ExitCode::interrupted);
  for (const ErrorCode code : {ErrorCode::io, ErrorCode::not_found, ErrorCode::bad_data, ErrorCode::out_of_memory,
                               ErrorCode::crashed, ErrorCode::conflict, ErrorCode::internal}) {
    EXPECT_EQ(exit_code_for(code), ExitCode::failed) << name_of(code);
  }
}

TEST(Error, OfTheSystem) {
  const Error full = system_error("cannot be written", "out.npy", ENOSPC);
  EXPECT_EQ(full.code, ErrorCode::io);
  EXPECT_EQ(full.message(),
            "out.npy: cannot be written: No space left on device; free some space and run the same "
            "command again");
  EXPECT_EQ(system_error("x", "y", ENOENT).code, ErrorCode::not_found);
  EXPECT_EQ(system_error("x", "y", ENOMEM).code, ErrorCode::out_of_memory);
}

TEST(Error, OutcomeIsAValueOrAReason) {
  Outcome<std::string> good = std::string("yes");
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(good->size(), 3U);
  EXPECT_EQ(std::move(good).or_throw(), "yes");
  Outcome<std::string> bad = Error{ErrorCode::bad_data, "no", "", ""};
  EXPECT_FALSE(bad);
  EXPECT_EQ(bad.error().what, "no");
  EXPECT_THROW(std::move(bad).or_throw(), Failure);
}

}  // namespace
}  // namespace millrace
