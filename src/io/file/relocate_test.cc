#include "src/io/file/relocate.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace millrace {
namespace {

class Relocate : public testing::Test {
 protected:
  void SetUp() override {
    top_ = std::filesystem::canonical(testing::TempDir()).string() + "/relocate_" + std::to_string(getpid()) + "_" +
           testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
    std::filesystem::create_directories(top_);
  }
  void TearDown() override {
    set_step_hook(nullptr);
    std::filesystem::remove_all(top_);
  }
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(top_ + name, std::ios::binary) << text;
    return top_ + name;
  }
  static std::string text(const std::string& path) {
    std::stringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(top_), std::filesystem::directory_iterator()));
  }

  std::string top_;
};

TEST_F(Relocate, RenameNeverReplaces) {
  const std::string a = put("a", "one"), b = put("b", "two");
  EXPECT_EQ(rename_new(a, b)->code, ErrorCode::conflict);
  EXPECT_EQ(text(b), "two");
  EXPECT_FALSE(rename_new(a, top_ + "c"));
  EXPECT_EQ(text(top_ + "c"), "one");
  EXPECT_EQ(rename_new(a, top_ + "d")->code, ErrorCode::not_found);
}

TEST_F(Relocate, ACopyIsLikeTheOriginalAndReplacesNothing) {
  const std::string a = put("a", std::string(200'000, 'x'));
  FileState like = state_of(a).or_throw();
  like.mode = 0604;
  like.mtime_ns = -1'500'000'000;  // before 1970, with a fraction
  put("t", "left by a run that was cut off");
  ASSERT_FALSE(copy_new(a, top_ + "b", top_ + "t", like));
  const FileState copy = state_of(top_ + "b").or_throw();
  EXPECT_EQ(copy.mode, like.mode);
  EXPECT_EQ(copy.mtime_ns, like.mtime_ns);
  EXPECT_EQ(text(top_ + "b"), text(a));
  EXPECT_EQ(copy_new(a, top_ + "b", top_ + "t", like)->code, ErrorCode::conflict);
  EXPECT_EQ(files(), 2U) << "no temporary copy stays";
}

TEST_F(Relocate, OnlyEqualBytesBecomeOneFile) {
  const std::string a = put("a", "same"), b = put("b", "same"), c = put("c", "else");
  EXPECT_EQ(replace_by_link(c, a, top_ + "t")->code, ErrorCode::conflict);
  EXPECT_FALSE(replace_by_link(b, a, top_ + "t"));
  EXPECT_TRUE(std::filesystem::equivalent(a, b));
  EXPECT_EQ(text(c), "else");
  EXPECT_EQ(files(), 3U);
}

std::string written_to;

TEST_F(Relocate, AFileThatIsWrittenToMeanwhileComesBack) {
  const std::string a = put("a", "same"), b = put("b", "same");
  written_to = b;
  set_step_hook([](const char* next) {
    if (std::string(next) == "exchange") std::ofstream(written_to) << "someone's new work";
  });
  EXPECT_EQ(replace_by_link(b, a, top_ + "t")->code, ErrorCode::conflict);
  EXPECT_EQ(text(b), "someone's new work");
  EXPECT_EQ(text(a), "same");
  EXPECT_EQ(files(), 2U);
}

}  // namespace
}  // namespace millrace
