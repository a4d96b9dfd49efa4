#include "src/jobs/dedupe/match/turned_thumbnails.h"

#include <algorithm>

#include "src/io/image/thumbnail_jpeg.h"

namespace millrace::dedupe {

std::optional<similarity::Thumbnail> thumbnail_pixels(std::span<const std::uint8_t> jpeg) {
  const auto thumbnail = decode_thumbnail(jpeg);
  if (!thumbnail) return std::nullopt;
  const auto small = squeezed(*thumbnail, similarity::kSide);
  std::optional<similarity::Thumbnail> pixels(std::in_place);
  std::copy(small.begin(), small.end(), pixels->begin());
  return pixels;
}

void each_turned_thumbnail(std::span<const std::uint64_t> appearances, const CodesOf& codes_of, Catalog& catalog,
                           RunContext& context, const std::function<void(std::size_t, const TurnedCodes&)>& visit) {
  constexpr std::size_t kBatch = 4096;
  Trace::Stage& stage = context.trace.stage("turn thumbnails", context.executor.threads());
  std::vector<std::vector<std::uint8_t>> jpegs(std::min(kBatch, appearances.size()));
  std::vector<TurnedCodes> codes(jpegs.size());
  for (std::size_t begin = 0; begin < appearances.size(); begin += kBatch) {
    const std::size_t count = std::min(kBatch, appearances.size() - begin);
    for (std::size_t i = 0; i < count; ++i)
      jpegs[i] = catalog.thumbnail(appearances[begin + i]).value_or(std::vector<std::uint8_t>());
    context.executor.parallel_for(count, 16, [&](std::size_t from, std::size_t to) {
      const Span span(stage);
      for (std::size_t i = from; i < to; ++i) {
        const auto pixels = thumbnail_pixels(jpegs[i]);
        codes[i].fill(codes_of(begin + i));
        for (std::size_t o = 1; pixels && o < codes[i].size(); ++o)
          codes[i][o] = thumbnail_codes(similarity::oriented(*pixels, kOrientations[o]).data());
      }
    });
    context.throw_if_cancelled();
    for (std::size_t i = 0; i < count; ++i) visit(begin + i, codes[i]);
  }
}

}  // namespace millrace::dedupe
