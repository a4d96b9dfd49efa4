#include "src/device/accelerator.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/sizes.h"
#include "src/device/open.h"

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
      asking_(true) {}

Accelerator::~Accelerator() = default;

std::shared_ptr<Accelerator::Opened> Accelerator::open() {
  const MutexLock lock(mutex_);
  if (!opened_) opened_ = std::make_shared<Opened>(device_, options_.memory);
  return opened_;
}

DeviceBackend& Accelerator::backend() { return *open()->backend; }

std::string Accelerator::title() const { return fmt::format("{} ({})", name_of(device_), device_.name); }

bool Accelerator::may_use(const KernelSource& source) const {
  return options_.asked || is_attested(source.hash, device_, options_.attested_here);
}

bool Accelerator::ready(const KernelSource& source, std::span<const KernelEntry> entries,
                        const std::function<bool(Accelerator&)>& known) {
  if (struck_out_ || !may_use(source)) return false;
  if (asking_ || !options_.known_answers) return true;
  const MutexLock lock(ready_mutex_);
  const std::string name(source.name);
  const auto asked = known_.find(name);
  if (asked != known_.end()) return asked->second && !struck_out_;
  bool right = false;
  try {
    right = gives_known_answers(source, entries, known);
  } catch (const OutOfMemory& none) {
    leave(none.error().what);  // lack of memory is no fault of the device
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    strike_out(failure.error().what);
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
      leave(failure.error().what);
      return false;
    }
  }
  for (int left = kTries; left > 0; --left) {
    // A separate object keeps the test's counts out of the run's, and other threads' counts out of the test's.
    Accelerator asked(*this, open());
    const bool right = known(asked);
    const bool all = std::all_of(entries.begin(), entries.end(),
                                 [&](const KernelEntry& entry) { return asked.has_launched(entry); });
    if (asked.struck_out()) {
      strike_out(asked.reason());
      return false;
    }
    if (right && all) return true;
    if (asked.counts().halved > 0) continue;  // memory is short: other processes may hold it for a moment
    strike_out(fmt::format("its kernels of '{}' did not give their known answer", source.name));
    return false;
  }
  leave(
      fmt::format("its memory ({} allowed), or the host's ({}), does not hold what is asked of it first, to see "
                  "whether it computes "
                  "right",
                  to_text(open()->memory->limit(MemoryKind::device)), to_text(host_.limit())));
  return false;
}

void Accelerator::launched(std::string_view entry) {
  const MutexLock lock(mutex_);
  launched_.insert(entry);
}

void Accelerator::strike_out(const std::string& reason, bool fault) {
  {
    const MutexLock lock(mutex_);
    if (struck_out_) return;
    reason_ = reason;
    struck_out_ = true;
  }
  if (fault && options_.on_fault) options_.on_fault(device_);
}

std::string Accelerator::reason() const {
  const MutexLock lock(mutex_);
  return reason_;
}

void Accelerator::leave(const std::string& why) {
  const MutexLock lock(mutex_);
  if (why_left_.empty()) why_left_ = why;
}

std::string Accelerator::why_left() const {
  const MutexLock lock(mutex_);
  return why_left_;
}

std::shared_ptr<DeviceAllocation> Accelerator::allocate(Bytes size, const std::string& purpose) {
  const std::shared_ptr<Opened> opened = open();
  Reservation paid = opened->memory->reserve(size, purpose, MemoryKind::device);
  // A processor behind OpenCL uses the host's memory.
  Reservation shared = device_.is_cpu ? host_.reserve(size, purpose) : Reservation();
  return opened->backend->allocate(size, {std::move(paid), std::move(shared)});
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
