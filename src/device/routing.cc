#include "src/device/routing.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/sizes.h"
#include "src/device/accelerator.h"

namespace millrace {
namespace {

std::optional<double> device_seconds(const Accelerator& accelerator, const DeviceWork& work) {
  const auto& rates = accelerator.options().rates;
  if (!rates) return std::nullopt;
  const auto rate = rates->amount_s.find(work.operation);
  if (rate == rates->amount_s.end() || rate->second <= 0 || rates->up_bytes_s <= 0 || rates->down_bytes_s <= 0) {
    return std::nullopt;
  }
  return rates->begin_s + work.bytes_up / rates->up_bytes_s + work.amount / rate->second +
         work.bytes_down / rates->down_bytes_s;
}

}  // namespace

Route choose_side(const Accelerator& accelerator, const DeviceWork& work) {
  Route route;
  route.device_s = device_seconds(accelerator, work);
  route.others_s = work.others_s;
  const std::string name = name_of(accelerator.device());
  const std::string cpu = "the CPU takes " + format_short_duration(work.cpu_s);
  const std::string both = route.device_s ? fmt::format("{}, {} {}", cpu, name, format_short_duration(*route.device_s))
                                          : fmt::format("{}, {} was not measured", cpu, name);
  if (accelerator.is_excluded()) {
    route.why = fmt::format("on the CPU: {} was excluded: {}", name, accelerator.reason());
  } else if (work.source != nullptr && !accelerator.is_allowed(*work.source)) {
    route.why = fmt::format("on the CPU: these kernels are not attested for {}", name);
  } else if (accelerator.options().asked) {
    route.on_device = true;
    route.why =
        fmt::format("on {}, as requested: {}{}", name, both, route.device_s ? "" : " (millrace tune measures it)");
  } else if (work.cpu_s < kMinSecondsToMove) {
    route.why = fmt::format("on the CPU: {}; work below 0.5 s stays there", both);
  } else if (!route.device_s) {
    route.why = fmt::format("on the CPU: {}; millrace tune measures it", both);
  } else if (work.cpu_s <= work.others_s) {
    route.why = fmt::format("on the CPU: {}, but the other stages take {} in any case", both,
                            format_short_duration(work.others_s));
  } else if (std::max(*route.device_s, work.others_s) < work.cpu_s) {
    route.on_device = true;
    route.why = fmt::format("on {}: {}", name, both);
  } else {
    route.why = "on the CPU: " + both;
  }
  return route;
}

}  // namespace millrace
