// Input: an output whose parts were made by several runs, here or on other disks.
// Output: the output, put together and under its name.
// Never: makes a part, or knows what job made them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "src/io/store/checksums.h"

namespace millrace {

struct Finished {
  std::string unit;  // what its rows are
  std::uint64_t rows = 0, parts = 0, imported = 0, bytes = 0;
  bool before = false;  // it was whole already
};

// `from` are folders of parts: OUTPUT.shards of runs on other disks. Throws Failure: (not_found) where no run has left
// parts; (conflict) where parts are missing, naming them and the runs of an array that make them, where a folder's were
// made of other things, or a run is at it. `go_on` is asked now and then, and may throw. What was done until then is
// kept.
Finished finish(const std::string& output, const std::vector<std::string>& from, const std::function<void()>& go_on);

// What finish() would find; changes nothing.
struct Findings {
  std::string unit;
  std::uint64_t rows = 0, parts = 0;
  std::vector<std::uint64_t> missing;
  std::string array;  // of an array job that would make them, as "2,5-7"; empty where they are not shared by runs
};
Findings look_for_parts(const std::string& output, const std::vector<std::string>& from);

// Reads a finished output and compares every file of it with the checksums that it was written with. Failure(not_found)
// where it has none, (unsupported) for an HDF5 file. `go_on` as above.
Checked check_output(const std::string& output, const std::function<void()>& go_on);

}  // namespace millrace
