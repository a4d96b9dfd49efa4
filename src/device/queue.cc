#include "src/device/queue.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/mutex.h"

namespace millrace {
namespace {

// Largest number of blocks that every driver accepts.
constexpr std::uint64_t kMaxBlocks = 0x7FFFFFFF;
// Bytes of one chunk: large enough that waiting for each chunk is a small part of the time.
constexpr std::size_t kStagingBytes = std::size_t{1} << 20;

// Returns a time reported by a driver, or 0 if it is implausible.
double discard_impossible_time(double seconds) {
  constexpr double kYear = 3e7;
  return seconds >= 0 && seconds < kYear ? seconds : 0;
}

[[noreturn]] void refuse(const KernelEntry& entry, const std::string& why) {
  throw Failure(ErrorCode::internal, fmt::format("the kernel {} is called wrongly: {}", entry.name, why));
}

}  // namespace

Queue::Queue(Accelerator& accelerator) : accelerator_(accelerator), backend_(accelerator.backend().make_queue()) {
  // Later events are timed relative to a first event, whose time of day is determined once.
  first_ = backend_->record();
  backend_->finish();
  first_s_ = accelerator.trace().elapsed_s();
}

Queue::~Queue() { drain(); }

void Queue::drain() {
  if (staging_) hold(staging_);
  try {
    backend_->finish();
  } catch (const Failure&) {
    // The state of pending operations is unknown, so their memory is kept until the process ends.
    static Mutex mutex;
    static auto& lost = *new std::vector<std::shared_ptr<DeviceAllocation>>;
    const MutexLock lock(mutex);
    lost.insert(lost.end(), held_.begin(), held_.end());
    staging_.reset();
  }
  timed_.clear();
  held_.clear();
}

template <typename Copy>
void Queue::copy_in_chunks(std::size_t bytes, const Copy& copy) {
  try {
    for (std::size_t at = 0; at < bytes; at += kStagingBytes) {
      const std::size_t piece = std::min(kStagingBytes, bytes - at);
      if (!staging_ || staging_->size.count < piece) staging_ = accelerator_.allocate_pinned({piece}, "copies");
      copy(staging_->host, at, piece);
    }
  } catch (...) {
    drain();
    throw;
  }
}

void Queue::upload_now(std::span<const std::byte> from, const std::shared_ptr<DeviceAllocation>& to,
                       std::size_t offset) {
  copy_in_chunks(from.size(), [&](std::byte* stage, std::size_t at, std::size_t bytes) {
    std::memcpy(stage, from.data() + at, bytes);
    enqueue_upload(stage, to, offset + at, bytes);
    finish();
  });
}

void Queue::download_now(const std::shared_ptr<DeviceAllocation>& from, std::size_t offset, std::span<std::byte> to) {
  copy_in_chunks(to.size(), [&](std::byte* stage, std::size_t at, std::size_t bytes) {
    enqueue_download(from, offset + at, stage, bytes);
    finish();
    std::memcpy(to.data() + at, stage, bytes);
  });
}

void Queue::check_range(std::size_t at, std::size_t count, std::size_t size) {
  if (at > size || count > size - at) {
    throw Failure(ErrorCode::internal, fmt::format("elements {} to {} of {} on a device", at, at + count, size));
  }
}

void Queue::hold(const std::shared_ptr<DeviceAllocation>& memory) {
  if (std::find(held_.begin(), held_.end(), memory) != held_.end()) return;
  if (memory->owner_event) backend_->wait(*memory->owner_event);
  held_.push_back(memory);
}

template <typename Enqueue>
void Queue::enqueue_timed(What what, std::uint64_t bytes, const Enqueue& enqueue) {
  TimedOperation one{what, bytes, backend_->record(), nullptr};
  enqueue();
  one.end = backend_->record();
  timed_.push_back(std::move(one));
}

void Queue::enqueue_upload(const std::byte* from, const std::shared_ptr<DeviceAllocation>& to, std::size_t offset,
                           std::size_t bytes) {
  if (bytes == 0) return;
  hold(to);
  enqueue_timed(What::upload, bytes, [&] { backend_->upload(from, *to, offset, bytes); });
}

void Queue::enqueue_download(const std::shared_ptr<DeviceAllocation>& from, std::size_t offset, std::byte* to,
                             std::size_t bytes) {
  if (bytes == 0) return;
  hold(from);
  enqueue_timed(What::download, bytes, [&] { backend_->download(*from, offset, to, bytes); });
}

void Queue::enqueue_fill(const std::shared_ptr<DeviceAllocation>& to, std::size_t bytes, std::uint8_t value) {
  if (bytes == 0) return;
  hold(to);
  enqueue_timed(What::fill, 0, [&] { backend_->fill(*to, 0, bytes, value); });
}

void Queue::enqueue_launch(const KernelSource& source, const KernelEntry& entry, std::uint64_t blocks,
                           const std::vector<KernelArgument>& arguments) {
  if (blocks == 0) return;
  if (blocks > kMaxBlocks) refuse(entry, fmt::format("{} blocks", blocks));
  if (arguments.size() != entry.parameters.size()) {
    refuse(entry, fmt::format("{} arguments of {}", arguments.size(), entry.parameters.size()));
  }
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const KernelArgument& argument = arguments[at];
    const char given = argument.array ? 'p' : argument.bytes == 8 ? '8' : '4';
    if (entry.parameters[at] != given || (argument.bytes == 0 && !argument.array)) {
      refuse(entry, fmt::format("argument {} is none of its kind", at));
    }
    if (argument.array) hold(argument.array);
  }
  void* kernel = accelerator_.backend().kernel(source, entry);
  accelerator_.record_launch(entry.name);
  enqueue_timed(What::launch, 0,
                [&] { backend_->launch(kernel, static_cast<unsigned>(blocks), entry.threads, arguments); });
}

QueueEvent Queue::record() { return QueueEvent(backend_->record()); }

void Queue::wait(const QueueEvent& event) {
  if (event.event_) backend_->wait(*event.event_);
}

void Queue::finish() {
  try {
    backend_->finish();
  } catch (const OutOfMemory& failure) {
    // The pending operations have not ended, so smaller batches do not help.
    throw DeviceLost(ErrorCode::unavailable, "the device was lost while " + failure.error().what);
  }
  collect_timings();
  held_.clear();
}

void Queue::collect_timings() {
  DeviceCounts counts;
  Trace& trace = accelerator_.trace();
  for (const TimedOperation& one : timed_) {
    const double begin = first_s_ + discard_impossible_time(backend_->seconds_between(*first_, *one.begin));
    const double took = discard_impossible_time(backend_->seconds_between(*one.begin, *one.end));
    const char* lane = kOnDevice;
    if (one.what == What::upload) {
      lane = kToDevice;
      ++counts.uploads;
      counts.upload_bytes += one.bytes;
      counts.upload_s += took;
    } else if (one.what == What::download) {
      lane = kFromDevice;
      ++counts.downloads;
      counts.download_bytes += one.bytes;
      counts.download_s += took;
    } else {
      counts.launches += one.what == What::launch ? 1 : 0;
      counts.on_device_s += took;
    }
    trace.add_external_work(lane, begin, begin + took, one.bytes);
  }
  timed_.clear();
  accelerator_.add(counts);
}

}  // namespace millrace
