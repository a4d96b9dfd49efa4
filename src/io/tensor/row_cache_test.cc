#include "src/io/tensor/row_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "src/base/error.h"

namespace millrace {
namespace {

using ::testing::HasSubstr;

class RowCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "rows_" + std::to_string(getpid()) + "_" +
            testing::UnitTest::GetInstance()->current_test_info()->name();
    numbers_.resize(100'000);
    for (std::size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = static_cast<std::uint32_t>(i * 2654435761U);
    std::ofstream out(path_, std::ios::binary);
    out << "front!" << std::string(reinterpret_cast<const char*>(numbers_.data()), numbers_.size() * 4);
  }
  void TearDown() override { std::filesystem::remove(path_); }

  static std::vector<std::uint32_t> read(RowCache& cache, const RowFile& file, std::uint64_t first, std::size_t count) {
    std::vector<std::uint32_t> out;
    cache.visit(file, first, count, [&](const std::byte* bytes, std::size_t rows) {
      const std::size_t before = out.size();
      out.resize(before + rows * file.row_bytes() / 4);
      std::memcpy(out.data() + before, bytes, rows * file.row_bytes());
    });
    return out;
  }
  std::vector<std::uint32_t> expected(std::size_t first, std::size_t count) const {
    const auto at = numbers_.begin() + static_cast<std::ptrdiff_t>(first);
    return {at, at + static_cast<std::ptrdiff_t>(count)};
  }

  std::string path_;
  std::vector<std::uint32_t> numbers_;
};

TEST_F(RowCacheTest, AnyRowsOfAnyFileFromAnyThread) {
  const PlainRowFile ones(path_, 6, 100'000, 4), fives(path_, 6, 20'000, 20);
  RowCache cache;
  const auto read_rows = [&](unsigned seed) {
    std::mt19937 random(seed);
    for (int i = 0; i < 300; ++i) {
      const std::size_t first = random() % 100'000, count = std::min<std::size_t>(random() % 40'000, 100'000 - first);
      ASSERT_EQ(read(cache, ones, first, count), expected(first, count));
      const std::size_t row = random() % 20'000, rows = std::min<std::size_t>(random() % 50, 20'000 - row);
      ASSERT_EQ(read(cache, fives, row, rows), expected(5 * row, 5 * rows));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed < 5; ++seed) threads.emplace_back(read_rows, seed);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(RowCacheTest, AFileThatBecomesShorterIsAnError) {
  const PlainRowFile rows(path_, 6, 100'000, 4);
  RowCache cache;
  EXPECT_EQ(read(cache, rows, 0, 10), expected(0, 10));
  std::filesystem::resize_file(path_, 200'000);
  for (int attempt = 0; attempt < 2; ++attempt) {
    try {
      read(cache, rows, 60'000, 10);
      FAIL();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.error().code, ErrorCode::conflict);
      EXPECT_THAT(failure.what(), HasSubstr("now shorter"));
    }
  }
  EXPECT_EQ(read(cache, rows, 5, 10), expected(5, 10)) << "what was read is still there";
  std::filesystem::remove(path_);
  EXPECT_THROW(read(cache, rows, 60'000, 10), Failure);
}

}  // namespace
}  // namespace millrace
