// Enters: a device that a person chose, and how far it is trusted.
// Leaves: it opened for one run: memory within a limit, kernels that gave their known answers, what was moved and done.
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
#include <string>

#include "src/base/choice.h"
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
  bool asked = true;  // by a person: otherwise only attested kernels are used, and only where they gain
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

  // Whether this source's kernels may be used: the device can be opened and compiles them, and `known`, asked once a
  // run, found its answers. Otherwise the device is struck out, for the whole run.
  bool ready(const KernelSource& source, const std::function<bool(Accelerator&)>& known);
  // Whether the CPU has to compute the next batch of this kernel too: the first, and one in 256 from then on.
  bool is_checked(const KernelEntry& entry);

  // Not used from now on. The first reason stands.
  void strike_out(const std::string& reason);
  bool struck_out() const { return struck_out_; }
  // "cuda:0 (NVIDIA H200) was not used any more: ..."; empty while it is used.
  std::string reason() const;

  // OutOfMemory as a budget gives it, or as the device does.
  std::shared_ptr<DeviceAllocation> allocate(Bytes size, const std::string& purpose);
  std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, const std::string& purpose);
  // What allocate() would still give.
  Bytes free_memory();

  DeviceCounts counts() const;
  // Adds to the counts.
  void add(const DeviceCounts& more);

  DeviceBackend& backend();
  Trace& trace() { return trace_; }

 private:
  void open();

  const Device device_;
  const AcceleratorOptions options_;
  Budget& host_;
  Trace& trace_;
  mutable std::mutex mutex_;
  std::unique_ptr<Budget> memory_;
  std::unique_ptr<DeviceBackend> backend_;
  std::map<std::string, bool> known_;
  std::map<std::string, std::uint64_t> batches_;
  DeviceCounts counts_;
  std::atomic<bool> struck_out_{false};
  std::string reason_;
};

}  // namespace millrace
