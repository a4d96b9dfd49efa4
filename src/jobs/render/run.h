// Input: options with their defaults filled in, and the context of the run.
// Output: a finished store or a contact sheet, and a summary of it.
// Never: leaves a partly written store under its name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/job.h"
#include "src/jobs/render/plan.h"

namespace millrace::render {

struct RenderSummary {
  std::uint64_t charts = 0;   // charts in the output
  std::uint64_t drawn = 0;    // charts drawn in this run; the others were finished before
  std::uint64_t gaps = 0;     // rows without a price
  std::uint64_t bytes = 0;    // bytes of the output
  std::uint64_t repeats = 0;  // rows left out because another row has the same time
  ChartPlan::SeriesCounts series;
  std::vector<Error> unusable;
  bool published = true;               // the output has its name; else shards of other runs are missing
  std::uint64_t parts = 0;             // number of shards of the output
  std::vector<std::uint64_t> missing;  // shards that are not there, if it was not published
  double seconds = 0, drawing_seconds = 0, merge_seconds = 0, sync_seconds = 0;
};

// Returns a summary of a plan's inputs.
RenderSummary make_summary(const ChartPlan& plan, const RenderOptions& options);

// Makes a store. Does nothing if the store exists and was made of the same inputs and options. Failure(conflict) if it
// was made of others, which the error names. A killed run is resumed at its next shard.
RenderSummary run(const RenderOptions& options, RunContext& context);

// Estimates time and memory by drawing some charts.
Plan estimate(const RenderOptions& options, RunContext& context);

// Draws the charts of `--sample`, evenly spaced among all, on one sheet.
RenderSummary draw_sheet(const RenderOptions& options, const OutputTarget& output, RunContext& context);
// Returns the kind of an existing sheet: a PNG that states that this program made it.
OutputKind sheet_kind();

}  // namespace millrace::render
