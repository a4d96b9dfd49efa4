#include "src/io/image/photo_metadata.h"

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

class PhotoMetadataTest : public testing::Test {
 protected:
  PhotoMetadata of_jpeg(const std::string& segments) const {
    const std::string path = folder_.write("a.jpg", jpeg_file(segments));
    return read_metadata(path, state_of(path).or_throw()).or_throw();
  }
  static std::string exif(const TestTiff& tiff) { return jpeg_segment(0xE1, "Exif\0\0"s + tiff.build()); }
  static std::string xmp(const std::string& packet) {
    return jpeg_segment(0xE1, "http://ns.adobe.com/xap/1.0/\0"s + packet);
  }
  PhotoMetadata of_sidecar(const std::string& name, const std::string& text) const {
    return read_sidecar_metadata(folder_.write(name, text)).or_throw();
  }

  TestFolder folder_;
};

TEST_F(PhotoMetadataTest, Exif) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const PhotoMetadata metadata = of_jpeg(exif(TestTiff(order)
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
    EXPECT_EQ(metadata.rating, 4);
    EXPECT_EQ(metadata.title, "Gro\xC3\x9Fmutter \xF0\x9F\x8E\x82");
    EXPECT_THAT(metadata.keywords, ElementsAre("sea", "summer"));
    EXPECT_EQ(metadata.description, "At the sea");
    EXPECT_EQ(metadata.taken, "2024-05-01T12:30:05.25+02:00");
    ASSERT_TRUE(metadata.place);
    EXPECT_NEAR(metadata.place->latitude, -33.5, 1e-9);
    EXPECT_NEAR(metadata.place->longitude, 151.01, 1e-9);
  }
}

TEST_F(PhotoMetadataTest, XmpBeforeExifBeforeIptc) {
  const std::string resources = image_resource(
      0x0404, iptc_dataset(5, "Title of IPTC") + iptc_dataset(25, "caf\xE9") + iptc_dataset(120, "Caption of IPTC"));
  const std::string iptc = jpeg_segment(0xED, "Photoshop 3.0\0"s + resources);
  const std::string in_exif = exif(TestTiff(ByteOrder::big).whole(kMain, 0x4746, 2).ascii(kMain, 0x010E, "Of EXIF"));
  const PhotoMetadata metadata =
      of_jpeg(in_exif + xmp(test_xmp("xmp:Rating=\"5\"", bag("dc:subject", {"Sea", "a &amp; b"}))) + iptc);
  EXPECT_EQ(metadata.rating, 5);
  EXPECT_THAT(metadata.keywords, ElementsAre("Sea", "a & b", "caf\xC3\xA9"));
  EXPECT_EQ(metadata.title, "Title of IPTC");
  EXPECT_EQ(metadata.description, "Of EXIF");
}

TEST_F(PhotoMetadataTest, PeopleTreesAndDatesOfXmp) {
  const PhotoMetadata metadata =
      of_sidecar("a.xmp", test_xmp("exif:DateTimeOriginal=\"2020-01-02T03:04:05Z\" exif:GPSLatitude=\"48,7.5N\" "
                                   "exif:GPSLongitude=\"11,30,36W\"",
                                   bag("Iptc4xmpExt:PersonInImage", {"Ada"}) +
                                       bag("lr:hierarchicalSubject", {"places|Bern", "sea"}) +
                                       bag("digiKam:TagsList", {"places/bern", "things/boat"}) +
                                       "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">One</rdf:li>"
                                       "<rdf:li xml:lang=\"de\">Eins</rdf:li></rdf:Alt></dc:title>"));
  EXPECT_THAT(metadata.people, ElementsAre("Ada"));
  EXPECT_THAT(metadata.keywords, ElementsAre("Bern", "sea", "boat"));
  EXPECT_THAT(metadata.keyword_paths, ElementsAre("places|Bern", "things|boat"));
  EXPECT_EQ(metadata.title, "One");
  EXPECT_EQ(metadata.taken, "2020-01-02T03:04:05Z");
  ASSERT_TRUE(metadata.place);
  EXPECT_NEAR(metadata.place->latitude, 48.125, 1e-9);
  EXPECT_NEAR(metadata.place->longitude, -11.51, 1e-9);
}

TEST_F(PhotoMetadataTest, PlacesCreatorsRightsAndLabels) {
  const std::string iptc = jpeg_segment(
      0xED, "Photoshop 3.0\0"s +
                image_resource(0x0404, iptc_dataset(80, "Ada") + iptc_dataset(80, "Bea") + iptc_dataset(90, "Bern") +
                                           iptc_dataset(92, "Old Town") + iptc_dataset(95, "Bern BE") +
                                           iptc_dataset(101, "Schweiz") + iptc_dataset(116, "(c) IPTC")));
  const std::string in_exif =
      exif(TestTiff(ByteOrder::big).ascii(kMain, 0x013B, "Eve").ascii(kMain, 0x8298, "(c) EXIF"));
  PhotoMetadata metadata = of_jpeg(iptc);
  EXPECT_EQ(metadata.creator, "Ada; Bea");
  EXPECT_EQ(metadata.rights, "(c) IPTC");
  EXPECT_EQ(metadata.city + "/" + metadata.location + "/" + metadata.state + "/" + metadata.country,
            "Bern/Old Town/Bern BE/Schweiz");
  metadata = of_jpeg(in_exif + iptc);
  EXPECT_EQ(metadata.creator, "Eve");
  EXPECT_EQ(metadata.rights, "(c) EXIF");
  metadata =
      of_jpeg(xmp(test_xmp("xmp:Label=\"Red\" photoshop:City=\"Biel\" Iptc4xmpCore:Location=\"Lake\"",
                           "<dc:creator><rdf:Seq><rdf:li>Fay</rdf:li><rdf:li>Gil</rdf:li></rdf:Seq></dc:creator>"
                           "<dc:rights><rdf:Alt><rdf:li xml:lang=\"x-default\">(c) XMP</rdf:li></rdf:Alt></dc:rights>"
                           "<photoshop:Country>CH</photoshop:Country>")) +
              in_exif + iptc);
  EXPECT_EQ(metadata.label, "Red");
  EXPECT_EQ(metadata.creator, "Fay; Gil");
  EXPECT_EQ(metadata.rights, "(c) XMP");
  EXPECT_EQ(metadata.city + "/" + metadata.location + "/" + metadata.state + "/" + metadata.country,
            "Biel/Lake/Bern BE/CH");
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("xmp:Label=\"None\"", "")).label, "");
  EXPECT_FALSE(metadata.cut || metadata.developed || metadata.favourite);
}

TEST_F(PhotoMetadataTest, OfSeveralLanguagesTheDefaultOneElseTheFirst) {
  const auto texts = [](const std::string& name, const std::vector<std::pair<std::string, std::string>>& languages) {
    std::string out = "<" + name + "><rdf:Alt>";
    for (const auto& [language, text] : languages)
      out.append("<rdf:li xml:lang='").append(language).append("'>").append(text).append("</rdf:li>");
    return out + "</rdf:Alt></" + name + ">";
  };
  const PhotoMetadata metadata =
      of_sidecar("a.xmp", test_xmp("", texts("dc:title", {{"de", "Eins"}, {"x-default", "One"}, {"fr", "Un"}}) +
                                           texts("dc:description", {{"de", "Zwei"}, {"fr", "Deux"}}) +
                                           texts("dc:rights", {{"x-default", "Three"}, {"x-default", "Four"}})));
  EXPECT_EQ(metadata.title, "One");
  EXPECT_EQ(metadata.description, "Zwei");
  EXPECT_EQ(metadata.rights, "Three");
}

TEST_F(PhotoMetadataTest, TruncationIsReported) {
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
  const PhotoMetadata fits = of_jpeg(exif(TestTiff(ByteOrder::big).ascii(kMain, 0x010E, std::string(20'000, 'x'))));
  EXPECT_FALSE(fits.cut);
  EXPECT_EQ(fits.description.size(), 20'000U);
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"description": ")" + std::string(20'001, 'x') + "\"}").cut);
  const PhotoMetadata whole = of_sidecar("a.xmp", test_xmp("", bag("dc:subject", words(1000))));
  PhotoMetadata one;
  one.keywords = {"word 3"};
  EXPECT_FALSE(find_missing_metadata(whole, one).metadata.cut);
  one.keywords = {"another"};
  EXPECT_TRUE(find_missing_metadata(whole, one).metadata.cut);
}

TEST_F(PhotoMetadataTest, SidecarsThatCannotBeReadAreErrors) {
  const auto refused = [&](const std::string& path) { return !read_sidecar_metadata(path).ok(); };
  EXPECT_TRUE(refused(folder_.at("nowhere.xmp")));
  EXPECT_TRUE(refused(folder_.write("a.xmp", "no packet")));
  EXPECT_TRUE(refused(folder_.write("a.jpg.json", "{\"description\": ")));
  EXPECT_TRUE(refused(folder_.write("b.xmp", test_xmp("", std::string(kMaxSidecarBytes, ' ')))));
  const std::string good = folder_.write("c.xmp", test_xmp("xmp:Rating=\"5\"", ""));
  ASSERT_FALSE(refused(good));
  for (const char* name : {"link.xmp", "link.json"}) {
    ASSERT_EQ(::symlink(good.c_str(), folder_.at(name).c_str()), 0);
    EXPECT_TRUE(refused(folder_.at(name)));
  }
  ASSERT_EQ(::mkfifo(folder_.at("pipe.xmp").c_str(), 0600), 0);
  EXPECT_TRUE(refused(folder_.at("pipe.xmp")));
}

TEST_F(PhotoMetadataTest, FactsThatNoSidecarCanHold) {
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"favorited": true})").favourite);
  EXPECT_TRUE(of_sidecar("a.jpg.json", R"({"favorited": true})").is_empty());
  EXPECT_TRUE(of_sidecar("a.xmp", test_xmp("crs:Exposure2012=\"1\"", "")).developed);
  for (const char* name : {"a.pp3", "a.jpg.dop", "a.on1", "a.AAE"}) EXPECT_TRUE(of_sidecar(name, "").developed) << name;
  EXPECT_FALSE(of_sidecar("a.mov", "").developed);
}

TEST_F(PhotoMetadataTest, Takeout) {
  const PhotoMetadata metadata =
      of_sidecar("a.jpg.json", R"({"description": "Grandma", "people": [{"name": "Ada"}, {"name": "ada"}],
      "geoData": {"latitude": 0.0, "longitude": 0.0}, "geoDataExif": {"latitude": 48.1, "longitude": 11.5}})");
  EXPECT_EQ(metadata.description, "Grandma");
  EXPECT_THAT(metadata.people, ElementsAre("Ada"));
  ASSERT_TRUE(metadata.place);
  EXPECT_NEAR(metadata.place->longitude, 11.5, 1e-9);
}

TEST_F(PhotoMetadataTest, WhatIsNoWordIsNothing) {
  EXPECT_TRUE(of_jpeg("").is_empty());
  EXPECT_TRUE(of_jpeg(exif(TestTiff(ByteOrder::big)
                               .whole(kMain, 0x4746, 0)
                               .ascii(kMain, 0x010E, "OLYMPUS DIGITAL CAMERA")
                               .ascii(kExif, 0x9003, "0000:00:00 00:00:00")
                               .ascii(kGps, 1, "N")
                               .rational(kGps, 2, {{0, 1}, {0, 1}, {0, 1}})
                               .ascii(kGps, 3, "E")
                               .rational(kGps, 4, {{0, 1}, {0, 1}, {0, 1}})))
                  .is_empty());
  for (const char* place : {"", "N", "x,1N", "1,2,3,4N", "91,0N", "-1,0N", "nan,0N", "1e400N"}) {
    EXPECT_FALSE(
        of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\""s + place + "\" exif:GPSLongitude=\"1,0E\"", "")).place)
        << place;
  }
  for (const char* taken : {"yesterday", "2024:05:01 12.30.05", "2024-05-01T12", "2024-05-01T12:30:00 evening",
                            "2024-05-01T12:30/1965", "May 1964", "24", "    :  :     :  :  "}) {
    const PhotoMetadata metadata = of_sidecar("a.xmp", test_xmp("exif:DateTimeOriginal=\""s + taken + "\"", ""));
    EXPECT_EQ(metadata.taken, "") << taken;
    EXPECT_EQ(metadata.unparsed, ("yesterday"s == taken || taken[0] == ' ') ? "" : "its date") << taken;
  }
  EXPECT_TRUE(of_sidecar("a.xmp", " \n").is_empty());
  EXPECT_TRUE(of_sidecar("a.pp3", "[Version]").is_empty());
  EXPECT_FALSE(read_metadata(folder_.at("nowhere.jpg"), FileState()).ok());
}

TEST_F(PhotoMetadataTest, ADateMayBeIncomplete) {
  for (const char* taken :
       {"1964", "1975-06", "1964-07-15", "2024-05-01T12:30", "2024-05-01T12:30+02:00", "2024-05-01T12:30:05.25Z"}) {
    const PhotoMetadata metadata = of_sidecar("a.xmp", test_xmp("photoshop:DateCreated=\""s + taken + "\"", ""));
    EXPECT_EQ(metadata.taken, taken);
    EXPECT_EQ(metadata.unparsed, "");
    EXPECT_NE(make_xmp_sidecar(metadata).find("photoshop:DateCreated=\""s + taken + "\""), std::string::npos);
  }
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("photoshop:DateCreated=\"2024-05-01T12:30:05+0200\"", "")).taken,
            "2024-05-01T12:30:05+02:00");
  EXPECT_EQ(of_jpeg(exif(TestTiff(ByteOrder::big).ascii(kExif, 0x9003, "15/07/1964 12:00"))).unparsed, "its date");
  PhotoMetadata day, second;
  day.taken = "1964-07-15";
  second.taken = "1964-07-15T12:00:00";
  EXPECT_TRUE(find_missing_metadata(day, second).differences.empty());
  second.taken = "1964-07-16T12:00:00";
  EXPECT_FALSE(find_missing_metadata(day, second).differences.empty());
}

// Somebody who may replace a file between two readings must not learn the metadata of another file.
TEST_F(PhotoMetadataTest, OnlyTheInspectedFileIsRead) {
  const std::string text = jpeg_file(
      jpeg_segment(0xE1, std::string("http://ns.adobe.com/xap/1.0/\0", 29) + test_xmp("dc:title=\"secret\"", "")));
  const std::string path = folder_.write("a.jpg", text), other = folder_.write("b.jpg", text);
  const FileState state = state_of(path).or_throw();
  EXPECT_EQ(read_metadata(path, state).or_throw().title, "secret");
  std::filesystem::rename(other, path);
  EXPECT_FALSE(read_metadata(path, state).ok()) << "another file of the same bytes";
  const std::string link = folder_.at("link.jpg");
  std::filesystem::create_symlink(path, link);
  EXPECT_FALSE(read_metadata(link, state_of(path).or_throw()).ok());
}

TEST_F(PhotoMetadataTest, AnUnparsedPositionIsReported) {
  for (const char* place : {"52.5", "N52,30.5"})
    EXPECT_EQ(
        of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\""s + place + "\" exif:GPSLongitude=\"1,0E\"", "")).unparsed,
        "its GPS position")
        << place;
  EXPECT_EQ(of_sidecar("a.xmp", test_xmp("exif:GPSLatitude=\"0,0N\" exif:GPSLongitude=\"0,0E\"", "")).unparsed, "");
}

TEST_F(PhotoMetadataTest, NoControlCharactersInAnyForm) {
  const PhotoMetadata metadata = of_sidecar("a.xmp", test_xmp("dc:title=\"a\xC2\x9B"
                                                              "31m&#155;b\"",
                                                              ""));
  EXPECT_EQ(metadata.title, "a 31m b");
}

TEST_F(PhotoMetadataTest, ASidecarHoldsTheSameFacts) {
  PhotoMetadata metadata;
  metadata.rating = -1;
  metadata.keywords = {"a & b", "<i>", "\xC3\xA9t\xC3\xA9"};
  metadata.people = {"Ada \"Countess\" Lovelace"};
  metadata.title = "A 'title' > that";
  metadata.description = "First; second & third";
  metadata.keyword_paths = {"places|Bern", "a & b|<i>"};
  metadata.label = "\"Red\"";
  metadata.location = "Old Town";
  metadata.city = "Bern & Biel";
  metadata.state = "BE";
  metadata.country = "CH";
  metadata.creator = "Ada; Bea <b@example.org>";
  metadata.rights = "(c) \xC3\x84 & B";
  metadata.place = PhotoMetadata::GeoPoint{-33.999999999, 151.2093};
  metadata.taken = "2024-05-01T12:30:05.25+02:00";
  const std::string text = make_xmp_sidecar(metadata);
  const PhotoMetadata back = of_sidecar("b.jpg.xmp", text);
  EXPECT_EQ(back.rating, metadata.rating);
  EXPECT_EQ(back.keywords, metadata.keywords);
  EXPECT_EQ(back.people, metadata.people);
  EXPECT_EQ(back.title, metadata.title);
  EXPECT_EQ(back.description, metadata.description);
  EXPECT_EQ(back.keyword_paths, metadata.keyword_paths);
  EXPECT_EQ(back.label, metadata.label);
  EXPECT_EQ(back.location + back.city + back.state + back.country,
            metadata.location + metadata.city + metadata.state + metadata.country);
  EXPECT_EQ(back.creator, metadata.creator);
  EXPECT_EQ(back.rights, metadata.rights);
  EXPECT_EQ(back.taken, metadata.taken);
  ASSERT_TRUE(back.place);
  EXPECT_NEAR(back.place->latitude, -34, 1e-7);
  EXPECT_THAT(text, HasSubstr("exif:GPSLatitude=\"34,0.000000S\""));
  EXPECT_NEAR(back.place->longitude, 151.2093, 1e-7);
  EXPECT_EQ(make_xmp_sidecar(back), text);
  EXPECT_TRUE(is_own_xmp_sidecar(text));
  EXPECT_FALSE(is_own_xmp_sidecar(test_xmp("", "")));
  const MissingMetadata is_empty = find_missing_metadata(metadata, back);
  EXPECT_TRUE(is_empty.metadata.is_empty());
  EXPECT_THAT(is_empty.differences, IsEmpty());
}

TEST_F(PhotoMetadataTest, ControlCharactersAndLongWordsAreNoDanger) {
  const PhotoMetadata metadata = of_sidecar(
      "a.xmp", test_xmp("", bag("dc:subject", {"a\x01\x1B[31mb", std::string(9000, 'x'), "\xEF\xBF\xBF", "&#x1;"})));
  for (const std::string& word : metadata.keywords) {
    EXPECT_LE(word.size(), 2000U);
    for (const char c : word) EXPECT_GE(static_cast<unsigned char>(c), 0x20) << word;
  }
  PhotoMetadata many;
  for (int i = 0; i < 5000; ++i) {
    PhotoMetadata one;
    one.keywords = {"word " + std::to_string(i)};
    if (i < 1200) many.add(one);
  }
  EXPECT_EQ(many.keywords.size(), 1000U);
}

TEST(MissingMetadata, WhatIsMissingAndWhatDiffers) {
  PhotoMetadata own, theirs;
  own.rating = 3;
  own.city = "Bern";
  theirs.city = "Biel";
  theirs.country = "CH";
  own.keywords = {"Sea"};
  own.place = PhotoMetadata::GeoPoint{48.10001, 11.5};
  own.taken = "2024-05-01T12:30:05";
  theirs.rating = 5;
  theirs.keywords = {"sea", "boat"};
  theirs.title = "T";
  theirs.place = PhotoMetadata::GeoPoint{48.1, 11.5};
  theirs.taken = "2024-05-01T12:30:05.25+02:00";
  const MissingMetadata lacks = find_missing_metadata(own, theirs);
  EXPECT_THAT(lacks.metadata.keywords, ElementsAre("boat"));
  EXPECT_EQ(lacks.metadata.title, "T");
  EXPECT_EQ(lacks.metadata.rating, 0);
  EXPECT_FALSE(lacks.metadata.place);
  EXPECT_EQ(lacks.metadata.taken, "");
  EXPECT_THAT(lacks.differences, ElementsAre("rating 3, not 5", "city \"Bern\", not \"Biel\""));
  EXPECT_EQ(summarize_metadata(lacks.metadata), "title \"T\", country \"CH\", keywords boat");
  EXPECT_EQ(summarize_metadata(PhotoMetadata()), "");
}

}  // namespace
}  // namespace millrace
