// Input: rows of a checkpoint's shards, measured by the CPU or a device.
// Output: helpers that both sides share: a row's place in its shard, its bytes, its time.
// Never: measures. Only measure.cc and measure_device.cc use this file.
#pragma once

#include <cstdint>
#include <memory>

#include "src/base/stopwatch.h"
#include "src/jobs/latents/dataset.h"
#include "src/jobs/latents/measure.h"
#include "src/pipeline/checkpoint/shard_rows.h"

namespace millrace::latents {

// Adds the seconds of a scope to a sum.
class TimedScope {
 public:
  explicit TimedScope(double& seconds) : seconds_(seconds) {}
  ~TimedScope() { seconds_ += watch_.seconds(); }
  TimedScope(const TimedScope&) = delete;
  TimedScope& operator=(const TimedScope&) = delete;

 private:
  double& seconds_;
  const Stopwatch watch_;
};

// Measured rows: consecutive latents of one video, in one shard.
struct MeasuredRows {
  Checkpoint::Task task;
  std::uint64_t end = 0;  // behind the last row
  std::shared_ptr<RowBlock> block;
};

inline std::uint64_t row_bytes(const DatasetSpec& dataset) {
  std::uint64_t out = 0;
  for (const ArraySpec& array : dataset.arrays) out += array.row_bytes() + array.text_bytes + sizeof(ArrayRows);
  return out;
}

// True if two rows may be measured together.
inline bool can_measure_together(const LatentSet& set, const ShardRow& first, const ShardRow& next) {
  return !first.task.taken && !next.task.taken && first.task.part == next.task.part &&
         set.files[first.row].video == set.files[next.row].video;
}
// First row that is needed to measure a row's trajectory: up to two rows before it, of the same video.
inline std::uint64_t find_first_needed_row(const LatentSet& set, std::uint64_t row) {
  std::uint64_t first = row;
  while (first > 0 && row - first < 2 && set.files[first - 1].video == set.files[row].video) --first;
  return first;
}
inline bool is_last_of_video(const LatentSet& set, std::uint64_t row) {
  return row + 1 >= set.files.size() || set.files[row + 1].video != set.files[row].video;
}
inline std::uint64_t find_first_of_video(const LatentSet& set, std::uint64_t row) {
  std::uint64_t first = row;
  while (first > 0 && set.files[first - 1].video == set.files[row].video) --first;
  return first;
}

// Writes rows into their shards, in order.
class LatentShardWriter {
 public:
  LatentShardWriter(const LatentSet& set, Checkpoint& checkpoint, RunContext& context)
      : set_(set), checkpoint_(checkpoint), progress_(context.progress, "measuring", set.files.size()) {}

  void write(const MeasuredRows& item) {
    const std::uint64_t k = item.task.part;
    if (item.task.taken) {
      checkpoint_.take(k);
      progress_.add(checkpoint_.parts().end(k) - checkpoint_.parts().begin(k));
      return;
    }
    checkpoint_.append(k, *item.block);
    if (item.end == checkpoint_.parts().end(k)) checkpoint_.end(k);
    written_ += item.block->rows;
    progress_.add(item.block->rows, item.block->rows * set_.files[item.end - 1].bytes());
  }
  std::uint64_t written() const { return written_; }

 private:
  const LatentSet& set_;
  Checkpoint& checkpoint_;
  Progress progress_;
  std::uint64_t written_ = 0;
};

}  // namespace millrace::latents
