#include "src/device/attested.h"

#include <algorithm>

namespace millrace {

bool is_attested(std::string_view hash, const Device& device, std::span<const LocalAttestation> here) {
  // A build without Clang has no PTX and so no hash.
  if (hash.empty() || device.kind != DeviceKind::cuda) return false;
  const auto with_program = attestations();
  return std::any_of(with_program.begin(), with_program.end(),
                     [&](const Attestation& one) { return one.hash == hash && one.capability == device.capability; }) ||
         std::any_of(here.begin(), here.end(), [&](const LocalAttestation& one) {
           return one.hash == hash && !one.uuid.empty() && one.uuid == device.uuid && one.driver == device.driver;
         });
}

}  // namespace millrace
