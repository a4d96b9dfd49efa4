#include "src/jobs/segment/small_photo.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/io/image/picture_rows.h"
#include "src/io/image/thumbnail_jpeg.h"

namespace millrace::segment {
namespace {

constexpr std::int64_t kMostPixels = 200'000'000;  // more take seconds each
constexpr std::size_t kMostBytes = 96 << 10;

Thumbnail blocks_of(PictureRows& rows, std::size_t block) {
  const PictureInfo& info = rows.info();
  const auto width = static_cast<std::size_t>(info.width), channels = static_cast<std::size_t>(info.channels),
             columns = (width + block - 1) / block;
  Thumbnail out;
  out.width = static_cast<int>(columns);
  std::vector<std::uint8_t> row(rows.row_bytes());
  std::vector<std::uint64_t> sums(columns * 3);
  std::size_t added = 0;
  const auto end_block = [&] {
    for (std::size_t k = 0; k < sums.size(); ++k) {
      const std::size_t pixels = std::min(block, width - k / 3 * block) * added;
      out.rgb.push_back(static_cast<std::uint8_t>((sums[k] + pixels / 2) / pixels));
    }
    std::fill(sums.begin(), sums.end(), 0);
    added = 0;
    ++out.height;
  };
  for (int y = 0; y < info.height; ++y) {
    rows.take(1, row.data()).or_throw();
    for (std::size_t x = 0; x < width; ++x)
      for (std::size_t c = 0; c < 3; ++c) sums[x / block * 3 + c] += row[x * channels + (channels == 3 ? c : 0)];
    if (++added == block) end_block();
  }
  if (added > 0) end_block();
  return out;
}

}  // namespace

SmallPhoto small_photo(const PictureFileOptions& files, const PictureResult& picture, RunContext& context) {
  SmallPhoto out;
  const std::size_t block = Preview::block_of(picture.width, picture.height);
  const auto small = [block](int side) {
    return static_cast<std::uint32_t>((static_cast<std::size_t>(side) + block - 1) / block);
  };
  out.width = small(picture.width);
  out.height = small(picture.height);
  if (std::int64_t{picture.width} * picture.height > kMostPixels) return out;
  try {
    constexpr Bytes kAhead = 1_MiB;
    auto rows =
        PictureRows::open(FileReader::open(picture.path).or_throw(), decode_options(files, context), kAhead).or_throw();
    const PictureInfo& info = rows->info();
    if (info.width != picture.width || info.height != picture.height || info.clips) return out;
    const Reservation paid = context.budget.reserve(info.decoder_memory + kAhead, "a picture for the page");
    const Thumbnail thumbnail = blocks_of(*rows, block);
    if (hex_of_bytes(rows->finish().or_throw().hash) != picture.hash) return out;
    out.jpeg = encode_thumbnail(thumbnail, kMostBytes);
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::cancelled) throw;
    // The page has its mask all the same.
  }
  return out;
}

}  // namespace millrace::segment
