#include "src/io/image/fingerprint.h"

#include <algorithm>
#include <new>

#include "src/base/text.h"
#include "src/kernels/resize/resize.h"

namespace millrace {
namespace {

// RGB thumbnail made of three planes that are resized separately, because the resizer works on one channel.
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

  static Workspace workspace(int width, int height, int side) {
    return Resizer::workspace(width, height, side, side) * 3;
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

  // Sets the orientation that a previous reading found.
  void set_orientation(Orientation orientation) { orientation_ = orientation; }

  Outcome<void> prepare(Bytes decoder_memory) override {
    reservation_.release();
    return reserve(decoder_memory);
  }

  Outcome<void> begin(const PictureInfo& info) override {
    info_ = info;
    if (orientation_) info_.exif.orientation = *orientation_;
    turn_ = (options_.upright || info_.is_reoriented_by_viewers()) && info_.exif.orientation != Orientation::upright;
    const bool swapped = turn_ && swaps_sides(info_.exif.orientation);
    const int width = swapped ? info.height : info.width;
    const int height = swapped ? info.width : info.height;
    Bytes needed = info.decoder_memory;
    needed += PictureHasher::workspace(options_.hashes, width, height).host;
    if (options_.thumbnail_side > 0) needed += ThumbnailMaker::workspace(width, height, options_.thumbnail_side).host;
    if (turn_) needed += {2 * pixels_of(info)};
    // The reservation grows at once where that is possible. Otherwise it is released before the wait for the whole, so
    // that no thread waits while it holds memory.
    const Bytes held = std::min(reservation_.size(), needed);
    if (auto rest = budget_.try_reserve(needed - held)) {
      rest_ = std::move(*rest);
    } else {
      reservation_.release();
      if (auto done = reserve(needed); !done.ok()) return done;
    }
    hasher_.emplace(options_.hashes, width, height);
    if (options_.thumbnail_side > 0) thumbnail_.emplace(width, height, options_.thumbnail_side);
    if (turn_) whole_.reserve(pixels_of(info));
    return {};
  }

  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    if (!turn_) return consume(data, stride, count);
    const std::ptrdiff_t pitch = static_cast<std::ptrdiff_t>(info_.width) * info_.channels;
    for (int r = 0; r < count; ++r) whole_.insert(whole_.end(), data + r * stride, data + r * stride + pitch);
  }

  Orientation used_orientation() const { return info_.exif.orientation; }
  bool turned() const { return turn_; }

  void finish(PictureFingerprint& out) {
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
  static constexpr const char* kPurpose = "decoding a picture";

  Outcome<void> reserve(Bytes bytes) {
    try {
      WaitSpan wait(span_);
      auto granted = budget_.wait_for(bytes, kPurpose, cancelled_);
      if (!granted) return interrupted("the picture was not decoded", subject_);
      reservation_ = std::move(*granted);
      return {};
    } catch (const OutOfMemory& e) {
      Error error = e.error();
      error.subject = subject_;
      return error;
    }
  }

  static std::size_t pixels_of(const PictureInfo& info) {
    return static_cast<std::size_t>(info.width) * static_cast<std::size_t>(info.height) *
           static_cast<std::size_t>(info.channels);
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
  std::optional<Orientation> orientation_;
  Reservation reservation_, rest_;
  std::optional<PictureHasher> hasher_;
  std::optional<ThumbnailMaker> thumbnail_;
  std::vector<std::uint8_t> whole_;
};

}  // namespace

namespace {

Outcome<PictureFingerprint> decode_and_hash(FileReader& file, const FingerprintOptions& options, Budget& budget,
                                            const std::function<bool()>& cancelled, Span& span) {
  PictureFingerprint out;
  std::optional<FingerprintSink> sink;
  const auto decode = [&](FileReader& from) {
    DecodeOptions decoding = options.decode;
    decoding.cancelled = cancelled;
    decoding.luma = options.thumbnail_side == 0 && !PictureHasher::needs_color(options.hashes);
    auto decoded = decode_picture(from, decoding, *sink);
    if (!decoded) return Outcome<void>(decoded.error());
    out.info = std::move(decoded->info);
    out.damaged = decoded->damaged;
    out.unshown = decoded->unshown;
    out.damage = std::move(decoded->damage);
    return Outcome<void>();
  };
  sink.emplace(options, budget, cancelled, span, escape_unprintable(file.path()));
  if (auto done = decode(file); !done.ok()) return done.error();
  if ((options.upright || out.info.is_reoriented_by_viewers()) &&
      out.info.exif.orientation != sink->used_orientation()) {
    // A PNG may state its orientation after its pixels. That is rare, and then the file is read twice.
    auto again = FileReader::open(file.path());
    if (!again) return again.error();
    sink.emplace(options, budget, cancelled, span, escape_unprintable(file.path()));
    sink->set_orientation(out.info.exif.orientation);
    if (auto done = decode(**again); !done.ok()) return done.error();
  }
  sink->finish(out);
  out.turned = sink->turned();
  if (options.content_hash) {
    auto content = file.finish_hash();
    if (!content) return content.error();
    out.content = *content;
  }
  return out;
}

}  // namespace

Thumbnail make_thumbnail(const std::uint8_t* data, int width, int height, std::ptrdiff_t stride, int channels,
                         int side) {
  ThumbnailMaker maker(width, height, side);
  maker.push(data, stride, height, channels);
  return maker.finish();
}

Outcome<PictureFingerprint> compute_fingerprint(FileReader& file, const FingerprintOptions& options, Budget& budget,
                                                const std::function<bool()>& cancelled, Span& span) {
  try {
    return decode_and_hash(file, options, budget, cancelled, span);
  } catch (const std::bad_alloc&) {
    // The budget had room, but the system has no memory. Only this picture fails; the others go on.
    return Error{ErrorCode::out_of_memory, "out of memory: the system has none left for this picture",
                 escape_unprintable(file.path()), "lower --memory or --threads"};
  }
}

}  // namespace millrace
