// Input: the name of an output that one run makes at a time.
// Output: an output that is this run's until the lock is destroyed. A second run is refused before its work, not after.
// Guarantees: nothing is left beside the output; a run that was killed keeps nobody out.
#pragma once

#include <string>

#include "src/pipeline/checkpoint/run_folder.h"

namespace millrace {

class OutputLock {
 public:
  // OUTPUT.shards is beside the output meanwhile. Failure(conflict) if another run makes the same output. An empty name
  // locks nothing.
  explicit OutputLock(const std::string& output) : folder_(output), is_held_(!output.empty()) {
    if (is_held_) folder_.hold(RunFolder::Hold::alone);
  }
  ~OutputLock() {
    if (is_held_) folder_.abandon();
  }
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;

 private:
  RunFolder folder_;
  const bool is_held_;
};

}  // namespace millrace
