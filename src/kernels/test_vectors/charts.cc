#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/rle/pixels.h"
#include "src/kernels/rle_deflate/rle_deflate.h"
#include "src/kernels/test_vectors/test_vectors.h"

namespace millrace::test_vectors {
namespace {

constexpr int kChartWidth = TestInputs::kChartWidth, kChartHeight = TestInputs::kChartHeight;
constexpr std::size_t kPixels = std::size_t{kChartWidth} * kChartHeight;

rle::Image drawn(const TestInputs& inputs, double line_width) {
  stroke::Rasterizer rasterizer(kChartWidth, kChartHeight, line_width);
  rasterizer.line(inputs.walk);
  // A line that turns back, and a dot.
  rasterizer.line(std::vector<stroke::StrokePoint>{{10, 10}, {100, 50}, {40, 60.5}, {90.25, 5}});
  rasterizer.line(std::vector<stroke::StrokePoint>{{120, 8}});
  rle::Image picture;
  rasterizer.finish(picture);
  return picture;
}

std::string stroke_answer(const TestInputs& inputs) {
  Digest digest;
  std::vector<std::uint8_t> pixels(kPixels);
  for (const double width : {0.7, 2.3, 9.0}) {
    rle::paint(drawn(inputs, width), rle::gray_table(0, 255), pixels.data());
    digest.add(pixels);
  }
  return digest.text();
}

std::string paint_answer(const TestInputs& inputs) {
  const rle::Image picture = drawn(inputs, 2.3);
  Digest digest;
  for (const rle::EncodedLevels& kind :
       {rle::encoded_levels(rle::colour_table({250, 240, 230}, {10, 20, 90}), 3, rle::SampleDepth::bytes),
        rle::encoded_levels(rle::colour_table({255, 255, 255}, {0, 0, 0}), 1, rle::SampleDepth::floats)}) {
    std::vector<std::uint8_t> pixels(kPixels * kind.bytes), past(kPixels * kind.bytes);
    Buffer<std::uint8_t> memory;
    rle::paint(picture, kind, pixels.data());
    rle::paint_past_caches(picture, kind, memory, past.data());
    rle::paint_end();
    digest.add(pixels);
    digest.add(past);
  }
  return digest.text();
}

std::string bits_answer(const TestInputs& inputs) {
  rle::BitPacker packer(rle::gray_table(255, 0));
  rle::Image packed;
  packer.pack(drawn(inputs, 2.3), packed);
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(packed.width()) * kChartHeight);
  rle::paint(packed, packer.pixels(), bytes.data());
  Digest digest;
  digest.add(bytes);
  return digest.text();
}

std::string rle_deflate_answer(const TestInputs& inputs) {
  const rle::Image picture = drawn(inputs, 2.3);
  Digest digest;
  for (const auto wrapper : {rle_deflate::Wrapper::zlib, rle_deflate::Wrapper::gzip}) {
    const rle_deflate::StreamLayout layout{rle::encoded_levels(rle::gray_table(255, 0)),
                                           wrapper == rle_deflate::Wrapper::zlib, wrapper};
    rle_deflate::SymbolHistogram histogram;
    histogram.count(picture, layout);
    Buffer<std::uint8_t> memory;
    digest.add(rle_deflate::DeflateCode(histogram, layout).compress(picture, memory));
  }
  return digest.text();
}

std::string styles_answer(const TestInputs& /*inputs*/) {
  Digest digest;
  for (const chart::ChartTestVector& charts : chart::make_test_vectors()) {
    digest.add(chart::draw_on_cpu(charts, chart::test_vector_format(charts)));
  }
  return digest.text();
}

constexpr KnownAnswer kChartAnswers[] = {
    {"chart", "charts of every style", "f747162dfa8b5ea5", styles_answer},
    {"stroke", "strokes of three widths", "77822260e867589c", stroke_answer},
    {"rle", "pixels in bytes and floats", "ace32a7892301411", paint_answer},
    {"rle", "pixels in bits", "97e99cd854a87598", bits_answer},
    {"rle_deflate", "streams of a chart", "8e59d7acf92b9864", rle_deflate_answer},
};

}  // namespace

std::span<const KnownAnswer> chart_answers() { return kChartAnswers; }

}  // namespace millrace::test_vectors
