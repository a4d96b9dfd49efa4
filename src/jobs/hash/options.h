// Input: the user's options of `millrace hash`.
// Output: checked options.
// Never: accesses a file.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/base/settings.h"
#include "src/jobs/picture_files.h"
#include "src/kernels/hash/hash.h"
#include "src/pipeline/checkpoint/share.h"

namespace millrace::hash {

// Decoding of every pixel, or of JPEGs at a reduced scale.
enum class Decoding : std::uint8_t { exact, fast };
constexpr std::array<Choice<Decoding>, 2> choices_of(Decoding) {
  return {{{"exact", Decoding::exact}, {"fast", Decoding::fast}}};
}
// Pixels as stored in the file, or rotated and mirrored upright by EXIF.
enum class Pixels : std::uint8_t { stored, exif };
constexpr std::array<Choice<Pixels>, 2> choices_of(Pixels) {
  return {{{"stored", Pixels::stored}, {"exif", Pixels::exif}}};
}
enum class Lines : std::uint8_t { table, jsonl, csv };
constexpr std::array<Choice<Lines>, 3> choices_of(Lines) {
  return {{{"table", Lines::table}, {"jsonl", Lines::jsonl}, {"csv", Lines::csv}}};
}

struct Options {
  std::vector<std::string> inputs;
  HashRequest request{{HashKind::dhash}, 8};
  Decoding decode = Decoding::exact;
  Pixels orientation = Pixels::stored;
  Lines format = Lines::table;
  bool all_files = false;
  std::string output;     // a folder; if empty, lines are written to stdout
  std::string inventory;  // replaces `inputs`
  long long shard = 4096;
  Share share;
  PictureFileOptions files;
};

void describe(Settings& settings, Options& options);

// Mark of every output of hashes: a name in content_attributes().
inline constexpr const char* kMark = "hashes";
// Returns the options that determine the content of the output, as (name, value); the inputs are not among them.
std::vector<std::pair<std::string, std::string>> content_attributes(const Options& options);

}  // namespace millrace::hash
