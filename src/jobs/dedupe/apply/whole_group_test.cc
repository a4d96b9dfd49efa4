#include <gmock/gmock.h>

#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Three pictures of one group, none of which shall be kept: a person confirmed that twice.
class WholeGroup : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) {
      put(name, std::string("the picture ") + name);
      decide("1", "remove", name)["whole_group"] = 3;
    }
  }

  void expect_left(const std::vector<std::string>& names, const std::string& why) {
    const auto before = disk();
    for (const std::string& action : {std::string("delete"), "move=" + top_ + "/moved"}) {
      const RunResult ran = run(options(action));
      std::filesystem::remove(journal());
      for (const std::string& name : names) {
        EXPECT_EQ(ran.of(name), "left") << ran.json.dump(1);
        EXPECT_THAT(ran.of(name, "reason"), HasSubstr(why));
      }
    }
    EXPECT_EQ(disk(), before);
  }
};

TEST_F(WholeGroup, GoesWhereAllOfItIsThere) {
  const RunResult ran = run_apply("delete");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) EXPECT_EQ(ran.of(name), "done") << ran.json.dump(1);
  EXPECT_EQ(run_undo().of("b.jpg"), "done");
}

TEST_F(WholeGroup, ConsentToThreeIsNoneToTwo) {
  entries_.erase(entries_.begin() + 1);
  write_decisions();
  expect_left({"a.jpg", "c.jpg"}, "group 1 was to be removed entirely, with 3 members, but the decisions name 2");
}

TEST_F(WholeGroup, NorToOthersOrToANumberThatChanges) {
  put("d.jpg", "another picture");
  decide("1", "remove", "d.jpg")["whole_group"] = 3;
  write_decisions();
  expect_left({"a.jpg", "b.jpg", "c.jpg", "d.jpg"}, "the decisions name 4");
  entries_.erase(entries_.begin() + 3);
  entries_[1]["whole_group"] = 2;
  write_decisions();
  expect_left({"a.jpg", "b.jpg", "c.jpg"}, "the decisions name 3");
}

TEST_F(WholeGroup, OneFileNamedTwiceIsOneMember) {
  entries_.erase(entries_.begin() + 1);
  decide("1", "remove", "a.jpg")["whole_group"] = 3;
  write_decisions();
  expect_left({"a.jpg", "c.jpg"}, "the decisions name 2");
}

TEST_F(WholeGroup, WaitsForAMemberThatIsGoneOrChanged) {
  write_decisions();
  std::filesystem::remove(photos_ + "/b.jpg");
  expect_left({"a.jpg", "c.jpg"}, "b.jpg cannot be removed (no longer exists)");
  put("b.jpg", "the picture B.jpg");
  expect_left({"a.jpg", "c.jpg"}, "b.jpg cannot be removed (changed since");
  put("b.jpg", "the picture b.jpg");
  EXPECT_EQ(run(options("delete")).of("a.jpg"), "done");
}

TEST_F(WholeGroup, ARunThatWasCutOffIsFinished) {
  for (int cut = 1;; ++cut) {
    fresh();
    for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) {
      put(name, std::string("the picture ") + name);
      decide("1", "remove", name)["whole_group"] = 3;
    }
    std::filesystem::remove(journal());
    const bool cut_off = run_apply("delete", true, cut).cut_off();
    run(options("delete"));
    for (const char* name : {"a.jpg", "b.jpg", "c.jpg"})
      ASSERT_FALSE(std::filesystem::exists(photos_ + "/" + name)) << name << " at step " << cut;
    if (!cut_off) break;
  }
}

// The page can remove a file of a whole group from another group too, in which a member is kept.
TEST_F(WholeGroup, AFileOfAnotherGroupGoesWhereThatOneHasWhatStays) {
  decide("2", "remove", "a.jpg")["chosen"] = true;
  put("d.jpg", "another picture");
  decide("2", "keep", "d.jpg");
  const auto before = disk();
  const RunResult ran = run_apply("delete");
  for (const char* name : {"a.jpg", "b.jpg", "c.jpg"}) EXPECT_EQ(ran.of(name), "done") << ran.json.dump(1);
  EXPECT_EQ(run_undo().of("a.jpg"), "done");
  EXPECT_EQ(disk(), before);
}

TEST_F(WholeGroup, AFileOfAnotherGroupStaysWhereThatOneHasNothingLeft) {
  decide("2", "remove", "a.jpg")["chosen"] = true;
  put("d.jpg", "another picture");
  decide("2", "keep", "d.jpg");
  write_decisions();
  std::filesystem::remove(photos_ + "/d.jpg");
  const RunResult ran = run(options("delete"));
  EXPECT_EQ(ran.of("a.jpg"), "left") << ran.json.dump(1);
}

TEST_F(WholeGroup, AnotherGroupThatIsWholeIsNoConcernOfIt) {
  put("d.jpg", "another picture");
  put("e.jpg", "another picture still");
  decide("2", "remove", "d.jpg")["whole_group"] = 2;
  decide("2", "remove", "e.jpg")["whole_group"] = 2;
  write_decisions();
  std::filesystem::remove(photos_ + "/e.jpg");
  const RunResult ran = run(options("delete"));
  EXPECT_EQ(ran.of("a.jpg"), "done") << ran.json.dump(1);
  EXPECT_THAT(ran.of("d.jpg", "reason"), AllOf(HasSubstr("group 2"), HasSubstr("e.jpg")));
}

}  // namespace
}  // namespace millrace::dedupe
