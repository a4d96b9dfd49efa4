#include "src/io/file/file_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/io/test_pictures.h"

namespace millrace {
namespace {

std::string all_of(FileReader& file) {
  std::string out;
  for (auto chunk = file.next(); !chunk.empty(); chunk = file.next()) out.append(chunk.begin(), chunk.end());
  return out;
}

std::string pattern(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 31 + (i >> 8));
  return out;
}

TEST(FileReader, GivesEveryByteOnceAndTheSameHashHoweverItIsRead) {
  TestFolder folder;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, FileReader::kChunk - 1, FileReader::kChunk,
                                 FileReader::kChunk + 1, 3 * FileReader::kChunk}) {
    const std::string bytes = pattern(size);
    const std::string path = folder.write("a", bytes);
    const ContentHash hash = *hash_file(path);
    auto file = FileReader::open(path);
    ASSERT_TRUE(file);
    EXPECT_EQ((*file)->peek().size(), std::min(size, FileReader::kChunk));
    EXPECT_EQ((*file)->peek().size(), std::min(size, FileReader::kChunk));
    EXPECT_EQ(all_of(**file), bytes);
    EXPECT_EQ((*file)->bytes_read(), size);
    EXPECT_EQ(*(*file)->finish_hash(), hash);
    auto half = FileReader::open(path);
    (void)(*half)->next();
    EXPECT_EQ(*(*half)->finish_hash(), hash);
    auto peeked = FileReader::open(path);
    (void)(*peeked)->peek();
    EXPECT_EQ(*(*peeked)->finish_hash(), hash);
  }
}

TEST(FileReader, AnotherDescriptorIsOfTheSameFileWithAPlaceOfItsOwn) {
  TestFolder folder;
  const std::string path = folder.write("a", "first");
  auto file = FileReader::open(path);
  std::filesystem::rename(folder.write("b", "other"), path);
  const auto own = (*file)->reopen();
  ASSERT_TRUE(own);
  ASSERT_EQ(::lseek(own->get(), 0, SEEK_END), 5);
  EXPECT_EQ(all_of(**file), "first");
}

TEST(FileReader, KnownHashes) {
  TestFolder folder;
  // XXH3-128 of an empty file, from its authors' test values.
  const ContentHash none = *hash_file(folder.write("none", ""));
  EXPECT_EQ(none[0], 0x99);
  EXPECT_EQ(none[15], 0x7F);
  EXPECT_NE(*hash_file(folder.write("a", "a")), *hash_file(folder.write("b", "b")));
}

TEST(FileReader, OnlyRegularFiles) {
  TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.at("pipe").c_str(), 0600), 0);
  const auto pipe = FileReader::open(folder.at("pipe"));  // must not wait for a writer
  ASSERT_FALSE(pipe);
  EXPECT_EQ(pipe.error().code, ErrorCode::unsupported);
  EXPECT_FALSE(FileReader::open(folder.path()));
  EXPECT_FALSE(FileReader::open("/dev/zero"));
  EXPECT_EQ(FileReader::open(folder.at("none")).error().code, ErrorCode::not_found);
  EXPECT_THAT(FileReader::open(folder.at("no\nne")).error().message(), testing::Not(testing::HasSubstr("\n")));
}

TEST(FileReader, AFileCutShortWhileItIsReadIsShort) {
  TestFolder folder;
  const std::string path = folder.write("a", pattern(4 * FileReader::kChunk));
  auto file = FileReader::open(path);
  (void)(*file)->next();
  ASSERT_EQ(::truncate(path.c_str(), 10), 0);
  EXPECT_TRUE((*file)->next().empty());
  EXPECT_FALSE((*file)->failed());
}

TEST(FileReader, AReadThatFailsIsAnErrorEveryTime) {
  // The kernel gives EIO for the memory of a process at address 0.
  auto file = FileReader::open("/proc/self/mem");
  ASSERT_TRUE(file);
  EXPECT_TRUE((*file)->peek().empty());
  EXPECT_TRUE((*file)->failed());
  EXPECT_TRUE((*file)->next().empty());
  EXPECT_FALSE((*file)->finish_hash());
  EXPECT_THAT((*file)->error().what, testing::HasSubstr("cannot be read"));
}

TEST(ReadText, AllOfItOrNoMoreThanWasAskedFor) {
  TestFolder folder;
  const std::string bytes = pattern(3 * FileReader::kChunk + 5), path = folder.write("a", bytes);
  EXPECT_EQ(read_text(path).or_throw(), bytes);
  const std::string front = read_text(path, 10).or_throw();
  EXPECT_GT(front.size(), 10U);
  EXPECT_EQ(front, bytes.substr(0, FileReader::kChunk));
  EXPECT_EQ(read_text(folder.write("b", "")).or_throw(), "");
  EXPECT_EQ(read_text(folder.at("none")).error().code, ErrorCode::not_found);
}

TEST(SameContents, ComparesToTheLastByte) {
  TestFolder folder;
  const std::string bytes = pattern(FileReader::kChunk * 2 + 5);
  std::string other = bytes;
  other.back() ^= 1;
  const std::string a = folder.write("a", bytes), b = folder.write("b", bytes), c = folder.write("c", other);
  EXPECT_TRUE(*have_same_contents(a, b));
  EXPECT_FALSE(*have_same_contents(a, c));
  EXPECT_FALSE(*have_same_contents(a, folder.write("d", bytes + "x")));
  EXPECT_TRUE(*have_same_contents(folder.write("e", ""), folder.write("f", "")));
  EXPECT_FALSE(have_same_contents(a, folder.at("none")).ok());
}

}  // namespace
}  // namespace millrace
