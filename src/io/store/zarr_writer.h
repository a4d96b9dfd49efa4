// Input: rows of a dataset, those of compressed arrays as gzip streams.
// Output: a Zarr group of version 3 whose compressed arrays lie in shards, so that a million rows are not a million
//   files.
// Never: compresses.
//
// The group: an array an array; compressed ones with an inner chunk a row, codec gzip, in shards of `each` rows; others
// beside them, uncompressed, in chunks of `each`; a table is a group of its columns. Sources: the Zarr core
// specification 3.0 with its codecs bytes, gzip, crc32c and sharding_indexed; the extensions `string` and vlen-utf8
// for texts, `bfloat16`.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "src/io/store/dataset.h"
#include "src/io/store/part_bytes.h"

namespace millrace {

// The description of the group, with the checksums of all chunks, and of every array in it. Throws Failure.
void write_zarr_metadata(const std::string& folder, const DatasetSpec& spec, std::uint64_t each,
                         std::span<const FileDigest> checksums);
// The file that a part gets last: what has it is whole.
std::string zarr_part_path(const std::string& folder, const DatasetSpec& spec, std::uint64_t part);

// Where the bytes of a part that is there lie; none of one that is not.
PartBytes zarr_part_bytes(const std::string& folder, const DatasetSpec& spec, std::uint64_t part);
// A part as it lies in another folder of the same dataset; false where it is not there.
bool import_zarr_part(const std::string& from, const std::string& to, const DatasetSpec& spec, std::uint64_t part);

// Part `part` of each array: a chunk, or a shard of chunks.
class ZarrPart : public PartWriter {
 public:
  ZarrPart(const std::string& folder, const DatasetSpec& spec, std::uint64_t each, std::uint64_t part);
  ~ZarrPart() override;
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
