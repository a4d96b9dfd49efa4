#include "src/io/file/trash.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
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
  // Puts a file into the trash as a desktop does on a drive of its own: the note's path is relative to the drive.
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
  TrashSearch::remove_note(there);
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

TEST_F(Trash, WhatGoesInIsFoundAndCanComeBack) {
  const char* const former = std::getenv("XDG_DATA_HOME");
  const std::string data = former == nullptr ? "" : former;
  ::setenv("XDG_DATA_HOME", (top_ + "/data").c_str(), 1);
  for (const char* text : {"first", "second"}) {
    const std::string path = top_ + "/photos/a b%.jpg";
    write(path, text);
    const FileState before = state_of(path).or_throw();
    const auto moved = move_to_trash(path, before);
    ASSERT_TRUE(moved.ok()) << moved.error().message();
    const auto there = TrashSearch().find(path, before);
    ASSERT_TRUE(there);
    EXPECT_TRUE(state_of(*there).or_throw().same(before));
    EXPECT_TRUE(there->starts_with(top_ + "/data/Trash/files/a b%")) << *there;
    std::ifstream in(top_ + "/data/Trash/info/" + there->substr(there->find_last_of('/') + 1) + ".trashinfo");
    std::string head, path_line, date;
    std::getline(in, head);
    std::getline(in, path_line);
    std::getline(in, date);
    EXPECT_EQ(head, "[Trash Info]");
    EXPECT_TRUE(path_line.ends_with("/photos/a%20b%25.jpg")) << path_line;
    EXPECT_EQ(date.substr(0, 13), "DeletionDate=");
  }
  EXPECT_EQ(state_of(top_ + "/data/Trash/files").or_throw().mode, 0700U);
  // A name so long that the note's name has no room.
  const std::string longest = top_ + "/photos/" + std::string(249, 'n') + "\u00e4.jpg";
  write(longest, "long");
  const FileState long_state = state_of(longest).or_throw();
  const auto too_long = move_to_trash(longest, long_state);
  ASSERT_TRUE(too_long.ok()) << too_long.error().message();
  EXPECT_TRUE(TrashSearch().find(longest, long_state)->ends_with("n.jpg"));
  // A file that is not the expected one is kept where it is, and leaves no note.
  const std::string path = top_ + "/photos/other.jpg";
  write(path, "one");
  FileState meant = state_of(path).or_throw();
  meant.inode += 1;
  EXPECT_EQ(move_to_trash(path, meant).error().code, ErrorCode::conflict);
  EXPECT_TRUE(std::filesystem::exists(path));
  EXPECT_FALSE(std::filesystem::exists(top_ + "/data/Trash/info/other.jpg.trashinfo"));
  data.empty() ? ::unsetenv("XDG_DATA_HOME") : ::setenv("XDG_DATA_HOME", data.c_str(), 1);
}

// Reading a pipe would hang, and a device would never end.
TEST_F(Trash, NotesThatAreNoFilesAreNotRead) {
  const std::string path = top_ + "/photos/a.jpg";
  write(path, "bytes");
  const FileState before = state_of(path).or_throw();
  std::filesystem::rename(path, trash_ + "/files/a.jpg");
  ASSERT_EQ(::mkfifo((trash_ + "/info/a.jpg.trashinfo").c_str(), 0600), 0);
  write(trash_ + "/files/b.jpg", "x");
  std::filesystem::create_symlink("/dev/zero", trash_ + "/info/b.jpg.trashinfo");
  write(trash_ + "/files/c.jpg", "x");
  write(trash_ + "/info/c.jpg.trashinfo", "Path=" + std::string(1 << 20, 'x'));
  EXPECT_EQ(TrashSearch().find(path, before), trash_ + "/files/a.jpg") << "the inode tells";
}

TEST_F(Trash, NothingIsBelievedWhereOthersMayWrite) {
  const std::string path = top_ + "/photos/a.jpg";
  write(path, "bytes");
  FileState before = state_of(path).or_throw();
  const std::string there = put_in(path, "a.jpg", "photos/a.jpg");
  before.inode += 1;  // only the note identifies it
  EXPECT_EQ(TrashSearch().find(path, before), there);
  ASSERT_EQ(::chmod((trash_ + "/info").c_str(), 0777), 0);
  EXPECT_FALSE(TrashSearch().find(path, before)) << "the note may be anybody's";
  ASSERT_EQ(::chmod((trash_ + "/info").c_str(), 0700), 0);
  if (::getuid() != 0) GTEST_SKIP() << "the rest needs another user: run as root";
  ASSERT_EQ(::chown((trash_ + "/info/a.jpg.trashinfo").c_str(), 12345, 12345), 0);
  EXPECT_FALSE(TrashSearch().find(path, before)) << "a foreign note";
  ASSERT_EQ(::chown((trash_ + "/info/a.jpg.trashinfo").c_str(), 0, 0), 0);
  ASSERT_EQ(::chown(trash_.c_str(), 12345, 12345), 0);
  EXPECT_FALSE(TrashSearch().find(path, before)) << "a foreign trash";
  before.inode -= 1;
  EXPECT_FALSE(TrashSearch().find(path, before));
}

// .Trash counts only where an administrator made it: sticky, and no link.
TEST_F(Trash, ASharedTrashIsSticky) {
  const std::string path = top_ + "/photos/a.jpg", shared = top_ + "/.Trash";
  write(path, "bytes");
  const FileState before = state_of(path).or_throw();
  const std::string own = shared + "/" + std::to_string(getuid());
  std::filesystem::create_directories(own + "/files");
  std::filesystem::rename(path, own + "/files/a.jpg");
  EXPECT_FALSE(TrashSearch().find(path, before));
  ASSERT_EQ(::chmod(shared.c_str(), 01777), 0);
  EXPECT_EQ(TrashSearch().find(path, before), own + "/files/a.jpg");
  std::filesystem::rename(shared, top_ + "/real");
  std::filesystem::create_directory_symlink(top_ + "/real", shared);
  EXPECT_FALSE(TrashSearch().find(path, before));
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
