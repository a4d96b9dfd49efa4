#include "src/device/attested.h"

#include <algorithm>

namespace millrace {

bool is_attested(std::string_view hash, const Device& device, std::span<const LocalAttestation> here) {
  // A build without Clang has no PTX.
  if (hash.empty() || device.kind != DeviceKind::cuda) return false;
  const auto all = attestations();
  const bool with_program = std::any_of(all.begin(), all.end(), [&](const Attestation& one) {
    return one.hash == hash && one.capability == device.capability;
  });
  const std::string identity = identity_of(device);
  return with_program || std::any_of(here.begin(), here.end(), [&](const LocalAttestation& one) {
           return one.kind == device.kind && one.hash == hash && one.device == identity && one.driver == device.driver;
         });
}

}  // namespace millrace
