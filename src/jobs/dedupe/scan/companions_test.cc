#include "src/jobs/dedupe/scan/companions.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace::dedupe {
namespace {

using Names = std::vector<std::string>;

TEST(Companions, RawAndSidecarsGoWithTheJpeg) {
  const std::vector<AssetPicture> shots = {
      {"/p/a.cr2", ImageFormat::raw, ""}, {"/p/a.heic", ImageFormat::heif, ""}, {"/p/A.JPG", ImageFormat::jpeg, ""}};
  const AssetAssignment assets =
      assign_companions(shots, {"/p/a.MOV", "/p/a.cr2.xmp", "/p/a.xmp", "/p/b.xmp", "/q/a.xmp"});
  EXPECT_EQ(assets.raw_of, (std::vector<std::uint32_t>{AssetAssignment::kNoPicture, AssetAssignment::kNoPicture, 0}));
  EXPECT_TRUE(assets.companion[0]);
  EXPECT_EQ(assets.sidecars[2], Names{"/p/a.cr2.xmp"}) << "the RAW's, and so the JPEG's";
  EXPECT_EQ(assets.sidecars[1], (Names{"/p/a.MOV", "/p/a.xmp"})) << "the first that stands for itself";
}

TEST(Companions, AFullNameDecidesWhoseASidecarIs) {
  const std::vector<AssetPicture> shots = {{"/p/a.jpg", ImageFormat::jpeg, ""}, {"/p/a.png", ImageFormat::png, ""}};
  const AssetAssignment assets = assign_companions(shots, {"/p/a.PNG.xmp", "/p/a.jpg.xmp", "/p/a.xmp"});
  EXPECT_EQ(assets.sidecars[0], (Names{"/p/a.jpg.xmp", "/p/a.xmp"}));
  EXPECT_EQ(assets.sidecars[1], Names{"/p/a.PNG.xmp"});
}

TEST(Companions, TakeoutJsonBelongsToItsPicture) {
  const std::string cut = "/p/20240501_123000_summer_in_the_hills.jpg.supplem.json";  // 46 characters before .json
  const std::vector<AssetPicture> shots = {{"/p/20240501_123000_summer_in_the_hills.jpg", ImageFormat::jpeg, ""},
                                           {"/p/a(1).jpg", ImageFormat::jpeg, ""},
                                           {"/p/a.heic", ImageFormat::heif, ""},
                                           {"/p/a.jpg", ImageFormat::jpeg, ""}};
  const Names others = {cut,
                        "/p/a.HEIC.json",
                        "/p/a.jpg(1).json",
                        "/p/a.jpg.supplemental-metadata(1).json",
                        "/p/a.jpg.supplemental-metadata.json",
                        "/p/b.jpg.json"};
  for (const std::string& other : others) EXPECT_TRUE(can_be_companion(other)) << other;
  const AssetAssignment assets = assign_companions(shots, others);
  EXPECT_EQ(assets.sidecars[0], Names{cut});
  EXPECT_EQ(assets.sidecars[1], (Names{"/p/a.jpg(1).json", "/p/a.jpg.supplemental-metadata(1).json"}));
  EXPECT_EQ(assets.sidecars[2], Names{"/p/a.HEIC.json"});
  EXPECT_EQ(assets.sidecars[3], Names{"/p/a.jpg.supplemental-metadata.json"});
  // JSON files that belong to no picture, whatever files stand beside them.
  for (const char* other : {"/p/a.json", "/p/metadata.json", "/p/a.jpg.supplem.json", "/p/a.jpg.notes.json", "/p/.json",
                            "/p/a.jpg(x).json", "/p/a.jpg().json", "/p/.jpg", "/p/a.mov.json"}) {
    EXPECT_FALSE(can_be_companion(other)) << other;
  }
}

TEST(Companions, TakeoutsJsonIsFoundInTheFolder) {
  const TestFolder folder;
  for (const char* name :
       {"a.jpg", "a.png", "a.jpg.json", "a.jpg.supplemental-metadata.json", "a.json", "b.jpg.json"}) {
    folder.write(name, "x");
  }
  const Companions found = CompanionFinder().of(folder.at("a.jpg"));
  EXPECT_EQ(found.files, (Names{folder.at("a.jpg.json"), folder.at("a.jpg.supplemental-metadata.json")}));
  EXPECT_EQ(found.shared, (std::vector<bool>{false, false})) << "the full name says whose they are";
  EXPECT_EQ(CompanionFinder().of(folder.at("a.png")).files, Names());
}

TEST(Companions, VideosOfLivePhotosByEveryName) {
  const std::vector<AssetPicture> shots = {
      {"/p/IMG_1.HEIC", ImageFormat::heif, ""},   {"/p/IMG_2.HEIC", ImageFormat::heif, ""},
      {"/p/IMG_3.HEIC", ImageFormat::heif, ""},   {"/p/IMG_3_HEVC.JPG", ImageFormat::jpeg, ""},
      {"/p/PXL_4.MP.jpg", ImageFormat::jpeg, ""}, {"/p/PXL_5.jpg", ImageFormat::jpeg, ""}};
  const AssetAssignment assets =
      assign_companions(shots, {"/p/IMG_1_HEVC.MOV", "/p/IMG_2_live.mov", "/p/IMG_3_HEVC.MOV", "/p/IMG_9_HEVC.MOV",
                                "/p/PXL_4.MP", "/p/PXL_5.MP"});
  EXPECT_EQ(assets.sidecars[0], Names{"/p/IMG_1_HEVC.MOV"});
  EXPECT_EQ(assets.sidecars[1], Names{"/p/IMG_2_live.mov"});
  EXPECT_EQ(assets.sidecars[2], Names{});
  EXPECT_EQ(assets.sidecars[3], Names{"/p/IMG_3_HEVC.MOV"}) << "of its very stem";
  EXPECT_EQ(assets.sidecars[4], Names{"/p/PXL_4.MP"});
  EXPECT_EQ(assets.sidecars[5], Names{"/p/PXL_5.MP"});
}

TEST(Companions, VideosOfLivePhotosByTheirIdentifier) {
  const TestFolder folder;
  const std::string a = folder.write("a.jpg", live_photo_picture("identifier one")),
                    b = folder.write("b.jpg", live_photo_picture("identifier two"));
  folder.write("deep/d.jpg", live_photo_picture("identifier three"));
  const std::string video = folder.write("clip.mp4", live_photo_video("identifier two"));
  folder.write("other.mov", live_photo_video("identifier three"));
  folder.write("plain.mov", "film");
  CompanionFinder finder;
  EXPECT_EQ(finder.of(a).files, Names{});
  EXPECT_EQ(finder.of(folder.at("deep/d.jpg")).files, Names{}) << "of the same folder alone";
  Companions found = finder.of(b);
  EXPECT_EQ(found.files, Names{video});
  EXPECT_EQ(found.shared, std::vector<bool>{false});
  // Both pictures come from one Live Photo: the kept one needs the video.
  const std::string edited = folder.write("b (edited).jpg", live_photo_picture("identifier two"));
  for (const auto& [one, other] : {std::pair(b, edited), std::pair(edited, b)}) {
    found = CompanionFinder().of(one);
    EXPECT_EQ(found.files, Names{video});
    EXPECT_EQ(found.shared, std::vector<bool>{true});
    EXPECT_EQ(found.siblings, Names{other});
  }
}

TEST(Companions, AVideoOfAnotherLivePhotoIsNoCompanion) {
  for (const char* name : {"IMG_1.mov", "IMG_1.MP4"}) {
    const TestFolder folder;
    const std::string picture = folder.write("IMG_1.jpg", live_photo_picture("identifier one"));
    folder.write(name, live_photo_video("identifier two"));
    EXPECT_EQ(CompanionFinder().of(picture).files, Names{}) << name;
    const std::string video = folder.write(name, live_photo_video("identifier one"));
    EXPECT_EQ(CompanionFinder().of(picture).files, Names{video}) << name;
  }
}

TEST(Companions, TakeoutCutsAnywhereInAName) {
  const std::string in_extension = "/p/Screenshot_20190701-100000_SomeLongAppName_x.jpg";
  const std::string in_stem = "/p/20240501_123000_a_day_in_the_hills_above_the_lake_1.jpg";
  const std::string one_of_two = "/p/20240501_123000_a_walk_along_the_river_and_back_1.jpg";
  const std::string other_of_two = "/p/20240501_123000_a_walk_along_the_river_and_back_2.jpg";
  const auto json_of = [](const std::string& picture) { return picture.substr(0, 3 + 46) + ".json"; };
  std::vector<AssetPicture> shots;
  for (const std::string& picture : {in_stem, one_of_two, other_of_two, in_extension})
    shots.push_back({picture, ImageFormat::jpeg, ""});
  const AssetAssignment assets =
      assign_companions(shots, {json_of(in_stem), json_of(one_of_two), json_of(in_extension)});
  EXPECT_EQ(assets.sidecars[0], Names{json_of(in_stem)});
  EXPECT_EQ(assets.sidecars[1], Names{}) << "nobody can tell whose it is";
  EXPECT_EQ(assets.sidecars[2], Names{});
  EXPECT_EQ(assets.sidecars[3], Names{json_of(in_extension)});
}

TEST(Companions, TheSameInAFolder) {
  const TestFolder folder;
  const std::string cut = "20240501_123000_a_walk_along_the_river_and_back";
  for (const std::string& name : {std::string("IMG_1.HEIC"), std::string("IMG_1_HEVC.MOV"), std::string("a.MP.jpg"),
                                  std::string("a.MP"), cut + "_1.jpg", cut.substr(0, 46) + ".json"})
    folder.write(name, "x");
  EXPECT_EQ(CompanionFinder().of(folder.at("IMG_1.HEIC")).files, Names{folder.at("IMG_1_HEVC.MOV")});
  EXPECT_EQ(CompanionFinder().of(folder.at("a.MP.jpg")).files, Names{folder.at("a.MP")});
  EXPECT_EQ(CompanionFinder().of(folder.at(cut + "_1.jpg")).files, Names{folder.at(cut.substr(0, 46) + ".json")});
  folder.write(cut + "_2.jpg", "x");
  EXPECT_EQ(CompanionFinder().of(folder.at(cut + "_1.jpg")).files, Names());
}

TEST(Companions, AnotherMomentIsAnotherAsset) {
  const std::vector<AssetPicture> shots = {{"/p/a.cr2", ImageFormat::raw, "2024:01:01 10:00:00"},
                                           {"/p/a.jpg", ImageFormat::jpeg, "2024:01:01 10:00:01"}};
  const AssetAssignment assets = assign_companions(shots, {});
  EXPECT_FALSE(assets.companion[0]);
  EXPECT_EQ(assets.raw_of[1], AssetAssignment::kNoPicture);
}

TEST(Companions, NamesThatDifferInCaseComeInAnyOrder) {
  std::vector<AssetPicture> shots;
  for (const char* name : {"/p/B.JPG", "/p/C.JPG", "/p/a.JPG", "/p/a.cr2", "/p/b.cr2", "/p/c.cr2", "/q/B.JPG"})
    shots.push_back({name, name[5] == 'J' ? ImageFormat::jpeg : ImageFormat::raw, ""});
  const AssetAssignment assets =
      assign_companions(shots, {"/p/A.XMP", "/p/b.xmp", "/p/b0.xmp", "/p/c.JPG.xmp", "/q/b.mov"});
  constexpr std::uint32_t kNoPicture = AssetAssignment::kNoPicture;
  EXPECT_EQ(assets.raw_of, (std::vector<std::uint32_t>{4, 5, 3, kNoPicture, kNoPicture, kNoPicture, kNoPicture}));
  EXPECT_EQ(assets.sidecars,
            (std::vector<Names>{{"/p/b.xmp"}, {"/p/c.JPG.xmp"}, {"/p/A.XMP"}, {}, {}, {}, {"/q/b.mov"}}));
}

}  // namespace
}  // namespace millrace::dedupe
