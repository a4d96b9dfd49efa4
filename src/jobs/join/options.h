// Input: the user's options of `millrace join`.
// Output: the same options as one described table.
// Never: checks files.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "src/base/settings.h"
#include "src/base/sizes.h"
#include "src/kernels/hamming/hamming.h"
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::hamming {

constexpr std::array<Choice<Algorithm>, 3> choices_of(Algorithm) {
  return {{{"auto", Algorithm::automatic}, {"brute", Algorithm::brute}, {"index", Algorithm::index}}};
}

}  // namespace millrace::hamming

namespace millrace::join {

struct Options {
  std::string codes;      // the input, a .npy file
  std::string output;     // the pairs: a .npy file, or a folder if joined in blocks; if empty, pairs are only counted
  long long radius = -1;  // must be given
  bool collapsed = false;
  Bytes max_output = 16_GiB;  // limit for an output that is written at once
  hamming::Algorithm algorithm = hamming::Algorithm::automatic;
  std::optional<std::uint64_t> block;  // rows; 0: as many as fit into memory; empty: all rows at once
  ShardSpec share;

  bool has_blocks() const { return block.has_value() || share; }
};

// Describes the options of `millrace join`; the input is a positional argument.
inline void describe(Settings& settings, Options& options) {
  settings.set_heading("Join");
  settings.add_integer("radius", "R", "find pairs of codes that differ in at most R bits", options.radius, 0, 255);
  settings.add_text("output", "PAIRS.npy",
                    "write rows (i, j, distance), i < j, sorted; a folder with --block; if not given, only count",
                    options.output);
  settings.add_switch("collapsed", "write pairs of distinct codes (nodes), and the node of each row to PAIRS.nodes.npy",
                      options.collapsed);
  settings.add_bytes("max-output", "stop before writing more; a few thousand equal codes make millions of pairs",
                     options.max_output);
  settings.add_parsed(
      "block", "ROWS", "join blocks of ROWS rows, resumably, into a folder; auto: as --memory allows; off: all at once",
      "off", [&options](const std::string& text) {
        options.block.reset();
        if (text == "off") return;
        const bool digits = text.find_first_not_of("0123456789") == std::string::npos;
        const auto rows = text == "auto" ? Bytes{} : parse_bytes(digits ? text : "");
        if (!rows || (text != "auto" && rows->count == 0)) {
          throw Failure(ErrorCode::usage, fmt::format("'{}' is not off, auto or a number of rows", text));
        }
        options.block = rows->count;
      });
  describe(settings, options.share, "block join");
  settings.add_choice("algorithm",
                      "compare all pairs (brute) or use an index; auto takes the faster; the result is the same",
                      options.algorithm);
}

}  // namespace millrace::join
