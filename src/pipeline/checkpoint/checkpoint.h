// Input: the name of an output, the description of its dataset, and its provenance: inputs and options.
// Output: the complete output; and until then finished shards beside it, from which a later run resumes.
// Never: resumes from shards of other inputs or options; depends on a job.
//
// OUTPUT.shards/ contains the shards and three files. run.json has their provenance, parts.json the description of the
// dataset, and runs.json the number of runs that share the shards. Beside each shard is a K.made.json, which says who
// made it and which bytes it has. A run that resumes from a shard hashes it first. A run that makes all missing shards
// keeps others out. Runs that divide the shards among them (ShardSpec) claim each shard before they make it. The last
// of them merges the shards into the output.
#pragma once

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/pipeline/checkpoint/shard_spec.h"
#include "src/pipeline/checkpoint/shard_store.h"

namespace millrace {

struct CheckpointSpec {
  std::string output;
  StoreKind store = StoreKind::folder;
  DatasetSpec dataset;
  std::uint64_t each = 1;  // rows of a shard
  std::string mark;        // an attribute that every output of the job has
  ShardSpec share;
  // Returns a hash of inode and change time of the files behind rows [begin, end); 0 if it is not known.
  std::function<std::uint64_t(std::uint64_t begin, std::uint64_t end)> input_state{};
  // Called now and then while shards of previous runs are checked; may throw.
  std::function<void()> check_cancelled = [] {};
};

class Checkpoint {
 public:
  // Failure(conflict) if the output or its shards have another provenance, or another run is making it.
  explicit Checkpoint(CheckpointSpec spec);
  ~Checkpoint();
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  // Returns true if the output exists, is complete, and has the same provenance.
  bool finished() const { return finished_; }
  const ShardLayout& parts() const { return parts_; }

  // Task for a shard: the run makes it, or takes one that another run has made.
  struct Task {
    std::uint64_t part = 0;
    bool taken = false;
  };
  // Returns tasks in order of number, but shards that other runs had claimed come last; nullopt after the last task.
  // For one thread at a time, which need not be the one that writes.
  std::optional<Task> next();
  // Tasks are done in their order. A shard with `taken` is taken at once; another shard is filled with blocks of rows,
  // and ended. It is synced and gets its name while the next one is written.
  void take(std::uint64_t k);
  void append(std::uint64_t k, const RowBlock& block);
  void end(std::uint64_t k);
  // Imports missing shards from OUTPUT.shards of a run on another disk. Failure(conflict) if that run has another
  // provenance, or is still active.
  void import(const std::string& folder, const std::function<void()>& check_cancelled);
  // Returns the shards that were missing when this run began, and were not imported since.
  std::vector<std::uint64_t> unmade_shards() const;
  // Waits until all ended shards have their names.
  void wait();

  // Adds the rest of the output to its shards, and gives it its name; all of it is then on the disk. Returns false if
  // other runs are still making shards, or have not made them: one of those runs publishes the output.
  bool publish(const std::function<void()>& check_cancelled);
  // Returns the missing shards, after publish() has returned false.
  const std::vector<std::uint64_t>& missing() const { return missing_; }
  // Seconds of publish(): for merging, and for syncing to disk.
  double merge_seconds() const { return merge_seconds_; }
  double sync_seconds() const { return sync_seconds_; }
  std::uint64_t output_bytes() const;

 private:
  void check_replaceable();
  void check_folder();
  bool is_whole(std::uint64_t k) const;
  bool is_made_since(std::uint64_t k);
  void refuse_if_truncated() const;
  void record(std::uint64_t k, std::span<const FileDigest> files) const;
  std::uint64_t inputs_of(std::uint64_t k) const;
  bool is_as_checked(std::uint64_t k) const;
  void drop_damaged(std::uint64_t k) const;
  void check_import(std::uint64_t k, const RunFolder& other, const std::function<void()>& check_cancelled);
  void find_missing(const std::function<bool(std::uint64_t)>& is_there);
  void check_run_file();
  void write_shards_file() const;
  RunFolder::Hold hold() const { return spec_.share ? RunFolder::Hold::shared : RunFolder::Hold::alone; }

  const CheckpointSpec spec_;
  RunFolder folder_;
  const ShardLayout parts_;
  const std::unique_ptr<ShardStore> store_;
  std::optional<FileState> replaceable_output_;  // state of an existing output with the same provenance
  bool finished_ = false;                        // true when that output is complete
  std::vector<bool> there_, damaged_;            // shards of previous runs: complete; present but damaged
  std::vector<bool> checked_;                    // shards whose bytes this run has written or hashed
  std::map<std::uint64_t, std::vector<FileDigest>> written_files_;
  std::uint64_t rows_ = 0;  // rows appended to the open shard
  std::uint64_t next_ = 0;
  std::vector<std::uint64_t> claimed_;  // shards that other runs had claimed when their turn came
  std::vector<std::uint64_t> missing_;
  std::optional<std::uint64_t> opened_;
  std::unique_ptr<ShardWriter> writer_, written_;
  std::future<void> committing_;
  double merge_seconds_ = 0, sync_seconds_ = 0;
};

}  // namespace millrace
