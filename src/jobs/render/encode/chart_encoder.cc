#include "src/jobs/render/encode/chart_encoder.h"

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

constexpr std::uint64_t kSampledCharts = 256;

void append_bytes(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

class StreamBodyEncoder : public BodyEncoder {
 public:
  StreamBodyEncoder(const Format& format, const rle_deflate::DeflateCode& code) : packer_(format), code_(code) {}
  void append(const rle::Image& picture, std::vector<std::uint8_t>& out) override {
    append_bytes(out, code_.compress(packer_.pack(picture), stream_));
  }

 private:
  PixelPacker packer_;
  const rle_deflate::DeflateCode& code_;
  Buffer<std::uint8_t> stream_;
};

class PixelBodyEncoder : public BodyEncoder {
 public:
  explicit PixelBodyEncoder(const Format& format) : packer_(format), pixels_(format.pixels) {}
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

class PngWrapper : public ChartWrapper {
 public:
  PngWrapper(const Format& format, const RenderOptions& options)
      : shape_{static_cast<std::uint32_t>(options.width), static_cast<std::uint32_t>(options.height), format.channels,
               format.kind == PixelKind::bits ? 1 : 8} {}
  void append(std::span<const std::uint8_t> body, const ChartRow&, std::vector<std::uint8_t>& out) override {
    append_png(shape_, body, out);
  }

 private:
  const PngShape shape_;
};

class JpegWrapper : public ChartWrapper {
 public:
  JpegWrapper(const Format& format, const RenderOptions& options) : format_(format), options_(options) {}
  void append(std::span<const std::uint8_t> body, const ChartRow&, std::vector<std::uint8_t>& out) override {
    append_jpeg(options_.width, options_.height, format_.channels, static_cast<int>(options_.quality), body, out);
  }

 private:
  const Format& format_;
  const RenderOptions& options_;
};

// A sample of WebDataset: files of one archive whose names have the same beginning.
class SampleWrapper : public ChartWrapper {
 public:
  SampleWrapper(const ChartPlan& plan, const Format& format, const RenderOptions& options)
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
  PngWrapper png_;
  const std::string header_;
  std::string sequence_;
  std::vector<std::uint8_t> picture_;
};

bool has_code(ChartStore store) {
  return store != ChartStore::npy && store != ChartStore::dat && store != ChartStore::jpeg;
}

}  // namespace

void ChartEncoder::append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out) {
  if (!wrapper_) return body_->append(picture, out);
  made_.clear();
  body_->append(picture, made_);
  wrapper_->append(made_, row, out);
}

void ChartEncoder::append(std::span<const std::uint8_t> body, const ChartRow& row, std::vector<std::uint8_t>& out) {
  if (!wrapper_) return append_bytes(out, body);
  wrapper_->append(body, row, out);
}

ChartEncoding::ChartEncoding(const ChartPlan& plan, const RenderOptions& options)
    : plan_(plan), options_(options), format_(format_of(options)) {
  layout_.pixels = format_.pixels;
  layout_.row_prefix = options.store == ChartStore::png || options.store == ChartStore::webdataset;
  layout_.wrapper = options.store == ChartStore::zarr ? rle_deflate::Wrapper::gzip : rle_deflate::Wrapper::zlib;
  if (has_code(options.store)) code_ = std::make_unique<const rle_deflate::DeflateCode>(make_code());
}

rle_deflate::DeflateCode ChartEncoding::make_code() const {
  WindowRenderer renderer(plan_, options_);
  PixelPacker packer(format_);
  rle_deflate::SymbolHistogram histogram;
  const std::uint64_t count = std::min(plan_.charts, kSampledCharts);
  for (std::uint64_t i = 0; i < count; ++i) {
    histogram.count(packer.pack(renderer.draw(i * plan_.charts / count)), layout_);
  }
  return {histogram, layout_};
}

std::unique_ptr<BodyEncoder> ChartEncoding::make_body_encoder() const {
  if (code_) return std::make_unique<StreamBodyEncoder>(format_, *code_);
  return std::make_unique<PixelBodyEncoder>(format_);
}

std::unique_ptr<ChartWrapper> ChartEncoding::make_wrapper() const {
  switch (options_.store) {
    case ChartStore::jpeg:
      return std::make_unique<JpegWrapper>(format_, options_);
    case ChartStore::png:
      return std::make_unique<PngWrapper>(format_, options_);
    case ChartStore::webdataset:
      return std::make_unique<SampleWrapper>(plan_, format_, options_);
    default:
      return nullptr;
  }
}

ChartEncoder ChartEncoding::make() const { return {make_body_encoder(), make_wrapper()}; }

std::uint64_t ChartEncoding::max_bytes() const {
  // A stream has about a tenth of the bytes of its pixels if they are noise. It is as long as its pixels if a window
  // has more rows than half of the image's columns.
  const std::uint64_t pixels = plan_.layout.image_bytes();
  const std::uint64_t sequence = 4 * std::uint64_t{plan_.layout.window} * plan_.layout.columns;
  const bool dense = plan_.window > static_cast<std::size_t>(options_.width) / 2;
  return (has_code(options_.store) && !dense ? pixels / 8 : pixels) + 4096 + 2 * sequence;
}

}  // namespace millrace::render
