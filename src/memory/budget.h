// Input: how much memory a job may use, and requests for parts of it.
// Output: reservations that give their part back when they end, and a peak for the report.
// Never: allocates; src/memory/buffer.h does. Never lets a request wait for what will not come.
//
// A reservation stands or passes. What stands is held for a job, or a step of one: tables, helper processes, the items
// that a chain has in flight. What passes is held for one item and comes back when that is through, whatever else
// happens: whoever holds it must not wait for more. So a request can wait for what passes, never for what stands.
//
// Each kind of memory has a limit of its own. What is pinned is the host's: it has to fit within both limits.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/memory/workspace.h"

namespace millrace {

// A request that can never fit, or did not fit now. A type of its own so that a batch can be halved on it.
class OutOfMemory : public Failure {
 public:
  using Failure::Failure;
};

class Budget;

// A part of a budget, given back by the destructor. Movable, and empty after a move.
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
  Reservation(Budget* budget, Bytes size, MemoryKind kind, bool stands)
      : budget_(budget), size_(size), kind_(kind), stands_(stands) {}
  void swap(Reservation& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(size_, other.size_);
    std::swap(kind_, other.kind_);
    std::swap(stands_, other.stands_);
  }

  Budget* budget_ = nullptr;
  Bytes size_;
  MemoryKind kind_ = MemoryKind::host;
  bool stands_ = false;
};

// What was reserved of a Workspace, all of it together.
struct ReservedWorkspace {
  Reservation host, pinned, device;
};

// One job's memory. Thread-safe.
class Budget {
 public:
  // None but the host's; pinned memory as much as that.
  explicit Budget(Bytes limit) : Budget(Workspace{limit, limit, {}}) {}
  explicit Budget(const Workspace& limits);
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  // What stands: at once, or OutOfMemory naming the purpose, the size asked for and what is free.
  Reservation reserve(Bytes size, const std::string& purpose, MemoryKind kind = MemoryKind::host);
  // All of it, or OutOfMemory and nothing.
  ReservedWorkspace reserve_all(const Workspace& size, const std::string& purpose);
  // What passes: at once, or nothing.
  std::optional<Reservation> try_reserve(Bytes size);
  // The same, for as many of `count` things as there is room for, by halving it; OutOfMemory where that is none.
  Reservation reserve_some(Bytes each, std::size_t& count, const std::string& purpose);
  // What passes: waits until others give back enough. OutOfMemory when `size` exceeds what waiting can bring: the limit
  // less what stands. Returns nothing when `cancelled` becomes true.
  std::optional<Reservation> wait_for(Bytes size, const std::string& purpose, const std::function<bool()>& cancelled);

  Bytes limit(MemoryKind kind = MemoryKind::host) const { return pool(kind).limit; }
  Bytes used(MemoryKind kind = MemoryKind::host) const;
  Bytes peak(MemoryKind kind = MemoryKind::host) const;
  // The most that a single waiting request can be granted.
  Bytes largest_grant() const;

 private:
  friend class Reservation;
  struct Pool {
    Bytes limit, used, peak, standing;
    bool fits(Bytes size) const { return limit >= used && limit - used >= size; }
    Bytes left() const { return limit < used ? Bytes{} : limit - used; }
    void add(Bytes size, bool stands);
    void take_off(Bytes size, bool stands);
  };
  Pool& pool(MemoryKind kind) { return pools_[static_cast<std::size_t>(kind) - 1]; }
  const Pool& pool(MemoryKind kind) const { return pools_[static_cast<std::size_t>(kind) - 1]; }
  void give_back(Bytes size, MemoryKind kind, bool stands);
  Reservation grant(Bytes size, MemoryKind kind, bool stands);
  bool fits(Bytes size, MemoryKind kind) const;
  [[noreturn]] void refuse(Bytes size, const std::string& purpose, MemoryKind kind, Bytes available) const;

  mutable std::mutex mutex_;
  std::condition_variable returned_;
  std::array<Pool, 3> pools_;  // by MemoryKind, which begins with 1
};

// Resident memory of this process and of its live children now, and their peaks, as the system counts them.
struct ResidentMemory {
  Bytes now, peak;
};
ResidentMemory resident_memory();

}  // namespace millrace
