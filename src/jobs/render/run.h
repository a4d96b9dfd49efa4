// Input: options whose defaults are filled, and what to run with.
// Output: a finished store or a contact sheet, and what there is to say about it.
// Never: leaves a store that is partly written under its name.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "src/io/output/output.h"
#include "src/jobs/job.h"
#include "src/jobs/render/plan.h"

namespace millrace::render {

struct Summary {
  std::uint64_t charts = 0;   // of the output
  std::uint64_t drawn = 0;    // in this run: the others were found finished
  std::uint64_t gaps = 0;     // rows without a price
  std::uint64_t bytes = 0;    // of the output
  std::uint64_t repeats = 0;  // rows left out because another has their time
  ChartPlan::SeriesCounts series;
  std::vector<Error> unusable;
  bool published = true;               // the output has its name; else other runs' parts are missing
  std::uint64_t parts = 0;             // of the output
  std::vector<std::uint64_t> missing;  // where it was not published: parts that are not there
  double seconds = 0, drawing_seconds = 0, joining_seconds = 0, syncing_seconds = 0;
};

// What there is to say of a plan's inputs.
Summary summary_of(const ChartPlan& plan, const Options& options);

// A store. Nothing is done where it is there already, made of the same; Failure(conflict) where it was made of other
// things, naming them. A killed run is gone on with at its next shard.
Summary run(const Options& options, RunContext& context);

// From some charts that are drawn for it.
Plan what_it_takes(const Options& options, RunContext& context);

// `--sample`: charts evenly spaced among all, on one sheet.
Summary draw_sheet(const Options& options, const Output& output, RunContext& context);
// A PNG that says that it was made here.
OutputKind sheet_kind();

}  // namespace millrace::render
