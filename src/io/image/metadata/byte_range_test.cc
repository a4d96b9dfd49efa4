#include "src/io/image/metadata/byte_range.h"

#include <gtest/gtest.h>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

TEST(ByteRange, GivesWholePiecesOrNone) {
  const std::string text = "0123456789";
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  ByteSource source(bytes);
  const ByteRange range(source);
  EXPECT_EQ(as_text(range.read(3, 7)), "3456789");
  EXPECT_TRUE(range.read(3, 8).empty());
  EXPECT_TRUE(range.read(11, 0).empty());
  EXPECT_TRUE(range.read(UINT64_MAX, 2).empty());
  EXPECT_EQ(as_text(range.part(2, 4).part(1, 99).first(99)), "345");
  EXPECT_TRUE(range.part(10).empty());
  EXPECT_TRUE(range.part(UINT64_MAX, UINT64_MAX).empty());
  EXPECT_TRUE(ByteRange().read(0, 1).empty());
  EXPECT_TRUE(range.starts_with("123", 1));
  EXPECT_FALSE(range.part(1, 2).starts_with("123"));
  EXPECT_EQ(range.number(0, 2), 0x3031U);
  EXPECT_EQ(range.number(0, 2, ByteOrder::little), 0x3130U);
  EXPECT_EQ(range.number(9, 2), 0U);
}

TEST(ByteRange, ReadsNoMoreOfAFileThanItMay) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += static_cast<char>(i % 251);
  const auto file = FileReader::open(folder.write("a", text));
  ASSERT_TRUE(file);
  constexpr std::uint64_t kMaxBytes = 50'000;
  ByteSource source((*file)->descriptor(), text.size(), kMaxBytes);
  const ByteRange range(source);
  EXPECT_EQ(as_text(range.read(99'990, 10)), text.substr(99'990));
  EXPECT_EQ(as_text(range.read(5, 10)), text.substr(5, 10));
  const std::uint64_t before = source.bytes_read();
  EXPECT_EQ(as_text(range.read(7, 3)), text.substr(7, 3));
  EXPECT_EQ(source.bytes_read(), before) << "it is at hand";
  EXPECT_TRUE(range.read(1000, kMaxBytes).empty());
  EXPECT_EQ(as_text(range.read(20'000, 20'000)), text.substr(20'000, 20'000));
  for (std::uint64_t at = 0; at < text.size(); at += 7'001) (void)range.read(at, 100);
  EXPECT_LE(source.bytes_read(), kMaxBytes);
  EXPECT_EQ(source.error_number(), 0);
}

TEST(ByteRange, AFileThatIsCutMeanwhileIsShort) {
  const TestFolder folder;
  const auto file = FileReader::open(folder.write("a", "0123456789"));
  ASSERT_TRUE(file);
  ByteSource source((*file)->descriptor(), 1000, 1000);
  EXPECT_TRUE(source.at(5, 10).empty());
  EXPECT_EQ(as_text(source.at(5, 5)), "56789");
}

}  // namespace
}  // namespace millrace
