#include "src/jobs/segment/region_image.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "src/base/paths.h"
#include "src/base/text.h"

namespace millrace::segment {
std::string region_path(const Options& options, const std::string& name) {
  std::error_code error;
  if (options.roi.empty() || !std::filesystem::is_directory(options.roi, error)) return options.roi;
  const std::size_t dot = name.rfind('.');
  const std::string stem =
      dot == std::string::npos || name.find('/', dot) != std::string::npos ? name : name.substr(0, dot);
  for (const std::string& candidate : {name, name + ".png", stem + ".png"}) {
    std::string path = join_path(options.roi, candidate);
    if (std::filesystem::exists(path, error)) return path;
  }
  throw Failure(ErrorCode::not_found,
                fmt::format("'{}' has no mask {} for this picture", escape_unprintable(options.roi),
                            escape_unprintable(stem + ".png")),
                "", "add one; an all-white mask segments everything");
}

RegionImage::RegionImage(std::unique_ptr<PixelRows> rows, const std::string& name, const window::WindowAxis& y,
                         const window::WindowAxis& x)
    : x_(x), rows_(std::move(rows)) {
  if (rows_->width() != x.size() || rows_->height() != y.size()) {
    throw Failure(ErrorCode::bad_data,
                  fmt::format("this mask is {} x {}, and its picture is {} x {}", rows_->width(), rows_->height(),
                              x.size(), y.size()),
                  name, "use a mask of the picture's size");
  }
  row_.resize(rows_->row_bytes());
  before_.resize(static_cast<std::size_t>(x.size()) + 1);
}

Bytes RegionImage::memory_cost() const {
  return rows_->memory_cost() + Bytes{row_.size() + before_.size() * sizeof before_[0]};
}

void RegionImage::take(std::uint8_t* touched) {
  rows_->take(row_.data());
  const std::size_t channels = rows_->pixel();
  for (std::size_t j = 0; j + 1 < before_.size(); ++j) {
    bool black = true;
    for (std::size_t c = 0; c < channels; ++c) black = black && row_[j * channels + c] == 0;
    before_[j + 1] = before_[j] + (black ? 0 : 1);
  }
  for (std::size_t w = 0; w < x_.starts().size(); ++w) {
    const std::int64_t left = x_.starts()[w] - x_.before();
    const auto from = static_cast<std::size_t>(std::max<std::int64_t>(left, 0)),
               to = static_cast<std::size_t>(std::min(left + x_.window(), x_.size()));
    touched[w] = before_[to] > before_[from] ? 1 : 0;
  }
}

std::string RegionImage::finish() { return hex_of_bytes(rows_->finish().hash); }

}  // namespace millrace::segment
