#include "src/jobs/dedupe/suggest/same_shot.h"

#include "src/base/text.h"
#include "src/io/image/exif.h"
#include "src/io/image/exposure_match.h"
#include "src/jobs/dedupe/scan/companions.h"
#include "src/jobs/dedupe/suggest/origins.h"

namespace millrace::dedupe {
namespace {

bool has_format(const NamedPicture& named, ImageFormat format) {
  return named.picture.format == static_cast<int>(format);
}

// True if the rule holds for the two in either order.
template <class Rule>
bool either_way(const NamedPicture& a, const NamedPicture& b, const Rule& rule) {
  return rule(a, b) || rule(b, a);
}

std::string stem_of(const std::string& path) { return stem_key(file_name(path)); }

bool differ(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && lower_ascii(a) != lower_ascii(b);
}
bool cameras_or_times_differ(const Provenance& a, const Provenance& b) {
  const auto first = parse_capture_second(a.taken), second = parse_capture_second(b.taken);
  return differ(a.make, b.make) || differ(a.model, b.model) || differ(a.serial, b.serial) ||
         (first && second && *first != *second) || compare_exposures(a, b) == ExposureMatch::different;
}

}  // namespace

bool is_same_shot(const NamedPicture& a, const NamedPicture& b) {
  const auto written_by_a_phone = [](const NamedPicture& x, const NamedPicture& y) {
    return has_format(x, ImageFormat::heif) && has_format(y, ImageFormat::jpeg) && x.picture.taken == y.picture.taken &&
           stem_key(x.path) == stem_key(y.path);
  };
  const auto written_by_a_camera = [](const NamedPicture& x, const NamedPicture& y) {
    constexpr int kCameraSaved = 3;
    return has_format(x, ImageFormat::raw) && (has_format(y, ImageFormat::jpeg) || has_format(y, ImageFormat::heif)) &&
           stem_of(x.path) == stem_of(y.path) && score_originality(y.provenance, y.path, y.picture) >= kCameraSaved &&
           !cameras_or_times_differ(x.provenance, y.provenance);
  };
  return either_way(a, b, written_by_a_phone) || either_way(a, b, written_by_a_camera);
}

}  // namespace millrace::dedupe
