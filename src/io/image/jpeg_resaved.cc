#include "src/io/image/jpeg_resaved.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

#include "src/base/text.h"
#include "src/io/image/metadata/metadata_locations.h"
#include "src/io/image/provenance.h"
#include "src/io/image/reserving_sink.h"
#include "src/kernels/dct/dct.h"

namespace millrace {
namespace {

constexpr int kBlock = 8;
using QuantizationSteps = std::array<std::uint16_t, 64>;

std::optional<QuantizationSteps> read_luma_steps(const std::string& path) {
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return std::nullopt;
  ByteSource source((*file)->descriptor(), (*file)->size(), kMaxMetadataBytes);
  const MetadataLocations locations = find_metadata(ByteRange(source), path);
  if (locations.format != ImageFormat::jpeg || !locations.tables || source.error_number() != 0) return std::nullopt;
  return locations.tables->luma();
}

// Counts the luma coefficients that lie near multiples of the coarse steps. Only those coefficients count that the fine
// steps would allow to lie elsewhere.
class GridSink : public ReservingSink {
 public:
  GridSink(const QuantizationSteps& fine, const QuantizationSteps& coarse, Budget& budget,
           const std::function<bool()>& cancelled, std::string subject)
      : ReservingSink(budget, cancelled, std::move(subject)), fine_(fine), coarse_(coarse) {}

  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    for (int r = 0; r < count; ++r) {
      std::copy_n(data + r * stride, width_, luma_.begin() + static_cast<std::ptrdiff_t>(filled_) * width_);
      if (++filled_ == kBlock) measure_blocks();
    }
  }
  bool is_on_grid() const {
    constexpr std::int64_t kMinCoefficients = 500;
    constexpr double kNearlyAll = 0.9;
    return seen_ >= kMinCoefficients && static_cast<double>(near_) > kNearlyAll * static_cast<double>(seen_);
  }

 private:
  void begin_rows(const PictureInfo& info) override {
    width_ = info.width;
    // A few thousand blocks are enough to decide.
    constexpr int kMaxBlocks = 1 << 12;
    const std::int64_t blocks = static_cast<std::int64_t>(info.width / kBlock) * (info.height / kBlock);
    apart_ = static_cast<int>(std::clamp<std::int64_t>(blocks / kMaxBlocks, 1, 64));
    luma_.resize(static_cast<std::size_t>(kBlock) * static_cast<std::size_t>(width_));
  }
  void measure_blocks() {
    filled_ = 0;
    for (int left = (turn_++ % apart_) * kBlock; left + kBlock <= width_; left += apart_ * kBlock) measure_block(left);
  }
  void measure_block(int left) {
    std::array<std::uint8_t, kBlock * kBlock> block;
    for (int y = 0; y < kBlock; ++y)
      std::copy_n(luma_.data() + static_cast<std::ptrdiff_t>(y) * width_ + left, kBlock, block.begin() + y * kBlock);
    // A block that reaches black or white was clipped there, so it is left out.
    const auto [least, most] = std::minmax_element(block.begin(), block.end());
    if (*least == 0 || *most == 255) return;
    const std::array<double, kBlock* kBlock> sums = transform_block(block);
    constexpr double kOfSums = 1.0 / 16, kOfFirst = 0.7071067811865476;
    for (std::size_t i = 1; i < sums.size(); ++i) {
      const double coarse = coarse_[i], fine = fine_[i];
      // Pixels are whole numbers, and rounding them moves a coefficient a little as well.
      constexpr double kRounding = 1;
      const double within = 0.5 * fine + kRounding;
      if (coarse < 4 * within) continue;
      const bool first = i < kBlock || i % kBlock == 0;
      const double value = std::fabs(sums[i]) * kOfSums * (first ? kOfFirst : 1);
      const double times = std::floor(value / coarse + 0.5);
      if (times == 0) continue;  // most are near 0 in any picture
      ++seen_;
      near_ += std::fabs(value - times * coarse) <= within ? 1 : 0;
    }
  }

  // Returns the sums that dct_low() returns.
  std::array<double, kBlock * kBlock> transform_block(const std::array<std::uint8_t, kBlock * kBlock>& block) const {
    const auto along = [&](const auto& from, auto& to) {
      for (std::size_t y = 0; y < kBlock; ++y) {
        for (std::size_t u = 0; u < kBlock; ++u) {
          double sum = 0;
          for (std::size_t x = 0; x < kBlock; ++x) sum += from[y * kBlock + x] * cosines_[u * kBlock + x];
          to[u * kBlock + y] = sum;  // transposed, for the pass in the other direction
        }
      }
    };
    std::array<double, kBlock * kBlock> once{}, twice{};
    along(block, once);
    along(once, twice);
    return twice;
  }

  const std::vector<double> cosines_ = dct_cosines(kBlock, kBlock);
  const QuantizationSteps &fine_, &coarse_;
  int width_ = 0, filled_ = 0, apart_ = 1, turn_ = 0;
  std::vector<std::uint8_t> luma_;
  std::int64_t seen_ = 0, near_ = 0;
};

}  // namespace

bool is_resaved(const std::string& path, const std::string& from, const DecodeOptions& options, Budget& budget) {
  const auto fine = read_luma_steps(path), coarse = read_luma_steps(from);
  if (!fine || !coarse) return false;
  const auto file = FileReader::open(path, FileReader::Hashing::off);
  if (!file) return false;
  GridSink sink(*fine, *coarse, budget, options.cancelled, escape_unprintable(path));
  DecodeOptions luma = options;
  luma.gray = true;
  const auto decoded = decode_picture(**file, luma, sink);
  return decoded && !decoded->damaged && sink.is_on_grid();
}

}  // namespace millrace
