#include "src/io/store/shard_log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/io/store/dataset_for_test.h"

namespace millrace {
namespace {

using namespace for_test;
using Chunks = ShardLog::Chunks;

std::string written(const TemporaryFolder& folder, const DatasetSpec& spec, Chunks chunks) {
  std::string path = folder / "0.log";
  ShardLog log(path, "rows 0 to 9", spec, chunks);
  fill(log, spec, 0, 9, 4, kZlib);
  log.finish();
  log.commit();
  return path;
}

TEST(ShardLog, GivesTheRowsBackAsTheyCame) {
  const TemporaryFolder folder("part_log");
  const DatasetSpec spec = arrays_of(9);
  for (const Chunks chunks : {Chunks::whole, Chunks::digests_only}) {
    auto log = ShardLogReader::open(written(folder, spec, chunks), "rows 0 to 9", spec, chunks);
    ASSERT_TRUE(log);
    EXPECT_EQ(log->rows(), 9);
    EXPECT_EQ(log->chunks().size(), chunks == Chunks::digests_only ? 9 : 0);
    RowBlock block;
    std::uint64_t row = 0;
    while (log->next(block)) {
      const RowBlock expected = rows_of(spec, row, row + block.rows, kZlib);
      for (std::size_t i = chunks == Chunks::digests_only ? 1 : 0; i < spec.arrays.size(); ++i) {
        EXPECT_EQ(block.arrays[i].bytes, expected.arrays[i].bytes);
        EXPECT_EQ(block.arrays[i].lengths, expected.arrays[i].lengths);
      }
      row += block.rows;
    }
    EXPECT_EQ(row, 9);
  }
}

TEST(ShardLog, AnotherOwnersOrADamagedOneIsNone) {
  const TemporaryFolder folder("part_log_damage");
  const DatasetSpec spec = arrays_of(9);
  const std::string path = written(folder, spec, Chunks::digests_only), whole = text_in(path);
  EXPECT_FALSE(ShardLogReader::open(path, "rows 9 to 18", spec, Chunks::digests_only));
  EXPECT_FALSE(ShardLogReader::open(folder / "1.log", "rows 0 to 9", spec, Chunks::digests_only));
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(path, std::ios::binary) << damaged;
    EXPECT_FALSE(ShardLogReader::open(path, "rows 0 to 9", spec, Chunks::digests_only)) << at;
    std::ofstream(path, std::ios::binary) << whole.substr(0, at);
    EXPECT_FALSE(ShardLogReader::open(path, "rows 0 to 9", spec, Chunks::digests_only)) << at;
  }
}

TEST(ChunkFinder, FindsChunksBetweenWhatALibraryPuts) {
  const TemporaryFolder folder("chunk_finder");
  DatasetSpec spec;
  spec.rows = 9;
  spec.arrays = {{.name = "images", .rows = Rows::compressed, .shape = {6}}};
  RowBlock rows;
  rows.clear(1);
  std::string file(3000, 'x');
  std::vector<std::uint64_t> places;
  for (std::size_t i = 0; i < 9; ++i) {
    // The chunks begin alike, as streams of one Huffman code do.
    const std::string chunk = "one code" + std::string(i + 1, static_cast<char>('a' + i));
    rows.arrays[0].append_text(chunk);
    ++rows.rows;
    if (i % 3 == 0) file += "one code, of something else" + std::string(i * 700, 'y');
    places.push_back(file.size());
    file += chunk;
  }
  std::ofstream(folder / "whole", std::ios::binary) << file;
  {
    ShardLog log(folder / "0.log", "all", spec, Chunks::digests_only);
    log.append(rows);
    log.finish();
    log.commit();
  }
  const auto log = ShardLogReader::open(folder / "0.log", "all", spec, Chunks::digests_only);
  ASSERT_TRUE(log);
  ChunkFinder finder(folder / "whole");
  EXPECT_EQ(finder.find(log->front(), log->chunks()), places);
  EXPECT_EQ(finder.find(log->front(), log->chunks()), places) << "from the front again";
  std::vector<std::uint8_t> bytes(9);
  EXPECT_TRUE(finder.read(places[0], bytes));
  EXPECT_EQ(std::string(bytes.begin(), bytes.end()), "one codea");
  file[places[5] + 9] = static_cast<char>(file[places[5] + 9] ^ 1);
  std::ofstream(folder / "damaged", std::ios::binary) << file;
  EXPECT_FALSE(ChunkFinder(folder / "damaged").find(log->front(), log->chunks()));
  EXPECT_FALSE(ChunkFinder(folder / "missing").find(log->front(), log->chunks()));
}

}  // namespace
}  // namespace millrace
