#include "src/io/image/metadata/iptc.h"

#include <gtest/gtest.h>

#include "src/io/image/metadata/metadata_for_test.h"

namespace millrace {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

std::string sample() {
  return iptc_dataset(0, std::string("\0\2", 2)) + iptc_dataset(5, "Title") + iptc_dataset(25, "cat") +
         iptc_dataset(25, "dog") + iptc_dataset(25, " ") + iptc_dataset(25, "cat", 3) + iptc_dataset(120, "What it is");
}

TEST(Iptc, CountsKeywordsAndSeesTitleAndCaption) {
  const IptcFacts facts = read_iptc(bytes_of(sample()));
  EXPECT_EQ(facts.keywords, 2U);
  EXPECT_TRUE(facts.title);
  EXPECT_TRUE(facts.description);
  EXPECT_FALSE(facts.edited);
  EXPECT_FALSE(read_iptc(bytes_of(iptc_dataset(120, "SONY DSC"))).description);
  EXPECT_TRUE(read_iptc(bytes_of(iptc_dataset(40, "FBMD01000abc"))).edited);
}

TEST(Iptc, LongData) {
  const std::string text(70'000, 'x');
  std::string data =
      std::string("\x1C\x02\x78\x80\x04") + number_bytes(text.size(), 4) + text + iptc_dataset(25, "cat");
  EXPECT_TRUE(read_iptc(bytes_of(data)).description);
  EXPECT_EQ(read_iptc(bytes_of(data)).keywords, 1U);
  data = std::string("\x1C\x02\x78\x80\x08") + std::string(8, '\xFF') + iptc_dataset(25, "cat");
  EXPECT_EQ(read_iptc(bytes_of(data)).keywords, 0U);
  data = std::string("\x1C\x02\x78\xFF\xFF") + std::string(100'000, '\1');
  EXPECT_FALSE(read_iptc(bytes_of(data)).description);
}

TEST(Iptc, IsFoundAmongResources) {
  for (const char* name : {"", "n", "nm"}) {
    const auto bytes = bytes_of(image_resource(0x03ED, "12345", name) + image_resource(0x0404, sample(), name) +
                                image_resource(0x0405, "rest"));
    EXPECT_EQ(read_iptc(find_iptc_datasets(bytes)).keywords, 2U) << name;
  }
  EXPECT_TRUE(find_iptc_datasets(bytes_of(image_resource(0x03ED, "12345"))).empty());
}

TEST(Iptc, NeverFails) {
  const std::string whole = image_resource(0x03ED, "12345", "name") + image_resource(0x0404, sample());
  for (std::size_t n = 0; n <= whole.size(); ++n) {
    const auto bytes = bytes_of(whole.substr(0, n));
    EXPECT_LE(read_iptc(find_iptc_datasets(bytes)).keywords, 2U);
    (void)read_iptc(bytes_of(whole.substr(n)));
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0, 1, 127, 128, 255}) {
      std::string broken = whole;
      broken[i] = static_cast<char>(value);
      const auto bytes = bytes_of(broken);
      (void)read_iptc(find_iptc_datasets(bytes));
    }
  }
}

}  // namespace
}  // namespace millrace
