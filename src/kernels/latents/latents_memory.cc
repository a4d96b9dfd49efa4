#include "src/kernels/latents/latents_memory.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/latents/latents_entries.h"

namespace millrace::latents {
namespace {

std::uint64_t bytes_of(const ArrayView& latent) {
  return static_cast<std::uint64_t>(latent.elements()) * latent.type.bytes();
}

// Copies bytes [begin, end) of all latents, one after the other.
void pack(std::span<const ArrayView> latents, std::uint64_t begin, std::uint64_t end, std::uint8_t* to) {
  const std::uint64_t each = bytes_of(latents.front());
  while (begin < end) {
    const std::uint64_t at = begin % each, take = std::min(each - at, end - begin);
    std::memcpy(to, static_cast<const std::uint8_t*>(latents[begin / each].data) + at, take);
    to += take;
    begin += take;
  }
}

template <typename T>
void make_pinned(Accelerator& accelerator, PinnedBuffer<T>& buffer, std::uint64_t size) {
  if (buffer.size() < size) buffer = PinnedBuffer<T>(accelerator, size, "sums of latents");
}

}  // namespace

BatchMemory::BatchMemory(const BatchPlan& plan, Accelerator& accelerator)
    : plan_(plan), accelerator_(accelerator), queue_(accelerator) {}

void BatchMemory::run(std::span<const ArrayView> latents, const Executor& executor) {
  // Work of an earlier call that failed may still be in the queue.
  queue_.finish();
  const bool uploaded = latents.front().memory != MemoryKind::device;
  const std::uint64_t count = latents.size(), bytes = count * bytes_of(latents.front());
  try {
    try {
      make_room(count, uploaded ? bytes : 0);
    } catch (const OutOfMemory&) {
      // Buffers of batches of another kind may hold the memory that is missing.
      on_ = {};
      make_room(count, uploaded ? bytes : 0);
    }
    const std::vector<std::uint32_t> numbers = plan_.numbers_of(latents.front().type == kFloat16);
    queue_.upload(std::span<const std::uint32_t>(numbers), shape_);
    queue_.fill(done_, 0);
    queue_.fill(on_.counts.buffer, 0, count * plan_.room.counts);
    blocks_ = {};
    count_ = static_cast<std::uint32_t>(count);
    if (uploaded) {
      upload(latents, executor);
      launch(on_.values.buffer);
    } else {
      launch(DeviceBuffer<std::uint8_t>::adopt(accelerator_, latents.front().data, bytes, "latents"));
    }
    queue_.download(on_.sums.buffer, count * plan_.room.sums, on_.host_sums);
    if (plan_.room.counts > 0) queue_.download(on_.counts.buffer, count * plan_.room.counts, on_.host_counts);
    check_blocks();
  } catch (const OutOfMemory&) {
    // A smaller batch must not find the memory taken by buffers of a larger one.
    on_ = {};
    throw;
  }
}

std::span<const double> BatchMemory::sums(std::size_t latent) {
  return on_.host_sums.span().subspan(latent * plan_.room.sums, plan_.room.sums);
}

std::span<const std::uint32_t> BatchMemory::counts(std::size_t latent) {
  return on_.host_counts.span().subspan(latent * plan_.room.counts, plan_.room.counts);
}

std::uint64_t BatchMemory::held() const {
  const auto sum = [](const auto&... arrays) {
    return ((arrays.buffer.size() * std::remove_cvref_t<decltype(arrays.buffer)>::kElement) + ...);
  };
  return sum(on_.values, on_.planes, on_.moments, on_.places, on_.re, on_.im, on_.other_re, on_.other_im, on_.ranges,
             on_.edges, on_.follow, on_.images, on_.rows, on_.product_rows, on_.sums, on_.counts);
}

void BatchMemory::make_room(std::uint64_t count, std::uint64_t uploaded) {
  const LatentSizes& room = plan_.room;
  const auto make = [&](auto& array, std::uint64_t each, const char* purpose) {
    array.ensure_size(accelerator_, std::max<std::uint64_t>(count * each, 1), purpose);
  };
  on_.values.ensure_size(accelerator_, std::max<std::uint64_t>(uploaded, 1), "latents");
  make(on_.planes, room.planes, "planes of channels");
  make(on_.follow, room.follow, "sums over frames");
  make(on_.images, room.images, "sums over frames");
  make(on_.rows, room.rows, "sums of rows");
  make(on_.product_rows, room.product_rows, "products of channels");
  make(on_.moments, room.moments, "patches");
  make(on_.places, room.places, "patches");
  for (GrowingBuffer<float>* array : {&on_.re, &on_.im, &on_.other_re, &on_.other_im})
    make(*array, room.spectra, "spectra");
  make(on_.ranges, room.ranges, "ranges");
  make(on_.edges, room.edges, "edges of bins");
  make(on_.sums, room.sums, "sums of latents");
  make(on_.counts, room.counts, "counts of bins");
  make_pinned(accelerator_, on_.host_sums, count * room.sums);
  make_pinned(accelerator_, on_.host_counts, std::max<std::uint64_t>(count * room.counts, 1));
  on_.stages.make_room(accelerator_, uploaded, "latents in flight");
  make_tables();
}

void BatchMemory::make_tables() {
  if (has_tables_) return;
  shape_ = DeviceBuffer<std::uint32_t>(accelerator_, LATENTS_SHAPE, "shape");
  done_ = DeviceBuffer<std::uint32_t>(accelerator_, LATENTS_STAGES, "block counter");
  const auto put = [&](DeviceBuffer<float>& to, const std::vector<float>& from) {
    to = DeviceBuffer<float>(accelerator_, std::max<std::size_t>(from.size(), 1), "weights");
    if (!from.empty()) queue_.upload(std::span<const float>(from), to);
  };
  put(factors_, plan_.factors);
  put(weights_, plan_.weights);
  put(turns_, plan_.turns);
  has_tables_ = true;
}

void BatchMemory::upload(std::span<const ArrayView> latents, const Executor& executor) {
  on_.stages.run(queue_, executor, latents.size() * bytes_of(latents.front()), on_.values.buffer,
                 [&](std::uint64_t begin, std::uint64_t end, std::uint8_t* to) { pack(latents, begin, end, to); });
}

template <typename... Arguments>
void BatchMemory::run_blocks(int stage, const KernelEntry& entry, std::uint64_t blocks, const Arguments&... arguments) {
  blocks_.at(static_cast<std::size_t>(stage)) += blocks;
  queue_.launch(bodies::latents(), entry, blocks, shape_, arguments..., done_);
}

template <typename... Arguments>
void BatchMemory::run_threads(int stage, const KernelEntry& entry, std::uint64_t threads,
                              const Arguments&... arguments) {
  run_blocks(stage, entry, blocks_of(threads, LATENTS_THREADS), count_, arguments...);
}

void BatchMemory::launch(const DeviceBuffer<std::uint8_t>& values) {
  const auto halves = values.as<std::uint16_t>();
  const auto singles = values.as<float>();
  launch_time(halves, singles);
  const std::uint64_t planes = count_ * plan_.planes(), tiles = blocks_of(plan_.shape.pixels(), LATENTS_TILE);
  run_blocks(LATENTS_TURN, kTurn, planes * tiles, halves, singles, on_.sums.buffer, on_.planes.buffer);
  launch_planes();
  if (plan_.wanted.patches) launch_patches();
  if (plan_.has_spectra()) launch_spectra();
  if (plan_.wanted.density || plan_.has_pairs()) launch_bins(halves, singles);
}

void BatchMemory::launch_time(const DeviceBuffer<std::uint16_t>& halves, const DeviceBuffer<float>& singles) {
  const auto frames = static_cast<std::uint64_t>(plan_.shape.frames);
  const std::uint64_t channels = std::uint64_t{count_} * static_cast<std::uint64_t>(plan_.shape.channels),
                      pixels = plan_.shape.pixels();
  const auto& sums = on_.sums.buffer;
  run_threads(LATENTS_PILOTS, kPilots, channels * kLanes, halves, singles, sums);
  const float per_frame = 1 / static_cast<float>(frames),
              per_less_one = frames > 1 ? 1 / (static_cast<float>(frames) - 1) : 0;
  const double wide_per_frame = 1 / static_cast<double>(frames),
               wide_per_less_one = frames > 1 ? 1 / (static_cast<double>(frames) - 1) : 0;
  run_threads(LATENTS_FOLLOW, kFollow, channels * blocks_of(pixels, LATENTS_FOLLOW_BLOCK) * kLanes, halves, singles,
              sums, per_frame, per_less_one, wide_per_frame, wide_per_less_one, on_.follow.buffer, on_.images.buffer);
  run_threads(LATENTS_TIMES, kTimes, channels * (2 + 2 * frames) * kLanes, on_.follow.buffer, sums);
  if (plan_.wanted.flatness) run_threads(LATENTS_IMAGES, kImages, count_ * pixels, singles, on_.images.buffer, sums);
}

void BatchMemory::launch_planes() {
  const auto height = static_cast<std::uint64_t>(plan_.shape.height);
  const std::uint64_t planes = count_ * plan_.planes();
  run_threads(LATENTS_ROWS, kRows, planes * height * kLanes, on_.planes.buffer, on_.rows.buffer);
  run_threads(LATENTS_PLANES, kPlanes, planes * LATENTS_PLANE_SUMS * kLanes, on_.rows.buffer, on_.sums.buffer);
  if (!plan_.wanted.products) return;
  const std::uint64_t pairs =
      std::uint64_t{count_} * static_cast<std::uint64_t>(plan_.shape.frames) * plan_.numbers[LATENTS_GROUP_PAIRS];
  run_threads(LATENTS_PRODUCT_ROWS, kProductRows, pairs * height * kLanes * 4, on_.planes.buffer,
              on_.product_rows.buffer);
  run_threads(LATENTS_PRODUCTS, kProducts, pairs * kLanes * kLanes, on_.product_rows.buffer, on_.sums.buffer);
}

void BatchMemory::launch_patches() {
  const std::uint64_t planes = count_ * plan_.planes();
  const auto& moments = on_.moments.buffer;
  const auto& places = on_.places.buffer;
  const auto side = [](std::uint32_t k) { return static_cast<std::uint64_t>(kPatches.at(k)); };
  const auto patches = [&](std::uint32_t k) {
    return static_cast<std::uint64_t>(plan_.shape.height) / side(k) *
           (static_cast<std::uint64_t>(plan_.shape.width) / side(k));
  };
  for (std::uint32_t k = 0; k < kPatches.size(); ++k) {
    run_threads(LATENTS_INSIDE, kInside, planes * patches(k) * kLanes, k, factors_, on_.planes.buffer, moments,
                on_.counts.buffer);
  }
  for (std::uint32_t k = kPatches.size(); k-- > 0;) {
    if (patches(k) == 0) continue;
    run_threads(LATENTS_ACROSS, kAcross, planes * side(k) * side(k) * kLanes, k, factors_, on_.planes.buffer, places,
                on_.counts.buffer);
  }
  run_threads(LATENTS_PATCHES, kPatchSums, planes * LATENTS_PATCH_SUMS * kLanes, factors_, moments, places,
              on_.sums.buffer);
}

void BatchMemory::launch_spectra() {
  const auto height = static_cast<std::uint64_t>(plan_.shape.height);
  const std::uint64_t planes = count_ * plan_.planes(), bins = plan_.spectra.rows.bins;
  run_threads(LATENTS_ROW_BINS, kRowBins, planes * height * plan_.spectra.rows.parts.front().bins * kLanes, weights_,
              on_.planes.buffer, on_.re.buffer, on_.im.buffer);
  const DeviceBuffer<float>*re = &on_.re.buffer, *im = &on_.im.buffer, *other_re = &on_.other_re.buffer,
        *other_im = &on_.other_im.buffer;
  for (const BatchPlan::Step& step : plan_.steps) {
    const std::uint64_t shares = step.radix % 2 == 0 ? 1 : step.radix / 2 + 1;
    run_threads(LATENTS_COLUMNS, kColumns, planes * bins * (height / step.radix) * shares * kLanes, step.radix,
                step.before, step.first, turns_, *re, *im, *other_re, *other_im);
    std::swap(re, other_re);
    std::swap(im, other_im);
  }
  run_threads(LATENTS_POWER, kPower, count_ * plan_.spectra.bins() * kLanes, *re, *im, on_.sums.buffer);
}

void BatchMemory::launch_bins(const DeviceBuffer<std::uint16_t>& halves, const DeviceBuffer<float>& singles) {
  const auto frames = static_cast<std::uint64_t>(plan_.shape.frames);
  const auto counted = static_cast<std::uint32_t>(counted_channels(plan_.shape));
  const std::uint64_t channels = std::uint64_t{count_} * counted;
  run_blocks(LATENTS_RANGES, kRanges, channels * frames, counted, std::uint32_t{plan_.wanted.density ? 1U : 0U}, halves,
             singles, on_.ranges.buffer, on_.counts.buffer);
  if (!plan_.has_pairs()) return;
  run_threads(LATENTS_EDGES, kEdgesOver, channels * kEdges, counted, on_.ranges.buffer, on_.edges.buffer);
  const std::uint64_t parts = blocks_of(frames * plan_.shape.pixels(), LATENTS_PAIR_PIXELS);
  for (const auto& [wanted, way] : {std::pair{plan_.wanted.mutual, 0U}, {plan_.wanted.mutual_published, 1U}}) {
    if (!wanted) continue;
    run_blocks(LATENTS_PAIRS, kPairs, count_ * parts, counted, way, halves, singles, on_.edges.buffer,
               on_.counts.buffer);
  }
}

void BatchMemory::check_blocks() {
  std::array<std::uint32_t, LATENTS_STAGES> counted{};
  queue_.download(done_, std::span<std::uint32_t>(counted));
  for (std::size_t stage = 0; stage < counted.size(); ++stage) {
    if (counted[stage] != blocks_[stage]) throw Failure(ErrorCode::internal, "it left out a part of its work");
  }
}

}  // namespace millrace::latents
