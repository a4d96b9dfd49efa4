#include "src/io/file/relocate.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "src/io/file/file_reader.h"

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
  EXPECT_EQ(rename_new(a, b).error().code, ErrorCode::conflict);
  EXPECT_EQ(text(b), "two");
  EXPECT_TRUE(rename_new(a, top_ + "c").ok());
  EXPECT_EQ(text(top_ + "c"), "one");
  EXPECT_EQ(rename_new(a, top_ + "d").error().code, ErrorCode::not_found);
}

TEST_F(Relocate, ACopyIsLikeTheOriginalAndReplacesNothing) {
  const std::string a = put("a", std::string(200'000, 'x'));
  constexpr std::int64_t kTime = -1'500'000'000;  // before 1970, with a fraction
  ASSERT_EQ(::chmod(a.c_str(), 0604), 0);
  put("t", "left by a run that was cut off");
  ASSERT_TRUE(copy_new(a, top_ + "b", top_ + "t", kTime).ok());
  const FileState copy = state_of(top_ + "b").or_throw();
  EXPECT_EQ(copy.mode, 0604U);
  EXPECT_EQ(copy.mtime_ns, kTime);
  EXPECT_EQ(text(top_ + "b"), text(a));
  EXPECT_EQ(copy_new(a, top_ + "b", top_ + "t", kTime).error().code, ErrorCode::conflict);
  EXPECT_EQ(files(), 2U) << "no temporary copy stays";
}

TEST_F(Relocate, ACopyGivesNobodyAnothersRights) {
  const std::string a = put("a", "a program");
  ASSERT_EQ(::chmod(a.c_str(), 06755), 0);
  ASSERT_TRUE(copy_new(a, top_ + "b", top_ + "t", 0).ok());
  EXPECT_EQ(state_of(top_ + "b").or_throw().mode, 0755U);
}

// A folder above is exchanged for a link to another folder: no file in the other folder is touched.
TEST_F(Relocate, NoLinkIsFollowed) {
  std::filesystem::create_directories(top_ + "real");
  std::filesystem::create_directory_symlink(top_ + "real", top_ + "link");
  const std::string inside = put("real/a", "theirs"), through = top_ + "link/a", b = put("b", "theirs");
  const std::string linked = top_ + "points";
  std::filesystem::create_symlink(b, linked);
  for (const auto& tried :
       {rename_new(through, top_ + "c"), rename_new(b, top_ + "link/c"), copy_new(through, top_ + "c", top_ + "t", 0),
        move_new(through, top_ + "c", top_ + "t"), replace_by_link(through, b, top_ + "t"),
        replace_by_link(b, through, top_ + "t"), remove_name(through), set_mtime(through, 0),
        replace_by_link(linked, inside, top_ + "t"), copy_new(linked, top_ + "c", top_ + "t", 0)}) {
    ASSERT_FALSE(tried.ok());
    EXPECT_EQ(tried.error().code, ErrorCode::conflict) << tried.error().message();
  }
  EXPECT_FALSE(state_of(through).ok());
  EXPECT_FALSE(have_same_contents(through, b, LinkPolicy::refused).ok());
  EXPECT_EQ(text(inside), "theirs");
  EXPECT_FALSE(std::filesystem::exists(top_ + "c"));
  EXPECT_EQ(rename_new(top_ + "real/../b", top_ + "c").error().code, ErrorCode::conflict) << "'..' leads elsewhere";
}

// A container's system call filter may forbid openat2.
TEST_F(Relocate, NoLinkIsFollowedStepByStep) {
  std::filesystem::create_directories(top_ + "real/deep");
  std::filesystem::create_directory_symlink(top_ + "real", top_ + "link");
  put("real/deep/a", "x");
  const pid_t child = ::fork();
  if (child == 0) {
    sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    const sock_fprog program{4, filter};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
      _exit(77);
    }
    const auto refused = rename_new(top_ + "link/deep/a", top_ + "b");
    const bool right = !refused.ok() && refused.error().code == ErrorCode::conflict &&
                       rename_new(top_ + "real/deep/a", top_ + "b").ok() &&
                       rename_new(top_ + "none/a", top_ + "c").error().code == ErrorCode::not_found;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no filters of calls here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(text(top_ + "b"), "x");
}

TEST_F(Relocate, AnotherFileThanTheExpectedGoesBack) {
  const std::string a = put("a", "one");
  const FileState expected = state_of(a).or_throw();
  put("b", "another");
  std::filesystem::rename(top_ + "b", a);
  for (const auto& tried :
       {rename_new(a, top_ + "c", expected), move_new(a, top_ + "c", top_ + "t", expected), remove_name(a, expected)}) {
    ASSERT_FALSE(tried.ok());
    EXPECT_EQ(tried.error().code, ErrorCode::conflict);
    EXPECT_EQ(text(a), "another");
    EXPECT_EQ(files(), 1U);
  }
}

std::string swapped_in, swapped_out;

// The file that was compared is the one that is linked, whatever has its name by then.
TEST_F(Relocate, ATargetThatIsExchangedAfterTheComparisonIsNotLinked) {
  const std::string a = put("a", "same"), b = put("b", "same");
  swapped_in = put("evil", "evil");
  swapped_out = a;
  set_step_hook([](const char* next) {
    if (std::string(next) == "link under a temporary name") std::filesystem::rename(swapped_in, swapped_out);
  });
  EXPECT_FALSE(replace_by_link(b, a, top_ + "t").ok());
  EXPECT_EQ(text(b), "same");
  EXPECT_EQ(text(a), "evil");
}

// Across file systems only the file that was copied is removed.
TEST_F(Relocate, WhatTakesTheNameOfACopiedFileStays) {
  std::string other = "/dev/shm/millrace-relocate-XXXXXX";
  struct stat here {
  }, there{};
  if (::stat("/dev/shm", &there) != 0 || ::stat(top_.c_str(), &here) != 0 || here.st_dev == there.st_dev ||
      ::mkdtemp(other.data()) == nullptr)
    GTEST_SKIP() << "no second file system to write to";
  const std::string a = put("a", "copied"), b = put("b", "copied");
  swapped_in = put("new", "somebody's new work");
  swapped_out = a;
  set_step_hook([](const char* next) {
    if (std::string(next) == "set the original aside" && exists(swapped_in))
      std::filesystem::rename(swapped_in, swapped_out);
  });
  const auto moved = move_new(a, other + "/a", other + "/t", state_of(a).or_throw());
  ASSERT_FALSE(moved.ok());
  EXPECT_EQ(moved.error().code, ErrorCode::conflict);
  EXPECT_EQ(text(a), "somebody's new work");
  EXPECT_TRUE(std::filesystem::is_empty(other));
  EXPECT_TRUE(move_new(b, other + "/b", other + "/t", state_of(b).or_throw()).ok());
  EXPECT_EQ(text(other + "/b"), "copied");
  EXPECT_EQ(files(), 1U);
  std::filesystem::remove_all(other);
}

TEST_F(Relocate, AccessIsOwnerGroupModeAndList) {
  const std::string a = put("a", "x"), b = put("b", "x");
  EXPECT_TRUE(have_same_access(a, b).or_throw());
  ASSERT_EQ(::chmod(b.c_str(), 0600), 0);
  EXPECT_FALSE(have_same_access(a, b).or_throw());
  EXPECT_EQ(replace_by_link(b, a, top_ + "t").error().code, ErrorCode::conflict);
  EXPECT_FALSE(std::filesystem::equivalent(a, b));
  ASSERT_EQ(::chmod(a.c_str(), 0640), 0);
  ASSERT_EQ(::chmod(b.c_str(), 0640), 0);
  EXPECT_TRUE(have_same_access(a, b).or_throw());
  // Version 2: the owner rw, the user 12345 r, the group r, the mask r, others nothing.
  const unsigned char list[] = {2, 0,    0,    0,   1,   0,   6,  0, 255, 255, 255, 255, 2,   0,  4,
                                0, 0x39, 0x30, 0,   0,   4,   0,  4, 0,   255, 255, 255, 255, 16, 0,
                                4, 0,    255,  255, 255, 255, 32, 0, 0,   0,   255, 255, 255, 255};
  if (::setxattr(b.c_str(), "system.posix_acl_access", list, sizeof list, 0) != 0)
    GTEST_SKIP() << "no access lists here";
  EXPECT_FALSE(have_same_access(a, b).or_throw());
}

TEST_F(Relocate, OnlyEqualBytesBecomeOneFile) {
  const std::string a = put("a", "same"), b = put("b", "same"), c = put("c", "else");
  EXPECT_EQ(replace_by_link(c, a, top_ + "t").error().code, ErrorCode::conflict);
  EXPECT_TRUE(replace_by_link(b, a, top_ + "t").ok());
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
  EXPECT_EQ(replace_by_link(b, a, top_ + "t").error().code, ErrorCode::conflict);
  EXPECT_EQ(text(b), "someone's new work");
  EXPECT_EQ(text(a), "same");
  EXPECT_EQ(files(), 2U);
}

}  // namespace
}  // namespace millrace
