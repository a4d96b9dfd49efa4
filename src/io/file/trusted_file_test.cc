#include "src/io/file/trusted_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::HasSubstr;

constexpr uid_t kSomebody = 12345;

class TrustedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, value] : {std::pair{"XDG_DATA_HOME", &data_}, std::pair{"HOME", &home_}}) {
      const char* const former = std::getenv(name);
      *value = former == nullptr ? "" : former;
    }
    ::setenv("XDG_DATA_HOME", folder_.at("data").c_str(), 1);
    std::filesystem::create_directory(folder_.at("data"));
    file_ = folder_.write("mine/file", "x");
    ::chmod(file_.c_str(), 0644);
    ::chmod(folder_.at("mine").c_str(), 0755);
  }
  void TearDown() override {
    data_.empty() ? ::unsetenv("XDG_DATA_HOME") : ::setenv("XDG_DATA_HOME", data_.c_str(), 1);
    home_.empty() ? ::unsetenv("HOME") : ::setenv("HOME", home_.c_str(), 1);
  }
  static std::string doubt(const std::string& path, Trust trust = Trust::checked) {
    const auto checked = verify_trusted_file(path, trust);
    return checked.ok() ? "" : checked.error().message();
  }
  static unsigned mode_of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
  }

  TestFolder folder_;
  std::string data_, home_, file_;
};

TEST_F(TrustedFileTest, TrustsOnlyTheUsersOwnFiles) {
  EXPECT_EQ(doubt(file_), "");
  EXPECT_EQ(doubt(folder_.at("mine/none")), "") << "what is not there says nothing";
  for (const unsigned mode : {0646, 0666, 0602}) {
    ::chmod(file_.c_str(), mode);
    EXPECT_THAT(doubt(file_), HasSubstr("can write to it"));
    EXPECT_THAT(doubt(file_), HasSubstr("--trust-files"));
    EXPECT_EQ(doubt(file_, Trust::files), "");
    EXPECT_EQ(mode_of(file_), mode) << "what a person named is not changed";
  }
  ::chmod(file_.c_str(), 0600);
  for (const unsigned mode : {0777, 0757, 01777}) {
    ::chmod(folder_.at("mine").c_str(), mode);
    EXPECT_THAT(doubt(file_), HasSubstr("can write to its folder"));
    // A folder that everybody shares must not be closed to others.
    EXPECT_EQ(doubt(file_).find("chmod go-w") == std::string::npos, mode == 01777) << doubt(file_);
    EXPECT_THAT(doubt(file_), HasSubstr("mkdir -m 700"));
  }
}

TEST_F(TrustedFileTest, FollowsNoLinkAndOpensNoOtherThanFiles) {
  std::filesystem::create_symlink(file_, folder_.at("mine/link"));
  ASSERT_EQ(::mkfifo(folder_.at("mine/pipe").c_str(), 0600), 0);
  for (const Trust trust : {Trust::checked, Trust::files}) {
    EXPECT_THAT(doubt(folder_.at("mine/link"), trust), HasSubstr("symbolic link"));
    EXPECT_THAT(doubt(folder_.at("mine/pipe"), trust), HasSubstr("not a regular file"));
    std::filesystem::create_symlink(folder_.at("elsewhere"), folder_.at("mine/dangling"));
    EXPECT_THROW(open_trusted_file(folder_.at("mine/dangling"), trust, true, true), Failure);
    EXPECT_FALSE(std::filesystem::exists(folder_.at("elsewhere"))) << "nothing is made through a link";
    std::filesystem::remove(folder_.at("mine/dangling"));
  }
}

TEST_F(TrustedFileTest, OthersFilesAreNotTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs another user: run as root";
  ASSERT_EQ(::chown(file_.c_str(), 0, kSomebody), 0);
  ::chmod(file_.c_str(), 0664);
  EXPECT_THAT(doubt(file_), HasSubstr("can write to it")) << "a group of others";
  ::chmod(file_.c_str(), 0644);
  ASSERT_EQ(::chown(file_.c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(doubt(file_), HasSubstr("it belongs to user 12345, not to root"));
  EXPECT_EQ(doubt(file_, Trust::files), "");
  ASSERT_EQ(::chown(file_.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(folder_.at("mine").c_str(), kSomebody, kSomebody), 0);
  EXPECT_THAT(doubt(file_), HasSubstr("its folder belongs to"));
}

TEST_F(TrustedFileTest, WhatIsMadeIsItsOwnersAlone) {
  const std::string journal = data_path("journals/j"), elsewhere = folder_.at("mine/new/deep/x");
  const mode_t mask = ::umask(0);
  for (const std::string& path : {journal, elsewhere}) {
    EXPECT_NO_THROW(prepare_trusted_folder(path, Trust::checked));
    EXPECT_NO_THROW(open_trusted_file(path, Trust::checked, true, true));
    EXPECT_EQ(mode_of(path), 0600U);
  }
  ::umask(mask);
  EXPECT_EQ(mode_of(data_path("journals")), 0700U);
  EXPECT_EQ(mode_of(folder_.at("data/millrace")), 0700U);
}

TEST_F(TrustedFileTest, TheUsersDataFolderIsClosedNotRefused) {
  const std::string journal = data_path("journals/j");
  prepare_trusted_folder(journal, Trust::checked);
  open_trusted_file(journal, Trust::checked, true, true);
  for (const std::string& path : {folder_.at("data/millrace"), data_path("journals")}) ::chmod(path.c_str(), 0777);
  ::chmod(journal.c_str(), 0666);
  prepare_trusted_folder(journal, Trust::checked);
  EXPECT_EQ(doubt(journal), "");
  EXPECT_EQ(mode_of(folder_.at("data/millrace")), 0700U);
  EXPECT_EQ(mode_of(data_path("journals")), 0700U);
  EXPECT_EQ(mode_of(journal), 0600U);
}

TEST_F(TrustedFileTest, WithoutAHomeTheUsersIsAskedForNeverTheCurrentFolder) {
  ::unsetenv("XDG_DATA_HOME");
  for (const char* home : {static_cast<const char*>(nullptr), "", "relative"}) {
    home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", home, 1);
    try {
      const std::string path = data_path("x");
      EXPECT_TRUE(path.starts_with('/')) << path;
      EXPECT_FALSE(path.starts_with("/.local")) << path;
    } catch (const Failure& failure) {
      EXPECT_THAT(failure.what(), HasSubstr("set HOME"));
    }
  }
  ::setenv("HOME", "/home/somebody", 1);
  EXPECT_EQ(data_path("x"), "/home/somebody/.local/share/millrace/x");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  EXPECT_EQ(data_path("x"), "/home/somebody/.local/share/millrace/x");
}

}  // namespace
}  // namespace millrace
