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
#include "src/pipeline/checkpoint/share.h"

namespace millrace::video {

// Events while frames were made.
struct Counts {
  std::uint64_t frames = 0, damaged = 0, retimed = 0;
  std::uint64_t errors = 0;                     // packets before these frames that could not be decoded
  std::uint64_t reused = 0, by_fast_model = 0;  // frames without inference; with the smaller network only

  Counts& operator+=(const Counts& other);
};

// Metadata of a shard, stored beside its packets.
struct Note {
  Counts counts;
  // Frame as it was decoded.
  struct Seen {
    std::int64_t pts = 0;
    std::uint64_t hash = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  // `last` has the shard's last frame, and the frames before it that the next shard needs to begin; they may be in
  // earlier shards. `before` has the same for the shard before this one; it is empty for the first shard.
  std::vector<Seen> last{}, before{};
  std::int64_t last_duration = 0;
  std::int64_t first = 0;             // start of the first shard: the time of the first frame of all
  std::optional<std::uint64_t> next;  // number of the next shard; empty if the video ends in this one
  std::int64_t next_pts = 0;          // time of the next shard's first frame
  std::string maker{};                // runtime and CPU of the network, if they may differ between shards; else empty
};
std::string json_of(const Note& note);
std::optional<Note> note_of(const std::string& json);

// Shard to make, and the metadata of the shard right before it, if that exists.
struct Task {
  std::uint64_t piece = 0;
  std::optional<Note> before{};
};

class Segments {
 public:
  struct How {
    Share share{};
    // Replaces shards with another provenance: this program made them and they are no longer needed.
    bool begin_anew = false;
    // Called when this run holds the folder: another run may have published the video just before.
    std::function<bool()> is_made{};
  };
  // Throws Failure(conflict) if existing shards have another provenance, or if another run that does not share the
  // folder is at work.
  Segments(const std::string& output, const Attributes& made_of, const How& how);

  // True if there is nothing to do, and no folder was left.
  bool is_made() const { return is_made_; }

  struct Piece {
    film::PacketFileReader packets;
    Note note;
  };
  // Returns a shard; nothing if it is missing or incomplete.
  std::optional<Piece> piece(std::uint64_t k) const;
  std::string path(std::uint64_t k) const;
  bool has_pieces() const;
  // Returns a path in the folder, for the video itself until it is published.
  std::string path(const std::string& name) const { return folder_.path(name); }

  // Claims the first shard from k on that this run is to make. Returns nothing if there is none. If runs share the
  // folder, the shard may lie behind the end of the video.
  std::optional<Task> next(std::uint64_t k);
  // Claims shard k; returns false if this run is not to make it.
  bool take(std::uint64_t k);
  // Releases shard k, which is published or has no frames.
  void let_go(std::uint64_t k);

  // Called when this run has made its shards. Returns true if all shards are there; then this run has the folder alone.
  // Returns false if some are missing, or other runs are still at work.
  bool is_last();
  // Removes a shard that was damaged after it was published; returns false if the path is not a shard's.
  bool drop(const std::string& path);
  // Removes the first shard that does not continue the one before it, and returns its number.
  std::optional<std::uint64_t> drop_misfit();

  void publish(const std::string& name, const Replaceable& replaces) { folder_.publish(name, replaces); }
  // Removes the folder when it is no longer needed.
  void remove() { folder_.remove(); }
  Error in_words(const Error& error) const { return folder_.in_words(error); }

 private:
  void check_run_file(const Attributes& made_of, bool begin_anew);
  bool is_whole() const;

  RunFolder folder_;
  Share share_;
  bool is_made_ = false;
};

// Iterates over all shards in order.
class Pieces {
 public:
  explicit Pieces(const Segments& segments) : segments_(segments) {}

  // Returns the next shard; nothing after the last. Throws Failure(conflict) if one is missing.
  std::optional<Segments::Piece> next();

 private:
  const Segments& segments_;
  std::optional<std::uint64_t> k_ = 0;
};

}  // namespace millrace::video
