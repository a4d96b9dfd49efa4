// Input: a device that a person chose, and how far it is trusted.
// Output: it opened for one run: memory within a limit, kernels that gave their known answers, what was moved and done.
// Never: gives an answer that a device gave wrongly once: from then on it is struck out, and says why.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/choice.h"
#include "src/device/attested.h"
#include "src/device/backend.h"
#include "src/device/device.h"
#include "src/device/routing.h"
#include "src/memory/budget.h"
#include "src/trace/trace.h"

namespace millrace {

// How many of the batches that a device computes the CPU computes as well.
enum class Verify : std::uint8_t { all, sample, none };
constexpr std::array<Choice<Verify>, 3> choices_of(Verify) {
  return {{{"all", Verify::all}, {"sample", Verify::sample}, {"none", Verify::none}}};
}

struct AcceleratorOptions {
  Verify verify = Verify::sample;
  Bytes memory = {};                      // the most of the device's; none: 90 % of what is free when it is opened
  std::uint64_t batch = 0;                // the most items at once; 0: as many as fit
  std::optional<DeviceRates> rates = {};  // as they were measured here; none: they were not
  bool known_answers = true;  // are asked for before the first use; not where tests look at what comes behind
  bool asked = true;          // by a person: otherwise only attested kernels are used, and only where they gain
  std::vector<LocalAttestation> attested_here = {};
  // Told of a device that is struck out by a fault of its own, which want of memory is not. It does not throw.
  std::function<void(const Device&)> on_fault = {};
};

// What went on, for people and for the JSON of a run.
struct DeviceCounts {
  std::uint64_t uploads = 0, upload_bytes = 0, downloads = 0, download_bytes = 0, launches = 0;
  double upload_s = 0, on_device_s = 0, download_s = 0;
  std::uint64_t batches = 0;    // computed by the device
  std::uint64_t verified = 0;   // of them by the CPU too
  std::uint64_t fell_back = 0;  // computed by the CPU in its place
  std::uint64_t halved = 0;     // times that memory did not do
  Bytes peak;                   // of the device's memory
};

class Accelerator {
 public:
  // Opens nothing yet. `budget` pays for pinned memory, `trace` gets the lanes; both outlive this.
  Accelerator(Device device, const AcceleratorOptions& options, Budget& budget, Trace& trace);
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const Device& device() const { return device_; }
  const AcceleratorOptions& options() const { return options_; }

  // Whether a run may use these kernels at all: a person asked for the device, or hardware has attested them.
  bool may_use(const KernelSource& source) const;
  // Whether they are used: the device can be opened and compiles them, and `known`, asked once a run, found its answers
  // with all of `entries`. Where it did not, the device is struck out for the whole run; where they alone cannot be
  // compiled, only they are not used. Waits for another thread that is asking.
  bool ready(const KernelSource& source, std::span<const KernelEntry> entries,
             const std::function<bool(Accelerator&)>& known);

  // Not used from now on. The first reason stands.
  void strike_out(const std::string& reason, bool fault = true);
  bool struck_out() const { return struck_out_; }
  // Why it was struck out, "it gave another answer than the CPU"; empty while it is used.
  std::string reason() const;
  // Why work that could have been done here was the CPU's; the first reason stands.
  void leave(const std::string& why);
  std::string why_left() const;
  // "cuda:0 (NVIDIA H200)".
  std::string title() const;

  // OutOfMemory as a budget gives it, or as the device does.
  std::shared_ptr<DeviceAllocation> allocate(Bytes size, const std::string& purpose);
  std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, const std::string& purpose);
  // As DeviceBackend::adopt() has it; `name` is what messages call it.
  std::shared_ptr<DeviceAllocation> adopt(const void* data, Bytes size, const std::string& name);
  // What allocate() would still give.
  Bytes free_memory();

  DeviceCounts counts() const;
  // Adds to the counts.
  void add(const DeviceCounts& more);

  DeviceBackend& backend();
  Trace& trace() { return trace_; }
  // A kernel of this name was begun.
  void launched(std::string_view entry);

 private:
  // The device as it is open, which its known answers are asked of as well.
  struct Opened;

  // The same device, with nothing said or counted of it yet.
  Accelerator(const Accelerator& of, std::shared_ptr<Opened> opened);
  std::shared_ptr<Opened> open();
  bool gives_known_answers(const KernelSource& source, std::span<const KernelEntry> entries,
                           const std::function<bool(Accelerator&)>& known);

  const Device device_;
  const AcceleratorOptions options_;
  Budget& host_;
  Trace& trace_;
  mutable std::mutex mutex_;
  std::mutex ready_mutex_;  // held while known answers are asked for
  std::shared_ptr<Opened> opened_;
  const bool asking_ = false;            // this is what known answers are asked of
  std::map<std::string, bool> known_;    // by source
  std::set<std::string_view> launched_;  // names of entries, which are constants
  DeviceCounts counts_;
  std::atomic<bool> struck_out_{false};
  std::string reason_, why_left_;
};

}  // namespace millrace
