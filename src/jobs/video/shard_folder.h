// Input: the name of an output video, and its provenance.
// Output: the folder beside it that holds its shards, and which of them earlier runs have made.
// Never: resumes from shards with another provenance.
//
// A video is cut by time: shard k has the frames from k shard lengths after its first frame on. A shard without frames
// has no file; each shard names the next one. Several runs may make shards of one video, in any order. Each shard
// records the frames right before it, by which the last run checks that they fit together.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/io/video/packet_file.h"
#include "src/pipeline/checkpoint/run_folder.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::video {

// Events while frames were made.
struct FrameCounts {
  std::uint64_t frames = 0, damaged = 0, retimed = 0;
  std::uint64_t errors = 0;                     // packets before these frames that could not be decoded
  std::uint64_t reused = 0, by_fast_model = 0;  // frames without inference; with the smaller network only

  FrameCounts& operator+=(const FrameCounts& other);
};

// Metadata of a shard, stored beside its packets.
struct ShardMetadata {
  FrameCounts counts;
  // Frame as it was decoded.
  struct FrameHash {
    std::int64_t pts = 0;
    std::uint64_t hash = 0;
    friend bool operator==(const FrameHash&, const FrameHash&) = default;
  };
  // `last` has the shard's last frame, and the frames before it that the next shard needs to begin; they may be in
  // earlier shards. `before` has the same for the shard before this one; it is empty for the first shard.
  std::vector<FrameHash> last{}, before{};
  std::int64_t last_duration = 0;
  std::int64_t first = 0;             // start of the first shard: the time of the first frame of all
  std::optional<std::uint64_t> next;  // number of the next shard; empty if the video ends in this one
  std::int64_t next_pts = 0;          // time of the next shard's first frame
  std::string runtime_and_cpu{};      // runtime and CPU of the network, if they may differ between shards; else empty
};
std::string json_of(const ShardMetadata& note);
std::optional<ShardMetadata> parse_shard_metadata(const std::string& json);

// Shard to make, and the metadata of the shard right before it, if that exists.
struct PendingShard {
  std::uint64_t shard = 0;
  std::optional<ShardMetadata> before{};
};

class ShardFolder {
 public:
  struct Parameters {
    ShardSpec shard_spec{};
    // Replaces shards with another provenance: this program made them and they are no longer needed.
    bool begin_anew = false;
    // Called when this run holds the folder: another run may have published the video just before.
    std::function<bool()> is_published{};
  };
  // Throws Failure(conflict) if existing shards have another provenance, or if another run that does not share the
  // folder is at work.
  ShardFolder(const std::string& output, const Attributes& provenance, const Parameters& how);

  // True if there is nothing to do, and no folder was left.
  bool is_published() const { return is_published_; }

  struct Shard {
    video_file::PacketFileReader packets;
    ShardMetadata note;
  };
  // Returns a shard; nothing if it is missing or incomplete.
  std::optional<Shard> shard(std::uint64_t k) const;
  std::string path(std::uint64_t k) const;
  bool has_shards() const;
  // Returns a path in the folder, for the video itself until it is published.
  std::string path(const std::string& name) const { return folder_.path(name); }

  // Claims the first shard from k on that this run is to make. Returns nothing if there is none. If runs share the
  // folder, the shard may lie behind the end of the video.
  std::optional<PendingShard> next(std::uint64_t k);
  // Claims shard k; returns false if this run is not to make it.
  bool take(std::uint64_t k);
  // Releases shard k, which is published or has no frames.
  void release_shard(std::uint64_t k);

  // Called when this run has made its shards. Returns true if all shards are there; then this run has the folder alone.
  // Returns false if some are missing, or other runs are still at work.
  bool is_last();
  // Removes a shard that was damaged after it was published; returns false if the path is not a shard's.
  bool drop(const std::string& path);
  // Removes the first shard that does not continue the one before it, and returns its number.
  std::optional<std::uint64_t> remove_mismatched_shard();

  void publish(const std::string& name, const OverwritePolicy& replaces) { folder_.publish(name, replaces); }
  // Removes the folder when it is no longer needed.
  void remove() { folder_.remove(); }
  Error restore_user_paths(const Error& error) const { return folder_.restore_user_paths(error); }

 private:
  void check_run_file(const Attributes& provenance, bool begin_anew);
  bool is_whole() const;

  RunFolder folder_;
  ShardSpec shard_spec_;
  bool is_published_ = false;
};

// Iterates over all shards in order.
class ShardIterator {
 public:
  explicit ShardIterator(const ShardFolder& shards) : shards_(shards) {}

  // Returns the next shard; nothing after the last. Throws Failure(conflict) if one is missing.
  std::optional<ShardFolder::Shard> next();

 private:
  const ShardFolder& shards_;
  std::optional<std::uint64_t> k_ = 0;
};

}  // namespace millrace::video
