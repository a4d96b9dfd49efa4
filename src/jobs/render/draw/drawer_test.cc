#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

#include "include/millrace/render.h"

namespace millrace {
namespace {

std::vector<double> bars(std::size_t rows, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> step;
  std::vector<double> out;
  double close = 100;
  for (std::size_t i = 0; i < rows; ++i) {
    const double open = close + step(random);
    close = open + step(random);
    for (const double v :
         {open, std::max(open, close) + 1, std::min(open, close) - 1, close, 1000 + 10 * step(random)}) {
      out.push_back(v);
    }
  }
  return out;
}

ArrayView images_of(const ChartDrawer& drawer, std::size_t count, std::vector<std::uint8_t>& bytes) {
  ArrayView out = view_of(bytes.data(), drawer.image_shape());
  out.shape.insert(out.shape.begin(), static_cast<std::int64_t>(count));
  out.type = drawer.image_type();
  return out;
}

std::vector<std::uint8_t> drawn(const ChartDrawer& drawer, const std::vector<double>& series, int history = 0) {
  const auto each = static_cast<std::size_t>((drawer.rows() + history) * drawer.columns());
  const std::size_t count = series.size() / each;
  std::vector<std::uint8_t> out(count * drawer.image_bytes());
  drawer.draw(view_of(series.data(), {static_cast<std::int64_t>(count), drawer.rows() + history, drawer.columns()}),
              images_of(drawer, count, out));
  return out;
}

TEST(ChartDrawer, ABatchIsItsChartsOneByOneForAnyThreads) {
  for (const char* style : {"line", "ohlc", "candle", "jkx"}) {
    ChartOptions options;
    options.style = style;
    options.rows = 20;
    options.threads = 1;
    if (options.style == "line" || options.style == "candle") options.width = 120;
    if (options.style != "jkx") options.height = 70;
    const ChartDrawer one(options);
    options.threads = 5;
    const ChartDrawer many(options);
    const std::size_t charts = 33, columns = static_cast<std::size_t>(one.columns());
    std::vector<double> series = bars(charts * 20, 3);
    series.resize(charts * 20 * columns);
    series[7] = std::numeric_limits<double>::infinity();
    const auto all = drawn(one, series);
    EXPECT_EQ(drawn(many, series), all) << style;
    const std::size_t pixels = all.size() / charts;
    for (const std::size_t k : {std::size_t{0}, std::size_t{17}, charts - 1}) {
      const std::vector<double> alone(series.begin() + static_cast<std::ptrdiff_t>(k * 20 * columns),
                                      series.begin() + static_cast<std::ptrdiff_t>((k + 1) * 20 * columns));
      EXPECT_TRUE(std::equal(all.begin() + static_cast<std::ptrdiff_t>(k * pixels),
                             all.begin() + static_cast<std::ptrdiff_t>((k + 1) * pixels), drawn(one, alone).begin()))
          << style << " " << k;
    }
    // Floats are the same prices, rounded; whole prices give the same pixels.
    for (double& v : series) v = std::isfinite(v) ? std::round(v) : 0;
    const std::vector<float> floats(series.begin(), series.end());
    std::vector<std::uint8_t> out(all.size());
    many.draw(view_of(floats.data(), {33, 20, one.columns()}), images_of(many, charts, out));
    EXPECT_EQ(out, drawn(one, series)) << style;
  }
}

TEST(ChartDrawer, HistoryIsRowsOfTheMovingAverage) {
  ChartOptions options;
  options.style = "jkx";
  const ChartDrawer drawer(options);
  EXPECT_EQ(drawer.rows(), 20);
  EXPECT_EQ(drawer.columns(), 5);
  EXPECT_EQ(drawer.history(), 19);
  EXPECT_EQ(drawer.width(), 60);
  EXPECT_EQ(drawer.height(), 64);
  const std::vector<double> series = bars(39, 1);
  const std::vector<double> alone(series.begin() + 19 * 5, series.end());
  const auto with = drawn(drawer, series, 19), without = drawn(drawer, alone);
  EXPECT_NE(with, without);
  options.average = 0;
  const ChartDrawer plain(options);
  EXPECT_EQ(plain.history(), 0);
  EXPECT_THROW(drawn(plain, series, 19), std::exception);
}

TEST(ChartDrawer, ArraysThatAreSomethingElseAreRefusedWithWords) {
  ChartOptions options;
  options.rows = 20;
  options.width = 40;
  options.height = 30;
  const ChartDrawer drawer(options);
  const std::vector<double> series = bars(8, 1);  // 40 numbers
  std::vector<std::uint8_t> bytes(2 * drawer.image_bytes());
  const ArrayView good = view_of(series.data(), {2, 20}), images = images_of(drawer, 2, bytes);
  const auto why = [&](const ArrayView& from, const ArrayView& to) {
    try {
      drawer.draw(from, to);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(why(good, images), "");
  EXPECT_EQ(why(view_of(series.data(), {2, 20, 1}), images), "");
  const std::string wrong = why(view_of(series.data(), {4, 10}), images);
  EXPECT_NE(wrong.find("series: it is float64 [4, 10]; expected float64 [4, 20]"), std::string::npos) << wrong;
  EXPECT_NE(why(view_of(series.data(), {40}), images), "");
  EXPECT_NE(why(view_of(series.data(), {}), images), "");
  EXPECT_NE(why(view_of(series.data(), {-2, 20}), images), "");
  const std::vector<std::int32_t> whole(40);
  EXPECT_NE(why(view_of(whole.data(), {2, 20}), images).find("series: it is int32"), std::string::npos);
  EXPECT_NE(why(good, view_of(bytes.data(), {2, 30, 39})).find("images: it is uint8 [2, 30, 39]"), std::string::npos);
  ArrayView apart = good;
  apart.strides = {40, 2};
  EXPECT_NE(why(apart, images).find("not contiguous"), std::string::npos);
  ArrayView elsewhere = images;
  elsewhere.memory = MemoryKind::device;
  EXPECT_NE(why(good, elsewhere).find("images: "), std::string::npos) << why(good, elsewhere);
}

TEST(ChartDrawer, AnImageHasItsShape) {
  for (const char* dtype : {"u8", "f32", "bit"}) {
    ChartOptions options;
    options.dtype = dtype;
    options.width = 45;
    options.height = 30;
    const ChartDrawer drawer(options);
    ArrayView image;
    image.shape = drawer.image_shape();
    EXPECT_EQ(static_cast<std::size_t>(image.elements()) * drawer.image_type().bytes(), drawer.image_bytes()) << dtype;
  }
}

TEST(ChartDrawer, WhatDoesNotFitIsRefusedWithWords) {
  const auto why = [](const std::function<void(ChartOptions&)>& change) {
    ChartOptions options;
    change(options);
    try {
      const ChartDrawer drawer(options);
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(why([](ChartOptions&) {}), "");
  EXPECT_NE(why([](ChartOptions& o) { o.style = "pie"; }).find("'pie' is not one of line"), std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.width = -4; }).find("width"), std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.line_width = std::nan(""); }).find("line_width"), std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.scale = "global"; }).find("'global' needs the whole series"),
            std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.dtype = "u16"; }).find("'u16' is not one of u8"), std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.ink = "blue"; }).find("'blue' is not a"), std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.dtype = "bit", o.ink = "#ff0000"; }).find("not support colours"),
            std::string::npos);
  EXPECT_NE(why([](ChartOptions& o) { o.style = "jkx", o.width = 9; }).find("--window"), std::string::npos);
}

}  // namespace
}  // namespace millrace
