#include "src/io/image/exif.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "src/base/text.h"
#include "src/io/image/metadata/tiff_fields.h"

namespace millrace {

Exif parse_exif(std::span<const std::uint8_t> block) {
  constexpr std::uint16_t kOrientation = 0x0112, kMake = 0x010F, kModel = 0x0110, kTaken = 0x9003, kSubsecond = 0x9291,
                          kBodySerialNumber = 0xA431;
  ByteSource source(block);
  const TiffFields fields{ByteRange(source)};
  Exif exif;
  exif.fields = fields.count_distinct_fields();
  // An orientation is a single number of 16 bits: browsers ignore any other type, and would show the picture otherwise
  // than it is compared.
  const auto orientation = fields.number(TiffDirectory::main, kOrientation);
  const bool is_short = fields.value(TiffDirectory::main, kOrientation).size() == 2;
  if (orientation && is_short && *orientation >= 1 && *orientation <= 8)
    exif.orientation = static_cast<Orientation>(*orientation);
  exif.taken = fields.text(TiffDirectory::exif, kTaken);
  if (parse_fractional_capture_second(exif.taken, "") < 0) exif.taken.clear();
  exif.subsecond = fields.text(TiffDirectory::exif, kSubsecond);
  if (exif.subsecond.find_first_not_of("0123456789") != std::string::npos) exif.subsecond.clear();
  for (const std::string& part : {fields.text(TiffDirectory::main, kMake), fields.text(TiffDirectory::main, kModel),
                                  fields.text(TiffDirectory::exif, kBodySerialNumber)}) {
    if (!part.empty()) exif.camera += (exif.camera.empty() ? "" : " ") + part;
  }
  return exif;
}

namespace {

// Parses the usual form, "2024:05:01 12:30:00". A million calls of sscanf() would take too long.
bool parse_time_fields(std::string_view text, std::array<int, 6>& fields) {
  constexpr std::string_view kShape = "dddd:dd:dd dd:dd:dd";
  if (text.size() != kShape.size()) return false;
  fields = {};
  std::size_t field = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kShape[i] != 'd') {
      if (text[i] != kShape[i]) return false;
      ++field;
    } else if (text[i] < '0' || text[i] > '9') {
      return false;
    } else {
      fields[field] = 10 * fields[field] + (text[i] - '0');
    }
  }
  return true;
}

}  // namespace

std::optional<std::int64_t> parse_capture_second(const std::string& taken) {
  std::array<int, 6> fields;
  auto& [year, month, day, hour, minute, second] = fields;
  if (!parse_time_fields(taken, fields) &&
      // NOLINTNEXTLINE(cert-err34-c): the count of fields and their ranges are checked
      std::sscanf(taken.c_str(), "%4d:%2d:%2d %2d:%2d:%2d", &year, &month, &day, &hour, &minute, &second) != 6) {
    return std::nullopt;
  }
  if (year < 1826 || month < 1 || month > 12 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60) {
    return std::nullopt;
  }
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (day > kDays[static_cast<std::size_t>(month - 1)] + (leap && month == 2 ? 1 : 0)) return std::nullopt;
  // Days since 1970 by the civil calendar, with the year beginning in March so that the leap day comes last.
  const int y = month <= 2 ? year - 1 : year;
  const int m = (month + 9) % 12;
  const std::int64_t days = std::int64_t{365} * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
  return days * 86400 + hour * 3600 + minute * 60 + second;
}

double parse_fractional_capture_second(const std::string& taken, const std::string& subsecond) {
  const auto second = parse_capture_second(taken);
  if (!second) return -1;
  const double fraction = subsecond.empty() ? 0 : std::strtod(("0." + subsecond).c_str(), nullptr);
  return static_cast<double>(*second) + fraction;
}

}  // namespace millrace
