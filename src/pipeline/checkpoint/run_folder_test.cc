#include "src/pipeline/checkpoint/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/version.h"
#include "src/io/file/atomic_file.h"

namespace millrace {
namespace {

namespace fs = std::filesystem;

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() { fs::create_directories(shards()); }
  ~RunFolderTest() override { fs::remove_all(root_); }

  std::string output() const { return root_ + "/out"; }
  std::string shards() const { return output() + ".shards"; }
  void put(const std::string& name) const { std::ofstream(shards() + "/" + name) << "text"; }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(shards())) out.push_back(entry.path().filename());
    return out;
  }
  static std::string conflict_message(RunFolder& folder) {
    try {
      folder.hold(RunFolder::Hold::alone);
    } catch (const Failure& failure) {
      return failure.error().what;
    }
    return "";
  }

  const std::string root_ = ::testing::TempDir() + "run_folder_" + std::to_string(::getpid());
};

TEST_F(RunFolderTest, WhatNoRunHasMadeStaysAsItWas) {
  fs::create_directory(shards() + "/photographs");
  ::chmod(shards().c_str(), 0775);
  ::chmod((shards() + "/photographs").c_str(), 0775);
  RunFolder folder(output());
  EXPECT_EQ(conflict_message(folder), "it contains files that Millrace did not write");
  EXPECT_EQ(names(), std::vector<std::string>{"photographs"});
  struct stat info {};
  ASSERT_EQ(::stat(shards().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0775U);
}

TEST_F(RunFolderTest, WhatARunLeftThatSawNoLockIsARunsOwn) {
  // The run wrote how many runs share the folder after another run, which it did not see, had removed all in it.
  std::ofstream(shards() + "/runs.json") << "{\"of\": 2, \"version\": \"" << version() << "\"}\n";
  {
    RunFolder folder(output());
    EXPECT_EQ(conflict_message(folder), "");
    EXPECT_TRUE(fs::exists(shards() + "/runs.json"));
    folder.remove();
  }
  EXPECT_FALSE(fs::exists(shards()));
  fs::create_directory(shards());
  std::ofstream(shards() + "/runs.json") << "[\"ran\", \"5 km\"]\n";
  RunFolder folder(output());
  EXPECT_EQ(conflict_message(folder), "it contains files that Millrace did not write")
      << "somebody's own, of the same name";
}

TEST_F(RunFolderTest, ASecondNameInTheFolderIsARunsOwn) {
  const std::string partial = AtomicFile::kTemporaryPrefix + std::string("1-0");
  put(RunFolder::kRunFile);
  fs::create_hard_link(shards() + "/" + RunFolder::kRunFile, shards() + "/" + partial);
  {
    RunFolder folder(output());
    EXPECT_EQ(conflict_message(folder), "");
    folder.remove_stale_temporaries();
    EXPECT_FALSE(fs::exists(shards() + "/" + partial));
  }
  fs::create_hard_link(shards() + "/" + RunFolder::kRunFile, root_ + "/elsewhere");
  RunFolder folder(output());
  EXPECT_EQ(conflict_message(folder), "it has a second name (a hard link) elsewhere, which no run makes");
}

TEST_F(RunFolderTest, WhoSharesItWaitsUntilTheLastHasPutAllInPlace) {
  RunFolder last(output()), late(output());
  last.hold(RunFolder::Hold::alone);
  auto holding = std::async(std::launch::async, [&] { late.hold(RunFolder::Hold::shared); });
  last.remove();
  EXPECT_NO_THROW(holding.get());
  EXPECT_TRUE(late.has_its_name());
  RunFolder other(output());
  EXPECT_EQ(conflict_message(other), "another run is making the same output");
}

TEST_F(RunFolderTest, NothingIsLeftOfWhatIsRemoved) {
  put(RunFolder::kRunFile);
  fs::create_directory(shards() + "/whole.part");
  std::ofstream(shards() + "/whole.part/rows.npy") << "rows";
  RunFolder folder(output());
  EXPECT_EQ(conflict_message(folder), "");
  folder.remove();
  EXPECT_FALSE(fs::exists(shards()));
}

}  // namespace
}  // namespace millrace
