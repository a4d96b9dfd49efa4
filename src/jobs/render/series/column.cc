#include "src/jobs/render/series/column.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace millrace::render {
namespace {

template <typename T>
void read_as(const std::byte* at, std::size_t step, std::span<double> out) {
  for (double& v : out) {
    T value;
    std::memcpy(&value, at, sizeof value);
    v = static_cast<double>(value);
    at += step;
  }
}

void read_numbers(const std::byte* at, std::size_t step, ElementType type, std::span<double> out) {
  switch (type.code) {
    case TypeCode::floating:
      type.bits == 32 ? read_as<float>(at, step, out) : read_as<double>(at, step, out);
      break;
    case TypeCode::integer:
      type.bits == 8    ? read_as<std::int8_t>(at, step, out)
      : type.bits == 16 ? read_as<std::int16_t>(at, step, out)
      : type.bits == 32 ? read_as<std::int32_t>(at, step, out)
                        : read_as<std::int64_t>(at, step, out);
      break;
    default:
      type.bits == 8    ? read_as<std::uint8_t>(at, step, out)
      : type.bits == 16 ? read_as<std::uint16_t>(at, step, out)
      : type.bits == 32 ? read_as<std::uint32_t>(at, step, out)
                        : read_as<std::uint64_t>(at, step, out);
  }
}

}  // namespace

// Changes the width of the texts of a chunk, and makes room for `room` rows.
void TextColumn::repack(Chunk& chunk, std::size_t rows, std::size_t room, std::size_t width) {
  std::vector<char> bytes(width * room);
  const std::size_t kept = std::min(width, chunk.width);
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(chunk.bytes.data() + i * chunk.width, kept, bytes.data() + i * width);
  }
  memory_ = memory_ - chunk.bytes.size() + bytes.size();
  chunk.bytes = std::move(bytes);
  chunk.width = width;
}

void TextColumn::append(std::string_view text) {
  const std::size_t at = size_ % kRowsPerChunk;
  if (at == 0) {
    finish_appending();
    chunks_.emplace_back();
    // The first chunk grows, as in ChunkedValues; a later chunk begins with the width of the one before it.
    if (size_ > 0) repack(chunks_.back(), 0, kRowsPerChunk, chunks_[chunks_.size() - 2].width);
  }
  Chunk& chunk = chunks_.back();
  const std::size_t room = chunk.width == 0 ? 0 : chunk.bytes.size() / chunk.width;
  if (text.size() > chunk.width || at == room) {
    // Width and room grow in steps, so that the texts are not moved each time one of them is longer, or one more is
    // added.
    const std::size_t width = std::max(chunk.width, std::max<std::size_t>(1, (text.size() + 7) / 8) * 8);
    repack(chunk, at, at < room ? room : std::clamp<std::size_t>(2 * at, 64, kRowsPerChunk), width);
  }
  std::copy(text.begin(), text.end(), chunk.bytes.data() + at * chunk.width);
  chunk.longest = std::max(chunk.longest, text.size());
  longest_ = std::max(longest_, text.size());
  ++size_;
}

void TextColumn::finish_appending() {
  if (chunks_.empty()) return;
  const std::size_t rows = size_ - (chunks_.size() - 1) * kRowsPerChunk;
  repack(chunks_.back(), rows, rows, std::max<std::size_t>(1, chunks_.back().longest));
}

std::string_view TextColumn::view(std::size_t row) const {
  const Chunk& chunk = chunks_[row / kRowsPerChunk];
  const std::string_view padded(chunk.bytes.data() + row % kRowsPerChunk * chunk.width, chunk.width);
  return padded.substr(0, padded.find('\0'));
}

void SeriesColumn::read(std::size_t begin, std::span<double> out) const {
  if (held_) {
    held_->read(first_ + begin, out);
  } else {
    std::span<double> rest = out;
    cache_->visit(*file_, begin, out.size(), [&](const std::byte* rows, std::size_t count) {
      read_numbers(rows + offset_, file_->row_bytes(), type_, rest.first(count));
      rest = rest.subspan(count);
    });
  }
  for (double& v : out) {
    if (!(std::abs(v) <= kMaxPrice)) v = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace millrace::render
