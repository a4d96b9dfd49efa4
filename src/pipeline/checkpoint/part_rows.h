// Input: a checkpoint.
// Output: the rows of the parts that a run has to do, one by one; of a part that is there already, one row that stands
// for
//   all of it.
// Never: makes or takes a part.
#pragma once

#include <cstdint>
#include <optional>

#include "src/pipeline/checkpoint/checkpoint.h"

namespace millrace {

struct PartRow {
  Checkpoint::Task task;
  std::uint64_t row = 0;  // of a part that is taken: behind its last
};

// A chain's source. One thread at a time.
class PartRows {
 public:
  explicit PartRows(Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  std::optional<PartRow> next() {
    if (at_.row == end_) {
      const auto task = checkpoint_.next();
      if (!task) return std::nullopt;
      end_ = checkpoint_.parts().end(task->part);
      at_ = {*task, task->taken ? end_ : checkpoint_.parts().begin(task->part)};
      if (task->taken) return at_;
    }
    return PartRow{at_.task, at_.row++};
  }

 private:
  Checkpoint& checkpoint_;
  PartRow at_;             // the next one
  std::uint64_t end_ = 0;  // of its part
};

}  // namespace millrace
