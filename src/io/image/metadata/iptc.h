// Input: IPTC's datasets, or the blocks of Photoshop that hold them in JPEG and TIFF.
// Output: what people said in them about the picture.
// Never: fails: what cannot be read is absent.
//
// IPTC-NAA Information Interchange Model 4.2, record 2; Adobe's Photoshop File Formats for the image resources.
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
  bool edited = false;  // a service that writes pictures anew has signed
  // The texts of record 2 with their numbers, as written, bytes of any encoding.
  std::vector<std::pair<std::uint8_t, std::string>> texts;
};

IptcFacts read_iptc(std::span<const std::uint8_t> datasets);

// Where the datasets stand among Photoshop's image resources; empty when they do not.
std::span<const std::uint8_t> iptc_among_resources(std::span<const std::uint8_t> resources);

}  // namespace millrace
