#include "src/io/file/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "src/base/full_disk_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> list_names(const TestFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(AtomicFile, AppearsWholeOrNotAtAll) {
  TestFolder folder;
  folder.write("out", "old");
  {
    AtomicFile file(folder.at("out"));
    file.write(std::string(3 << 20, 'n'));
    EXPECT_EQ(contents(folder.at("out")), "old");
    EXPECT_LE(list_names(folder).size(), 2U) << "beside it a temporary file, where it has a name";
  }
  EXPECT_THAT(list_names(folder), ElementsAre("out"));
  EXPECT_EQ(contents(folder.at("out")), "old");
  AtomicFile file(folder.at("out"));
  file.write("new");
  file.commit();
  EXPECT_EQ(contents(folder.at("out")), "new");
  EXPECT_THAT(list_names(folder), ElementsAre("out"));
}

TEST(AtomicFile, AFullDiskLeavesTheOldFile) {
  TestFolder folder;
  folder.write("out", "old");
  std::string message;
  {
    const FullDisk full(100'000);
    try {
      write_file(folder.at("out"), std::string(3 << 20, 'n'));
    } catch (const Failure& failure) {
      message = failure.what();
    }
  }
  EXPECT_THAT(message, HasSubstr("/out: cannot be written"));
  EXPECT_THAT(list_names(folder), ElementsAre("out"));
  EXPECT_EQ(contents(folder.at("out")), "old");
}

TEST(AtomicFile, WhatIsSyncedHasNoNameYet) {
  TestFolder folder;
  AtomicFile file(folder.at("out"));
  file.write("whole");
  file.sync();
  EXPECT_FALSE(std::filesystem::exists(folder.at("out")));
  file.write(", and more");
  file.commit();
  EXPECT_EQ(contents(folder.at("out")), "whole, and more");
}

TEST(AtomicFile, ANameMayBeAsLongAsTheSystemAllows) {
  TestFolder folder;
  const std::string name(255, 'n');
  write_file(folder.at(name), "x");
  EXPECT_THAT(list_names(folder), ElementsAre(name));
}

// A run that was killed leaves its temporary file, and the next one may have its process number.
TEST(AtomicFile, LeavesWhatAKilledRunLeft) {
  TestFolder folder;
  const std::string left = unique_temporary_name();
  EXPECT_NE(unique_temporary_name(), left);
  folder.write(left, "half a file");
  write_file(folder.at("out"), "whole");
  EXPECT_EQ(contents(folder.at("out")), "whole");
  EXPECT_THAT(list_names(folder), ElementsAre(left, "out")) << "it may be another run's, which is at work";
}

TEST(AtomicFile, FailuresNameThePath) {
  TestFolder folder;
  EXPECT_THROW(AtomicFile(folder.at("none/out")), Failure);
  std::filesystem::create_directory(folder.at("folder"));
  AtomicFile file(folder.at("folder"));
  file.write("x");
  try {
    file.commit();
    ADD_FAILURE() << "a folder was replaced by a file";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("/folder: cannot be renamed"));
  }
}

TEST(AtomicFile, WritersOfOneNameDoNotMix) {
  TestFolder folder;
  const auto writer = [&](char c) {
    for (int i = 0; i < 20; ++i) write_file(folder.at("out"), std::string(200'000, c));
  };
  std::thread a(writer, 'a'), b(writer, 'b');
  a.join();
  b.join();
  const std::string text = contents(folder.at("out"));
  EXPECT_EQ(text, std::string(200'000, text.at(0)));
  EXPECT_THAT(list_names(folder), ElementsAre("out"));
}

TEST(AtomicFile, ReplacesOnlyWhatWasLookedAt) {
  TestFolder folder;
  const auto commit = [&](const OverwritePolicy& replaces) {
    AtomicFile file(folder.at("out"), replaces, ReadAccess::owner);
    file.write("new");
    file.commit();
  };
  folder.write("out", "appeared meanwhile");
  EXPECT_THROW(commit({false, std::nullopt}), Failure);
  EXPECT_EQ(contents(folder.at("out")), "appeared meanwhile");
  const auto examined = DirectoryEntry::make(folder.at("out"))->state().or_throw();
  folder.write("other", "another file");
  std::filesystem::rename(folder.at("other"), folder.at("out"));
  EXPECT_THROW(commit({false, examined}), Failure);
  EXPECT_EQ(contents(folder.at("out")), "another file");
  EXPECT_THAT(list_names(folder), ElementsAre("out")) << "nothing is left of the attempt";
  commit({false, DirectoryEntry::make(folder.at("out"))->state().or_throw()});
  EXPECT_EQ(contents(folder.at("out")), "new");
  EXPECT_EQ(std::filesystem::status(folder.at("out")).permissions(), std::filesystem::perms(0600));
  EXPECT_THAT(list_names(folder), ElementsAre("out"));
}

// Returns the temporary file of the only file that is being written in a folder.
std::string temporary_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(AtomicFile::kTemporaryPrefix)) return entry.path();
  }
  return "";
}

TEST(AtomicFile, RenamesOnlyWhatItHasWritten) {
  TestFolder folder;
  AtomicFile file(folder.at("out"));
  file.write("mine");
  // Another program takes the name, and has written only half of its own file there.
  const std::string temporary = temporary_in(folder.path());
  if (temporary.empty()) GTEST_SKIP() << "this file system has files without a name, which nobody can take";
  std::filesystem::rename(temporary, folder.at("aside"));
  std::ofstream(temporary) << "half of another's";
  EXPECT_THROW(file.commit(), Failure);
  EXPECT_FALSE(std::filesystem::exists(folder.at("out")));
  EXPECT_EQ(contents(temporary), "half of another's") << "it is not ours to remove";
}

class ShardFile : public testing::Test {
 protected:
  ShardFile() {
    std::filesystem::create_directory(folder_.at("work"));
    std::filesystem::create_directory(rows());
  }
  std::string work() const { return folder_.at("work"); }
  std::string rows() const { return folder_.at("work/rows"); }
  std::unique_ptr<AtomicFile> begun(const std::string& text) const {
    auto out = std::make_unique<AtomicFile>(rows() + "/0", AtomicFile::ShardOptions{work()});
    out->write(text);
    return out;
  }
  ErrorCode failure_of(AtomicFile& file) const {
    try {
      file.commit();
    } catch (const Failure& failure) {
      return failure.error().code;
    }
    return ErrorCode::internal;
  }
  TestFolder folder_;
};

TEST_F(ShardFile, NoTemporaryFileLiesInTheMergeFolder) {
  const auto file = begun("rows");
  EXPECT_TRUE(std::filesystem::is_empty(rows()));
  file->commit();
  EXPECT_EQ(contents(rows() + "/0"), "rows");
  EXPECT_EQ(temporary_in(work()), "");
}

TEST_F(ShardFile, IsHashedWhileItIsWritten) {
  const auto file = begun("some ");
  file->write("rows");
  const FileDigest written = file->digest();
  file->commit();
  const Descriptor there(::open(rows().c_str(), O_RDONLY | O_DIRECTORY));
  EXPECT_EQ(digest_of_file(there.get(), "0"), written);
  EXPECT_EQ(written.bytes, 9U);
}

TEST_F(ShardFile, TwoRunsThatMakeTheSameBothEndWell) {
  const auto first = begun("rows"), second = begun("rows");
  second->commit();
  first->commit();
  EXPECT_EQ(contents(rows() + "/0"), "rows");
  EXPECT_EQ(temporary_in(work()), "");
}

TEST_F(ShardFile, TakesThePlaceOfADamagedOne) {
  std::ofstream(rows() + "/0") << "rowx";
  begun("rows")->commit();
  EXPECT_EQ(contents(rows() + "/0"), "rows");
}

TEST_F(ShardFile, AddsNothingToAnOutputThatWasPublished) {
  const auto late = begun("rows");
  std::filesystem::rename(rows(), folder_.at("output"));
  EXPECT_EQ(failure_of(*late), ErrorCode::conflict);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.at("output")));
}

TEST_F(ShardFile, ANewFolderOfThatNameIsNotTheOneItWasBegunIn) {
  const auto late = begun("rows");
  std::filesystem::rename(rows(), folder_.at("output"));
  std::filesystem::create_directory(rows());
  EXPECT_EQ(failure_of(*late), ErrorCode::conflict);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.at("output")));
  EXPECT_TRUE(std::filesystem::is_empty(rows()));
}

TEST(Folders, ThatAreNotThereNeedNoSync) { sync_folder("/none"); }

}  // namespace
}  // namespace millrace
