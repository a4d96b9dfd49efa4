// Input: the memory that an operation or a job needs.
// Output: the number of bytes of each memory kind, so that they can be reserved before the work begins.
// Never: allocates.
#pragma once

#include "include/millrace/array.h"
#include "src/base/sizes.h"

namespace millrace {

// Bytes of each kind, held at the same time. Pinned memory is host memory too, and is counted once: as pinned.
struct Workspace {
  Bytes host{}, pinned{}, device{};

  Bytes of(MemoryKind kind) const {
    return kind == MemoryKind::device ? device : kind == MemoryKind::pinned ? pinned : host;
  }
  Workspace& operator+=(const Workspace& other) {
    host += other.host;
    pinned += other.pinned;
    device += other.device;
    return *this;
  }
  friend Workspace operator+(Workspace a, const Workspace& b) { return a += b; }
  friend Workspace operator*(const Workspace& a, std::uint64_t n) { return {a.host * n, a.pinned * n, a.device * n}; }
  friend bool operator==(const Workspace&, const Workspace&) = default;
};

}  // namespace millrace
