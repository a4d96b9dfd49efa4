// Input: the files of a result, each by its number.
// Output: their pictures, upright: small, as large as a screen, or a part of them pixel by pixel.
// Never: shows a file that is not as it was when it was searched; decodes rare formats in this process; keeps more
//   than the budget gives.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/io/image/fingerprint.h"
#include "src/jobs/dedupe/review/found.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/closelook/closelook.h"
#include "src/kernels/orient/orient.h"

namespace millrace::dedupe {

class Pictures {
 public:
  // All live as long as it.
  Pictures(const std::vector<FoundFile>& files, const PictureFileOptions& options, RunContext& context);

  struct Shown {
    std::string type, bytes;
    int width = 0, height = 0;  // of the picture itself
  };
  // A JPEG of at most 256 pixels on the longer side.
  Outcome<Shown> thumb(std::size_t id);
  // A PNG of at most kScreenSide, so that two of them differ where their pictures do.
  static constexpr int kScreenSide = 1600;
  Outcome<Shown> preview(std::size_t id, Orientation turn);
  // A PNG of these pixels of the picture, turned, cut to what lies in it. Error(usage) for more than kMostRegion, or
  // none.
  struct Region {
    int left = 0, top = 0, width = 0, height = 0;
  };
  static constexpr int kMostRegion = 4096;  // on either side
  Outcome<Shown> region(std::size_t id, Orientation turn, const Region& region);
  // Where two of them meet, and how the second has to be turned for it; nothing where they do not.
  struct Alignment {
    Orientation turn = Orientation::upright;
    std::array<float, 6> map{};  // as closelook::Verdict has it, to the second, turned
  };
  Outcome<std::optional<Alignment>> alignment(std::size_t first, std::size_t second);

 private:
  struct Whole {
    std::size_t id;
    std::shared_ptr<const Thumbnail> picture;
    Reservation memory;  // stands: nobody waits for what the next look may give back or not
  };
  // Its longer side at most this long; 0: as it is.
  Outcome<Fingerprint> decode(std::size_t id, int side);
  // Once more with what is kept given back, where that is in the way.
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
  std::mutex mutex_;         // of what follows; held while one is decoded, so that two pages do not decode the same
  std::list<Whole> wholes_;  // the latest first
};

}  // namespace millrace::dedupe
