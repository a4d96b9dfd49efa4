// Input: files of prices: CSV, .npy or HDF5.
// Output: series by column, or ready windows, as rows of doubles; a series per symbol of a table.
// Never: fills a gap: missing values and values that are not finite are NaN. Never holds data that it can read again.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/io/table/dates.h"
#include "src/jobs/render/options.h"
#include "src/jobs/render/series/column.h"
#include "src/pipeline/run_context.h"

namespace millrace::render {

using chart::kClose, chart::kHigh, chart::kLow, chart::kOpen, chart::kVolume, chart::PriceColumn;

// Returns the file that an input names: FILE.h5 for FILE.h5:/DATASET.
std::string input_file(const std::string& input);

// Value of a time that is not known: numpy's NaT.
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// The dates of a series.
class SeriesDates {
 public:
  SeriesDates() = default;
  // Begins at row `first` of the texts; without a notation no date is understood.
  SeriesDates(std::shared_ptr<const TextColumn> texts, std::size_t first, std::optional<DateNotation> notation)
      : texts_(std::move(texts)), first_(first), notation_(notation) {}
  bool has_notation() const { return notation_.has_value(); }
  // Returns the date as it was written; empty if there is none.
  std::string text(std::size_t row) const { return texts_ ? (*texts_)[first_ + row] : std::string(); }
  // Returns nanoseconds since 1970-01-01 UTC, or kNoTime.
  std::int64_t time(std::size_t row) const {
    return notation_ ? notation_->parse(texts_->view(first_ + row)).value_or(kNoTime) : kNoTime;
  }
  std::size_t longest() const { return texts_ ? texts_->longest() : 0; }

 private:
  std::shared_ptr<const TextColumn> texts_;
  std::size_t first_ = 0;
  std::optional<DateNotation> notation_;
};

// A whole input, or one series of it.
struct PriceSource {
  std::string name;     // as it was given
  std::string path;     // path of the file
  std::string dataset;  // dataset in the file; empty if it has none
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string content;      // its hash, in hexadecimal
  std::uint32_t input = 0;  // index among the usable inputs; series of one table share it

  std::size_t rows = 0;                 // rows of the series, or of all ready windows together
  std::size_t ready = 0;                // rows of a ready window; 0: this is a series
  std::array<SeriesColumn, 5> columns;  // indexed by Role; those that the style needs
  SeriesDates dates;
  std::string symbol;         // empty: not known
  std::uint64_t repeats = 0;  // rows of the input left out because another row has the same time
  bool sorted = false;        // its rows were not in the order of their dates

  std::uint64_t gaps = 0;          // rows without a price that can be drawn
  double lowest = 0, highest = 0;  // range of the finite prices

  std::size_t windows(const RenderOptions& options) const;
  // Functions that return the first row of a window, and its number of rows.
  std::size_t row_of(const RenderOptions& options, std::size_t window) const;
  std::size_t window_length(const RenderOptions& options) const;

  // Failure(conflict) if the file has changed since it was opened.
  void throw_if_changed() const;

  // Reservations for the data in memory, and for the memory that every run needs.
  std::shared_ptr<const Reservation> reservation, program;
};

// Checks all files; a file with several series is checked once.
void throw_if_changed(const std::vector<PriceSource>& sources);

// Opens inputs, one after the other, for options whose defaults are filled.
class SourceOpener {
 public:
  SourceOpener(const RenderOptions& options, RunContext& context);
  ~SourceOpener();
  SourceOpener(const SourceOpener&) = delete;
  SourceOpener& operator=(const SourceOpener&) = delete;

  // Returns at least one source. Failure names the file and what was expected in it. OutOfMemory if the source does not
  // fit the rest of --memory.
  std::vector<PriceSource> open(const std::string& input);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::render
