#include "src/jobs/dedupe/review/pictures.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/image/png_write.h"
#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/dedupe/page/previews.h"
#include "src/jobs/dedupe/scan/searched_picture.h"

namespace millrace::dedupe {
namespace {

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
  const FoundFile& file = files_.at(id);
  Span span(stage_);
  return decode_searched({file.path, file.size, file.mtime_ns, file.width, file.height}, side, options_, context_, span);
}

template <class Work>
auto Pictures::with_room(const Work& work) {
  try {
    auto done = work();
    if (done || done.error().code != ErrorCode::out_of_memory) return done;
  } catch (const OutOfMemory&) {
  }
  {
    const std::lock_guard lock(mutex_);
    wholes_.clear();
  }
  return work();
}

Outcome<Pictures::Shown> Pictures::thumb(std::size_t id) {
  const auto print = with_room([&] { return decode(id, kPreviewSide); });
  if (!print) return print.error();
  const auto jpeg = encode_thumbnail(print->thumbnail, kMostPreviewBytes);
  const auto [width, height] = sides_of(*print);
  return Shown{"image/jpeg", {jpeg.begin(), jpeg.end()}, width, height};
}

Outcome<Pictures::Shown> Pictures::preview(std::size_t id) {
  const auto print = with_room([&] { return decode(id, kScreenSide); });
  if (!print) return print.error();
  const Thumbnail& picture = print->thumbnail;
  return shown_as_png(picture, {0, 0, picture.width, picture.height}, sides_of(*print));
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
  return shown_as_png(**picture, part, {width, height});
}

Outcome<Pictures::Shown> Pictures::shown_as_png(const Thumbnail& picture, const Region& part,
                                                std::pair<int, int> sides) {
  // The rows, and as much again for what they become.
  const Bytes size{6 * static_cast<std::uint64_t>(part.width) * static_cast<std::uint64_t>(part.height)};
  return with_room([&]() -> Outcome<Shown> {
    const auto memory =
        context_.budget.wait_for(size, "pictures to show", [this] { return context_.cancel.cancelled(); });
    if (!memory) return interrupted();
    return Shown{"image/png", png_of(picture, part), sides.first, sides.second};
  });
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
  // What was looked at before makes room; the decoder takes as much again, and a turned picture twice that.
  while (!wholes_.empty() && (wholes_.size() >= kMostWholes || context_.budget.largest_grant() < size * 5))
    wholes_.pop_back();
  auto print = decode(id, 0);
  if (!print && print.error().code == ErrorCode::out_of_memory && !wholes_.empty()) {
    wholes_.clear();
    print = decode(id, 0);
  }
  if (!print) return print.error();
  auto picture = std::make_shared<const Thumbnail>(std::move(print->thumbnail));
  try {
    wholes_.push_front({id, picture, context_.budget.reserve({picture->rgb.size()}, "pictures that are compared")});
  } catch (const OutOfMemory&) {
    // It is shown this once.
  }
  return std::shared_ptr<const Thumbnail>(picture);
}

}  // namespace millrace::dedupe
