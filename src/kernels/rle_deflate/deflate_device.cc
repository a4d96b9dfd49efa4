#include "src/kernels/rle_deflate/deflate_device.h"

#include <algorithm>
#include <cstring>

#include "src/base/error.h"
#include "src/kernels/rle_deflate/body/layout.inc"
#include "src/kernels/rle_deflate/deflate_entries.h"

namespace millrace::rle_deflate {
namespace {

static_assert(rle::EncodedLevels::kMaxBytes == DEFLATE_MOST_BYTES && kEntries.size() == DEFLATE_DONE);

std::uint64_t blocks_of(const KernelEntry& entry, std::uint64_t threads) {
  return (threads + entry.threads - 1) / entry.threads;
}

}  // namespace

DeviceEncoder::DeviceEncoder(const DeflateCode& code, int width, int height, std::uint8_t flip)
    : tables_(code.tables(static_cast<std::uint64_t>(width))),
      numbers_(DEFLATE_SPEC),
      rows_(static_cast<std::uint64_t>(height)) {
  numbers_[DEFLATE_WIDTH] = width;
  numbers_[DEFLATE_HEIGHT] = height;
  numbers_[DEFLATE_BYTES] = static_cast<std::int32_t>(code.layout().pixels.bytes);
  numbers_[DEFLATE_PREFIX] = code.layout().row_prefix ? 1 : 0;
  numbers_[DEFLATE_CRC] = code.layout().wrapper == Wrapper::gzip ? 1 : 0;
  numbers_[DEFLATE_FLIP] = flip;
  numbers_[DEFLATE_HEADER_BITS] = static_cast<std::int32_t>(tables_.header_bits);
}

std::uint64_t DeviceEncoder::bytes_each() const {
  constexpr std::uint64_t kRow = 4 * 4 + 3 * 8, kPicture = 64;
  // Length of a usual stream, of charts of thin lines: 13 bytes per row of pixels, and the begin of the stream.
  return (kRow + 16) * rows_ + 4 * tables_.header.size() + kPicture;
}

void DeviceEncoder::send(Accelerator& accelerator, Queue& queue, std::uint64_t pictures) {
  if (!has_tables_) {
    codes_.ensure_size(accelerator, tables_.codes.size(), "codes");
    header_.ensure_size(accelerator, tables_.header.size(), "codes");
    queue.upload(std::span<const std::uint32_t>(tables_.codes), codes_.buffer);
    queue.upload(std::span<const std::uint32_t>(tables_.header), header_.buffer);
    has_tables_ = true;
  }
  const std::uint64_t rows = pictures * rows_;
  for (GrowingBuffer<std::uint32_t>* each : {&begins_, &ends_, &foregrounds_, &sums_})
    each->ensure_size(accelerator, rows, "rows");
  for (GrowingBuffer<std::uint64_t>* each : {&weighted_, &places_, &backgrounds_})
    each->ensure_size(accelerator, rows, "rows");
  tails_.ensure_size(accelerator, 2 * pictures, "ends of streams");
  checks_.ensure_size(accelerator, pictures, "ends of streams");
  lengths_.ensure_size(accelerator, pictures, "ends of streams");
  streams_.ensure_size(accelerator, pictures, "starts of streams");
  done_.ensure_size(accelerator, DEFLATE_DONE, "block counter");
  spec_.ensure_size(accelerator, DEFLATE_SPEC, "stream layout");
  numbers_[DEFLATE_PICTURES] = static_cast<std::int32_t>(pictures);
  queue.upload(std::span<const std::int32_t>(numbers_), spec_.buffer);
  queue.fill(done_.buffer, 0);
  // If a launch did nothing, the next kernels find zeros and do nothing, and the missing blocks show it.
  for (GrowingBuffer<std::uint32_t>* none : {&begins_, &ends_, &foregrounds_, &sums_}) queue.fill(none->buffer, 0);
  queue.fill(lengths_.buffer, 0);
  queue.fill(tails_.buffer, 0);
}

EncodedStreams DeviceEncoder::encode(Accelerator& accelerator, Queue& queue, const DeviceBuffer<std::uint8_t>& planes,
                                     std::uint64_t first, std::uint64_t pictures, Budget& budget) {
  const KernelSource& source = bodies::deflate();
  send(accelerator, queue, pictures);
  const std::uint64_t of_rows = blocks_of(kRows, pictures * rows_), of_pictures = blocks_of(kPlaces, pictures);
  queue.launch(source, kRows, of_rows, spec_.buffer, codes_.buffer, first, planes, planes.as<std::uint32_t>(),
               begins_.buffer, ends_.buffer, foregrounds_.buffer, sums_.buffer, weighted_.buffer, done_.buffer);
  queue.launch(source, kPlaces, of_pictures, spec_.buffer, codes_.buffer, begins_.buffer, ends_.buffer,
               foregrounds_.buffer, sums_.buffer, weighted_.buffer, places_.buffer, backgrounds_.buffer, tails_.buffer,
               checks_.buffer, lengths_.buffer, done_.buffer);
  std::vector<std::uint32_t> counted(DEFLATE_DONE);
  const auto expect = [&](std::initializer_list<std::uint64_t> blocks) {
    queue.download(done_.buffer, std::span<std::uint32_t>(counted));
    if (!std::equal(blocks.begin(), blocks.end(), counted.begin())) {
      throw Failure(ErrorCode::internal, "it left out a part of its work");
    }
  };
  expect({of_rows, of_pictures});
  EncodedStreams out;
  out.lengths.resize(pictures);
  queue.download(lengths_.buffer, std::span<std::uint64_t>(out.lengths));
  // Each stream begins at a whole word. No stream is longer than its pixels encoded one by one.
  const std::uint64_t most = tables_.header_bits + 64 * 8 +
                             rows_ * (static_cast<std::uint64_t>(numbers_[DEFLATE_WIDTH]) + 1) * 9 *
                                 static_cast<std::uint64_t>(numbers_[DEFLATE_BYTES]);
  std::vector<std::uint64_t> words;
  std::uint64_t all = 0;
  for (const std::uint64_t length : out.lengths) {
    if (length > most / 8) throw Failure(ErrorCode::internal, "it returned an impossible stream length");
    words.push_back(all);
    out.begins.push_back(4 * all);
    all += (length + 3) / 4;
  }
  out_.ensure_size(accelerator, std::max<std::uint64_t>(all, 1), "streams");
  queue.upload(std::span<const std::uint64_t>(words), streams_.buffer);
  queue.fill(out_.buffer, 0, all);
  queue.launch(source, kWrite, of_rows, spec_.buffer, codes_.buffer, first, planes, begins_.buffer, ends_.buffer,
               places_.buffer, backgrounds_.buffer, streams_.buffer, out_.buffer, done_.buffer);
  queue.launch(source, kEnds, pictures, spec_.buffer, codes_.buffer, header_.buffer, tails_.buffer, checks_.buffer,
               streams_.buffer, out_.buffer, done_.buffer);
  std::size_t one = 1;
  out.reservation = budget.reserve_up_to({4 * all}, one, "streams");
  out.bytes.resize(4 * all);
  queue.download(out_.buffer.as<std::uint8_t>(), std::span<std::uint8_t>(out.bytes));
  expect({of_rows, of_pictures, of_rows, pictures});
  return out;
}

}  // namespace millrace::rle_deflate
