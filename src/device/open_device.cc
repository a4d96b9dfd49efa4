#include "src/device/open_device.h"

namespace millrace {

std::unique_ptr<DeviceBackend> open_device(const Device& device) {
  switch (device.kind) {
    case DeviceKind::cuda:
      return open_cuda_device(device.index);
    case DeviceKind::opencl:
      return open_opencl_device(device.index, device.assume_exact);
    case DeviceKind::cpu:
      break;
  }
  throw Failure(ErrorCode::internal, "the CPU is opened as a device");
}

}  // namespace millrace
