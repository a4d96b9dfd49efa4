#include "src/kernels/hash/hash_memory.h"

#include <algorithm>
#include <cstring>

#include "src/kernels/dct/dct.h"
#include "src/kernels/hash/hash_entries.h"
#include "src/kernels/pdq/pdq_math.h"

namespace millrace::hashes {
namespace {

// Copies bytes [begin, end) of all rows of all pictures, one after the other.
void pack(const HashBatch& batch, std::span<const DecodedPicture> pictures, std::uint64_t begin, std::uint64_t end,
          std::uint8_t* to) {
  const auto behind =
      std::upper_bound(batch.placed.begin(), batch.placed.end(), begin,
                       [](std::uint64_t at, const PicturePlacement& placed) { return at < placed.at.pixels; });
  for (auto i = static_cast<std::size_t>(behind - batch.placed.begin()) - 1; begin < end; ++i) {
    const DecodedPicture& picture = pictures[i];
    const std::uint64_t row_bytes = picture.row_bytes();
    const std::uint64_t all = row_bytes * static_cast<std::uint64_t>(picture.height);
    const bool tight = picture.stride == static_cast<std::ptrdiff_t>(row_bytes);
    for (std::uint64_t at = begin - batch.placed[i].at.pixels; at < all && begin < end;) {
      const std::uint64_t column = at % row_bytes, left = tight ? all - at : row_bytes - column;
      const std::uint64_t take = std::min(left, end - begin);
      const std::uint8_t* row = picture.data + static_cast<std::ptrdiff_t>(at / row_bytes) * picture.stride;
      std::memcpy(to, row + column, take);
      to += take;
      at += take;
      begin += take;
    }
  }
}

template <typename T>
std::vector<T> downloaded(Queue& queue, const GrowingBuffer<T>& from, std::uint64_t count) {
  std::vector<T> out(count);
  queue.download(from.buffer, std::span<T>(out));
  return out;
}

}  // namespace

std::uint64_t BatchNumbers::bytes(const BatchArraySizes& room) {
  return room.small + 8 * (room.low + room.sums) + 4 * (room.counters + room.filtered * (HASH_LOW + 1));
}

BatchMemory::BatchMemory(const HashRequest& request, Accelerator& accelerator)
    : request_(request), accelerator_(accelerator), queue_(accelerator) {}

BatchNumbers BatchMemory::run(const HashBatch& batch, std::span<const DecodedPicture> pictures,
                              const Executor& executor) {
  // An earlier call may have ended before the work that it had started.
  queue_.finish();
  try {
    try {
      make_room(batch);
    } catch (const OutOfMemory&) {
      // Memory held for pictures of other shapes may be what is missing.
      on_ = {};
      make_room(batch);
    }
    queue_.upload(std::span<const std::uint64_t>(batch.records), on_.records.buffer);
    queue_.upload(std::span<const std::uint32_t>(batch.axes), on_.axes.buffer);
    queue_.fill(done_, 0);
    queue_.fill(on_.counters.buffer, 0, batch.room.counters);
    upload_pixels(batch, pictures, executor);
    launch(batch);
    check_blocks(batch);
    return numbers(batch);
  } catch (const OutOfMemory&) {
    // Memory is freed so that a smaller batch does not find it taken by the part that a larger one got.
    on_ = {};
    throw;
  }
}

std::uint64_t BatchMemory::held() const {
  const auto sum = [](const auto&... arrays) {
    return ((arrays.buffer.size() * std::remove_cvref_t<decltype(arrays.buffer)>::kElement) + ...);
  };
  return sum(on_.pixels, on_.luma, on_.passed, on_.reduced, on_.columns, on_.low, on_.sums, on_.records, on_.counters,
             on_.axes, on_.gradients, on_.plane, on_.filtered_plane, on_.strip, on_.samples, on_.frequencies);
}

void BatchMemory::make_room(const HashBatch& batch) {
  const BatchArraySizes& room = batch.room;
  const auto make = [&](auto& array, std::uint64_t count, const char* purpose) {
    array.ensure_size(accelerator_, std::max<std::uint64_t>(count, 1), purpose);
  };
  make(on_.pixels, room.pixels, "pictures");
  make(on_.luma, room.luma, "luma");
  make(on_.passed, room.passed, "passes");
  make(on_.reduced, room.small + room.squares, "reduced pictures");
  make(on_.columns, room.columns, "coefficients");
  make(on_.low, room.low, "coefficients");
  make(on_.sums, room.sums, "sums of cells");
  make(on_.records, batch.records.size(), "records");
  make(on_.counters, room.counters, "counters of colours");
  make(on_.axes, batch.axes.size(), "weights");
  make(on_.gradients, room.filtered, "gradients");
  make(on_.plane, room.plane, "filtered pictures");
  make(on_.filtered_plane, room.plane, "filtered pictures");
  make(on_.strip, room.strip, "filtered pictures");
  make(on_.samples, room.filtered * HASH_SQUARE, "samples");
  make(on_.frequencies, room.filtered * HASH_LOW, "coefficients");
  on_.stages.make_room(accelerator_, room.pixels, "pictures in flight");
  if (has_tables_) return;
  done_ = DeviceBuffer<std::uint32_t>(accelerator_, HASH_STAGES, "block counter");
  const std::vector<double> cosines = dct_cosines(4 * request_.size, request_.size);
  cosines_ = DeviceBuffer<double>(accelerator_, cosines.size(), "cosines");
  queue_.upload(std::span<const double>(cosines), cosines_);
  pdq_cosines_ = DeviceBuffer<float>(accelerator_, pdq::cosines().size(), "cosines");
  queue_.upload(std::span<const float>(pdq::cosines()), pdq_cosines_);
  has_tables_ = true;
}

void BatchMemory::upload_pixels(const HashBatch& batch, std::span<const DecodedPicture> pictures,
                                const Executor& executor) {
  on_.stages.run(
      queue_, executor, batch.room.pixels, on_.pixels.buffer,
      [&](std::uint64_t begin, std::uint64_t end, std::uint8_t* to) { pack(batch, pictures, begin, end, to); });
}

void BatchMemory::launch(const HashBatch& batch) {
  const KernelSource& source = bodies::hash();
  const auto run = [&](int which, const KernelEntry& entry, const auto&... arguments) {
    const BatchStage& stage = batch.stages.at(static_cast<std::size_t>(which));
    if (stage.blocks == 0) return;
    queue_.launch(source, entry, stage.blocks, on_.records.buffer, stage.first, stage.records, arguments...);
  };
  const auto& pixels = on_.pixels.buffer;
  const auto& luma = on_.luma.buffer;
  const auto& axes = on_.axes.buffer;
  const auto& passed = on_.passed.buffer;
  const auto& reduced = on_.reduced.buffer;
  const auto& columns = on_.columns.buffer;
  const auto& plane = on_.plane.buffer;
  const auto& filtered = on_.filtered_plane.buffer;
  const auto& strip = on_.strip.buffer;
  const auto stage = [](int which) { return static_cast<std::uint32_t>(which); };
  run(HASH_LUMA, kLuma, pixels, luma, on_.counters.buffer, done_);
  run(HASH_FIRST_PASS, kResize, axes, pixels, luma, passed, done_, stage(HASH_FIRST_PASS));
  run(HASH_SECOND_PASS, kResize, axes, pixels, passed, reduced, done_, stage(HASH_SECOND_PASS));
  run(HASH_DCT_DOWN, kDctDown, cosines_, reduced, columns, done_);
  run(HASH_DCT_ACROSS, kDctAcross, cosines_, columns, on_.low.buffer, done_);
  run(HASH_CELLS, kCells, reduced, on_.sums.buffer, done_);
  run(HASH_BOX_ACROSS, kBox, pixels, strip, plane, done_, stage(HASH_BOX_ACROSS));
  run(HASH_BOX_DOWN, kBox, pixels, plane, filtered, done_, stage(HASH_BOX_DOWN));
  run(HASH_BOX_SAMPLED_ACROSS, kBox, pixels, filtered, strip, done_, stage(HASH_BOX_SAMPLED_ACROSS));
  run(HASH_BOX_SAMPLED_DOWN, kBox, pixels, strip, on_.samples.buffer, done_, stage(HASH_BOX_SAMPLED_DOWN));
  queue_.launch(source, kPdq, batch.stages[HASH_PDQ].blocks, on_.samples.buffer, pdq_cosines_, on_.frequencies.buffer,
                on_.gradients.buffer, done_);
}

void BatchMemory::check_blocks(const HashBatch& batch) {
  std::array<std::uint32_t, HASH_STAGES> counted{};
  queue_.download(done_, std::span<std::uint32_t>(counted));
  for (std::size_t stage = 0; stage < counted.size(); ++stage) {
    if (counted[stage] != batch.stages[stage].blocks) {
      throw Failure(ErrorCode::internal, "it left out a part of its work");
    }
  }
}

BatchNumbers BatchMemory::numbers(const HashBatch& batch) {
  const BatchArraySizes& room = batch.room;
  return {
      downloaded(queue_, on_.reduced, room.small),      downloaded(queue_, on_.low, room.low),
      downloaded(queue_, on_.sums, room.sums),          downloaded(queue_, on_.counters, room.counters),
      downloaded(queue_, on_.gradients, room.filtered), downloaded(queue_, on_.frequencies, room.filtered * HASH_LOW)};
}

void BatchMemory::download(std::uint64_t at, std::span<std::uint8_t> to) {
  queue_.download(on_.reduced.buffer, to, at);
}

}  // namespace millrace::hashes
