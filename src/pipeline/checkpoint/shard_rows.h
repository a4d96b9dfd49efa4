// Input: a checkpoint.
// Output: the rows of the shards that a run has to make, one by one; for a finished shard, one row for all of it.
// Never: makes or takes a shard.
#pragma once

#include <cstdint>
#include <optional>

#include "src/pipeline/checkpoint/checkpoint.h"

namespace millrace {

struct ShardRow {
  Checkpoint::Task task;
  std::uint64_t row = 0;  // for a shard that is taken: the row after its last
};

// Source of a chain. For one thread at a time.
class ShardRows {
 public:
  explicit ShardRows(Checkpoint& checkpoint) : checkpoint_(checkpoint) {}

  std::optional<ShardRow> next() {
    if (at_.row == end_) {
      const auto task = checkpoint_.next();
      if (!task) return std::nullopt;
      end_ = checkpoint_.parts().end(task->part);
      at_ = {*task, task->taken ? end_ : checkpoint_.parts().begin(task->part)};
      if (task->taken) return at_;
    }
    return ShardRow{at_.task, at_.row++};
  }

 private:
  Checkpoint& checkpoint_;
  ShardRow at_;            // next row
  std::uint64_t end_ = 0;  // end of its shard
};

}  // namespace millrace
