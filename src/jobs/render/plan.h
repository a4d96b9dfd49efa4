// Input: the options and the opened inputs.
// Output: which window is which chart, what the store will hold, what one chart costs.
// Never: draws more than a sample.
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
  std::vector<Source> sources;       // that can be used
  std::vector<Error> unusable;       // the others
  std::vector<std::uint64_t> first;  // chart of each source's first window, and the number of all at the end
  std::uint64_t charts = 0;
  std::size_t window = 0;
  ChartLayout layout;

  struct Place {
    std::size_t source = 0, row = 0;
  };
  // Where a chart's window lies.
  Place place(const Options& options, std::uint64_t chart) const;
  std::uint64_t gaps() const;
  // Of the inputs, rows that were left out because another has their time.
  std::uint64_t repeats() const;
  // Of the series: all; those of which no date was understood; that were put in order; that are shorter than a window.
  struct SeriesCounts {
    std::uint64_t all = 0, undated = 0, sorted = 0, short_ones = 0;
  };
  SeriesCounts series(const Options& options) const;
};

// Opens the inputs, for options whose defaults are filled. Failure when none can be used, or none holds a whole window.
ChartPlan make_plan(const Options& options, RunContext& context);

// Reads windows; everything that one thread needs for it.
class WindowReader {
 public:
  WindowReader(const ChartPlan& plan, const Options& options)
      : plan_(plan), options_(options), roles_(roles_of(options.spec())) {}
  // The window is the reader's own and lives until the next call.
  const chart::Window& read(std::uint64_t chart);
  // What the chart that was read last is made of, as read: row after row, column after column.
  void sequence(std::vector<float>& out) const;
  // The same with what lies before it, as chart::SeriesArray has it: behind what `series` has; and the ends of its
  // scale behind those.
  void append_series(std::vector<double>& series, std::vector<double>& ends) const;

 private:
  const ChartPlan& plan_;
  const Options& options_;
  const std::vector<Role> roles_;
  chart::Window window_;
};

// And draws them.
class WindowRenderer {
 public:
  WindowRenderer(const ChartPlan& plan, const Options& options)
      : reader_(plan, options), style_(make_style(options.spec())) {}
  // The picture is the renderer's own and lives until the next call.
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

// What came after a window: close[t + h] / close[t] - 1 for each horizon; and where it lies. All but the sequence.
void fill_row(const ChartPlan& plan, const Options& options, std::uint64_t chart, ChartRow& row);

}  // namespace millrace::render
