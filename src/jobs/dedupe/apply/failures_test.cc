// What apply does when the disk, the folders or the journal do not do what it needs; and what journals are for.
#include <gmock/gmock.h>

#include "src/base/full_disk_for_test.h"
#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

using ApplyFailures = Scene;

TEST_F(ApplyFailures, AFolderThatMayNotBeWrittenIsAnOutcome) {
  put("a.jpg", "the picture");
  put("closed/b.jpg", "the picture");
  put("closed/b.xmp", "x");
  put("open/c.jpg", "the picture");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "closed/b.jpg");
  decide("1", "remove", "open/c.jpg");
  write_decisions();
  ::chmod((photos_ + "/closed").c_str(), 0555);
  for (const std::string& path : {photos_ + "/open", top_, top_ + "/data"}) ::chmod(path.c_str(), 0777);
  const ApplyOptions o = options("delete");
  const Ran ran = in_process([&](RunContext& context) {
    if (::getuid() == 0 && ::setuid(65534) != 0) throw Failure(ErrorCode::internal, "setuid");
    return apply(o, context);
  });
  EXPECT_EQ(ran.code, 3) << ran.json.dump(1);
  EXPECT_EQ(ran.of("b.jpg"), "failed");
  EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("ermission"));
  EXPECT_EQ(ran.of("c.jpg"), "done");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/closed/b.xmp"));
  ::chmod((photos_ + "/closed").c_str(), 0755);
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/open/c.jpg"));
}

TEST_F(ApplyFailures, AFullDiskIsAnOutcome) {
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "no second file system to write to";
  put("a.jpg", std::string(200'000, 'x'));
  put("big.jpg", std::string(200'000, 'x'));
  put("big.xmp", "its sidecar");
  put("k.jpg", "small");
  put("small.jpg", "small");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "big.jpg");
  decide("2", "keep", "k.jpg");
  decide("2", "remove", "small.jpg");
  write_decisions();
  const auto before = disk();
  const ApplyOptions o = options("move=" + other);
  const Ran ran = in_process([&](RunContext& context) {
    const FullDisk full(100'000);
    return apply(o, context);
  });
  EXPECT_EQ(ran.code, 3);
  EXPECT_EQ(ran.of("big.jpg"), "failed") << ran.json.dump(1);
  EXPECT_EQ(ran.of("small.jpg"), "done");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/big.jpg"));
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/big.xmp")) << "the files of one picture stay together";
  EXPECT_FALSE(std::filesystem::exists(other + "/big.xmp"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, WithoutAJournalNothingMoreIsDone) {
  put("a.jpg", "the picture");
  for (const char* name : {"b.jpg", "c.jpg", "d.jpg", "e.jpg"}) put(name, "the picture");
  decide("1", "keep", "a.jpg");
  for (const char* name : {"b.jpg", "c.jpg", "d.jpg", "e.jpg"}) decide("1", "remove", name);
  write_decisions();
  const auto before = disk();
  const ApplyOptions o = options("delete");
  const Ran ran = in_process([&](RunContext& context) {
    const FullDisk full(1'500);
    return apply(o, context);
  });
  EXPECT_EQ(ran.code, 3) << ran.json.dump(1);
  EXPECT_EQ(ran.of("e.jpg"), "failed");
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/e.jpg"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, PurgeIsADryRunWithoutGoAndTouchesNothingElse) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto before = disk();
  EXPECT_EQ(run_purge(false).json["items"][0]["state"], "would");
  EXPECT_EQ(disk(), before);
  // The file that stayed is gone: what was set aside is the last one.
  std::filesystem::rename(photos_ + "/a.jpg", top_ + "/away.jpg");
  const Ran last = run_purge();
  EXPECT_EQ(last.code, 3);
  EXPECT_THAT(last.json["items"][0]["reason"].get<std::string>(), HasSubstr("is gone"));
  std::filesystem::rename(top_ + "/away.jpg", photos_ + "/a.jpg");
  EXPECT_EQ(disk(), before);
  EXPECT_EQ(run_purge().code, 0);
  EXPECT_EQ(disk().size(), 1U);
  EXPECT_EQ(run_apply("delete").of("b.jpg", "reason"), "purged");
}

TEST_F(ApplyFailures, PurgeOfATrashJournalIsRefused) {
  pair();
  ASSERT_EQ(run_apply("trash").code, 0);
  EXPECT_EQ(run_purge().code, 2);
}

TEST_F(ApplyFailures, AJournalIsForItsDecisionsAndHeldByOneRun) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  EXPECT_EQ(run_apply("trash").code, 1) << "another action, the same journal";
  const JournalWriter holder(journal());
  const Ran second = run_undo();
  EXPECT_EQ(second.code, 1);
  EXPECT_THAT(second.json["failure"].get<std::string>(), HasSubstr("another run"));
}

TEST_F(ApplyFailures, JournalsUnderTheDataFolderAreNumbered) {
  pair();
  write_decisions();
  const auto before = disk();
  ApplyOptions o = options("delete");
  o.journal.clear();
  const Ran first = run(o);
  const std::string id = first.json["id"];
  EXPECT_EQ(first.json["journal"], top_ + "/data/millrace/journals/" + id + ".jsonl");
  EXPECT_EQ(run(o).json["id"], id) << "the same journal goes on";
  EXPECT_EQ(run_undo_of(id).code, 0);
  EXPECT_EQ(disk(), before);
  EXPECT_EQ(run(o).json["id"], id + "-2") << "what was undone is over";
  EXPECT_EQ(run_undo_of(id + "-2").code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(ApplyFailures, AStrangersFolderOfOurNameIsNotUsed) {
  pair();
  const Ran dry = run_apply("delete", false);
  const std::string folder = std::filesystem::path(dry.of("b.jpg", "to")).parent_path();
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/b.jpg") << "a stranger";
  const auto before = disk();
  const Ran ran = run_apply("delete");
  EXPECT_EQ(std::filesystem::path(ran.of("b.jpg", "to")).parent_path(), folder + "-2");
  EXPECT_EQ(run_purge().code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder + "/b.jpg"));
}

TEST_F(ApplyFailures, SomethingElseIsNoJournal) {
  std::ofstream(journal()) << "{\"groups\": []}\n";
  EXPECT_EQ(run_undo().code, 1);
  pair();
  EXPECT_EQ(run_apply("delete").code, 1);
}

}  // namespace
}  // namespace millrace::dedupe
