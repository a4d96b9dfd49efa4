// Tests of the detailed check of files, and of the results that the catalog keeps.
#include "src/jobs/dedupe/suggest/look_closely.h"

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

class LookClosely : public testing::Test {
 protected:
  void SetUp() override {
    const auto upright = scene();
    folder_.write("p/a.png", png_bytes({kWidth, kHeight, 3, upright}));
    folder_.write("p/b.png", png_bytes({kHeight, kWidth, 3,
                                        oriented(upright.data(), kWidth, kHeight, 3, Orientation::turned_90)}));
    options_.folders = {folder_.at("p")};
    library_ = scan(options_, catalog_, context_);
    ASSERT_EQ(library_.pictures.size(), 2U);
  }

  // Returns the number of pairs checked, and the kind found.
  std::pair<std::uint64_t, closelook::Kind> look(bool orientations) {
    options_.orientations = orientations;
    CloseLooks looks(options_, library_, catalog_, context_);
    executor_.run([&] { looks.look(std::vector<PicturePair>{{0, 1}}); });
    catalog_.flush();
    EXPECT_TRUE(looks.find(1, 0)->seen);
    return {looks.looked_at(), looks.find(0, 1)->kind};
  }

  TestFolder folder_;
  Catalog catalog_{folder_.at("catalog.sqlite"), catalog_key()};
  Options options_;
  Executor executor_{2};
  CancelToken cancel_;
  Trace trace_;
  Budget budget_{1_GiB};
  RunContext context_{executor_, cancel_, trace_, budget_};
  Library library_;
};

TEST_F(LookClosely, WhatWasSaidUnderOtherOptionsIsNoAnswer) {
  EXPECT_NE(look(false).second, closelook::Kind::same);
  EXPECT_EQ(look(true), std::pair(std::uint64_t{1}, closelook::Kind::same)) << "a turned one may be met now";
  EXPECT_EQ(look(true), std::pair(std::uint64_t{0}, closelook::Kind::same)) << "it is kept";
  const auto [looked, kind] = look(false);
  EXPECT_EQ(looked, 1U);
  EXPECT_NE(kind, closelook::Kind::same);
}

TEST_F(LookClosely, AThumbnailThatDoesNotDecodeIsPassedOver) {
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open(folder_.at("catalog.sqlite").c_str(), &db), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(db, "UPDATE thumbnails SET jpeg = x'FFD8FF' WHERE look = (SELECT min(look) FROM thumbnails)",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  EXPECT_NE(look(true).second, closelook::Kind::same);
}

}  // namespace
}  // namespace millrace::dedupe
