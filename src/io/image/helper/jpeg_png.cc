// JPEG and PNG decoded by the same code as in the program itself, but in the sandbox of a helper.
#include <algorithm>
#include <cstring>
#include <limits>

#include "src/io/image/helper/decoder.h"
#include "src/io/image/picture.h"

namespace millrace::helper {
namespace {

class ChannelSink : public RowSink {
 public:
  explicit ChannelSink(DecoderChannel& channel) : channel_(channel) {}

  // Keeps the EXIF block as it is stored in the file; the program parses it.
  void exif_found(std::span<const std::uint8_t> block) {
    exif_.assign(block.begin(), block.end());
    fresh_exif_ = true;
  }
  // True once the program does not want the rest.
  bool ended() const { return ended_; }

  Outcome<void> begin(const PictureInfo& info) override {
    DecoderMessage about{};
    about.width = info.width;
    about.height = info.height;
    about.full_width = info.full_width;
    about.full_height = info.full_height;
    about.channels = info.channels;
    about.exact = info.exact;
    about.clips = info.clips;
    about.decoder_memory = info.decoder_memory.count;
    row_bytes_ = static_cast<std::size_t>(info.width) * static_cast<std::size_t>(info.channels);
    ended_ = !channel_.begin(about, exif_);
    fresh_exif_ = false;
    if (ended_) return Error{ErrorCode::cancelled, "the program stopped reading it", "", ""};
    return {};
  }

  void rows(const std::uint8_t* data, std::ptrdiff_t stride, int count) override {
    while (count > 0 && !ended_) {
      const int now = std::min(count, channel_.max_rows());
      for (int r = 0; r < now; ++r, data += stride)
        std::memcpy(channel_.strip() + static_cast<std::size_t>(r) * row_bytes_, data, row_bytes_);
      count -= now;
      ended_ = !channel_.rows(now);
    }
  }

  void end(const DecodeResult& decoded) {
    channel_.end(decoded.damaged, decoded.damage, decoded.unshown, fresh_exif_ ? exif_ : std::vector<std::uint8_t>());
  }

 private:
  DecoderChannel& channel_;
  std::vector<std::uint8_t> exif_;
  bool fresh_exif_ = false, ended_ = false;
  std::size_t row_bytes_ = 0;
};

}  // namespace

void decode_jpeg_or_png(const DecodeJob& job, DecoderChannel& channel) {
  // The caller closes the file, so the reader gets a duplicate of its descriptor.
  auto file = FileReader::make(Descriptor(::dup(job.fd)), "", FileReader::Hashing::off);
  if (!file) return channel.fail(static_cast<int>(file.error().code), file.error().what);
  ChannelSink sink(channel);
  DecodeOptions options;
  options.shortest_side = job.shortest_side;
  options.gray = job.gray;
  options.luma = job.luma;
  options.wide_gray = job.wide_gray;
  options.over_gray = job.over_gray;
  options.max_pixels = std::numeric_limits<std::uint64_t>::max();  // the program checks the size
  options.exif_found = [&](std::span<const std::uint8_t> block) { sink.exif_found(block); };
  const bool jpeg = static_cast<ImageFormat>(job.format) == ImageFormat::jpeg;
  const auto decoded = jpeg ? decode_jpeg(**file, options, sink) : decode_png(**file, options, sink);
  if (sink.ended()) return;
  if (!decoded) return channel.fail(static_cast<int>(decoded.error().code), decoded.error().what);
  sink.end(*decoded);
}

}  // namespace millrace::helper
