// Input: the options and the opened inputs.
// Output: the window of each chart, and the layout of the store.
// Never: draws a chart in order to make a plan.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/jobs/render/dataset.h"
#include "src/jobs/render/series/source.h"
#include "src/pipeline/run_context.h"

namespace millrace::render {

struct ChartPlan {
  std::vector<PriceSource> sources;  // inputs and series that can be used
  std::vector<Error> unusable;       // errors of the other inputs
  std::vector<std::uint64_t> first;  // chart of each source's first window, and the number of all windows at the end
  std::uint64_t charts = 0;
  std::size_t window = 0;
  ChartLayout layout;

  struct WindowPosition {
    std::size_t source = 0, row = 0;
  };
  // Returns where a chart's window begins.
  WindowPosition position(const RenderOptions& options, std::uint64_t chart) const;
  std::uint64_t gaps() const;
  // Returns the number of input rows that were left out because another row has the same time.
  std::uint64_t repeats() const;
  // Numbers of series: all; without a date that was understood; sorted by date; shorter than a window.
  struct SeriesCounts {
    std::uint64_t all = 0, undated = 0, sorted = 0, short_ones = 0;
  };
  SeriesCounts series(const RenderOptions& options) const;
};

// Opens the inputs, for options whose defaults are filled. Failure if none can be used, or none holds a whole window.
ChartPlan make_plan(const RenderOptions& options, RunContext& context);

// Reads windows. For one thread.
class WindowReader {
 public:
  WindowReader(const ChartPlan& plan, const RenderOptions& options)
      : plan_(plan), options_(options), roles_(price_columns_of(options.spec())) {}
  // Returns the window, which belongs to the reader and is valid until the next call.
  const chart::ChartWindow& read(std::uint64_t chart);
  // Fills `out` with the values of the chart that was read last, row after row, column after column.
  void sequence(std::vector<float>& out) const;
  // Appends these values and those of the rows before them to `series`, in the layout of chart::SeriesArray. Appends
  // the ends of the scale to `ends`.
  void append_series(std::vector<double>& series, std::vector<double>& ends) const;

 private:
  const ChartPlan& plan_;
  const RenderOptions& options_;
  const std::vector<PriceColumn> roles_;
  chart::ChartWindow window_;
};

// Reads windows and draws them.
class WindowRenderer {
 public:
  WindowRenderer(const ChartPlan& plan, const RenderOptions& options)
      : reader_(plan, options), style_(make_style(options.spec())) {}
  // Returns the image, which belongs to the renderer and is valid until the next call.
  const rle::Image& draw(std::uint64_t chart) {
    style_->draw(reader_.read(chart), picture_);
    return picture_;
  }
  const WindowReader& reader() const { return reader_; }

 private:
  WindowReader reader_;
  std::unique_ptr<chart::ChartStyle> style_;
  rle::Image picture_;
};

// Fills a row, all but its sequence. It has the position of the window, and for each horizon the return after it,
// close[t + h] / close[t] - 1.
void fill_row(const ChartPlan& plan, const RenderOptions& options, std::uint64_t chart, ChartRow& row);

}  // namespace millrace::render
