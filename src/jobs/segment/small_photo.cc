#include "src/jobs/segment/small_photo.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/io/image/picture_rows.h"
#include "src/io/image/thumbnail_jpeg.h"
#include "src/jobs/segment/writer.h"
#include "src/pipeline/chain.h"

namespace millrace::segment {
namespace {

constexpr std::int64_t kMaxPixels = 200'000'000;  // larger images take seconds each
constexpr std::size_t kMaxPhotoBytes = 96 << 10;

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

// Image in progress; its rows are open if it can be shown.
struct Item {
  const PictureResult* picture = nullptr;
  std::unique_ptr<PictureRows> rows;
};

constexpr Bytes kAheadOfPhoto = 1_MiB;

Item open_item(const PictureResult& picture, const PictureFileOptions& files, RunContext& context) {
  Item out{&picture, nullptr};
  if (std::int64_t{picture.width} * picture.height > kMaxPixels) return out;
  auto file = FileReader::open(picture.path);
  if (!file) return out;
  auto rows = PictureRows::open(std::move(file).or_throw(), decode_options(files, context), kAheadOfPhoto);
  if (!rows) return out;
  out.rows = std::move(rows).or_throw();
  const PictureInfo& info = out.rows->info();
  if (info.width != picture.width || info.height != picture.height || info.clips) out.rows.reset();
  return out;
}

Bytes memory_cost_of(const Item& item) {
  return (item.rows ? item.rows->info().decoder_memory + kAheadOfPhoto : Bytes{}) + 4_MiB;
}

SmallPhoto make_small(Item item, const std::string& output, const Setup& setup, const DrawLayers& draw) {
  const PictureResult& picture = *item.picture;
  SmallPhoto out;
  const std::size_t block = Preview::block_of(picture.width, picture.height);
  const auto small = [block](int side) {
    return static_cast<std::uint32_t>((static_cast<std::size_t>(side) + block - 1) / block);
  };
  out.width = small(picture.width);
  out.height = small(picture.height);
  std::vector<SmallMask> masks = read_previews(record_path(output, picture.name), setup, picture);
  const bool fit = std::all_of(masks.begin(), masks.end(), [&out](const SmallMask& mask) {
    return mask.labels.empty() || (mask.width == out.width && mask.height == out.height);
  });
  if (!fit) masks.clear();
  draw(picture, masks, out);
  if (!item.rows) return out;
  try {
    const Thumbnail thumbnail = blocks_of(*item.rows, block);
    if (hex_of_bytes(item.rows->finish().or_throw().hash) != picture.hash) return out;
    out.jpeg = encode_thumbnail(thumbnail, kMaxPhotoBytes);
  } catch (const Failure& failure) {
    // The page shows its mask nevertheless.
    if (failure.error().code == ErrorCode::cancelled) throw;
  }
  return out;
}

}  // namespace

std::vector<SmallPhoto> make_small_photos(const std::vector<const PictureResult*>& pictures, const std::string& output,
                                          const Setup& setup, const PictureFileOptions& files, const DrawLayers& draw,
                                          RunContext& context) {
  std::vector<SmallPhoto> out;
  std::size_t next = 0;
  Progress progress(context.progress, "pictures for the page", pictures.size());
  auto stages =
      chain::source<Item>(
          "pictures",
          [&]() -> std::optional<Item> {
            if (next == pictures.size()) return std::nullopt;
            Item out = open_item(*pictures[next++], files, context);
            // An image that can never fit is shown without its photograph. This does not depend on the memory in use.
            if (memory_cost_of(out) > context.budget.limit()) out.rows.reset();
            return out;
          },
          [&](const Item& item) { return std::min(memory_cost_of(item), context.budget.largest_grant()); }) |
      chain::parallel<Item, SmallPhoto>(
          "make smaller", [&](Item item, Span&) { return make_small(std::move(item), output, setup, draw); }) |
      chain::sink<SmallPhoto>("collect", [&](SmallPhoto photo, Span&) {
        progress.add(1);
        out.push_back(std::move(photo));
      });
  chain::run(stages, context, chain::MemoryCost::per_item());
  context.throw_if_cancelled();
  context.helpers.end_idle();
  return out;
}

}  // namespace millrace::segment
