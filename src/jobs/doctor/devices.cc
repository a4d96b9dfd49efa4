#include "src/jobs/doctor/devices.h"

#include <cstdlib>
#include <filesystem>
#include <string>

#include "src/jobs/doctor/attested_file.h"
#include "src/kernels/test_vectors/devices.h"
#include "src/trace/trace.h"

namespace millrace::doctor {
namespace {

// Memory limit, small enough for any usable device.
constexpr Bytes kMemory = 64_MiB;

// Temporary folder for the compiler caches of drivers, unless the environment names others. It is removed, so that a
// report leaves no files behind.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string path = (std::filesystem::temp_directory_path(error) / "millrace-doctor-XXXXXX").string();
    if (error || ::mkdtemp(path.data()) == nullptr) return;
    path_ = path;
    for (const char* name : {"POCL_CACHE_DIR", "CUDA_CACHE_PATH"}) ::setenv(name, path.c_str(), 0);
  }
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

 private:
  std::string path_;
};

std::vector<DeviceState::Kernel> kernels_of(const Device& device, std::span<const LocalAttestation> here) {
  std::vector<DeviceState::Kernel> out;
  for (const test_vectors::DeviceKernels& kernels : test_vectors::device_kernels()) {
    const KernelSource& source = kernels.source();
    DeviceState::Kernel one;
    one.source = source.name;
    one.hash = source.hash;
    one.compiler = source.compiler;
    one.attested = is_attested(source.hash, device, here);
    one.attested_here = one.attested && !is_attested(source.hash, device);
    // Each source is tried on a newly opened device, so that earlier failures do not matter.
    Budget budget(256_MiB);
    Trace trace;
    AcceleratorOptions options;
    options.verify = VerifyMode::none;
    options.memory = kMemory;
    Accelerator accelerator(device, options, budget, trace);
    one.right = accelerator.prepare_kernels(source, kernels.entries, kernels.test_vectors);
    one.wrong = accelerator.is_excluded();
    one.state = one.right                   ? "passed the known-answer test"
                : accelerator.is_excluded() ? accelerator.reason()
                                            : accelerator.fallback_reason();
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace

void examine_devices(Findings& findings) {
  const ScratchFolder scratch;
  const std::vector<LocalAttestation> here = attested_here(&findings.not_trusted);
  for (const DeviceKind kind : kGpuKinds) {
    for (Device& device : list_devices(kind, kind == DeviceKind::opencl ? findings.opencl : findings.cuda)) {
      DeviceState state{std::move(device), {}};
      if (state.device.reason.empty()) state.kernels = kernels_of(state.device, here);
      findings.devices.push_back(std::move(state));
    }
  }
}

}  // namespace millrace::doctor
