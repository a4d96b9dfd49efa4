#include "src/jobs/dedupe/review/review_pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/match/crop_comparison.h"
#include "src/jobs/dedupe/page/previews.h"
#include "src/jobs/dedupe/scan/picture_reader.h"
#include "src/jobs/dedupe/scan/searched_picture.h"

namespace millrace::dedupe {
namespace {

// Two pictures are compared at a time, and the next two are kept ready.
constexpr std::size_t kMaxCachedPictures = 4;

// Returns a region of a picture as a PNG, after rotating it.
std::string encode_png(const Thumbnail& picture, const ReviewPictures::Region& part, Orientation turn) {
  const std::size_t line = 3 * static_cast<std::size_t>(part.width);
  std::vector<std::uint8_t> cut;
  cut.reserve(line * static_cast<std::size_t>(part.height));
  for (int y = 0; y < part.height; ++y) {
    const std::size_t at = 3 * (static_cast<std::size_t>(part.top + y) * static_cast<std::size_t>(picture.width) +
                                static_cast<std::size_t>(part.left));
    const auto first = picture.rgb.begin() + static_cast<std::ptrdiff_t>(at);
    cut.insert(cut.end(), first, first + static_cast<std::ptrdiff_t>(line));
  }
  if (turn != Orientation::upright) cut = oriented(cut.data(), part.width, part.height, 3, turn);
  const auto [width, height] =
      swaps_sides(turn) ? std::pair(part.height, part.width) : std::pair(part.width, part.height);
  const std::size_t pitch = 3 * static_cast<std::size_t>(width);
  std::vector<std::uint8_t> rows;
  rows.reserve((pitch + 1) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y) {
    rows.push_back(0);
    const auto first = cut.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(y) * pitch);
    rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(pitch));
  }
  std::vector<std::uint8_t> out;
  append_png({static_cast<std::uint32_t>(width), static_cast<std::uint32_t>(height), 3, 8}, compress_png_rows(rows),
             out);
  return {out.begin(), out.end()};
}

// Returns the place of a region of a rotated picture in the upright one. Maps each corner back as oriented() maps it.
ReviewPictures::Region map_to_upright(const ReviewPictures::Region& part, Orientation turn, int width, int height) {
  const int code = static_cast<int>(turn);
  const bool swapped = swaps_sides(turn);
  const int turned_width = swapped ? height : width, turned_height = swapped ? width : height;
  // `code` is the EXIF number 1 to 8, which says from which sides the first row and the first column came.
  const bool from_right = code == 2 || code == 3 || code == 7 || code == 8;
  const bool from_bottom = code == 3 || code == 4 || code == 6 || code == 7;
  ReviewPictures::Region out = part;
  const bool flip_x = swapped ? from_bottom : from_right, flip_y = swapped ? from_right : from_bottom;
  const int left = flip_x ? turned_width - part.left - part.width : part.left;
  const int top = flip_y ? turned_height - part.top - part.height : part.top;
  out.left = swapped ? top : left;
  out.top = swapped ? left : top;
  out.width = swapped ? part.height : part.width;
  out.height = swapped ? part.width : part.height;
  return out;
}

// Returns the sides of the picture as it is shown; the decoded rows may be reduced.
std::pair<int, int> sides_of(const PictureFingerprint& print) {
  const bool turned = print.turned && swaps_sides(print.info.exif.orientation);
  const int width = print.info.full_width, height = print.info.full_height;
  return turned ? std::pair(height, width) : std::pair(width, height);
}

}  // namespace

ReviewPictures::ReviewPictures(const std::vector<SavedFile>& files, const PictureFileOptions& options,
                               RunContext& context)
    : files_(files),
      options_(options),
      context_(context),
      stage_(context.trace.stage("show pictures", context.executor.threads())) {}

Outcome<PictureFingerprint> ReviewPictures::decode(std::size_t id, int side) {
  const SavedFile& file = files_.at(id);
  Span span(stage_);
  return decode_searched_picture({file.path, file.size, file.mtime_ns, file.width, file.height}, side, options_,
                                 context_, span);
}

template <class Work>
auto ReviewPictures::retry_after_freeing(const Work& work) {
  try {
    auto done = work();
    if (done || done.error().code != ErrorCode::out_of_memory) return done;
  } catch (const OutOfMemory&) {
  }
  {
    const MutexLock lock(mutex_);
    cached_.clear();
  }
  return work();
}

Outcome<ReviewPictures::ServedImage> ReviewPictures::make_thumbnail(std::size_t id) {
  const auto print = retry_after_freeing([&] { return decode(id, kPreviewSide); });
  if (!print) return print.error();
  const auto jpeg = encode_thumbnail(print->thumbnail, kMaxPreviewBytes);
  const auto [width, height] = sides_of(*print);
  return ServedImage{"image/jpeg", {jpeg.begin(), jpeg.end()}, width, height};
}

Outcome<ReviewPictures::ServedImage> ReviewPictures::make_preview(std::size_t id, Orientation turn) {
  const auto print = retry_after_freeing([&] { return decode(id, kScreenSide); });
  if (!print) return print.error();
  const Thumbnail& picture = print->thumbnail;
  return encode_region(picture, {0, 0, picture.width, picture.height}, turn, sides_of(*print));
}

Outcome<ReviewPictures::ServedImage> ReviewPictures::make_region(std::size_t id, Orientation turn,
                                                                 const Region& wanted) {
  const auto picture = load_whole(id);
  if (!picture) return picture.error();
  int width = (*picture)->width, height = (*picture)->height;
  if (swaps_sides(turn)) std::swap(width, height);
  Region part{std::clamp(wanted.left, 0, width), std::clamp(wanted.top, 0, height), 0, 0};
  part.width = std::min(wanted.width, width - part.left);
  part.height = std::min(wanted.height, height - part.top);
  if (part.width <= 0 || part.height <= 0 || part.width > kMaxRegionSide || part.height > kMaxRegionSide) {
    return Error{ErrorCode::usage, "this region of the picture cannot be shown", escape_unprintable(files_.at(id).path),
                 fmt::format("request at most {} pixels per side, inside the picture", kMaxRegionSide)};
  }
  return encode_region(**picture, map_to_upright(part, turn, (*picture)->width, (*picture)->height), turn,
                       {(*picture)->width, (*picture)->height});
}

Outcome<ReviewPictures::ServedImage> ReviewPictures::encode_region(const Thumbnail& picture, const Region& part,
                                                                   Orientation turn, std::pair<int, int> sides) {
  if (swaps_sides(turn)) std::swap(sides.first, sides.second);
  // Memory for the region, its rotated copy, its rows, and the PNG.
  const Bytes size{12 * static_cast<std::uint64_t>(part.width) * static_cast<std::uint64_t>(part.height)};
  return retry_after_freeing([&]() -> Outcome<ServedImage> {
    const auto memory =
        context_.budget.wait_for(size, "pictures to show", [this] { return context_.cancel.cancelled(); });
    if (!memory) return interrupted();
    return ServedImage{"image/png", encode_png(picture, part, turn), sides.first, sides.second};
  });
}

Outcome<std::shared_ptr<const Thumbnail>> ReviewPictures::load_whole(std::size_t id) {
  const MutexLock lock(mutex_);
  const auto known = std::find_if(cached_.begin(), cached_.end(), [&](const CachedPicture& w) { return w.id == id; });
  if (known != cached_.end()) {
    cached_.splice(cached_.begin(), cached_, known);
    return cached_.front().picture;
  }
  const SavedFile& file = files_.at(id);
  const Bytes size{3 * static_cast<std::uint64_t>(file.width) * static_cast<std::uint64_t>(file.height)};
  // Earlier pictures make room. The decoder needs as much memory again, and a rotated picture twice that.
  while (!cached_.empty() && (cached_.size() >= kMaxCachedPictures || context_.budget.largest_grant() < size * 5))
    cached_.pop_back();
  auto print = decode(id, 0);
  if (!print && print.error().code == ErrorCode::out_of_memory && !cached_.empty()) {
    cached_.clear();
    print = decode(id, 0);
  }
  if (!print) return print.error();
  auto picture = std::make_shared<const Thumbnail>(std::move(print->thumbnail));
  try {
    cached_.push_front({id, picture, context_.budget.reserve({picture->rgb.size()}, "pictures that are compared")});
  } catch (const OutOfMemory&) {
    // The picture is shown this time, but not cached.
  }
  return std::shared_ptr<const Thumbnail>(picture);
}

Outcome<detailed_check::PreparedPicture> ReviewPictures::prepare_picture(std::size_t id) {
  auto print = retry_after_freeing([&] { return decode(id, detailed_check::kRasterSide); });
  if (!print) return print.error();
  detailed_check::PictureRaster raster;
  raster.width = print->thumbnail.width;
  raster.height = print->thumbnail.height;
  raster.rgb = std::move(print->thumbnail.rgb);
  std::tie(raster.full_width, raster.full_height) = sides_of(*print);
  return detailed_check::PreparedPicture(std::move(raster));
}

namespace {

// Registration is accurate to a fraction of a pixel. If it moves no point of the first by more than a pixel, the two
// are taken to coincide: copies of one file differ nowhere.
std::array<float, 6> snap_to_identity(const std::array<float, 6>& map, const detailed_check::PictureRaster& first) {
  const auto furthest = [](float shift, float along, float across, int side) {
    return (std::abs(shift) + (std::abs(along) + std::abs(across)) / 2) * static_cast<float>(side);
  };
  const float x = furthest(map[0], map[1] - 1, map[2], first.full_width);
  const float y = furthest(map[3], map[5] - 1, map[4], first.full_height);
  return x < 1 && y < 1 ? std::array<float, 6>{0, 1, 0, 0, 0, 1} : map;
}

}  // namespace

Outcome<std::optional<ReviewPictures::Alignment>> ReviewPictures::align(std::size_t first, std::size_t second) {
  std::vector<ThumbnailFeatures> parted;
  for (const std::size_t id : {first, second}) {
    const auto print = retry_after_freeing([&] { return decode(id, kThumbnailSide); });
    if (!print) return print.error();
    auto picture = compute_thumbnail_features(encode_thumbnail(print->thumbnail, kMaxThumbnailBytes), {false, false});
    if (!picture) return std::optional<Alignment>();
    parted.push_back(std::move(*picture));
  }
  const PictureRegistration met = find_registration(parted[0], parted[1], {});
  const auto one = prepare_picture(first);
  if (!one) return one.error();
  auto other = prepare_picture(second);
  if (!other) return other.error();
  if (met.orientation != Orientation::upright) *other = other->turned(met.orientation);
  return retry_after_freeing([&]() -> Outcome<std::optional<Alignment>> {
    const auto memory = context_.budget.wait_for({detailed_check::DetailedComparator::kMemory}, "aligning pictures",
                                                 [this] { return context_.cancel.cancelled(); });
    if (!memory) return interrupted();
    detailed_check::DetailedComparator comparator;
    const detailed_check::Verdict verdict = comparator.compare(*one, *other, met.map);
    if (!verdict.meeting || verdict.kind == detailed_check::DifferenceKind::different)
      return std::optional<Alignment>();
    return std::optional<Alignment>({met.orientation, snap_to_identity(*verdict.meeting, one->raster())});
  });
}

}  // namespace millrace::dedupe
