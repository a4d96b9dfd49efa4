// Fuzz target: metadata of picture files and sidecars that an attacker may have written.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "src/io/image/exposure_match.h"
#include "src/io/image/live_photo.h"
#include "src/io/image/provenance.h"
#include "src/io/image/sidecar.h"
#include "tests/fuzz/memory_file.h"

namespace {

void check(const millrace::Provenance& p) {
  const bool fits = p.rating >= -1 && p.rating <= 5 && p.jpeg_quality <= 100 &&
                    p.has_custom_tables == (p.tables != 0 && p.jpeg_quality == 0);
  if (!fits) std::abort();
  for (const std::string* text : {&p.make, &p.model, &p.serial, &p.software, &p.taken, &p.subsecond, &p.offset}) {
    if (text->size() > millrace::TiffFields::kMaxTextBytes) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace millrace;
  // The file's contents, which also stand for a sidecar's; then again without their first byte, as another file.
  static Provenance before;
  for (std::size_t skipped = 0; skipped < 2 && skipped <= size; ++skipped) {
    auto read = read_provenance(fuzz::path_of_bytes(data + skipped, size - skipped));
    if (!read) std::abort();
    check(*read);
    const std::string_view text(reinterpret_cast<const char*>(data + skipped), size - skipped);
    add_sidecar_xmp(text, *read);
    add_takeout_json(text, *read);
    check(*read);
    const std::string path = fuzz::path_of_bytes(data + skipped, size - skipped);
    if (read_picture_live_photo_id(path).size() > 64 || read_video_live_photo_id(path).size() > 64) std::abort();
    if (compare_exposures(*read, before) != compare_exposures(before, *read)) std::abort();
    if (compare_exposures(*read, *read) == ExposureMatch::different) std::abort();
    before = *std::move(read);
  }
  return 0;
}
