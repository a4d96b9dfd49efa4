// Input: the memory limit of a job, and requests for shares of it.
// Output: reservations, which return their share when they end, and the peak use for the report.
// Never: allocates; src/memory/buffer.h does. Never lets a request wait for memory that cannot become free.
//
// A reservation is persistent or transient. A persistent one is held for a job or a step of it: tables, helper
// processes, items that a chain has in flight. A transient one is held for one item and returned when that item is
// done, in every case. So the holder of a transient reservation must not wait for more memory. A request can wait for
// transient reservations to be returned, never for persistent ones.
//
// Each kind of memory has its own limit. Pinned memory is host memory too: it must fit within both limits.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "src/base/error.h"
#include "src/base/mutex.h"
#include "src/base/sizes.h"
#include "src/memory/workspace.h"

namespace millrace {

// A request that can never fit, or did not fit now. It has its own type so that callers can catch it and halve a batch.
class OutOfMemory : public Failure {
 public:
  using Failure::Failure;
};

class Budget;

// A share of a budget, returned by the destructor. Movable, and empty after a move.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    Reservation(std::move(other)).swap(*this);
    return *this;
  }
  ~Reservation() { release(); }

  Bytes size() const { return size_; }
  MemoryKind kind() const { return kind_; }
  void release();

 private:
  friend class Budget;
  Reservation(Budget* budget, Bytes size, MemoryKind kind, bool is_persistent)
      : budget_(budget), size_(size), kind_(kind), is_persistent_(is_persistent) {}
  void swap(Reservation& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(size_, other.size_);
    std::swap(kind_, other.kind_);
    std::swap(is_persistent_, other.is_persistent_);
  }

  Budget* budget_ = nullptr;
  Bytes size_;
  MemoryKind kind_ = MemoryKind::host;
  bool is_persistent_ = false;
};

// Reservations for all memory kinds of one Workspace.
struct ReservedWorkspace {
  Reservation host, pinned, device;
};

// Memory limits and reservations of one job. Thread-safe.
class Budget {
 public:
  // Allows no device memory, and as much pinned memory as host memory.
  explicit Budget(Bytes limit) : Budget(Workspace{limit, limit, {}}) {}
  explicit Budget(const Workspace& limits);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // Makes a persistent reservation at once, or throws OutOfMemory with the purpose, the requested and the free size.
  Reservation reserve(Bytes size, const std::string& purpose, MemoryKind kind = MemoryKind::host);
  // Reserves all kinds of memory in `size`, persistently. If one does not fit, reserves nothing and throws OutOfMemory.
  ReservedWorkspace reserve_all(const Workspace& size, const std::string& purpose);
  // Makes a transient reservation of host memory at once; std::nullopt if it does not fit.
  std::optional<Reservation> try_reserve(Bytes size);
  // Makes a transient reservation for `count` objects of size `each`. Halves `count` until it fits; throws OutOfMemory
  // if not even one fits.
  Reservation reserve_up_to(Bytes each, std::size_t& count, const std::string& purpose);
  // Waits until a transient reservation of `size` fits. Throws OutOfMemory when `size` exceeds the limit minus all
  // persistent reservations, as waiting cannot help then. Returns std::nullopt when `cancelled` becomes true.
  std::optional<Reservation> wait_for(Bytes size, const std::string& purpose, const std::function<bool()>& cancelled);

  Bytes limit(MemoryKind kind = MemoryKind::host) const;
  Bytes used(MemoryKind kind = MemoryKind::host) const;
  Bytes peak(MemoryKind kind = MemoryKind::host) const;
  // Returns the largest size that a single waiting request can be granted.
  Bytes largest_grant() const;

 private:
  friend class Reservation;
  struct Pool {
    Bytes limit, used, peak, persistent_used;
    bool fits(Bytes size) const { return limit >= used && limit - used >= size; }
    Bytes left() const { return limit < used ? Bytes{} : limit - used; }
    void add(Bytes size, bool is_persistent);
    void subtract(Bytes size, bool is_persistent);
  };
  Pool& pool(MemoryKind kind) MILLRACE_REQUIRES(mutex_) { return pools_[static_cast<std::size_t>(kind) - 1]; }
  const Pool& pool(MemoryKind kind) const MILLRACE_REQUIRES(mutex_) {
    return pools_[static_cast<std::size_t>(kind) - 1];
  }
  void give_back(Bytes size, MemoryKind kind, bool is_persistent);
  Reservation grant(Bytes size, MemoryKind kind, bool is_persistent) MILLRACE_REQUIRES(mutex_);
  bool fits(Bytes size, MemoryKind kind) const MILLRACE_REQUIRES(mutex_);
  [[noreturn]] void throw_out_of_memory(Bytes size, const std::string& purpose, MemoryKind kind, Bytes available) const
      MILLRACE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Condition returned_;
  std::array<Pool, 3> pools_ MILLRACE_GUARDED_BY(mutex_);  // indexed by MemoryKind minus 1
};

// Resident memory of this process and its live children, now and at the peak of each, as the system counts it.
struct ResidentMemory {
  Bytes now, peak;
};
ResidentMemory resident_memory();

}  // namespace millrace
