#include "src/jobs/dedupe/apply/sidecars_for_test.h"

#include "src/io/image/metadata/metadata_for_test.h"

namespace millrace::dedupe {
namespace {

TEST_F(Sidecars, SayWhatTheKeptOneLacksAndNothingElse) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4' exif:GPSLatitude='52,30.5N' exif:GPSLongitude='13,24.25E'", "xy"));
  put("a.jpg.json", R"({"description": "", "people": [{"name": "Ada"}]})");
  const auto before = disk();
  const RunResult dry = run_apply("delete", false);
  EXPECT_EQ(dry.of("a.jpg.xmp"), "would");
  ASSERT_EQ(disk(), before);
  const RunResult ran = run_apply("delete");
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
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  EXPECT_FALSE(is_there("a.jpg.xmp"));
  EXPECT_FALSE(is_there("b.jpg"));
}

TEST_F(Sidecars, ExistingOnesAreNeverChangedAndUnwritableMetadataKeepTheFile) {
  for (const char* name : {"a.xmp", "a.jpg.xmp"}) {
    fresh();
    pair();
    put(name, packet("xmp:Rating='3'", "x"));
    put("b.jpg.xmp", packet("xmp:Rating='5'", "xy"));
    const auto before = disk();
    const RunResult ran = run_apply("delete");
    EXPECT_EQ(ran.of("b.jpg"), "left");
    EXPECT_NE(ran.of("b.jpg", "reason").find("keywords y"), std::string::npos) << ran.of("b.jpg", "reason");
    EXPECT_EQ(disk(), before) << name;
  }
}

TEST_F(Sidecars, KeptMetadataCountAndTheDifferenceIsReported) {
  pair();
  put("a.jpg.xmp", packet("xmp:Rating='3'"));
  put("b.jpg.xmp", packet("xmp:Rating='5'"));
  const RunResult ran = run_apply("delete");
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
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  EXPECT_NE(ran.of("b.jpg", "reason").find("reference folder"), std::string::npos);
  EXPECT_EQ(disk(), before);
}

TEST_F(Sidecars, AllRemovedFilesAreReported) {
  pair();
  add_third_copy();
  put("b.jpg.xmp", packet("xmp:Rating='2'", "x"));
  put("c.jpg.xmp", packet("xmp:Rating='5'", "y"));
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  const std::string text = sidecar("a.jpg");
  EXPECT_NE(text.find("xmp:Rating=\"2\""), std::string::npos);
  EXPECT_NE(text.find("<rdf:li>x</rdf:li>"), std::string::npos);
  EXPECT_NE(text.find("<rdf:li>y</rdf:li>"), std::string::npos);
  EXPECT_EQ(ran.of("c.jpg", "reason"), "the metadata of b.jpg are used: rating 2, not 5");
  EXPECT_EQ(ran.of("b.jpg", "reason"), "its metadata are used, not those of c.jpg: rating 2, not 5");
}

TEST_F(Sidecars, EachDifferenceIsReportedForTheFileThatCounts) {
  pair();
  add_third_copy();
  put("a.jpg.json", R"({"description": "of a"})");
  put("b.jpg.xmp", packet("xmp:Rating='2' dc:description='of b'"));
  put("c.jpg.xmp", packet("xmp:Rating='5' dc:description='of c' xmp:Label='Red'"));
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(
      ran.of("b.jpg", "reason"),
      "a.jpg keeps its own metadata: another description; its metadata are used, not those of c.jpg: rating 2, not 5");
  EXPECT_EQ(ran.of("c.jpg", "reason"),
            "a.jpg keeps its own metadata: another description; the metadata of b.jpg are used: rating 2, not 5");
  EXPECT_NE(ran.of("a.jpg.xmp", "reason").find("copied from b.jpg, c.jpg"), std::string::npos);
}

TEST_F(Sidecars, PlacesCreatorsRightsAndLabelsAreCarriedOver) {
  pair();
  put("a.jpg.json", R"({"description": "of a"})");
  put("b.jpg.xmp",
      "<rdf:RDF><rdf:Description xmp:Label='Red' photoshop:City='Bern' photoshop:State='BE' photoshop:Country='CH' "
      "Iptc4xmpCore:Location='Old Town'><dc:creator><rdf:Seq><rdf:li>Ada</rdf:li></rdf:Seq></dc:creator>"
      "<dc:rights><rdf:Alt><rdf:li xml:lang='x-default'>(c) Ada</rdf:li></rdf:Alt></dc:rights>"
      "<lr:hierarchicalSubject><rdf:Bag><rdf:li>places|Bern</rdf:li></rdf:Bag></lr:hierarchicalSubject>"
      "</rdf:Description></rdf:RDF>");
  const auto before = disk();
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string text = sidecar("a.jpg");
  for (const char* part : {"xmp:Label=\"Red\"", "photoshop:City=\"Bern\"", "photoshop:State=\"BE\"",
                           "photoshop:Country=\"CH\"", "Iptc4xmpCore:Location=\"Old Town\"", "<rdf:li>Ada</rdf:li>",
                           ">(c) Ada</rdf:li>", "<rdf:li>places|Bern</rdf:li>"})
    EXPECT_NE(text.find(part), std::string::npos) << part << text;
  ASSERT_EQ(run_undo().code, 0);
  EXPECT_EQ(disk(), before);
}

// The next tests are about metadata that cannot be written down.

TEST_F(Sidecars, WhatDoesNotFitStays) {
  std::string words;
  for (int i = 0; i < 1001; ++i) words += "<rdf:li>word " + std::to_string(i) + "</rdf:li>";
  const std::string too_many =
      "<rdf:RDF><rdf:Description><dc:subject><rdf:Bag>" + words + "</rdf:Bag></dc:subject></rdf:Description></rdf:RDF>";
  for (const std::string& text : {too_many, packet("dc:description='" + std::string(20'001, 'x') + "'")}) {
    fresh();
    pair();
    put("b.jpg.xmp", text);
    expect_left("it has more metadata than fits into a sidecar of a.jpg");
  }
  fresh();
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'") + std::string(1 << 20, ' '));
  expect_left("b.jpg.xmp is larger than 1.0 MiB");
}

TEST_F(Sidecars, WhatCannotBeReadStays) {
  pair();
  put("b.jpg.xmp", "\xFF\xFE<");
  expect_left("b.jpg.xmp is not XMP");
  fresh();
  pair();
  put("b.jpg.json", "{");
  expect_left("b.jpg.json is not JSON");
  fresh();
  pair();
  const std::string elsewhere = put("elsewhere/words", packet("xmp:Rating='4'"));
  ASSERT_EQ(::symlink(elsewhere.c_str(), (photos_ + "/b.jpg.xmp").c_str()), 0);
  expect_left("b.jpg.xmp is not a file");
  fresh();
  pair();
  ASSERT_EQ(::mkfifo((photos_ + "/b.xmp").c_str(), 0644), 0);
  expect_left("b.xmp is not a file");
}

TEST_F(Sidecars, NothingIsWrittenBesideWhatCannotBeReadOfWhatStays) {
  pair();
  put("a.jpg.json", "{");
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  expect_left("a.jpg.json is not JSON");
}

TEST_F(Sidecars, TheSameBytesSayTheSameHoweverLong) {
  const auto picture = [](const std::string& pixels) {
    return jpeg_file(jpeg_segment(
               0xE1, std::string("http://ns.adobe.com/xap/1.0/\0", 29) +
                         test_xmp("crs:Exposure2012='1' dc:description='" + std::string(30'000, 'x') + "'", ""))) +
           pixels;
  };
  put("a.jpg", picture(""));
  put("b.jpg", picture(""));
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  const RunResult ran = run_apply("delete");
  EXPECT_EQ(ran.code, 0) << ran.json.dump(1);
  EXPECT_NE(sidecar("a.jpg").find("xmp:Rating=\"4\""), std::string::npos);
  fresh();
  put("a.jpg", "the picture");
  put("b.jpg", picture("others"));
  decide("1", "keep", "a.jpg");
  decide("1", "remove", "b.jpg");
  expect_left("b.jpg has develop settings");
}

TEST_F(Sidecars, DevelopSettingsStayUnlessTheKeptOneHasThem) {
  const std::string settings = packet("crs:Exposure2012='1'");
  for (const auto& [kind, text] : std::map<std::string, std::string>{
           {".jpg.pp3", "[Exposure]"}, {".jpg.dop", "x"}, {".on1", "x"}, {".aae", "x"}, {".xmp", settings}}) {
    fresh();
    pair();
    put("b" + kind, text);
    expect_left("b" + kind + " has develop settings");
    put("a" + kind, text + "others");
    expect_left("b" + kind + " has develop settings");
    put("a" + kind, text);
    EXPECT_EQ(run_apply("delete").code, 0) << kind;
    EXPECT_FALSE(is_there("b.jpg"));
  }
}

TEST_F(Sidecars, FavouritesStayUnlessTheKeptOneIsOne) {
  pair();
  put("b.jpg.json", R"({"favorited": true})");
  expect_left("it is a favorite");
  put("a.jpg.json", R"({"favorited": true})");
  EXPECT_EQ(run_apply("delete").code, 0);
}

TEST_F(Sidecars, ThatSomebodyChangedSinceStayAtAnUndo) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'"));
  ASSERT_EQ(run_apply("delete").code, 0);
  const std::string changed = sidecar("a.jpg") + " ";
  put("a.jpg.xmp", changed);
  const RunResult back = run_undo();
  EXPECT_EQ(back.of("a.jpg.xmp"), "left");
  EXPECT_EQ(sidecar("a.jpg"), changed);
  EXPECT_TRUE(is_there("b.jpg"));
}

TEST_F(Sidecars, ASecondRunFindsNothingToTell) {
  pair();
  put("b.jpg.xmp", packet("xmp:Rating='4'", "xy"));
  ASSERT_EQ(run_apply("delete").code, 0);
  const auto after = disk();
  const RunResult again = run_apply("delete");
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
  const RunResult back = run_undo();
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
  const RunResult ran = run_apply("delete");
  ::chmod((photos_ + "/keep").c_str(), 0755);
  EXPECT_EQ(ran.of("a.jpg.xmp"), "failed");
  EXPECT_EQ(ran.of("b.jpg"), "left");
  ::chmod((photos_ + "/keep").c_str(), 0555);
  EXPECT_EQ(disk(), before);
  ::chmod((photos_ + "/keep").c_str(), 0755);
}

}  // namespace
}  // namespace millrace::dedupe
