#include "src/io/image/fingerprint.h"

#include <algorithm>

#include "src/base/text.h"
#include "src/kernels/resize/resize.h"

namespace millrace {
namespace {

// Three planes resized side by side; the resize works on one channel.
class ThumbnailMaker {
 public:
  ThumbnailMaker(int width, int height, int side) {
    const int longer = std::max(width, height);
    const auto scaled = [&](int n) { return longer <= side ? n : std::max(1, (n * side + longer / 2) / longer); };
    out_.width = scaled(width);
    out_.height = scaled(height);
    width_ = width;
    for (int c = 0; c < 3; ++c) planes_.emplace_back(width, height, out_.width, out_.height);
  }

  void push(const std::uint8_t* data, std::ptrdiff_t stride, int rows, int channels) {
    line_.resize(static_cast<std::size_t>(width_));
    for (int r = 0; r < rows; ++r) {
      const std::uint8_t* row = data + r * stride;
      for (int c = 0; c < 3; ++c) {
        if (channels == 1) {
          planes_[static_cast<std::size_t>(c)].push(row, 0, 1);
        } else {
          for (int x = 0; x < width_; ++x) line_[static_cast<std::size_t>(x)] = row[3 * x + c];
          planes_[static_cast<std::size_t>(c)].push(line_.data(), 0, 1);
        }
      }
    }
  }

  Thumbnail finish() {
    const auto count = static_cast<std::size_t>(out_.width) * static_cast<std::size_t>(out_.height);
    out_.rgb.resize(3 * count);
    for (std::size_t c = 0; c < 3; ++c) {
      const std::uint8_t* plane = planes_[c].result();
      for (std::size_t i = 0; i < count; ++i) out_.rgb[3 * i + c] = plane[i];
    }
    return std::move(out_);
  }

  static std::size_t memory_needed(int width, int height, int side) {
    return 3 * Resizer::memory_needed(width, height, side, side);
  }

 private:
  Thumbnail out_;
  int width_ = 0;
  std::vector<Resizer> planes_;
  std::vector<std::uint8_t> line_;
};

class FingerprintSink : public RowSink {
 public:
  FingerprintSink(const FingerprintOptions& options, Budget& budget, const std::function<bool()>& cancelled, Span& span,
                  std::string subject)
      : options_(options), budget_(budget), cancelled_(cancelled), span_(span), subject_(std::move(subject)) {}

  std::optional<Error> begin(const PictureInfo& info) override {
    info_ = info;
    turn_ = options_.upright && info.exif.orientation != Orientation::upright;
    const bool swapped = turn_ && swaps_sides(info.exif.orientation);
    const int width = swapped ? info.height : info.width;
    const int height = swapped ? info.width : info.height;
    Bytes needed = info.decoder_memory;
    needed += {PictureHasher::memory_needed(options_.hashes, width, height)};
    if (options_.thumbnail_side > 0) needed += {ThumbnailMaker::memory_needed(width, height, options_.thumbnail_side)};
    if (turn_) needed += {2 * pixels_of(info)};
    try {
      Wait wait(span_);
      auto granted = budget_.wait_for(needed, "decoding a picture", cancelled_);
      if (!granted) return Error{ErrorCode::cancelled, "cancelled", subject_, ""};
      reservation_ = std::move(*granted);
    } catch (const OutOfMemory& e) {
      Error error = e.error();
      error.subject = subject_;
      return error;
    }
    hasher_.emplace(options_.hashes, width, height);
    if (options_.thumbnail_side > 0) thumbnail_.emplace(width, height, options_.thumbnail_side);
    if (turn_) whole_.reserve(pixels_of(info));
    return std::nullopt;
  }

  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    if (!turn_) return consume(data, stride, count);
    const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(info_.width) * info_.channels;
    for (int r = 0; r < count; ++r) whole_.insert(whole_.end(), data + r * stride, data + r * stride + pitch);
  }

  void finish(Fingerprint& out) {
    if (turn_) {
      const auto turned = oriented(whole_.data(), info_.width, info_.height, info_.channels, info_.exif.orientation);
      const bool swapped = swaps_sides(info_.exif.orientation);
      const int width = swapped ? info_.height : info_.width;
      const int height = swapped ? info_.width : info_.height;
      consume(turned.data(), static_cast<std::ptrdiff_t>(width) * info_.channels, height);
    }
    out.hashes = hasher_->finish();
    if (thumbnail_) out.thumbnail = thumbnail_->finish();
  }

 private:
  static std::size_t pixels_of(const PictureInfo& info) {
    return static_cast<std::size_t>(info.width) * static_cast<std::size_t>(info.height) * static_cast<std::size_t>(info.channels);
  }

  void consume(const std::uint8_t* data, std::ptrdiff_t stride, int count) {
    hasher_->push(data, stride, count, info_.channels);
    if (thumbnail_) thumbnail_->push(data, stride, count, info_.channels);
  }

  const FingerprintOptions& options_;
  Budget& budget_;
  const std::function<bool()>& cancelled_;
  Span& span_;
  const std::string subject_;
  PictureInfo info_;
  bool turn_ = false;
  Reservation reservation_;
  std::optional<PictureHasher> hasher_;
  std::optional<ThumbnailMaker> thumbnail_;
  std::vector<std::uint8_t> whole_;
};

}  // namespace

Outcome<Fingerprint> fingerprint(FileReader& file, const FingerprintOptions& options, Budget& budget,
                                 const std::function<bool()>& cancelled, Span& span) {
  FingerprintSink sink(options, budget, cancelled, span, printable(file.path()));
  auto decoded = decode_picture(file, options.decode, sink);
  if (!decoded) return decoded.error();
  Fingerprint out;
  out.info = std::move(decoded->info);
  out.damaged = decoded->damaged;
  out.damage = std::move(decoded->damage);
  sink.finish(out);
  if (options.content_hash) {
    auto content = file.finish_hash();
    if (!content) return content.error();
    out.content = *content;
  }
  return out;
}

}  // namespace millrace
