#include "src/kernels/hash/hash_batch.h"

#include <algorithm>
#include <bit>

#include "src/kernels/hash_quality/hash_quality.h"
#include "src/kernels/pdq/pdq_math.h"
#include "src/kernels/resize/resize.h"
#include "src/kernels/resize/resize_math.h"

namespace millrace::hashes {
namespace {

std::uint64_t number(int n) { return static_cast<std::uint64_t>(n); }
std::uint64_t area(ResizeTarget of) { return number(of.width) * number(of.height); }

bool asks_for(const HashRequest& request, HashKind kind) {
  return std::find(request.kinds.begin(), request.kinds.end(), kind) != request.kinds.end();
}

ResizeTarget size_of(const DecodedPicture& picture) { return {picture.width, picture.height}; }

// Returns the size between the two passes.
ResizeTarget between(ResizeTarget from, ResizeTarget to) {
  return vertical_pass_first(from.width, from.height, to.width, to.height) ? ResizeTarget{from.width, to.height}
                                                                           : ResizeTarget{to.width, from.height};
}

// Returns an upper bound of the words that an axis takes.
std::uint64_t axis_room(int in, int out) {
  return in == out ? 3 * number(out) : number(out) * (2 + 2 * (3 * number(in / out + 1) + 1) + 1);
}

bool needs_luma(const HashRequest& request, const DecodedPicture& picture) {
  return picture.channels == 3 && !targets_of(request, picture).empty();
}

// Upper bound of the bytes of a picture's records.
constexpr std::uint64_t kRecords = std::uint64_t{24} * HASH_RECORD * 8;

// Returns the number of threads of an output: several where it has many inputs, and outputs are few enough to leave
// threads idle.
std::uint64_t lanes_for(std::uint64_t taps, std::uint64_t outputs, bool vertical) {
  constexpr std::uint64_t kMany = 64, kEnoughOutputs = 1 << 16;
  if (taps < kMany) return 1;
  return vertical && outputs >= kEnoughOutputs ? 1 : 16;
}

}  // namespace

BatchArraySizes& BatchArraySizes::operator+=(const BatchArraySizes& more) {
  for (const auto member :
       {&BatchArraySizes::pixels, &BatchArraySizes::luma, &BatchArraySizes::passed, &BatchArraySizes::small,
        &BatchArraySizes::squares, &BatchArraySizes::columns, &BatchArraySizes::low, &BatchArraySizes::sums,
        &BatchArraySizes::counters, &BatchArraySizes::plane, &BatchArraySizes::strip, &BatchArraySizes::filtered,
        &BatchArraySizes::axes}) {
    this->*member += more.*member;
  }
  return *this;
}

std::uint64_t BatchArraySizes::bytes() const {
  const std::uint64_t of_filtered = (HASH_SQUARE + HASH_LOW + 1) * sizeof(float);
  return pixels + luma + passed + small + squares + 8 * (columns + low + sums) + 4 * (counters + axes) +
         4 * (2 * plane + strip) + filtered * of_filtered + kRecords;
}

std::map<ResizeTarget, bool> targets_of(const HashRequest& request, const DecodedPicture& picture) {
  std::map<ResizeTarget, bool> out;
  for (const HashKind kind : request.kinds) {
    const auto target = target_of(kind, request.size, picture.width, picture.height);
    if (target) out[*target] |= kind != HashKind::phash && kind != HashKind::whash;
  }
  if (!asks_for(request, HashKind::pdq)) out[{kQualitySide, kQualitySide}] = true;
  return out;
}

bool is_filtered(const HashRequest& request, const DecodedPicture& picture) {
  return asks_for(request, HashKind::pdq) && std::min(picture.width, picture.height) >= pdq::kMinSide;
}

BatchArraySizes batch_array_sizes_of(const HashRequest& request, const DecodedPicture& picture) {
  const std::uint64_t n = number(request.size);
  BatchArraySizes out;
  out.pixels = picture.row_bytes() * number(picture.height);
  if (needs_luma(request, picture)) out.luma = picture.pixels();
  for (const auto& [target, wanted] : targets_of(request, picture)) {
    out.passed += area(between(size_of(picture), target));
    (wanted ? out.small : out.squares) += area(target);
    out.axes += axis_room(picture.width, target.width) + axis_room(picture.height, target.height);
  }
  if (asks_for(request, HashKind::phash)) {
    out.columns = 4 * n * n;
    out.low = n * n;
  }
  if (asks_for(request, HashKind::whash)) out.sums = n * n;
  if (asks_for(request, HashKind::colorhash)) out.counters = HASH_COUNTERS;
  if (is_filtered(request, picture)) {
    out.plane = picture.pixels();
    out.strip = HASH_SAMPLES * number(picture.height);
    out.filtered = 1;
  }
  return out;
}

std::uint64_t HashBatch::bytes(const BatchArraySizes& room, std::size_t pictures) {
  // Arrays that grow exist twice while they do; records are gathered from other arrays. A target is a node of a map.
  constexpr std::uint64_t kTargets = 8, kNode = 64;
  return 3 * pictures * kRecords + 3 * 4 * room.axes + pictures * (sizeof(PicturePlacement) + kTargets * kNode);
}

HashBatch::HashBatch(const HashRequest& request, std::span<const DecodedPicture> pictures) {
  const bool colours = asks_for(request, HashKind::colorhash);
  for (const DecodedPicture& picture : pictures) {
    PicturePlacement& at = placed.emplace_back();
    at.at = room;
    at.filtered = is_filtered(request, picture);
    room += batch_array_sizes_of(request, picture);
  }
  for (std::size_t i = 0; i < pictures.size(); ++i) {
    const DecodedPicture& picture = pictures[i];
    PicturePlacement& at = placed[i];
    const bool luma = needs_luma(request, picture);
    if (luma || colours) add_luma(picture, at, luma, colours);
    std::uint64_t small = at.at.small, squares = room.small + at.at.squares, passed = at.at.passed;
    for (const auto& [target, wanted] : targets_of(request, picture)) {
      std::uint64_t& to = wanted ? small : squares;
      add_resize(picture, target, luma ? at.at.luma : at.at.pixels, passed, to);
      at.reduced[target] = to;
      passed += area(between(size_of(picture), target));
      to += area(target);
    }
    add_transforms(request, picture, at);
    if (at.filtered) add_box(picture, at);
  }
  stages[HASH_PDQ].blocks = room.filtered;
  gather();
}

const HashBatch::Axis& HashBatch::axis(int in, int out) {
  const auto [found, fresh] = axes_at_.try_emplace({in, out});
  Axis& axis = found->second;
  if (!fresh) return axis;
  axis.at = axes.size();
  const auto word = [](int n) { return static_cast<std::uint32_t>(n); };
  if (in == out) {
    // An axis that keeps its length: each output is its input.
    axis.taps = 1;
    for (int x = 0; x < out; ++x) axes.push_back(word(x));
    axes.insert(axes.end(), number(out), 1);
    axes.insert(axes.end(), number(out), std::uint32_t{1} << kResizePrecision);
    return axis;
  }
  const auto shared = lanczos_axis(in, out);
  axis.taps = number(shared->taps);
  for (const auto* part : {&shared->first, &shared->count, &shared->weights}) {
    std::transform(part->begin(), part->end(), std::back_inserter(axes), word);
  }
  return axis;
}

void HashBatch::add(int stage, std::uint64_t items, std::uint64_t each,
                    std::initializer_list<std::pair<int, std::uint64_t>> of) {
  Pending& pending = pending_.at(static_cast<std::size_t>(stage));
  const std::size_t begin = pending.records.size();
  pending.records.resize(begin + HASH_RECORD, 0);
  pending.records[begin + HASH_BLOCK] = pending.blocks;
  for (const auto& [field, value] : of) pending.records[begin + static_cast<std::size_t>(field)] = value;
  pending.blocks += (items + each - 1) / each;
}

void HashBatch::add_luma(const DecodedPicture& picture, const PicturePlacement& at, bool keeps, bool counted) {
  add(HASH_LUMA, picture.pixels(), HASH_LUMA_PIXELS,
      {{HASH_FROM, at.at.pixels},
       {HASH_TO, at.at.luma},
       {HASH_PIXELS, picture.pixels()},
       {HASH_CHANNELS, number(picture.channels)},
       {HASH_KEEPS, keeps ? 1 : 0},
       {HASH_COUNTED, counted ? at.at.counters + 1 : 0}});
}

void HashBatch::add_pass(int stage, ResizeTarget from, ResizeTarget to, bool vertical, bool luma, std::uint64_t input,
                         std::uint64_t output) {
  const int in = vertical ? from.height : from.width, out = vertical ? to.height : to.width;
  const Axis& of = axis(in, out);
  const std::uint64_t lanes = lanes_for(of.taps, area(to), vertical);
  add(stage, area(to), HASH_RESIZE_THREADS / lanes,
      {{HASH_FROM, input},
       {HASH_TO, output},
       {HASH_LINE, number(from.width)},
       {HASH_VERTICAL, vertical ? 1 : 0},
       {HASH_WIDTH, number(to.width)},
       {HASH_HEIGHT, number(to.height)},
       {HASH_AXIS, of.at},
       {HASH_OUT, number(out)},
       {HASH_TAPS, of.taps},
       {HASH_LANES, lanes},
       {HASH_IS_LUMA, luma ? 1 : 0}});
}

void HashBatch::add_resize(const DecodedPicture& picture, ResizeTarget target, std::uint64_t from, std::uint64_t passed,
                           std::uint64_t to) {
  const ResizeTarget whole = size_of(picture), middle = between(whole, target);
  const bool vertical_first = vertical_pass_first(whole.width, whole.height, target.width, target.height);
  add_pass(HASH_FIRST_PASS, whole, middle, vertical_first, picture.channels == 3, from, passed);
  add_pass(HASH_SECOND_PASS, middle, target, !vertical_first, true, passed, to);
}

void HashBatch::add_transforms(const HashRequest& request, const DecodedPicture& picture, const PicturePlacement& at) {
  const std::uint64_t n = number(request.size);
  const auto reduced = [&](HashKind kind) {
    return at.reduced.at(target_of(kind, request.size, picture.width, picture.height).value());
  };
  if (asks_for(request, HashKind::phash)) {
    add(HASH_DCT_DOWN, 4 * n * n, HASH_DCT_THREADS,
        {{HASH_FROM, reduced(HashKind::phash)}, {HASH_TO, at.at.columns}, {HASH_SIDE, 4 * n}, {HASH_KEPT, n}});
    add(HASH_DCT_ACROSS, n * n, HASH_DCT_THREADS,
        {{HASH_FROM, at.at.columns}, {HASH_TO, at.at.low}, {HASH_SIDE, 4 * n}, {HASH_KEPT, n}});
  }
  if (asks_for(request, HashKind::whash)) {
    const std::uint64_t side = number(whash_side(picture.width, picture.height, request.size));
    const std::uint64_t cell = side / n, lanes = cell >= 16 ? 64 : 1;
    add(HASH_CELLS, n * n, HASH_CELL_THREADS / lanes,
        {{HASH_FROM, reduced(HashKind::whash)},
         {HASH_TO, at.at.sums},
         {HASH_SIDE, side},
         {HASH_KEPT, n},
         {HASH_SHIFT, number(std::countr_zero(cell))},
         {HASH_CELL_LANES, lanes}});
  }
}

void HashBatch::add_box(const DecodedPicture& picture, const PicturePlacement& at) {
  const std::uint64_t width = number(picture.width), height = number(picture.height);
  const std::uint64_t channels = number(picture.channels);
  // A picture of the size that the filter would give is taken as it is.
  const bool as_it_is = picture.width == pdq::kSamples && picture.height == pdq::kSamples;
  const std::uint64_t across = as_it_is ? 0 : number(pdq::window_for(picture.width));
  const std::uint64_t down = as_it_is ? 0 : number(pdq::window_for(picture.height));
  add(HASH_BOX_ACROSS, height, HASH_BOX_THREADS,
      {{HASH_FROM, at.at.pixels},
       {HASH_TO, at.at.plane},
       {HASH_LINES, height},
       {HASH_LENGTH, width},
       {HASH_WINDOW, across},
       {HASH_FROM_LINE, width * channels},
       {HASH_FROM_STEP, channels},
       {HASH_TO_LINE, width},
       {HASH_TO_STEP, 1},
       {HASH_BOX_PIXELS, channels}});
  add(HASH_BOX_DOWN, width, HASH_BOX_THREADS,
      {{HASH_FROM, at.at.plane},
       {HASH_TO, at.at.plane},
       {HASH_LINES, width},
       {HASH_LENGTH, height},
       {HASH_WINDOW, down},
       {HASH_FROM_LINE, 1},
       {HASH_FROM_STEP, width},
       {HASH_TO_LINE, 1},
       {HASH_TO_STEP, width}});
  add(HASH_BOX_SAMPLED_ACROSS, height, HASH_BOX_THREADS,
      {{HASH_FROM, at.at.plane},
       {HASH_TO, at.at.strip},
       {HASH_LINES, height},
       {HASH_LENGTH, width},
       {HASH_WINDOW, across},
       {HASH_FROM_LINE, width},
       {HASH_FROM_STEP, 1},
       {HASH_TO_LINE, HASH_SAMPLES},
       {HASH_TO_STEP, 1},
       {HASH_SAMPLED, 1}});
  add(HASH_BOX_SAMPLED_DOWN, HASH_SAMPLES, HASH_BOX_THREADS,
      {{HASH_FROM, at.at.strip},
       {HASH_TO, at.at.filtered * HASH_SQUARE},
       {HASH_LINES, HASH_SAMPLES},
       {HASH_LENGTH, height},
       {HASH_WINDOW, down},
       {HASH_FROM_LINE, 1},
       {HASH_FROM_STEP, HASH_SAMPLES},
       {HASH_TO_LINE, 1},
       {HASH_TO_STEP, HASH_SAMPLES},
       {HASH_SAMPLED, 1}});
}

void HashBatch::gather() {
  for (std::size_t stage = 0; stage < pending_.size(); ++stage) {
    Pending& pending = pending_[stage];
    if (pending.records.empty()) continue;
    stages[stage].first = records.size() / HASH_RECORD;
    stages[stage].records = static_cast<std::uint32_t>(pending.records.size() / HASH_RECORD);
    stages[stage].blocks = pending.blocks;
    records.insert(records.end(), pending.records.begin(), pending.records.end());
    pending = {};
  }
}

}  // namespace millrace::hashes
