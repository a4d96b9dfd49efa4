#include "src/device/queue.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace {
namespace {

// What no driver refuses.
constexpr std::uint64_t kMostBlocks = 0x7FFFFFFF;

double now_s(Trace& trace) { return trace.elapsed_s(); }

[[noreturn]] void refuse(const KernelEntry& entry, const std::string& why) {
  throw Failure(ErrorCode::internal, fmt::format("the kernel {} is called wrongly: {}", entry.name, why));
}

}  // namespace

Queue::Queue(Accelerator& accelerator) : accelerator_(accelerator), backend_(accelerator.backend().make_queue()) {
  // Its times are told from a first event, which is set against the time of day once.
  first_ = backend_->record();
  backend_->finish();
  first_s_ = now_s(accelerator.trace());
}

Queue::~Queue() { drain(); }

void Queue::drain() {
  try {
    backend_->finish();
  } catch (const Failure&) {  // NOLINT(bugprone-empty-catch): who needed the result is told
  }
  timed_.clear();
  held_.clear();
}

void Queue::check_range(std::size_t at, std::size_t count, std::size_t size) {
  if (at > size || count > size - at) {
    throw Failure(ErrorCode::internal, fmt::format("elements {} to {} of {} on a device", at, at + count, size));
  }
}

void Queue::hold(const std::shared_ptr<DeviceAllocation>& memory) {
  if (std::find(held_.begin(), held_.end(), memory) == held_.end()) held_.push_back(memory);
}

template <typename Enqueue>
void Queue::timed(Lane lane, std::uint64_t bytes, const Enqueue& enqueue) {
  Timed what{lane, bytes, backend_->record(), nullptr};
  enqueue();
  what.end = backend_->record();
  timed_.push_back(std::move(what));
}

void Queue::enqueue_upload(const std::byte* from, const std::shared_ptr<DeviceAllocation>& to, std::size_t offset,
                           std::size_t bytes) {
  if (bytes == 0) return;
  hold(to);
  timed(Lane::to_device, bytes, [&] { backend_->upload(from, *to, offset, bytes); });
}

void Queue::enqueue_download(const std::shared_ptr<DeviceAllocation>& from, std::size_t offset, std::byte* to,
                             std::size_t bytes) {
  if (bytes == 0) return;
  hold(from);
  timed(Lane::from_device, bytes, [&] { backend_->download(*from, offset, to, bytes); });
}

void Queue::enqueue_fill(const std::shared_ptr<DeviceAllocation>& to, std::size_t bytes, std::uint8_t value) {
  if (bytes == 0) return;
  hold(to);
  timed(Lane::on_device, 0, [&] { backend_->fill(*to, 0, bytes, value); });
}

void Queue::enqueue_launch(const KernelSource& source, const KernelEntry& entry, std::uint64_t blocks,
                           const std::vector<KernelArgument>& arguments) {
  if (blocks == 0) return;
  if (blocks > kMostBlocks) refuse(entry, fmt::format("{} blocks", blocks));
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
  accelerator_.launched(entry.name);
  timed(Lane::on_device, 0, [&] { backend_->launch(kernel, static_cast<unsigned>(blocks), entry.threads, arguments); });
}

Event Queue::record() { return Event(backend_->record()); }

void Queue::wait(const Event& event) {
  if (event.event_) backend_->wait(*event.event_);
}

void Queue::finish() {
  backend_->finish();
  settle_times();
  held_.clear();
}

void Queue::settle_times() {
  DeviceCounts counts;
  Trace& trace = accelerator_.trace();
  for (const Timed& what : timed_) {
    const double begin = first_s_ + backend_->seconds_between(*first_, *what.begin);
    const double took = backend_->seconds_between(*what.begin, *what.end);
    const char* lane = kOnDevice;
    if (what.lane == Lane::to_device) {
      lane = kToDevice;
      ++counts.uploads;
      counts.upload_bytes += what.bytes;
      counts.upload_s += took;
    } else if (what.lane == Lane::from_device) {
      lane = kFromDevice;
      ++counts.downloads;
      counts.download_bytes += what.bytes;
      counts.download_s += took;
    } else {
      ++counts.launches;
      counts.on_device_s += took;
    }
    trace.add_elsewhere(lane, begin, begin + took, what.bytes);
  }
  timed_.clear();
  accelerator_.add(counts);
}

}  // namespace millrace
