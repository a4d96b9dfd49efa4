#include "src/jobs/render/encode/encode.h"

#include <fmt/format.h>

#include <cmath>

#include "src/base/json.h"
#include "src/base/text.h"
#include "src/io/image/jpeg_write.h"
#include "src/io/image/png_write.h"
#include "src/io/store/tar.h"
#include "src/io/tensor/npy.h"

namespace millrace::render {
namespace {

constexpr std::uint64_t kSampled = 256;

void append_to(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

class StreamBody : public PictureBody {
 public:
  StreamBody(const Format& format, const rle_deflate::Code& code) : packer_(format), code_(code) {}
  void append(const rle::Image& picture, std::vector<std::uint8_t>& out) override {
    append_to(out, code_.compress(packer_.pack(picture), stream_));
  }

 private:
  PixelPacker packer_;
  const rle_deflate::Code& code_;
  Buffer<std::uint8_t> stream_;
};

class PixelBody : public PictureBody {
 public:
  explicit PixelBody(const Format& format) : packer_(format), pixels_(format.pixels) {}
  void append(const rle::Image& picture, std::vector<std::uint8_t>& out) override {
    const rle::Image& packed = packer_.pack(picture);
    const std::size_t begin = out.size();
    out.resize(begin +
               static_cast<std::size_t>(packed.width()) * static_cast<std::size_t>(packed.height()) * pixels_.bytes);
    rle::paint(packed, pixels_, out.data() + begin);
  }

 private:
  PixelPacker packer_;
  const rle::EncodedLevels& pixels_;
};

class PngWrapping : public ChartWrapping {
 public:
  PngWrapping(const Format& format, const Options& options)
      : shape_{static_cast<std::uint32_t>(options.width), static_cast<std::uint32_t>(options.height), format.channels,
               format.kind == PixelKind::bits ? 1 : 8} {}
  void append(std::span<const std::uint8_t> body, const ChartRow&, std::vector<std::uint8_t>& out) override {
    append_png(shape_, body, out);
  }

 private:
  const PngShape shape_;
};

class JpegWrapping : public ChartWrapping {
 public:
  JpegWrapping(const Format& format, const Options& options) : format_(format), options_(options) {}
  void append(std::span<const std::uint8_t> body, const ChartRow&, std::vector<std::uint8_t>& out) override {
    append_jpeg(options_.width, options_.height, format_.channels, static_cast<int>(options_.quality), body, out);
  }

 private:
  const Format& format_;
  const Options& options_;
};

// A sample of WebDataset: files of one archive whose names have the same beginning.
class SampleWrapping : public ChartWrapping {
 public:
  SampleWrapping(const ChartPlan& plan, const Format& format, const Options& options)
      : layout_(plan.layout),
        horizons_(options.horizons),
        png_(format, options),
        header_(npy::header_text({{"", kFloat32}}, plan.layout.sequence())) {}

  void append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out) override {
    const std::string key = fmt::format("{:09}", row.chart);
    picture_.clear();
    png_.append(body, row, picture_);
    append_tar_record(key + ".png", {reinterpret_cast<const char*>(picture_.data()), picture_.size()}, out);
    sequence_ = header_;
    const auto sequence = std::as_bytes(std::span(row.sequence));
    sequence_.append(reinterpret_cast<const char*>(sequence.data()), sequence.size());
    append_tar_record(key + ".sequence.npy", sequence_, out);
    Json about{{"chart", row.chart}, {"file", row.file}, {"row", row.row}};
    if (layout_.symbol_bytes > 0) about["symbol"] = row.symbol;
    if (layout_.date_bytes > 0) {
      about["date"] = row.date;
      about["end_date"] = row.end_date;
      // An unknown time is null: JSON has no number for it.
      about["end_time"] = row.end_time == kNoTime ? Json() : Json(row.end_time);
    }
    for (std::size_t h = 0; h < horizons_.size(); ++h) {
      // JSON has no NaN: a label without a future is null.
      const float label = row.labels[h];
      about["labels"][std::to_string(horizons_[h])] = std::isnan(label) ? Json() : Json(label);
    }
    append_tar_record(key + ".json", about.dump() + "\n", out);
  }

 private:
  const ChartLayout& layout_;
  const std::vector<std::int64_t>& horizons_;
  PngWrapping png_;
  const std::string header_;
  std::string sequence_;
  std::vector<std::uint8_t> picture_;
};

bool has_code(Store store) { return store != Store::npy && store != Store::dat && store != Store::jpeg; }

}  // namespace

void ChartEncoder::append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out) {
  if (!wrapping_) return body_->append(picture, out);
  made_.clear();
  body_->append(picture, made_);
  wrapping_->append(made_, row, out);
}

void ChartEncoder::append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out) {
  if (!wrapping_) return append_to(out, body);
  wrapping_->append(body, row, out);
}

Encoding::Encoding(const ChartPlan& plan, const Options& options)
    : plan_(plan), options_(options), format_(format_of(options)) {
  layout_.pixels = format_.pixels;
  layout_.row_prefix = options.store == Store::png || options.store == Store::webdataset;
  layout_.wrapper = options.store == Store::zarr ? rle_deflate::Wrapper::gzip : rle_deflate::Wrapper::zlib;
  if (has_code(options.store)) code_ = std::make_unique<const rle_deflate::Code>(make_code());
}

rle_deflate::Code Encoding::make_code() const {
  WindowRenderer renderer(plan_, options_);
  PixelPacker packer(format_);
  rle_deflate::Histogram histogram;
  const std::uint64_t count = std::min(plan_.charts, kSampled);
  for (std::uint64_t i = 0; i < count; ++i) {
    histogram.count(packer.pack(renderer.draw(i * plan_.charts / count)), layout_);
  }
  return {histogram, layout_};
}

std::unique_ptr<PictureBody> Encoding::make_body() const {
  if (code_) return std::make_unique<StreamBody>(format_, *code_);
  return std::make_unique<PixelBody>(format_);
}

std::unique_ptr<ChartWrapping> Encoding::make_wrapping() const {
  switch (options_.store) {
    case Store::jpeg:
      return std::make_unique<JpegWrapping>(format_, options_);
    case Store::png:
      return std::make_unique<PngWrapping>(format_, options_);
    case Store::webdataset:
      return std::make_unique<SampleWrapping>(plan_, format_, options_);
    default:
      return nullptr;
  }
}

ChartEncoder Encoding::make() const { return {make_body(), make_wrapping()}; }

std::uint64_t Encoding::most_bytes() const {
  // A stream has about a tenth of the bytes of its pixels if they are noise. It is as long as its pixels if a window
  // has more rows than half of the image's columns.
  const std::uint64_t pixels = plan_.layout.image_bytes();
  const std::uint64_t sequence = 4 * std::uint64_t{plan_.layout.window} * plan_.layout.columns;
  const bool dense = plan_.window > static_cast<std::size_t>(options_.width) / 2;
  return (has_code(options_.store) && !dense ? pixels / 8 : pixels) + 4096 + 2 * sequence;
}

}  // namespace millrace::render
