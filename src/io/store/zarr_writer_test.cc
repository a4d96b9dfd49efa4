#include "src/io/store/zarr_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>

#include "src/base/json.h"
#include "src/io/store/dataset_for_test.h"

namespace millrace {
namespace {

using namespace for_test;

void write(const std::string& folder, const DatasetSpec& spec, ShardLayout parts, std::uint64_t together) {
  write_zarr_metadata(folder, spec, parts.each, {});
  for (std::uint64_t k = parts.count(); k-- > 0;) {
    ZarrShardWriter part(folder, spec, parts.each, k);
    fill(part, spec, parts.begin(k), parts.end(k), together, kGzip);
    part.finish();
    part.commit();
  }
}

template <typename T>
T at(const std::string& bytes, std::size_t offset) {
  T out{};
  std::memcpy(&out, bytes.data() + offset, sizeof out);
  return out;
}

TEST(ZarrWriter, DescribesEveryArray) {
  const TemporaryFolder folder("zarr_types");
  write(folder / "z", arrays_of(7), {7, 3}, 2);
  const auto json = [&](const char* name) { return Json::parse(text_in(folder / "z/" + name + "/zarr.json")); };
  const std::map<std::string, std::string> types = {
      {"images", "uint8"},        {"half", "float16"},      {"brain", "bfloat16"},  {"wide", "float64"},
      {"index/number", "uint32"}, {"index/name", "string"}, {"index/time", "int64"}};
  for (const auto& [name, type] : types) {
    const auto array = json(name.c_str());
    EXPECT_EQ(array["data_type"], type);
    EXPECT_EQ(array["shape"][0], 7);
    EXPECT_EQ(array["chunk_grid"]["configuration"]["chunk_shape"][0], 3);
  }
  EXPECT_EQ(json("index")["node_type"], "group");
  EXPECT_EQ(json("wide")["attributes"]["steps"], (std::vector<int>{1, -5}));
  EXPECT_EQ(Json::parse(text_in(folder / "z/zarr.json"))["attributes"]["made"], "by hand");
}

TEST(ZarrWriter, ShardsAtTheEndAreAsLongAsOthers) {
  const TemporaryFolder folder("zarr_end");
  write(folder / "z", arrays_of(7), {7, 3}, 2);
  const std::string wide = text_in(folder / "z/wide/c/2"), half = text_in(folder / "z/half/c/2/0"),
                    brain = text_in(folder / "z/brain/c/2"), names = text_in(folder / "z/index/name/c/2");
  ASSERT_EQ(wide.size(), 24);
  EXPECT_EQ(at<double>(wide, 0), 2.0);
  EXPECT_TRUE(std::isnan(at<double>(wide, 8)) && std::isnan(at<double>(wide, 16)));
  ASSERT_EQ(half.size(), 12);
  EXPECT_EQ(at<std::uint16_t>(half, 4), 0x7E00);
  ASSERT_EQ(brain.size(), 6);
  EXPECT_EQ(at<std::uint16_t>(brain, 2), 0x7FC0);
  // Number of names, then the length of each: row 6 has no name, and two rows are missing.
  ASSERT_EQ(names.size(), 16);
  EXPECT_EQ(at<std::uint32_t>(names, 0), 3U);
}

TEST(ZarrWriter, AShardTellsWhereItsRowsLie) {
  const TemporaryFolder folder("zarr_shard");
  write(folder / "z", arrays_of(7), {7, 3}, 1);
  for (const std::uint64_t part : {0, 2}) {
    const std::string shard = text_in(folder / "z/images/c/" + std::to_string(part) + "/0/0");
    const std::size_t index = shard.size() - 4 - 3 * 16;
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto offset = at<std::uint64_t>(shard, index + 16 * i),
                 bytes = at<std::uint64_t>(shard, index + 16 * i + 8);
      if (3 * part + i >= 7) {
        EXPECT_EQ(offset, ~std::uint64_t{0});
        EXPECT_EQ(bytes, ~std::uint64_t{0});
        continue;
      }
      EXPECT_EQ(offset, expected);
      EXPECT_EQ(bytes, compressed(pixels_of(3 * part + i), kGzip).size());
      expected += bytes;
    }
  }
}

TEST(ZarrWriter, BytesDoNotDependOnTheBlocks) {
  const TemporaryFolder folder("zarr_blocks");
  write(folder / "one", arrays_of(20), {20, 8}, 1);
  write(folder / "all", arrays_of(20), {20, 8}, 8);
  EXPECT_EQ(files_in(folder / "one"), files_in(folder / "all"));
}

TEST(ZarrWriter, AShardIsThereOnceItsFirstArrayIs) {
  const TemporaryFolder folder("zarr_commit");
  const DatasetSpec spec = arrays_of(6);
  {
    ZarrShardWriter part(folder / "z", spec, 3, 0);
    fill(part, spec, 0, 3, 3, kGzip);
    part.finish();
  }
  EXPECT_FALSE(std::filesystem::exists(zarr_shard_path(folder / "z", spec, 0)));
  EXPECT_FALSE(import_zarr_shard(folder / "z", folder / "copy", spec, 0));
  write(folder / "z", spec, {6, 3}, 3);
  write_zarr_metadata(folder / "copy", spec, 3, {});
  EXPECT_TRUE(import_zarr_shard(folder / "z", folder / "copy", spec, 0));
  EXPECT_TRUE(import_zarr_shard(folder / "z", folder / "copy", spec, 1));
  EXPECT_EQ(files_in(folder / "z"), files_in(folder / "copy"));
}

}  // namespace
}  // namespace millrace
