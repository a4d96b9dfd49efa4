// Input: a film, how long a piece is, and which one to begin with.
// Output: the pictures of that piece and of those behind it, in the order in which they are shown, each with its piece,
//   up to the first piece that is not wanted.
// Never: leaves one out between where it begins and where it ends; goes on behind an earlier piece without having seen
// its last picture again.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "src/io/video/film_reader.h"
#include "src/jobs/video/segments.h"

namespace millrace::video {

// A picture, and where it belongs.
struct FilmFrame {
  film::Picture picture;
  std::int64_t pts = 0;  // its time, or, where it has none or an earlier one's, a moment behind that
  bool retimed = false;
  std::uint64_t errors = 0;  // packets between the picture before and this one that could not be decoded
  std::uint64_t piece = 0;
  bool warm = false;  // of an earlier piece: for smoothing that of this one alone
};

class Frames {
 public:
  using Reader = std::function<std::unique_ptr<film::FilmReader>(std::optional<std::int64_t> from)>;

  struct How {
    double seconds_a_piece = 10;
    std::size_t warm = 0;                    // so many pictures before a piece come once more with it
    std::optional<std::int64_t> start, end;  // times, of the first picture and behind the last
  };
  // Asked of each piece behind the first when its first picture comes.
  using Wanted = std::function<bool(std::uint64_t piece)>;
  Frames(const film::FilmFile& film, const How& how, const Task& task, Wanted wanted, Reader open);

  std::optional<FilmFrame> next();

  // Behind the last picture: the first one of a piece that is not wanted. Nothing: the film ends there.
  struct Beyond {
    std::int64_t pts = 0;
    std::uint64_t piece = 0;
  };
  const std::optional<Beyond>& beyond() const { return beyond_; }
  // Packets behind the last picture that could not be decoded.
  std::uint64_t errors_behind() const { return errors_behind_; }
  // Before the first picture is given: the last pictures before it, as many as a piece needs to begin, and one at the
  // least; none of the first piece.
  const std::vector<Note::Seen>& before() const { return seen_; }
  // Where pieces begin; nothing where no picture lies there.
  std::optional<std::int64_t> first() const { return first_; }

 private:
  std::optional<FilmFrame> read();
  void open(std::optional<std::int64_t> from);
  void go_to(std::int64_t pts, const Task& task);
  bool skip_to(std::int64_t pts, const Task& task, bool front, bool& differs);
  bool give(FilmFrame frame);

  const film::FilmFile& film_;
  const How how_;
  const Wanted wanted_;
  const Reader open_;
  const std::uint64_t begins_with_;
  const std::int64_t units_;           // of a piece
  std::optional<std::int64_t> first_;  // where pieces begin
  std::unique_ptr<film::FilmReader> reader_;
  std::optional<FilmFrame> unread_;  // the first one
  std::deque<FilmFrame> ahead_;      // what comes next
  std::deque<FilmFrame> recent_;     // what came last: what the next piece needs to begin
  std::optional<std::uint64_t> piece_;
  std::optional<Beyond> beyond_;
  std::vector<Note::Seen> seen_;
  std::optional<std::int64_t> before_;            // the time of the last one that was read
  std::int64_t step_ = 1;                         // how long it was shown
  std::uint64_t errors_ = 0, errors_behind_ = 0;  // before the last picture, and behind it
};

// Of a picture's numbers; 0 of a damaged one.
std::uint64_t hash_of(const film::Picture& picture);
// "0:01:02.500".
std::string time_text(double seconds);

}  // namespace millrace::video
