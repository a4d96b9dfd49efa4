// Input: rows of a dataset; rows of compressed arrays as gzip streams.
// Output: a Zarr 3 group whose compressed arrays are sharded, so that a million rows are not a million files.
// Never: compresses.
//
// The group has an array for each array of the dataset. Compressed arrays have an inner chunk per row, codec gzip, in
// Zarr shards of `each` rows. The others are uncompressed, in chunks of `each` rows. A table is a group of its columns.
// Sources: the Zarr core specification 3.0 with its codecs bytes, gzip, crc32c and sharding_indexed; the extensions
// `string` and vlen-utf8 for texts, `bfloat16`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/io/store/dataset.h"
#include "src/io/store/shard_bytes.h"

namespace millrace {

// Writes the metadata of the group, with the checksums of all chunks, and of every array in it. Throws Failure.
void write_zarr_metadata(const std::string& folder, const DatasetSpec& spec, std::uint64_t each,
                         std::span<const FileDigest> checksums);
// Returns the file of a shard that is written last: if it is there, the shard is complete.
std::string zarr_shard_path(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard);

// Returns where the bytes of a finished shard are; empty for a shard that is not finished.
ShardBytes zarr_shard_bytes(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard);
// Copies a shard from another folder of the same dataset; false if it is not there.
bool import_zarr_shard(const std::string& from, const std::string& to, const DatasetSpec& spec, std::uint64_t shard);

// Writer of shard `shard` of each array: a chunk, or a Zarr shard of chunks.
class ZarrShardWriter : public ShardWriter {
 public:
  ZarrShardWriter(const std::string& folder, const DatasetSpec& spec, std::uint64_t each, std::uint64_t shard);
  ~ZarrShardWriter() override;
  void append(const RowBlock& block) override;
  void finish() override;
  void commit() override;
  std::vector<FileDigest> digests() const override;

 private:
  class Chunk;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  const std::uint64_t each_;
  std::uint64_t rows_ = 0;
};

}  // namespace millrace
