// Input: an amount of work, the time that the CPU needs for it, and the measured rates of a device.
// Output: the side that does it, with both times and the reason in words.
// Never: guesses a rate: work whose rate was not measured on this machine is not moved automatically.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace millrace {

class Accelerator;
struct KernelSource;

// Measured rates of one operation, on a device and on the CPU.
struct MeasuredRate {
  std::string operation;  // the name in Work::operation
  std::string unit;       // unit of a rate: "pairs/s"; for operations counted in seconds of one thread "CPU threads"
  double device_amount_s = 0, cpu_amount_s = 0;
};

// Rates of one device, measured by `millrace tune`.
struct DeviceRates {
  double begin_s = 0;                       // from opening the device to the end of the first kernel
  double up_bytes_s = 0, down_bytes_s = 0;  // copied bytes per second
  std::map<std::string, double> amount_s;   // by operation: amount (pairs, ...) per second
};

struct DeviceWork {
  const KernelSource* source = nullptr;
  std::string operation;  // "hamming.brute64"
  double amount = 0;
  double bytes_up = 0, bytes_down = 0;
  double cpu_s = 0;
  double others_s = 0;  // time of the other stages of its pipeline, which run in parallel
};

struct Route {
  bool on_device = false;
  std::optional<double> device_s;
  double others_s = 0;  // same as Work::others_s
  std::string why;

  // Returns the time of the whole pipeline with the device, if it was measured.
  std::optional<double> seconds() const {
    return device_s ? std::optional(*device_s < others_s ? others_s : *device_s) : std::nullopt;
  }
};

// Shortest CPU time in seconds of work that may move to a device.
inline constexpr double kMinSecondsToMove = 0.5;

// Chooses the side that does the work. A device that the user requested always does it. Otherwise the side with the
// shorter time by the rates does, if the CPU needs at least half a second.
Route choose_side(const Accelerator& accelerator, const DeviceWork& work);

}  // namespace millrace
