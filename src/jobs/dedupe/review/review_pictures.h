// Input: the files of a result, each by its number.
// Output: their pictures, upright: small, at screen size, or a region in full resolution.
// Never: shows a file that changed since the search; decodes rare formats in this process; keeps more than the budget
// allows.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/image/fingerprint.h"
#include "src/jobs/dedupe/review/saved_search.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/detailed_check/detailed_check.h"
#include "src/kernels/orient/orient.h"

namespace millrace::dedupe {

class ReviewPictures {
 public:
  // The arguments must outlive the object.
  ReviewPictures(const std::vector<SavedFile>& files, const PictureFileOptions& options, RunContext& context);

  struct ServedImage {
    std::string type, bytes;
    int width = 0, height = 0;  // of the full picture
  };
  // Returns a JPEG of at most 256 pixels on the longer side.
  Outcome<ServedImage> make_thumbnail(std::size_t id);
  // Returns a PNG of at most kScreenSide pixels on the longer side. It is lossless, so two of them differ only where
  // their pictures do.
  static constexpr int kScreenSide = 1600;
  Outcome<ServedImage> make_preview(std::size_t id, Orientation turn);
  // Returns a PNG of a region of the rotated picture, clipped to its bounds. Returns Error(usage) for more than
  // kMaxRegionSide pixels a side, or none.
  struct Region {
    int left = 0, top = 0, width = 0, height = 0;
  };
  static constexpr int kMaxRegionSide = 4096;  // pixels on either side
  Outcome<ServedImage> make_region(std::size_t id, Orientation turn, const Region& wanted);
  // Transform between two pictures, with the orientation of the second; nullopt if the two do not match.
  struct Alignment {
    Orientation turn = Orientation::upright;
    std::array<float, 6> map{};  // to the second after `turn`, as in detailed_check::Verdict
  };
  Outcome<std::optional<Alignment>> align(std::size_t first, std::size_t second);

 private:
  struct CachedPicture {
    std::size_t id;
    std::shared_ptr<const Thumbnail> picture;
    Reservation memory;  // fixed for the life of the entry, so that no request waits for memory that the next one may
                         // or may not free
  };
  // Decodes the picture with its longer side at most `side`; 0: full size.
  Outcome<PictureFingerprint> decode(std::size_t id, int side);
  // Calls `work` again after freeing the cached pictures, if the first call runs out of memory.
  template <class Work>
  auto retry_after_freeing(const Work& work);
  Outcome<std::shared_ptr<const Thumbnail>> load_whole(std::size_t id);
  Outcome<ServedImage> encode_region(const Thumbnail& picture, const Region& part, Orientation turn,
                                     std::pair<int, int> sides);
  Outcome<detailed_check::PreparedPicture> prepare_picture(std::size_t id);

  const std::vector<SavedFile>& files_;
  const PictureFileOptions& options_;
  RunContext& context_;
  Trace::Stage& stage_;
  Mutex mutex_;  // guards cached_; held while a picture is decoded, so that two pages do not decode the same
  std::list<CachedPicture> cached_ MILLRACE_GUARDED_BY(mutex_);  // the most recently used first
};

}  // namespace millrace::dedupe
