#include "src/kernels/chart/chart_scratch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "src/kernels/chart/body/layout.inc"
#include "src/kernels/chart/chart_entries.h"
#include "src/kernels/chart/chart_indicators.h"
#include "src/kernels/stroke/stroke_cells.h"
#include "src/kernels/stroke/stroke_envelope.h"
#include "src/kernels/stroke/stroke_rows.h"

namespace millrace::chart {
namespace {

// Numbers that bodies, which are C, define themselves must equal those of the CPU's code.
static_assert(static_cast<int>(Style::line) == CHART_LINE && static_cast<int>(Style::ohlc) == CHART_OHLC &&
              static_cast<int>(Style::candle) == CHART_CANDLE && static_cast<int>(Style::jkx) == CHART_JKX);
static_assert(kRising == CHART_RISING && kFalling == CHART_FALLING && kVolumeLevel == CHART_VOLUME_LEVEL);
static_assert(kMaxWidth + 3 == CHART_CELLS && kEntries.size() == CHART_GIVE_UPS);
static_assert(stroke::kTileWidth == CHART_TILE_WIDTH && stroke::kTileHeight == CHART_TILE_HEIGHT);
static_assert(stroke::kTileHeight < CHART_TILE_ROWS && rle::kMaxSide < 1 << 24);
static_assert(stroke::kSlantRows == CHART_SLANT_ROWS && stroke::kSlantPixels == CHART_SLANT_PIXELS &&
              stroke::kMaxStep == double{CHART_LONGEST_STEP} && stroke::kSlantError * double{CHART_SLANT_ERROR} == 1);
static_assert(stroke::Cells::kBand == CHART_CELL_BAND && stroke::Cells::kFewRows == CHART_FEW_ROWS);
static_assert(stroke::StrokeParts::kMaxAtOnce == CHART_MOST_AT_ONCE && stroke::StrokeParts::kStrip == CHART_STRIP);

// Returns the radii of a chart's strokes: the line's and the average's.
std::vector<double> radii_of(const ChartSpec& spec) {
  if (spec.style != Style::line) return {};
  std::vector<double> out = {spec.line_pixels / 2};
  if (spec.average > 0) out.push_back(std::min(1.0, spec.line_pixels) / 2);
  return out;
}

// Number of elements of each kind, per chart.
struct Room {
  explicit Room(const ChartSpec& spec) {
    const std::uint64_t n = spec.rows;
    planes = price_columns_of(spec).size() + (spec.average > 0 ? 1 : 0);
    for (const double radius : radii_of(spec)) {
      ++layers;
      const int halvings = stroke::ChordTurns(radius).max_halvings();
      // A piece has the corners of two arcs, and up to ten others: six of its own, both ends, both sides of a slant.
      corners = std::max(corners, 2 * (std::uint64_t{1} << halvings) + 10);
    }
    edges = layers > 0 ? 16 * n + 8 * corners : 0;
  }
  std::uint64_t planes = 0, layers = 0, corners = 0, edges = 0;
};

// Returns the stored elements of each level, one per channel.
std::vector<std::uint32_t> table_of(const Format& format) {
  std::vector<std::uint32_t> out;
  for (std::size_t level = 0; level < format.colours.size(); ++level) {
    if (format.kind == PixelKind::bits) {
      out.push_back(format.colours[level].red >= 128 ? 1 : 0);
      continue;
    }
    const std::size_t each = format.pixels.bytes / static_cast<std::size_t>(format.channels);
    for (std::size_t channel = 0; channel < static_cast<std::size_t>(format.channels); ++channel) {
      std::uint32_t element = 0;
      std::memcpy(&element, format.pixels.level[level].data() + channel * each, each);
      out.push_back(element);
    }
  }
  return out;
}

std::vector<std::int32_t> numbers_of(const ChartSpec& spec, const Format& format, const Room& room, std::size_t before,
                                     bool narrow) {
  const PixelRows rows(spec);
  const int cells = spec.width + 3, band = std::clamp(CHART_CELLS / cells, 1, spec.height);
  std::vector<std::int32_t> out(CHART_SPEC);
  const auto number = [](auto value) { return static_cast<std::int32_t>(value); };
  out[CHART_ROWS] = number(spec.rows);
  out[CHART_BEFORE] = number(before);
  out[CHART_COLUMNS] = number(price_columns_of(spec).size());
  out[CHART_STYLE] = number(spec.style);
  // The style jkx supports only the scale of plain prices.
  out[CHART_LOGARITHMS] = spec.logarithms && spec.style != Style::jkx ? 1 : 0;
  out[CHART_WIDTH] = spec.width;
  out[CHART_HEIGHT] = spec.height;
  out[CHART_PRICE] = rows.price;
  out[CHART_VOLUME] = rows.volume;
  out[CHART_AVERAGE] = number(spec.average);
  out[CHART_LAYERS] = number(room.layers);
  out[CHART_CORNERS] = number(room.corners);
  out[CHART_EDGES] = number(room.edges);
  out[CHART_BAND] = band;
  out[CHART_BANDS] = (spec.height + band - 1) / band;
  out[CHART_CHANNELS] = format.channels;
  out[CHART_ELEMENT] = number(format.pixels.bytes / static_cast<std::size_t>(format.channels));
  out[CHART_BITS] = format.kind == PixelKind::bits ? 1 : 0;
  out[CHART_NARROW] = narrow ? 1 : 0;
  return out;
}

}  // namespace

// Calls `take` for every array that grows with the number of charts, with its length per chart.
template <typename Take>
void ChartScratch::each_array(const ChartSpec& of, const Take& take) {
  const Room room(of);
  const std::uint64_t n = of.rows, points = room.layers * n;
  take(values, n * room.planes, "prices");
  take(scale_ends, std::uint64_t{CHART_END_REALS}, "scales");
  take(places, of.style == Style::line ? 0 : n * CHART_PLACES, "bars");
  take(heights, n, "volume");
  take(ys, points, "points");
  take(normals, 3 * points, "legs");
  take(begins, 2 * points, "pieces");
  take(ends, 2 * points, "pieces");
  take(piece_legs, 2 * points, "pieces");
  take(spans, 3 * 2 * points, "pieces");
  take(piece_of, 2 * points, "pieces");
  take(slants, 2 * points, "slants");
  take(slant_reals, CHART_SLANT_REALS * points, "slants");
  take(corners, 2 * 2 * points * room.corners, "corners");
  take(counts, 2 * 2 * points, "corners");
  take(tiles, 2 * points * CHART_TILE, "tiles");
  take(tile_rows, 2 * points, "tiles");
  take(edges, room.layers * room.edges * CHART_EDGE, "edges");
  take(edge_counts, room.layers, "edges");
  take(part_rows, room.layers, "rows of strokes");
  take(state, std::uint64_t{2}, "charts for the CPU");
}

std::uint64_t ChartScratch::max_charts(const ChartSpec& spec, Accelerator& accelerator, std::uint64_t bytes_each,
                                       std::uint64_t most) {
  std::uint64_t each = bytes_each;
  ChartScratch().each_array(spec, [&](const auto& buffer, std::uint64_t count, const char*) {
    each += count * std::remove_cvref_t<decltype(buffer)>::kElement;
  });
  return std::clamp<std::uint64_t>(accelerator.free_memory().count / 2 / each, 1, most);
}

ChartScratch::ChartScratch(const ChartSpec& of, const Format& format, std::size_t before, bool narrow,
                           std::uint64_t charts, Accelerator& accelerator, Queue& queue)
    : charts_(charts), before_(before), narrow_(narrow), expected_(kEntries.size()) {
  const Room room(of);
  numbers_ = numbers_of(of, format, room, before, narrow);
  layers = room.layers;
  bands = static_cast<std::uint64_t>(numbers_[CHART_BANDS]);
  const auto make = [&](auto& buffer, std::uint64_t count, const char* purpose) {
    buffer = std::remove_cvref_t<decltype(buffer)>(accelerator, std::max<std::uint64_t>(count, 1), purpose);
  };
  each_array(of,
             [&](auto& buffer, std::uint64_t count, const char* purpose) { make(buffer, charts * count, purpose); });
  make(spec, CHART_SPEC, "chart options");
  make(reals, CHART_REALS, "chart options");
  const std::vector<std::uint32_t> levels = table_of(format);
  make(table, levels.size(), "colours");
  make(no_reals, 1, "no series");
  make(no_singles, 1, "no series");
  make(done, CHART_DONE, "block counter");
  std::array<double, CHART_REALS> turns{};
  const std::vector<double> radii = radii_of(of);
  for (std::size_t layer = 0; layer < radii.size(); ++layer) {
    const stroke::ChordTurns chords(radii[layer]);
    turns[CHART_RADIUS + layer] = radii[layer];
    turns[CHART_COARSEST + layer] = chords.coarsest;
    turns[CHART_ALONE + layer] = chords.alone;
    turns[CHART_INVERSE + layer] = 1 / radii[layer];
  }
  // If a launch did nothing, the next kernels find no work, and the missing blocks show it.
  queue.fill(piece_legs, 0xFF);
  queue.fill(piece_of, 0xFF);
  for (DeviceBuffer<std::int32_t>* none : {&slants, &tiles, &places, &heights}) queue.fill(*none, 0);
  for (DeviceBuffer<std::uint32_t>* none : {&spans, &counts, &tile_rows}) queue.fill(*none, 0);
  queue.upload(std::span<const double>(turns), reals);
  queue.upload(std::span<const std::uint32_t>(levels), table);
}

void ChartScratch::begin(Queue& queue, std::uint64_t charts, bool aligned, bool is_fixed) {
  const auto count = static_cast<std::int32_t>(charts), even = aligned ? 1 : 0, given = is_fixed ? 1 : 0;
  if (!sent_ || numbers_[CHART_CHARTS] != count || numbers_[CHART_ALIGNED] != even || numbers_[CHART_FIXED] != given) {
    numbers_[CHART_FIXED] = given;
    numbers_[CHART_CHARTS] = count;
    numbers_[CHART_ALIGNED] = even;
    sent_ = false;
    queue.upload(std::span<const std::int32_t>(numbers_), spec);
    sent_ = true;
  }
  std::fill(expected_.begin(), expected_.end(), 0);
  queue.fill(done, 0);
  queue.fill(state, 0, 2 * charts);
  queue.fill(edge_counts, 0);
  queue.fill(part_rows, 0);
}

void ChartScratch::expect(const KernelEntry& entry, std::uint64_t blocks) {
  // Kernels count in `done` in the order of kEntries.
  const auto at =
      std::find_if(kEntries.begin(), kEntries.end(), [&](const KernelEntry& each) { return each.name == entry.name; });
  expected_.at(static_cast<std::size_t>(at - kEntries.begin())) = static_cast<std::uint32_t>(blocks);
}

std::vector<std::uint64_t> ChartScratch::given_up(Queue& queue, std::uint64_t charts) {
  std::vector<std::uint32_t> counted(CHART_DONE);
  queue.download(done, std::span<std::uint32_t>(counted));
  for (std::size_t kernel = 0; kernel < kEntries.size(); ++kernel) {
    if (counted[kernel] != expected_[kernel]) throw Failure(ErrorCode::internal, "it left out a part of its work");
  }
  std::vector<std::uint64_t> out;
  if (counted[CHART_GIVE_UPS] == 0) return out;
  std::vector<std::uint32_t> flags(2 * charts);
  queue.download(state, std::span<std::uint32_t>(flags));
  for (std::uint64_t chart = 0; chart < charts; ++chart) {
    if (flags[chart] != 0 || flags[charts + chart] != 0) out.push_back(chart);
  }
  return out;
}

}  // namespace millrace::chart
