#include "src/jobs/segment/preview.h"

#include <gtest/gtest.h>

#include "src/base/error.h"

namespace millrace::segment {
namespace {

// Returns a row of a mask that is empty except for a line one pixel wide.
std::vector<std::uint8_t> row_of(int width, int at) {
  std::vector<std::uint8_t> out(static_cast<std::size_t>(width));
  if (at >= 0) out[static_cast<std::size_t>(at)] = 2;
  return out;
}

TEST(Preview, ASmallMaskIsItself) {
  Preview preview(5, 2, 3);
  preview.append(std::vector<std::uint8_t>{0, 1, 2, 0, 1});
  preview.append(std::vector<std::uint8_t>{2, 2, 0, 0, 0});
  const SmallMask mask = preview.finish();
  EXPECT_EQ(mask.width, 5U);
  EXPECT_EQ(mask.height, 2U);
  EXPECT_EQ(mask.labels, (std::vector<std::uint8_t>{0, 1, 2, 0, 1, 2, 2, 0, 0, 0}));
  const SmallMask back = parse_small_mask(mask.width, mask.height, text_of(mask));
  EXPECT_EQ(back.labels, mask.labels);
}

TEST(Preview, WhatIsThinStays) {
  // The blocks have 4 x 4 pixels, so that a line of one pixel covers a quarter of each.
  const int width = 2560, height = 9;
  Preview preview(width, height, 3);
  for (int y = 0; y < height; ++y) preview.append(row_of(width, 1001));
  const SmallMask mask = preview.finish();
  EXPECT_EQ(mask.width, 640U);
  EXPECT_EQ(mask.height, 3U);
  for (std::size_t y = 0; y < 3; ++y)
    for (std::size_t x = 0; x < 640; ++x) EXPECT_EQ(mask.labels[y * 640 + x], x == 250 ? 2 : 0);
}

TEST(Preview, GoesOnWhereItWasSaved) {
  const int width = 1300, height = 11;
  Preview whole(width, height, 3);
  for (int y = 0; y < height; ++y) whole.append(row_of(width, 100 * y));
  const SmallMask expected = whole.finish();
  for (int stop = 0; stop <= height; ++stop) {
    Preview first(width, height, 3), second(width, height, 3);
    for (int y = 0; y < stop; ++y) first.append(row_of(width, 100 * y));
    second.restore(first.save(), static_cast<std::uint64_t>(stop));
    for (int y = stop; y < height; ++y) second.append(row_of(width, 100 * y));
    EXPECT_EQ(second.finish().labels, expected.labels) << stop;
  }
}

TEST(Preview, WhatIsNotItsOwnIsRefused) {
  Preview preview(1300, 11, 3), other(1400, 11, 3);
  preview.append(row_of(1300, 5));
  const std::string resume_state = preview.save();
  EXPECT_THROW(other.restore(resume_state, 1), Failure);
  for (const std::string& text :
       {std::string(), std::string("12"), std::string("x y"), std::string("-1 AAAA"),
        std::string("99999999999999999999 AAAA"), resume_state.substr(0, resume_state.size() / 2), "9" + resume_state})
    EXPECT_THROW(Preview(1300, 11, 3).restore(text, 1), Failure) << text;
  EXPECT_THROW(parse_small_mask(0, 1, ""), Failure);
  EXPECT_THROW(parse_small_mask(100000, 100000, "AAAA"), Failure);
  EXPECT_THROW(parse_small_mask(10, 10, "AAAA"), Failure);
  EXPECT_THROW(parse_small_mask(10, 10, "no base64"), Failure);
}

}  // namespace
}  // namespace millrace::segment
