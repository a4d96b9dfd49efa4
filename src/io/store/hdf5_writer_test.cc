#include "src/io/store/hdf5_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/io/store/dataset_for_test.h"
#include "src/io/store/hdf5_handle.h"

namespace millrace {
namespace {

using namespace for_test;
using hdf5::Handle;

template <typename T>
std::vector<T> read(const std::string& path, const char* name, hid_t type, std::size_t values) {
  const Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose};
  const Handle set{H5Dopen2(file.get(), name, H5P_DEFAULT), H5Dclose};
  std::vector<T> out(values);
  EXPECT_GE(H5Dread(set.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), 0) << name;
  return out;
}

std::string written(const TemporaryFolder& folder, std::uint64_t rows, std::uint64_t together) {
  std::string path = folder / ("of" + std::to_string(together) + ".h5");
  const DatasetSpec spec = arrays_of(rows);
  Hdf5Writer writer(path, spec);
  fill(writer, spec, 0, rows, together, kZlib);
  writer.finish();
  writer.commit();
  return path;
}

TEST(Hdf5Writer, EveryTypeIsReadAsWhatItWas) {
  const TemporaryFolder folder("hdf5_writer");
  const std::string path = written(folder, 10, 4);
  const auto pixels = read<std::uint8_t>(path, "images", H5T_NATIVE_UINT8, 60);
  // The library converts the numbers: the result for two bytes shows whether it knows their type.
  const auto half = read<float>(path, "half", H5T_NATIVE_FLOAT, 20);
  const auto brain = read<float>(path, "brain", H5T_NATIVE_FLOAT, 10);
  const auto wide = read<double>(path, "wide", H5T_NATIVE_DOUBLE, 10);
  struct Row {
    std::uint32_t number;
    char name[7];
    std::int64_t time;
  } __attribute__((packed));
  const Handle type{H5Tcreate(H5T_COMPOUND, sizeof(Row)), H5Tclose};
  const Handle text{H5Tcopy(H5T_C_S1), H5Tclose};
  H5Tset_size(text.get(), 7);
  H5Tset_strpad(text.get(), H5T_STR_NULLPAD);
  H5Tset_cset(text.get(), H5T_CSET_UTF8);
  H5Tinsert(type.get(), "number", 0, H5T_NATIVE_UINT32);
  H5Tinsert(type.get(), "name", 4, text.get());
  H5Tinsert(type.get(), "time", 11, H5T_NATIVE_INT64);
  const auto index = read<Row>(path, "index", type.get(), 10);
  for (std::size_t row = 0; row < 10; ++row) {
    const auto expected = pixels_of(row);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), pixels.begin() + static_cast<std::ptrdiff_t>(6 * row)));
    EXPECT_EQ(half[2 * row], 1);
    EXPECT_EQ(half[2 * row + 1], -static_cast<float>(2 << row % 4));
    EXPECT_EQ(brain[row], static_cast<float>(1 << row % 3));
    EXPECT_EQ(wide[row], static_cast<double>(row) / 3);
    EXPECT_EQ(index[row].number, row);
    EXPECT_EQ(std::string(index[row].name, strnlen(index[row].name, 7)), name_of_row(row));
    EXPECT_EQ(index[row].time, static_cast<std::int64_t>(row) - 5);
  }
  hdf5::DatasetReader reader;
  const Attributes attributes = hdf5::attributes_of(reader, path).or_throw();
  EXPECT_EQ(attributes, (Attributes{{"empty", ""}, {"made", "by hand"}}));
}

TEST(Hdf5Writer, BytesDoNotDependOnTheBlocks) {
  const TemporaryFolder folder("hdf5_blocks");
  const std::string one = text_in(written(folder, 50, 1));
  EXPECT_EQ(text_in(written(folder, 50, 7)), one);
  EXPECT_EQ(text_in(written(folder, 50, 50)), one);
}

TEST(Hdf5Writer, NothingHasTheNameBeforeTheEnd) {
  const TemporaryFolder folder("hdf5_end");
  const std::string path = folder / "a.h5";
  const DatasetSpec spec = arrays_of(5);
  {
    Hdf5Writer writer(path, spec);
    fill(writer, spec, 0, 4, 2, kZlib);
    EXPECT_THROW(writer.finish(), Failure);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(files_in(folder / "").empty());
  hdf5::DatasetReader reader;
  EXPECT_FALSE(hdf5::attributes_of(reader, path));
}

TEST(Hdf5Writer, ShardsAreMappedRowByRow) {
  const TemporaryFolder folder("hdf5_parts");
  std::filesystem::create_directory(folder / "a.parts");
  const DatasetSpec spec = arrays_of(7);
  const ShardLayout parts{7, 3};
  for (std::uint64_t k = 0; k < parts.count(); ++k) {
    DatasetSpec part = spec;
    part.rows = parts.end(k) - parts.begin(k);
    Hdf5Writer writer(folder / ("a.parts/" + std::to_string(k) + ".h5"), part, Hdf5Writer::Shard{parts.each});
    fill(writer, part, parts.begin(k), parts.end(k), 2, kZlib);
    writer.finish();
    writer.commit();
  }
  const std::string path = folder / "a.h5";
  {
    Hdf5Writer writer(path, spec, Hdf5Writer::Mapped{"a.parts", parts.each});
    hdf5::DatasetReader reader;
    EXPECT_THROW(writer.append_rest(reader, folder / "a.parts/0.h5", 2), Failure) << "it has another number of rows";
    for (std::uint64_t k = 0; k < parts.count(); ++k)
      writer.append_rest(reader, folder / ("a.parts/" + std::to_string(k) + ".h5"), parts.end(k) - parts.begin(k));
    EXPECT_THROW(writer.append_rest(reader, folder / "a.parts/0.h5", 3), Failure) << "there is no room for more rows";
    writer.finish();
    writer.commit();
  }
  const auto pixels = read<std::uint8_t>(path, "images", H5T_NATIVE_UINT8, 42);
  const auto wide = read<double>(path, "wide", H5T_NATIVE_DOUBLE, 7);
  for (std::size_t row = 0; row < 7; ++row) {
    EXPECT_EQ(pixels[6 * row], pixels_of(row)[0]);
    EXPECT_EQ(wide[row], static_cast<double>(row) / 3);
  }
}

// Replaces the dataset `wide` of a shard by one whose data are elsewhere, in one of three ways.
void lead_elsewhere(const std::string& part, const std::string& other, int how) {
  const hsize_t rows = 3;
  const hdf5::Handle file{H5Fopen(part.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose};
  const hdf5::Handle space{H5Screate_simple(1, &rows, nullptr), H5Sclose};
  const hdf5::Handle creation{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  ASSERT_GE(H5Ldelete(file.get(), "wide", H5P_DEFAULT), 0);
  if (how == 0) {
    ASSERT_GE(H5Lcreate_external(other.c_str(), "wide", file.get(), "wide", H5P_DEFAULT, H5P_DEFAULT), 0);
    return;
  }
  if (how == 1) {
    ASSERT_GE(H5Pset_external(creation.get(), other.c_str(), 0, H5F_UNLIMITED), 0);
  } else {
    ASSERT_GE(H5Pset_virtual(creation.get(), space.get(), other.c_str(), "wide", space.get()), 0);
  }
  const hdf5::Handle set{
      H5Dcreate2(file.get(), "wide", H5T_IEEE_F64LE, space.get(), H5P_DEFAULT, creation.get(), H5P_DEFAULT), H5Dclose};
  ASSERT_GE(set.get(), 0);
}

TEST(Hdf5Writer, AShardThatLeadsElsewhereIsRefused) {
  for (int how = 0; how < 3; ++how) {
    const TemporaryFolder folder("hdf5_elsewhere");
    const std::string other = written(folder, 3, 3), part = folder / "part.h5";
    std::filesystem::copy_file(other, part);
    const DatasetSpec spec = arrays_of(3);
    {
      // The reader's helper keeps the file open, and locked against programs that would write to it.
      hdf5::DatasetReader reader;
      Hdf5Writer writer(folder / "good.h5", spec, Hdf5Writer::Mapped{"a.parts", 3});
      writer.append_rest(reader, part, 3);
    }
    lead_elsewhere(part, other, how);
    hdf5::DatasetReader reader;
    Hdf5Writer writer(folder / "bad.h5", spec, Hdf5Writer::Mapped{"a.parts", 3});
    EXPECT_THROW(writer.append_rest(reader, part, 3), Failure) << how;
  }
}

}  // namespace
}  // namespace millrace
