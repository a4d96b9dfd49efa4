// Input: this machine, this build and the decoding helper, each asked what it has.
// Output: one report, as text for a person and as JSON, with what to do about what is missing.
// Never: changes anything, or fails because something is missing; only a wrong answer of the
// self-test is a failure.
#pragma once

#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/json.h"
#include "src/device/cpu/level.h"
#include "src/device/cpu/machine.h"
#include "src/device/device.h"
#include "src/io/image/helper_versions.h"
#include "src/jobs/doctor/known_answers.h"

namespace millrace::doctor {

struct Library {
  std::string name, version, use;
};

// A kind of file, and which library reads or writes it here.
struct FormatSupport {
  std::string name;
  bool reads = false, writes = false;
  std::string by;      // "libvips 8.14.1, in the helper"; or why it cannot be read
  std::string remedy;  // empty where nothing is missing
};

// A device, and of each source of kernels what is to be said.
struct DeviceState {
  Device device;
  struct Kernel {
    std::string source, hash, compiler;
    bool attested = false;       // for this device's compute capability, or here
    bool attested_here = false;  // on this machine alone
    std::string state;           // "gives its known answers", or what went wrong
    bool right = false;
    bool wrong = false;  // it was tried, and failed
  };
  std::vector<Kernel> kernels;
};

struct Findings {
  std::string program_version;
  Machine machine;
  CpuLevel level = CpuLevel::baseline;
  std::vector<CpuLevel> levels;
  std::string forced;        // MILLRACE_CPU as it is set; empty when it is not
  std::string forced_error;  // why it cannot be obeyed
  std::string cuda;          // why there is no NVIDIA device; empty where there is one
  std::string opencl;        // why there is no OpenCL device; empty where there is one
  std::vector<DeviceState> devices;
  std::string not_believed;    // why what was attested here is not believed; empty where nothing is wrong
  bool nvidia_on_bus = false;  // an NVIDIA display or compute device is in this machine, with a driver or without
  std::vector<Library> libraries;
  std::vector<FormatSupport> formats;
  std::string helper;  // empty when the helper answered; else what is wrong with it
  std::vector<HelperWall> walls;
  std::string models;  // what to do so that models can be run; empty where they can
  std::vector<SelfTestResult> self_test;
  std::vector<std::string> remedies;  // what a person can do, most useful first

  bool passed() const;
};

// `helper` is the path of millrace-decoder; `root` as in describe_machine().
Findings examine(const std::string& program_version, const std::string& helper, const std::string& root = "");

// The formats, from what the helper said; apart so that it can be tested on invented answers.
std::vector<FormatSupport> formats_of(const Outcome<HelperAnswer>& helper);

std::string text_of(const Findings& findings);
Json json_of(const Findings& findings);

}  // namespace millrace::doctor
