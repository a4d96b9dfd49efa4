#include "src/io/raster/raster.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "src/base/full_disk_for_test.h"
#include "src/io/image/picture_rows.h"
#include "src/io/image/png_write.h"
#include "src/io/test_pictures.h"

namespace millrace {
namespace {

struct Case {
  RasterFormat format;
  RasterSpec spec;
};

std::vector<Case> cases() {
  RasterSpec mask;
  mask.width = 2100;
  mask.height = 301;
  mask.palette = {{0, 0, 0}, {255, 128, 1}, {7, 8, 9}};
  RasterSpec probability = mask;
  probability.palette = {};
  probability.planes = 3;
  probability.type = kFloat32;
  RasterSpec overlay = mask;
  overlay.palette = {};
  overlay.samples = 3;
  std::vector<Case> out;
  for (const auto& each : choices_of(RasterFormat{}))
    for (const RasterSpec& spec : {mask, probability, overlay})
      if (can_hold(each.value, spec)) out.push_back({each.value, spec});
  return out;
}

std::vector<std::byte> raster_rows(const RasterSpec& spec) {
  std::vector<std::byte> out(spec.height * spec.planes * spec.row_bytes());
  std::mt19937 random(3);
  for (std::size_t k = 0; k < out.size() / spec.type.bytes(); ++k) {
    if (spec.type == kFloat32) {
      const float value = static_cast<float>(random()) / 4e9F;
      std::memcpy(&out[k * 4], &value, 4);
    } else {
      // Values come in runs, as in masks.
      out[k] = static_cast<std::byte>(spec.palette.empty() ? random() : k / 37 % 3);
    }
  }
  return out;
}

constexpr std::uint64_t kMark = 100;

// Writes a raster with a mark after every hundredth row. After the marks in `saves` it is saved, and another writer
// resumes.
void write(const Case& of, const std::string& path, const std::vector<std::uint64_t>& saves) {
  const std::vector<std::byte> bytes = raster_rows(of.spec);
  const std::size_t row = of.spec.planes * of.spec.row_bytes();
  auto raster = make_raster_writer(of.format, of.spec, path);
  for (std::uint64_t y = 0; y < of.spec.height; ++y) {
    if (y > 0 && y % kMark == 0) {
      raster->mark();
      if (std::find(saves.begin(), saves.end(), y) != saves.end()) {
        const std::string saved = raster->save();
        // Rows that are written after the save are lost with their writer, even if they are on the disk.
        for (std::uint64_t lost = y; lost < std::min(y + 70, of.spec.height); ++lost)
          raster->append(std::span(bytes).subspan(lost * row, row));
        raster.reset();
        raster = make_raster_writer(of.format, of.spec, path, y, saved);
      }
    }
    raster->append(std::span(bytes).subspan(y * row, row));
  }
  raster->finish();
}

std::map<std::string, std::string> content_of(const std::string& path) {
  std::map<std::string, std::string> out;
  if (!std::filesystem::is_directory(path)) return {{"", read_text(path).or_throw()}};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file())
      out[entry.path().string().substr(path.size())] = read_text(entry.path().string()).or_throw();
  return out;
}

TEST(RasterWriter, IsTheSameBytesWhereverARunWasStopped) {
  const TestFolder folder;
  for (const Case& of : cases()) {
    const std::string name = std::string(choice_name(of.format)) + std::to_string(of.spec.row_bytes());
    write(of, folder.at(name), {});
    for (const auto& saves : std::vector<std::vector<std::uint64_t>>{{100}, {300}, {100, 200, 300}}) {
      const std::string other = name + "-" + std::to_string(saves.size()) + std::to_string(saves[0]);
      write(of, folder.at(other), saves);
      EXPECT_EQ(content_of(folder.at(other)), content_of(folder.at(name))) << other;
    }
  }
}

TEST(RasterWriter, PngIsReadBackAndNamesItsSoftware) {
  const TestFolder folder;
  for (const Case& of : cases()) {
    if (of.format != RasterFormat::png) continue;
    write(of, folder.at("a.png"), {200});
    const std::vector<std::byte> bytes = raster_rows(of.spec);
    auto rows = PictureRows::open(FileReader::open(folder.at("a.png")).or_throw(), {}, 1_MiB).or_throw();
    std::vector<std::uint8_t> got(of.spec.width * of.spec.height * 3);
    ASSERT_TRUE(rows->take(static_cast<int>(of.spec.height), got.data()).ok());
    for (std::size_t k = 0; k < got.size(); ++k) {
      const auto at = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
      ASSERT_EQ(got[k], of.spec.palette.empty() ? at(k) : of.spec.palette[at(k / 3)][k % 3]) << k;
    }
    EXPECT_TRUE(is_own_png(FileReader::open(folder.at("a.png")).or_throw()->peek()));
  }
}

TEST(RasterWriter, AnInvalidCheckpointIsAnError) {
  const TestFolder folder;
  for (const Case& of : cases()) {
    const std::string path = folder.at("cut" + std::string(extension_of_format(of.format)));
    auto raster = make_raster_writer(of.format, of.spec, path);
    const std::vector<std::byte> bytes = raster_rows(of.spec);
    const std::size_t row = of.spec.planes * of.spec.row_bytes();
    for (std::uint64_t y = 0; y < kMark; ++y) raster->append(std::span(bytes).subspan(y * row, row));
    raster->mark();
    const std::string saved = raster->save();
    raster.reset();
    // The file is gone, as after it was renamed.
    std::filesystem::remove_all(path);
    EXPECT_THROW(make_raster_writer(of.format, of.spec, path, kMark, saved), Failure) << choice_name(of.format);
    if (!saved.empty()) {
      EXPECT_THROW(make_raster_writer(of.format, of.spec, path, kMark, saved + " 7"), Failure);
    }
  }
}

TEST(RasterWriter, AFullDiskIsAnErrorAndNoCrash) {
  const TestFolder folder;
  for (const Case& of : cases()) {
    const FullDisk full(20'000);
    EXPECT_THROW(write(of, folder.at("full"), {}), Failure) << choice_name(of.format);
    std::filesystem::remove_all(folder.at("full"));
  }
}

}  // namespace
}  // namespace millrace
