// Input: the rows of a table as they were read, with their dates and their symbols.
// Output: series: the rows of one symbol each, from old to new, one series behind the other.
// Never: draws rows whose order it could have known to be wrong; decides for a person what repeated times mean.
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
  std::vector<std::shared_ptr<NumberColumn>> numbers;  // for each of roles_of()
  std::shared_ptr<TextColumn> dates;                   // none: the table has no column of dates
  std::string date_column;                             // its name
  Values<std::uint32_t> series;                        // of each row, a place in `symbols`; empty: all are of one
  std::vector<std::string> symbols;
  std::size_t rows = 0;
  // In the file, from 1, for messages.
  std::function<std::size_t(std::size_t)> line_of;

  Bytes memory() const;
  void complete();
};

// Consecutive rows of what arrange() leaves.
struct Series {
  std::size_t begin = 0, rows = 0;
  std::string symbol;  // empty: not known
};

struct Arranged {
  std::vector<Series> series;            // by symbol
  std::optional<DateNotation> notation;  // none: no date was understood
  std::uint64_t repeats = 0;             // rows left out because another has their time
  bool sorted = false;                   // by date, where they were not
};

// Brings the rows into order, as options say. Failure(bad_data) names the line where rows go back in time or repeat a
// time and nothing was said about it; where dates can be read in two ways; and where one among many cannot be read.
Arranged arrange(TableRows& table, const Options& options, RunContext& context);

}  // namespace millrace::render
