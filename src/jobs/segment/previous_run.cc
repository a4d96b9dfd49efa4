#include "src/jobs/segment/previous_run.h"

#include <sys/stat.h>

#include <algorithm>

#include "src/base/text.h"
#include "src/io/file/file_reader.h"
#include "src/jobs/segment/region_image.h"
#include "src/jobs/segment/writer.h"

namespace millrace::segment {

std::optional<PictureResult> PreviousRun::find_finished(const SegmentInput& input) const {
  auto previous = read_previous_result(record_path(options_.output, input.name), setup_);
  if (!previous || setup_.runtime_and_cpu.empty() != previous->runtime_and_cpu.empty()) return std::nullopt;
  struct stat there {};
  for (const ResultFile& product : list_result_files(options_, setup_, input.name, previous->width, previous->height))
    // A result is a regular file that is not empty, or for Zarr a folder.
    if (::stat(product.path.c_str(), &there) != 0 ||
        (product.format == RasterFormat::zarr ? !S_ISDIR(there.st_mode)
                                              : !S_ISREG(there.st_mode) || there.st_size == 0))
      return std::nullopt;
  return is_current(input, *previous) ? previous : std::nullopt;
}

bool PreviousRun::is_current(const SegmentInput& input, const PictureResult& result) const {
  const auto hash_of = [this](const std::string& path) {
    return hex_of_bytes(
        hash_file(path, LinkPolicy::followed, [this] { return context_.cancel.cancelled(); }).or_throw());
  };
  if (result.hash != hash_of(input.file.path)) return false;
  const std::string roi = region_path(options_, input.name);
  return result.roi == (roi.empty() ? "" : hash_of(roi));
}

std::size_t PreviousRun::max_suffix_bytes() const {
  std::size_t out = std::string_view(".segment.json").size();
  for (const ResultFile& product : list_result_files(options_, setup_, "", 1, 1))
    out = std::max(out, product.suffix.size() + 1);
  return out;
}

}  // namespace millrace::segment
