// Enters: the options and the opened inputs.
// Leaves: which window is which chart, what the store will hold, what one chart costs.
// Never: draws more than a sample.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/io/store/chart_store.h"
#include "src/jobs/render/chart.h"
#include "src/jobs/render/source.h"
#include "src/kernels/deflate/deflate.h"
#include "src/pipeline/chain.h"

namespace millrace::render {

struct Plan {
  std::vector<Source> sources;       // that can be used
  std::vector<Error> unusable;       // the others
  std::vector<std::uint64_t> first;  // chart of each source's first window, and the number of all at the end
  std::uint64_t charts = 0;
  std::size_t window = 0;
  ChartLayout layout;
  deflate::Layout look;

  struct Place {
    std::size_t source = 0, row = 0;
  };
  // Where a chart's window lies.
  Place place(const Options& options, std::uint64_t chart) const;
  std::uint64_t gaps() const;
};

// Opens the inputs. Failure when none can be used, or none holds a whole window.
Plan make_plan(const Options& options, const std::vector<std::pair<std::string, std::string>>& record);

// Draws windows; everything that one thread needs for it.
class Artist {
 public:
  Artist(const Plan& plan, const Options& options) : plan_(plan), options_(options), pen_(options) {}
  // The picture is the artist's own and lives until the next call.
  const ink::Picture& draw(std::uint64_t chart);
  // The prices of the chart that was drawn last, as read.
  std::span<const double> prices() const { return prices_; }

 private:
  const Plan& plan_;
  const Options& options_;
  ChartPen pen_;
  ink::Picture picture_;
  std::vector<double> prices_;
};

// The code for all charts, made from up to 256 of them, evenly spaced: it depends on the input and the options alone.
deflate::Code make_code(const Plan& plan, const Options& options);

// `--plan`: what would be done, and what it takes.
std::string words(const Plan& plan, const Options& options, RunContext& context);

}  // namespace millrace::render
