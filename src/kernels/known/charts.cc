#include "src/kernels/deflate/deflate.h"
#include "src/kernels/ink/pixels.h"
#include "src/kernels/known/known.h"

namespace millrace::known {
namespace {

constexpr int kWidth = Inputs::kChartWidth, kHeight = Inputs::kChartHeight;
constexpr std::size_t kPixels = std::size_t{kWidth} * kHeight;

ink::Picture drawn(const Inputs& inputs, double line_width) {
  stroke::Pen pen(kWidth, kHeight, line_width);
  pen.line(inputs.walk);
  // One that turns back, and a dot.
  pen.line(std::vector<stroke::Point>{{10, 10}, {100, 50}, {40, 60.5}, {90.25, 5}});
  pen.line(std::vector<stroke::Point>{{120, 8}});
  ink::Picture picture;
  pen.finish(picture);
  return picture;
}

std::string stroke_answer(const Inputs& inputs) {
  Digest digest;
  std::vector<std::uint8_t> pixels(kPixels);
  for (const double width : {0.7, 2.3, 9.0}) {
    ink::paint(drawn(inputs, width), ink::tones(0, 255), pixels.data());
    digest.add(pixels);
  }
  return digest.text();
}

std::string paint_answer(const Inputs& inputs) {
  const ink::Picture picture = drawn(inputs, 2.3);
  Digest digest;
  for (const ink::Pixels& kind : {ink::pixels(ink::palette({250, 240, 230}, {10, 20, 90}), 3, ink::Depth::bytes),
                                  ink::pixels(ink::palette({255, 255, 255}, {0, 0, 0}), 1, ink::Depth::floats)}) {
    std::vector<std::uint8_t> pixels(kPixels * kind.bytes), past(kPixels * kind.bytes);
    Buffer<std::uint8_t> memory;
    ink::paint(picture, kind, pixels.data());
    ink::paint_past_caches(picture, kind, memory, past.data());
    ink::paint_end();
    digest.add(pixels);
    digest.add(past);
  }
  return digest.text();
}

std::string bits_answer(const Inputs& inputs) {
  ink::BitPacker packer(ink::tones(255, 0));
  ink::Picture packed;
  packer.pack(drawn(inputs, 2.3), packed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(packed.width()) * kHeight);
  ink::paint(packed, packer.pixels(), bytes.data());
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

std::string deflate_answer(const Inputs& inputs) {
  const ink::Picture picture = drawn(inputs, 2.3);
  Digest digest;
  for (const auto wrapper : {deflate::Wrapper::zlib, deflate::Wrapper::gzip}) {
    const deflate::Layout layout{ink::pixels(ink::tones(255, 0)), wrapper == deflate::Wrapper::zlib, wrapper};
    deflate::Histogram histogram;
    histogram.count(picture, layout);
    Buffer<std::uint8_t> memory;
    digest.add(deflate::Code(histogram, layout).compress(picture, memory));
  }
  return digest.text();
}

constexpr Answer kAnswers[] = {
    {"stroke", "strokes of three widths", "77822260e867589c", stroke_answer},
    {"ink", "pixels in bytes and floats", "ace32a7892301411", paint_answer},
    {"ink", "pixels in bits", "97e99cd854a87598", bits_answer},
    {"deflate", "streams of a chart", "8e59d7acf92b9864", deflate_answer},
};

}  // namespace

std::span<const Answer> chart_answers() { return kAnswers; }

}  // namespace millrace::known
