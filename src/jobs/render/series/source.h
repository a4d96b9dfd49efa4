// Input: files of prices: CSV, .npy or HDF5.
// Output: series by column, or windows that are ready, as rows of doubles; of a table with several symbols, a series
// each.
// Never: fills a gap: what is missing or not finite is NaN. Never holds what it can read again.
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

using chart::kClose, chart::kHigh, chart::kLow, chart::kOpen, chart::kVolume, chart::Role;

// The file that an input names: of FILE.h5:/DATASET, FILE.h5.
std::string input_file(const std::string& input);

// When a moment is not known: numpy's NaT.
constexpr std::int64_t kNoTime = std::numeric_limits<std::int64_t>::min();

// The dates of a series.
class Dates {
 public:
  Dates() = default;
  // From row `first` of the texts; without a notation none of them is understood.
  Dates(std::shared_ptr<const TextColumn> texts, std::size_t first, std::optional<DateNotation> notation)
      : texts_(std::move(texts)), first_(first), notation_(notation) {}
  bool understood() const { return notation_.has_value(); }
  // As it was written; empty where there is none.
  std::string text(std::size_t row) const { return texts_ ? (*texts_)[first_ + row] : std::string(); }
  // Nanoseconds since 1970-01-01 UTC, or kNoTime.
  std::int64_t time(std::size_t row) const {
    return notation_ ? notation_->parse(texts_->view(first_ + row)).value_or(kNoTime) : kNoTime;
  }
  std::size_t longest() const { return texts_ ? texts_->longest() : 0; }

 private:
  std::shared_ptr<const TextColumn> texts_;
  std::size_t first_ = 0;
  std::optional<DateNotation> notation_;
};

// An input, or a series of one.
struct Source {
  std::string name;     // as it was given
  std::string path;     // of the file
  std::string dataset;  // in it; empty where the file has none
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string content;      // hex of its hash
  std::uint32_t input = 0;  // its place among those that can be used; series of one table share it

  std::size_t rows = 0;           // of the series; of all ready windows together
  std::size_t ready = 0;          // rows of a ready window; 0: this is a series
  std::array<Column, 5> columns;  // by Role; those that the style needs
  Dates dates;
  std::string symbol;         // empty: not known
  std::uint64_t repeats = 0;  // rows of the input that were left out because another has their time
  bool sorted = false;        // its rows were not in the order of their dates

  std::uint64_t gaps = 0;          // rows without a price that can be drawn
  double lowest = 0, highest = 0;  // of the finite prices

  std::size_t windows(const Options& options) const;
  // The first row of a window, and its number of rows.
  std::size_t row_of(const Options& options, std::size_t window) const;
  std::size_t length(const Options& options) const;

  // Failure(conflict) where the file is not what was opened.
  void throw_if_changed() const;

  // For what it holds in memory, and for what every run takes.
  std::shared_ptr<const Reservation> paid, program;
};

// The same for all; series of one file are asked once.
void throw_if_changed(const std::vector<Source>& sources);

// Opens inputs, one after the other, for options whose defaults are filled.
class SourceOpener {
 public:
  SourceOpener(const Options& options, RunContext& context);
  ~SourceOpener();
  SourceOpener(const SourceOpener&) = delete;
  SourceOpener& operator=(const SourceOpener&) = delete;

  // At least one. Failure names the file and what was looked for. OutOfMemory when it does not fit what is left of
  // --memory.
  std::vector<Source> open(const std::string& input);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::render
