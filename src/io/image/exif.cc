#include "src/io/image/exif.h"

#include <libexif/exif-data.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "src/base/text.h"

namespace millrace {
namespace {

constexpr std::uint8_t kHeader[6] = {'E', 'x', 'i', 'f', 0, 0};

std::string text_of(ExifData* data, ExifIfd ifd, ExifTag tag) {
  const ExifEntry* entry = exif_content_get_entry(data->ifd[ifd], tag);
  if (entry == nullptr || entry->format != EXIF_FORMAT_ASCII || entry->data == nullptr) return {};
  std::string text(reinterpret_cast<const char*>(entry->data), entry->size);
  text.resize(std::min(text.size(), text.find('\0')));
  return std::string(trim(text));
}

}  // namespace

Exif parse_exif(std::span<const std::uint8_t> block) {
  Exif exif;
  // libexif wants the header that JPEG puts before the TIFF structure, and its sizes are 32 bits.
  std::vector<std::uint8_t> with_header;
  if (block.size() < 8 || block.size() > (1U << 26)) return exif;
  if (!std::equal(std::begin(kHeader), std::end(kHeader), block.begin())) {
    with_header.assign(std::begin(kHeader), std::end(kHeader));
    with_header.insert(with_header.end(), block.begin(), block.end());
    block = with_header;
  }
  const std::unique_ptr<ExifData, void (*)(ExifData*)> data(exif_data_new(), exif_data_unref);
  if (!data) return exif;
  exif_data_unset_option(data.get(), EXIF_DATA_OPTION_FOLLOW_SPECIFICATION);
  exif_data_load_data(data.get(), block.data(), static_cast<unsigned>(block.size()));
  const ExifByteOrder order = exif_data_get_byte_order(data.get());
  for (const ExifContent* content : data->ifd) exif.fields += static_cast<int>(content->count);
  const ExifEntry* orientation = exif_content_get_entry(data->ifd[EXIF_IFD_0], EXIF_TAG_ORIENTATION);
  if (orientation != nullptr && orientation->format == EXIF_FORMAT_SHORT && orientation->size >= 2) {
    const int value = exif_get_short(orientation->data, order);
    if (value >= 1 && value <= 8) exif.orientation = static_cast<Orientation>(value);
  }
  exif.taken = text_of(data.get(), EXIF_IFD_EXIF, EXIF_TAG_DATE_TIME_ORIGINAL);
  if (capture_seconds(exif.taken, "") < 0) exif.taken.clear();
  exif.subsecond = text_of(data.get(), EXIF_IFD_EXIF, EXIF_TAG_SUB_SEC_TIME_ORIGINAL);
  for (const char c : exif.subsecond) {
    if (c < '0' || c > '9') {
      exif.subsecond.clear();
      break;
    }
  }
  constexpr auto kBodySerialNumber = static_cast<ExifTag>(0xA431);
  for (const std::string& part :
       {text_of(data.get(), EXIF_IFD_0, EXIF_TAG_MAKE), text_of(data.get(), EXIF_IFD_0, EXIF_TAG_MODEL),
        text_of(data.get(), EXIF_IFD_EXIF, kBodySerialNumber)}) {
    if (!part.empty()) exif.camera += (exif.camera.empty() ? "" : " ") + part;
  }
  return exif;
}

namespace {

// "2024:05:01 12:30:00", as nearly all write it; sscanf takes longer than a million of these may.
bool plain_time(std::string_view text, std::array<int, 6>& fields) {
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

std::optional<std::int64_t> capture_second(const std::string& taken) {
  std::array<int, 6> fields;
  auto& [year, month, day, hour, minute, second] = fields;
  if (!plain_time(taken, fields) &&
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

double capture_seconds(const std::string& taken, const std::string& subsecond) {
  const auto second = capture_second(taken);
  if (!second) return -1;
  const double fraction = subsecond.empty() ? 0 : std::strtod(("0." + subsecond).c_str(), nullptr);
  return static_cast<double>(*second) + fraction;
}

}  // namespace millrace
