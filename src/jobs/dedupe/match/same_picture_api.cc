// Implements the two-picture functions of include/millrace/hash.h with the program's own code.
#include "include/millrace/hash.h"
#include "src/base/error.h"
#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/callers_image.h"
#include "src/jobs/dedupe/match/thumbnail_comparator.h"
#include "src/jobs/dedupe/match/thumbnail_pixels.h"
#include "src/jobs/dedupe/scan/picture_reader.h"

namespace millrace {
namespace {

// Computes the thumbnail's pixels as the catalog would keep them.
similarity::Thumbnail pixels_of(const ArrayView& view, const char* name) {
  check_image(view, name);
  const CallersImage image(view);
  const Thumbnail thumbnail = make_thumbnail(image.data(), image.width(), image.height(), image.stride(),
                                             image.channels(), dedupe::kThumbnailSide);
  auto pixels = dedupe::decode_thumbnail_pixels(encode_thumbnail(thumbnail, dedupe::kMaxThumbnailBytes));
  if (!pixels) throw Failure(ErrorCode::internal, "its thumbnail cannot be decoded", name, "");
  return *pixels;
}

}  // namespace

PictureComparison same_picture(const ArrayView& a, const ArrayView& b, bool orientations) {
  const similarity::Thumbnail first = pixels_of(a, "a"), second = pixels_of(b, "b");
  const auto features = std::make_unique<similarity::Features>(similarity::features_of(first));
  const auto turned = std::make_unique<similarity::Features>();
  dedupe::Judgement best;
  PictureComparison out{"", 0, 1};
  for (const Orientation o : kOrientations) {
    if (o != Orientation::upright && !orientations) break;
    *turned = similarity::features_of(similarity::oriented(second, o));
    const similarity::Comparison found = similarity::compare(*features, *turned);
    if (o != Orientation::upright && !dedupe::is_better_match({found.kind, found.score}, best)) continue;
    best = {found.kind, found.score};
    out.turned = static_cast<int>(o);
  }
  out.kind = name_of(best.kind);
  out.score = best.score;
  return out;
}

}  // namespace millrace
