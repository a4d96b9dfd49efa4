#include "src/io/image/live_photo.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

constexpr std::string_view kIdentifier = "7F1B1D2E-0000-4B5C-9E2A-AAAAAAAAAAAA";

TEST(LivePhoto, BothHalvesHaveOneIdentifier) {
  const TestFolder folder;
  EXPECT_EQ(read_picture_live_photo_id(folder.write("a.jpg", live_photo_picture(kIdentifier))), kIdentifier);
  EXPECT_EQ(read_video_live_photo_id(folder.write("b.mov", live_photo_video(kIdentifier))), kIdentifier);
}

TEST(LivePhoto, OtherFilesHaveNone) {
  const TestFolder folder;
  for (const std::string& bytes : {std::string(), std::string("text"), jpeg_file(""), box("moov", box("meta", "")),
                                   live_photo_video(""), live_photo_picture("")}) {
    const std::string path = folder.write("a", bytes);
    EXPECT_EQ(read_picture_live_photo_id(path), "");
    EXPECT_EQ(read_video_live_photo_id(path), "");
  }
  EXPECT_EQ(read_video_live_photo_id(folder.at("missing")), "");
}

TEST(LivePhoto, CutAnywhereItIsWholeOrNone) {
  const TestFolder folder;
  const std::string picture = live_photo_picture(kIdentifier), video = live_photo_video(kIdentifier);
  for (std::size_t size = 0; size < std::max(picture.size(), video.size()); ++size) {
    const std::string one = read_picture_live_photo_id(folder.write("a.jpg", picture.substr(0, size)));
    const std::string other = read_video_live_photo_id(folder.write("a.mov", video.substr(0, size)));
    EXPECT_TRUE(one.empty() || one == kIdentifier) << size << one;
    EXPECT_TRUE(other.empty() || other == kIdentifier) << size << other;
  }
}

}  // namespace
}  // namespace millrace
