#include "src/io/image/sidecar.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

Provenance of_json(std::string_view text) {
  Provenance p;
  add_takeout_json(text, p);
  return p;
}

bool empty(const Provenance& p) {
  return p.rating == 0 && p.keywords + p.people == 0 &&
         !(p.title || p.description || p.gps || p.colour_label || p.favourite || p.developed);
}

TEST(Sidecar, Xmp) {
  const TestFolder folder;
  Provenance p;
  p.rating = 2;
  p.keywords = 1;
  p.software = "Ver.1.00";
  add_sidecar_facts(
      folder.write("a.jpg.XMP",
                   test_xmp("xmp:Rating=\"5\" xmp:Label=\"Red\" crs:HasSettings=\"True\" crs:Exposure2012=\"1\" "
                            "xmp:CreatorTool=\"Adobe Photoshop\" exif:GPSLatitude=\"1N\" exif:GPSLongitude=\"1E\"",
                            "<dc:subject><rdf:Bag><rdf:li>a</rdf:li><rdf:li>b</rdf:li></rdf:Bag></dc:subject>"
                            "<dc:title>T</dc:title><dc:description>What it is</dc:description>"
                            "<Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>Ada</rdf:li></rdf:Bag>"
                            "</Iptc4xmpExt:PersonInImage>")),
      p);
  EXPECT_EQ(p.rating, 5);
  EXPECT_EQ(p.keywords, 2U);
  EXPECT_EQ(p.people, 1U);
  EXPECT_TRUE(p.title && p.description && p.gps && p.colour_label && p.developed);
  EXPECT_EQ(p.software, "Ver.1.00");
  EXPECT_FALSE(p.edited_by_program || p.favourite);

  // A sidecar without facts removes none.
  add_sidecar_facts(folder.write("b.xmp", test_xmp("", "")), p);
  EXPECT_EQ(p.rating, 5);
  EXPECT_TRUE(p.title);
}

TEST(Sidecar, Takeout) {
  const TestFolder folder;
  const std::string text = R"({"title": "IMG_1.jpg", "description": "Grandma", "imageViews": "3",
    "creationTime": {"timestamp": "1", "formatted": "x"},
    "geoData": {"latitude": 48.1, "longitude": 11.5, "altitude": 0.0, "latitudeSpan": 0.0},
    "people": [{"name": "Ada"}, {"name": "Bea"}, {"name": " "}, {}], "favorited": true})";
  for (const char* name : {"a.jpg.json", "a.jpg.supplemental-metadata.json"}) {
    Provenance p;
    add_sidecar_facts(folder.write(name, text), p);
    EXPECT_TRUE(p.description && p.gps && p.favourite);
    EXPECT_EQ(p.people, 2U);
    EXPECT_FALSE(p.title) << "that is the file's name";
  }
  EXPECT_TRUE(of_json(R"({"geoDataExif": {"latitude": 0, "longitude": 1}})").gps);
}

TEST(Sidecar, EmptyOrInvalidJsonAddsNothing) {
  for (const char* text :
       {"", "{", "[]", "7", "null", "{}", R"({"description": "", "favorited": false, "people": []})",
        R"({"geoData": {"latitude": 0.0, "longitude": 0.0}, "geoDataExif": {"latitude": 1}})",
        R"({"description": 7, "favorited": "yes", "people": {"name": "Ada"}, "geoData": [1, 2]})",
        R"({"people": ["Ada", [{"name": "Ada"}], 7], "geoData": {"latitude": "1", "longitude": "1"}})",
        R"({"a": {"description": "x", "favorited": true}})", R"({"description": "x")", "{\"description\": \"\xFF\"}",
        R"({"description": 1e999})"}) {
    EXPECT_TRUE(empty(of_json(text))) << text;
  }
}

TEST(Sidecar, DeepOrLongJson) {
  const std::string deep(1 << 19, '[');
  EXPECT_TRUE(empty(of_json(deep)));
  EXPECT_TRUE(empty(of_json("{\"people\":" + deep)));
  EXPECT_TRUE(empty(of_json("{\"people\":" + deep + std::string(deep.size(), ']') + "}")));
  std::string objects = "{\"people\":[";
  for (int i = 0; i < 40'000; ++i) objects += "{\"name\":\"a\"},";
  EXPECT_EQ(of_json(objects + "{}]}").people, 4096U);
  std::string hollow = "{\"favorited\": true, \"people\":[";
  while (hollow.size() < (1 << 20)) hollow += "{},";
  EXPECT_TRUE(of_json(hollow + "{}]}").favourite);
  const TestFolder folder;
  Provenance p;
  add_sidecar_facts(folder.write("long.json", "{\"favorited\": true, \"x\": \"" + std::string(1 << 20, 'x') + "\"}"),
                    p);
  EXPECT_TRUE(empty(p)) << "over the limit";
  add_sidecar_facts(folder.write("long.xmp", test_xmp("xmp:Rating=\"5\"", std::string(2 << 20, ' '))), p);
  EXPECT_EQ(p.rating, 5) << "its beginning";
}

TEST(Sidecar, OthersByBeingThere) {
  for (const char* name : {"a.AAE", "a.jpg.pp3", "a.dop", "a.on1"}) {
    Provenance p;
    add_sidecar_facts(name, p);
    EXPECT_TRUE(p.developed) << name;
  }
  for (const char* name : {"a.mov", "a.thm", "nothing.xmp", "nothing.json", "a"}) {
    Provenance p;
    add_sidecar_facts(name, p);
    EXPECT_TRUE(empty(p)) << name;
  }
}

}  // namespace
}  // namespace millrace
