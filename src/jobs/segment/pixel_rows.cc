#include "src/jobs/segment/pixel_rows.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "src/kernels/luma/luma.h"
#include "src/memory/buffer.h"

namespace millrace::segment {
namespace {

// Memory for rows that are decoded ahead, so that the decoder works while windows are cut.
constexpr Bytes kAheadOfPicture = 4_MiB, kAheadOfRegion = 1_MiB;

// Rows as the decoder gives them.
class FileRows : public PixelRows {
 public:
  FileRows(std::unique_ptr<PictureRows> rows, bool gray, std::string source, Bytes ahead)
      : rows_(std::move(rows)), ahead_(ahead) {
    info_ = rows_->info();
    source_ = std::move(source);
    pixel_ = gray ? 1 : static_cast<std::size_t>(info_.channels);
  }

  std::int64_t width() const override { return info_.width; }
  std::int64_t height() const override { return info_.height; }
  std::size_t pixel() const override { return pixel_; }
  Bytes memory_cost() const override { return Bytes{rows_->row_bytes()} + info_.decoder_memory + ahead_; }
  bool is_spooled() const override { return rows_->is_held_whole(); }
  void begin(const std::string& folder) override {
    if (is_spooled() && !folder.empty()) rows_->spool(folder);
    color_.resize(rows_->row_bytes());
  }
  void take(std::uint8_t* out) override {
    const bool luma = rows_->row_bytes() != row_bytes();
    rows_->take(1, luma ? color_.data() : out).or_throw();
    if (luma) luma_from_rgb(color_.data(), out, static_cast<std::size_t>(info_.width));
  }
  PictureRows::Finished finish() override { return rows_->finish().or_throw(); }

 private:
  std::unique_ptr<PictureRows> rows_;
  const Bytes ahead_;
  std::size_t pixel_ = 3;
  Buffer<std::uint8_t> color_;  // color row that luma is computed from
};

PictureInfo info_of(const ArrayView& image) {
  PictureInfo out;
  out.width = static_cast<int>(image.shape[1]);
  out.height = static_cast<int>(image.shape[0]);
  out.channels = image.shape.size() == 3 ? static_cast<int>(image.shape[2]) : 1;
  out.decoder_memory = Bytes{CallersImage::bytes(image)};
  return out;
}

std::vector<std::uint8_t> rgb_of(const CallersImage& image) {
  const auto width = static_cast<std::size_t>(image.width()), height = static_cast<std::size_t>(image.height());
  std::vector<std::uint8_t> out(width * height * 3);
  for (std::size_t y = 0; y < height; ++y) {
    const std::uint8_t* row = image.data() + static_cast<std::ptrdiff_t>(y) * image.stride();
    std::uint8_t* to = out.data() + y * width * 3;
    if (image.channels() == 3) {
      std::copy_n(row, width * 3, to);
    } else {
      for (std::size_t x = 0; x < width; ++x) to = std::fill_n(to, 3, row[x]);
    }
  }
  return out;
}

// Rows of a caller's image.
class ImageRows : public PixelRows {
 public:
  ImageRows(ArrayView image, bool gray) : image_(std::move(image)) {
    info_ = info_of(image_);
    pixel_ = gray ? 1 : static_cast<std::size_t>(info_.channels);
  }

  std::int64_t width() const override { return info_.width; }
  std::int64_t height() const override { return info_.height; }
  std::size_t pixel() const override { return pixel_; }
  Bytes memory_cost() const override { return info_.decoder_memory; }
  bool is_spooled() const override { return false; }
  void begin(const std::string&) override { held_.emplace(image_); }
  void take(std::uint8_t* out) override {
    const std::uint8_t* row = held_->data() + next_++ * held_->stride();
    if (static_cast<std::size_t>(held_->channels()) != pixel_)
      return luma_from_rgb(row, out, static_cast<std::size_t>(held_->width()));
    std::copy_n(row, row_bytes(), out);
  }
  PictureRows::Finished finish() override { return {}; }

 private:
  const ArrayView image_;
  std::optional<CallersImage> held_;
  std::size_t pixel_ = 3;
  std::ptrdiff_t next_ = 0;
};

// Rows of a square: a photograph's field of view, or all of it.
class SquareRows : public PixelRows {
 public:
  // Returns the whole photograph as RGB; called once.
  using Whole = std::function<std::vector<std::uint8_t>(PictureRows::Finished& finished)>;
  SquareRows(PictureInfo info, Whole whole, const Setup& setup, std::string path, std::string source)
      : whole_(std::move(whole)), setup_(setup), path_(std::move(path)) {
    info_ = std::move(info);
    source_ = std::move(source);
  }

  std::int64_t width() const override { return setup_.size; }
  std::int64_t height() const override { return setup_.size; }
  std::size_t pixel() const override { return setup_.pixel; }
  Bytes memory_cost() const override {
    return estimate_field_of_view_memory(info_, static_cast<std::int32_t>(setup_.size)) + kAheadOfPicture;
  }
  bool is_spooled() const override { return false; }  // it is in memory anyway
  void begin(const std::string&) override {
    const auto side = static_cast<std::int32_t>(setup_.size);
    const std::vector<std::uint8_t> pixels = std::exchange(whole_, {})(finished_);
    const fundus::Photograph photograph{pixels.data(), info_.width, info_.height};
    if (setup_.preprocess == model::Preprocess::fundus) {
      field_ = find_field_of_view(photograph, side, path_, square_);
      crop_ = field_->crop;
      if (setup_.pixel == 6)
        enhanced_ = fundus::enhance(square_.data(), side, field_->crop.from_photograph(field_->bounds));
    } else {
      crop_ = fundus::make_whole_crop(info_.width, info_.height, side);
      square_ = fundus::crop(photograph, crop_);
      if (setup_.pixel == 6) enhanced_ = fundus::enhance_lit(square_.data(), side);
    }
  }
  void take(std::uint8_t* out) override {
    const auto side = static_cast<std::size_t>(setup_.size);
    const std::uint8_t *rgb = square_.data() + next_ * side * 3, *enhanced = enhanced_.data() + next_ * side * 3;
    ++next_;
    if (setup_.pixel == 1) return luma_from_rgb(rgb, out, side);
    if (setup_.pixel == 3) {
      std::copy_n(rgb, side * 3, out);
      return;
    }
    for (std::size_t x = 0; x < side; ++x) {
      out = std::copy_n(rgb + 3 * x, 3, out);
      out = std::copy_n(enhanced + 3 * x, 3, out);
    }
  }
  PictureRows::Finished finish() override { return finished_; }
  const fundus::FundusCrop* crop() const override { return &crop_; }
  const FieldOfView* field() const override { return field_ ? &*field_ : nullptr; }

 private:
  Whole whole_;
  const Setup& setup_;
  const std::string path_;
  PictureRows::Finished finished_;
  fundus::FundusCrop crop_;
  std::optional<FieldOfView> field_;
  std::vector<std::uint8_t> square_, enhanced_;
  std::size_t next_ = 0;
};

}  // namespace

std::string format_file_state(const FileReader& file) {
  struct stat info {};
  ::fstat(file.descriptor(), &info);
  return fmt::format("{}:{} {} bytes, {}.{:09} {}.{:09}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

std::unique_ptr<PixelRows> open_rows(const Options& options, const Setup& setup, const std::string& path,
                                     RunContext& context) {
  DecodeOptions decoding = decode_options(options.files, context);
  const bool squared = setup.preprocess != model::Preprocess::none, gray = setup.pixel == 1;
  decoding.gray = gray && !squared;
  auto file = FileReader::open(path).or_throw();
  std::string source = format_file_state(*file);
  auto rows = PictureRows::open(std::move(file), decoding, kAheadOfPicture).or_throw();
  if (rows->info().clips) {
    throw Failure(ErrorCode::unsupported, "gray values of more than 8 bits, or in floating point, are not supported",
                  path, "save it with 8 bits, scaled from black to white as in the network's training");
  }
  if (squared) {
    const PictureInfo info = rows->info();
    const auto whole = [rows = std::shared_ptr<PictureRows>(std::move(rows)), path](PictureRows::Finished& finished) {
      std::vector<std::uint8_t> out = read_whole_picture(*rows, path);
      finished = rows->finish().or_throw();
      return out;
    };
    return std::make_unique<SquareRows>(info, whole, setup, path, std::move(source));
  }
  return std::make_unique<FileRows>(std::move(rows), gray, std::move(source), kAheadOfPicture);
}

std::unique_ptr<PixelRows> open_region_rows(const std::string& path, DecodeOptions decoding) {
  decoding.gray = true;
  auto file = FileReader::open(path).or_throw();
  std::string source = format_file_state(*file);
  auto rows = PictureRows::open(std::move(file), std::move(decoding), kAheadOfRegion).or_throw();
  return std::make_unique<FileRows>(std::move(rows), false, std::move(source), kAheadOfRegion);
}

std::unique_ptr<PixelRows> make_region_rows(const ArrayView& image) {
  return std::make_unique<ImageRows>(image, false);
}

std::unique_ptr<PixelRows> make_image_rows(const Setup& setup, const ArrayView& image, const std::string& name) {
  if (setup.preprocess == model::Preprocess::none) return std::make_unique<ImageRows>(image, setup.pixel == 1);
  const auto whole = [image](PictureRows::Finished&) { return rgb_of(CallersImage(image)); };
  return std::make_unique<SquareRows>(info_of(image), whole, setup, name, "");
}

}  // namespace millrace::segment
