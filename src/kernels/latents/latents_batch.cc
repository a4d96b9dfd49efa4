#include "src/kernels/latents/latents_batch.h"

#include <algorithm>
#include <cstring>

namespace millrace::latents {
namespace {

static_assert(LATENTS_LANES == kLanes && LATENTS_BINS == kBins && LATENTS_BIN_EDGES == kEdges &&
              LATENTS_COUNTED == kCountedChannels && LATENTS_PATCH_SIDES == kPatches.size() &&
              LATENTS_OCTAVE_BINS == OctaveBins::kCount && LATENTS_PAIR_BINS == kBins * kBins &&
              LATENTS_PAIR_TABLES == std::tuple_size_v<PairTables>);
static_assert(sizeof(PlaneSums) == LATENTS_PLANE_SUMS * sizeof(Sum) &&
              sizeof(PatchSums) == LATENTS_PATCH_SUMS * sizeof(Sum));

// Largest number of elements in an array, which 31 bits count: kernels count with 32.
constexpr std::uint64_t kMaxElements = std::uint64_t{1} << 31;

std::uint32_t number(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

}  // namespace

std::uint64_t LatentSizes::bytes() const {
  return 8 * (follow + images + rows + product_rows + sums) +
         4 * (planes + moments + places + 4 * spectra + ranges + edges + counts);
}

std::uint64_t LatentSizes::most() const {
  return std::max({values, planes, follow, images, rows, product_rows, moments, places, spectra, sums, counts});
}

BatchPlan::BatchPlan(const LatentShape& of, const MetricSelection& wanted_metrics)
    : shape(of),
      metrics(wanted_metrics),
      wanted(wanted_metrics),
      spectra(of.height, of.width),
      groups((static_cast<std::size_t>(of.channels) + kLanes - 1) / kLanes),
      numbers(LATENTS_SHAPE) {
  const std::uint64_t channels = static_cast<std::uint64_t>(shape.channels),
                      frames = static_cast<std::uint64_t>(shape.frames), pixels = shape.pixels(),
                      height = static_cast<std::uint64_t>(shape.height), pairs = groups * (groups + 1) / 2;
  const std::uint64_t follow_sums = 2 * frames + 1 + blocks_of(frames, LATENTS_RUN);
  numbers[LATENTS_CHANNELS] = number(channels);
  numbers[LATENTS_FRAMES] = number(frames);
  numbers[LATENTS_HEIGHT] = number(height);
  numbers[LATENTS_WIDTH] = static_cast<std::uint32_t>(shape.width);
  numbers[LATENTS_PIXELS] = number(pixels);
  numbers[LATENTS_GROUPS] = number(groups);
  numbers[LATENTS_GROUP_PAIRS] = number(pairs);
  numbers[LATENTS_FEW] = has_few_pixels(shape.height, shape.width) ? 1 : 0;
  numbers[LATENTS_KEPT_BINS] = number(spectra.rows.bins);
  numbers[LATENTS_FOLLOW_SUMS] = number(follow_sums);
  room.values = shape.elements();
  room.planes = planes() * pixels * kLanes;
  room.follow = channels * blocks_of(pixels, LATENTS_FOLLOW_BLOCK) * follow_sums * kLanes;
  if (wanted.flatness) room.images = channels * pixels;
  room.rows = planes() * height * LATENTS_ROW_SUMS * kLanes;
  if (wanted.products) room.product_rows = frames * pairs * height * kLanes * kLanes;
  if (has_spectra()) room.spectra = planes() * spectra.bins() * kLanes;
  room.ranges = 2 * counted_channels(shape) * frames;
  room.edges = 2 * counted_channels(shape) * kEdges;
  lay_out_patches();
  lay_out_sums();
  add_weights();
  add_members();
}

void BatchPlan::lay_out_sums() {
  const auto channels = static_cast<std::uint64_t>(shape.channels), frames = static_cast<std::uint64_t>(shape.frames);
  const auto place = [this](std::uint64_t& all, int at, std::uint64_t count) {
    numbers[static_cast<std::size_t>(at)] = number(all);
    all += count;
  };
  place(room.sums, LATENTS_AT_PILOTS, channels);
  place(room.sums, LATENTS_AT_TIMES, channels * (2 + 2 * frames));
  place(room.sums, LATENTS_AT_IMAGE, wanted.flatness ? shape.pixels() : 0);
  place(room.sums, LATENTS_AT_PLANES, frames * groups * LATENTS_PLANE_SUMS * kLanes);
  place(room.sums, LATENTS_AT_PATCHES, wanted.patches ? frames * groups * LATENTS_PATCH_SUMS * kLanes : 0);
  place(room.sums, LATENTS_AT_PRODUCTS, wanted.products ? frames * numbers[LATENTS_GROUP_PAIRS] * kLanes * kLanes : 0);
  place(room.sums, LATENTS_AT_POWER, has_spectra() ? spectra.bins() : 0);
  numbers[LATENTS_SUMS] = number(room.sums);
  place(room.counts, LATENTS_AT_PATCH_COUNTS, wanted.patches ? LATENTS_PATCH_SUMS * LATENTS_OCTAVE_BINS : 0);
  place(room.counts, LATENTS_AT_DENSITY, wanted.density ? counted_channels(shape) * frames * kBins : 0);
  place(room.counts, LATENTS_AT_PAIRS, has_pairs() ? 2 * LATENTS_PAIR_TABLES * LATENTS_PAIR_BINS : 0);
  numbers[LATENTS_COUNTS] = number(room.counts);
}

void BatchPlan::lay_out_patches() {
  factors.resize(LATENTS_FACTORS);
  std::uint64_t moments = 0, places = 0;
  for (std::size_t k = 0; k < kPatches.size(); ++k) {
    const auto side = static_cast<std::uint64_t>(kPatches[k]);
    const std::uint64_t patches =
        static_cast<std::uint64_t>(shape.height) / side * (static_cast<std::uint64_t>(shape.width) / side);
    numbers[LATENTS_AT_MOMENTS + k] = number(moments);
    numbers[LATENTS_AT_PLACES + k] = number(places);
    moments += patches;
    places += side * side;
    factors[LATENTS_WITHIN + k] = 1.0F / static_cast<float>(side * side - 1);
    if (patches < 2) continue;
    factors[LATENTS_SHARE + k] = 1.0F / static_cast<float>(patches);
    factors[LATENTS_BETWEEN + k] = 1.0F / static_cast<float>(patches - 1);
  }
  numbers[LATENTS_MOMENTS] = number(moments);
  numbers[LATENTS_PLACES] = number(places);
  if (!wanted.patches) return;
  room.moments = planes() * moments * 2 * kLanes;
  room.places = planes() * places * 2 * kLanes;
}

void BatchPlan::add_weights() {
  if (!has_spectra()) return;
  for (std::size_t k = 0; k < spectra.rows.parts.size(); ++k) {
    const RowTransform<float>::Part& part = spectra.rows.parts[k];
    numbers[LATENTS_AT_WEIGHTS + k] = number(weights.size());
    numbers[LATENTS_TERMS + k] = number(part.terms);
    numbers[LATENTS_PART_BINS + k] = number(part.bins);
    weights.insert(weights.end(), part.weights.begin(), part.weights.end());
  }
  for (const ColumnTransform<float>::Step& step : spectra.columns.steps) {
    steps.push_back({number(step.radix), number(step.before), number(turns.size())});
    turns.insert(turns.end(), step.twiddles.begin(), step.twiddles.end());
    turns.insert(turns.end(), step.cosines.begin(), step.cosines.end());
    turns.insert(turns.end(), step.sines.begin(), step.sines.end());
  }
}

// Adds members in the order of PlaneSums.
void BatchPlan::add_members() {
  struct Rows {
    std::uint32_t begin, end;
  };
  const auto height = static_cast<std::uint32_t>(shape.height);
  const bool odd_width = shape.width % 2 == 1, odd_height = shape.height % 2 == 1;
  const Rows all{0, height}, upper{0, height / 2}, first{0, 1}, last{height - 1, height}, none{0, 0},
      but_first{1, height};
  const Rows left = shape.width > 1 ? all : none, middle_columns = odd_width ? all : none;
  const Rows middle_row = odd_height ? Rows{height / 2, height / 2 + 1} : none, published = odd_height ? upper : none;
  std::size_t at = LATENTS_MEMBERS;
  const auto add = [&](int of, const Rows& rows) {
    for (const std::uint32_t value : {static_cast<std::uint32_t>(of), rows.begin, rows.end}) numbers[at++] = value;
  };
  add(LATENTS_ROW_SUM, all);
  add(LATENTS_ROW_SQUARES, all);
  add(LATENTS_ROW_LEFT, left);
  add(LATENTS_ROW_LEFT_SQUARES, left);
  add(LATENTS_ROW_SUM, upper);
  add(LATENTS_ROW_SQUARES, upper);
  add(LATENTS_ROW_FIRST, all);
  add(LATENTS_ROW_FIRST_SQUARES, all);
  add(LATENTS_ROW_MIDDLE, middle_columns);
  add(LATENTS_ROW_MIDDLE_SQUARES, middle_columns);
  add(LATENTS_ROW_LAST, all);
  add(LATENTS_ROW_LAST_SQUARES, all);
  for (const Rows& rows : {first, middle_row, last}) {
    add(LATENTS_ROW_SUM, rows);
    add(LATENTS_ROW_SQUARES, rows);
  }
  add(LATENTS_ROW_LAG_X, all);
  add(LATENTS_ROW_LAG_Y, but_first);
  add(LATENTS_ROW_WRAP_X, all);
  add(LATENTS_ROW_LAG_Y, first);
  add(LATENTS_ROW_STEP_X, all);
  add(LATENTS_ROW_STEP_Y, but_first);
  add(LATENTS_ROW_MIRROR_X, all);
  add(LATENTS_ROW_MIRROR_Y, upper);
  add(LATENTS_ROW_PUBLISHED_X, middle_columns);
  add(LATENTS_ROW_PUBLISHED_Y, published);
}

std::uint64_t BatchPlan::most() const { return kMaxElements / std::max<std::uint64_t>(1, room.most()); }

std::vector<std::uint32_t> BatchPlan::numbers_of(bool halves) const {
  std::vector<std::uint32_t> out = numbers;
  out[LATENTS_HALVES] = halves ? 1 : 0;
  out[LATENTS_KEEPS_IMAGES] = halves && wanted.flatness ? 1 : 0;
  return out;
}

void BatchPlan::read(std::span<const double> from, std::span<const std::uint32_t> counts, Sums& sums,
                     BinCounts& binned) const {
  const auto frames = static_cast<std::size_t>(shape.frames);
  const auto sums_at = [&](int which) { return from.begin() + numbers[static_cast<std::size_t>(which)]; };
  auto pilots = sums_at(LATENTS_AT_PILOTS);
  auto times = sums_at(LATENTS_AT_TIMES);
  const auto step = [](auto& at, std::size_t by) { at += static_cast<std::ptrdiff_t>(by); };
  for (std::size_t c = 0; c < sums.times.size(); ++c) {
    sums.pilots[c] = static_cast<float>(*pilots++);
    TimeSums& time = sums.times[c];
    time.magnitude = *times++;
    time.temporal = *times++;
    time.motion.assign(times, times + shape.frames);
    step(times, frames);
    time.product.assign(times, times + shape.frames);
    step(times, frames);
  }
  if (wanted.flatness) std::copy_n(sums_at(LATENTS_AT_IMAGE), shape.pixels(), sums.image.begin());
  if (has_spectra()) std::copy_n(sums_at(LATENTS_AT_POWER), spectra.bins(), sums.power.begin());
  for (std::size_t f = 0; f < frames; ++f) {
    std::size_t pair = f * numbers[LATENTS_GROUP_PAIRS];
    for (std::size_t g = 0; g < groups; ++g) {
      const auto plane = static_cast<std::ptrdiff_t>(f * groups + g);
      std::memcpy(static_cast<void*>(&sums.planes[g * frames + f]),
                  &*(sums_at(LATENTS_AT_PLANES) + plane * LATENTS_PLANE_SUMS * LATENTS_LANES), sizeof(PlaneSums));
      if (wanted.patches) {
        std::memcpy(static_cast<void*>(&sums.patches[g * frames + f]),
                    &*(sums_at(LATENTS_AT_PATCHES) + plane * LATENTS_PATCH_SUMS * LATENTS_LANES), sizeof(PatchSums));
      }
      for (std::size_t other = g; wanted.products && other < groups; ++other, ++pair) {
        std::copy_n(
            sums_at(LATENTS_AT_PRODUCTS) + static_cast<std::ptrdiff_t>(pair * kLanes * kLanes), kLanes * kLanes,
            sums.products.begin() + static_cast<std::ptrdiff_t>(((f * groups + g) * groups + other) * kLanes * kLanes));
      }
    }
  }
  const auto counts_at = [&](int which) { return counts.begin() + numbers[static_cast<std::size_t>(which)]; };
  if (wanted.patches) {
    auto at = counts_at(LATENTS_AT_PATCH_COUNTS);
    // The counts of all lanes are stored in the first one's table.
    for (auto* tables : {&sums.patch_counts.variance, &sums.patch_counts.distinctiveness}) {
      for (PatchCounts::OfLanes& lanes : *tables) {
        std::copy_n(at, OctaveBins::kCount, lanes[0].begin());
        step(at, OctaveBins::kCount);
      }
    }
  }
  if (wanted.density) {
    binned.density.resize(counted_channels(shape) * frames);
    auto at = counts_at(LATENTS_AT_DENSITY);
    for (Counts& one : binned.density) {
      std::copy_n(at, kBins, one.begin());
      step(at, kBins);
    }
  }
  if (!has_pairs()) return;
  auto at = counts_at(LATENTS_AT_PAIRS);
  for (PairTables* tables : {&binned.even, &binned.published}) {
    for (std::vector<std::uint32_t>& table : *tables) {
      table.assign(at, at + LATENTS_PAIR_BINS);
      step(at, LATENTS_PAIR_BINS);
    }
  }
}

}  // namespace millrace::latents
