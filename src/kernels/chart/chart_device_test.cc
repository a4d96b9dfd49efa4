// Compares charts of every device of this machine with the CPU's, each batch three times on the same buffers.
#include "src/kernels/chart/chart_device.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "src/device/operation_for_test.h"
#include "src/device/queue.h"
#include "src/kernels/chart/chart_streams.h"
#include "src/kernels/chart/chart_test_vectors.h"
#include "src/kernels/chart/charts_for_test.h"

namespace millrace::chart {
namespace {

using Streams = std::vector<std::vector<std::uint8_t>>;

struct StreamKind {
  const Format& format;
  rle_deflate::StreamLayout layout;
  rle_deflate::DeflateCode code;
};
// Returns the stored form of such charts; the wrapper and the row prefix depend on the width.
StreamKind stream_kind(const ChartTestVector& charts, const Format& format) {
  const bool odd = charts.spec.width % 2 == 1;
  const rle_deflate::StreamLayout layout{format.pixels, odd,
                                         odd ? rle_deflate::Wrapper::zlib : rle_deflate::Wrapper::gzip};
  rle_deflate::SymbolHistogram histogram;
  SeriesPainters(charts.spec, format).each(charts.array(), Executor(1), [&](std::size_t, const rle::Image& picture) {
    histogram.count(picture, layout);
  });
  return {format, layout, {histogram, layout}};
}
Streams streams_by_cpu(const ChartTestVector& charts, const StreamKind& kind) {
  Streams out(charts.count);
  SeriesPainters(charts.spec, kind.format)
      .each(charts.array(), Executor(1), [&](std::size_t i, const rle::Image& picture) {
        Buffer<std::uint8_t> memory;
        const auto stream = kind.code.compress(picture, memory);
        out[i].assign(stream.begin(), stream.end());
      });
  return out;
}
Streams streams_of(DeviceStreamer& streamer, const ChartTestVector& charts) {
  Streams out;
  streamer.draw(charts.array(),
                [&](std::span<const std::uint8_t> stream) { out.emplace_back(stream.begin(), stream.end()); });
  return out;
}

class ChartsOnDevice : public OperationOnDevice {
 protected:
  ChartsOnDevice() : OperationOnDevice(48_MiB) {}

  static int times() { return is_slow() ? 1 : 3; }

  // Compares devices with the CPU; if device memory has addresses, also with arrays in it.
  void expect_same(const ChartTestVector& charts, int channels = 1) {
    const rle::ColourTable colours =
        channels == 3 ? rle::colour_table({255, 250, 10}, {3, 40, 200}) : rle::colour_table({255, 255, 255}, {0, 0, 0});
    const Format format(charts.spec, colours, channels, charts.kind);
    const std::vector<std::uint8_t> truth = draw_on_cpu(charts, format);
    DeviceDrawer drawer(charts.spec, format, executor_, *accelerator_, budget_);
    std::vector<std::uint8_t> found(truth.size());
    for (int again = 0; again < times(); ++again) {
      std::fill(found.begin(), found.end(), std::uint8_t{0xEE});
      drawer.draw(charts.array(), false, {found.data(), false});
      expect_equal(found, truth, charts);
    }
    const StreamKind kind = stream_kind(charts, format);
    DeviceStreamer streamer(charts.spec, format, kind.code, executor_, *accelerator_, budget_);
    const Streams streams = streams_by_cpu(charts, kind);
    for (int again = 0; again < times(); ++again) EXPECT_EQ(streams_of(streamer, charts), streams) << "streams";
    EXPECT_EQ(streamer.counts().by_device, drawer.counts().by_device);
    // The CPU draws only lines whose gaps are too narrow for the kernels, and nothing else.
    const ChartSpec& spec = charts.spec;
    const double step = spec.rows > 1 ? (spec.width - 1) / static_cast<double>(spec.rows - 1) : spec.width;
    if (spec.style != Style::line || 2 * step > spec.line_pixels + 1.001) {
      EXPECT_EQ(drawer.counts().by_cpu, 0U);
    }
    if (GetParam().device.kind != DeviceKind::cuda) return;
    const std::size_t pad = channels;  // images that do not begin at a multiple of four bytes
    DeviceBuffer<double> series(*accelerator_, charts.series.size(), "series");
    DeviceBuffer<std::uint8_t> images(*accelerator_, truth.size() + 8, "images");
    Queue queue(*accelerator_);
    queue.upload(std::span<const double>(charts.series), series);
    queue.fill(images, 0xEE);
    queue.finish();
    const std::uint64_t skip = charts.kind == PixelKind::floats ? 4 : pad;
    SeriesArray there = charts.array();
    there.data = reinterpret_cast<const void*>(series.memory()->handle);
    drawer.draw(there, true, {reinterpret_cast<void*>(images.memory()->handle + skip), true});
    std::vector<std::uint8_t> all(images.size());
    queue.download(images, std::span<std::uint8_t>(all));
    expect_equal({all.begin() + static_cast<std::ptrdiff_t>(skip),
                  all.begin() + static_cast<std::ptrdiff_t>(skip + truth.size())},
                 truth, charts);
    // The bytes around the images must not change.
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i < skip || i >= skip + truth.size()) {
        ASSERT_EQ(all[i], 0xEE) << i;
      }
    }
  }

  void expect_equal(const std::vector<std::uint8_t>& found, const std::vector<std::uint8_t>& truth,
                    const ChartTestVector& charts) {
    if (found == truth) return;
    const std::size_t image = truth.size() / charts.count;
    for (std::size_t chart = 0; chart < charts.count; ++chart) {
      int differ = 0;
      std::size_t first = 0;
      for (std::size_t i = chart * image; i < (chart + 1) * image; ++i) {
        if (found[i] != truth[i] && differ++ == 0) first = i;
      }
      if (differ > 0) {
        ADD_FAILURE() << "chart " << chart << ": " << differ << " of " << image << " bytes differ, the first at "
                      << first - chart * image << ": " << int{found[first]} << ", the CPU's is " << int{truth[first]};
      }
    }
  }
};

TEST_P(ChartsOnDevice, LinesOfEveryWidth) {
  const auto [width, height] = GetParam().small_cases ? std::pair{80, 35} : std::pair{150, 70};
  for (const double pixels : {3.0, 0.07, 0.9, 6.5, 11.0, 40.0}) {
    SCOPED_TRACE(pixels);
    expect_same(make_charts(line(width, height, 40, pixels), PixelKind::bytes, 1, 0));
    if (is_slow() && pixels == 0.07) break;
  }
}

TEST_P(ChartsOnDevice, LinesOfFewAndOfManyRows) {
  const auto [width, height] = GetParam().small_cases ? std::pair{71, 33} : std::pair{131, 53};
  for (const std::size_t rows : {1, 2, 5, 60, 700}) {
    SCOPED_TRACE(rows);
    expect_same(make_charts(line(width, height, rows, 3), PixelKind::bytes, 2, 0));
    if (is_slow() && rows == 5) break;
  }
}

TEST_P(ChartsOnDevice, PicturesOfEveryShape) {
  for (const auto& [width, height] : {std::pair{1, 1}, std::pair{1, 40}, std::pair{300, 1}, std::pair{7, 350},
                                      std::pair{2600, 9}, std::pair{64, 300}}) {
    SCOPED_TRACE(std::to_string(width) + " x " + std::to_string(height));
    if (is_slow() && width * height > (GetParam().small_cases ? 2500 : 3000)) continue;
    expect_same(make_charts(line(width, height, 20, 3), PixelKind::bytes, 3, 0));
    ChartSpec candles = line(width, height, 20, 3);
    candles.style = Style::candle;
    expect_same(make_charts(candles, PixelKind::bytes, 3, 0));
  }
}

TEST_P(ChartsOnDevice, AveragesVolumeAndLogarithms) {
  for (const int what : {1, 2, 3, 7}) {
    ChartSpec spec = GetParam().small_cases ? line(70, 40, 30, 2) : line(120, 60, 30, 2);
    spec.average = (what & 1) != 0 ? 7 : 0;
    spec.volume = (what & 2) != 0;
    spec.logarithms = (what & 4) != 0;
    SCOPED_TRACE(what);
    expect_same(make_charts(spec, PixelKind::bytes, 4, 0));
    expect_same(make_charts(spec, PixelKind::bytes, 5, spec.history()));
    if (is_slow()) break;
  }
}

TEST_P(ChartsOnDevice, BarsOfEveryStyle) {
  for (ChartSpec spec :
       {ChartSpec{Style::ohlc, false, false, 80, 40, 3, 20, 0}, ChartSpec{Style::ohlc, true, true, 80, 40, 3, 20, 5},
        ChartSpec{Style::candle, false, true, 97, 40, 3, 20, 3},
        ChartSpec{Style::candle, false, true, 40, 40, 3, 90, 6}, ChartSpec{Style::jkx, false, true, 60, 64, 3, 20, 20},
        ChartSpec{Style::jkx, true, false, 15, 32, 3, 5, 0}}) {
    SCOPED_TRACE(static_cast<int>(spec.style));
    expect_same(make_charts(spec, PixelKind::bytes, 6, spec.history()));
  }
}

TEST_P(ChartsOnDevice, PixelsOfEveryKind) {
  for (ChartSpec spec : {line(45, 30, 20, 3), ChartSpec{Style::candle, false, true, 45, 30, 3, 20, 0}}) {
    for (const PixelKind kind : {PixelKind::bytes, PixelKind::floats, PixelKind::bits}) {
      SCOPED_TRACE(static_cast<int>(kind));
      expect_same(make_charts(spec, kind, 7, 0));
      if (kind != PixelKind::bits) expect_same(make_charts(spec, kind, 8, 0), 3);
    }
    if (GetParam().small_cases) break;
  }
}

// Some charts have their own scale, others a wider one: no price lies outside of a scale.
TEST_P(ChartsOnDevice, ScalesThatAreGiven) {
  for (ChartSpec spec : {line(90, 50, 30, 3), ChartSpec{Style::ohlc, false, true, 80, 40, 3, 20, 5},
                         ChartSpec{Style::candle, true, false, 97, 40, 3, 20, 3}}) {
    SCOPED_TRACE(static_cast<int>(spec.style));
    ChartTestVector charts = make_charts(spec, PixelKind::bytes, 13, spec.history());
    const std::size_t each = charts.series.size() / charts.count;
    for (std::size_t i = 0; i < charts.count; ++i) {
      double lowest = 0, highest = 0;
      for (std::size_t k = i * each; k < (i + 1) * each; ++k) {
        if (!(std::abs(charts.series[k]) <= kMaxPrice)) continue;
        lowest = std::min(lowest, charts.series[k]);
        highest = std::max(highest, charts.series[k]);
      }
      charts.ends.push_back(i % 3 == 0 ? 7 : lowest - static_cast<double>(i));
      charts.ends.push_back(i % 3 == 0 ? 7 : 1.5 * highest);
    }
    open({VerifyMode::none, 48_MiB, spec.volume ? std::uint64_t{3} : 0});
    expect_same(charts);
    if (is_slow()) break;
  }
}

TEST_P(ChartsOnDevice, SeriesOfSingleFloats) {
  const ChartSpec spec = line(90, 50, 30, 3);
  ChartTestVector charts = make_charts(spec, PixelKind::bytes, 9, 0);
  std::vector<float> narrow;
  for (double& v : charts.series) {
    if (!(std::abs(v) < 1e30)) v = kGap;
    narrow.push_back(static_cast<float>(v));
    v = narrow.back();
  }
  const Format format = test_vector_format(charts);
  const std::vector<std::uint8_t> truth = draw_on_cpu(charts, format);
  std::vector<std::uint8_t> found(truth.size());
  DeviceDrawer drawer(spec, format, executor_, *accelerator_, budget_);
  drawer.draw({narrow.data(), true, charts.count, 0}, false, {found.data(), false});
  expect_equal(found, truth, charts);
  if (GetParam().device.kind != DeviceKind::cuda) return;
  DeviceBuffer<float> there(*accelerator_, narrow.size(), "series");
  Queue(*accelerator_).upload(std::span<const float>(narrow), there);
  std::fill(found.begin(), found.end(), std::uint8_t{0xEE});
  drawer.draw({reinterpret_cast<const void*>(there.memory()->handle), true, charts.count, 0}, true,
              {found.data(), false});
  expect_equal(found, truth, charts);
}

// Tests so many rows of single legs that they are computed in strips.
TEST_P(ChartsOnDevice, SteepLinesInStrips) {
  // Slow devices draw few rows, which need no strips.
  const ChartSpec spec = is_slow() ? line(100, 60, 30, 1) : line(800, 500, 300, 1);
  ChartTestVector charts{spec, PixelKind::bytes, 1, 0, {}};
  std::mt19937_64 random(21);
  charts.series = make_rows(SeriesShape::steep, spec.rows, spec, random);
  expect_same(charts);
}

// Tests random kinds of charts.
TEST_P(ChartsOnDevice, KindsAtRandom) {
  std::mt19937_64 random(20);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const char* times = std::getenv("MILLRACE_RANDOM_CHARTS");
  const std::uint64_t kinds = times != nullptr ? std::strtoull(times, nullptr, 10) : is_slow() ? 3 : 40;
  for (std::uint64_t kind = 0; kind < kinds; ++kind) {
    ChartSpec spec = line(1 + static_cast<int>(below(200)), 5 + static_cast<int>(below(90)), 1 + below(70),
                          0.1 * std::pow(120.0, static_cast<double>(below(1000)) / 999));
    spec.style = static_cast<Style>(below(4));
    spec.logarithms = below(3) == 0;
    spec.volume = below(2) == 0;
    spec.average = below(2) == 0 ? 0 : 1 + below(20);
    const auto rows = static_cast<int>(spec.rows);
    if (spec.style == Style::ohlc) spec.width = 4 * rows;
    if (spec.style == Style::jkx) spec.width = 3 * rows;
    SCOPED_TRACE(fmt::format("kind {}: style {}, {} x {}, {} rows, {} pixels, average {}", kind,
                             static_cast<int>(spec.style), spec.width, spec.height, spec.rows, spec.line_pixels,
                             spec.average));
    const auto pixels = static_cast<PixelKind>(below(3));
    const std::size_t before = spec.average > 0 ? below(spec.average) : 0;
    expect_same(make_charts(spec, pixels, random(), before), pixels != PixelKind::bits && below(3) == 0 ? 3 : 1);
  }
}

// Draws twelve charts at once, then the rest, with one drawer; the CPU draws the charts that the kernels give up.
TEST_P(ChartsOnDevice, BatchesOfOneDrawer) {
  open({VerifyMode::all, 48_MiB, 12});
  const ChartSpec spec = line(60, 33, 90, 3);  // gaps are narrower than the line
  ChartTestVector charts = make_charts(spec, PixelKind::bytes, 11, 0);
  for (int i = 0; i < 2; ++i) charts.series.insert(charts.series.end(), charts.series.begin(), charts.series.end());
  charts.count *= 4;
  expect_same(charts);
  EXPECT_GE(accelerator_->counts().batches, 4U);
}

INSTANTIATE_TEST_SUITE_P(EveryDevice, ChartsOnDevice, testing::ValuesIn(devices_for_test()), device_test_name);

// A check must compare every batch, and only charts that the device drew: others cannot differ.
TEST(ChartBatches, OnlyTheDevicesChartsAreCompared) {
  if (std::getenv("MILLRACE_TEST_DEVICES") != nullptr) GTEST_SKIP() << "real devices do not fail when told to";
  Budget budget(1_GiB);
  Trace trace;
  const Executor executor(2);
  const ChartSpec spec = line(61, 33, 60, 3);
  ChartTestVector charts{spec, PixelKind::bytes, 12, 0, make_series(1, 60, 1, 1)};
  for (std::size_t i = 1; i < charts.count; ++i) {
    charts.series.insert(charts.series.end(), charts.series.begin(), charts.series.begin() + 60);
  }
  // The kernels give up the first and the last chart of the middle batch, as a gap is narrower than the line.
  for (const std::size_t chart : {4, 7}) charts.series[chart * 60 + 30] = kGap;
  const Format format = test_vector_format(charts);
  const std::vector<std::uint8_t> truth = draw_on_cpu(charts, format);
  std::uint64_t launches = 0;
  for (const bool fails : {false, true}) {
    // The last launch of the second batch paints.
    const FakeCuda fake({"forward", fails ? fmt::format("launch:{}=wrong", 2 * launches / 3) : "", ""});
    std::string reason;
    AcceleratorOptions options{VerifyMode::sample, 16_MiB, 4};
    options.known_answers = false;
    Accelerator accelerator(list_devices(DeviceKind::cuda, reason).at(0), options, budget, trace);
    DeviceDrawer drawer(spec, format, executor, accelerator, budget);
    std::vector<std::uint8_t> found(truth.size(), 0xEE);
    drawer.draw(charts.array(), false, {found.data(), false});
    EXPECT_EQ(found, truth);
    launches = fake.calls("launch");
    EXPECT_EQ(accelerator.is_excluded(), fails);
    if (fails) {
      EXPECT_EQ(drawer.counts().by_device, 4U);
      continue;
    }
    EXPECT_EQ(accelerator.counts().verified, 3U);
    EXPECT_EQ(drawer.counts().compared, 3U * 2);
    EXPECT_EQ(drawer.counts().by_cpu, 2U);
  }
}

class ChartChecks : public CheckedOperation {
 protected:
  const ChartTestVector charts_ = make_charts(line(150, 70, 40, 3), PixelKind::bytes, 1, 0);
  const Format format_ = test_vector_format(charts_);
};

TEST_F(ChartChecks, SeeWhatABodyGetsWrong) {
  std::vector<std::uint8_t> found(charts_.count * format_.image_bytes());
  DeviceDrawer(charts_.spec, format_, executor_, *accelerator_, budget_)
      .draw(charts_.array(), false, {found.data(), false});
  ASSERT_EQ(found, draw_on_cpu(charts_, format_));
}

TEST_F(ChartChecks, SeeWhatABodyGetsWrongInStreams) {
  const StreamKind kind = stream_kind(charts_, format_);
  DeviceStreamer streamer(charts_.spec, format_, kind.code, executor_, *accelerator_, budget_);
  ASSERT_EQ(streams_of(streamer, charts_), streams_by_cpu(charts_, kind));
}

// Each call of the driver fails once; the images must be the same.
class FailingDeviceDraws : public FailingOperation {};

TEST_P(FailingDeviceDraws, CostsTimeAndNoImage) {
  ChartSpec spec = line(60, 33, 20, 3);
  spec.average = 3;
  const ChartTestVector charts = make_charts(spec, PixelKind::bytes, 12, 0);
  const Format format = test_vector_format(charts);
  const std::vector<std::uint8_t> truth = draw_on_cpu(charts, format);
  fail_each({VerifyMode::all, 16_MiB, 4}, 12, [&](const auto& open) {
    std::vector<std::uint8_t> found(truth.size(), 0xEE);
    const std::unique_ptr<Accelerator> accelerator = open();
    DeviceDrawer drawer(spec, format, executor_, *accelerator, budget_);
    drawer.draw(charts.array(), false, {found.data(), false});
    ASSERT_EQ(found, truth);
  });
}

TEST_P(FailingDeviceDraws, CostsTimeAndNoStream) {
  const ChartTestVector charts = make_charts(line(60, 33, 20, 3), PixelKind::bytes, 12, 0);
  const Format format = test_vector_format(charts);
  const StreamKind kind = stream_kind(charts, format);
  const Streams truth = streams_by_cpu(charts, kind);
  fail_each({VerifyMode::all, 16_MiB, 4}, 12, [&](const auto& open) {
    const std::unique_ptr<Accelerator> accelerator = open();
    DeviceStreamer streamer(charts.spec, format, kind.code, executor_, *accelerator, budget_);
    ASSERT_EQ(streams_of(streamer, charts), truth);
  });
}

INSTANTIATE_TEST_SUITE_P(EveryCall, FailingDeviceDraws, testing::ValuesIn(kFailingCalls), failing_test_name);

}  // namespace
}  // namespace millrace::chart
