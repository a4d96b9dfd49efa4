#include "src/io/file/trash.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace millrace {
namespace {

class Trash : public testing::Test {
 protected:
  void SetUp() override {
    top_ = std::filesystem::canonical(testing::TempDir()).string() + "/trash_" + std::to_string(getpid()) + "_" +
           testing::UnitTest::GetInstance()->current_test_info()->name();
    trash_ = top_ + "/.Trash-" + std::to_string(getuid());
    std::filesystem::create_directories(top_ + "/photos");
    std::filesystem::create_directories(trash_ + "/files");
    std::filesystem::create_directories(trash_ + "/info");
  }
  void TearDown() override { std::filesystem::remove_all(top_); }

  static void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }
  // As a desktop does it on a drive of its own: the note's path is relative to the drive.
  std::string put_in(const std::string& path, const std::string& as, const std::string& noted) {
    std::filesystem::rename(path, trash_ + "/files/" + as);
    write(trash_ + "/info/" + as + ".trashinfo",
          "[Trash Info]\nPath=" + noted + "\nDeletionDate=2024-01-01T00:00:00\n");
    return trash_ + "/files/" + as;
  }

  std::string top_, trash_;
};

TEST_F(Trash, OfADriveIsSearchedByInode) {
  const std::string path = top_ + "/photos/a b.jpg";
  write(path, "bytes");
  const FileState before = state_of(path).or_throw();
  EXPECT_FALSE(TrashSearch().find(path, before));
  const std::string there = put_in(path, "a b.2.jpg", "photos/a%20b.jpg");
  EXPECT_EQ(TrashSearch().find(path, before), there);
  TrashSearch::forget(there);
  EXPECT_TRUE(std::filesystem::is_empty(trash_ + "/info"));
  EXPECT_EQ(TrashSearch().find(path, before), there) << "without its note too";
}

TEST_F(Trash, NotesTellHardLinksApart) {
  const std::string a = top_ + "/photos/a.jpg", b = top_ + "/photos/b.jpg";
  write(a, "bytes");
  std::filesystem::create_hard_link(a, b);
  const FileState before = state_of(a).or_throw();
  const std::string one = put_in(a, "x.jpg", "photos/a.jpg"), two = put_in(b, "y.jpg", "photos/b.jpg");
  TrashSearch search;
  EXPECT_EQ(search.find(a, before), one);
  EXPECT_EQ(search.find(b, before), two);
}

TEST_F(Trash, AnotherFileOfThatNameIsNotTaken) {
  const std::string path = top_ + "/photos/a.jpg";
  write(path, "bytes");
  FileState before = state_of(path).or_throw();
  put_in(path, "a.jpg", "photos/a.jpg");
  before.inode += 1;
  before.mtime_ns -= 1;
  EXPECT_FALSE(TrashSearch().find(path, before));
}

}  // namespace
}  // namespace millrace
