// Input: rows of a dataset whose arrays are files in a folder: .npy files, a file per row, archives, or lines.
// Output: a shard of each array under its name.
// Never: encodes: a row arrives in the form in which it is stored.
//
// Files of array NAME, by its extension (a slash in a name becomes a dot):
// - npy, dat: NAME.npy, one file for all shards, each at its own offset;
// - csv, jsonl: NAME.csv, whose lines are in 00012.NAME.csv until all shards are there;
// - pairs: NAME.npy, merged from sorted lists, which are in 00012.NAME.pairs until then (pair_lists.h);
// - tar: an archive per shard, 00012.tar;
// - any other: a file per row, 00012/00000012.png, in a folder per shard that is synced once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/dataset.h"
#include "src/io/store/shard_bytes.h"

namespace millrace {

// Writer of one shard. Temporary files are in the folder above the one that holds the shards.
class FolderShardWriter : public ShardWriter {
 public:
  FolderShardWriter(const std::string& folder, const DatasetSpec& spec, ShardLayout layout, std::uint64_t shard);
  ~FolderShardWriter() override;
  // Returns true if the shard has its mark and its pair lists have their full length.
  static bool is_finished(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard);
  // Returns the path of the file or folder that commit() creates last: it marks the shard as finished.
  static std::string mark_path(const std::string& folder, const DatasetSpec& spec, std::uint64_t shard);

  void append(const RowBlock& block) override;
  void finish() override;
  void commit() override;
  std::vector<FileDigest> digests() const override;

  class Array;

 private:
  std::vector<std::unique_ptr<Array>> arrays_;
  const std::string mark_, work_folder_;
};

// Returns where the bytes of a finished shard are; empty for a shard that is not finished.
ShardBytes folder_shard_bytes(const std::string& folder, const DatasetSpec& spec, ShardLayout layout,
                              std::uint64_t shard);
// Copies a shard from another folder of the same dataset; false if it is not there.
bool import_folder_shard(const std::string& from, const std::string& to, const DatasetSpec& spec, ShardLayout layout,
                         std::uint64_t shard);
// Merges files of shards that are one file in the end; all shards must be finished. `check_cancelled` is called now and
// then, and may throw. Returns the digests of the merged files, and of the headers of files that all shards share.
std::vector<FileDigest> merge_folder_shards(const std::string& folder, const DatasetSpec& spec, ShardLayout layout,
                                            const std::function<void()>& check_cancelled);
// Returns true for a file of a shard that the finished output keeps.
bool is_kept_in_output(const DatasetSpec& spec, std::uint64_t shard, const std::string& file);
// Removes the marks of shards and the files that were merged.
void remove_merged_shards(const std::string& folder, const DatasetSpec& spec, ShardLayout layout);

}  // namespace millrace
