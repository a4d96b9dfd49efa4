// Input: a film, packets in the place of its pictures, and the name of a container.
// Output: the bytes of a new film: those packets, and every other stream, chapters and metadata as they were.
// Never: writes a file itself; leaves a stream out without saying so before.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/video/film_encoder.h"
#include "src/io/video/film_file.h"

namespace millrace::film {

class FilmMuxer {
 public:
  // `container` as the helper's library names it: "mp4", "matroska"; `codec` what the pictures will be in.
  // Failure(unsupported) where it is not there, or does not hold that.
  FilmMuxer(const FilmFile& film, const std::string& container, const std::string& codec, Bytes memory,
            const std::function<bool()>& cancelled);

  // What the container cannot carry.
  struct LeftOut {
    StreamInfo stream;
    std::string why;
  };
  const std::vector<LeftOut>& left_out() const { return left_out_; }
  // "stream 2, subtitle in mov_text (eng), cannot be carried over: matroska holds no mov_text".
  static std::string words_of(const LeftOut& one);

  struct TimedPacket {
    EncodedPacket packet;
    std::int64_t dts = 0;
  };
  // What is carried over, in units of the stream of pictures: from where on, and up to where; with a beginning all
  // times are from there on.
  struct Cut {
    std::optional<std::int64_t> start, end;
  };
  // `writer` is what the film says has made it. `next` gives packets in the order of decoding; `write` gets bytes and
  // where they belong, not always in order. How many copied packets had a time that the container does not take, and
  // were moved.
  std::uint64_t run(const Encoded& encoded, const Shape& shape, const Cut& cut, const std::string& writer,
                    const std::function<std::optional<TimedPacket>()>& next,
                    const std::function<void(std::uint64_t offset, std::span<const std::uint8_t> bytes)>& write);

 private:
  const FilmFile film_;
  FilmProcess process_;
  std::vector<LeftOut> left_out_;
};

// "mp4" for "film.mp4" or "FILM.M4V"; empty where the ending is none that this program writes.
std::string container_of(const std::string& path);
// For messages: ".mp4, .mov, ...".
std::string known_endings();

}  // namespace millrace::film
