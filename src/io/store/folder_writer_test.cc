#include "src/io/store/folder_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/io/store/dataset_for_test.h"
#include "src/io/store/tar.h"
#include "src/io/tensor/npy.h"

namespace millrace {
namespace {

using namespace for_test;

DatasetSpec pictures(std::uint64_t rows, const std::string& extension) {
  DatasetSpec out;
  out.rows = rows;
  out.arrays = {{.name = "images", .rows = Rows::files, .extension = extension},
                {.name = "values", .type = kFloat16, .shape = {2}, .extension = "npy"},
                {.name = "plain", .type = kUint8, .extension = "dat"},
                {.name = "index", .rows = Rows::texts, .extension = "csv", .header = "row,name"}};
  if (extension == "npy") out.arrays[0] = {.name = "images", .type = kUint8, .shape = {6}, .extension = "npy"};
  return out;
}

RowBlock file_rows(const DatasetSpec& spec, std::uint64_t begin, std::uint64_t end) {
  RowBlock out;
  out.clear(4);
  for (std::uint64_t row = begin; row < end; ++row) {
    const auto pixels = pixels_of(row);
    out.arrays[0].append(std::span<const std::uint8_t>(pixels));
    if (spec.arrays[0].rows == Rows::files) out.arrays[0].lengths.push_back(6);
    out.arrays[1].append(static_cast<std::uint16_t>(row));
    out.arrays[1].append(std::uint16_t{0x3C00});
    out.arrays[2].append(static_cast<std::uint8_t>(row));
    out.arrays[3].append_text(std::to_string(row) + "," + name_of_row(row) + "\n");
    ++out.rows;
  }
  return out;
}

void write(const std::string& folder, const DatasetSpec& spec, ShardLayout layout, std::uint64_t k,
           std::uint64_t together) {
  FolderShardWriter part(folder, spec, layout, k);
  for (std::uint64_t at = layout.begin(k); at < layout.end(k); at += together) {
    part.append(file_rows(spec, at, std::min(layout.end(k), at + together)));
  }
  part.finish();
  part.commit();
}

class FolderWriter : public ::testing::TestWithParam<const char*> {};

TEST_P(FolderWriter, ShardsInAnyOrderAreOneDataset) {
  const TemporaryFolder folder("folder_parts");
  const DatasetSpec spec = pictures(7, GetParam());
  const ShardLayout layout{7, 3};
  for (const auto& [name, order, together] :
       {std::tuple{"forward", std::vector<std::uint64_t>{0, 1, 2}, 1}, {"backward", {2, 1, 0}, 3}}) {
    std::filesystem::create_directory(folder / name);
    for (const std::uint64_t k : order) {
      EXPECT_FALSE(std::filesystem::exists(FolderShardWriter::mark_path(folder / name, spec, k)));
      write(folder / name, spec, layout, k, static_cast<std::uint64_t>(together));
      EXPECT_TRUE(std::filesystem::exists(FolderShardWriter::mark_path(folder / name, spec, k)));
    }
    merge_folder_shards(folder / name, spec, layout, [] {});
    remove_merged_shards(folder / name, spec, layout);
  }
  const auto files = files_in(folder / "forward");
  EXPECT_EQ(files, files_in(folder / "backward"));
  EXPECT_EQ(files.at("index.csv"), "row,name\n0,\n1,n1\n2,n2\n3,\n4,n4\n5,n5\n6,\n");
  EXPECT_EQ(files.at("plain.dat"), std::string("\0\1\2\3\4\5\6", 7));
  const npy::Header header = npy::read_header(folder / "forward/values.npy").or_throw();
  EXPECT_EQ(header.words(), "float16 [7, 2]");
  EXPECT_EQ(files.at("values.npy").size(), header.data_offset + 28);
}

TEST_P(FolderWriter, AnImportedShardIsTheSame) {
  const TemporaryFolder folder("folder_import");
  const DatasetSpec spec = pictures(7, GetParam());
  const ShardLayout layout{7, 3};
  for (const char* name : {"all", "left", "right"}) std::filesystem::create_directory(folder / name);
  for (std::uint64_t k = 0; k < layout.count(); ++k) {
    write(folder / "all", spec, layout, k, 2);
    write(k % 2 == 0 ? folder / "left" : folder / "right", spec, layout, k, 3);
  }
  EXPECT_FALSE(import_folder_shard(folder / "right", folder / "left", spec, layout, 0));
  EXPECT_TRUE(import_folder_shard(folder / "right", folder / "left", spec, layout, 1));
  EXPECT_EQ(files_in(folder / "left"), files_in(folder / "all"));
}

INSTANTIATE_TEST_SUITE_P(Images, FolderWriter, ::testing::Values("png", "tar", "npy"));

TEST(FolderWriterNames, FilesHaveTheNumbersOfTheirRows) {
  const TemporaryFolder folder("folder_names");
  const DatasetSpec spec = pictures(7, "png");
  write(folder / "", spec, {7, 3}, 1, 2);
  const auto files = files_in(folder / "");
  for (std::uint64_t row = 3; row < 6; ++row) {
    const auto pixels = pixels_of(row);
    EXPECT_EQ(files.at("00001/0000000" + std::to_string(row) + ".png"), std::string(pixels.begin(), pixels.end()));
  }
}

TEST(FolderWriterNames, NpyRefusesBfloat16ByName) {
  const TemporaryFolder folder("folder_bfloat16");
  DatasetSpec spec = pictures(7, "png");
  spec.arrays[1].type = kBfloat16;
  try {
    const FolderShardWriter part(folder / "", spec, {7, 3}, 0);
    FAIL() << "bfloat16 was written";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error().code, ErrorCode::usage);
    EXPECT_NE(failure.error().what.find("bfloat16"), std::string::npos);
  }
}

TEST(FolderWriterNames, AnArchiveEndsAsTarDoes) {
  const TemporaryFolder folder("folder_tar");
  write(folder / "", pictures(3, "tar"), {3, 3}, 0, 1);
  EXPECT_TRUE(files_in(folder / "").at("00000.tar").ends_with(tar_end()));
}

}  // namespace
}  // namespace millrace
