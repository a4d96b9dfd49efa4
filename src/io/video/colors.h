// Input: a picture of a film, and the sides, samples and colours that somebody wants it in.
// Output: the picture so, by zimg; with the film's own words on its colours, and a rule where it has none.
// Never: guesses without saying so; shifts chroma, or takes one matrix for another.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/io/video/frame.h"
#include "src/memory/buffer.h"

namespace millrace::film {

// The colours that a film does not name, by rule: from 1280 x 720 pixels on those of BT.709, below of BT.601 (with 576
// lines or 288 of its European half), YUV in limited range, RGB and gray in full range, chroma on the left. `said` gets
// what was filled in: "matrix bt709".
Colors filled_in(const Shape& shape, std::vector<std::string>& said);
// "bt709 matrix, limited range", for plans.
std::string words_of(const Colors& colors);
// What is brighter than white: PQ (SMPTE ST 2084) and HLG (ARIB STD-B67).
bool is_hdr(const Colors& colors);

// A part of a picture, in pixels; whole where it has no width.
struct Region {
  double left = 0, top = 0, width = 0, height = 0;
  friend bool operator==(const Region&, const Region&) = default;
};

class Converter {
 public:
  enum class Filter : std::uint8_t { bilinear, bicubic };
  // Both with all colours named; of `from` this region alone, which may begin between pixels. Alpha is not converted.
  // Failure(unsupported) for colours that zimg has no way between.
  Converter(const Shape& from, const Shape& to, Filter filter, const Region& region = {});
  // To red, green and blue in linear light, floating point, planes one behind the other as of a Shape of four bytes a
  // sample: 1 is white of SDR (203 cd/m2, ITU-R BT.2408), primaries those of BT.709.
  static Converter to_linear(const Shape& from, std::int32_t width, std::int32_t height, Filter filter,
                             const Region& region = {});
  ~Converter();
  Converter(Converter&&) noexcept;
  Converter& operator=(Converter&&) noexcept;

  // Both as layout_of() has them, and at multiples of 64 bytes. Any thread; `workspace` is that thread's.
  void convert(const std::uint8_t* from, std::uint8_t* to, Buffer<std::uint8_t>& workspace) const;

 private:
  struct Graph;
  explicit Converter(std::unique_ptr<Graph> graph);
  std::unique_ptr<Graph> graph_;
};

// A square of one colour, red, green and blue of 8 bits, in samples of a film of this shape, whose colours have names.
inline constexpr std::int32_t kSampleSide = 64;
Buffer<std::uint8_t> samples_of(const std::array<std::uint8_t, 3>& color, const Shape& shape);

// Of the planes that to_linear() leaves.
Layout linear_layout(std::int32_t width, std::int32_t height);
// What a model that was trained on photographs would see of it: brighter than white is rolled off above 0.6, of which
// 1000 cd/m2 become white; then coded as sRGB in 8 bits.
std::uint8_t seen(float linear);

// A picture, or a region of it, as red, green and blue of 8 bits in full range, as large as is wanted: what is HDR as
// seen() has it, all else in the film's own primaries and transfer.
class RgbView {
 public:
  struct Workspace {
    Buffer<std::uint8_t> converting, linear;
  };
  RgbView(const Shape& shape, const Region& region, std::int32_t width, std::int32_t height);

  // Of the planes.
  const Shape& shape() const { return seen_; }
  // As layout_of(shape()) has them. Any thread.
  void planes(const std::uint8_t* picture, std::uint8_t* out, Workspace& workspace) const;

 private:
  bool linear_;
  Shape seen_;
  Converter converter_;
};

}  // namespace millrace::film
