// Tests a shard that is published while another run publishes its folder: between the two checks of the folder.
#include <gtest/gtest.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <utility>

#include "src/io/file/atomic_file.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

// Action of "another run" before the next rename. The function below replaces that of the C library.
std::function<void()>& meanwhile() {
  static std::function<void()> what;
  return what;
}

}  // namespace
}  // namespace millrace

extern "C" int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (const auto what = std::exchange(millrace::meanwhile(), nullptr)) what();
  return static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}

namespace millrace {
namespace {

class ConcurrentPublish : public testing::Test {
 protected:
  ConcurrentPublish() {
    std::filesystem::create_directories(rows_);
    std::ofstream(rows_ + "/0") << "other rows";
  }
  // Returns the code with which the commit failed.
  ErrorCode put(bool is_joined, const std::string& text, const std::string& name) const {
    AtomicFile file(rows_ + "/" + name, AtomicFile::ShardOptions{folder_.at("work"), is_joined});
    file.write(text);
    meanwhile() = [this] { std::filesystem::rename(rows_, output_); };
    try {
      file.commit();
    } catch (const Failure& failure) {
      EXPECT_FALSE(meanwhile()) << "it looked once";
      return failure.error().code;
    }
    return ErrorCode::internal;
  }
  bool published(const std::string& name) const { return std::filesystem::exists(output_ + "/" + name); }

  const TestFolder folder_;
  const std::string rows_ = folder_.at("work/rows"), output_ = folder_.at("output");
};

TEST_F(ConcurrentPublish, WhatWouldHaveBeenJoinedIsTakenOutAgain) {
  EXPECT_EQ(put(true, "rows", "1"), ErrorCode::conflict);
  EXPECT_TRUE(published("0"));
  EXPECT_FALSE(published("1")) << "a file that nothing reads, in an output";
}

TEST_F(ConcurrentPublish, WhatIsAPartOfTheOutputStaysAndIsNotCalledDone) {
  EXPECT_EQ(put(false, "rows", "1"), ErrorCode::conflict);
  EXPECT_TRUE(published("1"));
}

TEST_F(ConcurrentPublish, WhatLiesThereIsNotReplaced) {
  EXPECT_EQ(put(false, "rows", "0"), ErrorCode::conflict);
  std::ifstream there(output_ + "/0");
  std::string text;
  std::getline(there, text);
  EXPECT_EQ(text, "other rows");
}

}  // namespace
}  // namespace millrace
