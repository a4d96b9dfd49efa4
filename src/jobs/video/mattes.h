// Input: masks of a film as gray pictures; or a folder of them.
// Output: a PNG each and a table of their times; or the mask of each moment.
// Never: gives a mask of another moment.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "src/io/video/film_encoder.h"
#include "src/jobs/video/segments.h"
#include "src/pipeline/run_context.h"

namespace millrace::video {

// Pictures of 8 bits, gray; each packet is a PNG file. The listener is called by begin(), send() and drain().
class MatteEncoder : public film::PictureEncoder {
 public:
  MatteEncoder(const film::Shape& shape, std::uint32_t slots, Listener listener);

  Slot room() override;
  void begin() override;
  void send(const Slot& slot, std::int64_t pts, std::int64_t duration) override;
  void drain() override;
  void finish() override {}

 private:
  const film::Shape shape_;
  const film::Layout layout_;
  const Listener listener_;
  std::vector<std::vector<std::uint8_t>> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::uint32_t> free_;
};

// In a folder of masks: what was counted.
inline constexpr const char* kMasksNote = "masks.json";
// The pieces, as files in a folder of this name among them: 00000001.png and so on, times.csv, run.json with what they
// are made of, and `note`.
void write_mattes(Segments& segments, const std::string& name, film::Rational time_base, const Attributes& made_of,
                  const std::string& note, const std::function<void()>& go_on);

class Mattes {
 public:
  // Reads the table. Failure(not_found, bad_data).
  explicit Mattes(const std::string& folder);

  // Of the first one.
  std::int32_t width() const { return width_; }
  std::int32_t height() const { return height_; }
  const std::string& digest() const { return digest_; }
  // width() x height(). Failure where there is none of this moment, or it is no such picture. Any thread.
  void read(std::int64_t pts, std::uint16_t* mask, RunContext& context) const;

 private:
  std::string folder_, digest_;
  std::map<std::int64_t, std::string> files_;
  std::int32_t width_ = 0, height_ = 0;
};

}  // namespace millrace::video
