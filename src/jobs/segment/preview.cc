#include "src/jobs/segment/preview.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "src/base/error.h"
#include "src/base/text.h"
#include "src/io/image/png_write.h"

namespace millrace::segment {
namespace {

constexpr std::size_t kSeen = 4;  // one in so many pixels of a block must have a label for it to be shown

[[noreturn]] void refuse() { throw Failure(ErrorCode::bad_data, "the preview of a mask is damaged"); }

std::string packed(std::span<const std::uint8_t> bytes) {
  const std::vector<std::uint8_t> deflated = compress_png_rows(bytes);
  return to_base64({reinterpret_cast<const char*>(deflated.data()), deflated.size()});
}

std::vector<std::uint8_t> unpacked(const std::string& text, std::size_t size) {
  const auto deflated = from_base64(text);
  if (!deflated) refuse();
  std::vector<std::uint8_t> out(size);
  uLongf got = size;
  const auto* from = reinterpret_cast<const Bytef*>(deflated->data());
  if (::uncompress(out.data(), &got, from, deflated->size()) != Z_OK || got != size) refuse();
  return out;
}

}  // namespace

std::size_t Preview::block_of(std::int64_t width, std::int64_t height) {
  return static_cast<std::size_t>((std::max(width, height) + kMaxSide - 1) / kMaxSide);
}

Preview::Preview(std::int64_t width, std::int64_t height, std::size_t labels)
    : width_(static_cast<std::size_t>(width)),
      block_(block_of(width, height)),
      columns_((width_ + block_ - 1) / block_),
      labels_(labels),
      counts_(columns_ * labels_) {}

std::uint64_t Preview::bytes(std::int64_t width, std::int64_t height, std::size_t labels) {
  const std::size_t block = block_of(width, height);
  const std::uint64_t columns = (static_cast<std::size_t>(width) + block - 1) / block;
  return columns * labels * sizeof(std::uint32_t) + 2 * kMaxSide * kMaxSide;
}

void Preview::append(std::span<const std::uint8_t> row) {
  std::uint32_t* counts = counts_.data();
  for (std::size_t begin = 0; begin < width_; begin += block_, counts += labels_)
    for (const std::uint8_t label : row.subspan(begin, std::min(block_, width_ - begin))) ++counts[label];
  if (++rows_ == block_) end_block();
}

// Adds one pixel per block: the most frequent label other than 0, if these labels cover at least a quarter of the
// block; else 0.
void Preview::end_block() {
  for (std::size_t column = 0; column < columns_; ++column) {
    const auto first = counts_.begin() + static_cast<std::ptrdiff_t>(column * labels_),
               last = first + static_cast<std::ptrdiff_t>(labels_);
    const std::size_t pixels = std::min(block_, width_ - column * block_) * rows_;
    const bool is_seen = (pixels - *first) * kSeen >= pixels && pixels > *first;
    out_.push_back(is_seen ? static_cast<std::uint8_t>(std::max_element(first + 1, last) - first) : 0);
  }
  std::fill(counts_.begin(), counts_.end(), 0);
  rows_ = 0;
}

std::string Preview::save() const {
  std::vector<std::uint8_t> bytes((counts_.size() + 2) * sizeof(std::uint32_t) + out_.size());
  const std::array<std::uint32_t, 2> front = {static_cast<std::uint32_t>(rows_),
                                              static_cast<std::uint32_t>(out_.size())};
  std::memcpy(bytes.data(), front.data(), sizeof front);
  std::memcpy(bytes.data() + sizeof front, counts_.data(), counts_.size() * sizeof(std::uint32_t));
  std::copy(out_.begin(), out_.end(), bytes.end() - static_cast<std::ptrdiff_t>(out_.size()));
  return std::to_string(bytes.size()) + " " + packed(bytes);
}

void Preview::restore(const std::string& resume_state, std::uint64_t rows) {
  const std::size_t space = resume_state.find(' '), fixed = (counts_.size() + 2) * sizeof(std::uint32_t);
  std::size_t size = 0;
  try {
    size = std::stoul(resume_state);
  } catch (const std::exception&) {
    refuse();
  }
  if (space == std::string::npos || size < fixed || size > fixed + kMaxSide * kMaxSide) refuse();
  const std::vector<std::uint8_t> bytes = unpacked(resume_state.substr(space + 1), size);
  std::array<std::uint32_t, 2> front{};
  std::memcpy(front.data(), bytes.data(), sizeof front);
  if (front[0] != rows % block_ || front[1] != size - fixed || front[1] != rows / block_ * columns_) refuse();
  rows_ = front[0];
  std::memcpy(counts_.data(), bytes.data() + sizeof front, counts_.size() * sizeof(std::uint32_t));
  out_.assign(bytes.begin() + static_cast<std::ptrdiff_t>(fixed), bytes.end());
}

SmallMask Preview::finish() {
  if (rows_ > 0) end_block();
  return {static_cast<std::uint32_t>(columns_), static_cast<std::uint32_t>(out_.size() / columns_), std::move(out_)};
}

std::string text_of(const SmallMask& mask) { return packed(mask.labels); }

SmallMask parse_small_mask(std::uint32_t width, std::uint32_t height, const std::string& text) {
  if (width < 1 || height < 1 || width > Preview::kMaxSide || height > Preview::kMaxSide) refuse();
  return {width, height, unpacked(text, std::size_t{width} * height)};
}

}  // namespace millrace::segment
