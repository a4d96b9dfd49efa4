#include "src/kernels/chart/chart_test_vectors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "src/kernels/chart/chart_device.h"
#include "src/kernels/chart/series_painter.h"
#include "src/kernels/test_vectors/inputs.h"

namespace millrace::chart {
std::vector<double> make_series(std::size_t count, std::size_t rows, std::size_t columns, std::uint64_t seed) {
  test_vectors::Random random(seed);
  const auto step = [&] { return static_cast<double>(random.below(2001) - 1000) / 1000; };
  std::vector<double> out;
  for (std::size_t chart = 0; chart < count; ++chart) {
    double close = 100;
    for (std::size_t row = 0; row < rows; ++row) {
      const double open = close;
      close = open + step() * (chart % 3 == 0 ? 0.05 : 1);
      const double high = (open < close ? close : open) + 0.25, low = (open < close ? open : close) - 0.125;
      const double volume = 1000 + 500 * step();
      const bool gap = chart % 2 == 1 && row % 11 == 7;
      const double all[] = {open, high, low, close, volume};
      for (std::size_t column = 0; column < columns; ++column) {
        const double v = columns < 4 && column == 0 ? close : columns < 4 ? volume : all[column];
        out.push_back(gap ? std::numeric_limits<double>::quiet_NaN() : v);
      }
    }
  }
  return out;
}

std::vector<ChartTestVector> make_test_vectors() {
  std::vector<ChartTestVector> out;
  const auto add = [&](const ChartSpec& spec, PixelKind kind, std::size_t count) {
    ChartTestVector charts{spec, kind, count, spec.history(), {}};
    charts.series = make_series(count, spec.rows + charts.before, price_columns_of(spec).size(), out.size() + 1);
    out.push_back(std::move(charts));
  };
  ChartSpec line{Style::line, false, false, 150, 70, 3, 40, 0};
  add(line, PixelKind::bytes, 4);
  line.average = 9;
  line.volume = line.logarithms = true;
  line.line_pixels = 1.4;
  line.width = 610;
  add(line, PixelKind::floats, 2);
  add({Style::ohlc, true, true, 80, 45, 3, 20, 5}, PixelKind::bits, 3);
  add({Style::candle, false, true, 97, 45, 3, 20, 4}, PixelKind::bytes, 3);
  add({Style::jkx, false, true, 60, 64, 3, 20, 20}, PixelKind::bytes, 3);
  return out;
}

Format test_vector_format(const ChartTestVector& charts) {
  return {charts.spec, rle::colour_table({255, 255, 255}, {0, 0, 0}), 1, charts.kind};
}

std::vector<std::uint8_t> draw_on_cpu(const ChartTestVector& charts, const Format& format) {
  const SeriesPainters painters(charts.spec, format);
  std::vector<std::uint8_t> out(charts.count * format.image_bytes());
  painters.paint(charts.array(), Executor(1), out.data());
  return out;
}

namespace {

bool drawn_right(Accelerator& accelerator, const Executor& executor, const ChartTestVector& charts,
                 const Format& format, const SeriesArray& series) {
  Budget budget(256_MiB);
  DeviceDrawer drawer(charts.spec, format, executor, accelerator, budget);
  std::vector<std::uint8_t> found(charts.count * format.image_bytes(), 0xEE);
  drawer.draw(series, false, {found.data(), false});
  // A chart that the kernels give up does not count as their answer.
  if (accelerator.is_excluded() || drawer.counts().by_device != charts.count) return false;
  return found == draw_on_cpu(charts, format);
}

// Returns given scales that are wider than the prices.
std::vector<double> wide_ends(const ChartTestVector& charts) {
  std::vector<double> out;
  const std::size_t each = charts.series.size() / charts.count;
  for (std::size_t at = 0; at < charts.series.size(); at += each) {
    double lowest = kMaxPrice, highest = 0;
    for (std::size_t k = at; k < at + each; ++k) {
      if (std::isnan(charts.series[k])) continue;
      lowest = std::min(lowest, charts.series[k]);
      highest = std::max(highest, charts.series[k]);
    }
    out.insert(out.end(), {lowest / 2, 1.5 * highest});
  }
  return out;
}

// Chooses a width that is large enough for the rows, so that kernels give up no chart.
ChartSpec random_spec(test_vectors::Random& random, Style style, int size) {
  ChartSpec out{style, random.below(2) == 1, random.below(2) == 1, 0, 32 + random.below(15 * size), 3, 0, 0};
  out.rows = 2 + static_cast<std::size_t>(random.below(4 * size));
  const int rows = static_cast<int>(out.rows);
  out.line_pixels = 0.5 + random.below(8) * 0.5;
  out.width = style == Style::line     ? 6 * rows + random.below(60)
              : style == Style::ohlc   ? 4 * rows
              : style == Style::candle ? rows + random.below(150)
                                       : 3 * rows;
  if (random.below(2) == 1) out.average = 2 + static_cast<std::size_t>(random.below(rows));
  return out;
}

}  // namespace

bool gives_known_answers(Accelerator& accelerator) {
  for (const ChartTestVector& charts : make_test_vectors()) {
    if (!drawn_right(accelerator, Executor(1), charts, test_vector_format(charts), charts.array())) return false;
  }
  return accelerator.counts().fell_back == 0;
}

bool agrees_with_cpu(Accelerator& accelerator, const Executor& executor, std::uint64_t round) {
  test_vectors::Random random = test_vectors::make_random(round);
  const int size = test_vectors::round_size(round);
  for (const Style style : {Style::line, Style::ohlc, Style::candle, Style::jkx}) {
    ChartTestVector charts{
        random_spec(random, style, size), PixelKind::bytes, 2 + 2 * static_cast<std::size_t>(size), 0, {}};
    charts.kind =
        std::array{PixelKind::bytes, PixelKind::floats, PixelKind::bits}[static_cast<std::size_t>(random.below(3))];
    charts.before = charts.spec.history();
    charts.series = make_series(charts.count, charts.spec.rows + charts.before, price_columns_of(charts.spec).size(),
                                random.next64());
    // Series of float32 are given to the CPU as well.
    std::vector<float> singles;
    if (random.below(2) == 1) {
      for (double& value : charts.series) {
        singles.push_back(static_cast<float>(value));
        value = singles.back();
      }
    }
    // Jobs refuse such scales for jkx.
    if (random.below(2) == 1 && style != Style::jkx) charts.ends = wide_ends(charts);
    const bool coloured = charts.kind != PixelKind::bits && random.below(2) == 1;
    const Format format = coloured
                              ? Format(charts.spec, rle::colour_table({255, 250, 10}, {3, 40, 200}), 3, charts.kind)
                              : test_vector_format(charts);
    SeriesArray series = charts.array();
    series.narrow = !singles.empty();
    if (series.narrow) series.data = singles.data();
    if (!drawn_right(accelerator, executor, charts, format, series)) return false;
  }
  return true;
}

}  // namespace millrace::chart
