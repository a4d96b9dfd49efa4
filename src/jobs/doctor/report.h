// Input: this machine, this build and the decoding helper, each examined for its capabilities.
// Output: one report, as text for the user and as JSON, with remedies for missing capabilities.
// Never: changes anything, or fails because a capability is missing; only a wrong answer of the self-test is a failure.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/device/cpu/cpu_level.h"
#include "src/device/cpu/machine.h"
#include "src/device/device.h"
#include "src/io/image/helper_versions.h"
#include "src/jobs/doctor/self_check.h"

namespace millrace::doctor {

struct LibraryVersion {
  std::string name, version, use;
};

// File format, and the library that reads or writes it here.
struct FormatSupport {
  std::string name;
  bool reads = false, writes = false;
  std::string by;      // "libvips 8.14.1, in the helper"; or the reason why it cannot be read
  std::string remedy;  // empty if nothing is missing
};

// Device, and the state of each of its kernel sources.
struct DeviceState {
  Device device;
  struct Kernel {
    std::string source, hash, compiler;
    bool attested = false;       // for this device's compute capability, or on this machine
    bool attested_here = false;  // on this machine only
    std::string state;           // "passed the known-answer test", or the reason of the failure
    bool right = false;
    bool wrong = false;  // the device was excluded during the test
  };
  std::vector<Kernel> kernels;
};

struct Findings {
  std::string program_version;
  Machine machine;
  CpuLevel level = CpuLevel::baseline;
  std::vector<CpuLevel> levels;
  std::string forced;        // value of MILLRACE_CPU; empty if it is not set
  std::string forced_error;  // reason why that level cannot be used
  std::string cuda;          // reason why there is no NVIDIA device; empty if there is one
  std::string opencl;        // reason why there is no OpenCL device; empty if there is one
  std::vector<DeviceState> devices;
  std::string not_trusted;     // reason why the attestations of this machine are not trusted; empty if they are
  bool nvidia_on_bus = false;  // an NVIDIA display or compute device is present, with or without a driver
  std::vector<LibraryVersion> libraries;
  std::vector<FormatSupport> formats;
  std::string helper;  // empty if the helper answered; else the reason
  std::vector<HelperSandboxLayer> sandbox_layers;
  std::string models;  // remedy if models cannot be run; empty if they can
  std::vector<SelfTestResult> self_test;
  std::vector<std::string> remedies;  // remedies for the user, the most useful first

  bool passed() const;
};

// Examines this machine. `helper` is the path of millrace-decoder; `root` is as in describe_machine().
Findings examine(const std::string& program_version, const std::string& helper, const std::string& root = "");

// Returns the formats, from the answer of the helper; a separate function, so that it can be tested with made-up
// answers.
std::vector<FormatSupport> formats_of(const Outcome<HelperVersions>& helper);

std::string text_of(const Findings& findings);
Json json_of(const Findings& findings);

}  // namespace millrace::doctor
