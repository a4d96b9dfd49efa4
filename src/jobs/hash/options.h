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
#include "src/pipeline/checkpoint/shard_spec.h"

namespace millrace::hash {

// Decoding of every pixel, or of JPEGs at a reduced scale.
enum class Decoding : std::uint8_t { exact, fast };
constexpr std::array<Choice<Decoding>, 2> choices_of(Decoding) {
  return {{{"exact", Decoding::exact}, {"fast", Decoding::fast}}};
}
// Pixels as stored in the file, or rotated and mirrored upright by EXIF.
enum class PixelOrientation : std::uint8_t { stored, exif };
constexpr std::array<Choice<PixelOrientation>, 2> choices_of(PixelOrientation) {
  return {{{"stored", PixelOrientation::stored}, {"exif", PixelOrientation::exif}}};
}
enum class LineFormat : std::uint8_t { table, jsonl, csv };
constexpr std::array<Choice<LineFormat>, 3> choices_of(LineFormat) {
  return {{{"table", LineFormat::table}, {"jsonl", LineFormat::jsonl}, {"csv", LineFormat::csv}}};
}

struct HashJobOptions {
  std::vector<std::string> inputs;
  HashRequest request{{HashKind::dhash}, 8};
  Decoding decode = Decoding::exact;
  PixelOrientation orientation = PixelOrientation::stored;
  LineFormat format = LineFormat::table;
  bool all_files = false;
  std::string output;     // a folder; if empty, lines are written to stdout
  std::string inventory;  // replaces `inputs`
  long long shard = 4096;
  ShardSpec share;
  PictureFileOptions files;
};

void describe(Settings& settings, HashJobOptions& options);

// Mark of every output of hashes: a name in content_attributes().
inline constexpr const char* kMark = "hashes";
// Returns the options that determine the content of the output, as (name, value); the inputs are not among them.
std::vector<std::pair<std::string, std::string>> content_attributes(const HashJobOptions& options);

}  // namespace millrace::hash
