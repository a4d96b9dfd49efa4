// Input: bytes, piece by piece.
// Output: XXH3, 64 bits, of all of them, however they were cut.
// Never: is a content hash that tells files of strangers apart: 64 bits find damage, not intent.
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
