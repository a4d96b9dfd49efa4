// Tests of the detailed check of files, and of the results that the catalog keeps.
#include "src/jobs/dedupe/suggest/pair_comparator.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cmath>

#include "src/io/test_pictures.h"

namespace millrace::dedupe {
namespace {

constexpr int kWidth = 300, kHeight = 220;

std::vector<std::uint8_t> scene() {
  std::vector<std::uint8_t> rgb;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const double u = x / 300.0, v = y / 220.0;
      for (const double c : {0.3, 1.1, 2.3})
        rgb.push_back(static_cast<std::uint8_t>(std::lround(
            128 + 60 * std::sin(7 * u + 3 * v + c) + 40 * std::sin(13 * u * v + 5 * v * v + 2 * c) + 20 * (u > v))));
    }
  }
  return rgb;
}

class FilePairComparatorTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto upright = scene();
    folder_.write("p/a.png", png_bytes({kWidth, kHeight, 3, upright}));
    folder_.write("p/b.png", png_bytes({kHeight, kWidth, 3,
                                        oriented(upright.data(), kWidth, kHeight, 3, Orientation::rotated_90)}));
    options_.folders = {folder_.at("p")};
    library_ = scan_library(options_, catalog_, context_);
    ASSERT_EQ(library_.pictures.size(), 2U);
  }

  // Returns the number of pairs checked, and the kind found.
  std::pair<std::uint64_t, detailed_check::DifferenceKind> check(bool orientations) {
    options_.orientations = orientations;
    FilePairComparator comparator(options_, library_, catalog_, context_);
    executor_.run([&] { comparator.check(std::vector<PicturePair>{{0, 1}}); });
    catalog_.flush();
    EXPECT_TRUE(comparator.find(1, 0)->seen);
    return {comparator.compared_pairs(), comparator.find(0, 1)->kind};
  }

  TestFolder folder_;
  Catalog catalog_{folder_.at("catalog.sqlite"), catalog_key()};
  DedupeOptions options_;
  Executor executor_{2};
  CancelToken cancel_;
  Trace trace_;
  Budget budget_{1_GiB};
  RunContext context_{executor_, cancel_, trace_, budget_};
  Library library_;
};

TEST_F(FilePairComparatorTest, AResultUnderOtherOptionsIsNotUsed) {
  EXPECT_NE(check(false).second, detailed_check::DifferenceKind::same);
  EXPECT_EQ(check(true), std::pair(std::uint64_t{1}, detailed_check::DifferenceKind::same))
      << "a turned one may be met now";
  EXPECT_EQ(check(true), std::pair(std::uint64_t{0}, detailed_check::DifferenceKind::same)) << "it is kept";
  const auto [pairs, kind] = check(false);
  EXPECT_EQ(pairs, 1U);
  EXPECT_NE(kind, detailed_check::DifferenceKind::same);
}

TEST_F(FilePairComparatorTest, AThumbnailThatDoesNotDecodeIsPassedOver) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(folder_.at("catalog.sqlite").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE thumbnails SET jpeg = x'FFD8FF' WHERE look = (SELECT min(look) FROM thumbnails)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(check(true).second, detailed_check::DifferenceKind::same);
}

}  // namespace
}  // namespace millrace::dedupe
