// Enters: files of prices: CSV, or .npy.
// Leaves: series by column, or windows that are ready, as rows of doubles.
// Never: fills a gap: what is missing or not finite is NaN.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "src/io/tensor/npy.h"
#include "src/jobs/render/options.h"

namespace millrace::render {

// A column of numbers somewhere in memory or in a mapped file.
class Column {
 public:
  Column() = default;
  Column(const std::byte* first, npy::Type type, std::size_t step) : first_(first), type_(type), step_(step) {}
  // Rows [begin, begin + out.size()).
  void read(std::size_t begin, std::span<double> out) const;

 private:
  const std::byte* first_ = nullptr;
  npy::Type type_{'f', 8};
  std::size_t step_ = 8;  // bytes from a row to the next
};

enum Role : std::size_t { kOpen, kHigh, kLow, kClose, kVolume };
// What charts of a style are drawn of, in the order in which they are stored.
std::vector<Role> roles_of(const Options& options);

// One input.
struct Source {
  std::string name;
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::string content;  // hex of its hash

  std::size_t rows = 0;            // of the series; of all ready windows together
  std::size_t ready = 0;           // rows of a ready window; 0: this is a series
  std::array<Column, 5> columns;   // by Role; those that the style needs
  std::vector<std::string> dates;  // empty: none

  std::uint64_t gaps = 0;          // rows without a price
  double lowest = 0, highest = 0;  // of the finite prices

  std::size_t windows(const Options& options) const;
  // The first row of a window, and its number of rows.
  std::size_t row_of(const Options& options, std::size_t window) const;
  std::size_t length(const Options& options) const;

  // Failure(conflict) where the file is not what was opened.
  void throw_if_changed() const;

  // What the columns lie in.
  std::vector<std::vector<double>> owned;
  std::shared_ptr<npy::Mapped> mapped;
};

// Failure names the file and what was looked for.
Source open_source(const std::string& path, const Options& options);

}  // namespace millrace::render
