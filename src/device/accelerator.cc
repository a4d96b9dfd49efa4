#include "src/device/accelerator.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/sizes.h"
#include "src/device/open_device.h"

namespace millrace {

struct Accelerator::Opened {
  explicit Opened(const Device& device, Bytes limit) : backend(open_device(device)) {
    const Bytes free{backend->free_memory().count / 10 * 9};
    // A limit may exceed the memory that exists.
    memory = std::make_unique<Budget>(Workspace{{}, {}, limit.count > 0 ? limit : free});
  }
  std::unique_ptr<Budget> memory;  // outlives the reservations made in it
  std::unique_ptr<DeviceBackend> backend;
};

Accelerator::Accelerator(Device device, const AcceleratorOptions& options, Budget& budget, Trace& trace)
    : device_(std::move(device)), options_(options), host_(budget), trace_(trace) {}

Accelerator::Accelerator(const Accelerator& of, std::shared_ptr<Opened> opened)
    : device_(of.device_),
      options_(of.options_),
      host_(of.host_),
      trace_(of.trace_),
      opened_(std::move(opened)),
      is_self_test_(true) {}

Accelerator::~Accelerator() = default;

std::shared_ptr<Accelerator::Opened> Accelerator::open() {
  const MutexLock lock(mutex_);
  if (!opened_) opened_ = std::make_shared<Opened>(device_, options_.memory);
  return opened_;
}

DeviceBackend& Accelerator::backend() { return *open()->backend; }

std::string Accelerator::title() const { return fmt::format("{} ({})", name_of(device_), device_.name); }

bool Accelerator::is_allowed(const KernelSource& source) const {
  return options_.asked || is_attested(source.hash, device_, options_.attested_here);
}

bool Accelerator::prepare_kernels(const KernelSource& source, std::span<const KernelEntry> entries,
                                  const std::function<bool(Accelerator&)>& known) {
  if (is_excluded_ || !is_allowed(source)) return false;
  if (is_self_test_ || !options_.known_answers) return true;
  const MutexLock lock(ready_mutex_);
  const std::string name(source.name);
  const auto asked = known_.find(name);
  if (asked != known_.end()) return asked->second && !is_excluded_;
  bool right = false;
  try {
    right = gives_known_answers(source, entries, known);
  } catch (const OutOfMemory& none) {
    record_fallback(none.error().what);  // lack of memory is no fault of the device
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    exclude_device(failure.error().what);
  }
  known_[name] = right;
  return right;
}

bool Accelerator::gives_known_answers(const KernelSource& source, std::span<const KernelEntry> entries,
                                      const std::function<bool(Accelerator&)>& known) {
  constexpr int kTries = 3;
  for (const KernelEntry& entry : entries) {
    try {
      backend().kernel(source, entry);
    } catch (const DeviceLost&) {
      throw;
    } catch (const Failure& failure) {
      if (failure.error().code != ErrorCode::unavailable) throw;
      record_fallback(failure.error().what);
      return false;
    }
  }
  for (int left = kTries; left > 0; --left) {
    // A separate object keeps the test's counts out of the run's, and other threads' counts out of the test's.
    Accelerator asked(*this, open());
    const bool right = known(asked);
    const bool all = std::all_of(entries.begin(), entries.end(),
                                 [&](const KernelEntry& entry) { return asked.has_launched(entry); });
    if (asked.is_excluded()) {
      exclude_device(asked.reason());
      return false;
    }
    if (right && all) return true;
    if (asked.counts().halved > 0) continue;  // memory is short: other processes may hold it for a moment
    exclude_device(fmt::format("its kernels of '{}' did not give their known answer", source.name));
    return false;
  }
  record_fallback(fmt::format(
      "the known-answer test does not fit in its memory (the limit is {}) or in the host's (the limit is {})",
      format_bytes(open()->memory->limit(MemoryKind::device)), format_bytes(host_.limit())));
  return false;
}

void Accelerator::record_launch(std::string_view entry) {
  const MutexLock lock(mutex_);
  launched_.insert(entry);
}

void Accelerator::exclude_device(const std::string& reason, bool fault) {
  {
    const MutexLock lock(mutex_);
    if (is_excluded_) return;
    reason_ = reason;
    is_excluded_ = true;
  }
  if (fault && options_.on_fault) options_.on_fault(device_);
}

std::string Accelerator::reason() const {
  const MutexLock lock(mutex_);
  return reason_;
}

void Accelerator::record_fallback(const std::string& why) {
  const MutexLock lock(mutex_);
  if (fallback_reason_.empty()) fallback_reason_ = why;
}

std::string Accelerator::fallback_reason() const {
  const MutexLock lock(mutex_);
  return fallback_reason_;
}

std::shared_ptr<DeviceAllocation> Accelerator::allocate(Bytes size, const std::string& purpose) {
  const std::shared_ptr<Opened> opened = open();
  Reservation own = opened->memory->reserve(size, purpose, MemoryKind::device);
  // A processor behind OpenCL uses the host's memory.
  Reservation shared = device_.is_cpu ? host_.reserve(size, purpose) : Reservation();
  return opened->backend->allocate(size, {std::move(own), std::move(shared)});
}

std::shared_ptr<DeviceAllocation> Accelerator::allocate_pinned(Bytes size, const std::string& purpose) {
  return backend().allocate_pinned(size, {host_.reserve(size, purpose, MemoryKind::pinned), Reservation()});
}

std::shared_ptr<DeviceAllocation> Accelerator::adopt(const void* data, Bytes size, const std::string& name) {
  try {
    return backend().adopt(reinterpret_cast<std::uintptr_t>(data), size);
  } catch (const Failure& failure) {
    if (failure.error().code != ErrorCode::usage) throw;
    throw Failure(ErrorCode::usage, fmt::format("{} ({})", failure.error().what, title()), name,
                  failure.error().remedy);
  }
}

Bytes Accelerator::free_memory() {
  const Budget& memory = *open()->memory;
  const Bytes limit = memory.limit(MemoryKind::device), used = memory.used(MemoryKind::device);
  const std::uint64_t left = limit < used ? 0 : (limit - used).count;
  if (!device_.is_cpu) return {left};
  const Bytes host = host_.limit(), taken = host_.used();
  return {std::min(left, host < taken ? 0 : (host - taken).count)};
}

bool Accelerator::has_launched(const KernelEntry& entry) const {
  const MutexLock lock(mutex_);
  return launched_.count(entry.name) > 0;
}

DeviceCounts Accelerator::counts() const {
  const MutexLock lock(mutex_);
  DeviceCounts out = counts_;
  if (opened_) out.peak = opened_->memory->peak(MemoryKind::device);
  return out;
}

void Accelerator::add(const DeviceCounts& more) {
  const MutexLock lock(mutex_);
  counts_.uploads += more.uploads;
  counts_.upload_bytes += more.upload_bytes;
  counts_.downloads += more.downloads;
  counts_.download_bytes += more.download_bytes;
  counts_.launches += more.launches;
  counts_.upload_s += more.upload_s;
  counts_.on_device_s += more.on_device_s;
  counts_.download_s += more.download_s;
  counts_.batches += more.batches;
  counts_.verified += more.verified;
  counts_.fell_back += more.fell_back;
  counts_.halved += more.halved;
}

}  // namespace millrace
