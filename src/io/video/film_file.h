// Input: the path of a film.
// Output: what is in it, as its container says and as its first picture is; the file stays open.
// Never: decodes in this process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/base/error.h"
#include "src/base/sizes.h"
#include "src/io/file/place.h"
#include "src/io/video/frame.h"
#include "src/io/video/helper/protocol.h"

namespace millrace::film {

struct Rational {
  std::int64_t num = 0, den = 1;
  double value() const { return den == 0 ? 0 : static_cast<double>(num) / static_cast<double>(den); }
  friend bool operator==(const Rational&, const Rational&) = default;
};

struct StreamInfo {
  int index = 0;
  std::string type, codec, language;
  std::int64_t bit_rate = 0;  // bits a second, on the mean; 0: nobody says
};

// One stream of pictures, which a model is to see, and what lies beside it.
struct FilmFile {
  std::string path;
  std::shared_ptr<const Descriptor> file;
  FileState state;

  std::string library;  // "FFmpeg 5.1.9"
  std::string format;   // "mov,mp4,m4a,3gp,3g2,mj2"
  std::string writer;   // what has put it together, as it says: FilmMuxer's `writer`, of those that this program made
  std::vector<StreamInfo> streams;
  std::uint64_t chapters = 0;

  int stream = 0;
  std::string codec;
  Rational time_base, rate;              // of that stream; rate 0: nobody says
  std::optional<std::int64_t> duration;  // in units of the stream
  std::uint64_t frames = 0;              // about, 0: nobody says
  std::vector<std::string> beside;       // what lies in its pictures' stream and is no picture: "closed captions"
  std::string mastering, light;  // what HDR says of its screen, if its first picture says it: bytes in hexadecimal
  int rotation = 0;              // how it is turned to stand upright, to the right; -1: by no right angle
  Shape shape;                   // of its first picture, as it is stored
  std::int64_t first = kNoTime;  // the first picture's time; none: there is no picture

  // Where moments of it are counted from.
  std::int64_t begin() const { return first == kNoTime ? 0 : first; }
  double seconds(std::int64_t units) const { return static_cast<double>(units) * time_base.value(); }
};

// `stream` by its number; -1: the one that players show. Failure(not_found, io); (bad_data) where no film is known by
// it, or no stream of pictures is in it; (unsupported) where nothing here decodes it; (crashed, timed_out).
FilmFile open_film(const std::string& path, int stream, Bytes memory, const std::function<bool()>& cancelled);

}  // namespace millrace::film
