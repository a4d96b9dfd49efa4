// Input: pairs of rows, sorted, 9 bytes a pair: i uint32, j uint32, distance uint8, i < j.
// Output: files of them that say at their end how many they are, and their XXH3; one .npy file of all.
// Never: holds more than a piece of each list that the merge has come to; takes a pair twice, or a list that has lost
// one.
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

// A pair as a file of all of them has it.
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

// There is a file of as many pairs as it says; whether they are what was written is seen when it is merged.
bool is_pair_list(const std::string& path);

// Failure(bad_data) where a list is not what was written, is not sorted, or two of them have the same pair: they were
// not made by runs of one command. `go_on` is asked now and then, and may throw.
FileDigest merge_pair_lists(const std::vector<std::string>& lists, const std::string& npy,
                            const std::function<void()>& go_on);

}  // namespace millrace
