#include "src/io/store/hdf5_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "src/io/store/hdf5_handle.h"

namespace millrace::hdf5 {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Hdf5Reader : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "reader_" + std::to_string(getpid()) + "_" +
            testing::UnitTest::GetInstance()->current_test_info()->name() + ".h5";
    be_quiet();
    const Handle file{H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose};
    const std::array<hsize_t, 3> shape = {7, 5, 4}, chunk = {2, 3, 4};
    const Handle space{H5Screate_simple(3, shape.data(), nullptr), H5Sclose};
    const Handle how{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
    H5Pset_chunk(how.get(), 3, chunk.data());
    H5Pset_deflate(how.get(), 1);
    std::vector<std::int16_t> values(140);
    std::iota(values.begin(), values.end(), -20);
    for (const char* name : {"bars", "more"}) {
      const Handle set{H5Dcreate2(file.get(), name, H5T_STD_I16BE, space.get(), H5P_DEFAULT, how.get(), H5P_DEFAULT),
                       H5Dclose};
      ASSERT_GE(H5Dwrite(set.get(), H5T_NATIVE_INT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    }
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
  Reader reader_;
};

TEST_F(Hdf5Reader, RowsFromAnywhereToAnywhere) {
  EXPECT_THAT(reader_.datasets(path_).or_throw(), ElementsAre("/bars", "/more"));
  const Series series = reader_.describe(path_, "/bars").or_throw();
  EXPECT_THAT(series.shape, ElementsAre(7, 5, 4));
  EXPECT_EQ(series.words, "int16 [7, 5, 4]");
  // A row of chunks is two of 2 x 3 x 4.
  EXPECT_EQ(series.memory, Reader::kIdleMemory + Bytes{3 * 2 * 24 * 2});
  for (std::size_t first = 0; first < 35; ++first) {
    for (std::size_t count = 1; first + count <= 35; ++count) {
      std::vector<double> rows(4 * count), expected(4 * count);
      reader_.read(path_, series, 4, first, count, rows.data());
      std::iota(expected.begin(), expected.end(), 4.0 * static_cast<double>(first) - 20);
      ASSERT_EQ(rows, expected) << first << " " << count;
    }
  }
  std::vector<double> rows(400);
  EXPECT_THROW(reader_.read(path_, series, 4, 30, 6, rows.data()), Failure) << "past the end";
  EXPECT_THROW(reader_.read(path_, series, 3, 0, 1, rows.data()), Failure) << "rows of another length";
}

TEST_F(Hdf5Reader, WhatCannotBeReadIsAnErrorAndTheNextOneIsRead) {
  EXPECT_THAT(reader_.describe(path_, "/none").error().message(), HasSubstr(".h5:/none: it cannot be opened"));
  EXPECT_THAT(reader_.datasets(path_ + ".none").error().message(), HasSubstr("no HDF5 file"));
  std::ofstream(path_ + ".txt") << "words";
  EXPECT_EQ(reader_.datasets(path_ + ".txt").error().code, ErrorCode::bad_data);
  std::filesystem::remove(path_ + ".txt");
  EXPECT_TRUE(reader_.describe(path_, "/bars").ok());
}

TEST_F(Hdf5Reader, StopsWhenItIsCancelled) {
  // What never answers: a pipe that nobody writes to.
  const std::string pipe = path_ + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  bool cancelled = false;
  Reader reader([&] { return cancelled; });
  EXPECT_TRUE(reader.datasets(path_).ok());
  cancelled = true;
  EXPECT_EQ(reader.datasets(pipe).error().code, ErrorCode::cancelled);
  cancelled = false;
  EXPECT_TRUE(reader.datasets(path_).ok()) << "by a new helper";
  std::filesystem::remove(pipe);
}

}  // namespace
}  // namespace millrace::hdf5
