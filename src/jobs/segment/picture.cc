#include "src/jobs/segment/picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/kernels/luma/luma.h"

namespace millrace::segment {
namespace {

// Rows that lie decoded: enough that the decoder works while windows are cut.
constexpr Bytes kAhead = 4_MiB;

}  // namespace

Cutter::Cutter(const Options& options, const Setup& setup, const std::string& path, RunContext& context)
    : options_(options), classes_(static_cast<int>(setup.classes.size())), order_(setup.order), levels_(setup.levels) {
  DecodeOptions decoding = decode_options(options.files, context);
  decoding.gray = setup.input == model::ChannelOrder::gray;
  rows_ = PictureRows::open(FileReader::open(path).or_throw(), std::move(decoding), kAhead).or_throw();
  const PictureInfo& info = rows_->info();
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
}

Bytes Cutter::needs() const {
  const auto classes = static_cast<std::uint64_t>(classes_);
  return Bytes{window::Blend::bytes(*y_, *x_, classes_) +
               static_cast<std::uint64_t>(y_->window()) * (row_bytes() + sizeof(void*)) + rows_->row_bytes() +
               static_cast<std::uint64_t>(x_->size()) * (classes + 1) * sizeof(float)} +
         rows_->info().decoder_memory + kAhead;
}

void Cutter::begin() {
  band_.resize(static_cast<std::size_t>(y_->window()) * row_bytes());
  color_.resize(rows_->row_bytes());
}

// Rows of the picture before this one are in the band, as far as it reaches back.
void Cutter::fill(std::int64_t until) {
  const bool luma = rows_->row_bytes() != row_bytes();
  for (; decoded_ < until; ++decoded_) {
    rows_->take(1, luma ? color_.data() : row(decoded_)).or_throw();
    if (luma) luma_from_rgb(color_.data(), row(decoded_), static_cast<std::size_t>(x_->size()));
  }
}

bool Cutter::next(float* out, std::size_t& row, std::size_t& column) {
  if (column_ == x_->starts().size()) {
    column_ = 0;
    ++row_;
  }
  if (row_ == y_->starts().size()) return false;
  const std::int64_t top = y_->starts()[row_] - y_->before(), first = std::max<std::int64_t>(top, 0),
                     end = std::min(top + y_->window(), y_->size());
  if (column_ == 0) {
    fill(end);
    of_window_.clear();
    for (std::int64_t r = first; r < end; ++r) of_window_.push_back(this->row(r));
  }
  window::gather(*y_, *x_, row_, column_, options_.padding, of_window_, first, pixel_, order_, levels_, out);
  row = row_;
  column = column_++;
  return true;
}

PictureRows::Finished Cutter::finish() { return rows_->finish().or_throw(); }

Collector::Collector(const Options& options, const Setup& setup, const std::string& name, const window::Axis& y,
                     const window::Axis& x)
    : y_(y),
      x_(x),
      blend_(y, x, static_cast<int>(setup.classes.size()), options.importance),
      writer_(options, setup, name, static_cast<int>(x.size()), static_cast<int>(y.size())),
      row_(setup.classes.size() * static_cast<std::size_t>(x.size())) {}

void Collector::add(std::size_t row, std::size_t column, const float* result) {
  blend_.add(row, column, result);
  ++windows_;
  if (column + 1 < x_.starts().size()) return;
  const std::int64_t whole = std::min(blend_.whole_before(row + 1) - y_.before(), y_.size());
  for (; next_ < whole; ++next_) {
    blend_.take_row(next_, row_.data());
    writer_.append(row_);
  }
}

Outcome<PictureResult> Collector::finish(PictureResult result) {
  result.width = static_cast<int>(x_.size());
  result.height = static_cast<int>(y_.size());
  result.windows = windows_;
  return writer_.finish(std::move(result));
}

}  // namespace millrace::segment
