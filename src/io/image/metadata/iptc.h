// Input: IPTC datasets, or Photoshop's image resources, which hold them in JPEG and TIFF.
// Output: the facts that people wrote into them about the picture.
// Never: fails. A fact that cannot be read is absent.
//
// Standards: IPTC-NAA Information Interchange Model 4.2, record 2; Adobe's Photoshop File Formats for the image
// resources.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace millrace {

struct IptcFacts {
  std::uint32_t keywords = 0;
  bool title = false, description = false;
  bool edited = false;  // signed by a service that re-encodes pictures
  // Texts of record 2 with their dataset numbers, as written, in any encoding.
  std::vector<std::pair<std::uint8_t, std::string>> texts;
};

IptcFacts read_iptc(std::span<const std::uint8_t> datasets);

// Returns the datasets among Photoshop's image resources; empty when there are none.
std::span<const std::uint8_t> find_iptc_datasets(std::span<const std::uint8_t> resources);

}  // namespace millrace
