// Enters: charts as gzip streams of their pixels, with the numbers that they were drawn from.
// Leaves: a Zarr group of version 3 whose images lie in shards, so that a million charts are not a million files.
// Never: compresses.
//
// The group: `images` [N, H, W] (or what the layout says), an inner chunk a chart, codec gzip, in shards of `each`
// charts; `sequences`, `labels`, `index/file`, `index/row` and `index/date` beside it, uncompressed, in chunks of
// `each`. Sources: the Zarr core specification 3.0 with its codecs bytes, gzip, crc32c and sharding_indexed; the
// extensions `string` and vlen-utf8 for dates.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/io/store/chart_block.h"

namespace millrace {

// The description of the group and of every array in it. Throws Failure.
void write_zarr_metadata(const std::string& folder, const ChartLayout& layout, std::uint64_t each);
// The file of a shard's images: what has it is whole.
std::string zarr_shard_path(const std::string& folder, const ChartLayout& layout, std::uint64_t shard);

class ZarrShard : public ChartSink {
 public:
  ZarrShard(const std::string& folder, const ChartLayout& layout, std::uint64_t each, std::uint64_t shard);
  ~ZarrShard() override;
  void append(const ChartBlock& block) override;
  void finish() override;
  void commit() override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace
