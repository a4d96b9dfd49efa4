// Tests of the removal of sidecars: by an undo, and by the run itself if no file was removed.
#include "src/jobs/dedupe/apply/sidecars_for_test.h"

namespace millrace::dedupe {
namespace {

using UndoSidecars = Sidecars;

// Returns the path to which a run moved the file.
std::string place_of(const std::string& folder, const std::string& name) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().filename() == name) return entry.path().string();
  }
  return "";
}

TEST_F(UndoSidecars, StayWhileSomethingThatKnewItIsNotBack) {
  pair();
  add_third_copy();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string written = sidecar("a.jpg"), b = place_of(photos_, "b.jpg");
  std::filesystem::rename(b, top_ + "/b.jpg");
  EXPECT_EQ(run_undo_of(journal(), false).of("a.jpg.xmp"), "left");
  RunResult back = run_undo();
  EXPECT_EQ(back.of("b.jpg"), "lost");
  EXPECT_EQ(back.of("c.jpg"), "done");
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_NE(back.of("a.jpg.xmp", "reason").find("b.jpg is not restored"), std::string::npos);
  EXPECT_EQ(sidecar("a.jpg"), written);
  // The undo is finished, so the decisions can be applied again. A second undo accounts for the lost file once it is
  // found.
  std::filesystem::rename(top_ + "/b.jpg", photos_ + "/b.jpg");
  back = run_undo();
  EXPECT_EQ(back.of("a.jpg.xmp"), "done");
  EXPECT_EQ(back.code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(UndoSidecars, StayWhereWhatKnewItWasPurged) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string written = sidecar("a.jpg");
  ASSERT_EQ(run_purge().code, 0);
  const RunResult back = run_undo();
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_EQ(sidecar("a.jpg"), written);
}

TEST_F(UndoSidecars, StayWhereWhatKnewItCannotComeBack) {
  pair();
  put("sub/c.jpg", "the picture");
  decide("1", "remove", "sub/c.jpg");
  put("sub/c.jpg.xmp", packet("xmp:Rating='4'"));
  const auto before = disk();
  ASSERT_EQ(run_apply("move=" + top_ + "/moved").code, 0);
  const std::string written = sidecar("a.jpg");
  std::filesystem::remove_all(photos_ + "/sub");
  std::ofstream(photos_ + "/sub") << "somebody's";
  RunResult back = run_undo();
  EXPECT_EQ(back.of("c.jpg"), "failed");
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_EQ(sidecar("a.jpg"), written);
  // Not everything is restored: the undo must be continued before the decisions are applied again.
  EXPECT_NE(run_apply("move=" + top_ + "/moved").code, 0);
  std::filesystem::remove(photos_ + "/sub");
  back = run_undo();
  EXPECT_EQ(back.of("a.jpg.xmp"), "done");
  EXPECT_EQ(disk(), before);
}

TEST_F(UndoSidecars, AFileThatIsNotAsWeWriteThemIsNotOurs) {
  pair();
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string precious = packet("xmp:Rating='5'");
  put("a.jpg.xmp", precious);
  std::ofstream(journal(), std::ios::app | std::ios::binary) << Json{{"n", 99},
                                                                     {"sidecar", photos_ + "/a.jpg.xmp"},
                                                                     {"picture", photos_ + "/a.jpg"},
                                                                     {"size", precious.size()},
                                                                     {"hash", hex_of_bytes(content_hash(precious))}}
                                                                    .dump()
                                                             << "\n{\"n\": 99, \"done\": true}\n";
  const RunResult back = run_undo();
  EXPECT_EQ(back.of("b.jpg"), "done");
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_EQ(sidecar("a.jpg"), precious);
}

TEST_F(UndoSidecars, OfWhatDidNotGoARunTakesItsOwnBack) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  const auto before = disk();
  const std::string obstacle = put("moved", "no folder"), action = "move=" + obstacle + "/there";
  const RunResult ran = run_apply(action);
  EXPECT_EQ(ran.of("b.jpg"), "failed");
  EXPECT_EQ(ran.of("a.jpg.xmp"), "left");
  EXPECT_NE(ran.of("a.jpg.xmp", "reason").find("removed again"), std::string::npos);
  std::filesystem::remove(obstacle);
  EXPECT_EQ(disk(), before);
  EXPECT_EQ(run_apply(action).code, 0);
  EXPECT_NE(sidecar("a.jpg").find("xmp:Rating=\"4\""), std::string::npos);
  EXPECT_FALSE(is_there("b.jpg"));
  EXPECT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

// Runs are interrupted or cut off before every step: sidecars and removed files agree, and the next run continues.
TEST_F(UndoSidecars, ARunThatWasStoppedGoesOnAndItsUndoIsRight) {
  const auto scene = [&] {
    fresh();
    pair();
    add_third_copy();
    put("b.jpg.xmp", packet("xmp:Rating='2'", "x"));
    put("c.jpg.xmp", packet("xmp:Rating='5'", "y"));
  };
  scene();
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto after = disk();
  for (const bool cancel : {false, true}) {
    int stopped = 0, taken_back = 0;
    for (int cut = 1;; ++cut) {
      SCOPED_TRACE(std::string(cancel ? "interrupted" : "cut off") + " before step " + std::to_string(cut));
      scene();
      const RunResult ran = run_apply("delete", true, cut, cancel);
      if (ran.code == 0) break;
      ASSERT_LT(cut, 500) << ran.json.dump(1);
      ++stopped;
      if (cancel) {
        EXPECT_EQ(is_there("a.jpg.xmp"), !is_there("b.jpg"));
        taken_back += ran.of("a.jpg.xmp", "reason").find("removed again") != std::string::npos ? 1 : 0;
      } else if (!is_there("b.jpg")) {
        EXPECT_TRUE(is_there("a.jpg.xmp"));
      }
      EXPECT_EQ(run_apply("delete").code, 0);
      ASSERT_EQ(disk(), after);
      EXPECT_EQ(run_undo().code, 0);
      ASSERT_EQ(disk(), before);
    }
    EXPECT_GT(stopped, 10);
    EXPECT_EQ(taken_back > 0, cancel);
  }
}

// A later run that removes no file also removes the sidecar that an earlier run wrote before it was cut off.
TEST_F(UndoSidecars, OfARunThatWasCutOffTheNextOneTakesBackWhatNobodyNeeds) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='2'"));
  const auto before = disk();
  int cut = 1;
  for (; !is_there("a.jpg.xmp"); ++cut) ASSERT_TRUE(run_apply("delete", true, cut).cut_off());
  ASSERT_TRUE(is_there("b.jpg"));
  put("b.jpg", "another one");
  const RunResult ran = run(options("delete"));
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_EQ(ran.of("a.jpg.xmp"), "left");
  EXPECT_FALSE(is_there("a.jpg.xmp"));
  put("b.jpg", "the picture");
  EXPECT_EQ(disk(), before);
}

}  // namespace
}  // namespace millrace::dedupe
