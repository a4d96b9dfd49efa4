#include "src/jobs/render/run.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "include/millrace/render.h"
#include "src/io/tensor/npy.h"

namespace millrace::render {
namespace {

constexpr std::size_t kRows = 90, kWindow = 20;

class RenderRun : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "render_" + std::to_string(getpid()) + "_" +
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_);
    std::mt19937 random(2);
    std::normal_distribution<double> step;
    double close = 100;
    for (std::size_t i = 0; i < kRows; ++i) {
      const double open = close + step(random);
      close = open + step(random);
      const double high = std::max(open, close) + 0.5, low = std::min(open, close) - 0.5;
      series_.insert(series_.end(), {open, high, low, close, 1000 + 100 * step(random)});
    }
    npy::NpyWriter writer(OutputTarget::overwrite_any_file(path("series.npy")), {{"", kFloat64}}, {kRows, 5});
    writer.append(std::as_bytes(std::span(series_)));
    writer.finish();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  // Returns the pixels that `--store dat` writes, as they are.
  std::vector<std::uint8_t> stored(RenderOptions options) {
    options.inputs = {path("series.npy")};
    options.output = path("out");
    options.store = ChartStore::dat;
    options.fill_defaults();
    std::filesystem::remove_all(options.output);
    const CancelToken cancel;
    Trace trace;
    RunContext context{executor_, cancel, trace, budget_};
    run(options, context);
    std::ifstream file(options.output + "/images.dat", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::vector<double> series_;
  std::string folder_;
  Executor executor_{2};
  Budget budget_{1_GiB};
};

// A store holds the pixels that are drawn into memory, for every style and type of pixel.
TEST_F(RenderRun, AStoreHoldsWhatADrawerDraws) {
  for (const auto& [style, of_style] : choices_of(Style{})) {
    for (const auto& [dtype, of_dtype] : choices_of(PixelType{})) {
      for (const bool coloured : {false, true}) {
        if (coloured && of_dtype == PixelType::bit) continue;
        RenderOptions options;
        options.style = of_style;
        options.window = kWindow;
        options.dtype = of_dtype;
        options.volume = true;
        options.average = 3;
        ChartOptions same;
        same.style = style;
        same.rows = kWindow;
        same.dtype = dtype;
        same.volume = true;
        same.average = 3;
        if (of_style != Style::jkx) {
          options.height = same.height = 61;
          if (of_style != Style::ohlc) options.width = same.width = 93;
        }
        if (coloured) {
          same.ink = "#c00020";
          options.ink = parse_colour(same.ink);
        }
        const std::vector<std::uint8_t> there = stored(options);
        const ChartDrawer drawer(same);
        const std::size_t charts = kRows - kWindow + 1, image = drawer.image_bytes();
        ASSERT_EQ(there.size(), charts * image) << style << dtype;
        EXPECT_EQ(drawer.channels(), coloured ? 3 : 1);
        for (std::size_t i = 0; i < charts; ++i) {
          // Rows before the window that the average looks back at: as many as there are.
          const std::size_t before = std::min<std::size_t>(i, 2), columns = static_cast<std::size_t>(drawer.columns());
          std::vector<double> rows;
          for (std::size_t r = i - before; r < i + kWindow; ++r) {
            const double* bar = series_.data() + r * 5;
            if (columns == 2) {
              rows.insert(rows.end(), {bar[3], bar[4]});
            } else {
              rows.insert(rows.end(), bar, bar + columns);
            }
          }
          std::vector<std::uint8_t> drawn(image);
          ArrayView images = view_of(drawn.data(), drawer.image_shape());
          images.shape.insert(images.shape.begin(), 1);
          images.type = drawer.image_type();
          drawer.draw(view_of(rows.data(), {1, static_cast<std::int64_t>(before + kWindow), drawer.columns()}), images);
          ASSERT_TRUE(std::equal(drawn.begin(), drawn.end(), there.begin() + static_cast<std::ptrdiff_t>(i * image)))
              << style << ' ' << dtype << ' ' << coloured << " chart " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace millrace::render
