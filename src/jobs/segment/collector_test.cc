#include "src/jobs/segment/collector.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "src/base/text.h"
#include "src/io/test_pictures.h"
#include "src/jobs/segment/cutter.h"

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
  model::InputForm form;
  form.order = {0, 1, 2};
  form.levels.resize(3);
  for (window::LevelTable& each : form.levels)
    for (std::size_t v = 0; v < 256; ++v) each.of[v] = static_cast<float>(v);
  out.forms = {form};
  out.models.resize(1);
  out.heads.resize(1);
  out.heads[0].classes = model::make_unnamed_classes(classes);
  return out;
}

struct Parameters {
  bool sums_in_file = false;
  std::uint64_t stop_behind = ~std::uint64_t{0};  // windows until the run is stopped and resumed from its checkpoint
};

// Runs an image through a network that returns the channels of each window as its classes.
PictureResult through_windows(const Options& options, const Setup& setup, const std::string& path, JobSetup& job,
                              const Parameters& how = {}) {
  std::filesystem::create_directories(options.output);
  WorkFolder work_folder(options.output, "same", {});
  const std::string name = "a.png";
  std::uint64_t left = how.stop_behind;
  for (bool again = false;; again = true) {
    Cutter cutter(options, setup, path, name, job.context);
    const PictureInfo& info = cutter.rows().info();
    CollectorParameters of{name,        cutter.y(), cutter.x(), cutter.source(),  info.width,
                           info.height, nullptr,    {},         how.sums_in_file, std::chrono::milliseconds(0)};
    if (again) of.resume_state = work_folder.resume_state(name, cutter.source());
    EXPECT_EQ(of.resume_state.has_value(), again && how.stop_behind > cutter.x().starts().size());
    cutter.begin(Collector::first_row(cutter.y(), of.resume_state), work_folder.folder(name));
    Collector collector(options, setup, of, work_folder);
    collector.open_photo(path, job.context);
    model::Prediction window;
    window.maps.resize(setup.input_elements());
    std::size_t row = 0, column = 0;
    bool whole = true;
    while (whole && cutter.next(window.maps.data(), row, column)) {
      if (!again && left-- == 0) whole = false;
      if (setup.models.size() > 1) {
        const auto seen = static_cast<std::uint64_t>(window.maps.data()[0]);
        window.votes.assign(setup.heads.size(), {seen, 255});
      }
      if (whole) collector.add(row, column, window);
    }
    if (!whole) continue;
    PictureResult result;
    result.hash = hex_of_bytes(cutter.finish().picture.hash);
    return collector.finish(std::move(result)).or_throw();
  }
}

TEST(SegmentPicture, WindowsPutTogetherAreThePicture) {
  const TestFolder folder;
  const TestPixels pixels = test_pixels(53, 41, 3);
  const std::string path = folder.write("a.png", png_bytes(pixels));
  JobSetup job;
  Options options;
  options.output = folder.at("out");
  options.write = {.mask = true, .probability = true};
  for (const auto& [height, width] : {std::pair{16, 16}, std::pair{41, 53}, std::pair{60, 24}, std::pair{16, 80}}) {
    const auto setup = setup_for(height, width, 3);
    const PictureResult result = through_windows(options, setup, path, job);
    EXPECT_EQ(result.width, 53);
    EXPECT_EQ(result.height, 41);
    const std::string npy = read_text(options.output + "/a.png.probability.npy").or_throw();
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
    EXPECT_NEAR(result.heads[0].classes[1].mean, sum / (53 * 41), 1e-3);
    EXPECT_EQ(result.heads[0].classes[0].pixels + result.heads[0].classes[1].pixels + result.heads[0].classes[2].pixels,
              53U * 41);
    const auto again = read_previous_result(record_path(options.output, "a.png"), setup);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->hash, result.hash);
    EXPECT_EQ(again->heads[0].classes[2].pixels, result.heads[0].classes[2].pixels);
  }
}

TEST(SegmentPicture, MemoryDoesNotDependOnTheHeight) {
  const TestFolder folder;
  JobSetup job;
  const auto setup = setup_for(16, 16, 1);
  const Options options;
  const auto memory_cost = [&](int height) {
    const std::string path = folder.write("a.png", png_bytes(test_pixels(60, height, 3)));
    const Cutter cutter(options, setup, path, "a.png", job.context);
    return (cutter.memory_cost() + Collector::memory_cost_with_files(options, setup, cutter, false)).count;
  };
  const auto low = memory_cost(100), high = memory_cost(1000);
  // The set of windows that were added takes one bit per window.
  EXPECT_LT(high - low, 8'000U);
}

TEST(SegmentPicture, NumbersThatAreNoneLeaveNoFiles) {
  const TestFolder folder;
  const std::string path = folder.write("a.png", png_bytes(test_pixels(53, 41, 3)));
  JobSetup job;
  Options options;
  options.output = folder.at("out");
  auto setup = setup_for(16, 16, 3);
  setup.forms[0].levels[2].of.fill(std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(through_windows(options, setup, path, job), Failure);
  // The unfinished results are resumed or dropped by the job.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options.output), {}), 1);
}

std::string content(const Options& options) {
  std::string out;
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(options.output))
    if (entry.is_regular_file()) paths.insert(entry.path().string());
  for (const std::string& path : paths) {
    out += path.substr(options.output.size());
    out += read_text(path).or_throw();
  }
  return out;
}

TEST(SegmentPicture, ResultsAreTheSameWhereverItWasStoppedAndWhereverSumsLie) {
  const TestFolder folder;
  const std::string path = folder.write("a.png", png_bytes(test_pixels(70, 90, 3)));
  JobSetup job;
  Options options;
  options.write = {true, true, true, true};
  const auto setup = setup_for(24, 16, 3);
  options.output = folder.at("whole");
  const PictureResult whole = through_windows(options, setup, path, job);
  const std::string expected = content(options);
  for (const std::uint64_t stop : {3, 9, 25, 40, 50}) {
    options.output = folder.at(fmt::format("stopped{}", stop));
    const PictureResult result = through_windows(options, setup, path, job, {stop % 2 == 1, stop});
    EXPECT_EQ(result.windows, whole.windows);
    EXPECT_EQ(content(options), expected) << stop;
  }
}

TEST(SegmentPicture, OutputsOfEveryKindGoOnWhereTheyWere) {
  const TestFolder folder;
  const std::string path = folder.write("a.png", png_bytes(test_pixels(70, 90, 3)));
  JobSetup job;
  Options options;
  options.write = {true, true, true, true};
  auto setup = setup_for(24, 16, 1);
  setup.models.resize(2);
  setup.heads.resize(3, setup.heads[0]);
  setup.heads[0].name = "first";
  setup.heads[1].name = "points";
  setup.heads[1].task = model::ModelTask::keypoints;
  setup.heads[2].name = "second";
  setup.heads[2].threshold = 100;
  options.output = folder.at("whole");
  const PictureResult whole = through_windows(options, setup, path, job);
  EXPECT_GT(whole.heads[0].votes.any, 0U);
  EXPECT_GT(whole.heads[0].votes.differ, 0U);
  ASSERT_TRUE(whole.heads[1].peaks[0]);
  EXPECT_GT(whole.heads[0].classes[0].at_edge, 0U);
  const std::string expected = content(options);
  for (std::uint64_t stop = 1; stop < 60; stop += 7) {
    options.output = folder.at(fmt::format("stopped{}", stop));
    through_windows(options, setup, path, job, {stop % 2 == 1, stop});
    EXPECT_EQ(content(options), expected) << stop;
  }
}

TEST(SegmentPicture, WhatIsWrittenWholeGetsItsNamesLater) {
  const TestFolder folder;
  const std::string path = folder.write("a.png", png_bytes(test_pixels(70, 90, 3)));
  JobSetup job;
  Options options;
  options.write = {true, true, true, true};
  options.output = folder.at("out");
  const auto setup = setup_for(24, 16, 3);
  through_windows(options, setup, path, job);
  const std::string expected = content(options);
  // Recreates the state of a run that was killed while its files were renamed.
  WorkFolder work_folder(options.output, "same", {});
  const std::string part = work_folder.folder("a.png");
  std::filesystem::rename(options.output + "/a.png.segment.json", part + "/record.json");
  std::filesystem::rename(options.output + "/a.png.overlay.png", part + "/overlay.png");
  // Results of another image must not be published.
  EXPECT_FALSE(ResultWriter::publish(options, setup, "a.png", work_folder, [](const PictureResult&) { return false; }));
  const auto is_current = [](const PictureResult& written) { return written.width == 70; };
  EXPECT_TRUE(ResultWriter::publish(options, setup, "a.png", work_folder, is_current));
  EXPECT_EQ(content(options), expected);
  EXPECT_FALSE(std::filesystem::exists(part));
  std::filesystem::create_directory(part);
  std::filesystem::rename(options.output + "/a.png.segment.json", part + "/record.json");
  std::filesystem::remove(options.output + "/a.png.overlay.png");
  EXPECT_FALSE(ResultWriter::publish(options, setup, "a.png", work_folder, is_current));
  EXPECT_FALSE(read_previous_result(options.output + "/a.png.segment.json", setup));
}

TEST(SegmentPicture, WindowsThatNobodyWantsAreCountedAndTheirPixelsAreNothing) {
  const TestFolder folder;
  TestPixels pixels = test_pixels(64, 64, 3);
  TestPixels region = test_pixels(64, 64, 1);
  std::fill(region.data.begin(), region.data.end(), std::uint8_t{0});
  region.data[5 * 64 + 40] = 1;
  const std::string path = folder.write("a.png", png_bytes(pixels));
  JobSetup job;
  Options options;
  options.write = {true, true, true, true};
  options.roi = folder.write("roi.png", png_bytes(region));
  options.overlap = 0;
  options.output = folder.at("out");
  const auto setup = setup_for(16, 16, 3);
  const PictureResult result = through_windows(options, setup, path, job);
  EXPECT_EQ(result.windows, 1U);
  EXPECT_EQ(result.left_out, 15U);
  EXPECT_EQ(result.heads[0].classes[0].pixels + result.heads[0].classes[1].pixels + result.heads[0].classes[2].pixels,
            256U);
  const std::string npy = read_text(options.output + "/a.png.probability.npy").or_throw();
  std::vector<float> got(64 * 64 * 3);
  std::memcpy(got.data(), npy.data() + npy.size() - got.size() * sizeof(float), got.size() * sizeof(float));
  for (std::size_t y = 0; y < 64; ++y)
    for (std::size_t x = 0; x < 64; ++x)
      ASSERT_NEAR(got[y * 64 + x], y < 16 && x >= 32 && x < 48 ? pixels.data[(y * 64 + x) * 3] : 0, 1e-3);
  // Leaves out all windows if the region is black, or if the image is nearly uniform.
  region.data[5 * 64 + 40] = 0;
  options.roi = folder.write("none.png", png_bytes(region));
  options.output = folder.at("none");
  EXPECT_EQ(through_windows(options, setup, path, job).left_out, 16U);
  options.roi.clear();
  options.skip_empty = true;
  for (std::size_t k = 0; k < pixels.data.size(); ++k) pixels.data[k] = static_cast<std::uint8_t>(100 + k % 17);
  options.output = folder.at("flat");
  EXPECT_EQ(through_windows(options, setup, folder.write("a.png", png_bytes(pixels)), job).left_out, 16U);
  pixels.data[64 * 3 * 3 + 30] = 150;
  options.output = folder.at("one");
  EXPECT_EQ(through_windows(options, setup, folder.write("a.png", png_bytes(pixels)), job).left_out, 15U);
  region = test_pixels(63, 64, 1);
  options.roi = folder.write("other.png", png_bytes(region));
  EXPECT_THROW(through_windows(options, setup, path, job), Failure);
}

}  // namespace
}  // namespace millrace::segment
