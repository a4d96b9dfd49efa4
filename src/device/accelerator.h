// Input: a device chosen for a run, and the options that say how far it is trusted.
// Output: the opened device: memory within a limit, kernels that gave their known answers, and counts of its work.
// Never: uses a device that has given a wrong answer: it is then excluded for the rest of the run, with the reason.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/choice.h"
#include "src/base/mutex.h"
#include "src/device/attested.h"
#include "src/device/backend.h"
#include "src/device/device.h"
#include "src/device/routing.h"
#include "src/memory/budget.h"
#include "src/trace/trace.h"

namespace millrace {

// Share of a device's batches that the CPU computes too, for comparison.
enum class VerifyMode : std::uint8_t { all, sample, none };
constexpr std::array<Choice<VerifyMode>, 3> choices_of(VerifyMode) {
  return {{{"all", VerifyMode::all}, {"sample", VerifyMode::sample}, {"none", VerifyMode::none}}};
}

struct AcceleratorOptions {
  VerifyMode verify = VerifyMode::sample;
  Bytes memory = {};                      // maximum of the device's memory; 0: 90 % of what is free when it is opened
  std::uint64_t batch = 0;                // maximum number of items at once; 0: as many as fit
  std::optional<DeviceRates> rates = {};  // as measured on this machine; none: not measured
  bool known_answers = true;  // test with known answers before the first use; false in tests of later stages
  bool asked = true;          // requested by a user; otherwise only attested kernels that gain time are used
  std::vector<LocalAttestation> attested_here = {};
  // Called when the device is excluded for a fault of its own; lack of memory is no such fault. Must not throw.
  std::function<void(const Device&)> on_fault = {};
};

// Counts of a device's work, for people and for the JSON of a run.
struct DeviceCounts {
  std::uint64_t uploads = 0, upload_bytes = 0, downloads = 0, download_bytes = 0, launches = 0;
  double upload_s = 0, on_device_s = 0, download_s = 0;
  std::uint64_t batches = 0;    // computed by the device
  std::uint64_t verified = 0;   // of those, also computed by the CPU
  std::uint64_t fell_back = 0;  // computed by the CPU instead
  std::uint64_t halved = 0;     // times that memory did not suffice
  Bytes peak;                   // of the device's memory
};

class Accelerator {
 public:
  // Does not open the device yet. `budget` reserves pinned memory, `trace` receives the lanes; both must outlive this
  // object.
  Accelerator(Device device, const AcceleratorOptions& options, Budget& budget, Trace& trace);
  ~Accelerator();
  Accelerator(const Accelerator&) = delete;
  Accelerator& operator=(const Accelerator&) = delete;

  const Device& device() const { return device_; }
  const AcceleratorOptions& options() const { return options_; }

  // True if a run may use these kernels at all: a user requested the device, or the kernels are attested for it.
  bool is_allowed(const KernelSource& source) const;
  // True if the kernels will be used: the device opens and compiles them, and `known` returns true after launching all
  // `entries`. `known` is called at most once per run and source, unless memory was short. A wrong answer excludes the
  // device for the whole run. A compilation that fails excludes only these kernels. Waits for another thread that is
  // testing.
  bool prepare_kernels(const KernelSource& source, std::span<const KernelEntry> entries,
                       const std::function<bool(Accelerator&)>& known);

  // Excludes the device from now on. The first reason is kept.
  void exclude_device(const std::string& reason, bool fault = true);
  bool is_excluded() const { return is_excluded_; }
  // Returns why the device was excluded: "it gave another answer than the CPU"; empty while it is used.
  std::string reason() const;
  // Records why the CPU did work that the device could have done. The first reason is kept.
  void record_fallback(const std::string& why);
  std::string fallback_reason() const;
  // Returns "cuda:0 (NVIDIA H200)".
  std::string title() const;

  // Throw OutOfMemory if the budget or the device has too little.
  std::shared_ptr<DeviceAllocation> allocate(Bytes size, const std::string& purpose);
  std::shared_ptr<DeviceAllocation> allocate_pinned(Bytes size, const std::string& purpose);
  // Adopts memory like DeviceBackend::adopt(); `name` identifies it in messages.
  std::shared_ptr<DeviceAllocation> adopt(const void* data, Bytes size, const std::string& name);
  // Returns the number of bytes that allocate() can still provide.
  Bytes free_memory();

  DeviceCounts counts() const;
  bool has_launched(const KernelEntry& entry) const;
  // Adds to the counts of this device.
  void add(const DeviceCounts& more);

  DeviceBackend& backend();
  Trace& trace() { return trace_; }
  // Records that a kernel of this name was launched.
  void record_launch(std::string_view entry);

 private:
  // The opened device, which the known-answer tests use as well.
  struct Opened;

  // Wraps the same opened device, without failures, reasons and counts.
  Accelerator(const Accelerator& of, std::shared_ptr<Opened> opened);
  std::shared_ptr<Opened> open();
  bool gives_known_answers(const KernelSource& source, std::span<const KernelEntry> entries,
                           const std::function<bool(Accelerator&)>& known);

  const Device device_;
  const AcceleratorOptions options_;
  Budget& host_;
  Trace& trace_;
  mutable Mutex mutex_;
  Mutex ready_mutex_;  // held during a known-answer test
  std::shared_ptr<Opened> opened_ MILLRACE_GUARDED_BY(mutex_);
  const bool is_self_test_ = false;  // true for the object that a known-answer test uses
  std::map<std::string, bool> known_ MILLRACE_GUARDED_BY(ready_mutex_);  // results of known-answer tests, by source
  std::set<std::string_view> launched_ MILLRACE_GUARDED_BY(mutex_);      // names of entries, which are string constants
  DeviceCounts counts_ MILLRACE_GUARDED_BY(mutex_);
  std::atomic<bool> is_excluded_{false};
  std::string reason_, fallback_reason_;
};

}  // namespace millrace
