#include "src/io/file/walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class WalkTest : public testing::Test {
 protected:
  // Returns the files that were found, by their paths below the folder.
  std::vector<std::string> found(const WalkOptions& options = {}) {
    result_ = walk({folder_.path()}, options);
    std::vector<std::string> names;
    for (const FileEntry& file : result_.files) names.push_back(file.path.substr(folder_.path().size() + 1));
    return names;
  }
  TestFolder folder_;
  WalkResult result_;
};

TEST_F(WalkTest, SortedByPathBytesWithSizes) {
  folder_.write("b/2", "xx");
  folder_.write("b.1", "");
  folder_.write("a", "x");
  EXPECT_THAT(found(), ElementsAre("a", "b.1", "b/2"));
  EXPECT_EQ(result_.files[2].size, 2U);
  EXPECT_GT(result_.files[2].mtime_ns, 0);
  EXPECT_THAT(result_.unreadable, IsEmpty());
}

TEST_F(WalkTest, HiddenOnlyWhenAskedFor) {
  folder_.write(".a", "");
  folder_.write(".b/c", "");
  folder_.write("d", "");
  EXPECT_THAT(found(), ElementsAre("d"));
  WalkOptions options;
  options.hidden = true;
  EXPECT_THAT(found(options), ElementsAre(".a", ".b/c", "d"));
  EXPECT_EQ(walk({folder_.at(".b")}, {}).files.size(), 1U) << "what is named is taken";
}

TEST_F(WalkTest, ExcludedFoldersAreNotEntered) {
  folder_.write("keep/a.jpg", "");
  folder_.write("keep/a.tmp", "");
  folder_.write("cache/x/y/b.jpg", "");
  WalkOptions options;
  options.exclude = {"*.tmp", "cache"};
  EXPECT_THAT(found(options), ElementsAre("keep/a.jpg"));
  options.exclude = {"**/x/**"};
  EXPECT_THAT(found(options), ElementsAre("keep/a.jpg", "keep/a.tmp"));
}

TEST_F(WalkTest, NamesAreBytes) {
  const std::string name = "caf\xE9\n\x1B[31m";
  folder_.write(name, "x");
  EXPECT_THAT(found(), ElementsAre(name));
}

TEST_F(WalkTest, SymbolicLinksOnlyWhenAskedForAndNeverInCircles) {
  folder_.write("real/a", "x");
  fs::create_directory_symlink(folder_.path(), folder_.at("real/loop"));
  fs::create_directory_symlink(folder_.at("real"), folder_.at("again"));
  fs::create_symlink(folder_.at("real/a"), folder_.at("link"));
  fs::create_symlink("none", folder_.at("dangling"));
  fs::create_symlink("self", folder_.at("self"));
  EXPECT_THAT(found(), ElementsAre("real/a"));
  EXPECT_THAT(result_.unreadable, IsEmpty());
  WalkOptions options;
  options.follow_symlinks = true;
  EXPECT_THAT(found(options), ElementsAre("real/a")) << "not again/a, nor link";
  EXPECT_EQ(result_.unreadable.size(), 2U);
}

TEST_F(WalkTest, LinksGiveTheSameNamesInWhateverOrderFoldersAreNamed) {
  for (const char* name : {"a/1", "b/2", "b/deep/3", "outside/4", "outside/deep/5"}) folder_.write(name, "x");
  fs::create_directory_symlink(folder_.at("b/deep"), folder_.at("a/to-b"));
  fs::create_directory_symlink(folder_.at("a"), folder_.at("b/to-a"));
  // Two ways to one folder that is not named.
  fs::create_directory_symlink(folder_.at("outside"), folder_.at("b/x"));
  fs::create_directory_symlink(folder_.at("outside"), folder_.at("b/deep/y"));
  fs::create_directory_symlink(folder_.at("outside/deep"), folder_.at("a/z"));
  WalkOptions options;
  options.follow_symlinks = true;
  fs::create_symlink(folder_.at("b/2"), folder_.at("a/2"));
  folder_.write("alone", "x");
  for (const char* link : {"b/link", "a/link"}) fs::create_symlink(folder_.at("alone"), folder_.at(link));
  const auto names = [&](std::vector<std::string> roots) {
    for (std::string& root : roots) root = folder_.at(root);
    std::vector<std::string> out;
    for (const FileEntry& file : walk(roots, options).files) out.push_back(file.path.substr(folder_.path().size() + 1));
    return out;
  };
  const std::vector<std::string> expected = {"a/1", "a/link", "a/z/5", "b/2", "b/deep/3", "b/deep/y/4"};
  EXPECT_EQ(names({"a", "b"}), expected);
  EXPECT_EQ(names({"b", "a"}), expected);
  EXPECT_EQ(names({"b/deep", "b", "a"}), expected);
}

TEST_F(WalkTest, EachLinkGivesANameWhereThatIsAskedFor) {
  for (const char* name : {"a/1", "b/2"}) folder_.write(name, "x");
  fs::create_directory_symlink(folder_.at("b"), folder_.at("a/to-b"));
  fs::create_directory_symlink(folder_.at("a"), folder_.at("b/to-a"));
  fs::create_symlink(folder_.at("a/1"), folder_.at("b/1"));
  WalkOptions options;
  options.follow_symlinks = options.each_link = true;
  EXPECT_THAT(found(options), ElementsAre("a/1", "a/to-b/1", "a/to-b/2", "b/1", "b/2", "b/to-a/1"));
  EXPECT_THAT(result_.links, ElementsAre(folder_.at("a/to-b/to-a"), folder_.at("b/to-a/to-b")));
}

// A link into /proc leads to every file of the machine, and a link to another drive further than a user means.
TEST_F(WalkTest, LinksStopAtTheSystemsStateAndAtOtherFileSystems) {
  folder_.write("real/a", "x");
  fs::create_directory_symlink("/proc/self", folder_.at("proc"));
  fs::create_directory_symlink("/sys", folder_.at("sys"));
  WalkOptions options;
  options.follow_symlinks = true;
  options.cross_file_systems = true;
  EXPECT_THAT(found(options), ElementsAre("real/a"));
  EXPECT_EQ(result_.unreadable.size(), 2U);
  EXPECT_THAT(result_.unreadable[0].what, HasSubstr("/proc or /sys"));

  struct stat here {
  }, there{};
  if (::stat("/dev/shm", &there) != 0 || ::stat(folder_.path().c_str(), &here) != 0 || here.st_dev == there.st_dev ||
      ::access("/dev/shm", W_OK) != 0)
    GTEST_SKIP() << "no second file system to write to";
  std::string other = "/dev/shm/millrace-walk-XXXXXX";
  ASSERT_NE(::mkdtemp(other.data()), nullptr);
  std::ofstream(other + "/b") << "x";
  fs::create_directory_symlink(other, folder_.at("other"));
  EXPECT_THAT(found(options), ElementsAre("other/b", "real/a"));
  options.cross_file_systems = false;
  EXPECT_THAT(found(options), ElementsAre("real/a"));
  ASSERT_EQ(result_.unreadable.size(), 3U);
  EXPECT_THAT(result_.unreadable[0].message(), HasSubstr("--cross-file-systems"));
  // A root on that file system is permission to read it.
  EXPECT_EQ(walk({folder_.path(), other}, options).files.size(), 2U);
  fs::remove_all(other);
}

TEST_F(WalkTest, HardLinksAreFoundByTheirInodes) {
  folder_.write("a", "x");
  ASSERT_EQ(::link(folder_.at("a").c_str(), folder_.at("b").c_str()), 0);
  EXPECT_THAT(found(), ElementsAre("a", "b"));
  EXPECT_EQ(result_.files[0].inode, result_.files[1].inode);
  EXPECT_EQ(result_.files[0].device, result_.files[1].device);
  EXPECT_EQ(result_.files[0].links, 2U);
}

TEST_F(WalkTest, PipesAndSocketsArePassedOver) {
  folder_.write("a", "x");
  ASSERT_EQ(::mkfifo(folder_.at("pipe.jpg").c_str(), 0600), 0);
  EXPECT_THAT(found(), ElementsAre("a"));
  const WalkResult named = walk({folder_.at("pipe.jpg")}, {});
  ASSERT_EQ(named.unreadable.size(), 1U);
  EXPECT_THAT(named.unreadable[0].what, HasSubstr("neither a file nor a folder"));
}

TEST_F(WalkTest, EachPathOnceHoweverOftenItIsNamed) {
  folder_.write("x/a", "");
  const std::string x = folder_.at("x");
  EXPECT_EQ(walk({folder_.path(), x, x + "/", x + "/a", folder_.path()}, {}).files.size(), 1U);
}

TEST_F(WalkTest, WhatIsNotThereIsListed) {
  folder_.write("a", "");
  const WalkResult result = walk({folder_.at("none"), folder_.at("a")}, {});
  EXPECT_EQ(result.files.size(), 1U);
  ASSERT_EQ(result.unreadable.size(), 1U);
  EXPECT_EQ(result.unreadable[0].code, ErrorCode::not_found);
}

TEST_F(WalkTest, AFileThatVanishesAfterwardsIsAnOutcome) {
  folder_.write("a.jpg", jpeg_bytes(test_pixels(20, 20, 3)));
  ASSERT_THAT(found(), ElementsAre("a.jpg"));
  fs::remove(folder_.at("a.jpg"));
  EXPECT_EQ(decode_file(result_.files[0].path).outcome.error().code, ErrorCode::not_found);
}

TEST_F(WalkTest, AnUnreadableFolderDoesNotStopTheOthers) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads every folder";
  folder_.write("shut/a", "");
  folder_.write("open/b", "");
  fs::permissions(folder_.at("shut"), fs::perms::none);
  EXPECT_THAT(found(), ElementsAre("open/b"));
  ASSERT_EQ(result_.unreadable.size(), 1U);
  EXPECT_THAT(result_.unreadable[0].what, HasSubstr("the folder cannot be read"));
  fs::permissions(folder_.at("shut"), fs::perms::owner_all);
}

TEST_F(WalkTest, DeeperThanAPathMayBeLong) {
  std::string deep = folder_.path();
  const std::string part(200, 'd');
  // Relative paths are used for mkdir, or the test itself would meet the limit.
  const fs::path home = fs::current_path();
  fs::current_path(folder_.path());
  for (int i = 0; i < 30; ++i) {
    ASSERT_EQ(::mkdir(part.c_str(), 0700), 0);
    ASSERT_EQ(::chdir(part.c_str()), 0);
  }
  std::ofstream("unreachable.jpg") << "x";
  fs::current_path(home);
  EXPECT_THAT(found(), IsEmpty());
  ASSERT_EQ(result_.unreadable.size(), 1U);
  EXPECT_THAT(result_.unreadable[0].what, HasSubstr("too long"));
}

TEST_F(WalkTest, StopsWhenCancelled) {
  folder_.write("x/a", "");
  WalkOptions options;
  options.cancelled = [] { return true; };
  EXPECT_THAT(found(options), IsEmpty());
}

}  // namespace
}  // namespace millrace
