// Enters: files of prices: CSV, .npy or HDF5.
// Leaves: series by column, or windows that are ready, as rows of doubles.
// Never: fills a gap: what is missing or not finite is NaN. Never holds what it can read again.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/jobs/render/column.h"
#include "src/jobs/render/options.h"
#include "src/pipeline/chain.h"

namespace millrace::render {

enum Role : std::size_t { kOpen, kHigh, kLow, kClose, kVolume };
// What charts of a style are drawn of, in the order in which they are stored.
std::vector<Role> roles_of(const Options& options);

// The file that an input names: of FILE.h5:/DATASET, FILE.h5.
std::string input_file(const std::string& input);

// One input.
struct Source {
  std::string name;     // as it was given
  std::string path;     // of the file
  std::string dataset;  // in it; empty where the file has none
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string content;  // hex of its hash

  std::size_t rows = 0;           // of the series; of all ready windows together
  std::size_t ready = 0;          // rows of a ready window; 0: this is a series
  std::array<Column, 5> columns;  // by Role; those that the style needs
  Texts dates;                    // empty: none

  std::uint64_t gaps = 0;          // rows without a price that can be drawn
  double lowest = 0, highest = 0;  // of the finite prices

  std::size_t windows(const Options& options) const;
  // The first row of a window, and its number of rows.
  std::size_t row_of(const Options& options, std::size_t window) const;
  std::size_t length(const Options& options) const;

  // Failure(conflict) where the file is not what was opened.
  void throw_if_changed() const;

  // For what it holds in memory, and for what every run takes.
  Reservation paid;
  std::shared_ptr<const Reservation> program;
};

// Opens inputs, one after the other, for options that are settled.
class SourceOpener {
 public:
  SourceOpener(const Options& options, RunContext& context);
  ~SourceOpener();
  SourceOpener(const SourceOpener&) = delete;
  SourceOpener& operator=(const SourceOpener&) = delete;

  // Failure names the file and what was looked for. OutOfMemory when it does not fit what is left of --memory.
  Source open(const std::string& input);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace millrace::render
