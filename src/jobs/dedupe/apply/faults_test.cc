// Tests that cut off every operation before every step: undo restores the earlier state, and a second apply ends like
// an uninterrupted run.
#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

class Faults : public Scene {
 protected:
  void scene() {
    fresh();
    // Files are linked only if their modes are equal.
    put("a.jpg", "the picture", 1'500'000'000, one_mode_ ? 0640 : 0644);
    put("b.jpg", "the picture", 1'400'000'000, one_mode_ ? 0640 : 0600);
    put("b.xmp", merge_ ? kRated : "a sidecar");
    put("sub/d.jpg", "the picture", 1'300'000'000, 0640);
    put("sub/alike.jpg", "another picture", 1'200'000'000);
    decide("1", "keep", "a.jpg");
    decide("1", "remove", "b.jpg");
    decide("1", "remove", "sub/d.jpg");
    decide("1", "remove", "sub/alike.jpg");
  }

  static constexpr const char* kRated =
      "<rdf:RDF><rdf:Description xmp:Rating='5'><dc:subject><rdf:Bag><rdf:li>sea</rdf:li></rdf:Bag></dc:subject>"
      "</rdf:Description></rdf:RDF>";
  bool one_mode_ = false;

  void cut_everywhere(const std::string& action) {
    one_mode_ = action == "hardlink";
    scene();
    const auto before = disk();
    const RunResult whole = run_apply(action);
    ASSERT_FALSE(whole.cut_off());
    const auto after = disk();
    ASSERT_NE(before, after);
    ASSERT_EQ(run_undo().code, 0);
    ASSERT_EQ(disk(), before);

    int cuts = 0;
    for (int cut = 1;; ++cut) {
      SCOPED_TRACE(action + " cut off before step " + std::to_string(cut));
      scene();
      if (!run_apply(action, true, cut).cut_off()) break;
      ++cuts;
      const RunResult back = run_undo();
      EXPECT_TRUE(back.code == 0 || !std::filesystem::exists(journal())) << back.json.dump(1);
      ASSERT_EQ(disk(), before);

      scene();
      ASSERT_TRUE(run_apply(action, true, cut).cut_off());
      const auto torn = disk();
      run_apply(action, false);  // a dry run changes nothing in this state either
      ASSERT_EQ(disk(), torn);
      EXPECT_EQ(run_apply(action).code, whole.code);
      ASSERT_EQ(disk(), after);
      EXPECT_EQ(run_undo().code, 0);
      ASSERT_EQ(disk(), before);
    }
    EXPECT_GT(cuts, 10);

    for (int cut = 1;; ++cut) {
      SCOPED_TRACE(action + ": undo cut off before step " + std::to_string(cut));
      scene();
      ASSERT_EQ(run_apply(action).code, whole.code);
      if (!run_undo(cut).cut_off()) break;
      EXPECT_EQ(run_undo().code, 0);
      ASSERT_EQ(disk(), before);
    }
  }
};

TEST_F(Faults, Delete) { cut_everywhere("delete"); }
TEST_F(Faults, Trash) { cut_everywhere("trash"); }
TEST_F(Faults, Hardlink) { cut_everywhere("hardlink"); }
TEST_F(Faults, Move) { cut_everywhere("move=" + top_ + "/moved"); }

// Removed files pass on their metadata to a sidecar before they are removed.
TEST_F(Faults, Merge) {
  merge_ = true;
  for (const std::string& action : {std::string("delete"), std::string("trash"), "move=" + top_ + "/moved"})
    cut_everywhere(action);
  scene();
  ASSERT_FALSE(run_apply("delete").cut_off());
  EXPECT_NE(contents(photos_ + "/a.jpg.xmp").find("xmp:Rating=\"5\""), std::string::npos);
}

TEST_F(Faults, MoveToAnotherFileSystem) {
  const std::string folder = elsewhere();
  if (folder.empty()) GTEST_SKIP() << "no second file system to write to";
  cut_everywhere("move=" + folder + "/deep/er");
}

// The apply was cut off, and so is its undo.
TEST_F(Faults, UndoOfACutOffApply) {
  for (const std::string action : {"delete", "hardlink", "trash"}) {
    one_mode_ = action == "hardlink";
    scene();
    const auto before = disk();
    for (int cut = 8;; cut += 5) {
      scene();
      if (!run_apply(action, true, cut).cut_off()) break;
      for (int again = 1; run_undo(again).cut_off() && again < 100; again += 2) {
      }
      EXPECT_EQ(run_undo().code, 0);
      ASSERT_EQ(disk(), before) << action << " " << cut;
    }
  }
}

// Three contents are confirmed as different; the catalog had one of the pairs before.
TEST_F(Faults, NotDuplicates) {
  const auto hash_of = [&](const std::string& name) { return *hash_file(photos_ + "/" + name); };
  std::vector<ConfirmedDistinctPair> before, after;
  const auto mark_distinct = [&] {
    scene();
    for (const char* name : {"x.jpg", "y.jpg", "z.jpg"}) {
      put(name, name);
      decide("2", "not_duplicates", name);
    }
    Catalog catalog(top_ + "/data/millrace/catalog.sqlite", catalog_key());
    catalog.put_confirmed_distinct(hash_of("x.jpg"), hash_of("y.jpg"));
    catalog.flush();
  };
  mark_distinct();
  before = confirmed_distinct();
  ASSERT_EQ(before.size(), 1U);
  ASSERT_EQ(run_apply("delete").json["totals"]["not_duplicates"], 3);
  after = confirmed_distinct();
  ASSERT_EQ(after.size(), 3U);
  const RunResult back = run_undo();
  EXPECT_EQ(back.json["totals"]["not_duplicates"], 2);
  EXPECT_EQ(back.code, 0);
  EXPECT_EQ(confirmed_distinct(), before);

  bool cut_off = true;
  for (int cut = 1; cut_off; ++cut) {
    SCOPED_TRACE("apply cut off before step " + std::to_string(cut));
    mark_distinct();
    cut_off = run_apply("delete", true, cut).cut_off();
    run_undo();
    ASSERT_EQ(confirmed_distinct(), before);
    mark_distinct();
    run_apply("delete", true, cut);
    EXPECT_EQ(run_apply("delete").code, 0);
    ASSERT_EQ(confirmed_distinct(), after);
    EXPECT_EQ(run_undo().code, 0);
    ASSERT_EQ(confirmed_distinct(), before);
  }
  cut_off = true;
  for (int cut = 1; cut_off; ++cut) {
    SCOPED_TRACE("undo cut off before step " + std::to_string(cut));
    mark_distinct();
    run_apply("delete");
    cut_off = run_undo(cut).cut_off();
    EXPECT_EQ(run_undo().code, 0);
    ASSERT_EQ(confirmed_distinct(), before);
  }
}

TEST_F(Faults, Purge) {
  std::map<std::string, std::string> outside;
  for (int cut = 1;; ++cut) {
    SCOPED_TRACE(cut);
    scene();
    ASSERT_EQ(run_apply("delete").code, 0);
    const bool cut_off = run_purge(true, cut).cut_off();
    outside = disk();
    EXPECT_EQ(outside.count(photos_ + "/a.jpg"), 1U);
    EXPECT_EQ(run_purge().code, 0);
    const auto left = disk();
    EXPECT_EQ(left.size(), 2U) << "a.jpg and the folder sub";
    EXPECT_EQ(left.count(photos_ + "/a.jpg"), 1U);
    const RunResult back = run_undo();
    EXPECT_EQ(back.code, 3);
    EXPECT_EQ(back.of("b.jpg", "reason"), "it was purged");
    EXPECT_EQ(disk(), left);
    if (!cut_off) break;
  }
}

// Files that were not purged before the cut are restored.
TEST_F(Faults, UndoOfACutOffPurge) {
  scene();
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  ASSERT_TRUE(run_purge(true, 6).cut_off());
  run_undo();
  std::size_t back = 0;
  for (const auto& [path, what] : disk()) {
    ASSERT_EQ(before.count(path), 1U) << path;
    EXPECT_EQ(before.at(path), what);
    ++back;
  }
  EXPECT_GE(back, 4U);
}

// The journal may end anywhere in its last lines, since "done" adds nothing that the disk does not show.
TEST_F(Faults, JournalCutAnywhereInItsLastLine) {
  scene();
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto size = std::filesystem::file_size(journal());
  for (std::uintmax_t cut = 1; cut < 16; ++cut) {
    scene();
    ASSERT_EQ(run_apply("delete").code, 0);
    std::filesystem::resize_file(journal(), size - cut);
    if (cut % 2 == 0) {
      EXPECT_EQ(run_apply("delete").code, 0);
    }
    EXPECT_EQ(run_undo().code, 0);
    ASSERT_EQ(disk(), before) << cut;
  }
}

TEST_F(Faults, InterruptedBetweenFilesAndContinued) {
  scene();
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto after = disk();
  scene();
  const RunResult ran = run_apply("delete", true, 12, true);
  EXPECT_EQ(ran.code, 130) << ran.json.dump(1);
  EXPECT_EQ(ran.of("d.jpg"), "waiting");
  EXPECT_NE(disk(), after);
  EXPECT_EQ(run_apply("delete").code, 0);
  EXPECT_EQ(disk(), after);
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

}  // namespace
}  // namespace millrace::dedupe
