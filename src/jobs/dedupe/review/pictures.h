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
#include "src/jobs/dedupe/review/found.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/closelook/closelook.h"
#include "src/kernels/orient/orient.h"

namespace millrace::dedupe {

class Pictures {
 public:
  // The arguments must outlive the object.
  Pictures(const std::vector<FoundFile>& files, const PictureFileOptions& options, RunContext& context);

  struct Shown {
    std::string type, bytes;
    int width = 0, height = 0;  // of the full picture
  };
  // Returns a JPEG of at most 256 pixels on the longer side.
  Outcome<Shown> thumb(std::size_t id);
  // Returns a PNG of at most kScreenSide pixels on the longer side. It is lossless, so two of them differ only where
  // their pictures do.
  static constexpr int kScreenSide = 1600;
  Outcome<Shown> preview(std::size_t id, Orientation turn);
  // Returns a PNG of a region of the rotated picture, clipped to its bounds. Returns Error(usage) for more than
  // kMostRegion pixels a side, or none.
  struct Region {
    int left = 0, top = 0, width = 0, height = 0;
  };
  static constexpr int kMostRegion = 4096;  // pixels on either side
  Outcome<Shown> region(std::size_t id, Orientation turn, const Region& region);
  // Transform between two pictures, with the orientation of the second; nullopt if the two do not match.
  struct Alignment {
    Orientation turn = Orientation::upright;
    std::array<float, 6> map{};  // to the second after `turn`, as in closelook::Verdict
  };
  Outcome<std::optional<Alignment>> alignment(std::size_t first, std::size_t second);

 private:
  struct Whole {
    std::size_t id;
    std::shared_ptr<const Thumbnail> picture;
    Reservation memory;  // fixed for the life of the entry, so that no request waits for memory that the next one may
                         // or may not free
  };
  // Decodes the picture with its longer side at most `side`; 0: full size.
  Outcome<Fingerprint> decode(std::size_t id, int side);
  // Calls `work` again after freeing the cached pictures, if the first call runs out of memory.
  template <class Work>
  auto with_room(const Work& work);
  Outcome<std::shared_ptr<const Thumbnail>> whole(std::size_t id);
  Outcome<Shown> shown_as_png(const Thumbnail& picture, const Region& part, Orientation turn,
                              std::pair<int, int> sides);
  Outcome<closelook::Prepared> prepared(std::size_t id);

  const std::vector<FoundFile>& files_;
  const PictureFileOptions& options_;
  RunContext& context_;
  Trace::Stage& stage_;
  Mutex mutex_;  // guards wholes_; held while a picture is decoded, so that two pages do not decode the same
  std::list<Whole> wholes_ MILLRACE_GUARDED_BY(mutex_);  // the most recently used first
};

}  // namespace millrace::dedupe
