// Enters: what a person wants drawn, how, and where it goes.
// Leaves: the same as one described table.
// Never: opens files.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/kernels/ink/pixels.h"

namespace millrace::render {

// For --by: a table is one series, whatever its columns say.
constexpr const char* kOneSeries = "none";

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::string style = "line";
  int width = 0, height = 0;     // 0: the style's own
  double line_width = 3;         // in pixels
  double line_width_points = 0;  // instead, when above 0
  long long dpi = 100;
  long long window = 0, stride = 1;  // window 0: the style's own
  bool window_given = false;
  std::string scale = "window";
  std::map<std::string, std::string> columns;  // role -> header
  std::string by;                              // the column that names the series; kOneSeries; empty: not told
  std::string sort = "none";                   // or date
  std::string duplicates = "error";            // rows of one time: first, last, keep
  std::string date_order = "auto";             // ymd, dmy, mdy
  std::vector<std::int64_t> horizons;
  std::optional<ink::Colour> ink, paper;       // none: the style's own
  std::optional<ink::Colour> rising, falling;  // of bars and candles; none: the ink's
  std::string channels = "auto";               // gray, rgb, or rgb where a colour is not gray
  std::optional<bool> volume;                  // none: in jkx alone
  long long average = -1;  // closes in a moving average; 0: none, -1: jkx as many as a window has rows, others none
  std::string store = "hdf5";
  std::string dtype = "u8";
  long long quality = 95;  // of JPEG
  bool virtual_set = false;
  long long shard = 10000;
  long long limit = 0;   // 0: all windows
  long long sample = 0;  // charts on a contact sheet; 0: a store

  // Puts the style's own values where none were given. Failure(usage) where one was that the style does not allow.
  void settle();
  bool rgb = false;  // once settled

  // The store is files or folders of `shard` charts.
  bool sharded() const { return store == "zarr" || store == "png" || store == "jpeg" || store == "webdataset"; }
  bool draws_volume() const { return volume.value_or(style == "jkx"); }
  double line_pixels() const {
    return line_width_points > 0 ? line_width_points * static_cast<double>(dpi) / 72 : line_width;
  }

 private:
  void settle_colours();
};

// "128" or "#c00020"; nothing for "auto". Failure(usage) for anything else.
std::optional<ink::Colour> parse_colour(const std::string& text);

// The options of `millrace render` except the inputs, which have no flag.
void describe(Settings& settings, Options& options);

// What decides the output's content, as (name, value), once the options are settled: the same record and the same
// inputs give the same content.
std::vector<std::pair<std::string, std::string>> record(const Options& options);

}  // namespace millrace::render
