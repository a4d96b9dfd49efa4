#include "src/device/attested.h"

#include <algorithm>

namespace millrace {

bool is_attested(std::string_view hash, std::string_view capability) {
  const auto all = attestations();
  return std::any_of(all.begin(), all.end(),
                     [&](const Attestation& one) { return one.hash == hash && one.capability == capability; });
}

}  // namespace millrace
