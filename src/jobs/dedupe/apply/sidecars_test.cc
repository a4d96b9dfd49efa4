#include "src/jobs/dedupe/apply/scene_for_test.h"

namespace millrace::dedupe {
namespace {

std::string packet(const std::string& attributes, const std::string& subjects = "") {
  std::string bag;
  for (const char word : subjects) bag += std::string("<rdf:li>") + word + "</rdf:li>";
  return "<rdf:RDF><rdf:Description " + attributes + "><dc:subject><rdf:Bag>" + bag +
         "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF>";
}

class Sidecars : public Scene {
 protected:
  void SetUp() override {
    Scene::SetUp();
    fresh();
    merge_ = true;
  }
  std::string sidecar(const std::string& picture) const { return contents(photos_ + "/" + picture + ".xmp"); }
  bool is_there(const std::string& name) const { return std::filesystem::exists(photos_ + "/" + name); }
};

TEST_F(Sidecars, SayWhatTheKeptOneLacksAndNothingElse) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4' exif:GPSLatitude='52,30.5N' exif:GPSLongitude='13,24.25E'", "xy"));
  put("a.jpg.json", R"({"description": "", "people": [{"name": "Ada"}]})");
  const auto before = disk();
  const Ran dry = run_apply("delete", false);
  EXPECT_EQ(dry.of("a.jpg.xmp"), "would");
  ASSERT_EQ(disk(), before);
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.of("a.jpg.xmp"), "done");
  const std::string text = sidecar("a.jpg");
  for (const char* part : {"xmp:Rating=\"4\"", "exif:GPSLatitude=\"52,30.500000N\"",
                           "exif:GPSLongitude=\"13,24.250000E\"", "<rdf:li>x</rdf:li>", "<rdf:li>y</rdf:li>"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  EXPECT_EQ(text.find("Ada"), std::string::npos) << "the kept one says that itself";
  EXPECT_FALSE(is_there("b.jpg"));
  ASSERT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

TEST_F(Sidecars, AreNotWrittenWhereNothingIsLacking) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'", "x"));
  put("a.jpg.json", R"({"people": [{"name": "Ada"}]})");
  put("a.xmp", packet("xmp:Rating='4'", "Xz"));
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  EXPECT_FALSE(is_there("a.jpg.xmp"));
  EXPECT_FALSE(is_there("b.jpg"));
}

TEST_F(Sidecars, ThatAreThereAreNeverChangedAndWhatCouldNotBeToldStays) {
  for (const char* name : {"a.xmp", "a.jpg.xmp"}) {
    fresh();
    pair();
    put(name, packet("xmp:Rating='3'", "x"));
    put("b.jpg.xmp", packet("xmp:Rating='5'", "xy"));
    const auto before = disk();
    const Ran ran = run_apply("delete");
    EXPECT_EQ(ran.of("b.jpg"), "left");
    EXPECT_NE(ran.of("b.jpg", "reason").find("keywords y"), std::string::npos) << ran.of("b.jpg", "reason");
    EXPECT_EQ(disk(), before) << name;
  }
}

TEST_F(Sidecars, OfOtherWordsTheKeptOnesCountAndTheDifferenceIsTold) {
  pair();
  put("a.jpg.xmp", packet("xmp:Rating='3'"));
  put("b.jpg.xmp", packet("xmp:Rating='5'"));
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.of("b.jpg"), "done");
  EXPECT_NE(ran.of("b.jpg", "reason").find("rating 3, not 5"), std::string::npos) << ran.of("b.jpg", "reason");
  EXPECT_EQ(sidecar("a.jpg"), packet("xmp:Rating='3'"));
}

TEST_F(Sidecars, NothingIsWrittenIntoAReferenceFolder) {
  put("archive/a.jpg", "the picture");
  put("b.jpg", "the picture");
  put("b.jpg.xmp", packet("xmp:Rating='5'"));
  decide("1", "keep", "archive/a.jpg");
  decide("1", "remove", "b.jpg");
  references_ = {photos_ + "/archive"};
  const auto before = disk();
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_NE(ran.of("b.jpg", "reason").find("reference folder"), std::string::npos);
  EXPECT_EQ(disk(), before);
}

TEST_F(Sidecars, OfSeveralThatGoAllIsTold) {
  pair();
  put("c.jpg", "the picture");
  decide("1", "remove", "c.jpg");
  put("b.jpg.xmp", packet("xmp:Rating='2'", "x"));
  put("c.jpg.xmp", packet("xmp:Rating='5'", "y"));
  const Ran ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  const std::string text = sidecar("a.jpg");
  EXPECT_NE(text.find("xmp:Rating=\"2\""), std::string::npos);
  EXPECT_NE(text.find("<rdf:li>x</rdf:li>"), std::string::npos);
  EXPECT_NE(text.find("<rdf:li>y</rdf:li>"), std::string::npos);
  EXPECT_NE(ran.of("c.jpg", "reason").find("rating 2, not 5"), std::string::npos) << ran.of("c.jpg", "reason");
}

TEST_F(Sidecars, ThatSomebodyChangedSinceStayAtAnUndo) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string changed = sidecar("a.jpg") + " ";
  put("a.jpg.xmp", changed);
  const Ran back = run_undo();
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_EQ(sidecar("a.jpg"), changed);
  EXPECT_TRUE(is_there("b.jpg"));
}

TEST_F(Sidecars, ASecondRunFindsNothingToTell) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'", "xy"));
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto after = disk();
  const Ran again = run_apply("delete");
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(disk(), after);
}

TEST_F(Sidecars, AJournalThatNamesAnotherFileAsItsSidecarIsRefused) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  put("precious.txt", "words");
  ASSERT_EQ(run_apply("delete").code, 0);
  std::string text = contents(journal());
  const std::string hash = hex_of_bytes(*hash_file(photos_ + "/precious.txt"));
  text += Json{{"n", 99},
               {"sidecar", photos_ + "/precious.txt"},
               {"picture", photos_ + "/a.jpg"},
               {"size", 5},
               {"hash", hash}}
              .dump() +
          "\n";
  std::ofstream(journal(), std::ios::binary) << text;
  const Ran back = run_undo();
  EXPECT_NE(back.code, 0);
  EXPECT_TRUE(is_there("precious.txt"));
}

TEST_F(Sidecars, WhereTheyCannotBeWrittenNothingGoes) {
  if (::geteuid() == 0) GTEST_SKIP() << "root writes into every folder";
  put("keep/a.jpg", "the picture");
  put("b.jpg", "the picture");
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  decide("1", "keep", "keep/a.jpg");
  decide("1", "remove", "b.jpg");
  ::chmod((photos_ + "/keep").c_str(), 0555);
  const auto before = disk();
  const Ran ran = run_apply("delete");
  ::chmod((photos_ + "/keep").c_str(), 0755);
  EXPECT_EQ(ran.of("a.jpg.xmp"), "failed");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  ::chmod((photos_ + "/keep").c_str(), 0555);
  EXPECT_EQ(disk(), before);
  ::chmod((photos_ + "/keep").c_str(), 0755);
}

}  // namespace
}  // namespace millrace::dedupe
