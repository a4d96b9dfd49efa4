// Enters: a film, its pieces of earlier runs, and how long a piece is.
// Leaves: the pictures of the pieces that are missing, in the order in which they are shown, each with its piece.
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
  // `last` is the last piece of an unbroken row from the first one on, if there are any.
  Frames(const film::FilmFile& film, const How& how, const std::optional<Note>& last, Reader open);

  std::optional<FilmFrame> next();
  // Packets behind the last picture that could not be decoded.
  std::uint64_t errors_behind() const { return errors_behind_; }

 private:
  std::optional<FilmFrame> read();
  void open_before(std::int64_t pts);
  bool find_last(const Note& last);
  void skip_to(std::int64_t pts);
  void emit(FilmFrame frame, const std::deque<FilmFrame>& before);

  const film::FilmFile& film_;
  const How how_;
  std::optional<std::int64_t> first_;  // where pieces begin
  const std::int64_t units_;           // of a piece
  const Reader open_;
  std::unique_ptr<film::FilmReader> reader_;
  std::deque<FilmFrame> ahead_;                   // what comes next
  std::deque<FilmFrame> recent_;                  // what came last
  std::optional<FilmFrame> unread_;               // was read, to see where the decoder had begun
  std::optional<std::int64_t> before_;            // the time of the last one
  std::int64_t step_ = 1;                         // how long it was shown
  std::uint64_t errors_ = 0, errors_behind_ = 0;  // before the last picture, and behind it
};

// Of a picture's numbers.
std::uint64_t hash_of(const film::Picture& picture);
// "0:01:02.500".
std::string time_text(double seconds);

}  // namespace millrace::video
