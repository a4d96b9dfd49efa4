// Input: rows of a dataset whose arrays lie in a folder: as .npy files, as files a row, as archives, as lines.
// Output: a part of each under its name.
// Never: encodes: what a row is stored as was made before.
//
// For array NAME, by its extension (a slash in a name is a dot): npy, dat: NAME.npy, one file for all parts, each of
// which has its place in it; csv and jsonl: NAME.csv, whose lines lie in 00012.NAME.csv until all parts are there;
// pairs: NAME.npy, merged of sorted lists, which lie in 00012.NAME.pairs until then (pair_lists.h); tar: an archive a
// part, 00012.tar; another: a file a row, 00012/00000012.png, in a folder that is one part and is synced once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/io/store/dataset.h"
#include "src/io/store/part_bytes.h"

namespace millrace {

// Unfinished files lie in the folder above the one where parts are made.
class FolderPart : public PartWriter {
 public:
  FolderPart(const std::string& folder, const DatasetSpec& spec, Parts parts, std::uint64_t part);
  ~FolderPart() override;
  // All of a part that commit() has left can still be there.
  static bool is_there(const std::string& folder, const DatasetSpec& spec, std::uint64_t part);
  // What commit() leaves last: the part is there.
  static std::string mark(const std::string& folder, const DatasetSpec& spec, std::uint64_t part);

  void append(const RowBlock& block) override;
  void finish() override;
  void commit() override;
  std::vector<FileDigest> digests() const override;

  class Array;

 private:
  std::vector<std::unique_ptr<Array>> arrays_;
  const std::string mark_, work_folder_;
};

// Where the bytes of a part that is there lie; none of one that is not.
PartBytes folder_part_bytes(const std::string& folder, const DatasetSpec& spec, Parts parts, std::uint64_t part);
// A part as it lies in another folder of the same dataset; false where it is not there.
bool import_folder_part(const std::string& from, const std::string& to, const DatasetSpec& spec, Parts parts,
                        std::uint64_t part);
// All parts are there: what lies in parts and is one file in the end is put together. `go_on` is asked now and then,
// and may throw. Digests of those files, and of what files that all parts share begin with.
std::vector<FileDigest> join_folder_parts(const std::string& folder, const DatasetSpec& spec, Parts parts,
                                          const std::function<void()>& go_on);
// True for a file of a part that the finished output keeps.
bool stays_in_output(const DatasetSpec& spec, std::uint64_t part, const std::string& file);
// They were: what only says which parts are there, or was put together, goes.
void tidy_folder_parts(const std::string& folder, const DatasetSpec& spec, Parts parts);

}  // namespace millrace
