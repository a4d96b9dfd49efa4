#include "src/jobs/render/encode/encode.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

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

class StreamEncoder : public ChartEncoder {
 public:
  StreamEncoder(const Format& format, const rle_deflate::Code& code) : packer_(format), code_(code) {}
  void append(const rle::Image& picture, const ChartRow&, std::vector<std::uint8_t>& out) override {
    append_to(out, code_.compress(packer_.pack(picture), stream_));
  }

 private:
  PixelPacker packer_;
  const rle_deflate::Code& code_;
  Buffer<std::uint8_t> stream_;
};

class PngEncoder : public ChartEncoder {
 public:
  PngEncoder(const Format& format, const rle_deflate::Code& code)
      : packer_(format), code_(code), channels_(format.channels), bits_(format.kind == PixelKind::bits ? 1 : 8) {}
  void append(const rle::Image& picture, const ChartRow&, std::vector<std::uint8_t>& out) override {
    const PngShape shape{static_cast<std::uint32_t>(picture.width()), static_cast<std::uint32_t>(picture.height()),
                         channels_, bits_};
    append_png(shape, code_.compress(packer_.pack(picture), stream_), out);
  }

 private:
  PixelPacker packer_;
  const rle_deflate::Code& code_;
  const int channels_, bits_;
  Buffer<std::uint8_t> stream_;
};

// Pixels as they are.
class PixelEncoder : public ChartEncoder {
 public:
  explicit PixelEncoder(const Format& format) : packer_(format), pixels_(format.pixels) {}
  void append(const rle::Image& picture, const ChartRow&, std::vector<std::uint8_t>& out) override {
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

class JpegEncoder : public ChartEncoder {
 public:
  JpegEncoder(const Format& format, int quality) : format_(format), pixels_(format), quality_(quality) {}
  void append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out) override {
    painted_.clear();
    pixels_.append(picture, row, painted_);
    append_jpeg(picture.width(), picture.height(), format_.channels, quality_, painted_, out);
  }

 private:
  const Format& format_;
  PixelEncoder pixels_;
  const int quality_;
  std::vector<std::uint8_t> painted_;
};

// A sample of WebDataset: files of one archive whose names begin alike.
class SampleEncoder : public ChartEncoder {
 public:
  SampleEncoder(const ChartPlan& plan, const Options& options, std::unique_ptr<ChartEncoder> pictures)
      : layout_(plan.layout),
        horizons_(options.horizons),
        pictures_(std::move(pictures)),
        header_(npy::header_text({{"", kFloat32}}, plan.layout.sequence())) {}

  void append(const rle::Image& picture, const ChartRow& row, std::vector<std::uint8_t>& out) override {
    const std::string key = fmt::format("{:09}", row.chart);
    picture_.clear();
    pictures_->append(picture, row, picture_);
    append_tar_record(key + ".png", {reinterpret_cast<const char*>(picture_.data()), picture_.size()}, out);
    sequence_ = header_;
    const auto sequence = std::as_bytes(std::span(row.sequence));
    sequence_.append(reinterpret_cast<const char*>(sequence.data()), sequence.size());
    append_tar_record(key + ".sequence.npy", sequence_, out);
    nlohmann::ordered_json about{{"chart", row.chart}, {"file", row.file}, {"row", row.row}};
    if (layout_.symbol_bytes > 0) about["symbol"] = row.symbol;
    if (layout_.date_bytes > 0) {
      about["date"] = row.date;
      about["end_date"] = row.end_date;
      // Not known: null, as what JSON has no number for.
      about["end_time"] = row.end_time == kNoTime ? nlohmann::ordered_json() : nlohmann::ordered_json(row.end_time);
    }
    for (std::size_t h = 0; h < horizons_.size(); ++h) {
      // JSON has no NaN: a label without a future is null.
      const float label = row.labels[h];
      about["labels"][std::to_string(horizons_[h])] =
          std::isnan(label) ? nlohmann::ordered_json() : nlohmann::ordered_json(label);
    }
    append_tar_record(key + ".json", about.dump() + "\n", out);
  }

 private:
  const ChartLayout& layout_;
  const std::vector<std::int64_t>& horizons_;
  std::unique_ptr<ChartEncoder> pictures_;
  const std::string header_;
  std::string sequence_;
  std::vector<std::uint8_t> picture_;
};

bool has_code(Store store) { return store != Store::npy && store != Store::dat && store != Store::jpeg; }

}  // namespace

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

std::unique_ptr<ChartEncoder> Encoding::make() const {
  const Store store = options_.store;
  if (store == Store::hdf5 || store == Store::zarr) return std::make_unique<StreamEncoder>(format_, *code_);
  if (store == Store::npy || store == Store::dat) return std::make_unique<PixelEncoder>(format_);
  if (store == Store::jpeg) return std::make_unique<JpegEncoder>(format_, static_cast<int>(options_.quality));
  auto png = std::make_unique<PngEncoder>(format_, *code_);
  if (store == Store::png) return png;
  return std::make_unique<SampleEncoder>(plan_, options_, std::move(png));
}

std::uint64_t Encoding::most_bytes() const {
  // A stream is a tenth of its pixels where they are noise; as long as they are where a window has more rows than
  // the picture columns.
  const std::uint64_t pixels = plan_.layout.image_bytes();
  const std::uint64_t sequence = 4 * std::uint64_t{plan_.layout.window} * plan_.layout.columns;
  const bool dense = plan_.window > static_cast<std::size_t>(options_.width) / 2;
  return (has_code(options_.store) && !dense ? pixels / 8 : pixels) + 4096 + 2 * sequence;
}

}  // namespace millrace::render
