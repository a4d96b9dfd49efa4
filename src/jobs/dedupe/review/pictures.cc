#include "src/jobs/dedupe/review/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/io/image/thumbnail_jpeg.h"

namespace millrace::dedupe {
namespace {

constexpr int kThumbSide = 256;
constexpr std::size_t kThumbBytes = 14 << 10;
// Two are compared, and the next ones after them.
constexpr std::size_t kMostWholes = 4;

std::string png_of(const Thumbnail& picture, const Pictures::Region& part) {
  const std::size_t line = 3 * static_cast<std::size_t>(part.width);
  std::vector<std::uint8_t> rows;
  rows.reserve((line + 1) * static_cast<std::size_t>(part.height));
  for (int y = 0; y < part.height; ++y) {
    const std::size_t at = 3 * (static_cast<std::size_t>(part.top + y) * static_cast<std::size_t>(picture.width) +
                                static_cast<std::size_t>(part.left));
    rows.push_back(0);
    const auto first = picture.rgb.begin() + static_cast<std::ptrdiff_t>(at);
    rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(line));
  }
  std::vector<std::uint8_t> out;
  append_png({static_cast<std::uint32_t>(part.width), static_cast<std::uint32_t>(part.height), 3, 8}, png_stream(rows),
             out);
  return {out.begin(), out.end()};
}

// The picture's sides as it is shown; those of the rows may be reduced ones.
std::pair<int, int> sides_of(const Fingerprint& print) {
  const bool turned = print.turned && swaps_sides(print.info.exif.orientation);
  const int width = print.info.full_width, height = print.info.full_height;
  return turned ? std::pair(height, width) : std::pair(width, height);
}

}  // namespace

Pictures::Pictures(const std::vector<FoundFile>& files, const PictureFileOptions& options, RunContext& context)
    : files_(files),
      options_(options),
      context_(context),
      stage_(context.trace.stage("show pictures", context.executor.threads())) {}

Outcome<Fingerprint> Pictures::decode(std::size_t id, int side) {
  const FoundFile& wanted = files_.at(id);
  auto file = FileReader::open(wanted.path, FileReader::Hashing::off);
  if (!file) return file.error();
  if ((*file)->size() != wanted.size || (*file)->mtime_ns() != wanted.mtime_ns) {
    return Error{ErrorCode::conflict, "it changed since the search", printable(wanted.path),
                 "search again, and review what that finds"};
  }
  FingerprintOptions options;
  options.upright = true;
  // As the search saw it, which a decoder must not be believed about: memory is taken by it.
  const int longer = std::max({wanted.width, wanted.height, 1}), shorter = std::min(wanted.width, wanted.height);
  options.thumbnail_side = side > 0 ? side : longer;
  options.decode = decode_options(options_, context_);
  if (side > 0) {
    // As far as a decoder can reduce it by itself; the rest is done with care.
    options.decode.shortest_side = std::max(1, static_cast<int>(std::int64_t{shorter} * side / longer));
  }
  Span span(stage_);
  return fingerprint(**file, options, context_.budget, options.decode.cancelled, span);
}

Outcome<Pictures::Shown> Pictures::thumb(std::size_t id) {
  const auto print = decode(id, kThumbSide);
  if (!print) return print.error();
  const auto jpeg = encode_thumbnail(print->thumbnail, kThumbBytes);
  const auto [width, height] = sides_of(*print);
  return Shown{"image/jpeg", {jpeg.begin(), jpeg.end()}, width, height};
}

Outcome<Pictures::Shown> Pictures::preview(std::size_t id) {
  const auto print = decode(id, kPreviewSide);
  if (!print) return print.error();
  const Thumbnail& picture = print->thumbnail;
  const auto [width, height] = sides_of(*print);
  return Shown{"image/png", png_of(picture, {0, 0, picture.width, picture.height}), width, height};
}

Outcome<Pictures::Shown> Pictures::region(std::size_t id, const Region& wanted) {
  const auto picture = whole(id);
  if (!picture) return picture.error();
  const int width = (*picture)->width, height = (*picture)->height;
  Region part{std::clamp(wanted.left, 0, width), std::clamp(wanted.top, 0, height), 0, 0};
  part.width = std::min(wanted.width, width - part.left);
  part.height = std::min(wanted.height, height - part.top);
  if (part.width <= 0 || part.height <= 0 || part.width > kMostRegion || part.height > kMostRegion) {
    return Error{ErrorCode::usage, "no such part of the picture can be shown", printable(files_.at(id).path),
                 fmt::format("ask for at most {} pixels a side that lie in it", kMostRegion)};
  }
  return Shown{"image/png", png_of(**picture, part), width, height};
}

Outcome<std::shared_ptr<const Thumbnail>> Pictures::whole(std::size_t id) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(wholes_.begin(), wholes_.end(), [&](const Whole& w) { return w.id == id; });
  if (known != wholes_.end()) {
    wholes_.splice(wholes_.begin(), wholes_, known);
    return wholes_.front().picture;
  }
  const FoundFile& file = files_.at(id);
  const Bytes size{3 * static_cast<std::uint64_t>(file.width) * static_cast<std::uint64_t>(file.height)};
  // What was looked at before makes room; the decoder takes as much again.
  while (!wholes_.empty() && (wholes_.size() >= kMostWholes || context_.budget.largest_grant() < size * 4))
    wholes_.pop_back();
  auto print = decode(id, 0);
  if (!print) return print.error();
  auto picture = std::make_shared<const Thumbnail>(std::move(print->thumbnail));
  if (auto memory = context_.budget.try_reserve({picture->rgb.size()}, "pictures that are compared"))
    wholes_.push_front({id, picture, std::move(*memory)});
  return std::shared_ptr<const Thumbnail>(picture);
}

}  // namespace millrace::dedupe
