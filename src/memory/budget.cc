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
  if (budget_ != nullptr) budget_->give_back(size_, purpose_, stands_);
  budget_ = nullptr;
  size_ = {};
}

void Budget::refuse(Bytes size, const std::string& purpose, Bytes available) const {
  throw OutOfMemory(
      ErrorCode::out_of_memory,
      fmt::format("{} needs {}, and {} of {} can be had", purpose, to_text(size), to_text(available), to_text(limit_)),
      {}, fmt::format("allow at least {} more with --memory", to_text(size - available)));
}

Reservation Budget::grant(Bytes size, const std::string& purpose, bool stands) {
  used_ += size;
  if (stands) standing_ += size;
  peak_ = std::max(peak_, used_);
  purposes_[purpose] += size;
  return {this, size, purpose, stands};
}

Reservation Budget::reserve(Bytes size, const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  if (!fits(size)) refuse(size, purpose, limit_ < used_ ? Bytes{} : limit_ - used_);
  return grant(size, purpose, true);
}

std::optional<Reservation> Budget::try_reserve(Bytes size, const std::string& purpose) {
  const std::lock_guard lock(mutex_);
  if (!fits(size)) return std::nullopt;
  return grant(size, purpose, false);
}

std::optional<Reservation> Budget::wait_for(Bytes size, const std::string& purpose,
                                            const std::function<bool()>& cancelled) {
  std::unique_lock lock(mutex_);
  while (!fits(size)) {
    const Bytes reachable = limit_ < standing_ ? Bytes{} : limit_ - standing_;
    if (size > reachable) refuse(size, purpose, reachable);
    if (cancelled()) return std::nullopt;
    // A cancel is a flag set by a signal handler, which cannot notify; so look at it now and then.
    returned_.wait_for(lock, std::chrono::milliseconds(50));
  }
  return grant(size, purpose, false);
}

void Budget::give_back(Bytes size, const std::string& purpose, bool stands) {
  {
    const std::lock_guard lock(mutex_);
    used_ = used_ - size;
    if (stands) standing_ = standing_ - size;
    Bytes& of_purpose = purposes_[purpose];
    of_purpose = of_purpose - size;
  }
  returned_.notify_all();
}

Bytes Budget::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

Bytes Budget::peak() const {
  const std::lock_guard lock(mutex_);
  return peak_;
}

Bytes Budget::largest_grant() const {
  const std::lock_guard lock(mutex_);
  return limit_ < standing_ ? Bytes{} : limit_ - standing_;
}

std::map<std::string, Bytes> Budget::by_purpose() const {
  const std::lock_guard lock(mutex_);
  return purposes_;
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
