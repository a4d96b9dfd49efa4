#include "src/jobs/dedupe/apply/apply.h"

#include <gmock/gmock.h>

#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::HasSubstr;

class Apply : public Scene {
 protected:
  std::vector<std::string> actions(const std::string& end = "") const {
    return {"delete", "trash", "hardlink", "move=" + top_ + "/moved" + end};
  }
  // Expects that b.jpg is left for this reason, with every action.
  void expect_left(const std::string& why) {
    const auto before = disk();
    for (const std::string& action : actions()) {
      std::filesystem::remove(journal());
      const RunResult ran = run_apply(action);
      EXPECT_EQ(ran.code, 3) << action;
      EXPECT_EQ(ran.of("b.jpg"), "left") << action << ran.json.dump(1);
      EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr(why)) << action;
      EXPECT_EQ(disk(), before) << action;
    }
  }
};

TEST_F(Apply, ADryRunChangesNothingAndReportsAll) {
  pair();
  put("b.xmp", "x");
  const auto before = disk();
  const RunResult dry = run_apply("delete", false);
  EXPECT_EQ(dry.code, 0);
  EXPECT_EQ(disk(), before);
  EXPECT_FALSE(std::filesystem::exists(journal()));
  const RunResult wet = run_apply("delete");
  ASSERT_EQ(dry.json["items"].size(), wet.json["items"].size());
  for (std::size_t i = 0; i < wet.json["items"].size(); ++i) {
    EXPECT_EQ(dry.json["items"][i]["state"], "would");
    EXPECT_EQ(wet.json["items"][i]["state"], "done");
    EXPECT_EQ(dry.json["items"][i]["path"], wet.json["items"][i]["path"]);
    EXPECT_EQ(dry.json["items"][i]["to"], wet.json["items"][i]["to"]);
  }
}

TEST_F(Apply, WhatChangedIsLeft) {
  pair();
  put("b.jpg", "the pictures", 1'500'000'000);
  expect_left("bytes, expected");
  put("b.jpg", "the picture", 1'500'000'001);
  expect_left("modification time");
  put("b.jpg", "The picture");
  expect_left("its content differs");
  std::filesystem::remove(photos_ + "/b.jpg");
  std::filesystem::create_symlink("a.jpg", photos_ + "/b.jpg");
  expect_left("symbolic link");
  std::filesystem::remove(photos_ + "/b.jpg");
  expect_left("no longer exists");
}

TEST_F(Apply, OneMemberHasToSurvive) {
  pair();
  put("a.jpg", "the picturE");
  expect_left("no other member");
  put("a.jpg", "the picture", 1'500'000'009);
  expect_left("no other member");
  std::filesystem::remove(photos_ + "/a.jpg");
  expect_left("no other member");
  std::filesystem::create_symlink("b.jpg", photos_ + "/a.jpg");
  expect_left("no other member");
  entries_.erase(entries_.begin());
  expect_left("no other member");
}

TEST_F(Apply, AnotherNameOfTheSameFileIsNoSurvivor) {
  put("b.jpg", "the picture");
  std::filesystem::create_hard_link(photos_ + "/b.jpg", photos_ + "/a.jpg");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  EXPECT_THAT(run_apply("delete").of("b.jpg", "reason"), HasSubstr("no other member"));
  std::filesystem::remove(journal());
  EXPECT_EQ(run_apply("hardlink").of("b.jpg"), "before");
}

TEST_F(Apply, AllMembersMarkedAreAllLeft) {
  pair();
  entries_[0]["action"] = "remove";
  const auto before = disk();
  EXPECT_EQ(run_apply("delete").code, 3);
  EXPECT_EQ(disk(), before);
}

TEST_F(Apply, AConfirmedDistinctMemberIsNoSurvivor) {
  put("a.jpg", "one picture");
  put("b.jpg", "two picture");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  Json& recorded = decide("1", "not_duplicates", "b.jpg");
  recorded["with"] = entries_[0]["hash"];
  expect_left("no other member");
}

TEST_F(Apply, KeptByOneDecisionIsKept) {
  pair();
  put("c.jpg", "likewise");
  decide("2", "keep", "b.jpg");
  decide("2", "keep", "c.jpg");
  expect_left("another decision keeps it, in group 2");
  // The order of the entries does not matter.
  std::reverse(entries_.begin(), entries_.end());
  expect_left("another decision keeps it, in group 2");
}

// The page names a file in every group that contains it.
TEST_F(Apply, AFileOfTwoGroupsGoesOnceAndEachGroupHasItsSurvivor) {
  const auto scene = [&] {
    fresh();
    pair();
    put("c.jpg", "much like it");
    decide("2", "remove", "b.jpg");
    decide("2", "keep", "c.jpg");
  };
  for (const std::string& action : actions()) {
    SCOPED_TRACE(action);
    scene();
    const auto before = disk();
    const RunResult ran = run_apply(action);
    EXPECT_EQ(ran.code, 0) << ran.json.dump(1);
    EXPECT_EQ(ran.json["items"].size(), 1U);
    EXPECT_EQ(ran.of("b.jpg"), "done");
    const Journal recorded = read_journal(journal(), Trust::files);
    ASSERT_EQ(recorded.records.size(), 1U);
    EXPECT_EQ(recorded.records[0].survivors, (std::vector<std::string>{photos_ + "/a.jpg", photos_ + "/c.jpg"}));
    EXPECT_EQ(run_undo().code, 0);
    EXPECT_EQ(disk(), before);
  }
  // No member of the second group is unchanged: the file is left, although the first group has a survivor.
  put("a.jpg", "also much like it");
  entries_.clear();
  decide("1", "keep", "a.jpg");
  for (const char* group : {"1", "2"}) decide(group, "remove", "b.jpg");
  decide("2", "keep", "c.jpg");
  put("c.jpg", "something else");
  expect_left("no other member");
}

TEST_F(Apply, PurgeNeedsTheSurvivorOfEveryGroup) {
  pair();
  put("c.jpg", "much like it");
  decide("2", "remove", "b.jpg");
  decide("2", "keep", "c.jpg");
  ASSERT_EQ(run_apply("delete").code, 0);
  std::filesystem::remove(photos_ + "/c.jpg");
  const RunResult purged = run_purge();
  EXPECT_EQ(purged.code, 3);
  EXPECT_THAT(purged.json["items"][0]["reason"].get<std::string>(),
              HasSubstr("c.jpg, the file kept for it, is missing"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_TRUE(std::filesystem::exists(photos_ + "/b.jpg"));
}

TEST_F(Apply, ReferencesAreUntouchable) {
  pair();
  entries_[1]["reference"] = true;
  expect_left("reference");
  entries_[1].erase("reference");
  references_ = {photos_};
  expect_left("reference");
  // Another name of the folder makes no difference.
  references_ = {};
  std::filesystem::create_directory_symlink(photos_, top_ + "/link");
  entries_[1]["path"] = top_ + "/link/b.jpg";
  references_ = {photos_};
  expect_left("reference");
  EXPECT_EQ(run_apply("move=" + photos_ + "/x").code, 2);
}

TEST_F(Apply, OnlyEqualBytesAreLinked) {
  put("a.jpg", "one picture");
  put("b.jpg", "two picture");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  EXPECT_THAT(run_apply("hardlink").of("b.jpg", "reason"), HasSubstr("only looks like"));
}

TEST_F(Apply, AReferenceIsNotLinkedTo) {
  pair();
  entries_[0]["reference"] = true;
  EXPECT_THAT(run_apply("hardlink").of("b.jpg", "reason"), HasSubstr("reference"));
  put("c.jpg", "the picture");
  decide("1", "keep", "c.jpg");
  std::filesystem::remove(journal());
  EXPECT_EQ(run_apply("hardlink").of("b.jpg", "to"), photos_ + "/c.jpg");
}

// A group may have no kept member: a kept file of the same bytes makes its removal safe.
TEST_F(Apply, AKeptFileOfTheSameBytesInAnotherGroupSurvivesForIt) {
  put("a.jpg", "the picture");
  put("b.jpg", "the picture");
  decide("1", "keep", "a.jpg");
  decide("2", "remove", "b.jpg");
  EXPECT_EQ(run_apply("delete").of("b.jpg"), "done");
}

TEST_F(Apply, NoLinkAcrossFileSystems) {
  const std::string other = elsewhere();
  if (other.empty()) GTEST_SKIP() << "no second file system to write to";
  std::filesystem::create_directories(other);
  pair();
  std::ofstream(other + "/a.jpg") << "the picture";
  std::filesystem::remove(photos_ + "/a.jpg");
  entries_.clear();
  decide("1", "keep", other + "/a.jpg");
  decide("1", "remove", "b.jpg");
  EXPECT_THAT(run_apply("hardlink").of("b.jpg", "reason"), HasSubstr("another file system"));
}

TEST_F(Apply, LinkedIsOneFileAndUndoneAreTwo) {
  put("a.jpg", "the picture", 1'500'000'000, 0640);
  put("b.jpg", "the picture", 1'000'000'000, 0640);
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  const auto before = disk();
  EXPECT_EQ(run_apply("hardlink").code, 0);
  EXPECT_TRUE(std::filesystem::equivalent(photos_ + "/a.jpg", photos_ + "/b.jpg"));
  EXPECT_EQ(run_apply("hardlink").of("b.jpg"), "before");
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_FALSE(std::filesystem::equivalent(photos_ + "/a.jpg", photos_ + "/b.jpg"));
  EXPECT_EQ(disk(), before);
}

// Linked files share one mode: anyone who may write to one name could write to both.
TEST_F(Apply, OnlyFilesOfOneAccessAreLinkedUnlessAllowed) {
  put("a.jpg", "the picture", 1'500'000'000, 0666);
  put("b.jpg", "the picture", 1'500'000'000, 0600);
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  const auto before = disk();
  const RunResult ran = run_apply("hardlink");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("--ignore-access"));
  EXPECT_EQ(disk(), before);
  ApplyOptions o = options("hardlink");
  o.ignore_access = true;
  EXPECT_EQ(run(o).of("b.jpg"), "done");
  EXPECT_TRUE(std::filesystem::equivalent(photos_ + "/a.jpg", photos_ + "/b.jpg"));
  // The undo restores the mode of the file on the disk, not one from the journal.
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_FALSE(std::filesystem::equivalent(photos_ + "/a.jpg", photos_ + "/b.jpg"));
  EXPECT_EQ(state_of(photos_ + "/b.jpg").or_throw().mode, 0666U);
}

TEST_F(Apply, OnlyWhatTheCatalogueKnowsIsTouched) {
  pair();
  write_decisions();
  put("c.jpg", "not a picture that was searched");
  put("d.jpg", "a survivor that was made up");
  decide("2", "remove", "c.jpg");
  decide("2", "keep", "d.jpg");
  std::ofstream(top_ + "/decisions.json") << Json{{"millrace_decisions", 1}, {"decisions", entries_}}.dump(1);
  const auto before = disk();
  ApplyOptions o = options("delete", false);
  RunResult ran = run(o);
  EXPECT_EQ(ran.of("b.jpg"), "would");
  EXPECT_EQ(ran.of("c.jpg"), "left");
  EXPECT_THAT(ran.of("c.jpg", "reason"), HasSubstr("--within"));
  o.within = {photos_};
  ran = run(o);
  EXPECT_EQ(ran.of("c.jpg"), "would");
  for (const Json& item : ran.json["items"]) {
    EXPECT_EQ(item.value("known", true), item["path"].get<std::string>().ends_with("/b.jpg"));
  }
  // A file with another hash, time or size in the catalog does not match.
  Json& entry = entries_[3];
  for (const char* field : {"hash", "mtime_ns"}) {
    const Json saved = entry[field];
    entry[field] = field == std::string("hash") ? std::string(32, 'a') : "1";
    write_decisions();
    entry[field] = saved;
    std::ofstream(top_ + "/decisions.json") << Json{{"millrace_decisions", 1}, {"decisions", entries_}}.dump(1);
    EXPECT_EQ(run(options("delete", false)).of("c.jpg"), "left") << field;
  }
  // Without a catalog no file is accepted, and no catalog is created.
  std::filesystem::remove_all(top_ + "/data/millrace");
  ran = run(options("delete", false));
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_THAT(ran.of("b.jpg", "reason"), HasSubstr("--catalog"));
  EXPECT_FALSE(std::filesystem::exists(top_ + "/data/millrace"));
  EXPECT_EQ(disk(), before);
}

TEST_F(Apply, AFolderThatHasBecomeALinkIsLeftUnlessAllowed) {
  put("d/a.jpg", "the picture");
  put("b.jpg", "the picture");
  decide("1", "keep", "b.jpg");
  decide("1", "remove", "d/a.jpg");
  write_decisions();
  std::filesystem::rename(photos_ + "/d", top_ + "/real");
  std::filesystem::create_directory_symlink(top_ + "/real", photos_ + "/d");
  for (const char* action : {"delete", "trash", "hardlink"}) {
    const RunResult ran = run(options(action));
    EXPECT_EQ(ran.json["items"][0]["state"], "left") << ran.json.dump(1);
    EXPECT_THAT(ran.json["items"][0]["reason"].get<std::string>(), HasSubstr("symbolic link"));
    EXPECT_EQ(contents(top_ + "/real/a.jpg"), "the picture");
    std::filesystem::remove(journal());
  }
  ApplyOptions o = options("delete");
  o.follow_symlinks = true;
  // No search has seen the file behind the link.
  const RunResult unseen = run(o);
  EXPECT_EQ(unseen.json["items"][0]["state"], "left");
  EXPECT_THAT(unseen.json["items"][0]["reason"].get<std::string>(), HasSubstr("--within"));
  std::filesystem::remove(journal());
  o.within = {top_ + "/real"};
  EXPECT_EQ(run(o).json["items"][0]["state"], "done");
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(contents(top_ + "/real/a.jpg"), "the picture");
}

TEST_F(Apply, WhatSomebodyRemovedMeanwhileIsLost) {
  for (const char* action : {"delete", "trash"}) {
    fresh();
    pair();
    const RunResult done = run_apply(action);
    ASSERT_EQ(done.code, 0);
    if (action == std::string("delete")) {
      std::filesystem::remove(done.of("b.jpg", "to"));
    } else {
      std::filesystem::remove_all(top_ + "/data/Trash");
    }
    const RunResult back = run_undo();
    EXPECT_EQ(back.code, 3);
    EXPECT_EQ(back.of("b.jpg"), "lost") << back.json.dump(1);
    EXPECT_EQ(back.json["totals"]["lost"]["files"], 1);
    // The undo is finished all the same: the decisions can be carried out again under another number.
    put("b.jpg", "the picture");
    ApplyOptions o = options(action);
    o.journal.clear();
    EXPECT_EQ(run(o).of("b.jpg"), "done");
  }
}

// A file that was touched in the trash, or restored by hand, is not lost.
TEST_F(Apply, WhatIsThereIsNotCalledLost) {
  for (const char* how : {"touched in the trash", "put back by hand and touched", "another copy with another time"}) {
    fresh();
    pair();
    ASSERT_EQ(run_apply("trash").code, 0);
    const std::string trashed = top_ + "/data/Trash/files/b.jpg", b = photos_ + "/b.jpg";
    if (how[0] == 'p') std::filesystem::rename(trashed, b);
    if (how[0] == 'a') {
      std::filesystem::remove(trashed);
      put("b.jpg", "the picture", 1'700'000'000);
    } else {
      ASSERT_TRUE(set_mtime(how[0] == 't' ? trashed : b, 1).ok());
    }
    const RunResult back = run_undo();
    EXPECT_EQ(back.code, 0) << how << back.json.dump(1);
    EXPECT_EQ(back.of("b.jpg"), how[0] == 't' ? "done" : "before") << how;
    EXPECT_EQ(contents(b), "the picture");
  }
}

TEST_F(Apply, UndoNeverOverwrites) {
  for (const std::string& action : actions()) {
    fresh();
    pair();
    ASSERT_EQ(run_apply(action).code, 0);
    std::filesystem::remove(photos_ + "/b.jpg");
    put("b.jpg", "a newer file");
    const RunResult back = run_undo();
    EXPECT_EQ(back.code, 0) << back.json.dump(1);
    EXPECT_THAT(back.of("b.jpg", "to"), HasSubstr("b (restored).jpg")) << action;
    EXPECT_THAT(back.of("b.jpg", "reason"), HasSubstr("taken"));
    EXPECT_EQ(contents(photos_ + "/b.jpg"), "a newer file");
    EXPECT_EQ(contents(photos_ + "/b (restored).jpg"), "the picture");
  }
}

TEST_F(Apply, MoveKeepsPlacesAndNeverOverwrites) {
  put("a.jpg", "the picture");
  put("x/b.jpg", "the picture");
  put("x/b.jpg.xmp", "sidecar");
  put("y/b.jpg", "the picture");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "x/b.jpg");
  decide("1", "remove", "y/b.jpg");
  std::filesystem::create_directories(top_ + "/moved/x");
  std::ofstream(top_ + "/moved/x/b.jpg") << "in the way";
  const auto before = disk();
  ASSERT_EQ(run_apply("move=" + top_ + "/moved").code, 0);
  for (const std::string name : {"x/b.jpg", "x/b (2).jpg", "x/b (2).jpg.xmp", "y/b.jpg"}) {
    EXPECT_TRUE(std::filesystem::exists(top_ + "/moved/" + name)) << name;
  }
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(Apply, CompanionsGoAlongUnlessShared) {
  put("a.jpg", "the picture");
  put("b.JPG", "\xFF\xD8\xFF the picture");
  put("b.dng", "II* raw");
  put("b.xmp", "sidecar");
  put("B.MOV", "film");
  put("b.txt", "a note");
  put("c.jpg", "the picture");
  put("c.png", "not decided on");
  put("c.xmp", "of both");
  put("c.jpg.xmp", "of the one");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.JPG");
  decide("1", "remove", "c.jpg");
  const auto before = disk();
  const RunResult ran = run_apply("delete");
  ASSERT_EQ(ran.code, 0);
  for (const std::string name : {"b.JPG", "b.dng", "b.xmp", "B.MOV", "c.jpg", "c.jpg.xmp"}) {
    EXPECT_FALSE(std::filesystem::exists(photos_ + "/" + name)) << name;
  }
  for (const std::string name : {"b.txt", "c.png", "c.xmp"})
    EXPECT_TRUE(std::filesystem::exists(photos_ + "/" + name)) << name;
  EXPECT_THAT(ran.of("c.jpg", "reason"), HasSubstr("c.xmp is kept for c.png"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(Apply, PathsAreBytes) {
  put("a.jpg", "the picture");
  put("b\xff\n.jpg", "the picture");
  put("b\xff\n.xmp", "x");
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b\xff\n.jpg");
  const auto before = disk();
  for (const std::string& action : actions("\xfe")) {
    std::filesystem::remove(journal());
    EXPECT_EQ(run_apply(action).code, 0) << action;
    EXPECT_EQ(run_undo().code, 0) << action;
    EXPECT_EQ(disk(), before) << action;
  }
}

TEST_F(Apply, NotDuplicatesGoIntoTheCatalogueWithGoAlone) {
  put("a.jpg", "one");
  put("b.jpg", "two");
  put("c.jpg", "two");
  put("d.jpg", "four");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) decide("1", "not_duplicates", name);
  Json hash = decide("2", "not_duplicates", "d.jpg")["hash"];
  entries_.back()["with"] = entries_[0]["hash"];
  write_decisions();
  ApplyOptions o = options("trash", false);
  o.catalog = top_ + "/catalog.sqlite";
  run(o);
  EXPECT_FALSE(std::filesystem::exists(o.catalog));
  o.execute = true;
  const RunResult ran = run(o);
  EXPECT_EQ(ran.code, 0) << ran.json.dump(1);
  EXPECT_EQ(ran.json["totals"]["not_duplicates"], 3);
  const auto pairs = Catalog(o.catalog, catalog_key()).confirmed_distinct();
  EXPECT_EQ(pairs.size(), 3U);
  const ContentHash one = *hash_file(photos_ + "/a.jpg"), two = *hash_file(photos_ + "/b.jpg"),
                    four = *hash_file(photos_ + "/d.jpg");
  for (const auto& [a, b] : {std::pair{one, two}, std::pair{two, two}, std::pair{one, four}}) {
    EXPECT_EQ(std::count(pairs.begin(), pairs.end(), std::pair(std::min(a, b), std::max(a, b))), 1);
  }
  // A dry undo removes no pair. An unusable catalog is reported, and the next undo continues.
  const RunResult dry = run_undo_of(journal(), false);
  EXPECT_EQ(dry.json["totals"]["not_duplicates"], 3);
  EXPECT_EQ(Catalog(o.catalog, catalog_key()).confirmed_distinct().size(), 3U);
  std::filesystem::rename(o.catalog, o.catalog + ".away");
  std::ofstream(o.catalog) << "not a catalogue";
  const RunResult failed = run_undo();
  EXPECT_EQ(failed.code, 3);
  EXPECT_THAT(failed.json["notes"].dump(), HasSubstr("catalog.sqlite"));
  std::filesystem::rename(o.catalog + ".away", o.catalog);
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_TRUE(Catalog(o.catalog, catalog_key()).confirmed_distinct().empty());
}

}  // namespace
}  // namespace millrace::dedupe
