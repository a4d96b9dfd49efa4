// Enters: what a person asks of `millrace hash`.
// Leaves: checked options.
// Never: touches a file.
#pragma once

#include <string>
#include <vector>

#include "src/base/settings.h"
#include "src/io/file/walk.h"
#include "src/kernels/hash/hash.h"

namespace millrace::hash {

struct Options {
  std::vector<std::string> inputs;
  HashRequest request{{HashKind::dhash}, 8};
  std::string decode = "exact";        // exact, fast
  std::string orientation = "stored";  // stored, exif
  std::string format = "table";        // table, jsonl, csv
  bool hidden = false;
  bool follow_symlinks = false;
  bool cross_file_systems = false;
  bool all_files = false;
  std::vector<std::string> exclude;
  Bytes max_size = kMostFileBytes;
  std::string sandbox = "rare";  // rare, all
  long long max_pixels = 1'000'000'000;
};

void describe(Settings& settings, Options& options);

}  // namespace millrace::hash
