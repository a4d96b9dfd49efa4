// Input: the rows of a table as they were read, with their dates and their symbols.
// Output: series: the rows of one symbol each, from old to new, one series after the other.
// Never: accepts an order of rows that it can know to be wrong; decides for the user what repeated times mean.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/io/table/dates.h"
#include "src/jobs/render/options.h"
#include "src/jobs/render/series/column.h"
#include "src/pipeline/run_context.h"

namespace millrace::render {

struct TableRows {
  std::string path;                                    // for messages
  std::vector<std::shared_ptr<NumberColumn>> numbers;  // one for each of price_columns_of()
  std::shared_ptr<TextColumn> dates;                   // none: the table has no column of dates
  std::string date_column;                             // its name
  ChunkedValues<std::uint32_t> series;                 // index in `symbols` for each row; empty: one series
  std::vector<std::string> symbols;
  std::size_t rows = 0;
  // Returns the line of a row in the file, counted from 1, for messages.
  std::function<std::size_t(std::size_t)> line_of;

  Bytes memory() const;
  void finish_appending();
};

// Consecutive rows of a table after arrange_rows().
struct SeriesRows {
  std::size_t begin = 0, rows = 0;
  std::string symbol;  // empty: not known
};

struct ArrangedSeries {
  std::vector<SeriesRows> series;        // sorted by symbol
  std::optional<DateNotation> notation;  // none: no date could be read
  std::uint64_t repeats = 0;             // rows left out because another row has the same time
  bool sorted = false;                   // true if the rows had to be sorted by date
};

// Brings the rows into the order that the options ask for. Failure(bad_data) names the line if rows go back in time or
// repeat a time, and no option allows it. The same happens if dates can be read in two ways, or one date among many
// cannot be read.
ArrangedSeries arrange_rows(TableRows& table, const RenderOptions& options, RunContext& context);

}  // namespace millrace::render
