// Input: the EXIF block of a picture.
// Output: the few fields that jobs use.
// Never: fails; a field that cannot be read is absent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "src/kernels/orient/orient.h"

namespace millrace {

struct Exif {
  Orientation orientation = Orientation::upright;
  // Capture time in local time, "2024:05:01 12:30:00", and fractions of a second as digits; empty when absent.
  std::string taken, subsecond;
  std::string camera;  // make, model and body serial number joined by spaces
  int fields = 0;      // number of fields; of two equal pictures, the one with more fields has lost less
};

// `block` begins with "Exif\0\0" (as in JPEG) or with the TIFF header (as in PNG, HEIF and WebP).
Exif parse_exif(std::span<const std::uint8_t> block);

// Returns the seconds since 1970 of a capture time, read as UTC (only differences are used). Returns nothing if it is
// no valid time of the Gregorian calendar since 1826, the year of the first photograph.
std::optional<std::int64_t> parse_capture_second(const std::string& taken);
// The same with the subsecond digits as a fraction; negative when `taken` is not a time.
double parse_fractional_capture_second(const std::string& taken, const std::string& subsecond);

}  // namespace millrace
