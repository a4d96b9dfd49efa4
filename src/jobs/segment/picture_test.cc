#include "src/jobs/segment/picture.h"

#include <gtest/gtest.h>

#include <limits>

#include "src/base/text.h"
#include "src/io/test_pictures.h"

namespace millrace::segment {
namespace {

struct JobSetup {
  CancelToken cancel;
  Executor executor{2, &cancel};
  Trace trace{false};
  Budget budget{64_MiB};
  RunContext context{executor, cancel, trace, budget};
};

Setup setup_for(int height, int width, std::size_t classes) {
  Setup out;
  out.height = height;
  out.width = width;
  out.order = {0, 1, 2};
  out.levels.resize(3);
  for (window::Levels& each : out.levels)
    for (std::size_t v = 0; v < 256; ++v) each.of[v] = static_cast<float>(v);
  out.classes = model::unnamed_classes(classes);
  return out;
}

// A network whose classes are the window's channels.
PictureResult through_windows(const Options& options, const Setup& setup, const std::string& path, JobSetup& job) {
  Cutter cutter(options, setup, path, job.context);
  cutter.begin();
  Collector collector(options, setup, "a.png", cutter.y(), cutter.x());
  std::vector<float> window(setup.input_elements());
  std::size_t row = 0, column = 0;
  while (cutter.next(window.data(), row, column)) collector.add(row, column, window.data());
  PictureResult result;
  result.hash = hex_of_bytes(cutter.finish().hash);
  return collector.finish(std::move(result)).or_throw();
}

TEST(SegmentPicture, WindowsPutTogetherAreThePicture) {
  const TestFolder folder;
  const TestPixels pixels = test_pixels(53, 41, 3);
  const std::string path = folder.write("a.png", png_bytes(pixels));
  JobSetup job;
  Options options;
  options.output = folder.at("out");
  options.write = {true, true};
  for (const auto& [height, width] : {std::pair{16, 16}, std::pair{41, 53}, std::pair{60, 24}, std::pair{16, 80}}) {
    const auto setup = setup_for(height, width, 3);
    const PictureResult result = through_windows(options, setup, path, job);
    EXPECT_EQ(result.width, 53);
    EXPECT_EQ(result.height, 41);
    const std::string npy = read_text(probability_path(options.output, "a.png")).or_throw();
    ASSERT_GT(npy.size(), pixels.data.size() * sizeof(float));
    std::vector<float> got(pixels.data.size());
    std::memcpy(got.data(), npy.data() + npy.size() - got.size() * sizeof(float), got.size() * sizeof(float));
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < std::size_t{53} * 41; ++i) {
        ASSERT_NEAR(got[c * 53 * 41 + i], pixels.data[i * 3 + c], 1e-3) << c << " " << i;
        if (c == 1) sum += pixels.data[i * 3 + c];
      }
    }
    EXPECT_NEAR(result.classes[1].mean, sum / (53 * 41), 1e-3);
    EXPECT_EQ(result.classes[0].pixels + result.classes[1].pixels + result.classes[2].pixels, 53U * 41);
    const auto again = earlier_result(record_path(options.output, "a.png"), result.hash, setup);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->classes[2].pixels, result.classes[2].pixels);
    EXPECT_FALSE(earlier_result(record_path(options.output, "a.png"), "another", setup));
  }
}

TEST(SegmentPicture, MemoryDoesNotDependOnTheHeight) {
  const TestFolder folder;
  JobSetup job;
  const auto setup = setup_for(16, 16, 1);
  const Options options;
  const auto needs = [&](int height) {
    const std::string path = folder.write("a.png", png_bytes(test_pixels(60, height, 3)));
    return Cutter(options, setup, path, job.context).needs().count;
  };
  const auto low = needs(100), high = needs(1000);
  // Which windows were added is a bit each.
  EXPECT_LT(high - low, 8'000U);
}

TEST(SegmentPicture, NumbersThatAreNoneLeaveNoFiles) {
  const TestFolder folder;
  const std::string path = folder.write("a.png", png_bytes(test_pixels(53, 41, 3)));
  JobSetup job;
  Options options;
  options.output = folder.at("out");
  auto setup = setup_for(16, 16, 3);
  setup.levels[2].of.fill(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(through_windows(options, setup, path, job), Failure);
  EXPECT_TRUE(std::filesystem::is_empty(options.output));
}

}  // namespace
}  // namespace millrace::segment
