#include "src/jobs/dedupe/companions.h"

#include <gtest/gtest.h>

namespace millrace::dedupe {
namespace {

using Names = std::vector<std::string>;

TEST(Companions, RawAndSidecarsGoWithTheJpeg) {
  const std::vector<Shot> shots = {
      {"/p/a.cr2", ImageFormat::raw, ""}, {"/p/a.heic", ImageFormat::heif, ""}, {"/p/A.JPG", ImageFormat::jpeg, ""}};
  const Assets assets = assign_companions(shots, {"/p/a.MOV", "/p/a.cr2.xmp", "/p/a.xmp", "/p/b.xmp", "/q/a.xmp"});
  EXPECT_EQ(assets.raw_of, (std::vector<std::uint32_t>{Assets::kAlone, Assets::kAlone, 0}));
  EXPECT_TRUE(assets.companion[0]);
  EXPECT_EQ(assets.sidecars[2], Names{"/p/a.cr2.xmp"}) << "the RAW's, and so the JPEG's";
  EXPECT_EQ(assets.sidecars[1], (Names{"/p/a.MOV", "/p/a.xmp"})) << "the first that stands for itself";
}

TEST(Companions, AFullNameSaysWhoseASidecarIs) {
  const std::vector<Shot> shots = {{"/p/a.jpg", ImageFormat::jpeg, ""}, {"/p/a.png", ImageFormat::png, ""}};
  const Assets assets = assign_companions(shots, {"/p/a.PNG.xmp", "/p/a.jpg.xmp", "/p/a.xmp"});
  EXPECT_EQ(assets.sidecars[0], (Names{"/p/a.jpg.xmp", "/p/a.xmp"}));
  EXPECT_EQ(assets.sidecars[1], Names{"/p/a.PNG.xmp"});
}

TEST(Companions, AnotherMomentIsAnotherAsset) {
  const std::vector<Shot> shots = {{"/p/a.cr2", ImageFormat::raw, "2024:01:01 10:00:00"},
                                   {"/p/a.jpg", ImageFormat::jpeg, "2024:01:01 10:00:01"}};
  const Assets assets = assign_companions(shots, {});
  EXPECT_FALSE(assets.companion[0]);
  EXPECT_EQ(assets.raw_of[1], Assets::kAlone);
}

TEST(Companions, NamesThatDifferInCaseComeInAnyOrder) {
  std::vector<Shot> shots;
  for (const char* name : {"/p/B.JPG", "/p/C.JPG", "/p/a.JPG", "/p/a.cr2", "/p/b.cr2", "/p/c.cr2", "/q/B.JPG"})
    shots.push_back({name, name[5] == 'J' ? ImageFormat::jpeg : ImageFormat::raw, ""});
  const Assets assets = assign_companions(shots, {"/p/A.XMP", "/p/b.xmp", "/p/b0.xmp", "/p/c.JPG.xmp", "/q/b.mov"});
  constexpr std::uint32_t kAlone = Assets::kAlone;
  EXPECT_EQ(assets.raw_of, (std::vector<std::uint32_t>{4, 5, 3, kAlone, kAlone, kAlone, kAlone}));
  EXPECT_EQ(assets.sidecars,
            (std::vector<Names>{{"/p/b.xmp"}, {"/p/c.JPG.xmp"}, {"/p/A.XMP"}, {}, {}, {}, {"/q/b.mov"}}));
}

}  // namespace
}  // namespace millrace::dedupe
