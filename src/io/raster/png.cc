#include <zlib.h>

#include <array>
#include <cstring>

#include "src/io/file/resumable_file.h"
#include "src/io/image/png_write.h"
#include "src/io/raster/formats.h"

namespace millrace::raster {
namespace {

constexpr std::uint8_t kNone = 0, kSub = 1;  // filter types of a row

// The image data are one zlib stream. The data between two marks are compressed separately, from an empty window. A run
// that resumes after a mark needs only the checksum of the data before it.
class PngRaster : public RasterWriter {
 public:
  PngRaster(const RasterSpec& spec, const std::string& path, const std::string& saved)
      : line_(1 + spec.row_bytes()), samples_(spec.samples), file_(open(path, saved, adler_)) {
    if (saved.empty()) {
      const PngColors colors = !spec.palette.empty() ? PngColors::palette
                               : spec.samples == 3   ? PngColors::rgb
                                                     : PngColors::gray;
      append_png_header({static_cast<std::uint32_t>(spec.width), static_cast<std::uint32_t>(spec.height), 1, 8}, colors,
                        out_);
      append_png_software(out_);
      if (!spec.palette.empty()) append_png_chunk("PLTE", {spec.palette.front().data(), spec.palette.size() * 3}, out_);
      // Header of a zlib stream: a window of 32 KiB, the fastest level.
      compressed_.assign({0x78, 0x01});
    }
    // Numbers of a palette come in runs, which the fastest level finds, too.
    if (deflateInit2(&deflate_, 1, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Failure(ErrorCode::internal, "zlib cannot be initialized");
  }
  ~PngRaster() override { deflateEnd(&deflate_); }

  void append(std::span<const std::byte> row) override {
    const auto* const from = reinterpret_cast<const std::uint8_t*>(row.data());
    if (samples_ == 1) {
      line_[0] = kNone;
      std::memcpy(line_.data() + 1, from, row.size());
    } else {
      line_[0] = kSub;
      for (std::size_t j = 0; j < row.size(); ++j)
        line_[1 + j] = static_cast<std::uint8_t>(from[j] - (j < samples_ ? 0 : from[j - samples_]));
    }
    adler_ = adler32_z(adler_, line_.data(), line_.size());
    compress(line_, Z_NO_FLUSH);
  }
  void mark() override {
    compress({}, Z_SYNC_FLUSH);
    deflateReset(&deflate_);
    write(true);
  }
  std::string save() override {
    file_.sync();
    return format_numbers({file_.size(), adler_});
  }
  void finish() override {
    compress({}, Z_FINISH);
    for (const int shift : {24, 16, 8, 0}) compressed_.push_back(static_cast<std::uint8_t>(adler_ >> shift));
    write(true);
    append_png_chunk("IEND", {}, out_);
    file_.append(std::as_bytes(std::span(out_)));
    file_.finish();
  }

 private:
  static ResumableFile open(const std::string& path, const std::string& saved, uLong& adler) {
    if (saved.empty()) return ResumableFile(path);
    const std::vector<std::uint64_t> numbers = parse_numbers(saved, 2);
    adler = numbers[1];
    return ResumableFile(path, numbers[0]);
  }

  void compress(std::span<std::uint8_t> bytes, int how) {
    std::array<std::uint8_t, 16 * 1024> buffer;
    deflate_.next_in = bytes.data();
    deflate_.avail_in = static_cast<uInt>(bytes.size());
    int code = Z_OK;
    do {
      deflate_.next_out = buffer.data();
      deflate_.avail_out = static_cast<uInt>(buffer.size());
      code = deflate(&deflate_, how);
      compressed_.insert(compressed_.end(), buffer.data(), buffer.data() + (buffer.size() - deflate_.avail_out));
    } while (how == Z_FINISH ? code != Z_STREAM_END : deflate_.avail_out == 0);
    write(false);
  }
  void write(bool all) {
    constexpr std::size_t kChunk = 64 * 1024;
    std::size_t from = 0;
    for (; compressed_.size() - from >= kChunk; from += kChunk)
      append_png_chunk("IDAT", std::span(compressed_).subspan(from, kChunk), out_);
    if (all && from < compressed_.size()) {
      append_png_chunk("IDAT", std::span(compressed_).subspan(from), out_);
      from = compressed_.size();
    }
    compressed_.erase(compressed_.begin(), compressed_.begin() + static_cast<std::ptrdiff_t>(from));
    if (all || out_.size() > kChunk) {
      file_.append(std::as_bytes(std::span(out_)));
      out_.clear();
    }
  }

  std::vector<std::uint8_t> line_;  // a filter type, then a row
  const std::size_t samples_;
  uLong adler_ = 1;
  ResumableFile file_;
  z_stream deflate_{};
  std::vector<std::uint8_t> compressed_, out_;
};

}  // namespace

std::unique_ptr<RasterWriter> png(const RasterSpec& spec, const std::string& path, const std::string& saved) {
  return std::make_unique<PngRaster>(spec, path, saved);
}

}  // namespace millrace::raster
