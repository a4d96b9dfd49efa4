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

}  // namespace
}  // namespace millrace::dedupe
