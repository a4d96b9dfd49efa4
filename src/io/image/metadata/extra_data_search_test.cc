#include "src/io/image/metadata/extra_data_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/image/provenance.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

using namespace std::string_literals;
using testing::ElementsAre;
using testing::IsEmpty;

std::string segment(int marker, const std::string& content) {
  return "\xFF"s + static_cast<char>(marker) + number_bytes(content.size() + 2, 2) + content;
}
// Makes a JPEG: a head, a scan with an escaped marker, another head as in progressive pictures, and an end.
std::string picture(const std::string& head = "", char pixel = 'x') {
  return "\xFF\xD8"s + head + segment(0xDB, "tables") + segment(0xDA, "scan") + std::string(300, pixel) + "\xFF\0"s +
         "\xFF\xD3" + segment(0xC4, "\xFF\xD9 is no end here") + segment(0xDA, "scan") + "yz\xFF\xD9";
}
std::string box(const std::string& kind, const std::string& content) {
  return number_bytes(content.size() + 8, 4) + kind + content;
}
std::string video(char seed, const std::string& brand = "isom") {
  return box("ftyp", brand + std::string(8, '\0')) + box("mdat", std::string(4000, seed));
}
std::string little_endian(std::uint64_t value, std::size_t bytes) {
  return number_bytes(value, bytes, ByteOrder::little);
}

struct Entry {
  std::uint64_t kind, size, offset;
};
std::string index_of(const std::vector<Entry>& entries, std::uint64_t claimed) {
  std::string all;
  for (const Entry& e : entries)
    all += number_bytes(e.kind, 4) + number_bytes(e.size, 4) + number_bytes(e.offset, 4) + std::string(4, '\0');
  return segment(0xE2, "MPF\0MM\0*"s + number_bytes(8, 4) + number_bytes(1, 2) + number_bytes(0xB002, 2) +
                           number_bytes(7, 2) + number_bytes(16 * claimed, 4) + number_bytes(26, 4) +
                           number_bytes(0, 4) + all);
}
// Makes a picture with an index and a second picture behind it.
std::string two(std::uint64_t kind, const std::string& second) {
  const std::string empty = picture(index_of({{0x030000, 0, 0}, {kind, 0, 0}}, 2));
  const std::uint64_t header = empty.find("MPF\0"s) + 4;
  return picture(index_of({{0x030000, empty.size(), 0}, {kind, second.size(), empty.size() - header}}, 2)) + second;
}
std::string samsung(const std::string& before, const std::vector<std::string>& contents) {
  std::string blocks, list;
  for (const std::string& content : contents)
    blocks += little_endian(0, 2) + little_endian(0x0A30, 2) + little_endian(4, 4) + "Name" + content;
  std::uint64_t back = blocks.size();
  for (const std::string& content : contents) {
    list +=
        little_endian(0, 2) + little_endian(0x0A30, 2) + little_endian(back, 4) + little_endian(content.size() + 12, 4);
    back -= content.size() + 12;
  }
  list = "SEFH" + little_endian(107, 4) + little_endian(contents.size(), 4) + list;
  return before + blocks + list + little_endian(list.size(), 4) + "SEFT";
}

// A HEIF file whose first item is the picture that is shown.
struct HeifItem {
  std::string kind, data;
  std::string auxiliary;  // its role for the first item: a URN
};
struct HeifReference {
  std::string kind;
  int from;
  std::vector<int> to;
};
std::string heif(const std::vector<HeifItem>& items, const std::vector<HeifReference>& references = {}) {
  std::string infos, table, data, properties, uses, links;
  int number = 0, property = 0, used = 0;
  const auto id = [](int n) { return number_bytes(static_cast<std::uint64_t>(n), 2); };
  for (const HeifItem& item : items) {
    ++number;
    infos += box("infe", "\2\0\0\0"s + id(number) + id(0) + item.kind + "\0"s);
    table += id(number) + id(1) + id(0) + id(1) + number_bytes(data.size(), 4) + number_bytes(item.data.size(), 4);
    data += item.data;
    if (item.auxiliary.empty()) continue;
    properties += box("auxC", std::string(4, '\0') + item.auxiliary + "\0"s);
    uses += id(number) + "\1"s + static_cast<char>(0x80 | ++property);
    ++used;
    links += box("auxl", id(number) + id(1) + id(1));
  }
  for (const HeifReference& reference : references) {
    std::string to;
    for (const int item : reference.to) to += id(item);
    links += box(reference.kind, id(reference.from) + id(static_cast<int>(reference.to.size())) + to);
  }
  const std::string none(4, '\0');
  return box("ftyp", "heic" + none + "mif1") +
         box("meta", none + box("hdlr", "pict") + box("pitm", none + id(1)) + box("iinf", none + id(number) + infos) +
                         box("iref", none + links) +
                         box("iprp", box("ipco", properties) +
                                         box("ipma", none + number_bytes(static_cast<std::uint64_t>(used), 4) + uses)) +
                         box("iloc", "\1\0\0\0\x44\0"s + id(number) + table) + box("idat", data));
}
constexpr const char* kGainMap = "urn:com:apple:photo:2020:aux:hdrgainmap";
constexpr const char* kAlpha = "urn:mpeg:hevc:2015:auxid:1";

class ExtraDataTest : public testing::Test {
 protected:
  std::vector<ExtraData> of(const std::string& bytes, const std::string& name = "a.jpg") const {
    return read_provenance(folder_.write(name, bytes)).or_throw().extra_data;
  }
  std::vector<ExtraDataKind> kinds(const std::string& bytes, const std::string& name = "a.jpg") const {
    std::vector<ExtraDataKind> out;
    for (const ExtraData& extra : of(bytes, name)) out.push_back(extra.what);
    return out;
  }
  TestFolder folder_;
};

TEST_F(ExtraDataTest, AnOrdinaryPictureHoldsNothing) {
  EXPECT_THAT(of(picture()), IsEmpty());
  EXPECT_THAT(of(picture() + std::string(5000, '\0')), IsEmpty());
  EXPECT_THAT(of(picture() + "\xFF\xFF\xFF"), IsEmpty());
  EXPECT_THAT(of(picture() + "a camera's note"), IsEmpty());
  EXPECT_THAT(of(samsung(picture(), {"a date", "another"})), IsEmpty());
  EXPECT_THAT(of(two(0x010002, picture("", 'p'))), IsEmpty()) << "a preview";
}

TEST_F(ExtraDataTest, VideosSoundAndPicturesBehindIt) {
  EXPECT_THAT(kinds(picture() + video('a')), ElementsAre(ExtraDataKind::video));
  EXPECT_THAT(kinds(picture() + std::string(40, '\0') + video('a')), ElementsAre(ExtraDataKind::video));
  EXPECT_THAT(kinds(picture() + video('a', "M4A ")), ElementsAre(ExtraDataKind::sound));
  EXPECT_THAT(kinds(picture() + "#!AMR\n" + std::string(300, 's')), ElementsAre(ExtraDataKind::sound));
  EXPECT_THAT(kinds(two(0x020002, picture("", 'r'))), ElementsAre(ExtraDataKind::picture));
  EXPECT_THAT(kinds(two(0, picture("", 'm')) + video('a')), ElementsAre(ExtraDataKind::picture, ExtraDataKind::video));
  EXPECT_THAT(kinds(samsung(picture(), {"a date", video('a'), "RIFF....WAVE and sound"})),
              ElementsAre(ExtraDataKind::video, ExtraDataKind::sound));
  EXPECT_THAT(kinds(picture() + picture("", 'q') + "!"), ElementsAre(ExtraDataKind::picture));
  EXPECT_THAT(kinds(picture() + std::string(100'000, '?')), ElementsAre(ExtraDataKind::unknown));
}

TEST_F(ExtraDataTest, ACopyOfAVideoHasTheSameHashAnywhere) {
  const ExtraData video_a = of(picture() + video('a'))[0];
  EXPECT_NE(video_a.hash, 0U);
  EXPECT_EQ(of(samsung(picture("", 'o'), {video('a')}))[0], video_a);
  EXPECT_EQ(of(two(0, picture("", 'm')) + video('a'))[1], video_a);
  EXPECT_EQ(of(picture() + video('a') + "a note")[0], video_a);
  EXPECT_NE(of(picture() + video('b'))[0], video_a);
}

// The last two bytes of the video are those of a JPEG's end; the XMP says that there is a video.
TEST_F(ExtraDataTest, AVideoThatEndsAsAPictureDoes) {
  const std::string boxes = box("ftyp", "isom" + std::string(8, '\0')) + box("mdat", "film\xFF\xD9");
  const std::string xmp = segment(0xE1, "http://ns.adobe.com/xap/1.0/\0<x GCamera:MotionPhoto=\"1\"/>"s);
  EXPECT_THAT(kinds(picture(xmp) + boxes), ElementsAre(ExtraDataKind::video));
}

// Samsung's list may contain notes only, while a video before it is not listed.
TEST_F(ExtraDataTest, AVideoBeforeAListThatDoesNotNameIt) {
  const std::string xmp = segment(0xE1, "http://ns.adobe.com/xap/1.0/\0<x GCamera:MotionPhoto=\"1\"/>"s);
  EXPECT_THAT(kinds(samsung(picture(xmp) + video('a'), {"a date"})), ElementsAre(ExtraDataKind::video));
  EXPECT_THAT(kinds(samsung(two(0x010002, picture("", 'p')) + video('a'), {"a date"})),
              ElementsAre(ExtraDataKind::video));
  EXPECT_THAT(kinds(samsung(picture(xmp), {"a date", video('a')})), ElementsAre(ExtraDataKind::video)) << "once";
}

TEST_F(ExtraDataTest, OfFilesOfBoxes) {
  const std::string head = box("ftyp", "heic" + std::string(4, '\0') + "mif1heic");
  EXPECT_THAT(of(head + box("meta", "x") + box("mdat", "pixels"), "a.heic"), IsEmpty());
  EXPECT_THAT(kinds(head + box("meta", "x") + box("mpvd", video('a')), "a.heic"), ElementsAre(ExtraDataKind::video));
  const std::string frames = box("ftyp", "avis" + std::string(4, '\0') + "avifavismsf1");
  const auto sequence = of(frames + box("meta", "x") + box("moov", box("trak", "x")), "a.avif");
  EXPECT_THAT(sequence, ElementsAre(ExtraData{ExtraDataKind::sequence, 0}));
  EXPECT_TRUE(find_missing_kind(sequence, sequence)) << "only the same bytes are a copy of it";
}

TEST_F(ExtraDataTest, ProfilesOfColours) {
  const auto profile = [](const std::string& name) {
    const std::string text = "desc" + std::string(4, '\0') + number_bytes(name.size() + 1, 4) + name + '\0';
    return std::string(128, 'p') + number_bytes(1, 4) + "desc" + number_bytes(144, 4) + number_bytes(text.size(), 4) +
           text;
  };
  const auto with = [&](const std::string& name) {
    return picture(segment(0xE2, "ICC_PROFILE\0\1\1"s + profile(name)));
  };
  EXPECT_THAT(kinds(with("Adobe RGB (1998)")), ElementsAre(ExtraDataKind::profile));
  EXPECT_THAT(of(with("sRGB IEC61966-2.1")), IsEmpty());
  EXPECT_THAT(of(with("s\0R\0G\0B\0"s)), IsEmpty()) << "in letters of two bytes";
  EXPECT_EQ(of(with("Display P3")), of(with("Display P3") + video('a').substr(0, 3)));
}

TEST_F(ExtraDataTest, WhatLiesOutsideIsNotThere) {
  for (const std::uint64_t size : {0ULL, 1ULL, 0xFFFFFFFFULL}) {
    EXPECT_THAT(of(picture(index_of({{0, size, 0xFFFFFFF0}, {0, 0xFFFFFFFF, 5}}, 2))), IsEmpty());
    std::string list = "SEFH" + little_endian(107, 4) + little_endian(size, 4) + little_endian(0, 4) +
                       little_endian(0xFFFFFFFF, 4) + little_endian(0xFFFFFFFF, 4);
    EXPECT_THAT(of(picture() + list + little_endian(list.size(), 4) + "SEFT"), IsEmpty());
    EXPECT_THAT(of(picture() + list + little_endian(0xFFFFFFFF, 4) + "SEFT"), IsEmpty());
  }
}

TEST_F(ExtraDataTest, WhatIsCutAnywhereEndsWell) {
  const std::string whole = samsung(two(0, picture("", 'm')), {video('a'), "RIFF....WAVE and sound"});
  for (std::size_t size = 0; size < whole.size(); size += size < 700 || size + 200 > whole.size() ? 1 : 37)
    of(whole.substr(0, size));
}

// A list that has the whole file as a thousand entries: the file is read a few times, and the other entries have no
// hash.
TEST_F(ExtraDataTest, ManyNamesForTheSameBytesCostNoTime) {
  const std::string more = picture("", 'm') + std::string(3 << 20, 'x');
  std::vector<Entry> entries(1000, Entry{0, more.size(), 1});
  entries[0] = {0x030000, 100, 0};
  const std::string file = picture(index_of(entries, 1000));
  for (Entry& e : entries) e.offset = e.offset * (file.size() - (file.find("MPF\0"s) + 4));
  const auto found = of(picture(index_of(entries, 1000)) + more);
  EXPECT_EQ(found.size(), 99U);
  EXPECT_EQ(found.back().hash, 0U);
}

TEST_F(ExtraDataTest, PicturesOfAHeifFileBesidesTheOneThatIsShown) {
  const auto held = [&](const std::string& file) { return of(file, "a.heic"); };
  EXPECT_THAT(held(heif({{"hvc1", "shown", ""}})), IsEmpty());
  // A thumbnail, tiles, an alpha channel and EXIF all belong to the picture that is shown.
  EXPECT_THAT(held(heif({{"grid", "two tiles", ""},
                         {"hvc1", "left", ""},
                         {"hvc1", "right", ""},
                         {"hvc1", "small", ""},
                         {"hvc1", "alpha", kAlpha},
                         {"Exif", "....", ""}},
                        {{"dimg", 1, {2, 3}}, {"thmb", 4, {1}}, {"cdsc", 6, {1}}})),
              IsEmpty());
  const auto map = held(heif({{"hvc1", "shown", ""}, {"hvc1", "map", kGainMap}}));
  ASSERT_EQ(map.size(), 1U);
  EXPECT_EQ(map[0].what, ExtraDataKind::picture);
  // A copy has the same map at any offset, and another map has another hash.
  EXPECT_EQ(held(heif({{"hvc1", "shown in other bytes", ""}, {"hvc1", "map", kGainMap}})), map);
  EXPECT_NE(held(heif({{"hvc1", "shown", ""}, {"hvc1", "mop", kGainMap}})), map);
  EXPECT_EQ(held(heif({{"hvc1", "shown", ""}, {"hvc1", "another", ""}})).size(), 1U);
  // ISO's tone map is a description with references to the picture and the gain map.
  const auto tones =
      held(heif({{"hvc1", "shown", ""}, {"hvc1", "map", ""}, {"tmap", "how", ""}}, {{"dimg", 3, {1, 2}}}));
  EXPECT_EQ(tones, map);
  // A map of two tiles has another hash when one tile differs.
  const auto tiled = [&](const std::string& last) {
    return held(heif({{"hvc1", "shown", ""}, {"grid", "two", kGainMap}, {"hvc1", "one", ""}, {"hvc1", last, ""}},
                     {{"dimg", 2, {3, 4}}}));
  };
  ASSERT_EQ(tiled("two").size(), 1U);
  EXPECT_EQ(tiled("two"), tiled("two"));
  EXPECT_NE(tiled("two"), tiled("owt"));
}

TEST_F(ExtraDataTest, ATruncatedHeifFileHasNoMoreThanTheWholeOne) {
  const std::string whole = heif(
      {{"hvc1", "shown", ""}, {"hvc1", "map", kGainMap}, {"grid", "g", ""}, {"tmap", "t", ""}}, {{"dimg", 4, {1, 2}}});
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_LE(of(whole.substr(0, cut), "a.heic").size(), 3U) << cut;
    std::string wrong = whole;
    wrong[cut] = static_cast<char>(wrong[cut] ^ 0xFF);
    EXPECT_LE(of(wrong, "a.heic").size(), 4U) << cut;
  }
}

}  // namespace
}  // namespace millrace
