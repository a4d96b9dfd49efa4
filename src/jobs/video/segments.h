// Input: the name of a new film, and what it is to be made of.
// Output: the folder beside it where its pieces are made, and which of them earlier runs have made.
// Never: goes on with pieces that were made of something else.
//
// A film is cut where its pictures' times are: piece k has those from k lengths behind its first picture on. A piece
// without pictures is not there; each says which the next one is. Several runs may make pieces of one film, in any
// order; each says what came right before it, by which the last of them sees that they go together.
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
  // A picture as it was decoded.
  struct Seen {
    std::int64_t pts = 0;
    std::uint64_t hash = 0;
    friend bool operator==(const Seen&, const Seen&) = default;
  };
  // Its last picture, and as many before it, of earlier pieces too, as the next one needs to begin; the same of the
  // pieces before it, which the first has none of.
  std::vector<Seen> last{}, before{};
  std::int64_t last_duration = 0;
  std::int64_t first = 0;             // where pieces begin: the time of the first picture of all
  std::optional<std::uint64_t> next;  // the next piece; none: the film ends in this one
  std::int64_t next_pts = 0;          // its first picture
  std::string maker{};                // what computed, where that may differ from piece to piece; else empty
};
std::string json_of(const Note& note);
std::optional<Note> note_of(const std::string& json);

// A piece to make; and what the one right before it says, where that is there.
struct Task {
  std::uint64_t piece = 0;
  std::optional<Note> before{};
};

class Segments {
 public:
  struct How {
    Share share{};
    // What was made of something else goes: it is this program's, and nobody wants it any more.
    bool begin_anew = false;
    // Asked once the folder is this run's: another one may have put the film in its place just before.
    std::function<bool()> is_made{};
  };
  // Failure(conflict) where what is there was made of something else, or another run is at it that does not share it.
  Segments(const std::string& output, const Attributes& made_of, const How& how);

  // There is nothing to do, and no folder.
  bool is_made() const { return is_made_; }

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

  // The first piece from k on that this run is to make; it is this run's. Nothing where there is none. Where other runs
  // share the folder there may be one behind the film's end.
  std::optional<Task> next(std::uint64_t k);
  // Whether this run is to make it; then it is this run's.
  bool take(std::uint64_t k);
  // It has its name, or has no pictures.
  void let_go(std::uint64_t k);

  // This run is through, and all pieces are there: it has the folder alone from now on. False where some are not, or
  // others are still at it.
  bool is_last();
  // A piece that is not what it was when it got its name; false where it is none of them.
  bool drop(const std::string& path);
  // Removes the first piece that does not begin where the one before it has ended, and says which.
  std::optional<std::uint64_t> drop_misfit();

  void publish(const std::string& name, const Replaceable& replaces) { folder_.publish(name, replaces); }
  // Nothing in it is needed any more.
  void remove() { folder_.remove(); }
  Error in_words(const Error& error) const { return folder_.in_words(error); }

 private:
  void check_run_file(const Attributes& made_of, bool begin_anew);
  bool is_whole() const;

  RunFolder folder_;
  Share share_;
  bool is_made_ = false;
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
