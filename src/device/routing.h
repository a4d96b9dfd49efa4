// Input: a piece of work, how long the CPU takes for it, and what was measured of a device.
// Output: the side that does it, with both times and the reason in words.
// Never: guesses a rate: what nobody measured on this machine does not move by itself.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace millrace {

class Accelerator;
struct KernelSource;

// One operation by measure, on a device and on the CPU.
struct MeasuredRate {
  std::string operation;  // as Work::operation
  std::string unit;       // of an amount a second: "pairs/s"; of seconds of one thread "CPU threads"
  double device_amount_s = 0, cpu_amount_s = 0;
};

// Of one device, by `millrace tune`.
struct DeviceRates {
  double begin_s = 0;                       // from nothing to the end of the first kernel
  double up_bytes_s = 0, down_bytes_s = 0;  // copied a second
  std::map<std::string, double> amount_s;   // by operation: of its amount (pairs, ...) a second
};

struct Work {
  const KernelSource* source = nullptr;
  std::string operation;  // "hamming.brute64"
  double amount = 0;
  double bytes_up = 0, bytes_down = 0;
  double cpu_s = 0;
  double others_s = 0;  // what the other stages of its pipeline take, beside it
};

struct Route {
  bool on_device = false;
  std::optional<double> device_s;
  double others_s = 0;  // as Work has them
  std::string why;

  // What all of it takes with the device, where that was measured.
  std::optional<double> seconds() const {
    return device_s ? std::optional(*device_s < others_s ? others_s : *device_s) : std::nullopt;
  }
};

// What takes the CPU less than this stays there.
inline constexpr double kLeastWorthMovingS = 0.5;

// A device that a person asked for does the work. Otherwise the side that is faster by the rates does, if the CPU takes
// half a second at least.
Route choose_side(const Accelerator& accelerator, const Work& work);

}  // namespace millrace
