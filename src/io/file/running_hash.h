// Input: bytes, in blocks of any size.
// Output: the 64-bit XXH3 hash of all bytes, independent of the block sizes.
// Never: serves as a content hash for files of strangers: 64 bits detect damage, not intent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "src/io/file/xxh3.h"

namespace millrace {

class RunningHash {
 public:
  RunningHash() { XXH3_64bits_reset(state_.get()); }
  void update(std::span<const std::byte> bytes) { XXH3_64bits_update(state_.get(), bytes.data(), bytes.size()); }
  std::uint64_t digest() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_{XXH3_createState(), XXH3_freeState};
};

}  // namespace millrace
