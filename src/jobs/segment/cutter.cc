#include "src/jobs/segment/cutter.h"

#include <fmt/format.h>

#include <algorithm>

namespace millrace::segment {

Cutter::Cutter(const Options& options, const Setup& setup, std::unique_ptr<PixelRows> rows, const std::string& name)
    : options_(options), setup_(setup), rows_(std::move(rows)) {
  source_ = rows_->source();
  for (const model::InputForm& form : setup.forms) {
    orders_.push_back(form.order);
    // A gray image has the same value in every channel.
    if (rows_->pixel() == 1) orders_.back().assign(form.order.size(), 0);
  }
  y_.emplace(rows_->height(), setup.height, options.overlap);
  x_.emplace(rows_->width(), setup.width, options.overlap);
  if (!y_->can_pad(options.padding) || !x_->can_pad(options.padding)) {
    throw Failure(ErrorCode::unsupported,
                  fmt::format("{} x {} is too small to fill a window of {} x {} with --pad {}", rows_->width(),
                              rows_->height(), setup.width, setup.height, choice_name(options.padding)),
                  name, "use --pad replicate, which fills any window");
  }
}

Cutter::Cutter(const Options& options, const Setup& setup, const std::string& path, const std::string& name,
               RunContext& context)
    : Cutter(options, setup, open_rows(options, setup, path, context), path) {
  if (const std::string roi = region_path(options, name); !roi.empty()) {
    try {
      set_region(open_region_rows(roi, decode_options(options.files, context)), roi);
    } catch (const Failure& failure) {
      // The error is reported for the image.
      throw Failure(failure.error().code, "--roi: " + failure.error().message(), path);
    }
  }
}

void Cutter::set_region(std::unique_ptr<PixelRows> region, const std::string& name) {
  region_.emplace(std::move(region), name, *y_, *x_);
  source_ += "; " + region_->source();
}

Bytes Cutter::memory_cost() const {
  const auto window = static_cast<std::uint64_t>(y_->window());
  const Bytes region = region_ ? region_->memory_cost() + Bytes{window * x_->starts().size()} : Bytes{};
  return Bytes{window * (rows_->row_bytes() + sizeof(void*))} + rows_->memory_cost() + region;
}

void Cutter::begin(std::uint64_t first_row, const std::string& folder) {
  row_ = first_row;
  rows_->begin(folder);
  band_.resize(static_cast<std::size_t>(y_->window()) * rows_->row_bytes());
  if (!region_) return;
  region_->begin();
  touched_.resize(static_cast<std::size_t>(y_->window()) * x_->starts().size());
}

// Decodes rows into the band, up to row `until`; the band has as many rows as a window.
void Cutter::fill(std::int64_t until) {
  for (; decoded_ < until; ++decoded_) {
    rows_->take(row(decoded_));
    if (region_) region_->take(touched_.data() + slot(decoded_) * x_->starts().size());
  }
}

// True if the window must be segmented. The band's rows start at row `first`.
bool Cutter::is_wanted(std::int64_t first) const {
  if (region_ && wanted_[column_] == 0) return false;
  constexpr int kEmpty = 16;
  return !options_.skip_empty ||
         window::measure_spread(*y_, *x_, row_, column_, of_window_, first, rows_->pixel()) > kEmpty;
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
    for (std::size_t k = 0; k < orders_.size(); ++k) {
      window::gather_window(*y_, *x_, row_, column_, options_.padding, of_window_, first, rows_->pixel(), orders_[k],
                            setup_.forms[k].levels, out);
      out += orders_[k].size() * static_cast<std::size_t>(y_->window() * x_->window());
    }
    row = row_;
    column = column_++;
    return true;
  }
}

Cutter::Finished Cutter::finish() {
  // The image is read to its end even if its last windows are left out.
  fill(y_->size());
  Finished out{rows_->finish(), ""};
  if (region_) out.roi = region_->finish();
  return out;
}

}  // namespace millrace::segment
