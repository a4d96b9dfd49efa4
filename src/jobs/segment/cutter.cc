#include "src/jobs/segment/cutter.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/luma/luma.h"

namespace millrace::segment {
namespace {

// Rows that lie decoded: enough that the decoder works while windows are cut.
constexpr Bytes kAhead = 4_MiB;

}  // namespace

Cutter::Cutter(const Options& options, const Setup& setup, const std::string& path, const std::string& name,
               RunContext& context)
    : options_(options), order_(setup.order), levels_(setup.levels) {
  DecodeOptions decoding = decode_options(options.files, context);
  decoding.gray = setup.input == model::ChannelOrder::gray;
  auto file = FileReader::open(path).or_throw();
  source_ = state_text(*file);
  rows_ = PictureRows::open(std::move(file), decoding, kAhead).or_throw();
  const PictureInfo& info = rows_->info();
  if (info.clips) {
    throw Failure(ErrorCode::unsupported,
                  "its pixels are grays of more than 8 bits, or floating point, and networks are given 8", path,
                  "save it with 8 bits, from black to white as the network saw it in training");
  }
  pixel_ = setup.input == model::ChannelOrder::gray ? 1 : static_cast<std::size_t>(info.channels);
  // A gray picture is the same in every channel.
  if (pixel_ == 1) order_.assign(order_.size(), 0);
  y_.emplace(info.height, setup.height, options.overlap);
  x_.emplace(info.width, setup.width, options.overlap);
  if (!y_->can_pad(options.padding) || !x_->can_pad(options.padding)) {
    throw Failure(ErrorCode::unsupported,
                  fmt::format("it is {} x {}, too small to fill a window of {} x {} by --pad {}", info.width,
                              info.height, setup.width, setup.height, choice_name(options.padding)),
                  path, "--pad replicate fills any");
  }
  if (const std::string roi = region_path(options, name); !roi.empty()) {
    try {
      region_.emplace(roi, *y_, *x_, std::move(decoding));
    } catch (const Failure& failure) {
      // Whoever reads it looks for the photograph.
      throw Failure(failure.error().code, "--roi: " + failure.error().message(), path);
    }
    source_ += "; " + region_->source();
  }
}

Bytes Cutter::needs() const {
  const auto window = static_cast<std::uint64_t>(y_->window());
  const Bytes region = region_ ? region_->needs() + Bytes{window * x_->starts().size()} : Bytes{};
  return Bytes{window * (row_bytes() + sizeof(void*)) + rows_->row_bytes()} + rows_->info().decoder_memory + kAhead +
         region;
}

void Cutter::begin(std::uint64_t first_row, const std::string& folder) {
  row_ = first_row;
  if (is_spooled()) rows_->spool(folder);
  band_.resize(static_cast<std::size_t>(y_->window()) * row_bytes());
  color_.resize(rows_->row_bytes());
  if (region_) touched_.resize(static_cast<std::size_t>(y_->window()) * x_->starts().size());
}

// Rows of the picture before this one are in the band, as far as it reaches back.
void Cutter::fill(std::int64_t until) {
  const bool luma = rows_->row_bytes() != row_bytes();
  for (; decoded_ < until; ++decoded_) {
    rows_->take(1, luma ? color_.data() : row(decoded_)).or_throw();
    if (luma) luma_from_rgb(color_.data(), row(decoded_), static_cast<std::size_t>(x_->size()));
    if (region_) region_->take(touched_.data() + slot(decoded_) * x_->starts().size());
  }
}

// Whether anybody needs to look at the window: of the band's rows from `first` on.
bool Cutter::is_wanted(std::int64_t first) const {
  if (region_ && wanted_[column_] == 0) return false;
  constexpr int kEmpty = 16;
  return !options_.skip_empty || window::spread(*y_, *x_, row_, column_, of_window_, first, pixel_) > kEmpty;
}

bool Cutter::next(float* out, std::size_t& row, std::size_t& column) {
  while (true) {
    if (column_ == x_->starts().size()) {
      column_ = 0;
      ++row_;
    }
    if (row_ >= y_->starts().size()) return false;
    const std::int64_t top = y_->starts()[row_] - y_->before(), first = std::max<std::int64_t>(top, 0),
                       end = std::min(top + y_->window(), y_->size());
    if (column_ == 0) {
      fill(end);
      of_window_.clear();
      for (std::int64_t r = first; r < end; ++r) of_window_.push_back(this->row(r));
      if (region_) {
        wanted_.assign(x_->starts().size(), 0);
        for (std::int64_t r = first; r < end; ++r)
          for (std::size_t w = 0; w < wanted_.size(); ++w) wanted_[w] |= touched_[slot(r) * wanted_.size() + w];
      }
    }
    if (!is_wanted(first)) {
      ++column_;
      continue;
    }
    window::gather(*y_, *x_, row_, column_, options_.padding, of_window_, first, pixel_, order_, levels_, out);
    row = row_;
    column = column_++;
    return true;
  }
}

Cutter::Finished Cutter::finish() {
  // A picture whose last windows nobody wants is read to its end all the same.
  fill(y_->size());
  Finished out{rows_->finish().or_throw(), ""};
  if (region_) out.roi = region_->finish();
  return out;
}

}  // namespace millrace::segment
