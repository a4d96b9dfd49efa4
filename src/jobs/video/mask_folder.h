// Input: masks of a video as gray images; or a folder of masks.
// Output: a PNG file per mask and a table of their times; or the mask for each time.
// Never: returns the mask of another time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/base/mutex.h"
#include "src/io/video/video_encoder.h"
#include "src/jobs/video/shard_folder.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// Encoder for 8-bit gray images; each packet is a PNG file. The listener is called by begin(), send() and drain().
class MaskEncoder : public video_file::FrameEncoder {
 public:
  MaskEncoder(const video_file::FrameShape& shape, std::uint32_t slots, Listener listener);

  Slot wait_for_slot() override;
  void begin() override;
  void send(const Slot& slot, std::int64_t pts, std::int64_t duration) override;
  void drain() override;
  void finish() override {}

 private:
  const video_file::FrameShape shape_;
  const video_file::FrameLayout layout_;
  const Listener listener_;
  std::vector<std::vector<std::uint8_t>> slots_;
  Mutex mutex_;
  Condition changed_;
  std::vector<std::uint32_t> free_ MILLRACE_GUARDED_BY(mutex_);
};

// Name of the file with the counts, in a folder of masks.
inline constexpr const char* kMasksRecordFile = "masks.json";
// Writes the masks in the shards as files, to the folder `name` beside the shards. Its files are 00000001.png and so
// on, times.csv, run.json with the provenance, and `note`.
void write_masks(ShardFolder& shards, const std::string& name, video_file::Rational time_base,
                 const Attributes& provenance, const std::string& note, const std::function<void()>& check_cancelled);

class MaskFolder {
 public:
  // Reads the table. Throws Failure(not_found) or Failure(bad_data).
  explicit MaskFolder(const std::string& folder);

  // Sides of the first mask.
  std::int32_t width() const { return width_; }
  std::int32_t height() const { return height_; }
  const std::string& digest() const { return digest_; }
  // Reads the mask of a time, width() x height() values. Throws a Failure if there is none, or if it has other sides.
  // Can be called on any thread.
  void read(std::int64_t pts, std::uint16_t* mask, RunContext& context) const;

 private:
  std::string folder_, digest_;
  std::map<std::int64_t, std::string> files_;
  std::int32_t width_ = 0, height_ = 0;
};

}  // namespace millrace::video
