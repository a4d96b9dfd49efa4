#include "src/jobs/segment/earlier.h"

#include <sys/stat.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/file/reader.h"
#include "src/jobs/segment/region.h"
#include "src/jobs/segment/writer.h"

namespace millrace::segment {

std::optional<PictureResult> Earlier::done(const Input& input) const {
  auto earlier = earlier_result(record_path(options_.output, input.name), setup_);
  if (!earlier || setup_.maker.empty() != earlier->maker.empty()) return std::nullopt;
  struct stat there {};
  for (const Product& product : products_of(options_, setup_, input.name, earlier->width, earlier->height))
    // A result is a regular file that is not empty, or for Zarr a folder.
    if (::stat(product.path.c_str(), &there) != 0 ||
        (product.format == RasterFormat::zarr ? !S_ISDIR(there.st_mode)
                                              : !S_ISREG(there.st_mode) || there.st_size == 0))
      return std::nullopt;
  return is_of(input, *earlier) ? earlier : std::nullopt;
}

bool Earlier::is_of(const Input& input, const PictureResult& result) const {
  const auto hash_of = [this](const std::string& path) {
    return hex_of_bytes(hash_file(path, Links::followed, [this] { return context_.cancel.cancelled(); }).or_throw());
  };
  if (result.hash != hash_of(input.file.path)) return false;
  const std::string roi = region_path(options_, input.name);
  return result.roi == (roi.empty() ? "" : hash_of(roi));
}

std::size_t Earlier::longest_ending() const {
  std::size_t out = std::string_view(".segment.json").size();
  for (const Product& product : products_of(options_, setup_, "", 1, 1)) out = std::max(out, product.part.size() + 1);
  return out;
}

}  // namespace millrace::segment
