#include "src/memory/budget.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

namespace millrace {

void Reservation::release() {
  if (budget_ != nullptr) budget_->give_back(size_, kind_, is_persistent_);
  budget_ = nullptr;
  size_ = {};
}

void Budget::Pool::add(Bytes size, bool is_persistent) {
  used += size;
  if (is_persistent) persistent_used += size;
  peak = std::max(peak, used);
}

void Budget::Pool::subtract(Bytes size, bool is_persistent) {
  used = used - size;
  if (is_persistent) persistent_used = persistent_used - size;
}

Budget::Budget(const Workspace& limits) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned, MemoryKind::device}) {
    pool(kind).limit = limits.of(kind);
  }
}

void Budget::throw_out_of_memory(Bytes size, const std::string& purpose, MemoryKind kind, Bytes available) const {
  const bool device = kind == MemoryKind::device;
  throw OutOfMemory(
      ErrorCode::out_of_memory,
      fmt::format("{} needs {}{}, but only {} of {} is available", purpose, format_bytes(size),
                  device ? " of device memory" : "", format_bytes(available), format_bytes(pool(kind).limit)),
      {},
      device ? "run it on a device with more memory, or on the CPU with --device cpu"
             : fmt::format("raise --memory by at least {}", format_bytes(size - available)));
}

bool Budget::fits(Bytes size, MemoryKind kind) const {
  return pool(kind).fits(size) && (kind != MemoryKind::pinned || pool(MemoryKind::host).fits(size));
}

Reservation Budget::grant(Bytes size, MemoryKind kind, bool is_persistent) {
  pool(kind).add(size, is_persistent);
  if (kind == MemoryKind::pinned) pool(MemoryKind::host).add(size, is_persistent);
  return {this, size, kind, is_persistent};
}

Reservation Budget::reserve(Bytes size, const std::string& purpose, MemoryKind kind) {
  const MutexLock lock(mutex_);
  if (!fits(size, kind)) {
    const Bytes host = pool(MemoryKind::host).left(), own = pool(kind).left();
    throw_out_of_memory(size, purpose, kind, kind == MemoryKind::pinned ? std::min(host, own) : own);
  }
  return grant(size, kind, true);
}

Reservation Budget::reserve_up_to(Bytes each, std::size_t& count, const std::string& purpose) {
  for (; count > 1; count /= 2) {
    if (auto some = try_reserve(each * count)) return std::move(*some);
  }
  if (auto one = try_reserve(each * count)) return std::move(*one);
  return reserve(each * count, purpose);  // throws an error that gives the reason
}

ReservedWorkspace Budget::reserve_all(const Workspace& size, const std::string& purpose) {
  ReservedWorkspace out;
  // When a later reservation is refused, the destructor of `out` returns the earlier ones.
  out.host = reserve(size.host, purpose);
  if (size.pinned.count > 0) out.pinned = reserve(size.pinned, purpose, MemoryKind::pinned);
  if (size.device.count > 0) out.device = reserve(size.device, purpose, MemoryKind::device);
  return out;
}

std::optional<Reservation> Budget::try_reserve(Bytes size) {
  const MutexLock lock(mutex_);
  if (!fits(size, MemoryKind::host)) return std::nullopt;
  return grant(size, MemoryKind::host, false);
}

std::optional<Reservation> Budget::wait_for(Bytes size, const std::string& purpose,
                                            const std::function<bool()>& cancelled) {
  MutexLock lock(mutex_);
  const Pool& host = pool(MemoryKind::host);
  while (!host.fits(size)) {
    const Bytes reachable = host.limit < host.persistent_used ? Bytes{} : host.limit - host.persistent_used;
    if (size > reachable) throw_out_of_memory(size, purpose, MemoryKind::host, reachable);
    if (cancelled()) return std::nullopt;
    // A signal handler sets the cancel flag and cannot notify the condition variable, so the flag is polled every 50
    // ms.
    returned_.wait_for(lock, std::chrono::milliseconds(50));
  }
  return grant(size, MemoryKind::host, false);
}

void Budget::give_back(Bytes size, MemoryKind kind, bool is_persistent) {
  {
    const MutexLock lock(mutex_);
    pool(kind).subtract(size, is_persistent);
    if (kind == MemoryKind::pinned) pool(MemoryKind::host).subtract(size, is_persistent);
  }
  returned_.notify_all();
}

Bytes Budget::limit(MemoryKind kind) const {
  const MutexLock lock(mutex_);
  return pool(kind).limit;
}

Bytes Budget::used(MemoryKind kind) const {
  const MutexLock lock(mutex_);
  return pool(kind).used;
}

Bytes Budget::peak(MemoryKind kind) const {
  const MutexLock lock(mutex_);
  return pool(kind).peak;
}

Bytes Budget::largest_grant() const {
  const MutexLock lock(mutex_);
  const Pool& host = pool(MemoryKind::host);
  return host.limit < host.persistent_used ? Bytes{} : host.limit - host.persistent_used;
}

namespace {

struct ProcessStatus {
  long parent = 0;
  Bytes now, peak;
};

ProcessStatus status_of(const std::string& pid) {
  ProcessStatus status;
  std::ifstream in("/proc/" + pid + "/status");
  for (std::string line; std::getline(in, line);) {
    const auto number = [&] { return std::strtoull(line.c_str() + line.find(':') + 1, nullptr, 10); };
    if (line.starts_with("PPid:")) status.parent = static_cast<long>(number());
    if (line.starts_with("VmRSS:")) status.now = {number() * 1024};
    if (line.starts_with("VmHWM:")) status.peak = {number() * 1024};
  }
  return status;
}

}  // namespace

ResidentMemory resident_memory() {
  const ProcessStatus self = status_of("self");
  ResidentMemory total{self.now, self.peak};
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return total;
  const long me = getpid();
  while (const dirent* entry = readdir(proc)) {
    if (entry->d_name[0] < '1' || entry->d_name[0] > '9') continue;
    const ProcessStatus status = status_of(entry->d_name);
    if (status.parent != me) continue;
    total.now += status.now;
    total.peak += status.peak;
  }
  closedir(proc);
  return total;
}

}  // namespace millrace
