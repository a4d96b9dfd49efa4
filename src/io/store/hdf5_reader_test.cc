#include "src/io/store/hdf5_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "src/io/process/helpers_for_test.h"
#include "src/io/store/hdf5_handle.h"
#include "src/io/test_pictures.h"

namespace millrace::hdf5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hdf5Reader : public testing::Test {
 protected:
  void SetUp() override {
    silence_errors();
    write(path_, -20);
  }
  void TearDown() override { ::unsetenv("HDF5_USE_FILE_LOCKING"); }

  // Writes two datasets of 7 x 5 x 4 numbers, from `begin` on.
  static void write(const std::string& path, int begin, H5Z_filter_t filter = H5Z_FILTER_DEFLATE) {
    const Handle file{H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
    const std::array<hsize_t, 3> shape = {7, 5, 4}, chunk = {2, 3, 4};
    const Handle space{H5Screate_simple(3, shape.data(), nullptr), H5Sclose};
    const Handle how{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    H5Pset_chunk(how.get(), 3, chunk.data());
    const unsigned level = 1;
    ASSERT_GE(H5Pset_filter(how.get(), filter, H5Z_FLAG_MANDATORY, 1, &level), 0);
    std::vector<std::int16_t> values(140);
    std::iota(values.begin(), values.end(), static_cast<std::int16_t>(begin));
    for (const char* name : {"bars", "more"}) {
      const Handle set{H5Dcreate2(file.get(), name, H5T_STD_I16BE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
                       H5Dclose};
      ASSERT_GE(H5Dwrite(set.get(), H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
  }
  static std::unique_ptr<FileReader> open(const std::string& path) {
    return FileReader::open(path, FileReader::Hashing::off).or_throw();
  }
  double first_value(const DatasetInfo& series) {
    std::vector<double> row(4);
    reader_.read(series, 4, 0, 1, row.data());
    return row[0];
  }

  const TestFolder folder_;
  const std::string path_ = folder_.at("a.h5");
  DatasetReader reader_;
};

TEST_F(Hdf5Reader, RowsFromAnywhereToAnywhere) {
  const auto file = open(path_);
  EXPECT_THAT(reader_.datasets(*file).or_throw(), ElementsAre("/bars", "/more"));
  const DatasetInfo series = reader_.describe(*file, "/bars").or_throw();
  EXPECT_THAT(series.shape, ElementsAre(7, 5, 4));
  EXPECT_EQ(series.words, "int16 [7, 5, 4]");
  // A row of chunks has two chunks of 2 x 3 x 4 numbers.
  EXPECT_EQ(series.memory, DatasetReader::kIdleMemory + Bytes{3 * 2 * 24 * 2});
  for (std::size_t first = 0; first < 35; ++first) {
    for (std::size_t count = 1; first + count <= 35; ++count) {
      std::vector<double> rows(4 * count), expected(4 * count);
      reader_.read(series, 4, first, count, rows.data());
      std::iota(expected.begin(), expected.end(), 4.0 * static_cast<double>(first) - 20);
      ASSERT_EQ(rows, expected) << first << " " << count;
    }
  }
  std::vector<double> rows(400);
  EXPECT_THROW(reader_.read(series, 4, 30, 6, rows.data()), Failure) << "past the end";
  EXPECT_THROW(reader_.read(series, 3, 0, 1, rows.data()), Failure) << "rows of another length";
}

TEST_F(Hdf5Reader, WhatCannotBeReadIsAnErrorAndTheNextOneIsRead) {
  EXPECT_THAT(reader_.describe(*open(path_), "/none").error().message(), HasSubstr(".h5:/none: it cannot be opened"));
  for (const char* bytes : {"words", "", "\x89HDF\r\n\x1a\n"}) {
    const Error error = reader_.datasets(*open(folder_.write("a.txt", bytes))).error();
    EXPECT_EQ(error.code, ErrorCode::bad_data);
    EXPECT_THAT(error.message(), HasSubstr("a.txt: ")) << bytes;
  }
  EXPECT_TRUE(reader_.describe(*open(path_), "/bars").ok());
}

TEST_F(Hdf5Reader, StopsWhenItIsCancelled) {
  bool cancelled = false;
  DatasetReader reader([&] { return cancelled; });
  const auto file = open(path_);
  EXPECT_TRUE(reader.datasets(*file).ok());
  // A helper that is stopped never answers.
  for (const pid_t helper : helpers()) ASSERT_EQ(::kill(helper, SIGSTOP), 0);
  cancelled = true;
  EXPECT_EQ(reader.datasets(*file).error().code, ErrorCode::cancelled);
  cancelled = false;
  EXPECT_TRUE(reader.datasets(*file).ok()) << "by a new helper";
}

TEST_F(Hdf5Reader, TheHelperHasTheFileThatWasOpenedAndNoOther) {
  auto file = open(path_);
  // Another file takes the name.
  write(folder_.at("b.h5"), 500);
  std::filesystem::rename(folder_.at("b.h5"), path_);
  const DatasetInfo series = reader_.describe(*file, "/bars").or_throw();
  EXPECT_EQ(first_value(series), -20);
  file.reset();
  EXPECT_EQ(first_value(series), -20) << "the helper has it still";
  const DatasetInfo now = reader_.describe(*open(path_), "/bars").or_throw();
  EXPECT_EQ(first_value(now), 500);
  // A file that is gone cannot be opened again, and no other is read in its place.
  try {
    first_value(series);
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::conflict);
    EXPECT_THAT(failure.what(), HasSubstr("a.h5: it changed while it was read"));
  }
  EXPECT_EQ(first_value(now), 500);
}

TEST_F(Hdf5Reader, AFileThatTheHelperHasNoMoreIsOpenedAgain) {
  write(folder_.at("b.h5"), 500);
  const DatasetInfo one = reader_.describe(*open(path_), "/bars").or_throw();
  const DatasetInfo other = reader_.describe(*open(folder_.at("b.h5")), "/more").or_throw();
  for (int times = 0; times < 100; ++times) {  // more than it may have open
    EXPECT_EQ(first_value(one), -20);
    EXPECT_EQ(first_value(other), 500);
  }
}

TEST_F(Hdf5Reader, OneThatIsWrittenIsRefused) {
  const int writer = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(writer, LOCK_EX), 0);
  EXPECT_THAT(reader_.datasets(*open(path_)).error().message(),
              HasSubstr("a.h5: another program has it open for writing; close it in that program"));
  for (const char* without : {"FALSE", "0"}) {
    ::setenv("HDF5_USE_FILE_LOCKING", without, 1);
    EXPECT_TRUE(DatasetReader().datasets(*open(path_)).ok());
  }
  ::setenv("HDF5_USE_FILE_LOCKING", "TRUE", 1);
  EXPECT_FALSE(DatasetReader().datasets(*open(path_)).ok());
  ASSERT_EQ(::flock(writer, LOCK_UN), 0);
  EXPECT_TRUE(reader_.datasets(*open(path_)).ok());
  // A file that is being read cannot be locked for writing.
  EXPECT_NE(::flock(writer, LOCK_EX | LOCK_NB), 0);
  ::close(writer);
}

TEST_F(Hdf5Reader, AFilterOfAPlugin) {
  constexpr H5Z_filter_t kTurned = 300;
  const std::string plugins = std::filesystem::path(MILLRACE_HDF5_PLUGIN).parent_path();
  ASSERT_GE(H5PLprepend(plugins.c_str()), 0);
  write(path_, 7, kTurned);
  EXPECT_THAT(reader_.describe(*open(path_), "/bars").error().message(),
              HasSubstr("compressed with the filter 300 (turned)"));
  // A file that is no library is ignored there.
  folder_.write("libnone.so", "words");
  ::setenv("HDF5_PLUGIN_PATH", (folder_.path() + ":" + plugins).c_str(), 1);
  DatasetReader with;
  const DatasetInfo series = with.describe(*open(path_), "/bars").or_throw();
  ::unsetenv("HDF5_PLUGIN_PATH");
  std::vector<double> rows(140), expected(140);
  std::iota(expected.begin(), expected.end(), 7);
  with.read(series, 4, 0, 35, rows.data());
  EXPECT_EQ(rows, expected);
}

// helper_sandbox_test.cc tests what the sandbox refuses.
TEST_F(Hdf5Reader, TheHelperIsSandboxedLikeADecoder) {
  DatasetReader reader({}, 64_MiB);
  ASSERT_TRUE(reader.describe(*open(path_), "/bars").ok());
  const auto pids = helpers();
  ASSERT_EQ(pids.size(), 1U);
  expect_sandboxed(pids[0], !kSanitized);
  if (kSanitized) GTEST_SKIP() << "a sanitizer's helper has no limit";
  // Limit for all that it may allocate, whatever is allowed for a file.
  EXPECT_THAT(limit_of(pids[0], "Max data size"), testing::ContainsRegex(" 268435456 +335544320 "));
}

}  // namespace
}  // namespace millrace::hdf5
