#include "src/io/image/said.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "src/io/file/relocate.h"
#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/image/metadata/xmp.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string wide(std::u16string_view text) {
  std::string out;
  for (const char16_t c : text) out += number_bytes(c, 2, ByteOrder::little);
  return out + "\0\0"s;
}

std::string bag(const std::string& name, const std::vector<std::string>& words) {
  std::string out = "<" + name + "><rdf:Bag>";
  for (const std::string& word : words) out += "<rdf:li>" + word + "</rdf:li>";
  return out + "</rdf:Bag></" + name + ">";
}

class SaidTest : public testing::Test {
 protected:
  Said of_jpeg(const std::string& segments) const {
    const std::string path = folder_.write("a.jpg", jpeg_file(segments));
    return said_of(path, state_of(path).or_throw()).or_throw();
  }
  static std::string exif(const TestTiff& tiff) { return jpeg_segment(0xE1, "Exif\0\0"s + tiff.build()); }
  static std::string xmp(const std::string& packet) {
    return jpeg_segment(0xE1, "http://ns.adobe.com/xap/1.0/\0"s + packet);
  }
  Said of_sidecar(const std::string& name, const std::string& text) const {
    return said_by_sidecar(folder_.write(name, text)).or_throw();
  }

  TestFolder folder_;
};

TEST_F(SaidTest, Exif) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const Said said = of_jpeg(exif(TestTiff(order)
                                       .whole(kMain, 0x4746, 4)
                                       .bytes(kMain, 0x9C9B, wide(u"Gro\u00DFmutter \U0001F382"), 1)
                                       .bytes(kMain, 0x9C9E, wide(u"sea; summer ;;sea"), 1)
                                       .ascii(kMain, 0x010E, " At the sea ")
                                       .ascii(kExif, 0x9003, "2024:05:01 12:30:05")
                                       .ascii(kExif, 0x9291, "25")
                                       .ascii(kExif, 0x9011, "+02:00")
                                       .ascii(kGps, 1, "S")
                                       .rational(kGps, 2, {{33, 1}, {30, 1}, {0, 1}})
                                       .ascii(kGps, 3, "E")
                                       .rational(kGps, 4, {{151, 1}, {0, 1}, {3600, 100}})));
    EXPECT_EQ(said.rating, 4);
    EXPECT_EQ(said.title, "Gro\xC3\x9Fmutter \xF0\x9F\x8E\x82");
    EXPECT_THAT(said.keywords, ElementsAre("sea", "summer"));
    EXPECT_EQ(said.description, "At the sea");
    EXPECT_EQ(said.taken, "2024-05-01T12:30:05.25+02:00");
    ASSERT_TRUE(said.place);
    EXPECT_NEAR(said.place->latitude, -33.5, 1e-9);
    EXPECT_NEAR(said.place->longitude, 151.01, 1e-9);
  }
}

TEST_F(SaidTest, XmpBeforeExifBeforeIptc) {
  const std::string resources = image_resource(
      0x0404, iptc_dataset(5, "Title of IPTC") + iptc_dataset(25, "caf\xE9") + iptc_dataset(120, "Caption of IPTC"));
  const std::string iptc = jpeg_segment(0xED, "Photoshop 3.0\0"s + resources);
  const std::string in_exif = exif(TestTiff(ByteOrder::big).whole(kMain, 0x4746, 2).ascii(kMain, 0x010E, "Of EXIF"));
  const Said said =
      of_jpeg(in_exif + xmp(test_xmp("xmp:Rating=\"5\"", bag("dc:subject", {"Sea", "a &amp; b"}))) + iptc);
  EXPECT_EQ(said.rating, 5);
  EXPECT_THAT(said.keywords, ElementsAre("Sea", "a & b", "caf\xC3\xA9"));
  EXPECT_EQ(said.title, "Title of IPTC");
  EXPECT_EQ(said.description, "Of EXIF");
}

TEST_F(SaidTest, PeopleTreesAndDatesOfXmp) {
  const Said said =
      of_sidecar("a.xmp", test_xmp("exif:DateTimeOriginal=\"2020-01-02T03:04:05Z\" exif:GPSLatitude=\"48,7.5N\" "
                                   "exif:GPSLongitude=\"11,30,36W\"",
                                   bag("Iptc4xmpExt:PersonInImage", {"Ada"}) +
                                       bag("lr:hierarchicalSubject", {"places|Bern", "sea"}) +
                                       bag("digiKam:TagsList", {"places/bern", "things/boat"}) +
                                       "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">One</rdf:li>"
                                       "<rdf:li xml:lang=\"de\">Eins</rdf:li></rdf:Alt></dc:title>"));
  EXPECT_THAT(said.people, ElementsAre("Ada"));
  EXPECT_THAT(said.keywords, ElementsAre("Bern", "sea", "boat"));
  EXPECT_THAT(said.branches, ElementsAre("places|Bern", "things|boat"));
  EXPECT_EQ(said.title, "One");
  EXPECT_EQ(said.taken, "2020-01-02T03:04:05Z");
  ASSERT_TRUE(said.place);
  EXPECT_NEAR(said.place->latitude, 48.125, 1e-9);
  EXPECT_NEAR(said.place->longitude, -11.51, 1e-9);
}

TEST_F(SaidTest, PlacesCreatorsRightsAndLabels) {
  const std::string iptc = jpeg_segment(
      0xED, "Photoshop 3.0\0"s +
                image_resource(0x0404, iptc_dataset(80, "Ada") + iptc_dataset(80, "Bea") + iptc_dataset(90, "Bern") +
                                           iptc_dataset(92, "Old Town") + iptc_dataset(95, "Bern BE") +
                                           iptc_dataset(101, "Schweiz") + iptc_dataset(116, "(c) IPTC")));
  const std::string in_exif =
      exif(TestTiff(ByteOrder::big).ascii(kMain, 0x013B, "Eve").ascii(kMain, 0x8298, "(c) EXIF"));
  Said said = of_jpeg(iptc);
  EXPECT_EQ(said.creator, "Ada; Bea");
  EXPECT_EQ(said.rights, "(c) IPTC");
  EXPECT_EQ(said.city + "/" + said.location + "/" + said.state + "/" + said.country, "Bern/Old Town/Bern BE/Schweiz");
  said = of_jpeg(in_exif + iptc);
  EXPECT_EQ(said.creator, "Eve");
  EXPECT_EQ(said.rights, "(c) EXIF");
  said =
      of_jpeg(xmp(test_xmp("xmp:Label=\"Red\" photoshop:City=\"Biel\" Iptc4xmpCore:Location=\"Lake\"",
                           "<dc:creator><rdf:Seq><rdf:li>Fay</rdf:li><rdf:li>Gil</rdf:li></rdf:Seq></dc:creator>"
                           "<dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">(c) XMP</rdf:li></rdf:Alt></dc:rights>"
                           "<photoshop:Country>CH</photoshop:Country>")) +
              in_exif + iptc);
  EXPECT_EQ(said.label, "Red");
  EXPECT_EQ(said.creator, "Fay; Gil");
  EXPECT_EQ(said.rights, "(c) XMP");
  EXPECT_EQ(said.city + "/" + said.location + "/" + said.state + "/" + said.country, "Biel/Lake/Bern BE/CH");
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("xmp:Label=\"None\"", "")).label, "");
  EXPECT_FALSE(said.cut || said.developed || said.favourite);
}

TEST_F(SaidTest, OfSeveralLanguagesTheDefaultOneElseTheFirst) {
  const auto texts = [](const std::string& name, const std::vector<std::pair<std::string, std::string>>& languages) {
    std::string out = "<" + name + "><rdf:Alt>";
    for (const auto& [language, text] : languages)
      out.append("<rdf:li xml:lang='").append(language).append("'>").append(text).append("</rdf:li>");
    return out + "</rdf:Alt></" + name + ">";
  };
  const Said said =
      of_sidecar("a.xmp", test_xmp("", texts("dc:title", {{"de", "Eins"}, {"x-default", "One"}, {"fr", "Un"}}) +
                                           texts("dc:description", {{"de", "Zwei"}, {"fr", "Deux"}}) +
                                           texts("dc:rights", {{"x-default", "Three"}, {"x-default", "Four"}})));
  EXPECT_EQ(said.title, "One");
  EXPECT_EQ(said.description, "Zwei");
  EXPECT_EQ(said.rights, "Three");
}

TEST_F(SaidTest, WhatDoesNotFitIsTold) {
  const auto words = [](int n) {
    std::vector<std::string> out;
    for (int i = 0; i < n; ++i) out.push_back("word " + std::to_string(i));
    return out;
  };
  EXPECT_FALSE(of_sidecar("a.xmp", test_xmp("", bag("dc:subject", words(1000)))).cut);
  for (const std::string& elements :
       {bag("dc:subject", words(1001)), bag("dc:subject", words(5000)), bag("dc:subject", {std::string(2001, 'x')}),
        bag("dc:subject", {std::string(9000, 'x')}), "<dc:title>" + std::string(2001, 'x') + "</dc:title>",
        "<dc:description>" + std::string(20'001, 'x') + "</dc:description>",
        "<dc:description>" + std::string(100'000, 'x') + "</dc:description>",
        "<xmpNote:HasExtendedXMP>0</xmpNote:HasExtendedXMP>"s})
    EXPECT_TRUE(of_sidecar("a.xmp", test_xmp("", elements)).cut) << elements.substr(0, 60);
  EXPECT_TRUE(of_jpeg(exif(TestTiff(ByteOrder::big).ascii(kMain, 0x010E, std::string(20'001, 'x')))).cut);
  const Said fits = of_jpeg(exif(TestTiff(ByteOrder::big).ascii(kMain, 0x010E, std::string(20'000, 'x'))));
  EXPECT_FALSE(fits.cut);
  EXPECT_EQ(fits.description.size(), 20'000U);
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"description": ")" + std::string(20'001, 'x') + "\"}").cut);
  const Said whole = of_sidecar("a.xmp", test_xmp("", bag("dc:subject", words(1000))));
  Said one;
  one.keywords = {"word 3"};
  EXPECT_FALSE(lacking(whole, one).said.cut);
  one.keywords = {"another"};
  EXPECT_TRUE(lacking(whole, one).said.cut);
}

TEST_F(SaidTest, SidecarsThatCannotBeReadAreErrors) {
  const auto refused = [&](const std::string& path) { return !said_by_sidecar(path).ok(); };
  EXPECT_TRUE(refused(folder_.at("nowhere.xmp")));
  EXPECT_TRUE(refused(folder_.write("a.xmp", "no packet")));
  EXPECT_TRUE(refused(folder_.write("a.jpg.json", "{\"description\": ")));
  EXPECT_TRUE(refused(folder_.write("b.xmp", test_xmp("", std::string(kLongestSidecar, ' ')))));
  const std::string good = folder_.write("c.xmp", test_xmp("xmp:Rating=\"5\"", ""));
  ASSERT_FALSE(refused(good));
  for (const char* name : {"link.xmp", "link.json"}) {
    ASSERT_EQ(::symlink(good.c_str(), folder_.at(name).c_str()), 0);
    EXPECT_TRUE(refused(folder_.at(name)));
  }
  ASSERT_EQ(::mkfifo(folder_.at("pipe.xmp").c_str(), 0600), 0);
  EXPECT_TRUE(refused(folder_.at("pipe.xmp")));
}

TEST_F(SaidTest, WhatNoSidecarCanSay) {
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"favorited": true})").favourite);
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"favorited": true})").nothing());
  EXPECT_TRUE(of_sidecar("a.xmp", test_xmp("crs:Exposure2012=\"1\"", "")).developed);
  for (const char* name : {"a.pp3", "a.jpg.dop", "a.on1", "a.AAE"}) EXPECT_TRUE(of_sidecar(name, "").developed) << name;
  EXPECT_FALSE(of_sidecar("a.mov", "").developed);
}

TEST_F(SaidTest, Takeout) {
  const Said said = of_sidecar("a.jpg.json", R"({"description": "Grandma", "people": [{"name": "Ada"}, {"name": "ada"}],
      "geoData": {"latitude": 0.0, "longitude": 0.0}, "geoDataExif": {"latitude": 48.1, "longitude": 11.5}})");
  EXPECT_EQ(said.description, "Grandma");
  EXPECT_THAT(said.people, ElementsAre("Ada"));
  ASSERT_TRUE(said.place);
  EXPECT_NEAR(said.place->longitude, 11.5, 1e-9);
}

TEST_F(SaidTest, WhatIsNoWordIsNothing) {
  EXPECT_TRUE(of_jpeg("").nothing());
  EXPECT_TRUE(of_jpeg(exif(TestTiff(ByteOrder::big)
                               .whole(kMain, 0x4746, 0)
                               .ascii(kMain, 0x010E, "OLYMPUS DIGITAL CAMERA")
                               .ascii(kExif, 0x9003, "0000:00:00 00:00:00")
                               .ascii(kGps, 1, "N")
                               .rational(kGps, 2, {{0, 1}, {0, 1}, {0, 1}})
                               .ascii(kGps, 3, "E")
                               .rational(kGps, 4, {{0, 1}, {0, 1}, {0, 1}})))
                  .nothing());
  for (const char* place : {"", "N", "x,1N", "1,2,3,4N", "91,0N", "-1,0N", "nan,0N", "1e400N"}) {
    EXPECT_FALSE(
        of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\""s + place + "\" exif:GPSLongitude=\"1,0E\"", "")).place)
        << place;
  }
  for (const char* taken : {"yesterday", "2024:05:01 12.30.05", "2024-05-01T12", "2024-05-01T12:30:00 evening",
                            "2024-05-01T12:30/1965", "May 1964", "24", "    :  :     :  :  "}) {
    const Said said = of_sidecar("a.xmp", test_xmp("exif:DateTimeOriginal=\""s + taken + "\"", ""));
    EXPECT_EQ(said.taken, "") << taken;
    EXPECT_EQ(said.odd, ("yesterday"s == taken || taken[0] == ' ') ? "" : "its date") << taken;
  }
  EXPECT_TRUE(of_sidecar("a.xmp", " \n").nothing());
  EXPECT_TRUE(of_sidecar("a.pp3", "[Version]").nothing());
  EXPECT_FALSE(said_of(folder_.at("nowhere.jpg"), FileState()).ok());
}

TEST_F(SaidTest, ADateMayBeToldInPart) {
  for (const char* taken :
       {"1964", "1975-06", "1964-07-15", "2024-05-01T12:30", "2024-05-01T12:30+02:00", "2024-05-01T12:30:05.25Z"}) {
    const Said said = of_sidecar("a.xmp", test_xmp("photoshop:DateCreated=\""s + taken + "\"", ""));
    EXPECT_EQ(said.taken, taken);
    EXPECT_EQ(said.odd, "");
    EXPECT_NE(xmp_sidecar(said).find("photoshop:DateCreated=\""s + taken + "\""), std::string::npos);
  }
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("photoshop:DateCreated=\"2024-05-01T12:30:05+0200\"", "")).taken,
            "2024-05-01T12:30:05+02:00");
  EXPECT_EQ(of_jpeg(exif(TestTiff(ByteOrder::big).ascii(kExif, 0x9003, "15/07/1964 12:00"))).odd, "its date");
  Said day, second;
  day.taken = "1964-07-15";
  second.taken = "1964-07-15T12:00:00";
  EXPECT_TRUE(lacking(day, second).differing.empty());
  second.taken = "1964-07-16T12:00:00";
  EXPECT_FALSE(lacking(day, second).differing.empty());
}

// Somebody who may replace a file between two readings must not learn the metadata of another file.
TEST_F(SaidTest, OnlyTheFileThatWasLookedAtSaysAnything) {
  const std::string text = jpeg_file(
      jpeg_segment(0xE1, std::string("http://ns.adobe.com/xap/1.0/\0", 29) + test_xmp("dc:title=\"secret\"", "")));
  const std::string path = folder_.write("a.jpg", text), other = folder_.write("b.jpg", text);
  const FileState state = state_of(path).or_throw();
  EXPECT_EQ(said_of(path, state).or_throw().title, "secret");
  std::filesystem::rename(other, path);
  EXPECT_FALSE(said_of(path, state).ok()) << "another file of the same bytes";
  const std::string link = folder_.at("link.jpg");
  std::filesystem::create_symlink(path, link);
  EXPECT_FALSE(said_of(link, state_of(path).or_throw()).ok());
}

TEST_F(SaidTest, APlaceThatIsNotUnderstoodIsToldOf) {
  for (const char* place : {"52.5", "N52,30.5"})
    EXPECT_EQ(of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\""s + place + "\" exif:GPSLongitude=\"1,0E\"", "")).odd,
              "its place")
        << place;
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\"0,0N\" exif:GPSLongitude=\"0,0E\"", "")).odd, "");
}

TEST_F(SaidTest, NoControlCharactersInAnyForm) {
  const Said said = of_sidecar("a.xmp", test_xmp("dc:title=\"a\xC2\x9B"
                                                 "31m&#155;b\"",
                                                 ""));
  EXPECT_EQ(said.title, "a 31m b");
}

TEST_F(SaidTest, ASidecarSaysTheSame) {
  Said said;
  said.rating = -1;
  said.keywords = {"a & b", "<i>", "\xC3\xA9t\xC3\xA9"};
  said.people = {"Ada \"Countess\" Lovelace"};
  said.title = "A 'title' > that";
  said.description = "First; second & third";
  said.branches = {"places|Bern", "a & b|<i>"};
  said.label = "\"Red\"";
  said.location = "Old Town";
  said.city = "Bern & Biel";
  said.state = "BE";
  said.country = "CH";
  said.creator = "Ada; Bea <b@example.org>";
  said.rights = "(c) \xC3\x84 & B";
  said.place = Said::Place{-33.999999999, 151.2093};
  said.taken = "2024-05-01T12:30:05.25+02:00";
  const std::string text = xmp_sidecar(said);
  const Said back = of_sidecar("b.jpg.xmp", text);
  EXPECT_EQ(back.rating, said.rating);
  EXPECT_EQ(back.keywords, said.keywords);
  EXPECT_EQ(back.people, said.people);
  EXPECT_EQ(back.title, said.title);
  EXPECT_EQ(back.description, said.description);
  EXPECT_EQ(back.branches, said.branches);
  EXPECT_EQ(back.label, said.label);
  EXPECT_EQ(back.location + back.city + back.state + back.country,
            said.location + said.city + said.state + said.country);
  EXPECT_EQ(back.creator, said.creator);
  EXPECT_EQ(back.rights, said.rights);
  EXPECT_EQ(back.taken, said.taken);
  ASSERT_TRUE(back.place);
  EXPECT_NEAR(back.place->latitude, -34, 1e-7);
  EXPECT_THAT(text, HasSubstr("exif:GPSLatitude=\"34,0.000000S\""));
  EXPECT_NEAR(back.place->longitude, 151.2093, 1e-7);
  EXPECT_EQ(xmp_sidecar(back), text);
  EXPECT_TRUE(is_xmp_sidecar_of_ours(text));
  EXPECT_FALSE(is_xmp_sidecar_of_ours(test_xmp("", "")));
  const Lacking nothing = lacking(said, back);
  EXPECT_TRUE(nothing.said.nothing());
  EXPECT_THAT(nothing.differing, IsEmpty());
}

TEST_F(SaidTest, ControlCharactersAndLongWordsAreNoDanger) {
  const Said said = of_sidecar(
      "a.xmp", test_xmp("", bag("dc:subject", {"a\x01\x1B[31mb", std::string(9000, 'x'), "\xEF\xBF\xBF", "&#x1;"})));
  for (const std::string& word : said.keywords) {
    EXPECT_LE(word.size(), 2000U);
    for (const char c : word) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << word;
  }
  Said many;
  for (int i = 0; i < 5000; ++i) {
    Said one;
    one.keywords = {"word " + std::to_string(i)};
    if (i < 1200) many.add(one);
  }
  EXPECT_EQ(many.keywords.size(), 1000U);
}

TEST(Lacking, WhatIsMissingAndWhatDiffers) {
  Said own, theirs;
  own.rating = 3;
  own.city = "Bern";
  theirs.city = "Biel";
  theirs.country = "CH";
  own.keywords = {"Sea"};
  own.place = Said::Place{48.10001, 11.5};
  own.taken = "2024-05-01T12:30:05";
  theirs.rating = 5;
  theirs.keywords = {"sea", "boat"};
  theirs.title = "T";
  theirs.place = Said::Place{48.1, 11.5};
  theirs.taken = "2024-05-01T12:30:05.25+02:00";
  const Lacking lacks = lacking(own, theirs);
  EXPECT_THAT(lacks.said.keywords, ElementsAre("boat"));
  EXPECT_EQ(lacks.said.title, "T");
  EXPECT_EQ(lacks.said.rating, 0);
  EXPECT_FALSE(lacks.said.place);
  EXPECT_EQ(lacks.said.taken, "");
  EXPECT_THAT(lacks.differing, ElementsAre("rating 3, not 5", "city \"Bern\", not \"Biel\""));
  EXPECT_EQ(words_of(lacks.said), "title \"T\", country \"CH\", keywords boat");
  EXPECT_EQ(words_of(Said()), "");
}

}  // namespace
}  // namespace millrace
