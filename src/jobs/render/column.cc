#include "src/jobs/render/column.h"

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

void read_numbers(const std::byte* at, std::size_t step, npy::Type type, std::span<double> out) {
  switch (type.kind) {
    case 'f':
      type.bytes == 4 ? read_as<float>(at, step, out) : read_as<double>(at, step, out);
      break;
    case 'i':
      type.bytes == 1   ? read_as<std::int8_t>(at, step, out)
      : type.bytes == 2 ? read_as<std::int16_t>(at, step, out)
      : type.bytes == 4 ? read_as<std::int32_t>(at, step, out)
                        : read_as<std::int64_t>(at, step, out);
      break;
    default:
      type.bytes == 1   ? read_as<std::uint8_t>(at, step, out)
      : type.bytes == 2 ? read_as<std::uint16_t>(at, step, out)
      : type.bytes == 4 ? read_as<std::uint32_t>(at, step, out)
                        : read_as<std::uint64_t>(at, step, out);
  }
}

}  // namespace

void Numbers::append(double value) {
  if (size_ % kPart == 0) parts_.push_back(std::make_unique<double[]>(kPart));
  parts_.back()[size_ % kPart] = value;
  ++size_;
}

void Numbers::read(std::size_t begin, std::span<double> out) const {
  while (!out.empty()) {
    const std::size_t at = begin % kPart, count = std::min(out.size(), kPart - at);
    std::copy_n(parts_[begin / kPart].get() + at, count, out.begin());
    begin += count;
    out = out.subspan(count);
  }
}

void Texts::append(std::string_view text) {
  const std::size_t at = size_ % kPart;
  if (at == 0) parts_.emplace_back();
  Part& part = parts_.back();
  if (text.size() > part.width) {
    // In steps, so that texts of growing length are not moved at each.
    const std::size_t width = (text.size() + 7) / 8 * 8;
    std::vector<char> wider(width * kPart);
    for (std::size_t i = 0; i < at; ++i) {
      std::copy_n(part.bytes.data() + i * part.width, part.width, wider.data() + i * width);
    }
    memory_ += wider.size() - part.bytes.size();
    part.bytes = std::move(wider);
    part.width = width;
  }
  std::copy(text.begin(), text.end(), part.bytes.data() + at * part.width);
  longest_ = std::max(longest_, text.size());
  ++size_;
}

std::string_view Texts::view(std::size_t row) const {
  const Part& part = parts_[row / kPart];
  const std::string_view padded(part.bytes.data() + row % kPart * part.width, part.width);
  return padded.substr(0, padded.find('\0'));
}

void Column::read(std::size_t begin, std::span<double> out) const {
  if (held_) {
    held_->read(begin, out);
  } else {
    std::span<double> rest = out;
    cache_->visit(*file_, begin, out.size(), [&](const std::byte* rows, std::size_t count) {
      read_numbers(rows + offset_, file_->row_bytes(), type_, rest.first(count));
      rest = rest.subspan(count);
    });
  }
  for (double& v : out) {
    if (!(std::abs(v) <= kLargest)) v = std::numeric_limits<double>::quiet_NaN();
  }
}

}  // namespace millrace::render
