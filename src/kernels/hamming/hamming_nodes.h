// Enters: codes, one a row.
// Leaves: which rows hold equal codes, and each node's code, in the order of first rows.
// Never: compares codes that are not equal in a 64-bit hash.
#pragma once

#include "src/kernels/hamming/hamming.h"

namespace millrace::hamming {

template <typename Code>
struct Collapsed {
  Nodes nodes;
  Buffer<Code> codes;  // of each node
  Reservation memory;  // that of `codes`
};

template <typename Code>
Collapsed<Code> collapse(std::span<const Code> rows, const Executor& executor, Budget& budget);

extern template Collapsed<std::uint64_t> collapse(std::span<const std::uint64_t>, const Executor&, Budget&);
extern template Collapsed<Code256> collapse(std::span<const Code256>, const Executor&, Budget&);

// Asks the kernel for huge pages: scattering 10 M codes to thousands of places misses the TLB
// otherwise.
void advise_huge_pages(void* data, std::size_t bytes);

template <typename T>
void allocate(Buffer<T>& buffer, std::size_t count) {
  const bool grows = count > buffer.size();
  buffer.resize(count);
  if (grows) advise_huge_pages(buffer.data(), count * sizeof(T));
}

// Rows are cut into this many ranges for counting and scattering; more ranges cost more counters.
// The result does not depend on it.
inline std::size_t ranges_for(std::size_t count, const Executor& executor) {
  const std::size_t most = 4 * static_cast<std::size_t>(executor.threads());
  const std::size_t fitting = count / 8192 + 1;
  return fitting < most ? fitting : most;
}

void throw_if_cancelled(const Executor& executor);

}  // namespace millrace::hamming
