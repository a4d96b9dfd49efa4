// Input: sorted pairs of rows, 9 bytes each: i uint32, j uint32, distance uint8, i < j.
// Output: files of pairs that end with their number and their XXH3; one .npy file of all pairs.
// Never: holds more than a block of each list in the merge; takes a pair twice, or a list that has lost a pair.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/io/file/atomic_file.h"
#include "src/io/tensor/npy.h"

namespace millrace {

// Fields of a pair in the merged file.
const std::vector<npy::Field>& pair_fields();
inline constexpr std::size_t kPairRowBytes = 9;

class PairListWriter {
 public:
  explicit PairListWriter(std::string path);
  ~PairListWriter();
  void append(std::span<const std::byte> rows);
  void finish();
  void commit() { file_.commit(); }
  FileDigest digest() const { return file_.digest(); }

 private:
  AtomicFile file_;
  struct Hash;
  const std::unique_ptr<Hash> hash_;
  std::uint64_t pairs_ = 0;
};

// Returns true if the file has as many pairs as it states. The pairs themselves are checked when the list is merged.
bool is_pair_list(const std::string& path);

// Merges lists into one .npy file and returns its digest. Failure(bad_data) if a list is damaged or not sorted, or two
// lists have the same pair: they were not made by runs of one command. `check_cancelled` is called now and then, and
// may throw.
FileDigest merge_pair_lists(const std::vector<std::string>& lists, const std::string& npy,
                            const std::function<void()>& check_cancelled);

}  // namespace millrace
