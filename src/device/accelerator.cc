#include "src/device/accelerator.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/device/attested.h"
#include "src/device/open.h"

namespace millrace {
namespace {

constexpr std::uint64_t kCheckedOneIn = 256;

}  // namespace

Accelerator::Accelerator(Device device, const AcceleratorOptions& options, Budget& budget, Trace& trace)
    : device_(std::move(device)), options_(options), host_(budget), trace_(trace) {}

Accelerator::~Accelerator() = default;

void Accelerator::open() {
  if (backend_) return;
  backend_ = open_device(device_);
  const std::uint64_t free = backend_->free_memory().count / 10 * 9;
  // A limit is not what there is.
  const Bytes limit{options_.memory.count > 0 ? options_.memory.count : free};
  memory_ = std::make_unique<Budget>(Workspace{{}, {}, limit});
}

DeviceBackend& Accelerator::backend() {
  open();
  return *backend_;
}

bool Accelerator::ready(const KernelSource& source, const std::function<bool(Accelerator&)>& known) {
  if (struck_out_) return false;
  if (!options_.asked && !is_attested(source.hash, device_.capability)) return false;
  const std::string name(source.name);
  if (const auto asked = known_.find(name); asked != known_.end()) return asked->second;
  // What a known answer takes is asked of the kernels themselves, which asks this again.
  known_[name] = true;
  bool right = false;
  const DeviceCounts before = counts();
  try {
    open();
    right = known(*this);
    if (!right) strike_out(fmt::format("its kernels of '{}' did not give their known answer", name));
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    strike_out(failure.error().what);
  }
  known_[name] = right;
  // What a run did is told without this; and the first batch of its own is checked as well.
  const std::lock_guard lock(mutex_);
  counts_ = before;
  batches_.clear();
  return right;
}

bool Accelerator::is_checked(const KernelEntry& entry) {
  if (options_.verify == Verify::none) return false;
  if (options_.verify == Verify::all) return true;
  const std::lock_guard lock(mutex_);
  return batches_[std::string(entry.name)]++ % kCheckedOneIn == 0;
}

void Accelerator::strike_out(const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (struck_out_) return;
  reason_ = fmt::format("{} ({}) was not used any more: {}", name_of(device_), device_.name, reason);
  struck_out_ = true;
}

std::string Accelerator::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

std::shared_ptr<DeviceAllocation> Accelerator::allocate(Bytes size, const std::string& purpose) {
  open();
  Reservation paid = memory_->reserve(size, purpose, MemoryKind::device);
  return backend_->allocate(size, std::move(paid));
}

std::shared_ptr<DeviceAllocation> Accelerator::allocate_pinned(Bytes size, const std::string& purpose) {
  open();
  return backend_->allocate_pinned(size, host_.reserve(size, purpose, MemoryKind::pinned));
}

Bytes Accelerator::free_memory() {
  open();
  const Bytes limit = memory_->limit(MemoryKind::device), used = memory_->used(MemoryKind::device);
  return {limit < used ? 0 : (limit - used).count};
}

DeviceCounts Accelerator::counts() const {
  const std::lock_guard lock(mutex_);
  DeviceCounts out = counts_;
  if (memory_) out.peak = memory_->peak(MemoryKind::device);
  return out;
}

void Accelerator::add(const DeviceCounts& more) {
  const std::lock_guard lock(mutex_);
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
