// Enters: the name of a new film, and what it is to be made of.
// Leaves: the folder beside it where its pieces are made, and which of them earlier runs have made.
// Never: goes on with pieces that were made of something else.
//
// A film is cut where its pictures' times are: piece k has those from k lengths behind its first picture on. A piece
// without pictures is not there; each says which the next one is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/io/store/dataset.h"
#include "src/io/video/packet_file.h"
#include "src/pipeline/checkpoint/run_folder.h"

namespace millrace::video {

// What happened on the way.
struct Counts {
  std::uint64_t frames = 0, damaged = 0, retimed = 0;
  std::uint64_t errors = 0;                     // packets before these pictures that could not be decoded
  std::uint64_t reused = 0, by_fast_model = 0;  // frames that were not inferred; or by the smaller network alone

  Counts& operator+=(const Counts& other);
};

// What a piece says of itself, beside its packets.
struct Note {
  Counts counts;
  // Its last picture, and as many before it, of earlier pieces too, as the next one needs to begin; as they were
  // decoded.
  struct Seen {
    std::int64_t pts = 0;
    std::uint64_t hash = 0;
  };
  std::vector<Seen> last{};
  std::int64_t last_duration = 0;
  std::int64_t first = 0;             // where pieces begin: the time of the first picture of all
  std::optional<std::uint64_t> next;  // the next piece; none: the film ends in this one
  std::int64_t next_pts = 0;          // its first picture
};
std::string json_of(const Note& note);
std::optional<Note> note_of(const std::string& json);

class Segments {
 public:
  // Failure(conflict) where what is there was made of something else, or another run is at it.
  Segments(const std::string& output, const Attributes& made_of);

  struct Piece {
    film::PacketFileReader packets;
    Note note;
  };
  // Nothing where it is not there, whole.
  std::optional<Piece> piece(std::uint64_t k) const;
  std::string path(std::uint64_t k) const;
  bool has_pieces() const;
  // Inside the folder, for the film itself until it has its name.
  std::string path(const std::string& name) const { return folder_.path(name); }

  void publish(const std::string& name, bool over) { folder_.publish(name, over); }
  // Nothing in it is needed any more.
  void remove() { folder_.remove(); }
  Error in_words(const Error& error) const { return folder_.in_words(error); }

 private:
  RunFolder folder_;
};

// All pieces, one after the other.
class Pieces {
 public:
  explicit Pieces(const Segments& segments) : segments_(segments) {}

  // Nothing behind the last. Failure(conflict) where one is not there.
  std::optional<Segments::Piece> next();

 private:
  const Segments& segments_;
  std::optional<std::uint64_t> k_ = 0;
};

}  // namespace millrace::video
